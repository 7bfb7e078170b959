/* The inside of an open profile, for the parts of the reader. */
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
    int version; /* of the file */
    unsigned loaded;
    bool broken;                /* loading failed */
    struct as_strings *strings; /* all that is kept */

    /* A sound file of this size cannot hold more than that; one with pages that are linked in several places can seem
     * to.
     */
    uint64_t size;
    uint64_t text_left; /* bytes of strings */
    uint64_t rows_left; /* of the statement that runs */
    uint64_t ops_left;  /* steps of SQLite's machine, in thousands, of the statement that runs */

    /* What was loaded, by table: rows one behind the other, and how many. */
    void *rows[AS_TABLE_COUNT];
    uint32_t counts[AS_TABLE_COUNT];

    struct as_store_cursor *one_instruction;
    struct as_store_insn instruction;
};

/* With the schema to believe in: for tests of migration. */
struct as_store *as_store_open_as(const char *path, const struct as_store_schema *schema,
                                  struct as_error *err) AS_MUST_CHECK;
/* Loads the tables that are read with the file. */
bool as_store_load_short(struct as_store *store, struct as_error *err) AS_MUST_CHECK;

static inline const struct as_store_location *as_store_location_rows(const struct as_store *store)
{
    return store->rows[AS_TABLE_INSTRUCTIONS];
}

/* ---- rows ---- */

/* A statement that selects, and the checks of what it finds. */
struct as_store_cursor {
    struct as_store *store;
    enum as_store_table_id id;
    uint32_t series; /* NONE: of all */
    sqlite3_stmt *statement;
    struct as_store_row_reader reader;
    uint64_t rows;
};
/* `select` without columns: all of them, but the series where that is known. */
bool as_store_cursor_open(struct as_store_cursor *cursor, struct as_store *store, enum as_store_table_id id,
                          struct as_store_select select, struct as_error *err) AS_MUST_CHECK;
void as_store_cursor_bind(struct as_store_cursor *cursor, uint32_t first, uint32_t second); /* second: or NONE */
/* Opened, what the rows refer to loaded, and the series bound. */
bool as_store_cursor_of_series(struct as_store_cursor *cursor, struct as_store *store, enum as_store_table_id id,
                               uint32_t series, struct as_error *err) AS_MUST_CHECK;
/* 1: there is a row; 0: there are no more; -1 and `err`. */
int as_store_cursor_next(struct as_store_cursor *cursor, uint32_t *number, void *row,
                         struct as_error *err) AS_MUST_CHECK;
void as_store_cursor_close(struct as_store_cursor *cursor);

/* The rows of a series (NONE: all) in the threads that count, as an array that the caller frees; never NULL but for
 * errors. */
void *as_store_gather(struct as_store *store, enum as_store_table_id id, uint32_t series, const bool *threads,
                      size_t *n, struct as_error *err) AS_MUST_CHECK;
/* The parts of a profile (as_store_load) that a table is in, and that its rows refer to. */
unsigned as_store_parts_of(enum as_store_table_id id);

/* ---- statements ---- */

sqlite3_stmt *as_store_prepare(struct as_store *store, const char *sql, struct as_error *err) AS_MUST_CHECK;
/* 1: there is a row; 0: there are no more; -1 and `err`. */
int as_store_step(struct as_store *store, sqlite3_stmt *statement, struct as_error *err) AS_MUST_CHECK;
void as_store_allow(struct as_store *store); /* renews what a statement may use; prepare does it too */

/* "FILE is damaged (…)". Returns false. */
bool as_store_damaged(const struct as_store *store, struct as_error *err, const char *format, ...) AS_PRINTF(3, 4);
bool as_store_fail(const struct as_store *store, int code, struct as_error *err);

#endif
