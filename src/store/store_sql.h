/* The SQL that a table's descriptor makes: create, insert, select. The caller frees. */
#ifndef AS_STORE_SQL_H
#define AS_STORE_SQL_H

#include "store/store_table.h"

/* What makes version `version` of the version before it: the tables that it brought, with their indices. */
char *as_store_sql_step(int version);
/* A parameter a column, in their order. */
char *as_store_sql_insert(const struct as_store_table *table);

struct as_store_select {
    size_t first, n;  /* columns */
    bool of_series;   /* only the rows of series ?1 */
    bool of_function; /* only those of the instructions of function ?2 (?1 where `of_series` is not set) */
    bool of_row;      /* only row number ?1 */
};
/* In the order of the keys; the rows of a function in that of its addresses. */
char *as_store_sql_select(const struct as_store_table *table, const struct as_store_select *select);

#endif
