/* See survival.h. */
#include "reuse/survival.h"

#include <math.h>

static const double LEAST_KEPT = 1.0 / 8; /* less chance than that to be watched still counts as this */

static double chance(double kept)
{
    return kept > 0 ? kept : 1;
}

/* What a use stands for among those that got into an octave … */
static double entered(const struct as_watched_use *use, uint32_t octave)
{
    return use->weight / fmax(chance(use->passed[octave]), LEAST_KEPT);
}

/* … and where it ended. */
static double ended(const struct as_watched_use *use)
{
    if (use->end == AS_USE_GIVEN_UP)
        return 0;
    uint32_t octave = as_distance_octave(use->distance);
    return entered(use, octave) * fmin(chance(use->passed[octave]) / chance(use->kept), 1 / LEAST_KEPT);
}

static double effective(const struct as_watched_use *uses, size_t n)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        sum += ended(&uses[i]);
        squares += ended(&uses[i]) * ended(&uses[i]);
    }
    return squares > 0 ? sum * sum / squares : 0;
}

/* For each octave the share of all uses that ended there, by what the ended ones stand for. */
static void shares_of(const struct as_watched_use *uses, size_t n, double shares[AS_DISTANCE_OCTAVES])
{
    double there[AS_DISTANCE_OCTAVES] = {0}, over[AS_DISTANCE_OCTAVES] = {0}, left = 1;
    for (size_t i = 0; i < n; i++) {
        uint32_t last = as_distance_octave(uses[i].distance);
        for (uint32_t octave = 0; octave <= last; octave++)
            there[octave] += entered(&uses[i], octave);
        over[last] += ended(&uses[i]);
    }
    for (uint32_t octave = 0; octave < AS_DISTANCE_OCTAVES; octave++) {
        double part = there[octave] > 0 ? fmin(1, over[octave] / there[octave]) : 0;
        shares[octave] = over[octave] > 0 ? left * part / over[octave] : 0;
        left *= 1 - part;
    }
}

struct as_survival as_survival_estimate(const struct as_watched_use *uses, size_t n, uint64_t total,
                                        struct as_distances *times)
{
    struct as_survival result = {.effective = effective(uses, n)};
    double shares[AS_DISTANCE_OCTAVES], scale = total ? (double)total : 1e6;
    shares_of(uses, n, shares);
    for (size_t i = 0; i < n; i++) {
        double share = shares[as_distance_octave(uses[i].distance)] * ended(&uses[i]);
        if (uses[i].end == AS_USE_REUSED)
            as_distances_add(times, uses[i].distance, (uint64_t)llround(share * scale));
        result.reused += uses[i].end == AS_USE_REUSED ? share : 0;
        result.invalidated += uses[i].end == AS_USE_INVALIDATED ? share : 0;
        result.own += uses[i].end == AS_USE_OWN ? share : 0;
    }
    result.never = n ? fmax(0, 1 - result.reused - result.invalidated - result.own) : 0;
    return result;
}

void as_survival_shares(const struct as_watched_use *uses, size_t n, double *shares)
{
    double of_octave[AS_DISTANCE_OCTAVES];
    shares_of(uses, n, of_octave);
    for (size_t i = 0; i < n; i++)
        shares[i] =
            uses[i].end == AS_USE_REUSED ? of_octave[as_distance_octave(uses[i].distance)] * ended(&uses[i]) : 0;
}
