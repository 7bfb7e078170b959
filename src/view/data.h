/* The data of a profile: which objects (variables, heap, stacks, mapped files) its samples found accessed, by which
 * instructions, and how the addresses were obtained. */
#ifndef AS_VIEW_DATA_H
#define AS_VIEW_DATA_H

#include "view/view.h"

enum as_data_level {
    AS_DATA_BY_OBJECT,
    AS_DATA_BY_LINE, /* an object with the source line that accesses it */
    AS_DATA_BY_INSTRUCTION,
};

enum { AS_DATA_TOP = 3 };

struct as_data_row {
    uint32_t object;                  /* NONE: nobody knows what is there */
    uint32_t instruction;             /* the first of those that access it; the only one by instruction */
    uint64_t units, samples;          /* of samples with several addresses, each has a part of the time */
    uint64_t load_units, store_units; /* accesses that do both are in both */
    uint64_t bytes, lines;            /* different ones that were seen; lines of 64 bytes */
    size_t n_instructions;
    struct {
        uint32_t instruction;
        uint64_t units;
    } top[AS_DATA_TOP]; /* most time first */
    size_t n_top;
};

/* How data addresses were obtained: samples by origin, "data_exact" as in the profile and "exact" for people. */
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
    double watch_hits; /* few of them stand for many samples */
};

bool as_data_read(struct as_data *data, const struct as_view *view, enum as_data_level level,
                  struct as_error *err) AS_MUST_CHECK;
/* The same, and false also where the series has no data addresses. */
bool as_data_make(struct as_data *data, const struct as_view *view, enum as_data_level level,
                  struct as_error *err) AS_MUST_CHECK;
void as_data_free(struct as_data *data);

/* Why samples have no address: steps through the reasons from *at = 0 on. False: there is no further one. */
bool as_data_next_reason(const struct as_data *data, size_t *at, const char **reason, double *samples);

/* A row's object, "table", "[anon] 0x7f…", fit to be shown. Returns `name` or a constant. */
const char *as_data_object_name(const struct as_data *data, uint32_t object, char name[AS_SHOW_MAX]);

#endif
