/* The inside of an open profile, for the parts of the reader. */
#ifndef AS_STORE_INTERNAL_H
#define AS_STORE_INTERNAL_H

#include "base/map.h"
#include "base/vec.h"
#include "store/store_read.h"
#include "store/store_schema.h"

#include <sqlite3.h>

/* What the rows of a table have added up to. */
struct as_store_sums {
    uint64_t units, samples, executions;
};

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

    AS_VEC(struct as_store_pair) meta, machine;
    AS_VEC(const char *) arguments, environment, files;
    AS_VEC(struct as_store_thread) threads;
    AS_VEC(struct as_store_series) series;
    AS_VEC(struct as_store_event) events;
    AS_VEC(struct as_store_state) states;
    AS_VEC(struct as_store_stack) stacks;
    struct as_store_sums stack_sums;
    AS_VEC(struct as_store_estimate) estimates;
    AS_VEC(struct as_store_counter) counters;
    AS_VEC(struct as_store_quality) quality;
    AS_VEC(struct as_store_run) runs;

    AS_VEC(struct as_store_module) modules;
    AS_VEC(struct as_store_function) functions;
    AS_VEC(struct as_store_block) blocks;
    AS_VEC(struct as_store_inline) inlines;
    AS_VEC(struct as_store_place) places;
    AS_VEC(struct as_store_path) paths;
    AS_VEC(struct as_store_object) objects;

    sqlite3_stmt *one_instruction;
    struct as_store_insn instruction;
};

/* With the schema to believe in: for tests of migration. */
struct as_store *as_store_open_as(const char *path, const struct as_store_schema *schema,
                                  struct as_error *err) AS_MUST_CHECK;

/* A table and what to do with a row of it: false where the row makes no sense. */
struct as_store_table {
    const char *name, *sql;
    bool (*row)(struct as_store *store, sqlite3_stmt *row);
};
bool as_store_read_tables(struct as_store *store, const struct as_store_table *tables, size_t n,
                          struct as_error *err) AS_MUST_CHECK;
/* Calls `use` for each row that `sql` finds of the series (its parameter), the parts loaded before; false and `err`
 * where `use` says that a row makes no sense. */
bool as_store_each_row(struct as_store *store, unsigned parts, const char *sql, uint32_t series,
                       bool (*use)(struct as_store *store, sqlite3_stmt *row, void *context), void *context,
                       struct as_error *err) AS_MUST_CHECK;
bool as_store_read_short(struct as_store *store, struct as_error *err) AS_MUST_CHECK; /* store_tables.c */

/* ---- statements ---- */

sqlite3_stmt *as_store_prepare(struct as_store *store, const char *sql, struct as_error *err) AS_MUST_CHECK;
/* 1: there is a row; 0: there are no more; -1 and `err`. */
int as_store_step(struct as_store *store, sqlite3_stmt *statement, struct as_error *err) AS_MUST_CHECK;
void as_store_allow(struct as_store *store); /* renews what a statement may use; prepare does it too */

/* "FILE is damaged (…)". Returns false. */
bool as_store_damaged(const struct as_store *store, struct as_error *err, const char *format, ...) AS_PRINTF(3, 4);
bool as_store_fail(const struct as_store *store, int code, struct as_error *err);

/* Keeps a string of a row in place of what it points to. False: there cannot be so many. */
bool as_store_keep(struct as_store *store, const char **text) AS_MUST_CHECK;

/* Counts a row in. False where one leaves 63 bits, which no sound file does. */
bool as_store_add_up(struct as_store_sums *sums, uint64_t units, uint64_t samples, uint64_t executions) AS_MUST_CHECK;

static inline bool as_store_valid(uint32_t number, size_t count)
{
    return number == AS_STORE_NONE || number < count;
}

#endif
