/* Data accesses of a series, the branches of its branch stacks, and the components of its call paths. */
#include "base/saturate.h"
#include "store/store_internal.h"
#include "store/store_sql.h"

static bool counts(const bool *threads, uint32_t thread)
{
    return !threads || threads[thread];
}

/* ---- accesses ---- */

struct accesses {
    uint32_t series;
    const bool *threads;
    struct as_store_sums sums;
    AS_VEC(struct as_store_access) rows;
};

static bool valid_access(const struct as_store *store, const struct as_store_access *access)
{
    return access->instruction < store->places.len && access->thread < store->threads.len &&
           access->kind <= (AS_STORE_LOAD | AS_STORE_STORE) && access->how < AS_STORE_HOW_COUNT &&
           as_store_valid(access->object, store->objects.len);
}

static bool use_access(struct as_store *store, sqlite3_stmt *row, void *context)
{
    struct accesses *all = context;
    struct as_store_access access = {.series = all->series};
    if (!as_store_get(row, "wwuwwwncc", &access.instruction, &access.thread, &access.address, &access.size,
                      &access.kind, &access.how, &access.object, &access.units, &access.samples) ||
        !valid_access(store, &access) || !as_store_add_up(&all->sums, access.units, access.samples, 0))
        return false;
    if (counts(all->threads, access.thread))
        *as_vec_push(&all->rows) = access;
    return true;
}

struct as_store_access *as_store_accesses(struct as_store *store, uint32_t series, const bool *threads, size_t *n,
                                          struct as_error *err)
{
    static const char *const sql = "SELECT instruction, thread, address, size, kind, how, object, units, samples"
                                   " FROM accesses WHERE series = ?1"
                                   " ORDER BY series, instruction, thread, address, size, kind, how";
    struct accesses all = {.series = series, .threads = threads};
    bool ok = as_store_each_row(store, AS_STORE_DATA, sql, series, use_access, &all, err);
    *n = all.rows.len;
    if (ok)
        return all.rows.data ? all.rows.data : as_alloc(sizeof *all.rows.data);
    as_vec_free(&all.rows);
    return NULL;
}

/* ---- branches ---- */

struct branches {
    uint32_t series;
    struct as_store_sums sums; /* units: cycles, samples: mispredicted, executions: taken */
    AS_VEC(struct as_store_branch) rows;
};

static bool use_branch(struct as_store *store, sqlite3_stmt *row, void *context)
{
    struct branches *all = context;
    struct as_store_branch branch = {.series = all->series};
    if (!as_store_get(row, "wwccc", &branch.source, &branch.target, &branch.taken, &branch.mispredicted,
                      &branch.cycles) ||
        branch.source >= store->places.len || branch.target >= store->places.len ||
        !as_store_add_up(&all->sums, branch.cycles, branch.mispredicted, branch.taken))
        return false;
    *as_vec_push(&all->rows) = branch;
    return true;
}

struct as_store_branch *as_store_branches(struct as_store *store, uint32_t series, size_t *n, struct as_error *err)
{
    static const char *const sql = "SELECT source, target, taken, mispredicted, cycles FROM branches"
                                   " WHERE series = ?1 ORDER BY series, source, target";
    struct branches all = {.series = series};
    bool ok = as_store_each_row(store, AS_STORE_CODE, sql, series, use_branch, &all, err);
    *n = all.rows.len;
    if (ok)
        return all.rows.data ? all.rows.data : as_alloc(sizeof *all.rows.data);
    as_vec_free(&all.rows);
    return NULL;
}

/* ---- components of paths ---- */

struct parts {
    uint32_t series;
    const bool *threads;
    struct as_store_sums sums;
    AS_VEC(struct as_store_path_component) rows;
};

static bool use_part(struct as_store *store, sqlite3_stmt *row, void *context)
{
    struct parts *all = context;
    struct as_store_path_component part = {.series = all->series};
    if (!as_store_get(row, "wwucc", &part.path, &part.thread, &part.events, &part.units, &part.samples) ||
        part.path >= store->paths.len || part.thread >= store->threads.len ||
        !as_store_add_up(&all->sums, part.units, part.samples, 0))
        return false;
    if (!counts(all->threads, part.thread))
        return true;
    struct as_store_path_component *last = all->rows.len ? &all->rows.data[all->rows.len - 1] : NULL;
    part.thread = AS_STORE_NONE;
    if (!last || last->path != part.path || last->events != part.events) {
        *as_vec_push(&all->rows) = part;
        return true;
    }
    as_add_to(&last->units, part.units);
    as_add_to(&last->samples, part.samples);
    return true;
}

struct as_store_path_component *as_store_path_components(struct as_store *store, uint32_t series, const bool *threads,
                                                         size_t *n, struct as_error *err)
{
    static const char *const sql = "SELECT path, thread, events, units, samples FROM path_components"
                                   " WHERE series = ?1 ORDER BY path, events, thread";
    struct parts all = {.series = series, .threads = threads};
    bool ok = as_store_each_row(store, AS_STORE_CALLS, sql, series, use_part, &all, err);
    *n = all.rows.len;
    if (ok)
        return all.rows.data ? all.rows.data : as_alloc(sizeof *all.rows.data);
    as_vec_free(&all.rows);
    return NULL;
}
