/* Times and components of call paths, and what follows from them: self and total of paths and functions. */
#include "base/saturate.h"
#include "store/store_internal.h"

/* ---- threads added up ---- */

/* The rows of several threads are adjacent. */
static bool same_path_time(const struct as_store_path_time *a, const struct as_store_path_time *b)
{
    return a->path == b->path && a->instruction == b->instruction;
}

struct as_store_path_time *as_store_path_times(struct as_store *store, uint32_t series, const bool *threads, size_t *n,
                                               struct as_error *err)
{
    size_t rows, out = 0;
    struct as_store_path_time *times = as_store_gather(store, AS_TABLE_PATH_TIMES, series, threads, &rows, err);
    for (size_t i = 0; times && i < rows; i++) {
        if (out == 0 || !same_path_time(&times[out - 1], &times[i])) {
            times[out++] = times[i];
            continue;
        }
        as_add_to(&times[out - 1].units, times[i].units);
        as_add_to(&times[out - 1].samples, times[i].samples);
        if (times[out - 1].thread != times[i].thread)
            times[out - 1].thread = AS_STORE_NONE;
    }
    *n = out;
    return times;
}

static int compare_components(const void *a, const void *b)
{
    const struct as_store_path_component *x = a, *y = b;
    if (x->path != y->path)
        return x->path < y->path ? -1 : 1;
    return x->events < y->events ? -1 : x->events > y->events;
}

struct as_store_path_component *as_store_path_components(struct as_store *store, uint32_t series, const bool *threads,
                                                         size_t *n, struct as_error *err)
{
    size_t rows, out = 0;
    struct as_store_path_component *parts =
        as_store_gather(store, AS_TABLE_PATH_COMPONENTS, series, threads, &rows, err);
    if (parts && rows > 1)
        qsort(parts, rows, sizeof *parts, compare_components);
    for (size_t i = 0; parts && i < rows; i++) {
        parts[i].thread = AS_STORE_NONE;
        if (out == 0 || compare_components(&parts[out - 1], &parts[i]) != 0) {
            parts[out++] = parts[i];
            continue;
        }
        as_add_to(&parts[out - 1].units, parts[i].units);
        as_add_to(&parts[out - 1].samples, parts[i].samples);
    }
    *n = out;
    return parts;
}

/* ---- totals ---- */

/* Finds for each path whether its function is already on the way to the root: the path's time is then part of that
 * total. */
struct walk {
    const struct as_store_path *paths;
    size_t n;
    uint32_t *child, *sibling; /* first child, next sibling, as number + 1 */
    uint32_t *on_way;          /* by function: how often it is on the way */
};

static void link_children(struct walk *walk)
{
    for (size_t i = walk->n; i-- > 0;) {
        uint32_t parent = walk->paths[i].parent;
        if (parent == AS_STORE_NONE)
            continue;
        walk->sibling[i] = walk->child[parent];
        walk->child[parent] = (uint32_t)i + 1;
    }
}

static void enter(struct walk *walk, uint32_t path, struct as_store_totals *totals)
{
    uint32_t function = walk->paths[path].function;
    if (function != AS_STORE_NONE && walk->on_way[function]++ == 0)
        as_add_to(&totals->function_total[function], totals->path_total[path]);
}

static void leave(struct walk *walk, uint32_t path)
{
    uint32_t function = walk->paths[path].function;
    if (function != AS_STORE_NONE)
        walk->on_way[function]--;
}

/* Depth first without a stack: follows the links to parents and siblings. */
static void walk_from(struct walk *walk, uint32_t root, struct as_store_totals *totals)
{
    uint32_t at = root;
    enter(walk, at, totals);
    for (;;) {
        if (walk->child[at]) {
            at = walk->child[at] - 1;
            enter(walk, at, totals);
            continue;
        }
        while (leave(walk, at), at != root && !walk->sibling[at])
            at = walk->paths[at].parent;
        if (at == root)
            return;
        at = walk->sibling[at] - 1;
        enter(walk, at, totals);
    }
}

static void total_functions(const struct as_store *store, struct as_store_totals *totals)
{
    size_t n = store->counts[AS_TABLE_PATHS];
    struct walk walk = {.paths = store->rows[AS_TABLE_PATHS],
                        .n = n,
                        .child = as_alloc_array(n, sizeof(uint32_t)),
                        .sibling = as_alloc_array(n, sizeof(uint32_t)),
                        .on_way = as_alloc_array(store->counts[AS_TABLE_FUNCTIONS], sizeof(uint32_t))};
    link_children(&walk);
    for (size_t i = 0; i < n; i++)
        if (walk.paths[i].parent == AS_STORE_NONE)
            walk_from(&walk, (uint32_t)i, totals);
    free(walk.child);
    free(walk.sibling);
    free(walk.on_way);
}

static void total_paths(const struct as_store *store, struct as_store_totals *totals)
{
    size_t n;
    const struct as_store_path *paths = as_store_paths(store, &n);
    for (size_t i = n; i-- > 0;) {
        const struct as_store_path *path = &paths[i];
        as_add_to(&totals->path_total[i], totals->path_self[i]);
        if (path->parent != AS_STORE_NONE)
            as_add_to(&totals->path_total[path->parent], totals->path_total[i]);
        if (path->function != AS_STORE_NONE)
            as_add_to(&totals->function_self[path->function], totals->path_self[i]);
    }
}

bool as_store_totals(struct as_store *store, uint32_t series, const bool *threads, struct as_store_totals *totals,
                     struct as_error *err)
{
    size_t n;
    *totals = (struct as_store_totals){0};
    struct as_store_path_time *times = as_store_path_times(store, series, threads, &n, err);
    if (!times)
        return false;
    totals->path_self = as_alloc_array(store->counts[AS_TABLE_PATHS], sizeof(uint64_t));
    totals->path_total = as_alloc_array(store->counts[AS_TABLE_PATHS], sizeof(uint64_t));
    totals->function_self = as_alloc_array(store->counts[AS_TABLE_FUNCTIONS], sizeof(uint64_t));
    totals->function_total = as_alloc_array(store->counts[AS_TABLE_FUNCTIONS], sizeof(uint64_t));
    for (size_t i = 0; i < n; i++)
        as_add_to(&totals->path_self[times[i].path], times[i].units);
    free(times);
    total_paths(store, totals);
    total_functions(store, totals);
    return true;
}

void as_store_totals_free(struct as_store_totals *totals)
{
    free(totals->path_self);
    free(totals->path_total);
    free(totals->function_self);
    free(totals->function_total);
    *totals = (struct as_store_totals){0};
}
