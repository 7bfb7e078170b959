/* See store_schema.h. */
#include "store/store_schema.h"

#include "base/alloc.h"
#include "base/vec.h"
#include "store/store_sql.h"

#include <pthread.h>
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

/* An object of a schema, as SQLite names it. */
struct object {
    char *name, *type, *sql;
};

/* What a schema must have. Making a database of it takes longer than reading a small profile, so the last one is kept: whoever
 * opens many profiles needs it again and again. */
static struct {
    pthread_mutex_t mutex;
    const struct as_store_schema *schema;
    int version;
    AS_VEC(struct object) objects;
} kept = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static char *copy_column(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return as_strdup(text ? text : "");
}

static void forget_kept(void)
{
    for (size_t i = 0; i < kept.objects.len; i++) {
        free(kept.objects.data[i].name);
        free(kept.objects.data[i].type);
        free(kept.objects.data[i].sql);
    }
    as_vec_clear(&kept.objects);
    kept.schema = NULL;
}

/* Indices that SQLite creates by itself have no SQL and come with their tables. */
static bool list_objects(const struct as_store_schema *schema, int version)
{
    static const char *const list = "SELECT name, type, sql FROM sqlite_schema WHERE sql IS NOT NULL";
    sqlite3 *model = NULL;
    sqlite3_stmt *wanted = NULL;
    int code = sqlite3_open_v2(":memory:", &model, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (code == SQLITE_OK)
        code = as_store_schema_apply(model, schema, 0, version);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(model, list, -1, &wanted, NULL);
    while (wanted && (code = sqlite3_step(wanted)) == SQLITE_ROW)
        *as_vec_push(&kept.objects) = (struct object){
            .name = copy_column(wanted, 0), .type = copy_column(wanted, 1), .sql = copy_column(wanted, 2)};
    sqlite3_finalize(wanted);
    sqlite3_close(model);
    return code == SQLITE_DONE;
}

static bool keep_objects(const struct as_store_schema *schema, int version)
{
    if (schema == &as_store_schema && kept.schema == schema && kept.version == version)
        return true;
    forget_kept();
    if (!list_objects(schema, version))
        return false;
    kept.schema = schema;
    kept.version = version;
    return true;
}

static bool has_text(sqlite3_stmt *statement, int column, const char *text)
{
    const void *found = sqlite3_column_text(statement, column);
    size_t n = strlen(text);
    return found && n == (size_t)sqlite3_column_bytes(statement, column) && memcmp(found, text, n) == 0;
}

static bool has_object(sqlite3_stmt *found, const struct object *object)
{
    sqlite3_reset(found);
    return sqlite3_bind_text(found, 1, object->name, -1, SQLITE_TRANSIENT) == SQLITE_OK &&
           sqlite3_step(found) == SQLITE_ROW && has_text(found, 1, object->type) && has_text(found, 2, object->sql);
}

bool as_store_schema_holds(sqlite3 *db, const struct as_store_schema *schema, int version, char *missing, size_t size)
{
    static const char *const one = "SELECT name, type, sql FROM sqlite_schema WHERE name = ?1";
    sqlite3_stmt *found = NULL;
    pthread_mutex_lock(&kept.mutex);
    bool ok = keep_objects(schema, version) && sqlite3_prepare_v2(db, one, -1, &found, NULL) == SQLITE_OK;
    sqlite3_snprintf((int)size, missing, "schema");
    for (size_t i = 0; ok && i < kept.objects.len; i++) {
        sqlite3_snprintf((int)size, missing, "%s", kept.objects.data[i].name);
        ok = has_object(found, &kept.objects.data[i]);
    }
    pthread_mutex_unlock(&kept.mutex);
    sqlite3_finalize(found);
    return ok;
}
