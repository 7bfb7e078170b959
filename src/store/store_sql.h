/* The SQL that follows from a table's descriptor: create, insert, select. The caller frees. */
#ifndef AS_STORE_SQL_H
#define AS_STORE_SQL_H

#include "store/store_table.h"

/* Turns the preceding version into version `version`: creates the tables that are new in it, with their indices. */
char *as_store_sql_step(int version);
/* Creates an empty copy that stands for the table as long as the database is open. */
char *as_store_sql_temporary(const struct as_store_table *table);
/* One parameter per column, in their order. */
char *as_store_sql_insert(const struct as_store_table *table);

struct as_store_select {
    size_t first, n;  /* columns */
    bool of_series;   /* only the rows of series ?1 */
    bool of_function; /* only rows of the instructions of function ?2 (?1 if `of_series` is not set) */
    bool of_row;      /* only row number ?1 */
};
/* Sorted by key; the rows of a function by address. */
char *as_store_sql_select(const struct as_store_table *table, const struct as_store_select *select);

#endif
