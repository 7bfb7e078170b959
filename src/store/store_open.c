/* Opens a profile: decides which files are refused, and limits what SQLite may do with a file from an unknown source.
 *
 * The file is opened once and everything is read through that descriptor, with a lock that keeps others (the sqlite3
 * shell, say) from changing it meanwhile. An older version is migrated in a temporary copy: reading never changes a
 * file.
 */
#include "store/store_header.h"
#include "store/store_internal.h"
#include "store/store_target.h"
#include "store/store_vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- errors ---- */

bool as_store_damaged(const struct as_store *store, struct as_error *err, const char *format, ...)
{
    char detail[512];
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    return as_error_set(err, "%s is damaged (%s): record it again", store->path, detail);
}

bool as_store_fail(const struct as_store *store, int code, struct as_error *err)
{
    int error = as_store_vfs_errno(store->db);
    if (error)
        return as_error_set(err, "cannot read %s: %s", store->path, strerror(error));
    switch (code & 0xff) {
    case SQLITE_INTERRUPT:
        return as_store_damaged(store, err, "its tables have no end");
    case SQLITE_NOMEM:
        return as_error_set(err, "cannot read %s: out of memory", store->path);
    case SQLITE_FULL:
        return as_error_set(err, "cannot read %s: no space for temporary files", store->path);
    default:
        return as_store_damaged(store, err, "%s", sqlite3_errmsg(store->db));
    }
}

/* ---- statements ---- */

enum { OPS_A_CALL = 1000 };

static int spend(void *context)
{
    struct as_store *store = context;
    return store->ops_left == 0 || --store->ops_left == 0;
}

void as_store_allow(struct as_store *store)
{
    store->rows_left = store->size / 4 + 16;
    store->ops_left = (20000000 + 64 * store->size) / OPS_A_CALL;
}

sqlite3_stmt *as_store_prepare(struct as_store *store, const char *sql, struct as_error *err)
{
    sqlite3_stmt *statement = NULL;
    as_store_allow(store);
    int code = sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL);
    if (code != SQLITE_OK)
        as_store_fail(store, code, err);
    return statement;
}

int as_store_step(struct as_store *store, sqlite3_stmt *statement, struct as_error *err)
{
    int code = sqlite3_step(statement);
    if (code == SQLITE_DONE)
        return 0;
    if (code == SQLITE_ROW && store->rows_left-- > 0)
        return 1;
    as_store_fail(store, code == SQLITE_ROW ? SQLITE_INTERRUPT : code, err);
    return -1;
}

/* ---- the file ---- */

static bool check_header(struct as_store *store, const struct as_store_schema *schema, struct as_error *err)
{
    struct as_store_header header;
    const char *path = store->path;
    if (!as_store_header_read(store->fd, &header))
        return as_error_set(err, "cannot read %s: %s", path, strerror(errno));
    if (header.is_perf_data)
        return as_error_set(err, "%s is a recording of perf, not an Assay profile: 'assay import' converts it", path);
    if (store->size == 0)
        return as_error_set(err, "%s is empty, not an Assay profile: record it again", path);
    if (!header.is_database)
        return as_error_set(err, "%s is not an Assay profile: 'assay record' writes one", path);
    if (store->size < AS_STORE_HEADER_SIZE)
        return as_error_set(err, "%s is truncated (%llu bytes, less than its header): copy or record it again", path,
                            (unsigned long long)store->size);
    if (!header.is_profile)
        return as_error_set(err, "%s is a database of another program, not an Assay profile", path);
    if (header.version > (uint32_t)schema->n)
        return as_error_set(err, "%s has format version %u, but this Assay reads only up to %d: use a newer Assay",
                            path, header.version, schema->n);
    if (header.version == 0)
        return as_store_damaged(store, err, "it has no format version");
    if (header.size > store->size)
        return as_error_set(err, "%s is truncated (%llu of %llu bytes): copy or record it again", path,
                            (unsigned long long)store->size, (unsigned long long)header.size);
    if (header.write_ahead)
        return as_error_set(err, "%s is in WAL mode: run sqlite3 with 'PRAGMA journal_mode = delete' on it", path);
    store->version = (int)header.version;
    return true;
}

/* Whether a process was killed while it changed the file. SQLite would undo that change if it opened the file by
 * name. */
static bool has_hot_journal(const char *path)
{
    char *name = as_format("%s-journal", path);
    int fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    unsigned char first = 0;
    bool hot = fd >= 0 && read(fd, &first, 1) == 1 && first == 0xd9;
    if (fd >= 0)
        close(fd);
    free(name);
    return hot;
}

/* Locks the file: others may read it, too, but not change it. Waits up to a second, because a change takes a moment. */
static bool lock_file(const struct as_store *store, struct as_error *err)
{
    for (int i = 0; !as_store_file_lock(store->fd); i++) {
        if (i == 20)
            return as_error_set(err, "another process is changing %s: try again later", store->path);
        usleep(50000);
    }
    if (has_hot_journal(store->path))
        return as_error_set(err, "%s has an unfinished change in %s-journal: open it with sqlite3 once", store->path,
                            store->path);
    return true;
}

