/* The internals of an open profile, shared by the parts of the reader. */
#ifndef AS_STORE_INTERNAL_H
#define AS_STORE_INTERNAL_H

#include "base/map.h"
#include "base/vec.h"
#include "store/store_read.h"
#include "store/store_row.h"
#include "store/store_schema.h"
#include "store/store_sql.h"

#include <sqlite3.h>

struct as_store {
    char *path;
    int fd;
    sqlite3 *db; /* the file, or its migrated copy */
    int version; /* version of the file */
    unsigned loaded;
    bool broken;                /* loading failed */
    struct as_strings *strings; /* all strings that are kept */

    /* Bounds for a file of this size. They stop a damaged file whose pages are linked in several places, which would
     * seem to hold more than it can.
     */
    uint64_t size;
    uint64_t text_left; /* bytes of strings */
    uint64_t rows_left; /* for the current statement */
    uint64_t ops_left;  /* thousands of steps of SQLite's machine, for the current statement */

    /* Loaded rows by table, back to back, and their number. */
    void *rows[AS_TABLE_COUNT];
    uint32_t counts[AS_TABLE_COUNT];

    struct as_store_cursor *one_instruction;
    struct as_store_insn instruction;
};

/* Opens a profile with another schema than the current one: for tests of migration. */
struct as_store *as_store_open_as(const char *path, const struct as_store_schema *schema,
                                  struct as_error *err) AS_MUST_CHECK;
/* Loads the tables that are read with the file. */
bool as_store_load_short(struct as_store *store, struct as_error *err) AS_MUST_CHECK;

static inline const struct as_store_location *as_store_location_rows(const struct as_store *store)
{
    return store->rows[AS_TABLE_INSTRUCTIONS];
}

/* ---- rows ---- */

/* A statement that selects rows, and the checks of what it finds. */
struct as_store_cursor {
    struct as_store *store;
    enum as_store_table_id id;
    uint32_t series; /* NONE: all series */
    sqlite3_stmt *statement;
    struct as_store_row_reader reader;
    uint64_t rows;
};
/* If `select` names no columns, all are read, except the series if it is known. */
bool as_store_cursor_open(struct as_store_cursor *cursor, struct as_store *store, enum as_store_table_id id,
                          struct as_store_select select, struct as_error *err) AS_MUST_CHECK;
void as_store_cursor_bind(struct as_store_cursor *cursor, uint32_t first, uint32_t second); /* second may be NONE */
/* Opens a cursor on a series: loads what the rows refer to, and binds the series. */
bool as_store_cursor_of_series(struct as_store_cursor *cursor, struct as_store *store, enum as_store_table_id id,
                               uint32_t series, struct as_error *err) AS_MUST_CHECK;
/* Returns 1 and a row; 0: there are no more; -1 and `err`. */
int as_store_cursor_next(struct as_store_cursor *cursor, uint32_t *number, void *row,
                         struct as_error *err) AS_MUST_CHECK;
void as_store_cursor_close(struct as_store_cursor *cursor);

/* Returns the rows of a series (NONE: all) in the chosen threads, as an array that the caller frees. NULL only on
 * errors. */
void *as_store_gather(struct as_store *store, enum as_store_table_id id, uint32_t series, const bool *threads,
                      size_t *n, struct as_error *err) AS_MUST_CHECK;
/* Returns the parts of a profile (as_store_load) that contain the table and the tables that its rows refer to. */
unsigned as_store_parts_of(enum as_store_table_id id);

/* ---- statements ---- */

sqlite3_stmt *as_store_prepare(struct as_store *store, const char *sql, struct as_error *err) AS_MUST_CHECK;
/* Returns 1 if there is a row; 0: there are no more; -1 and `err`. */
int as_store_step(struct as_store *store, sqlite3_stmt *statement, struct as_error *err) AS_MUST_CHECK;
void as_store_allow(struct as_store *store); /* resets the limits of a statement; prepare does it too */

/* Sets the error "FILE is damaged (…)" and returns false. */
bool as_store_damaged(const struct as_store *store, struct as_error *err, const char *format, ...) AS_PRINTF(3, 4);
bool as_store_fail(const struct as_store *store, int code, struct as_error *err);

#endif
