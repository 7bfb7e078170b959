/* Reads a profile from any source: the file is never trusted and never changed.
 *
 * as_store_open checks that the file is a complete, undamaged profile of a known version, and loads the short tables.
 * The code and the call paths are loaded when they are first needed (as_store_load). Loaded data is consistent: the
 * numbers in it refer to existing rows, or are AS_STORE_NONE. Arrays and strings stay valid until as_store_close,
 * unless stated otherwise. One thread owns a store. If another process replaces the file meanwhile, the store keeps
 * reading the one that it opened.
 */
#ifndef AS_STORE_READ_H
#define AS_STORE_READ_H

#include "store/store_table.h"

struct as_store;

struct as_store *as_store_open(const char *path, struct as_error *err) AS_MUST_CHECK;
void as_store_close(struct as_store *store); /* accepts NULL */
const char *as_store_file_name(const struct as_store *store);
int as_store_version(const struct as_store *store); /* version of the file, before it was migrated */

/* ---- loaded with the file ---- */

/* NULL: the key does not exist. */
const char *as_store_meta(const struct as_store *store, const char *key);
bool as_store_meta_u64(const struct as_store *store, const char *key, uint64_t *value); /* false: not a number */
double as_store_meta_double(const struct as_store *store, const char *key);             /* NAN: not a number */
const struct as_store_pair *as_store_meta_all(const struct as_store *store, size_t *n); /* by key */
const struct as_store_pair *as_store_machine(const struct as_store *store, size_t *n);  /* by key */
const char *const *as_store_arguments(const struct as_store *store, size_t *n);
const char *const *as_store_environment(const struct as_store *store, size_t *n);
const struct as_store_thread *as_store_threads(const struct as_store *store, size_t *n); /* by number */
const struct as_store_series *as_store_series(const struct as_store *store, size_t *n);
const struct as_store_event *as_store_events(const struct as_store *store, size_t *n); /* by bit */
const struct as_store_state *as_store_states(const struct as_store *store, size_t *n);
/* In the order in which they were added. */
const struct as_store_stack *as_store_stacks(const struct as_store *store, size_t *n);
const struct as_store_estimate *as_store_estimates(const struct as_store *store, size_t *n);
const struct as_store_counter *as_store_counters(const struct as_store *store, size_t *n); /* by name */
/* In the order in which they were added. */
const struct as_store_quality *as_store_quality(const struct as_store *store, size_t *n);
/* Whether a row's number is a fraction, to be shown as a percentage; all other numbers are counts. */
bool as_store_is_part(const struct as_store_quality *quality);
/* Identities of the recordings that the profile was made from; none in profiles of version 5 and older. */
const char *const *as_store_recordings(const struct as_store *store, size_t *n);
const struct as_store_run *as_store_runs(const struct as_store *store, size_t *n); /* by number */

/* Returns the series of that name. NULL: the file's default series, or else its first. Returns NONE if there is
 * none. */
uint32_t as_store_find_series(const struct as_store *store, const char *name);
/* Returns NAN if there is none. */
double as_store_estimate_of(const struct as_store *store, uint32_t series, const char *measure,
                            const char *granularity);
/* "ST-L1+ST-TLB", "base" for 0; bits without a name as "bit 40". */
const char *as_store_events_name(const struct as_store *store, uint64_t events, char *text, size_t size);

/* ---- loaded when needed ---- */

enum as_store_part {
    AS_STORE_CODE = 1,  /* modules, files, functions, blocks, inlined calls, locations of instructions */
    AS_STORE_CALLS = 2, /* paths (and the code) */
    AS_STORE_DATA = 4,  /* objects (and the code) */
};
/* Repeated calls cost nothing. */
bool as_store_load(struct as_store *store, unsigned parts, struct as_error *err) AS_MUST_CHECK;

/* Valid after as_store_load. */
const struct as_store_module *as_store_modules(const struct as_store *store, size_t *n);
const char *const *as_store_files(const struct as_store *store, size_t *n);
const struct as_store_function *as_store_functions(const struct as_store *store, size_t *n);
const struct as_store_block *as_store_blocks(const struct as_store *store, size_t *n);
const struct as_store_inline *as_store_inlines(const struct as_store *store, size_t *n);
const struct as_store_location *as_store_locations(const struct as_store *store, size_t *n); /* by instruction */
const struct as_store_path *as_store_paths(const struct as_store *store, size_t *n); /* parents before children */
const struct as_store_object *as_store_objects(const struct as_store *store, size_t *n);