static bool open_file(struct as_store *store, struct as_error *err)
{
    struct stat info;
    store->fd = open(store->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (store->fd < 0 && errno == ENOENT)
        return as_error_set(err, "there is no file %s: 'assay record' writes a profile", store->path);
    if (store->fd < 0 || fstat(store->fd, &info) != 0)
        return as_error_set(err, "cannot read %s: %s", store->path, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return as_error_set(err, "%s is a directory, not an Assay profile", store->path);
    if (!S_ISREG(info.st_mode))
        return as_error_set(err, "%s is not a regular file, so it is not an Assay profile", store->path);
    store->size = store->text_left = (uint64_t)info.st_size;
    return true;
}

/* ---- the database ---- */

static int restrict_database(struct as_store *store)
{
    static const struct {
        int what, value;
    } limits[] = {{SQLITE_LIMIT_LENGTH, AS_STORE_MAX_TEXT},
                  {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
                  {SQLITE_LIMIT_COLUMN, 100},
                  {SQLITE_LIMIT_EXPR_DEPTH, 100},
                  {SQLITE_LIMIT_COMPOUND_SELECT, 10},
                  {SQLITE_LIMIT_FUNCTION_ARG, 8},
                  {SQLITE_LIMIT_ATTACHED, 0},
                  {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100},
                  {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                  {SQLITE_LIMIT_WORKER_THREADS, 0}};
    sqlite3 *db = store->db;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(db, limits[i].what, limits[i].value);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    as_store_allow(store);
    sqlite3_progress_handler(db, OPS_A_CALL, spend, store);
    return sqlite3_exec(db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY;", NULL,
                        NULL, NULL);
}

/* SQLite may report the first damage in several lines, after a heading. */
static const char *answer_line(const char *answer, int *length)
{
    const char *behind = strncmp(answer, "***", 3) == 0 ? strchr(answer, '\n') : NULL;
    const char *line = behind ? behind + 1 : answer;
    *length = (int)strcspn(line, "\n");
    return line;
}

static bool check_pages(struct as_store *store, struct as_error *err)
{
    sqlite3_stmt *statement = as_store_prepare(store, "PRAGMA quick_check(1)", err);
    if (!statement)
        return false;
    bool ok = as_store_step(store, statement, err) > 0;
    const char *answer = ok ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    if (ok && (!answer || strcmp(answer, "ok") != 0)) {
        int length;
        const char *line = answer_line(answer ? answer : "no answer from its check", &length);
        ok = as_store_damaged(store, err, "%.*s", length, line);
    }
    sqlite3_finalize(statement);
    return ok;
}

static bool check_schema(struct as_store *store, const struct as_store_schema *schema, struct as_error *err)
{
    char missing[64];
    as_store_allow(store);
    return as_store_schema_holds(store->db, schema, store->version, missing, sizeof missing) ||
           as_store_damaged(store, err, "its %s is not that of format version %d", missing, store->version);
}

static int copy_pages(sqlite3 *to, sqlite3 *from)
{
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    if (!backup)
        return sqlite3_errcode(to);
    sqlite3_backup_step(backup, -1);
    return sqlite3_backup_finish(backup);
}

/* A database without a name is a temporary file that SQLite removes. */
static bool migrate(struct as_store *store, const struct as_store_schema *schema, struct as_error *err)
{
    sqlite3 *copy = NULL;
    int code = sqlite3_open_v2("", &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK)
        code = copy_pages(copy, store->db);
    sqlite3_close(store->db);
    store->db = copy;
    if (code == SQLITE_OK)
        code = restrict_database(store);
    if (code == SQLITE_OK)
        code = sqlite3_exec(copy, "BEGIN", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = as_store_schema_apply(copy, schema, store->version, schema->n);
    if (code == SQLITE_OK)
        code = sqlite3_exec(copy, "COMMIT", NULL, NULL, NULL);
    return code == SQLITE_OK || as_store_fail(store, code, err);
}

static bool open_database(struct as_store *store, const struct as_store_schema *schema, struct as_error *err)
{
    int code = as_store_vfs_open(store->fd, false, &store->db);
    if (code == SQLITE_OK)
        code = restrict_database(store);
    if (code != SQLITE_OK)
        return as_store_fail(store, code, err);
    if (!check_schema(store, schema, err) || !check_pages(store, err))
        return false;
    if (store->version < schema->n && !migrate(store, schema, err))
        return false;
    code = sqlite3_exec(store->db, "PRAGMA query_only = ON", NULL, NULL, NULL);
    return code == SQLITE_OK || as_store_fail(store, code, err);
}

struct as_store *as_store_open_as(const char *path, const struct as_store_schema *schema, struct as_error *err)
{
    struct as_store *store = as_alloc(sizeof *store);
    store->path = as_strdup(path);
    store->strings = as_strings_new();
    if (open_file(store, err) && check_header(store, schema, err) && lock_file(store, err) &&
        open_database(store, schema, err) && as_store_load_short(store, err))
        return store;
    as_store_close(store);
    return NULL;
}

struct as_store *as_store_open(const char *path, struct as_error *err)
{
    return as_store_open_as(path, &as_store_schema, err);
}

void as_store_close(struct as_store *store)
{
    if (!store)
        return;
    for (int i = 0; i < AS_TABLE_COUNT; i++)
        free(store->rows[i]);
    if (store->one_instruction)
        as_store_cursor_close(store->one_instruction);
    free(store->one_instruction);
    sqlite3_close(store->db);
    if (store->fd >= 0)
        close(store->fd);
    as_strings_free(store->strings);
    free(store->path);
    free(store);
}

const char *as_store_file_name(const struct as_store *store)
{
    return store->path;
}

int as_store_version(const struct as_store *store)
{
    return store->version;
}
