/* Two profiles compared: what became faster or slower, by how much, and which components changed. */
#ifndef AS_VIEW_DIFF_H
#define AS_VIEW_DIFF_H

#include "base/vec.h"
#include "view/view.h"

enum { AS_DIFF_BEFORE, AS_DIFF_AFTER, AS_DIFF_SIDES };

struct as_diff_part {
    uint32_t name; /* index into as_diff.names */
    double cycles[AS_DIFF_SIDES];
};

struct as_diff_row {
    char *name, *module, *function, *file; /* NULL if unknown, except the name */
    uint32_t line;
    double cycles[AS_DIFF_SIDES], executions[AS_DIFF_SIDES], samples[AS_DIFF_SIDES];
    double variance[AS_DIFF_SIDES]; /* of a row of a run that was measured in regions; else 0 */
    double once[AS_DIFF_SIDES];     /* more of it, of what was measured once while threads ran in an order of chance */
    double deviation;               /* standard deviation of the change by chance; 0 if both sides are exact */
    bool significant;               /* chance does not explain the change */
    int inlined;                    /* the side whose build alone inlines it; AS_DIFF_SIDES: there is none */
    AS_VEC(struct as_diff_part) parts; /* the largest change first */
};

struct as_diff {
    const struct as_view *views[AS_DIFF_SIDES];
    enum as_store_level level;
    struct as_strings *keys, *names;
    AS_VEC(struct as_diff_row) rows; /* significant changes first, sorted by size */
    double cycles[AS_DIFF_SIDES];    /* sums of the rows */
    double samples[AS_DIFF_SIDES];
    double spread[AS_DIFF_SIDES]; /* of a run that was measured in regions: its standard deviation; else 0 */
    double deviation;
    bool significant;
    size_t inlined;              /* rows of functions that only one build inlines */
    double total[AS_DIFF_SIDES]; /* time of the profile: 100 % of the shares */
    bool threads_vary;    /* the times of a profile are exact or estimated, but its threads' order was left to chance */
    char differences[64]; /* what differs besides the program, "core, arguments"; "" if nothing */
};

/* Compares the rows of both, matched by module and name (and line or offset). By function, inlined code of a function that
 * only one of the builds inlines is counted to it, not to its callers. */
struct as_diff *as_diff_new(const struct as_view *before, const struct as_view *after, enum as_store_level level,
                            struct as_error *err) AS_MUST_CHECK;
/* The same for profiles that may count different things: only shares can be compared then. */
struct as_diff *as_diff_new_of_shares(const struct as_view *before, const struct as_view *after,
                                      enum as_store_level level, struct as_error *err) AS_MUST_CHECK;
void as_diff_free(struct as_diff *diff); /* accepts NULL */
/* Which part of the run was asked for; "" for all of it, or an estimate of all. */
const char *as_diff_extent(const struct as_summary *summary);

/* What to know of such threads, in words; NULL: there are none. */
const char *as_diff_threads_note(const struct as_diff *diff);

static inline double as_diff_change(const double cycles[AS_DIFF_SIDES])
{
    return cycles[AS_DIFF_AFTER] - cycles[AS_DIFF_BEFORE];
}

#endif