/* Calls `each` for the instructions of a function by address, or for all by number (NONE), with bytes and text, which
 * are valid only during the call. `each` returns false to stop. */
typedef bool as_store_each_insn(void *context, uint32_t instruction, const struct as_store_insn *insn);
bool as_store_instructions(struct as_store *store, uint32_t function, as_store_each_insn *each, void *context,
                           struct as_error *err) AS_MUST_CHECK;
/* Returns a single instruction; valid until the next call. */
const struct as_store_insn *as_store_instruction(struct as_store *store, uint32_t instruction,
                                                 struct as_error *err) AS_MUST_CHECK;

/* Calls `each` for every row of a table in the order of its keys, or only for the rows of one series (NONE: all).
 * `number` is the row's; text and bytes are valid only during the call. `each` returns false to stop. */
typedef bool as_store_each_row(void *context, uint32_t number, const void *row);
bool as_store_each(struct as_store *store, enum as_store_table_id table, uint32_t series, as_store_each_row *each,
                   void *context, struct as_error *err) AS_MUST_CHECK;

/* ---- times ---- */

enum as_store_level {
    AS_STORE_BY_PROGRAM, /* one row */
    AS_STORE_BY_THREAD,
    AS_STORE_BY_PROCESS,   /* threads of one process */
    AS_STORE_BY_COMMAND,   /* threads of one name */
    AS_STORE_BY_PROCESSOR, /* only of a series that has moments */
    AS_STORE_BY_MODULE,
    AS_STORE_BY_FUNCTION,
    AS_STORE_BY_FILE,
    AS_STORE_BY_LINE,
    AS_STORE_BY_BLOCK,
    AS_STORE_BY_INSTRUCTION,
};

enum as_store_split {
    AS_STORE_WHOLE,     /* no parts */
    AS_STORE_BY_EVENTS, /* parts by event mask */
    AS_STORE_BY_STATE,  /* parts by state */
};

/* The filters are arrays by number, true for what is included; NULL: everything. What has no number (an instruction
 * outside all functions, say) is included only if there is no filter. */
struct as_store_query {
    uint32_t series;
    enum as_store_level level;
    enum as_store_split split;
    const bool *threads, *modules, *functions;
    uint32_t function; /* only this function, quickly; NONE: all */
    uint64_t events;   /* only time with at least one of these; 0: all. Samples are then those of the components */
};
#define AS_STORE_QUERY_INIT                                                                                            \
    {                                                                                                                  \
        .series = 0, .level = AS_STORE_BY_FUNCTION, .function = AS_STORE_NONE                                          \
    }

struct as_store_row_part {
    uint64_t key; /* event mask, or state */
    uint64_t units, samples;
};

struct as_store_row {
    /* At the level of the query: thread, module, function, file, block, instruction; NONE: outside all. Threads that
     * changed their names: the last of their rows. Processes and commands: one of their threads, for a process its
     * first one where that is known. Processors: their numbers. Instructions of which no block is known (sampled
     * profiles): NONE, a row for each. */
    uint32_t id;
    /* What all instructions of the row have in common, else NONE (line 0, address 0). */
    uint32_t module, function, file, line;
    uint64_t address; /* of an instruction, block or function; else of the first instruction that has time */
    uint64_t units, samples, executions;
    const struct as_store_row_part *parts; /* most time first */
    size_t n_parts;
};

struct as_store_rows {
    struct as_store_row *rows; /* most time first; then by address */
    size_t n;
    uint64_t total;   /* units of the series in the chosen threads, ignoring other filters: 100 % of all shares */
    uint64_t units;   /* sum of the rows */
    uint64_t samples; /* sum of the rows */
    struct as_store_row_part *parts;
};

/* Returns the units of a series in the chosen threads (NULL: all). */
bool as_store_total(struct as_store *store, uint32_t series, const bool *threads, uint64_t *total,
                    struct as_error *err) AS_MUST_CHECK;
