/* See survival.h. */
#include "reuse/survival.h"

#include <math.h>
#include <stdlib.h>

/* At equal distances, what ended comes before what was given up: that was still watched there. */
static int by_distance(const void *a, const void *b)
{
    const struct as_watched_use *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return (x->end >= AS_USE_GIVEN_UP) - (y->end >= AS_USE_GIVEN_UP);
}

static double effective(const struct as_watched_use *uses, size_t n)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        sum += uses[i].weight;
        squares += uses[i].weight * uses[i].weight;
    }
    return squares > 0 ? sum * sum / squares : 0;
}

struct as_survival as_survival_estimate(struct as_watched_use *uses, size_t n, uint64_t total,
                                        struct as_distances *times)
{
    struct as_survival result = {.effective = effective(uses, n)};
    double watched = 0, left = 1, scale = total ? (double)total : 1e6;
    qsort(uses, n, sizeof *uses, by_distance);
    for (size_t i = 0; i < n; i++)
        watched += uses[i].weight;
    for (size_t i = 0, end; i < n; i = end) {
        double reused = 0, invalidated = 0, gone = 0;
        for (end = i; end < n && uses[end].distance == uses[i].distance; end++) {
            reused += uses[end].end == AS_USE_REUSED ? uses[end].weight : 0;
            invalidated += uses[end].end == AS_USE_INVALIDATED ? uses[end].weight : 0;
            gone += uses[end].end == AS_USE_NEVER ? 0 : uses[end].weight;
        }
        if (reused + invalidated > 0 && watched > 0) {
            double now = left * reused / watched;
            as_distances_add(times, uses[i].distance, (uint64_t)llround(now * scale));
            result.reused += now;
            result.invalidated += left * invalidated / watched;
            left *= 1 - fmin(1, (reused + invalidated) / watched);
        }
        watched -= gone; /* those that never end are watched for ever */
    }
    result.never = n ? left : 0;
    return result;
}

void as_distances_from_times(const struct as_distances *times, uint64_t uses, struct as_distances *distances)
{
    double longer = uses ? (double)uses : 1, granules = 0, all = longer;
    for (uint32_t bin = 0; bin < AS_DISTANCE_BINS - 1; bin++) {
        double width = (double)(as_distance_low(bin + 1) - as_distance_low(bin));
        double in_bin = (double)times->bins[bin];
        /* The bin's own reuses lie evenly in it: in the middle, half of them are longer. */
        double middle = granules + (width / 2) * (longer - in_bin / 4) / all;
        if (times->bins[bin])
            as_distances_add(distances, (uint64_t)(width == 1 ? llround(granules) : llround(middle)), times->bins[bin]);
        longer -= in_bin;
        granules += width * (longer + (width == 1 ? 0 : in_bin / 2)) / all;
    }
}
