/* See weights.h. Overlaps are computed in 128-bit integers, so two lists with equal shares have a distance of exactly
 * 0. */
#include "score/weights.h"

#include <math.h>

struct as_weights as_weights_of(const uint64_t *units, size_t n)
{
    struct as_weights weights = {.units = units, .n = n};
    for (size_t i = 0; i < n; i++)
        weights.total += units[i];
    return weights;
}

double as_weights_missing(unsigned __int128 part, unsigned __int128 whole)
{
    return (double)((long double)(whole - part) / (long double)whole);
}

double as_weights_distance(struct as_weights a, struct as_weights b)
{
    if (a.total == 0 || b.total == 0)
        return NAN;
    unsigned __int128 same = 0;
    for (size_t i = 0; i < a.n && i < b.n; i++) {
        unsigned __int128 left = (unsigned __int128)a.units[i] * b.total;
        unsigned __int128 right = (unsigned __int128)b.units[i] * a.total;
        same += left < right ? left : right;
    }
    return as_weights_missing(same, (unsigned __int128)a.total * b.total);
}
