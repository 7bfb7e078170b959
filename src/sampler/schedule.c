/* See schedule.h. Random numbers are a hash of (seed, thread, k), without state, so every caller gets the same cycles.
 */
#include "sampler/schedule.h"

static uint64_t scramble(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

uint64_t as_schedule_cycle(const struct as_schedule *schedule, uint32_t thread, uint64_t k)
{
    if (!schedule->random)
        return k * schedule->period;
    uint64_t number = scramble(scramble(schedule->seed ^ scramble(thread)) ^ k);
    uint64_t offset = (uint64_t)((unsigned __int128)number * schedule->period >> 64);
    return (k - 1) * schedule->period + 1 + offset;
}
