/* See branches.h. */
#include "view/branches.h"

#include <stdlib.h>

static int by_taken(const void *a, const void *b)
{
    const struct as_store_branch *x = a, *y = b;
    if (x->taken != y->taken)
        return x->taken > y->taken ? -1 : 1;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return x->target < y->target ? -1 : x->target > y->target;
}

bool as_branches_read(struct as_branches *branches, const struct as_view *view, struct as_error *err)
{
    *branches = (struct as_branches){.view = view};
    branches->rows = as_store_branches(view->store, view->series, &branches->n_all, err);
    if (!branches->rows)
        return false;
    for (size_t i = 0; i < branches->n_all; i++) {
        const struct as_store_branch *row = &branches->rows[i];
        if (!as_view_counts(view, row->source))
            continue;
        branches->taken += row->taken;
        branches->mispredicted += row->mispredicted;
        branches->has_cycles |= row->cycles > 0;
        branches->rows[branches->n++] = *row;
    }
    if (branches->n > 0)
        qsort(branches->rows, branches->n, sizeof *branches->rows, by_taken);
    return true;
}

bool as_branches_make(struct as_branches *branches, const struct as_view *view, struct as_error *err)
{
    if (!as_branches_read(branches, view, err))
        return false;
    return branches->n_all ||
           as_error_set(err,
                        "%s: the series %s has no branches; 'assay record --branches' and 'perf record -b' record them",
                        as_store_file_name(view->store), view->summary.sampler);
}

void as_branches_free(struct as_branches *branches)
{
    free(branches->rows);
    *branches = (struct as_branches){0};
}
