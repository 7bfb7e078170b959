/* See survival.h. */
#include "reuse/survival.h"

#include <math.h>

static const double COMMON = 0.05; /* of all uses: an octave with as many is not rare */

/* What an ended use stands for. */
static double weight_of(const struct as_watched_use *use)
{
    if (use->end == AS_USE_GIVEN_UP)
        return 0;
    return use->weight / (use->kept > 0 ? use->kept : 1);
}

static double effective(const struct as_watched_use *uses, size_t n)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        sum += weight_of(&uses[i]);
        squares += weight_of(&uses[i]) * weight_of(&uses[i]);
    }
    return squares > 0 ? sum * sum / squares : 0;
}

/* The ended uses by octave, against all that were watched. */
struct tally {
    double all, ended, octaves[AS_DISTANCE_OCTAVES];
    double far; /* of `ended`: behind the last octave that is common … */
    uint32_t last;
};

static struct tally tally_of(const struct as_watched_use *uses, size_t n)
{
    struct tally tally = {0};
    for (size_t i = 0; i < n; i++) {
        tally.all += uses[i].weight;
        tally.octaves[as_distance_octave(uses[i].distance)] += weight_of(&uses[i]);
    }
    for (uint32_t i = 0; i < AS_DISTANCE_OCTAVES; i++) {
        tally.ended += tally.octaves[i];
        tally.last = tally.octaves[i] >= COMMON * tally.all ? i : tally.last;
    }
    for (uint32_t i = tally.last + 1; i < AS_DISTANCE_OCTAVES; i++)
        tally.far += tally.octaves[i];
    return tally;
}

struct as_survival as_survival_estimate(const struct as_watched_use *uses, size_t n, uint64_t total,
                                        struct as_distances *times)
{
    struct as_survival result = {.effective = effective(uses, n)};
    struct tally tally = tally_of(uses, n);
    double missing = tally.all - tally.ended, whole = missing > 0 ? tally.all : tally.ended;
    double far = missing > 0 && tally.far > 0 ? 1 + missing / tally.far : 1, scale = total ? (double)total : 1e6;
    for (size_t i = 0; i < n && whole > 0; i++) {
        double share = weight_of(&uses[i]) / whole;
        share *= as_distance_octave(uses[i].distance) > tally.last ? far : 1;
        if (uses[i].end == AS_USE_REUSED)
            as_distances_add(times, uses[i].distance, (uint64_t)llround(share * scale));
        result.reused += uses[i].end == AS_USE_REUSED ? share : 0;
        result.invalidated += uses[i].end == AS_USE_INVALIDATED ? share : 0;
    }
    result.never = n ? fmax(0, 1 - result.reused - result.invalidated) : 0;
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
