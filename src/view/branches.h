/* The branches of a profile whose samples had branch stacks, or were branches (IBS, SPE): where taken branches are and
 * go, how often they were mispredicted, and the cycles that passed since the branch before. */
#ifndef AS_VIEW_BRANCHES_H
#define AS_VIEW_BRANCHES_H

#include "view/view.h"

struct as_branches {
    const struct as_view *view;
    struct as_store_branch *rows; /* most often taken first */
    size_t n;
    size_t n_all;                 /* before filters; 0: the series has no branches */
    uint64_t taken, mispredicted; /* of all rows */
    bool has_cycles;
};

/* Modules and symbols are those that a branch is in. */
bool as_branches_read(struct as_branches *branches, const struct as_view *view, struct as_error *err) AS_MUST_CHECK;
/* The same, and false also where the series has no branches. */
bool as_branches_make(struct as_branches *branches, const struct as_view *view, struct as_error *err) AS_MUST_CHECK;
void as_branches_free(struct as_branches *branches);

#endif
