/* How far sampling alone can be off. */
#ifndef AS_CMD_SAMPLING_ERROR_H
#define AS_CMD_SAMPLING_ERROR_H

#include <stddef.h>
#include <stdint.h>

/* The error that sampling alone makes, were the samples drawn independently: half the sum of the expected deviations of
 * the shares that were seen, and of what was not seen. The time of what was not seen is about that of what was seen
 * once (Good and Turing's estimate). `units` are sums by group. */
double as_record_sampling_error(const uint64_t *units, size_t groups, uint64_t samples);

#endif
