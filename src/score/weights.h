/* A profile as a list of weights, one for each group (instruction, function, bin …), and how far two of them are apart.
 *
 * Only the shares matter: two lists of different totals can be compared. Group number i is the same thing in both.
 */
#ifndef AS_SCORE_WEIGHTS_H
#define AS_SCORE_WEIGHTS_H

#include <stddef.h>
#include <stdint.h>

/* A value: the units stay the caller's. */
struct as_weights {
    const uint64_t *units; /* by group */
    size_t n;
    uint64_t total;
};

/* Of n units, which add up to less than 2^64. */
struct as_weights as_weights_of(const uint64_t *units, size_t n);

/* The share of a group; 0 for one beyond the list. */
double as_weights_share(struct as_weights weights, size_t group);

/* 1 - the overlap of the shares, which is half the sum of their differences: from 0 to exactly 1, exactly 0 where all
 * shares are equal. NAN where one of them is empty. */
double as_weights_distance(struct as_weights a, struct as_weights b);

/* (whole - part) / whole, to the last bit. */
double as_weights_missing(unsigned __int128 part, unsigned __int128 whole);

#endif
