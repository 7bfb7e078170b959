/* Random numbers that a seed determines: splitmix64. Every seed is as good as another, 0 too. Not for secrets.
 *
 * The branch predictor's own generator (src/core/tage.c) is part of the modelled hardware and stays what it is.
 */
#ifndef AS_BASE_RANDOM_H
#define AS_BASE_RANDOM_H

#include <stdint.h>

#define AS_RANDOM_STEP UINT64_C(0x9e3779b97f4a7c15)

/* Without a state: the same 64 bits for the same x, however close two of them are. */
static inline uint64_t as_random_hash(uint64_t x)
{
    x += AS_RANDOM_STEP;
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The next 64 bits. */
static inline uint64_t as_random(uint64_t *seed)
{
    uint64_t bits = as_random_hash(*seed);
    *seed += AS_RANDOM_STEP;
    return bits;
}

/* 64 random bits as a number from 0 to limit - 1. */
static inline uint64_t as_random_scale(uint64_t bits, uint64_t limit)
{
    return (uint64_t)((unsigned __int128)bits * limit >> 64);
}

static inline uint64_t as_random_below(uint64_t *seed, uint64_t limit)
{
    return as_random_scale(as_random(seed), limit);
}

/* From 0 to below 1. */
static inline double as_random_fraction(uint64_t *seed)
{
    return (double)(as_random(seed) >> 11) * 0x1p-53;
}

#endif
