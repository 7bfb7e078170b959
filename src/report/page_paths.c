/* The call paths in the page's document: one tree for all series, and each series' self time on it.
 *
 * Of large trees the nodes with the largest share in any series are kept; a subtree that is left out counts as its
 * caller's time. See page_document.h.
 */
#include "base/alloc.h"
#include "report/page_document.h"
#include "view/tree.h"

#include <math.h>
#include <stdlib.h>

struct as_page_paths {
    struct as_tree tree;
    /* Numbers in the page by the tree's nodes; a node that is left out has its caller's; NONE: none. */
    uint32_t *number;
    bool *kept;
    struct as_page_entries *self; /* by series */
};

static bool add_components(const struct as_page_document *document, struct as_page_paths *paths, uint32_t series,
                           struct as_error *err)
{
    size_t n;
    struct as_store_path_component *parts = as_store_path_components(document->view->store, series, NULL, &n, err);
    for (size_t i = 0; parts && i < n; i++)
        *as_vec_push(&paths->self[series]) = (struct as_page_entry){
            paths->tree.node_of[parts[i].path], as_page_component_of(document, parts[i].events), parts[i].units};
    free(parts);
    return parts != NULL;
}

static bool add_times(const struct as_page_document *document, struct as_page_paths *paths, uint32_t series,
                      struct as_error *err)
{
    size_t n;
    struct as_store_path_time *times = as_store_path_times(document->view->store, series, NULL, &n, err);
    for (size_t i = 0; times && i < n; i++)
        *as_vec_push(&paths->self[series]) =
            (struct as_page_entry){paths->tree.node_of[times[i].path], AS_STORE_NONE, times[i].units};
    free(times);
    return times != NULL;
}

/* The largest share that a node, including its subtree, has in any series. */
static double *find_shares(const struct as_page_document *document, const struct as_page_paths *paths)
{
    const struct as_tree *tree = &paths->tree;
    double *most = as_alloc_array(tree->n + 1, sizeof *most), *total = as_alloc_array(tree->n + 1, sizeof *total);
    for (size_t s = 0; s < document->n_series; s++) {
        double all = 0;
        for (size_t i = 0; i < tree->n; i++)
            total[i] = 0;
        for (size_t i = 0; i < paths->self[s].len; i++) {
            total[paths->self[s].data[i].row] += (double)paths->self[s].data[i].units;
            all += (double)paths->self[s].data[i].units;
        }
        for (size_t i = tree->n; i-- > 0;) { /* backwards: parents come first */
            if (tree->nodes[i].parent != AS_STORE_NONE)
                total[tree->nodes[i].parent] += total[i];
            most[i] = all > 0 && total[i] / all > most[i] ? total[i] / all : most[i];
        }
    }
    free(total);
    return most;
}

static void choose(struct as_page_document *document, struct as_page_paths *paths)
{
    const struct as_tree *tree = &paths->tree;
    double *shares = find_shares(document, paths), least = 0;
    size_t n = 0;
    for (size_t i = 0; i < tree->n; i++)
        n += shares[i] > 0;
    while (n > AS_PAGE_PATHS) {
        least = least > 0 ? least * 1.5 : 1e-9;
        n = 0;
        for (size_t i = 0; i < tree->n; i++)
            n += shares[i] > least;
    }
    uint32_t next = 0;
    for (size_t i = 0; i < tree->n; i++) {
        uint32_t parent = tree->nodes[i].parent;
        paths->kept[i] = shares[i] > least;
        paths->number[i] = paths->kept[i] ? next++ : parent == AS_STORE_NONE ? AS_STORE_NONE : paths->number[parent];
        document->folded += paths->kept[i] ? 0 : tree->nodes[i].self;
    }
    free(shares);
}

/* Converts the tree's numbers to the page's. */
static void renumber(const struct as_page_paths *paths, struct as_page_entries *entries)
{
    size_t kept = 0;
    for (size_t i = 0; i < entries->len; i++) {
        struct as_page_entry entry = entries->data[i];
        entry.row = paths->number[entry.row];
        if (entry.row != AS_STORE_NONE && entry.units)
            entries->data[kept++] = entry;
    }
    entries->len = kept;
}

bool as_page_paths_make(struct as_page_document *document, struct as_error *err)
{
    const struct as_view *view = document->view;
    size_t all, n = document->n_series; /* without replicates */
    const struct as_store_series *series = as_store_series(view->store, &all);
    if (!view->has_calls)
        return true;
    struct as_page_paths *paths = document->paths = as_alloc(sizeof *paths);
    *paths = (struct as_page_paths){.self = as_alloc_array(n + 1, sizeof *paths->self)};
    if (!as_tree_make(&paths->tree, view, err) || !as_tree_errors_make(&paths->tree, err))
        return false;
    for (uint32_t i = 0; i < n; i++) /* files of the first format version have components, but not by path */
        if ((series[i].events && !add_components(document, paths, i, err)) ||
            (!paths->self[i].len && !add_times(document, paths, i, err)))
            return false;
    paths->number = as_alloc_array(paths->tree.n + 1, sizeof *paths->number);
    paths->kept = as_alloc_array(paths->tree.n + 1, sizeof *paths->kept);
    choose(document, paths);
    for (size_t i = 0; i < n; i++)
        renumber(paths, &paths->self[i]);
    return true;
}

void as_page_paths_free(struct as_page_document *document)
{
    struct as_page_paths *paths = document->paths;
    if (!paths)
        return;
    for (size_t i = 0; i < document->n_series; i++)
        as_vec_free(&paths->self[i]);
    free(paths->self);
    free(paths->number);
    free(paths->kept);
    as_tree_free(&paths->tree);
    free(paths);
}

void as_page_paths_json(const struct as_page_document *document, struct as_json *json)
{
    const struct as_page_paths *paths = document->paths;
    if (!paths)
        return;
    const struct as_tree *tree = &paths->tree;
    as_json_object(json, "paths");
    as_json_array(json, "parent");
    for (size_t i = 0; i < tree->n; i++)
        if (paths->kept[i])
            as_json_i64(json, NULL,
                        tree->nodes[i].parent == AS_STORE_NONE ? -1 : (int64_t)paths->number[tree->nodes[i].parent]);
    as_json_end(json);
    as_json_array(json, "function");
    for (size_t i = 0; i < tree->n; i++)
        if (paths->kept[i])
            as_json_u64(json, NULL, as_page_function_of(document, tree->nodes[i].function, tree->nodes[i].module));
    as_json_end(json);
    as_json_end(json);
}

void as_page_series_paths_json(const struct as_page_document *document, struct as_json *json, uint32_t series)
{
    if (document->paths && document->paths->self[series].len)
        as_page_sparse_json(document, json, "paths", series, &document->paths->self[series]);
}

static void errors_json(const struct as_page_paths *paths, struct as_json *json, const char *name, const double *errors)
{
    static const double precision = 1e6;
    as_json_array(json, name);
    for (size_t i = 0; i < paths->tree.n; i++)
        if (paths->kept[i])
            as_json_double(json, NULL, round(errors[i] * precision) / precision);
    as_json_end(json);
}

void as_page_paths_errors_json(const struct as_page_document *document, struct as_json *json)
{
    const struct as_page_paths *paths = document->paths;
    if (!paths || !paths->tree.total_errors)
        return;
    errors_json(paths, json, "path_self", paths->tree.self_errors);
    errors_json(paths, json, "path_total", paths->tree.total_errors);
}
