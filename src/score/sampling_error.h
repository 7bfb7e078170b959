/* How far a sampled profile is from a truth that is not known, because of sampling alone. Where the truth is known,
 * agreement.h says what to expect. */
#ifndef AS_SCORE_SAMPLING_ERROR_H
#define AS_SCORE_SAMPLING_ERROR_H

#include "score/weights.h"

/* Half the sum of the expected deviations of the shares that were seen, and of what was
 * not seen. The time of what was not seen is about that of what was seen once (Good and Turing's estimate). From 0 to
 * 1; NAN without samples. */
double as_sampling_error(struct as_weights said, uint64_t samples);

#endif
