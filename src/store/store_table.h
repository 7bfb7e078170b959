/* The tables of a profile, each as one descriptor: its columns, what they refer to, their ranges, their form in JSON,
 * and how two profiles are merged. Creating, inserting, selecting, the checks of what is read, `export --to=json` and
 * `assay merge` all follow from it.
 *
 * To add a table: a descriptor in store_tables.c with its version (doc/format/profile.md has the steps), a name in enum
 * as_store_table_id, a typed function in store_write.h and one in store_read.h, a line in the format's page. If it is merged
 * by hand, src/merge must read and write it: tests/unit/merge has rows of every table, and looks for them behind a merge.
 *
 * A row is a struct of store.h; a column gives the offset of its value in it. Columns are in the order of the file.
 * Tables are in an order in which rows refer only to earlier tables or to their own.
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
    AS_TABLE_RECORDINGS,
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
    AS_TABLE_ACCESS_COMPONENTS,
    AS_TABLE_BRANCHES,
    AS_TABLE_WAITS,
    AS_TABLE_MOMENTS,
    AS_TABLE_COUNT
};

enum as_column_type {
    AS_COLUMN_ROW,    /* the row's number, from 0 without gaps: in the file, not in the struct */
    AS_COLUMN_ORDER,  /* the same, for rows that nothing refers to: gaps are allowed */
    AS_COLUMN_REF,    /* uint32_t: number of a row of `table`; in its own table, of an earlier row */
    AS_COLUMN_U32,    /* uint32_t below `limit` */
    AS_COLUMN_I32,    /* int32_t */
    AS_COLUMN_I64,    /* int64_t */
    AS_COLUMN_U64,    /* uint64_t: an address or a mask; the file stores its bits */
    AS_COLUMN_COUNT,  /* uint64_t from `least` to INT64_MAX; so is the sum over the rows of a series */
    AS_COLUMN_BOOL,   /* bool */
    AS_COLUMN_DOUBLE, /* double; NAN is NULL if the column may be NULL, else 0 */
    AS_COLUMN_TEXT,   /* const char * */
    AS_COLUMN_BYTES,  /* const uint8_t *, followed by a size_t; empty is NULL */
};

/* `AS_COLUMN_NULL`: may be NULL in the file, for NONE, NAN, no text, or 0 in a column that has no such value. A key
 * cannot be NULL: there -1 stands for a reference to NONE. */
enum as_column_flag { AS_COLUMN_KEY = 1, AS_COLUMN_NULL = 2, AS_COLUMN_UNIQUE = 4 };

/* What happens to a column if rows of two profiles are the same thing. */
enum as_merge_rule {
    AS_MERGE_FIRST,   /* the first profile's value */
    AS_MERGE_SAME,    /* part of the key by which rows are matched: both have the same value */
    AS_MERGE_ADDRESS, /* … after the address was moved to where the first profile has the module; 0 stays 0 */
    AS_MERGE_EQUAL,   /* profiles with different values cannot be merged */
    AS_MERGE_TIME,    /* times: multiplied by the weight, exactly (the series' scale is chosen for it), and summed */
    AS_MERGE_COUNT,   /* counts: multiplied by the weight, rounded so that sums are kept, and summed */
    AS_MERGE_SAMPLES, /* samples: summed regardless of the weight, because errors depend on their number */
    AS_MERGE_UNION,   /* masks: the bits of both */
    AS_MERGE_OWN,     /* has its own rule in src/merge */
};

/* How a value appears in JSON, if not as it is. A text that is NULL is omitted. */
enum as_column_json {
    AS_JSON_PLAIN,
    AS_JSON_HIDDEN,      /* omitted */
    AS_JSON_NULLS,       /* text, null if there is none */
    AS_JSON_ADDRESS,     /* "0x…" */
    AS_JSON_SET_ADDRESS, /* … omitted if it is 0 */
    AS_JSON_SET,         /* omitted unless it is true */
    AS_JSON_EVENTS,      /* names of the events in the mask */
};

struct as_store_column {
    const char *name;
    enum as_column_type type;
    size_t offset; /* in the row's struct */
    unsigned flags;
    enum as_store_table_id table; /* of AS_COLUMN_REF */
    uint32_t limit;               /* of AS_COLUMN_U32; 0: no limit */
    uint32_t least;               /* of AS_COLUMN_COUNT */
    enum as_merge_rule merge;
    enum as_column_json json;
    const char *const *names; /* names of the values, as many as `limit`; NULL: numbers */
};

/* What happens if a row is added whose key exists already: */
enum as_store_again {
    AS_AGAIN_NEVER,   /* cannot happen */
    AS_AGAIN_REPLACE, /* the new row replaces the old one */
    AS_AGAIN_ADD,     /* columns that are times, counts or samples are summed */
};

/* Which part of `assay merge` takes the rows of a table: every table names one. */
enum as_store_merging {
    AS_MERGING_BY_HAND = 1, /* rules of its own: merge_about.c, merge_meta.c, merge_quality.c, merge_estimates.c, … */
    AS_MERGING_THINGS,      /* what rows refer to: the same ones are found by their columns that are AS_MERGE_SAME */
    AS_MERGING_OF_SERIES, /* measurements of a series: rows with the same key are one, by the rules of their columns */
};

struct as_store_table {
    const char *name;
    int since; /* the first version of the format that has it */
    const struct as_store_column *columns;
    size_t n_columns;
    size_t size; /* of the row's struct */
    enum as_store_merging merging;
    enum as_store_again again;
    const char *constraint;      /* SQL, or NULL */
    const char *index_name, *by; /* an additional index, and its columns; NULL: none */
    /* Only the first columns are kept in memory, in a struct that begins like the row's; 0: all. */
    size_t kept_columns, kept_size;
};

extern const struct as_store_table as_store_tables[AS_TABLE_COUNT];

enum { AS_STORE_MAX_COLUMNS = 16 };

/* Room for a row of any table. */
union as_store_any_row {
    char bytes[128];
    uint64_t aligned;
};

/* Whether each row belongs to a series, which is its first column. */
bool as_store_table_of_series(const struct as_store_table *table);
const struct as_store_column *as_store_table_column(const struct as_store_table *table, const char *name);
uint32_t as_store_column_u32(const struct as_store_column *column, const void *row);
uint64_t as_store_column_u64(const struct as_store_column *column, const void *row); /* of any 64 bits */
const char *as_store_column_text(const struct as_store_column *column, const void *row);

#endif
