/* How far a sampled profile is from the truth because of sampling alone. */
#ifndef AS_SCORE_SAMPLING_ERROR_H
#define AS_SCORE_SAMPLING_ERROR_H

#include "score/weights.h"

/* Where the truth is not known: half the sum of the expected deviations of the shares that were seen, and of what was
 * not seen. The time of what was not seen is about that of what was seen once (Good and Turing's estimate). From 0 to
 * 1; NAN without samples. */
double as_sampling_error(struct as_weights said, uint64_t samples);

/* Where the truth is known: the error to expect of independent samples, each charged to the one right group. The real
 * error of an unbiased sampler is near this or less. NAN without samples or without truth. */
double as_sampling_error_expected(struct as_weights truth, uint64_t samples);

#endif
