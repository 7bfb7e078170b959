/* Rows of one series as they are in the file: for whoever writes all of it elsewhere. */
#include "store/store_internal.h"
#include "store/store_sql.h"

static bool counts(const struct as_store *store, const bool *threads, uint32_t thread)
{
    return thread < store->threads.len && (!threads || threads[thread]);
}

bool as_store_each_row(struct as_store *store, unsigned parts, const char *sql, uint32_t series,
                       bool (*use)(struct as_store *, sqlite3_stmt *, void *), void *context, struct as_error *err)
{
    int more;
    if (series >= store->series.len)
        return as_error_set(err, "%s has no series %u", store->path, series);
    sqlite3_stmt *row = as_store_load(store, parts, err) ? as_store_prepare(store, sql, err) : NULL;
    if (!row)
        return false;
    sqlite3_bind_int64(row, 1, series);
    while ((more = as_store_step(store, row, err)) > 0)
        if (!use(store, row, context)) {
            as_store_damaged(store, err, "a time of series %u makes no sense", series);
            more = -1;
            break;
        }
    sqlite3_finalize(row);
    return more == 0;
}

static bool add_up(uint64_t *sum, uint64_t value)
{
    return !__builtin_add_overflow(*sum, value, sum) && *sum <= INT64_MAX;
}

bool as_store_add_up(struct as_store_sums *sums, uint64_t units, uint64_t samples, uint64_t executions)
{
    return add_up(&sums->units, units) && add_up(&sums->samples, samples) && add_up(&sums->executions, executions);
}

struct gathered {
    uint32_t series;
    const bool *threads;
    struct as_store_sums sums; /* of the table that is read */
    AS_VEC(struct as_store_time) times;
    AS_VEC(struct as_store_component) components;
    AS_VEC(struct as_store_state_time) states;
    AS_VEC(struct as_store_path_time) paths;
};

static bool use_time(struct as_store *store, sqlite3_stmt *row, void *context)
{
    struct gathered *all = context;
    struct as_store_time time = {.series = all->series};
    if (!as_store_get(row, "wwccc", &time.instruction, &time.thread, &time.units, &time.samples, &time.executions) ||
        time.instruction >= store->places.len || time.thread >= store->threads.len ||
        !as_store_add_up(&all->sums, time.units, time.samples, time.executions))
        return false;
    if (counts(store, all->threads, time.thread))
        *as_vec_push(&all->times) = time;
    return true;
}

static bool use_component(struct as_store *store, sqlite3_stmt *row, void *context)
{
    struct gathered *all = context;
    struct as_store_component part = {.series = all->series};
    if (!as_store_get(row, "wwucc", &part.instruction, &part.thread, &part.events, &part.units, &part.samples) ||
        part.instruction >= store->places.len || part.thread >= store->threads.len ||
        !as_store_add_up(&all->sums, part.units, part.samples, 0))
        return false;
    if (counts(store, all->threads, part.thread))
        *as_vec_push(&all->components) = part;
    return true;
}

static bool use_state(struct as_store *store, sqlite3_stmt *row, void *context)
{
    struct gathered *all = context;
    struct as_store_state_time part = {.series = all->series};
    if (!as_store_get(row, "wwwc", &part.instruction, &part.thread, &part.state, &part.units) ||
        part.instruction >= store->places.len || part.thread >= store->threads.len || part.state >= store->states.len ||
        !as_store_add_up(&all->sums, part.units, 0, 0))
        return false;
    if (counts(store, all->threads, part.thread))
        *as_vec_push(&all->states) = part;
    return true;
}

static bool use_path(struct as_store *store, sqlite3_stmt *row, void *context)
{
    struct gathered *all = context;
    struct as_store_path_time time = {.series = all->series};
    int64_t instruction;
    if (!as_store_get(row, "wiwcc", &time.path, &instruction, &time.thread, &time.units, &time.samples) ||
        time.path >= store->paths.len || time.thread >= store->threads.len || instruction < -1 ||
        instruction >= (int64_t)store->places.len || !as_store_add_up(&all->sums, time.units, time.samples, 0))
        return false;
    time.instruction = instruction < 0 ? AS_STORE_NONE : (uint32_t)instruction;
    if (counts(store, all->threads, time.thread))
        *as_vec_push(&all->paths) = time;
    return true;
}

static bool each_row(struct as_store *store, const char *sql, struct gathered *all,
                     bool (*use)(struct as_store *, sqlite3_stmt *, void *), struct as_error *err)
{
    all->sums = (struct as_store_sums){0};
    return as_store_each_row(store, AS_STORE_CALLS, sql, all->series, use, all, err);
}

bool as_store_raw(struct as_store *store, uint32_t series, const bool *threads, struct as_store_raw *raw,
                  struct as_error *err)
{
    struct gathered all = {.series = series, .threads = threads};
    bool ok = each_row(store,
                       "SELECT instruction, thread, units, samples, executions FROM times WHERE series = ?1"
                       " ORDER BY series, instruction, thread",
                       &all, use_time, err) &&
              each_row(store,
                       "SELECT instruction, thread, events, units, samples FROM components WHERE series = ?1"
                       " ORDER BY series, instruction, thread, events",
                       &all, use_component, err) &&
              each_row(store,
                       "SELECT instruction, thread, state, units FROM state_times WHERE series = ?1"
                       " ORDER BY series, instruction, thread, state",
                       &all, use_state, err) &&
              each_row(store,
                       "SELECT path, instruction, thread, units, samples FROM path_times WHERE series = ?1"
                       " ORDER BY series, path, instruction, thread",
                       &all, use_path, err);
    *raw = (struct as_store_raw){.times = all.times.data,
                                 .components = all.components.data,
                                 .states = all.states.data,
                                 .paths = all.paths.data,
                                 .n_times = all.times.len,
                                 .n_components = all.components.len,
                                 .n_states = all.states.len,
                                 .n_paths = all.paths.len};
    if (!ok)
        as_store_raw_free(raw);
    return ok;
}

void as_store_raw_free(struct as_store_raw *raw)
{
    free(raw->times);
    free(raw->components);
    free(raw->states);
    free(raw->paths);
    *raw = (struct as_store_raw){0};
}
