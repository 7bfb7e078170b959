/* Shares of a whole. */
#ifndef AS_BASE_RATIO_H
#define AS_BASE_RATIO_H

#include <stdint.h>

/* part / whole; 0 of nothing. */
static inline double as_ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

/* The same of what is weighted, estimated or measured. */
static inline double as_part(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

#endif
