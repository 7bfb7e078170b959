/* Times of call paths, and what follows from them: self and total of paths and functions. */
#include "base/saturate.h"
#include "store/store_internal.h"
#include "store/store_sql.h"

static bool get_path_time(const struct as_store *store, sqlite3_stmt *row, struct as_store_path_time *time,
                          struct as_store_sums *sums)
{
    int64_t instruction;
    if (!as_store_get(row, "wiwcc", &time->path, &instruction, &time->thread, &time->units, &time->samples))
        return false;
    time->instruction = instruction < 0 ? AS_STORE_NONE : (uint32_t)instruction;
    return time->path < store->paths.len && time->thread < store->threads.len && instruction >= -1 &&
           instruction < (int64_t)store->places.len && as_store_add_up(sums, time->units, time->samples, 0);
}

struct times {
    struct as_store_path_time *data;
    size_t len, cap;
};

/* Rows of several threads lie side by side. */
static void add_row(struct times *times, const struct as_store_path_time *time)
{
    struct as_store_path_time *last = times->len ? &times->data[times->len - 1] : NULL;
    if (!last || last->path != time->path || last->instruction != time->instruction) {
        *as_vec_push(times) = *time;
        return;
    }
    as_add_to(&last->units, time->units);
    as_add_to(&last->samples, time->samples);
    if (last->thread != time->thread)
        last->thread = AS_STORE_NONE;
}

struct as_store_path_time *as_store_path_times(struct as_store *store, uint32_t series, const bool *threads, size_t *n,
                                               struct as_error *err)
{
    static const char *const sql = "SELECT path, instruction, thread, units, samples FROM path_times WHERE series = ?1"
                                   " ORDER BY series, path, instruction, thread";
    struct times times = {0};
    struct as_store_path_time time = {.series = series};
    struct as_store_sums sums = {0};
    int more;
    *n = 0;
    if (!as_store_load(store, AS_STORE_CALLS, err))
        return NULL;
    sqlite3_stmt *row = as_store_prepare(store, sql, err);
    if (!row)
        return NULL;
    sqlite3_bind_int64(row, 1, series);
    while ((more = as_store_step(store, row, err)) > 0) {
        if (!get_path_time(store, row, &time, &sums)) {
            as_store_damaged(store, err, "a path's time makes no sense");
            more = -1;
            break;
        }
        if (!threads || threads[time.thread])
            add_row(&times, &time);
    }
    sqlite3_finalize(row);
    if (more < 0) {
        free(times.data);
        return NULL;
    }
    *n = times.len;
    return times.data ? times.data : as_alloc(sizeof time);
}

/* ---- totals ---- */

/* For each path whether its function is on the way to the root already: such a path's time is in that one's total. */
struct walk {
    const struct as_store_path *paths;
    size_t n;
    uint32_t *child, *sibling; /* first child, next sibling, as number + 1 */
    uint32_t *on_way;          /* by function: how often */
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

/* Depth first without a stack: parents and siblings show the way. */
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
    size_t n = store->paths.len;
    struct walk walk = {.paths = store->paths.data,
                        .n = n,
                        .child = as_alloc_array(n, sizeof(uint32_t)),
                        .sibling = as_alloc_array(n, sizeof(uint32_t)),
                        .on_way = as_alloc_array(store->functions.len, sizeof(uint32_t))};
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
    for (size_t i = store->paths.len; i-- > 0;) {
        const struct as_store_path *path = &store->paths.data[i];
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
    totals->path_self = as_alloc_array(store->paths.len, sizeof(uint64_t));
    totals->path_total = as_alloc_array(store->paths.len, sizeof(uint64_t));
    totals->function_self = as_alloc_array(store->functions.len, sizeof(uint64_t));
    totals->function_total = as_alloc_array(store->functions.len, sizeof(uint64_t));
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
