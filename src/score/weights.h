/* A profile as a list of weights, one for each group (instruction, function, bin …), and the distance between two
 * lists.
 *
 * Only the shares matter: two lists with different totals can be compared. Group i is the same in both.
 */
#ifndef AS_SCORE_WEIGHTS_H
#define AS_SCORE_WEIGHTS_H

#include <stddef.h>
#include <stdint.h>

/* Passed by value; the caller keeps ownership of the units. */
struct as_weights {
    const uint64_t *units; /* by group */
    size_t n;
    uint64_t total;
};

/* Makes a list of n units, which must add up to less than 2^64. */
struct as_weights as_weights_of(const uint64_t *units, size_t n);

/* The share of a group; 0 if the group is beyond the end of the list. */
static inline double as_weights_share(struct as_weights weights, size_t group)
{
    return group < weights.n && weights.total ? (double)weights.units[group] / (double)weights.total : 0;
}

/* 1 - the overlap of the shares, which is half the sum of their differences: from 0 to exactly 1, and exactly 0 if all
 * shares are equal. NAN if a list is empty. */
double as_weights_distance(struct as_weights a, struct as_weights b);

/* (whole - part) / whole, correct to the last bit. */
double as_weights_missing(unsigned __int128 part, unsigned __int128 whole);

#endif
