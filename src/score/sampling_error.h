/* How far sampling alone moves a profile from a truth that is not known. If the truth is known, use agreement.h. */
#ifndef AS_SCORE_SAMPLING_ERROR_H
#define AS_SCORE_SAMPLING_ERROR_H

#include "score/weights.h"

/* Returns half the sum of the expected deviations of all shares, including the share of groups without samples. The
 * time of those groups is about that of the groups with one sample (Good and Turing's estimate). `seen` is the number
 * of samples of each group; if it is NULL, a group that weighs less than one and a half average samples counts as seen
 * once. `samples` is their effective number where they stand for unequal times (as_effective_samples, confidence.h). The
 * result is from 0 to 1, NAN without samples. */
double as_sampling_error(struct as_weights said, const uint64_t *seen, double samples);

/* The expected distance of two such profiles of the same program, from the error of one: their errors are
 * independent. */
double as_sampling_distance(double error);

#endif
