/* The schema as a list of steps: step i turns version i into version i + 1, and version 0 is an empty database. A new
 * file runs all steps, an older one those that it lacks, so both have the same schema. A step creates the tables that
 * are new in its version (store_table.h). Released steps never change. */
#ifndef AS_STORE_SCHEMA_H
#define AS_STORE_SCHEMA_H

#include "base/error.h"

#include <sqlite3.h>
#include <stddef.h>

struct as_store_schema {
    int n;                    /* the version after all steps */
    const char *const *later; /* SQL of steps after AS_STORE_VERSION, for tests of future versions */
};
extern const struct as_store_schema as_store_schema;

/* Runs the steps from version `from` up to `to`, and stamps the database. Returns SQLite's code. */
int as_store_schema_apply(sqlite3 *db, const struct as_store_schema *schema, int from, int to) AS_MUST_CHECK;
/* Whether everything in version `version` is in the database, with the same definition. Additional objects do not
 * matter. On false, `missing` is the first object that is not there. */
bool as_store_schema_holds(sqlite3 *db, const struct as_store_schema *schema, int version, char *missing,
                           size_t size) AS_MUST_CHECK;

#endif
