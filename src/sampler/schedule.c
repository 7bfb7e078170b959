/* See schedule.h. Random numbers are a hash of (seed, thread, k), without state, so every caller gets the same cycles.
 */
#include "sampler/schedule.h"

#include "base/random.h"

uint64_t as_schedule_cycle(const struct as_schedule *schedule, uint32_t thread, uint64_t k)
{
    if (!schedule->random)
        return k * schedule->period;
    uint64_t number = as_random_hash(as_random_hash(schedule->seed ^ as_random_hash(thread)) ^ k);
    uint64_t offset = as_random_scale(number, schedule->period);
    return (k - 1) * schedule->period + 1 + offset;
}
