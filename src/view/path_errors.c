/* Error bars of call paths: of the nodes of a tree (tree.h), and of functions with what they call (rows.h). A replicate has times by
 * path, as the series has; what its paths have in common with all others is in a series of its own. */
#include "base/alloc.h"
#include "view/replicates.h"
#include "view/rows.h"
#include "view/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Reads the units of all items from the times of a series. */
typedef void read_units(const void *items, const struct as_store_totals *totals, double *units);

struct items {
    const struct as_view *view;
    size_t n;
    read_units *read;
    const void *items;
};

static double sum_of(const struct as_view *view, const struct as_store_totals *totals)
{
    size_t n;
    double sum = 0;
    as_store_paths(view->store, &n);
    for (size_t i = 0; i < n; i++)
        sum += (double)totals->path_self[i];
    return sum;
}

/* Adds the units of a series, if there is one, to `units`, and those of all paths to `*sum`. */
static bool add_series(const struct items *items, uint32_t series, double *units, double *sum, struct as_error *err)
{
    struct as_store_totals totals;
    if (series == AS_STORE_NONE)
        return true;
    if (!as_store_totals(items->view->store, series, NULL, &totals, err))
        return false;
    double *own = as_alloc_array(items->n + 1, sizeof *own);
    items->read(items->items, &totals, own);
    for (size_t i = 0; i < items->n; i++)
        units[i] += own[i];
    *sum += sum_of(items->view, &totals);
    free(own);
    as_store_totals_free(&totals);
    return true;
}

/* The shares of all items in a replicate; `*sum` is 0 if it has no paths. */
static double *read_shares(const struct items *items, const struct as_replicates *replicates, uint32_t series,
                           double *sum, struct as_error *err)
{
    double *shares = as_alloc_array(items->n + 1, sizeof *shares);
    bool ok = add_series(items, replicates->common, shares, sum, err) && add_series(items, series, shares, sum, err);
    for (size_t i = 0; ok && i < items->n; i++)
        shares[i] = *sum > 0 ? shares[i] / *sum : 0;
    if (ok)
        return shares;
    free(shares);
    return NULL;
}

/* What all of it takes, and what replicates have in common. */
struct whole {
    double *units, *common, sum, common_sum;
    double without; /* the part of the series' time that is on no path, because no region executed that code */
};

static bool find_without(const struct as_view *view, struct whole *whole, struct as_error *err)
{
    struct as_store_rows rows = {0};
    if (!as_view_rows(view, AS_STORE_BY_MODULE, &rows, err))
        return false;
    whole->without = rows.total > 0 ? fmax(1 - whole->sum / (double)rows.total, 0) : 0;
    as_store_rows_free(&rows);
    return true;
}

/* How much of the time without a path an item with this share lacks: as much as its share on average, all of it with the same
 * chance. The root of the mean square, twice, but no more than all of it. */
static double lacking(const struct whole *whole, double share)
{
    return fmin(2 * sqrt(share), 1) * whole->without;
}

static void set_errors(const struct items *items, const struct as_replicates *replicates, const struct whole *whole,
                       double *const *shares, double *errors)
{
    size_t n = replicates->series.len;
    double *values = as_alloc_array(n, sizeof *values), moving = whole->sum - whole->common_sum;
    for (size_t item = 0; item < items->n; item++) {
        for (size_t i = 0; i < n; i++)
            values[i] = shares[i][item];
        double own = whole->units[item] - whole->common[item];
        double share = whole->sum > 0 ? whole->units[item] / whole->sum : 0;
        errors[item] =
            as_replicates_error(replicates, share, moving > 0 ? own / moving : 0, 0, values) + lacking(whole, share);
    }
    free(values);
}

static bool make_from(const struct items *items, const struct as_replicates *replicates, double **errors,
                      struct as_error *err)
{
    size_t n = replicates->series.len;
    struct whole whole = {.units = as_alloc_array(items->n + 1, sizeof(double)),
                          .common = as_alloc_array(items->n + 1, sizeof(double))};
    double **shares = as_alloc_array(n + 1, sizeof *shares);
    bool known = true; /* not in profiles of older versions */
    bool ok = add_series(items, items->view->series, whole.units, &whole.sum, err) &&
              find_without(items->view, &whole, err) &&
              add_series(items, replicates->common, whole.common, &whole.common_sum, err);
    for (size_t i = 0; i < n && ok; i++) {
        double sum = 0;
        shares[i] = read_shares(items, replicates, replicates->series.data[i], &sum, err);
        ok = shares[i] != NULL;
        known = known && sum > 0;
    }
    if (ok && known) {
        *errors = as_alloc_array(items->n + 1, sizeof **errors);
        set_errors(items, replicates, &whole, shares, *errors);
    }
    for (size_t i = 0; i < n; i++)
        free(shares[i]);
    free(shares);
    free(whole.units);
    free(whole.common);
    return ok;
}

static bool make_errors(const struct items *items, double **errors, struct as_error *err)
{
    struct as_replicates replicates = as_replicates_of(items->view);
    bool ok = replicates.series.len < 2 || make_from(items, &replicates, errors, err);
    as_replicates_free(&replicates);
    return ok;
}

/* ---- nodes of a tree ---- */

/* Self times of all nodes, and behind them their totals: the times of a replicate are read once for both. */
static void read_nodes(const void *items, const struct as_store_totals *totals, double *units)
{
    const struct as_tree *tree = items;
    double *sums = units + tree->n;
    size_t n;
    as_store_paths(tree->view->store, &n);
    for (size_t i = 0; i < n; i++)
        units[tree->node_of[i]] += (double)totals->path_self[i];
    for (size_t i = tree->n; i-- > 0;) { /* backwards: children come after their parents */
        sums[i] += units[i];
        if (tree->nodes[i].parent != AS_STORE_NONE)
            sums[tree->nodes[i].parent] += sums[i];
    }
}

bool as_tree_errors_make(struct as_tree *tree, struct as_error *err)
{
    struct items items = {tree->view, 2 * tree->n, read_nodes, tree};
    if (!make_errors(&items, &tree->self_errors, err))
        return false;
    if (tree->self_errors) {
        tree->total_errors = as_alloc_array(tree->n + 1, sizeof *tree->total_errors);
        memcpy(tree->total_errors, tree->self_errors + tree->n, tree->n * sizeof *tree->total_errors);
    }
    return true;
}

/* ---- functions ---- */

static void read_functions(const void *items, const struct as_store_totals *totals, double *units)
{
    const struct as_rows *list = items;
    for (size_t i = 0; i < list->rows.n; i++)
        if (list->rows.rows[i].id != AS_STORE_NONE)
            units[i] = (double)totals->function_total[list->rows.rows[i].id];
}

/* A total is at least the self time (as_rows_total), and no more certain than it is where it is that. */
bool as_total_errors_make(struct as_rows *list, struct as_error *err)
{
    struct items items = {list->view, list->rows.n, read_functions, list};
    if (!as_rows_has_total(list) || !list->errors)
        return true;
    if (!make_errors(&items, &list->total_errors, err))
        return false;
    for (size_t i = 0; list->total_errors && i < list->rows.n; i++) {
        const struct as_store_row *row = &list->rows.rows[i];
        if (row->id == AS_STORE_NONE || list->view->totals.function_total[row->id] <= row->units)
            list->total_errors[i] = list->errors[i];
    }
    return true;
}
