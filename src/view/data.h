/* The data of a profile: which objects (variables, heap, stacks, mapped files) its samples accessed, by which
 * instructions, and how the addresses were obtained. */
#ifndef AS_VIEW_DATA_H
#define AS_VIEW_DATA_H

#include "view/view.h"

enum as_data_level {
    AS_DATA_BY_OBJECT,
    AS_DATA_BY_LINE, /* an object and a source line that accesses it */
    AS_DATA_BY_INSTRUCTION,
};

enum { AS_DATA_TOP = 3 };

struct as_data_row {
    uint32_t object;                  /* NONE: unknown */
    uint32_t instruction;             /* the first that accesses it; by instruction, the only one */
    uint64_t units, samples;          /* a sample with several addresses is divided among them */
    uint64_t load_units, store_units; /* an access that does both counts in both */
    uint64_t bytes, lines;            /* different ones that were seen; lines have 64 bytes */
    size_t n_instructions;
    struct {
        uint32_t instruction;
        uint64_t units;
    } top[AS_DATA_TOP]; /* most time first */
    size_t n_top;
};

/* How data addresses were obtained: samples by origin, with the profile's key ("data_exact") and a name for reports
 * ("exact"). */
enum { AS_DATA_HARDWARE, AS_DATA_EXACT, AS_DATA_NEXT, AS_DATA_WATCHED, AS_DATA_NONE, AS_DATA_ORIGINS };
struct as_data_origin {
    const char *key, *text;
    double samples;
};

struct as_data {
    const struct as_view *view;
    enum as_data_level level;
    const struct as_store_object *objects;
    size_t n_objects;
    struct as_data_row *rows; /* most time first */
    size_t n;
    size_t n_accesses; /* before filters; 0: the series has no data addresses */
    uint64_t units, samples;
    struct as_data_origin origins[AS_DATA_ORIGINS];
    double watch_hits; /* number of watchpoint hits; a few stand for many samples */
};

bool as_data_read(struct as_data *data, const struct as_view *view, enum as_data_level level,
                  struct as_error *err) AS_MUST_CHECK;
/* The same, but also returns false if the series has no data addresses. */
bool as_data_make(struct as_data *data, const struct as_view *view, enum as_data_level level,
                  struct as_error *err) AS_MUST_CHECK;
void as_data_free(struct as_data *data);

/* Iterates over the reasons why samples have no address, from *at = 0 on. Returns false after the last. */
bool as_data_next_reason(const struct as_data *data, size_t *at, const char **reason, double *samples);

#endif
