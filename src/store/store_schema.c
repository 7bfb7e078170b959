/* See store_schema.h; doc/format/profile.md explains the tables. */
#include "store/store_schema.h"

#include "store/store.h"

#include <string.h>

/* Rows are found by their primary keys, in which the series comes first and then the instruction: a report reads one
 * range, in the order of the code. WITHOUT ROWID keeps such a table as that one tree. */
static const char version_1[] =
    /* what was run, and how */
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE machine(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE counters(name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE TABLE quality(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value REAL, text TEXT) STRICT;"
    "CREATE TABLE arguments(id INTEGER PRIMARY KEY, value TEXT NOT NULL) STRICT;"
    "CREATE TABLE environment(id INTEGER PRIMARY KEY, value TEXT NOT NULL) STRICT;"
    "CREATE TABLE runs(number INTEGER PRIMARY KEY, cycles INTEGER NOT NULL, instructions INTEGER NOT NULL,"
    " samples INTEGER NOT NULL, seconds REAL NOT NULL, status INTEGER NOT NULL) STRICT;"
    "CREATE TABLE threads(id INTEGER PRIMARY KEY, number INTEGER NOT NULL, process INTEGER NOT NULL, name TEXT,"
    " cycles INTEGER NOT NULL, instructions INTEGER NOT NULL, samples INTEGER NOT NULL) STRICT;"
    /* the code */
    "CREATE TABLE modules(id INTEGER PRIMARY KEY, path TEXT, build_id TEXT, base INTEGER NOT NULL,"
    " file_size INTEGER NOT NULL, file_time INTEGER NOT NULL) STRICT;"
    "CREATE TABLE files(id INTEGER PRIMARY KEY, path TEXT NOT NULL) STRICT;"
    "CREATE TABLE functions(id INTEGER PRIMARY KEY, module INTEGER, name TEXT, linkage_name TEXT,"
    " address INTEGER NOT NULL, size INTEGER NOT NULL, file INTEGER, line INTEGER NOT NULL) STRICT;"
    "CREATE TABLE blocks(id INTEGER PRIMARY KEY, function INTEGER, address INTEGER NOT NULL,"
    " size INTEGER NOT NULL) STRICT;"
    "CREATE TABLE inlines(id INTEGER PRIMARY KEY, parent INTEGER, function TEXT, file INTEGER,"
    " line INTEGER NOT NULL) STRICT;"
    "CREATE TABLE instructions(id INTEGER PRIMARY KEY, address INTEGER NOT NULL, module INTEGER, function INTEGER,"
    " block INTEGER, file INTEGER, line INTEGER NOT NULL, inlined INTEGER, target INTEGER, class TEXT, text TEXT,"
    " bytes BLOB) STRICT;"
    /* what was measured */
    "CREATE TABLE series(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, description TEXT, exact INTEGER NOT NULL,"
    " unit TEXT, scale INTEGER NOT NULL, event TEXT, precise INTEGER NOT NULL, period INTEGER NOT NULL,"
    " rate REAL NOT NULL, samples INTEGER NOT NULL, lost INTEGER NOT NULL, throttled INTEGER NOT NULL,"
    " dropped INTEGER NOT NULL, events INTEGER NOT NULL) STRICT;"
    "CREATE TABLE estimates(series INTEGER NOT NULL, measure TEXT NOT NULL, granularity TEXT NOT NULL,"
    " value REAL, PRIMARY KEY(series, measure, granularity)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE events(bit INTEGER PRIMARY KEY, name TEXT NOT NULL, description TEXT, parent INTEGER,"
    " state TEXT) STRICT;"
    "CREATE TABLE states(id INTEGER PRIMARY KEY, name TEXT NOT NULL, description TEXT) STRICT;"
    "CREATE TABLE stacks(id INTEGER PRIMARY KEY, series INTEGER NOT NULL, stack TEXT NOT NULL, name TEXT NOT NULL,"
    " units INTEGER NOT NULL) STRICT;"
    "CREATE TABLE times(series INTEGER NOT NULL, instruction INTEGER NOT NULL, thread INTEGER NOT NULL,"
    " units INTEGER NOT NULL, samples INTEGER NOT NULL, executions INTEGER NOT NULL,"
    " PRIMARY KEY(series, instruction, thread)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE components(series INTEGER NOT NULL, instruction INTEGER NOT NULL, thread INTEGER NOT NULL,"
    " events INTEGER NOT NULL, units INTEGER NOT NULL, samples INTEGER NOT NULL,"
    " PRIMARY KEY(series, instruction, thread, events)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE state_times(series INTEGER NOT NULL, instruction INTEGER NOT NULL, thread INTEGER NOT NULL,"
    " state INTEGER NOT NULL, units INTEGER NOT NULL,"
    " PRIMARY KEY(series, instruction, thread, state)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE paths(id INTEGER PRIMARY KEY, parent INTEGER, function INTEGER, call_site INTEGER,"
    " address INTEGER NOT NULL, call_address INTEGER NOT NULL, signal INTEGER NOT NULL,"
    " CHECK(parent IS NULL OR parent < id)) STRICT;"
    /* instruction -1: the path as a whole */
    "CREATE TABLE path_times(series INTEGER NOT NULL, path INTEGER NOT NULL, instruction INTEGER NOT NULL,"
    " thread INTEGER NOT NULL, units INTEGER NOT NULL, samples INTEGER NOT NULL,"
    " PRIMARY KEY(series, path, instruction, thread)) STRICT, WITHOUT ROWID;"
    "CREATE INDEX instructions_of_function ON instructions(function, address);";

/* Components of call paths, for trees and flame graphs that tell why; what samples accessed, and what that belongs to;
 * the branches that branch stacks hold. */
static const char version_2[] =
    "CREATE TABLE path_components(series INTEGER NOT NULL, path INTEGER NOT NULL, thread INTEGER NOT NULL,"
    " events INTEGER NOT NULL, units INTEGER NOT NULL, samples INTEGER NOT NULL,"
    " PRIMARY KEY(series, path, thread, events)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE objects(id INTEGER PRIMARY KEY, module INTEGER, name TEXT, address INTEGER NOT NULL,"
    " size INTEGER NOT NULL) STRICT;"
    "CREATE TABLE accesses(series INTEGER NOT NULL, instruction INTEGER NOT NULL, thread INTEGER NOT NULL,"
    " address INTEGER NOT NULL, size INTEGER NOT NULL, kind INTEGER NOT NULL, how INTEGER NOT NULL, object INTEGER,"
    " units INTEGER NOT NULL, samples INTEGER NOT NULL,"
    " PRIMARY KEY(series, instruction, thread, address, size, kind, how)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE branches(series INTEGER NOT NULL, source INTEGER NOT NULL, target INTEGER NOT NULL,"
    " taken INTEGER NOT NULL, mispredicted INTEGER NOT NULL, cycles INTEGER NOT NULL,"
    " PRIMARY KEY(series, source, target)) STRICT, WITHOUT ROWID;";

static const char *const steps[] = {version_1, version_2};
_Static_assert(sizeof steps / sizeof *steps == AS_STORE_VERSION, "a step a version");
const struct as_store_schema as_store_schema = {steps, AS_STORE_VERSION};

static int stamp(sqlite3 *db, int version)
{
    char text[96];
    sqlite3_snprintf(sizeof text, text, "PRAGMA application_id = %d; PRAGMA user_version = %d;",
                     AS_STORE_APPLICATION_ID, version);
    return sqlite3_exec(db, text, NULL, NULL, NULL);
}

int as_store_schema_apply(sqlite3 *db, const struct as_store_schema *schema, int from, int to)
{
    int code = SQLITE_OK;
    for (int i = from; i < to && code == SQLITE_OK; i++)
        code = sqlite3_exec(db, schema->steps[i], NULL, NULL, NULL);
    return code == SQLITE_OK ? stamp(db, to) : code;
}

static bool same_text(sqlite3_stmt *a, sqlite3_stmt *b, int column)
{
    const void *x = sqlite3_column_text(a, column), *y = sqlite3_column_text(b, column);
    int n = sqlite3_column_bytes(a, column);
    return x && y && n == sqlite3_column_bytes(b, column) && memcmp(x, y, (size_t)n) == 0;
}

/* Every object of `wanted` in `found`. Indices that SQLite makes by itself have no SQL and come with their tables. */
static bool compare_schemas(sqlite3_stmt *wanted, sqlite3_stmt *found, char *missing, size_t size)
{
    int code;
    while ((code = sqlite3_step(wanted)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(wanted, 0);
        sqlite3_snprintf((int)size, missing, "%s", name ? name : "?");
        sqlite3_reset(found);
        if (sqlite3_bind_text(found, 1, name, -1, SQLITE_TRANSIENT) != SQLITE_OK || sqlite3_step(found) != SQLITE_ROW)
            return false;
        if (!same_text(wanted, found, 1) || !same_text(wanted, found, 2))
            return false;
    }
    return code == SQLITE_DONE;
}

bool as_store_schema_holds(sqlite3 *db, const struct as_store_schema *schema, int version, char *missing, size_t size)
{
    static const char *const list = "SELECT name, type, sql FROM sqlite_schema WHERE sql IS NOT NULL";
    static const char *const one = "SELECT name, type, sql FROM sqlite_schema WHERE name = ?1";
    sqlite3 *model = NULL;
    sqlite3_stmt *wanted = NULL, *found = NULL;
    bool ok = sqlite3_open_v2(":memory:", &model, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) == SQLITE_OK &&
              as_store_schema_apply(model, schema, 0, version) == SQLITE_OK &&
              sqlite3_prepare_v2(model, list, -1, &wanted, NULL) == SQLITE_OK &&
              sqlite3_prepare_v2(db, one, -1, &found, NULL) == SQLITE_OK;
    sqlite3_snprintf((int)size, missing, "schema");
    ok = ok && compare_schemas(wanted, found, missing, size);
    sqlite3_finalize(wanted);
    sqlite3_finalize(found);
    sqlite3_close(model);
    return ok;
}
