/* Error bars of call paths: of the nodes of a tree (tree.h), and of functions with what they call (rows.h). A replicate has times by
 * path, as the series has; what its paths have in common with all others is in a series of its own. */
#include "base/alloc.h"
#include "view/bars.h"
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

static bool read_series(const void *context, uint32_t series, double *units, double *total, struct as_error *err)
{
    const struct items *items = context;
    struct as_store_totals totals;
    if (!as_store_totals(items->view->store, series, items->view->threads, &totals, err))
        return false;
    items->read(items->items, &totals, units);
    *total += sum_of(items->view, &totals);
    as_store_totals_free(&totals);
    return true;
}

/* The part of the series' time that is on no path, because no region executed that code. */
static bool find_without(const struct as_view *view, double on_paths, double *without, struct as_error *err)
{
    uint64_t total;
    if (!as_store_total(view->store, view->series, view->threads, &total, err))
        return false;
    *without = total > 0 ? fmax(1 - on_paths / (double)total, 0) : 0;
    return true;
}

/* How much of the time without a path an item with this share lacks: as much as its share on average, all of it with the same
 * chance. The root of the mean square, twice, but no more than all of it. */
static double lacking(double without, double share)
{
    return fmin(2 * sqrt(share), 1) * without;
}

static bool make_errors(const struct as_bar_items *items, double **errors, struct as_error *err)
{
    struct as_bars bars = {0};
    double without = 0;
    bool ok = as_bars_make(&bars, items, err) && (!bars.errors || find_without(items->view, bars.total, &without, err));
    for (size_t i = 0; ok && bars.errors && i < items->n; i++)
        bars.errors[i] += lacking(without, bars.total > 0 ? bars.units[i] / bars.total : 0);
    if (ok) {
        *errors = bars.errors;
        bars.errors = NULL;
    }
    as_bars_free(&bars);
    return ok;
}

/* ---- nodes of a tree ---- */

/* The items of a tree: the self times of its nodes; their totals; and, where times have components, both by sign of the legend, with the
 * others last; the legend's; and all of these. */
enum { SIGNS = AS_LEGEND_KEYS + 1 };

static size_t self_parts(const struct as_tree *tree)
{
    return 2 * tree->n;
}

static size_t total_parts(const struct as_tree *tree)
{
    return self_parts(tree) + tree->n * SIGNS;
}

static size_t legend_parts(const struct as_tree *tree)
{
    return total_parts(tree) + tree->n * SIGNS;
}

/* Times of nodes, `width` of each, as sums over the nodes below. */
static void add_up(const struct as_tree *tree, const double *own, double *totals, size_t width)
{
    for (size_t i = tree->n; i-- > 0;) { /* backwards: children come after their parents */
        uint32_t parent = tree->nodes[i].parent;
        for (size_t k = 0; k < width; k++) {
            totals[i * width + k] += own[i * width + k];
            if (parent != AS_STORE_NONE)
                totals[parent * width + k] += totals[i * width + k];
        }
    }
}

static void read_nodes(const void *items, const struct as_store_totals *totals, double *units)
{
    const struct as_tree *tree = items;
    size_t n;
    as_store_paths(tree->view->store, &n);
    for (size_t i = 0; i < n; i++)
        units[tree->node_of[i]] += (double)totals->path_self[i];
    add_up(tree, units, units + tree->n, 1);
}

static bool read_parts(const struct as_tree *tree, uint32_t series, double *units, struct as_error *err)
{
    size_t n;
    struct as_store_path_component *parts =
        as_store_path_components(tree->view->store, series, tree->view->threads, &n, err);
    if (!parts)
        return false;
    for (size_t i = 0; i < n; i++) {
        size_t sign = as_legend_key(&tree->legend, parts[i].events);
        units[self_parts(tree) + tree->node_of[parts[i].path] * SIGNS + sign] += (double)parts[i].units;
        units[legend_parts(tree) + sign] += (double)parts[i].units;
        units[legend_parts(tree) + SIGNS] += (double)parts[i].units;
    }
    add_up(tree, units + self_parts(tree), units + total_parts(tree), SIGNS);
    free(parts);
    return true;
}

static bool read_tree(const void *context, uint32_t series, double *units, double *total, struct as_error *err)
{
    const struct as_tree *tree = context;
    struct items items = {tree->view, tree->n, read_nodes, tree};
    return read_series(&items, series, units, total, err) &&
           (!as_tree_has_parts(tree) || read_parts(tree, series, units, err));
}

static double *copy_of(const double *values, size_t n)
{
    double *copy = as_alloc_array(n + 1, sizeof *copy);
    memcpy(copy, values, n * sizeof *copy);
    return copy;
}

static void take(struct as_tree *tree, const double *errors)
{
    tree->self_errors = copy_of(errors, tree->n);
    tree->total_errors = copy_of(errors + tree->n, tree->n);
    struct as_replicates replicates = as_replicates_of(tree->view);
    if (as_tree_has_parts(tree) && replicates.by_events) {
        tree->part_errors = copy_of(errors + self_parts(tree), 2 * tree->n * SIGNS);
        tree->legend.has_errors = true;
        memcpy(tree->legend.errors, errors + legend_parts(tree), sizeof tree->legend.errors);
    }
    as_replicates_free(&replicates);
}

double as_tree_part_error(const struct as_tree *tree, const struct as_tree_node *node, size_t key, bool total)
{
    return tree->part_errors[((total ? tree->n : 0) + (size_t)(node - tree->nodes)) * SIGNS + key];
}

bool as_tree_errors_make(struct as_tree *tree, struct as_error *err)
{
    size_t n = as_tree_has_parts(tree) ? legend_parts(tree) + SIGNS + 1 : 2 * tree->n;
    uint32_t *of = as_alloc_array(n + 1, sizeof *of);
    for (size_t i = 0; i < n; i++)
        of[i] = as_tree_has_parts(tree) && i >= legend_parts(tree) ? (uint32_t)(n - 1) : AS_STORE_NONE;
    double *errors = NULL;
    bool ok = make_errors(&(struct as_bar_items){tree->view, n, read_tree, tree, of}, &errors, err);
    if (errors)
        take(tree, errors);
    free(errors);
    free(of);
    return ok;
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
    if (!make_errors(&(struct as_bar_items){list->view, items.n, read_series, &items, NULL}, &list->total_errors, err))
        return false;
    for (size_t i = 0; list->total_errors && i < list->rows.n; i++) {
        const struct as_store_row *row = &list->rows.rows[i];
        if (row->id == AS_STORE_NONE || list->view->totals.function_total[row->id] <= row->units)
            list->total_errors[i] = list->errors[i];
    }
    return true;
}