bool as_store_query(struct as_store *store, const struct as_store_query *query, struct as_store_rows *rows,
                    struct as_error *err) AS_MUST_CHECK;
void as_store_rows_free(struct as_store_rows *rows);

/* Returns times of paths, sorted by path and instruction, summed over the chosen threads. The caller frees. */
struct as_store_path_time *as_store_path_times(struct as_store *store, uint32_t series, const bool *threads, size_t *n,
                                               struct as_error *err) AS_MUST_CHECK;

/* Returns components of paths, sorted by path and events, summed over the chosen threads (thread: NONE). Empty if the
 * series has no components. The caller frees. */
struct as_store_path_component *as_store_path_components(struct as_store *store, uint32_t series, const bool *threads,
                                                         size_t *n, struct as_error *err) AS_MUST_CHECK;

/* Returns what the samples of the series accessed, in the order of the keys. The caller frees. */
struct as_store_access *as_store_accesses(struct as_store *store, uint32_t series, const bool *threads, size_t *n,
                                          struct as_error *err) AS_MUST_CHECK;

/* The same by the events that they met; none where the processor does not tell. The caller frees. */
struct as_store_access_component *as_store_access_components(struct as_store *store, uint32_t series,
                                                             const bool *threads, size_t *n,
                                                             struct as_error *err) AS_MUST_CHECK;

/* Returns the branches of the series' branch stacks, sorted by source and target. The caller frees. */
struct as_store_branch *as_store_branches(struct as_store *store, uint32_t series, size_t *n,
                                          struct as_error *err) AS_MUST_CHECK;

/* Returns the moments of the series, by time. The caller frees. */
struct as_store_moment *as_store_moments(struct as_store *store, uint32_t series, const bool *threads, size_t *n,
                                         struct as_error *err) AS_MUST_CHECK;

/* Returns what the threads of the series waited for, in the order of the keys; `threads` are those that waited. The
 * caller frees. */
struct as_store_wait *as_store_waits(struct as_store *store, uint32_t series, const bool *threads, size_t *n,
                                     struct as_error *err) AS_MUST_CHECK;

/* Self and total time of each path and of each function (recursion is counted once), computed from path times. Arrays
 * by number; free with as_store_totals_free. */
struct as_store_totals {
    uint64_t *path_self, *path_total;
    uint64_t *function_self, *function_total;
};
bool as_store_totals(struct as_store *store, uint32_t series, const bool *threads, struct as_store_totals *totals,
                     struct as_error *err) AS_MUST_CHECK;
void as_store_totals_free(struct as_store_totals *totals);

/* ---- parts of a run ---- */

/* The times of a series' first and last moment, in nanoseconds since the start. Returns 1; 0: the series has none; -1
 * and `err`. */
int as_store_span(struct as_store *store, uint32_t series, uint64_t *first, uint64_t *last,
                  struct as_error *err) AS_MUST_CHECK;

/* From now on the store shows only what was sampled from `from` until before `until`: times, components and path times
 * are those of the moments in between, everything else that was measured is gone, and so are estimates. `samples` of
 * the series, and of the threads in `series`, follow. Call this once, before any other query of times. */
bool as_store_keep_time(struct as_store *store, uint32_t series, uint64_t from, uint64_t until,
                        struct as_error *err) AS_MUST_CHECK;
/* Adds an estimate, or replaces that of the same series, measure and granularity; its text must be constant. */
void as_store_put_estimate(struct as_store *store, const struct as_store_estimate *estimate);

/* The rows of a series as stored in the file, by thread, in the order of their keys. `threads`: as in a query. Free
 * with as_store_raw_free. */
struct as_store_raw {
    struct as_store_time *times;
    struct as_store_component *components;
    struct as_store_state_time *states;
    struct as_store_path_time *paths;
    size_t n_times, n_components, n_states, n_paths;
};
bool as_store_raw(struct as_store *store, uint32_t series, const bool *threads, struct as_store_raw *raw,
                  struct as_error *err) AS_MUST_CHECK;
void as_store_raw_free(struct as_store_raw *raw);

#endif
