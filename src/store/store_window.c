/* A part of a run: temporary tables that contain only what was sampled in it, and that stand for the tables of the file.
 * SQLite looks for a name among the temporary tables first, so every later query sees that part alone. */
#include "store/store_internal.h"

#include <string.h>

/* Every table of what was measured is replaced. Those that no statement here fills are empty: of what they contain, the file
 * does not know the time. */
static const char *const fill[] = {
    "INSERT INTO temp.moments SELECT m.* FROM main.series s CROSS JOIN main.moments m "
    "ON m.series = s.id AND m.time >= ?1 AND m.time < ?2",
    "INSERT INTO temp.times SELECT series, instruction, thread, sum(units), sum(samples), 0 FROM temp.moments "
    "GROUP BY series, instruction, thread",
    "INSERT INTO temp.components SELECT m.series, m.instruction, m.thread, m.events, sum(m.units), sum(m.samples) "
    "FROM temp.moments m JOIN main.series s ON s.id = m.series AND s.events <> 0 "
    "GROUP BY m.series, m.instruction, m.thread, m.events",
    "INSERT INTO temp.path_times SELECT series, path, instruction, thread, sum(units), sum(samples) FROM temp.moments "
    "WHERE path >= 0 GROUP BY series, path, instruction, thread",
};

static int set_query_only(struct as_store *store, bool on)
{
    return sqlite3_exec(store->db, on ? "PRAGMA query_only = ON" : "PRAGMA query_only = OFF", NULL, NULL, NULL);
}

static bool create_tables(struct as_store *store, struct as_error *err)
{
    int code = set_query_only(store, false);
    for (int i = 0; i < AS_TABLE_COUNT && code == SQLITE_OK; i++) {
        if (as_store_tables[i].merging != AS_MERGING_OF_SERIES)
            continue;
        char *sql = as_store_sql_temporary(&as_store_tables[i]);
        code = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
        free(sql);
    }
    return code == SQLITE_OK || as_store_fail(store, code, err);
}

static bool fill_tables(struct as_store *store, uint64_t from, uint64_t until, struct as_error *err)
{
    bool ok = true;
    for (size_t i = 0; i < sizeof fill / sizeof *fill && ok; i++) {
        sqlite3_stmt *statement = as_store_prepare(store, fill[i], err);
        if (!statement)
            return false;
        if (i == 0) {
            sqlite3_bind_int64(statement, 1, (int64_t)(from < INT64_MAX ? from : INT64_MAX));
            sqlite3_bind_int64(statement, 2, (int64_t)(until < INT64_MAX ? until : INT64_MAX));
        }
        ok = as_store_step(store, statement, err) == 0;
        sqlite3_finalize(statement);
    }
    int code = set_query_only(store, true);
    return ok && (code == SQLITE_OK || as_store_fail(store, code, err));
}

/* ---- what is in memory ---- */

/* Calls `set` for each row (number, samples) of a statement with the series as its parameter, where it has one. */
static bool each_sum(struct as_store *store, const char *sql, uint32_t series,
                     void (*set)(struct as_store *, uint32_t, uint64_t), struct as_error *err)
{
    sqlite3_stmt *statement = as_store_prepare(store, sql, err);
    int more = statement ? 1 : -1;
    if (statement && sqlite3_bind_parameter_count(statement))
        sqlite3_bind_int64(statement, 1, series);
    while (more > 0 && (more = as_store_step(store, statement, err)) > 0) {
        int64_t number = sqlite3_column_int64(statement, 0), samples = sqlite3_column_int64(statement, 1);
        if (number >= 0 && number < AS_STORE_NONE && samples >= 0)
            set(store, (uint32_t)number, (uint64_t)samples);
    }
    sqlite3_finalize(statement);
    return more == 0;
}

static void set_series(struct as_store *store, uint32_t number, uint64_t samples)
{
    if (number < store->counts[AS_TABLE_SERIES])
        ((struct as_store_series *)store->rows[AS_TABLE_SERIES])[number].samples = samples;
}

static void set_thread(struct as_store *store, uint32_t number, uint64_t samples)
{
    if (number < store->counts[AS_TABLE_THREADS])
        ((struct as_store_thread *)store->rows[AS_TABLE_THREADS])[number].samples = samples;
}

static bool count_again(struct as_store *store, uint32_t series, struct as_error *err)
{
    for (uint32_t i = 0; i < store->counts[AS_TABLE_SERIES]; i++)
        set_series(store, i, 0);
    for (uint32_t i = 0; i < store->counts[AS_TABLE_THREADS]; i++)
        set_thread(store, i, 0);
    store->counts[AS_TABLE_ESTIMATES] = 0;
    return each_sum(store, "SELECT series, sum(samples) FROM temp.moments GROUP BY series", series, set_series, err) &&
           each_sum(store, "SELECT thread, sum(samples) FROM temp.moments WHERE series = ?1 GROUP BY thread", series,
                    set_thread, err);
}

bool as_store_keep_time(struct as_store *store, uint32_t series, uint64_t from, uint64_t until, struct as_error *err)
{
    return create_tables(store, err) && fill_tables(store, from, until, err) && count_again(store, series, err);
}

void as_store_put_estimate(struct as_store *store, const struct as_store_estimate *estimate)
{
    uint32_t n = store->counts[AS_TABLE_ESTIMATES], at = 0;
    struct as_store_estimate *all = as_realloc_array(store->rows[AS_TABLE_ESTIMATES], n + 1, sizeof *all);
    while (at < n && (all[at].series != estimate->series || strcmp(all[at].measure, estimate->measure) != 0 ||
                      strcmp(all[at].granularity, estimate->granularity) != 0))
        at++;
    all[at] = *estimate;
    store->rows[AS_TABLE_ESTIMATES] = all;
    store->counts[AS_TABLE_ESTIMATES] = at == n ? n + 1 : n;
}

int as_store_span(struct as_store *store, uint32_t series, uint64_t *first, uint64_t *last, struct as_error *err)
{
    sqlite3_stmt *statement =
        as_store_prepare(store, "SELECT min(time), max(time) FROM moments WHERE series = ?1", err);
    if (!statement)
        return -1;
    sqlite3_bind_int64(statement, 1, series);
    int more = as_store_step(store, statement, err);
    bool any = more > 0 && sqlite3_column_type(statement, 0) == SQLITE_INTEGER;
    *first = any ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
    *last = any ? (uint64_t)sqlite3_column_int64(statement, 1) : 0;
    sqlite3_finalize(statement);
    return more < 0 ? -1 : any;
}
