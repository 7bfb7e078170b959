/* Sums of numbers from anywhere: one that leaves 64 bits stays at their end instead of starting anew. */
#ifndef AS_BASE_SATURATE_H
#define AS_BASE_SATURATE_H

#include <stdint.h>

static inline void as_add_to(uint64_t *sum, uint64_t value)
{
    if (__builtin_add_overflow(*sum, value, sum))
        *sum = UINT64_MAX;
}

#endif
