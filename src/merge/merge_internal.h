/* Declarations shared by the files of this folder. */
#ifndef AS_MERGE_INTERNAL_H
#define AS_MERGE_INTERNAL_H

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "merge/merge.h"
#include "store/store_read.h"
#include "store/store_write.h"

/* ---- arithmetic ---- */

uint64_t as_gcd(uint64_t a, uint64_t b);
bool as_lcm(uint64_t a, uint64_t b, uint64_t *result) AS_MUST_CHECK; /* false: the result exceeds 63 bits */
bool as_weight_product(struct as_weight a, struct as_weight b, struct as_weight *result) AS_MUST_CHECK;
/* value times weight, rounded down; the remainder goes into `carry` for the next value. False: more than 63 bits. */
bool as_weight_times(struct as_weight weight, uint64_t value, uint64_t *carry, uint64_t *result) AS_MUST_CHECK;

/* ---- what is the same ---- */

/* Things of one kind, identified by a key of bytes and numbered from 0 in the order in which they were met. */
struct as_identities {
    struct as_strings *keys;
    AS_VEC(uint32_t) met; /* the last reading of an input in which it was met */
    struct as_map twins;  /* in this reading: how often a key was met after the first time */
    uint32_t reading;
};

/* Returns the number of the thing with this key. Two things of one input are never the same: the second one with a key
 * matches the second one of another input. */
uint32_t as_identities_find(struct as_identities *identities, struct as_str *key, bool *is_new);
void as_identities_begin(struct as_identities *identities); /* call this before each reading of an input */
void as_identities_free(struct as_identities *identities);

/* Appends a column's value to a key. */
void as_key_add(struct as_str *key, const struct as_store_column *column, const void *row);
void as_key_add_text(struct as_str *key, const char *text);
void as_key_add_u64(struct as_str *key, uint64_t value);

/* ---- rows that wait ---- */

enum { AS_MERGE_WAITING = 1 << 17 };

struct as_merge_buffer {
    char *rows;
    size_t n, cap;
    bool is_sorted;
};

/* ---- what was run ---- */

struct as_merge_series {
    struct as_store_series row; /* as it will be written */
    size_t met;                 /* inputs that have it */
    bool is_left_out;
    uint32_t number; /* number in the output */
};

/* A key and its value, if all inputs agree on it. */
struct as_merge_pair {
    const char *key, *value;
    size_t met;
    bool differs;
};

struct as_merge_recording {
    const char *identity;
    size_t input; /* that has it */
};

struct as_merge_number {
    unsigned __int128 sum; /* in 1/denominator */
    size_t met;
};

struct as_merge_limit {
    struct as_store_quality row; /* a share: multiplied by the importance of its input */
    size_t met;                  /* inputs that have it */
    bool differs;                /* … with other texts */
};

struct as_merge_estimate {
    uint32_t series; /* in the order of `series` below */
    const char *measure, *granularity;
    double only;        /* the last one met */
    double sum, weight; /* by the time of their series */
    size_t met;
};

struct as_merge {
    const struct as_merge_input *inputs;
    size_t n, at; /* `at` is the input that is being read */
    const struct as_merge_options *options;
    struct as_store_writer *writer;
    struct as_strings *strings; /* texts that outlive their input */
    uint64_t denominator;       /* common denominator of all weights */

    /* What was run: collected in the first pass. */
    struct as_identities identities[AS_TABLE_COUNT];
    AS_VEC(struct as_merge_pair) meta, machine;
    AS_VEC(struct as_merge_pair) environment;
    AS_VEC(const char *) arguments;
    size_t arguments_kept; /* the first arguments, which all inputs have in common */
    struct as_merge_number cycles, instructions;
    double seconds, host_seconds;
    size_t n_seconds, n_host_seconds, n_merged;
    AS_VEC(const char *) names; /* of the programs, without their folders; more than one by force */
    const char *date, *partial, *status;
    struct as_str inputs_text; /* the record of what was merged, for meta */
    AS_VEC(struct as_store_counter) counters;
    AS_VEC(struct as_merge_limit) quality;
    double importance; /* of all inputs */
    double executed;   /* instructions of all inputs, by weight */
    double sampled;    /* … that were measured */
    double started;    /* … that belong to the start-up of the program, as far as inputs say so */
    AS_VEC(struct as_store_run) runs;
    AS_VEC(struct as_merge_recording) recordings; /* by number in `identities` */
    AS_VEC(struct as_store_thread) threads;
    AS_VEC(struct as_merge_series) series;
    AS_VEC(struct as_store_event) events;
    AS_VEC(struct as_store_state) states;

    /* Code and rows: filled during the second pass. */
    AS_VEC(uint64_t) bases;                   /* of modules */
    AS_VEC(uint64_t) object_addresses;        /* of objects */
    AS_VEC(uint32_t) functions_of, blocks_of; /* by instruction */
    AS_VEC(struct as_store_stack) stacks;
    AS_VEC(struct as_merge_estimate) estimates;
    uint32_t main_module;
    const char *main_build_id;
    struct as_merge_buffer buffers[AS_TABLE_COUNT];
    uint64_t (*sums)[AS_TABLE_COUNT][AS_STORE_MAX_COLUMNS]; /* by series */
};

const char *as_merge_name(const struct as_merge *merge, size_t input);
const char *as_merge_keep(struct as_merge *merge, const char *text); /* NULL stays NULL */

/* merge_about.c: the first pass over one input, and what follows it once all inputs were read. */
bool as_merge_about(struct as_merge *merge, struct as_store *store, struct as_error *err) AS_MUST_CHECK;
bool as_merge_series_end(struct as_merge *merge, struct as_error *err) AS_MUST_CHECK;
void as_merge_write_about(struct as_merge *merge);

/* merge_quality.c */
void as_merge_quality(struct as_merge *merge, const struct as_store *store);
void as_merge_write_quality(struct as_merge *merge);

/* merge_meta.c */
bool as_merge_meta(struct as_merge *merge, struct as_store *store, struct as_error *err) AS_MUST_CHECK;
void as_merge_write_meta(struct as_merge *merge);

/* Numbers of an input's threads, states and series in the output; merge_about.c. The caller frees. */
uint32_t *as_merge_thread_numbers(struct as_merge *merge, struct as_store *store);
uint32_t *as_merge_state_numbers(struct as_merge *merge, struct as_store *store);
uint32_t *as_merge_series_numbers(struct as_merge *merge, struct as_store *store);

/* merge_rows.c: the second pass, over one input. */
bool as_merge_rows(struct as_merge *merge, struct as_store *store, struct as_error *err) AS_MUST_CHECK;

/* merge_buffer.c: queues a row of measurements for the output; as_merge_push_end writes all that are left. */
void as_merge_push(struct as_merge *merge, enum as_store_table_id id, const void *row);
void as_merge_push_end(struct as_merge *merge);

/* merge_estimates.c: collects the estimates of an input; once all rows are written, computes those of the output. */
void as_merge_estimates(struct as_merge *merge, struct as_store *store, const uint32_t *series, const uint64_t *units);
bool as_merge_write_estimates(struct as_merge *merge, struct as_error *err) AS_MUST_CHECK;

#endif
