/* Copies rows between structs and SQLite's statements, following a table's descriptor, and checks them both ways. */
#ifndef AS_STORE_ROW_H
#define AS_STORE_ROW_H

#include "store/store_table.h"

#include <sqlite3.h>

/* Binds all columns of the row with this number; returns SQLite's code. Text and bytes must live until the statement is
 * reset.
 */
int as_store_bind_row(sqlite3_stmt *statement, const struct as_store_table *table, const void *row,
                      uint32_t number) AS_MUST_CHECK;
/* Returns the first column whose value readers would refuse: it refers to a row that does not exist (`counts` has the
 * number of rows of each table), or it is out of range. NULL: all are valid. */
const char *as_store_bad_column(const struct as_store_table *table, const void *row, const uint32_t *counts);

/* How rows are read. */
struct as_store_row_reader {
    const struct as_store_table *table;
    size_t first, n;                     /* the columns that the statement has */
    const uint32_t *counts;              /* number of rows of each table; references must be smaller */
    uint64_t sums[AS_STORE_MAX_COLUMNS]; /* sums of the counts of a series */
    bool adds_up;                        /* whether the sums must stay within 63 bits */
};

/* Reads the columns of a row, and its number if the table has one; text and bytes are valid until the next step.
 * Returns false if a value has the wrong type or range, or refers to a missing row. */
bool as_store_get_row(struct as_store_row_reader *reader, sqlite3_stmt *statement, uint32_t *number,
                      void *row) AS_MUST_CHECK;

#endif
