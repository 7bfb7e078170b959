/* See store_schema.h. */
#include "store/store_schema.h"

#include "store/store_sql.h"

#include <stdlib.h>
#include <string.h>

const struct as_store_schema as_store_schema = {.n = AS_STORE_VERSION};

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
    for (int i = from; i < to && code == SQLITE_OK; i++) {
        char *made = i < AS_STORE_VERSION ? as_store_sql_step(i + 1) : NULL;
        code = sqlite3_exec(db, made ? made : schema->later[i - AS_STORE_VERSION], NULL, NULL, NULL);
        free(made);
    }
    return code == SQLITE_OK ? stamp(db, to) : code;
}

static bool same_text(sqlite3_stmt *a, sqlite3_stmt *b, int column)
{
    const void *x = sqlite3_column_text(a, column), *y = sqlite3_column_text(b, column);
    int n = sqlite3_column_bytes(a, column);
    return x && y && n == sqlite3_column_bytes(b, column) && memcmp(x, y, (size_t)n) == 0;
}

/* Whether every object of `wanted` is in `found`. Indices that SQLite creates by itself have no SQL and come with their
 * tables. */
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
