/* See store_write.h. One transaction in a file that no other process can see: no journal, no syncs until the end. */
#include "store/store_write.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "store/store_row.h"
#include "store/store_schema.h"
#include "store/store_sql.h"
#include "store/store_target.h"
#include "store/store_vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct as_store_writer {
    char *path; /* as given, for messages */
    struct as_store_target target;
    sqlite3 *db;
    sqlite3_stmt *statements[AS_TABLE_COUNT];
    uint32_t counts[AS_TABLE_COUNT]; /* number of rows added */
    uint64_t rows;                   /* the same in all tables */
    void (*watch)(void *context, uint64_t rows);
    void *watch_context;
    bool failed;
    struct as_error err; /* the first error */
};

/* ---- errors ---- */

/* Describes what went wrong; if the system failed, in the system's words. */
static const char *reason(sqlite3 *db, int code)
{
    int error = db ? as_store_vfs_errno(db) : 0;
    return error ? strerror(error) : db ? sqlite3_errmsg(db) : sqlite3_errstr(code);
}

static void note_failure(struct as_store_writer *writer, int code)
{
    if (writer->failed)
        return;
    writer->failed = true;
    if ((code & 0xff) == SQLITE_TOOBIG)
        as_error_set(&writer->err, "cannot write %s: a name in it is longer than %d bytes", writer->path,
                     AS_STORE_MAX_TEXT);
    else
        as_error_set(&writer->err, "cannot write %s: %s", writer->path, reason(writer->db, code));
}

/* For a mistake of the calling code, not of the user. */
static void note_misuse(struct as_store_writer *writer, enum as_store_table_id id, const char *column)
{
    if (writer->failed)
        return;
    writer->failed = true;
    as_error_set(&writer->err, "cannot write %s: internal error: row %" PRIu32 " of %s has a bad %s", writer->path,
                 writer->counts[id], as_store_tables[id].name, column);
}

/* ---- opening and ending ---- */

