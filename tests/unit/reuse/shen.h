/* The conversion of distances for a run that is one part, from histograms: what src/reuse/local_stack.h is held against. */
#ifndef AS_TESTS_SHEN_H
#define AS_TESTS_SHEN_H

#include "reuse/distances.h"

#include <math.h>

/* Shen et al.: in an interval of n accesses, the one with k accesses left until the end is the last of its granule with
 * the probability that a time distance is greater than k; the number of distinct granules is the sum of that. `uses` is
 * the number of uses that `all` is of: what is missing in it was never reused. Adds `times`, which are all of these reuses or some of
 * them, to `distances`. */
static inline void as_distances_from_times(const struct as_distances *times, const struct as_distances *all,
                                           uint64_t uses, struct as_distances *distances)
{
    double longer = uses ? (double)uses : 1, granules = 0, n = longer;
    for (uint32_t bin = 0; bin < AS_DISTANCE_BINS - 1; bin++) {
        double width = (double)(as_distance_low(bin + 1) - as_distance_low(bin));
        double in_bin = (double)all->bins[bin];
        /* The bin's own reuses lie evenly in it: in the middle, half of them are longer. */
        double middle = granules + (width / 2) * (longer - in_bin / 4) / n;
        if (times->bins[bin])
            as_distances_add(distances, (uint64_t)(width == 1 ? llround(granules) : llround(middle)), times->bins[bin]);
        longer -= in_bin;
        granules += width * (longer + (width == 1 ? 0 : in_bin / 2)) / n;
    }
}

#endif
