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
/* Call this after adding that series: adds its uncertainty and the replicates. */
void as_record_sampled_add(struct as_record_series *all);
void as_record_sampled_quality(const struct as_record_series *all);

#endif