static int prepare(struct as_store_writer *writer)
{
    static const char *const settings = "PRAGMA page_size = 4096; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                                        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY;"
                                        "PRAGMA cache_size = -32768; BEGIN";
    int code = as_store_vfs_open(writer->target.fd, true, &writer->db);
    if (code == SQLITE_OK)
        code = sqlite3_exec(writer->db, settings, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = as_store_schema_apply(writer->db, &as_store_schema, 0, AS_STORE_VERSION);
    sqlite3_limit(writer->db, SQLITE_LIMIT_LENGTH, AS_STORE_MAX_TEXT);
    for (int i = 0; i < AS_TABLE_COUNT && code == SQLITE_OK; i++) {
        char *sql = as_store_sql_insert(&as_store_tables[i]);
        code = sqlite3_prepare_v3(writer->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &writer->statements[i], NULL);
        free(sql);
    }
    return code;
}

struct as_store_writer *as_store_writer_open(const char *path, struct as_error *err)
{
    struct as_store_writer *writer = as_alloc(sizeof *writer);
    writer->path = as_strdup(path);
    writer->target.fd = -1;
    if (!as_store_target_open(&writer->target, path, true, err)) {
        as_store_writer_abort(writer);
        return NULL;
    }
    int code = prepare(writer);
    if (code == SQLITE_OK)
        return writer;
    note_failure(writer, code);
    as_error_set(err, "%s", writer->err.message);
    as_store_writer_abort(writer);
    return NULL;
}

static int close_database(struct as_store_writer *writer)
{
    for (int i = 0; i < AS_TABLE_COUNT; i++)
        sqlite3_finalize(writer->statements[i]);
    int code = sqlite3_close(writer->db);
    memset(writer->statements, 0, sizeof writer->statements);
    writer->db = NULL;
    return code;
}

void as_store_writer_abort(struct as_store_writer *writer)
{
    if (!writer)
        return;
    close_database(writer);
    as_store_target_free(&writer->target);
    free(writer->path);
    free(writer);
}

/* What is not made of other recordings is one of its own. Its identity is random: runs that do the same to the cycle are
 * two recordings all the same. */
static void identify(struct as_store_writer *writer)
{
    unsigned char random[16];
    char text[2 * sizeof random + 1];
    if (writer->failed || writer->counts[AS_TABLE_RECORDINGS] || getentropy(random, sizeof random) != 0)
        return;
    as_bytes_hex(random, sizeof random, text);
    as_store_add_recording(writer, text);
}

/* Writes everything to the file. */
static bool complete(struct as_store_writer *writer, struct as_error *err)
{
    identify(writer);
    int code = writer->failed ? SQLITE_OK : sqlite3_exec(writer->db, "COMMIT", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = close_database(writer);
    if (code != SQLITE_OK)
        note_failure(writer, code);
    return !writer->failed || as_error_set(err, "%s", writer->err.message);
}

bool as_store_writer_commit(struct as_store_writer *writer, struct as_error *err)
{
    bool ok = complete(writer, err) && as_store_target_publish(&writer->target, err);
    as_store_writer_abort(writer);
    return ok;
}

int as_store_writer_finish(struct as_store_writer *writer, struct as_error *err)
{
    int fd = -1;
    if (complete(writer, err) && (fd = fcntl(writer->target.fd, F_DUPFD_CLOEXEC, 0)) < 0)
        as_error_set(err, "cannot keep a profile: %s", strerror(errno));
    as_store_writer_abort(writer);
    return fd;
}

bool as_store_writer_failed(const struct as_store_writer *writer)
{
    return writer->failed;
}

/* ---- rows ---- */

enum { WATCH_EVERY = 4096 };

void as_store_writer_watch(struct as_store_writer *writer, void (*each)(void *context, uint64_t rows), void *context)
{
    writer->watch = each;
    writer->watch_context = context;
}

uint32_t as_store_add(struct as_store_writer *writer, enum as_store_table_id id, const void *row)
{
    const struct as_store_table *table = &as_store_tables[id];
    sqlite3_stmt *statement = writer->statements[id];
    const char *bad = as_store_bad_column(table, row, writer->counts);
    bool is_numbered = table->columns[0].type == AS_COLUMN_ROW || table->columns[0].type == AS_COLUMN_ORDER;
    if (bad || (is_numbered && writer->counts[id] == AS_STORE_NONE - 1))
        note_misuse(writer, id, bad ? bad : "number");
    if (writer->failed)
        return 0;
    int code = as_store_bind_row(statement, table, row, writer->counts[id]);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    if (code == SQLITE_DONE)
        code = sqlite3_reset(statement);
    if (code != SQLITE_OK)
        note_failure(writer, code);
    if (++writer->rows % WATCH_EVERY == 0 && writer->watch)
        writer->watch(writer->watch_context, writer->rows);
    return writer->counts[id]++;
}

bool as_store_writer_each(struct as_store_writer *writer, enum as_store_table_id id, uint32_t series,
                          bool (*each)(void *context, uint32_t number, const void *row), void *context,
                          struct as_error *err)
{
    const struct as_store_table *table = &as_store_tables[id];
    struct as_store_row_reader reader = {.table = table, .n = table->n_columns, .counts = writer->counts};
    union as_store_any_row row;
    sqlite3_stmt *statement = NULL;
    uint32_t number = 0;
    if (writer->failed)
        return as_error_set(err, "%s", writer->err.message);
    struct as_store_select select = {.n = table->n_columns, .of_series = series != AS_STORE_NONE};
    char *sql = as_store_sql_select(table, &select);
    int code = sqlite3_prepare_v2(writer->db, sql, -1, &statement, NULL);
    free(sql);
    if (code == SQLITE_OK && select.of_series)
        code = sqlite3_bind_int64(statement, 1, series);
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        if (!as_store_get_row(&reader, statement, &number, &row))
            code = SQLITE_CORRUPT; /* its values were checked when it was added */
        else
            code = each(context, number++, &row) ? SQLITE_OK : SQLITE_DONE;
    }
    sqlite3_finalize(statement);
    if (code != SQLITE_DONE)
        note_failure(writer, code);
    return code == SQLITE_DONE || as_error_set(err, "%s", writer->err.message);
}

void as_store_add_meta(struct as_store_writer *writer, const char *key, const char *value)
{
    if (value)
        as_store_add(writer, AS_TABLE_META, &(struct as_store_pair){key, value});
}

void as_store_add_meta_u64(struct as_store_writer *writer, const char *key, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    as_store_add_meta(writer, key, text);
}

void as_store_add_meta_double(struct as_store_writer *writer, const char *key, double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", value);
    as_store_add_meta(writer, key, text);
}

void as_store_add_machine(struct as_store_writer *writer, const char *key, const char *value)
{
    if (value)
        as_store_add(writer, AS_TABLE_MACHINE, &(struct as_store_pair){key, value});
}

void as_store_add_counter(struct as_store_writer *writer, const char *name, uint64_t value)
{
    as_store_add(writer, AS_TABLE_COUNTERS, &(struct as_store_counter){name, value});
}

void as_store_add_quality(struct as_store_writer *writer, const char *key, double value, const char *text)
{
    as_store_add(writer, AS_TABLE_QUALITY, &(struct as_store_quality){key, value, text});
}

/* ---- the other tables, one row each ---- */

#define ADDER(function, type, table)                                                                                   \
    void function(struct as_store_writer *writer, const type *row)                                                     \
    {                                                                                                                  \
        as_store_add(writer, AS_TABLE_##table, row);                                                                   \
    }
#define ADDER_OF_TEXT(result, function, table)                                                                         \
    result function(struct as_store_writer *writer, const char *text)                                                  \
    {                                                                                                                  \
        return (result)as_store_add(writer, AS_TABLE_##table, &text);                                                  \
    }
#define NUMBERING_ADDER(function, type, table)                                                                         \
    uint32_t function(struct as_store_writer *writer, const type *row)                                                 \
    {                                                                                                                  \
        return as_store_add(writer, AS_TABLE_##table, row);                                                            \
    }

ADDER_OF_TEXT(void, as_store_add_argument, ARGUMENTS)
ADDER_OF_TEXT(void, as_store_add_environment, ENVIRONMENT)
ADDER_OF_TEXT(void, as_store_add_recording, RECORDINGS)
ADDER_OF_TEXT(uint32_t, as_store_add_file, FILES)

NUMBERING_ADDER(as_store_add_thread, struct as_store_thread, THREADS)
NUMBERING_ADDER(as_store_add_module, struct as_store_module, MODULES)
NUMBERING_ADDER(as_store_add_function, struct as_store_function, FUNCTIONS)
NUMBERING_ADDER(as_store_add_block, struct as_store_block, BLOCKS)
NUMBERING_ADDER(as_store_add_inline, struct as_store_inline, INLINES)
NUMBERING_ADDER(as_store_add_instruction, struct as_store_insn, INSTRUCTIONS)
NUMBERING_ADDER(as_store_add_series, struct as_store_series, SERIES)
NUMBERING_ADDER(as_store_add_state, struct as_store_state, STATES)
NUMBERING_ADDER(as_store_add_object, struct as_store_object, OBJECTS)
NUMBERING_ADDER(as_store_add_path, struct as_store_path, PATHS)

ADDER(as_store_add_event, struct as_store_event, EVENTS)
ADDER(as_store_add_stack, struct as_store_stack, STACKS)
ADDER(as_store_add_estimate, struct as_store_estimate, ESTIMATES)
ADDER(as_store_add_run, struct as_store_run, RUNS)

ADDER(as_store_add_time, struct as_store_time, TIMES)
ADDER(as_store_add_component, struct as_store_component, COMPONENTS)
ADDER(as_store_add_state_time, struct as_store_state_time, STATE_TIMES)
ADDER(as_store_add_path_time, struct as_store_path_time, PATH_TIMES)
ADDER(as_store_add_path_component, struct as_store_path_component, PATH_COMPONENTS)
ADDER(as_store_add_access, struct as_store_access, ACCESSES)
ADDER(as_store_add_access_component, struct as_store_access_component, ACCESS_COMPONENTS)
ADDER(as_store_add_branch, struct as_store_branch, BRANCHES)
ADDER(as_store_add_wait, struct as_store_wait, WAITS)
ADDER(as_store_add_moment, struct as_store_moment, MOMENTS)
