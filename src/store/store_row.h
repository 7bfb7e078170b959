/* Rows between structs and SQLite's statements, as a table's descriptor says; and the checks of both ways. */
#ifndef AS_STORE_ROW_H
#define AS_STORE_ROW_H

#include "store/store_table.h"

#include <sqlite3.h>

/* Binds all columns of a row that has this number; SQLite's code. Text and bytes must live until the statement is
 * reset.
 */
int as_store_bind_row(sqlite3_stmt *statement, const struct as_store_table *table, const void *row,
                      uint32_t number) AS_MUST_CHECK;
/* The first column whose value no reader would take: what it refers to is not there (`counts` has the rows of each
 * table), or it is out of range. NULL: none. */
const char *as_store_bad_column(const struct as_store_table *table, const void *row, const uint32_t *counts);

/* How rows are read. */
struct as_store_row_reader {
    const struct as_store_table *table;
    size_t first, n;                     /* the columns that the statement has */
    const uint32_t *counts;              /* rows of each table; references must be below */
    uint64_t sums[AS_STORE_MAX_COLUMNS]; /* what the counts of a series have added up to */
    bool adds_up;                        /* whether they must */
};

/* Reads the columns of a row, and its number where the table has one; text and bytes live until the next step. False
 * where a value is not of its kind or range, or refers to nothing. */
bool as_store_get_row(struct as_store_row_reader *reader, sqlite3_stmt *statement, uint32_t *number,
                      void *row) AS_MUST_CHECK;

#endif
