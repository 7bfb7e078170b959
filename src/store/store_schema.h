/* The schema as a list of steps: step i makes version i + 1 of version i, and version 0 is an empty database. A new
 * file is made by all of them, an older one is migrated by those that it lacks; so both come out alike. A step creates
 * the tables that its version brought (store_table.h); one that was released never changes. */
#ifndef AS_STORE_SCHEMA_H
#define AS_STORE_SCHEMA_H

#include "base/error.h"

#include <sqlite3.h>
#include <stddef.h>

struct as_store_schema {
    int n;                    /* the version that the steps make */
    const char *const *later; /* SQL of the steps behind AS_STORE_VERSION: tests look into the future */
};
extern const struct as_store_schema as_store_schema;

/* Runs the steps from version `from` on up to `to`, and stamps the database. SQLite's code. */
int as_store_schema_apply(sqlite3 *db, const struct as_store_schema *schema, int from, int to) AS_MUST_CHECK;
/* Whether everything that version `version` has is in the database, defined as we define it. What else is in it does
 * not matter. Otherwise `missing` tells the first one. */
bool as_store_schema_holds(sqlite3 *db, const struct as_store_schema *schema, int version, char *missing,
                           size_t size) AS_MUST_CHECK;

#endif
