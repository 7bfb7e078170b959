/* From sampled uses to a distribution of distances, and from distances in accesses to distances in distinct granules.
 *
 * A use that is watched ends in a reuse, in an invalidation, or never; or the watchpoint is needed for another use first,
 * and all that is known is that its distance is longer. Leaving those out would make long distances rare: they are the
 * ones that are given up. As it does not depend on the use which is given up, only on how long it has been watched, the
 * estimate of Kaplan and Meier (of Aalen and Johansen, with two ends) has no such bias: at each distance, what ended
 * there is held against what was still watched.
 *
 * Pure functions over values. */
#ifndef AS_REUSE_SURVIVAL_H
#define AS_REUSE_SURVIVAL_H

#include "reuse/distances.h"

#include <stddef.h>

enum as_use_end { AS_USE_REUSED, AS_USE_INVALIDATED, AS_USE_GIVEN_UP, AS_USE_NEVER };

struct as_watched_use {
    uint64_t distance; /* in accesses, until it ended or was given up */
    double weight;     /* uses that it stands for */
    uint8_t end;       /* enum as_use_end */
};

struct as_survival {
    double reused, invalidated, never; /* shares of all uses; sum 1 unless there are none */
    double effective;                  /* so many uses of equal weight would be as good */
};

/* Sorts `uses`. Adds to `times` the reuses by distance, `total` of them being all uses (0: shares of a million). */
struct as_survival as_survival_estimate(struct as_watched_use *uses, size_t n, uint64_t total,
                                        struct as_distances *times);

/* Shen et al.: in an interval of n accesses, the one with k accesses left until the end is the last of its granule with
 * the probability that a time distance is greater than k; the number of distinct granules is the sum of that. `uses` is
 * the number of uses that `times` is of: what is missing in it was never reused. Adds to `distances`. */
void as_distances_from_times(const struct as_distances *times, uint64_t uses, struct as_distances *distances);

#endif
