/* How far a sampled profile is from a truth that is not known, because of sampling alone. Where the truth is known,
 * agreement.h says what to expect. */
#ifndef AS_SCORE_SAMPLING_ERROR_H
#define AS_SCORE_SAMPLING_ERROR_H

#include "score/weights.h"

/* Half the sum of the expected deviations of the shares that were seen, and of what was
 * not seen. The time of what was not seen is about that of what was seen once (Good and Turing's estimate). `seen` is how
 * often each group was; where that is not known (NULL), a group that weighs less than one and a half average samples
 * counts as seen once. From 0 to 1; NAN without samples. */
double as_sampling_error(struct as_weights said, const uint64_t *seen, uint64_t samples);

/* How far two such profiles of the same program are apart, from the error of one: their errors are independent. */
double as_sampling_distance(double error);

#endif
