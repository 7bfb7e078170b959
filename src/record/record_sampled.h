/* A run that was measured in regions, in a profile: the series, its replicates, its uncertainty. */
#ifndef AS_RECORD_RECORD_SAMPLED_H
#define AS_RECORD_RECORD_SAMPLED_H

#include "record/record_series.h"

#define AS_SAMPLED_SERIES AS_STORE_SAMPLED

/* Sets what differs from the golden series. */
void as_record_sampled_describe(const struct as_record_series *all, struct as_store_series *series);
/* Its call paths, with the times of the functions that they end in. The caller frees. */
struct as_pics as_record_sampled_paths(const struct as_record_series *all);
/* Call this after adding that series: adds its uncertainty and the replicates. */
void as_record_sampled_add(struct as_record_series *all);
void as_record_sampled_quality(const struct as_record_series *all);

#endif
