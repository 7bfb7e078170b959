/* A run that was measured in regions, in a profile: the series, its replicates, its uncertainty. */
#ifndef AS_RECORD_RECORD_SAMPLED_H
#define AS_RECORD_RECORD_SAMPLED_H

#include "record/record_series.h"

#define AS_SAMPLED_SERIES AS_STORE_SAMPLED

/* Sets what differs from the golden series. */
void as_record_sampled_describe(const struct as_record_series *all, struct as_store_series *series);
/* Its call paths, with the times of the functions that they end in. The caller frees. */
struct as_pics as_record_sampled_paths(const struct as_record_series *all);
/* The same in replicates. Of what a function takes in a replicate, its paths have the parts that they have in the replicate's
 * regions; in the head they are the same in all. The caller frees. */
struct as_path_replicates {
    size_t n;                         /* paths, numbered from 1, and one for what has none: 0 */
    double *units[AS_SAMPLED_GROUPS]; /* by path */
};
struct as_path_replicates as_record_sampled_path_replicates(const struct as_record_series *all,
                                                            const struct as_pics *paths);
void as_path_replicates_free(struct as_path_replicates *replicates);
/* What an instruction's or a path's time consists of in a replicate, or on average in all (AS_SAMPLED_GROUPS). Times of single threads
 * are kept where there are few. */
struct as_sampled_shares {
    size_t n;      /* threads; 0: not kept */
    double *parts; /* by instruction and thread: of its time */
};
struct as_sampled_shares as_record_sampled_shares(const struct as_record_series *all);
void as_sampled_shares_free(struct as_sampled_shares *shares);
void as_record_sampled_add_time(const struct as_record_series *all, const struct as_sampled_shares *shares, uint32_t id,
                                uint32_t group, uint64_t units);
void as_record_sampled_add_path(const struct as_record_series *all, uint32_t path, uint32_t group, uint64_t units);
/* The bars of the whole program in a replicate, without the head and what is `alike`: units of that; or of the head alone, or of
 * what is alike. */
void as_record_sampled_add_stacks(const struct as_record_series *all, uint32_t group, uint64_t alike);
void as_record_sampled_add_head_stacks(const struct as_record_series *all);
void as_record_sampled_add_alike_stacks(const struct as_record_series *all, uint64_t alike);
/* The errors of counters, as estimates of a series. */
void as_record_sampled_add_counters(const struct as_record_series *all, uint32_t series);
/* Call this after adding that series: adds its uncertainty and the replicates. */
void as_record_sampled_add(struct as_record_series *all);
void as_record_sampled_quality(const struct as_record_series *all);

#endif
