/* The branches of a profile whose samples had branch stacks, or were branches (IBS, SPE): sources and targets of taken
 * branches, how often they were mispredicted, and the cycles since the preceding branch. */
#ifndef AS_VIEW_BRANCHES_H
#define AS_VIEW_BRANCHES_H

#include "view/view.h"

struct as_branches {
    const struct as_view *view;
    struct as_store_branch *rows; /* most frequent first */
    size_t n;
    size_t n_all;                 /* before filters; 0: the series has no branches */
    uint64_t taken, mispredicted; /* of all rows */
    bool has_cycles;
};

/* Filters by module and symbol apply to the branch, not to its target. */
bool as_branches_read(struct as_branches *branches, const struct as_view *view, struct as_error *err) AS_MUST_CHECK;
/* The same, but also returns false if the series has no branches. */
bool as_branches_make(struct as_branches *branches, const struct as_view *view, struct as_error *err) AS_MUST_CHECK;
void as_branches_free(struct as_branches *branches);

#endif
