/* The cycles in which samples are taken: the same for all samplers of a run.
 *
 * Sample k = 1, 2, … of a thread lies in cycles (k-1) * period + 1 … k * period of its core: in the last of them or, if
 * random, in any of them. A sample stands for its period. At regular cycles that is the time since the sample before.
 * At random cycles that time would be longer for a sample late in its period, and a loop as long as the period would
 * have its end charged more than its beginning.
 */
#ifndef AS_SAMPLER_SCHEDULE_H
#define AS_SAMPLER_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

struct as_schedule {
    uint64_t period; /* cycles, at least 1 */
    bool random;
    uint64_t seed;
};

/* The cycle of sample k >= 1. Increases with k. */
uint64_t as_schedule_cycle(const struct as_schedule *schedule, uint32_t thread, uint64_t k);

#endif
