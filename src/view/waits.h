/* What the threads of a run in the model waited for: lines that another core had. Who waited for whom, as a matrix; and by
 * object, by line and by pair of code, each with the part that was false sharing (the two sides touched different bytes). */
#ifndef AS_VIEW_WAITS_H
#define AS_VIEW_WAITS_H

#include "comm/pair_matrix.h"
#include "comm/pattern.h"
#include "view/view.h"

enum as_waits_level { AS_WAITS_BY_OBJECT, AS_WAITS_BY_LINE, AS_WAITS_BY_PAIR, AS_WAITS_LEVELS };

/* Waits that have something in common; the rest is that of the longest of them. */
struct as_waits_row {
    const struct as_store_wait *top;
    uint64_t units, false_units, transfers;
    uint64_t bytes;      /* of the lines that came */
    uint64_t lock_units; /* of accesses to words of a lock */
    const char *lock;    /* the type of the lock that was longest waited for; NULL: none was */
    size_t n;            /* of the profile's rows */
};

struct as_waits {
    const struct as_view *view;
    const struct as_store_object *objects;
    size_t n_objects;
    struct as_store_wait *all; /* in no order */
    size_t n, n_all;           /* n_all: before filters; 0: the series has none */
    uint64_t units, false_units, lock_units, transfers;
    uint64_t bytes, line_bytes; /* of the lines that came; of one line */
    uint32_t *threads; /* of the profile, that took part, so that those that wait for each other stand together */
    size_t n_threads;
    struct as_pair_matrix matrix; /* by the profile's threads: from who made wait, to who waited; in units */
    struct as_pattern_found pattern;
    struct as_waits_row *rows[AS_WAITS_LEVELS]; /* most time first */
    size_t n_rows[AS_WAITS_LEVELS];
};

bool as_waits_read(struct as_waits *waits, const struct as_view *view, struct as_error *err) AS_MUST_CHECK;
/* The same, and false also where the series has none. */
bool as_waits_make(struct as_waits *waits, const struct as_view *view, struct as_error *err) AS_MUST_CHECK;
void as_waits_free(struct as_waits *waits);

/* Bytes of the lines that came in these waits. Where only others' copies had to go, none did. */
uint64_t as_waits_bytes(const struct as_waits *waits, const struct as_store_wait *wait);
/* Units that `thread` waited for `other`; false sharing apart. Threads by their place in `threads`. */
struct as_pair_cell as_waits_cell(const struct as_waits *waits, size_t thread, size_t other);
/* "counters[3].hits", the object where no part of it is known. Returns `name` or a constant. */
const char *as_waits_place_name(const struct as_waits *waits, const struct as_store_wait *wait, char name[AS_SHOW_MAX]);
/* The type of the lock ("pthread_mutex_t") of which the access that waited touched a word; NULL: it is not known to be a lock. By
 * types of data; by the function that accessed it where there are none. */
const char *as_waits_lock(const struct as_waits *waits, const struct as_store_wait *wait);
/* "work+0x1c at prog.c:12", "work+0x1c" without lines, "[unknown]" for NONE: a line can have several instructions, each
 * with a row of its own. Returns `name` or a constant. */
const char *as_waits_code_name(const struct as_waits *waits, uint32_t instruction, char name[AS_ROW_NAME_MAX]);

#endif
