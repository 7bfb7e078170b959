/* The tables of a profile, each as one descriptor: its columns, what they refer to, their ranges, what becomes of them
 * in JSON and when two profiles are merged. Creating, inserting, selecting, the checks of what is read, `export
 * --to=json` and `assay merge` all follow from it.
 *
 * To add a table: a descriptor in store_tables.c with its version (doc/format/profile.md has the steps), a name in
 * enum as_store_table_id, a typed function in store_write.h and one in store_read.h, a line in the format's page.
 *
 * A row is a struct of store.h; a column says where in it its value is. The order of the columns is that of the file,
 * the order of the tables one in which no row refers to a table behind its own.
 */
#ifndef AS_STORE_TABLE_H
#define AS_STORE_TABLE_H

#include "store/store.h"

enum as_store_table_id {
    AS_TABLE_META,
    AS_TABLE_MACHINE,
    AS_TABLE_COUNTERS,
    AS_TABLE_QUALITY,
    AS_TABLE_ARGUMENTS,
    AS_TABLE_ENVIRONMENT,
    AS_TABLE_RUNS,
    AS_TABLE_THREADS,
    AS_TABLE_SERIES,
    AS_TABLE_ESTIMATES,
    AS_TABLE_EVENTS,
    AS_TABLE_STATES,
    AS_TABLE_STACKS,
    AS_TABLE_MODULES,
    AS_TABLE_FILES,
    AS_TABLE_FUNCTIONS,
    AS_TABLE_BLOCKS,
    AS_TABLE_INLINES,
    AS_TABLE_INSTRUCTIONS,
    AS_TABLE_PATHS,
    AS_TABLE_OBJECTS,
    AS_TABLE_TIMES,
    AS_TABLE_COMPONENTS,
    AS_TABLE_STATE_TIMES,
    AS_TABLE_PATH_TIMES,
    AS_TABLE_PATH_COMPONENTS,
    AS_TABLE_ACCESSES,
    AS_TABLE_BRANCHES,
    AS_TABLE_COUNT
};

enum as_column_type {
    AS_COLUMN_ROW,    /* the row's number, from 0 without gaps: in the file, not in the struct */
    AS_COLUMN_ORDER,  /* the same of rows that nothing refers to: gaps do not matter */
    AS_COLUMN_REF,    /* uint32_t: number of a row of `table`, in its own table of an earlier one */
    AS_COLUMN_U32,    /* uint32_t below `limit` */
    AS_COLUMN_I32,    /* int32_t */
    AS_COLUMN_I64,    /* int64_t */
    AS_COLUMN_U64,    /* uint64_t: an address, a mask; the file has its bits */
    AS_COLUMN_COUNT,  /* uint64_t, at least `least`, at most INT64_MAX; a series' rows add up to no more than that */
    AS_COLUMN_BOOL,   /* bool */
    AS_COLUMN_DOUBLE, /* double; NAN is NULL where that may be, else written as 0 */
    AS_COLUMN_TEXT,   /* const char * */
    AS_COLUMN_BYTES,  /* const uint8_t *, with a size_t behind it; none is NULL */
};

/* `AS_COLUMN_NULL`: may be NULL in the file: NONE, NAN, no text, or 0 of what knows no such value. A key cannot be
 * NULL: a reference that may be NONE is -1 there. */
enum as_column_flag { AS_COLUMN_KEY = 1, AS_COLUMN_NULL = 2, AS_COLUMN_UNIQUE = 4 };

/* What becomes of a column when rows of two profiles turn out to be the same thing. */
enum as_merge_rule {
    AS_MERGE_FIRST,   /* the first profile's value */
    AS_MERGE_SAME,    /* part of what makes two rows the same: they have one value */
    AS_MERGE_ADDRESS, /* … once the module that it is in is where the first profile has it; 0 stays 0 */
    AS_MERGE_EQUAL,   /* the profiles cannot be merged where it differs */
    AS_MERGE_TIME,    /* times: times the weight, exactly (the series' scale makes room), and added up */
    AS_MERGE_COUNT,   /* what happened: times the weight, rounded so that sums stay, and added up */
    AS_MERGE_SAMPLES, /* what was seen: added up, whatever the weight, because errors depend on it */
    AS_MERGE_UNION,   /* masks: all bits of both */
    AS_MERGE_OWN,     /* has a rule of its own: src/merge */
};

/* How a value shows in JSON, where not as what it is. Text that is NULL is left out. */
enum as_column_json {
    AS_JSON_PLAIN,
    AS_JSON_HIDDEN,      /* not at all */
    AS_JSON_NULLS,       /* text, null where there is none */
    AS_JSON_ADDRESS,     /* "0x…" */
    AS_JSON_SET_ADDRESS, /* … unless it is 0 */
    AS_JSON_SET,         /* only where it is true */
    AS_JSON_EVENTS,      /* names of the events in the mask */
};

struct as_store_column {
    const char *name;
    enum as_column_type type;
    size_t offset; /* in the row's struct */
    unsigned flags;
    enum as_store_table_id table; /* of AS_COLUMN_REF */
    uint32_t limit;               /* of AS_COLUMN_U32; 0: none */
    uint32_t least;               /* of AS_COLUMN_COUNT */
    enum as_merge_rule merge;
    enum as_column_json json;
    const char *const *names; /* what values stand for, as many as `limit`; NULL: numbers */
};

/* What is added with a key that is there already: */
enum as_store_again {
    AS_AGAIN_NEVER,   /* cannot be */
    AS_AGAIN_REPLACE, /* takes its place */
    AS_AGAIN_ADD,     /* columns that are times, counts or samples add up */
};

struct as_store_table {
    const char *name;
    int since; /* version of the format that brought it */
    const struct as_store_column *columns;
    size_t n_columns;
    size_t size; /* of the row's struct */
    enum as_store_again again;
    const char *constraint;      /* SQL, or NULL */
    const char *index_name, *by; /* a further index, and its columns; NULL: none */
    /* Only the first columns are kept in memory, in a struct that begins as the row's does; 0: all. */
    size_t kept_columns, kept_size;
};

extern const struct as_store_table as_store_tables[AS_TABLE_COUNT];

enum { AS_STORE_MAX_COLUMNS = 16 };

/* Room for a row of any table. */
union as_store_any_row {
    char bytes[128];
    uint64_t aligned;
};

/* Whether its rows belong to a series each, which is their first column. */
bool as_store_table_of_series(const struct as_store_table *table);
const struct as_store_column *as_store_table_column(const struct as_store_table *table, const char *name);
uint32_t as_store_column_u32(const struct as_store_column *column, const void *row);
uint64_t as_store_column_u64(const struct as_store_column *column, const void *row); /* of 64 bits, whatever they are */
const char *as_store_column_text(const struct as_store_column *column, const void *row);

#endif
