/* Saturating sums of untrusted numbers: a sum that does not fit into 64 bits stays at the largest value. */
#ifndef AS_BASE_SATURATE_H
#define AS_BASE_SATURATE_H

#include <stdint.h>

static inline void as_add_to(uint64_t *sum, uint64_t value)
{
    if (__builtin_add_overflow(*sum, value, sum))
        *sum = UINT64_MAX;
}

#endif
