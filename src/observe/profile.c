/* See profile.h. Overlaps are computed in 128-bit integers: two profiles that are equal have an error of exactly 0. */
#include "observe/profile.h"

#include "base/vec.h"

#include <math.h>

static const char *const state_names[AS_STATE_COUNT + 1] = {
    [AS_STATE_COMPUTING] = "computing",   [AS_STATE_STALLED] = "stalled", [AS_STATE_DRAINED] = "drained",
    [AS_STATE_MISPREDICT] = "mispredict", [AS_STATE_FLUSH] = "flush",     [AS_STATE_EXCEPTION] = "exception",
    [AS_STATE_UNKNOWN] = "unknown",
};

const char *as_state_name(enum as_state state)
{
    return state_names[state];
}

void as_profile_add(struct as_profile *profile, uint32_t id, uint64_t units)
{
    if (id >= profile->n) {
        size_t n = (size_t)id + 1;
        as_vec_reserve((void **)&profile->units, &profile->cap, n, sizeof *profile->units);
        memset(profile->units + profile->n, 0, (n - profile->n) * sizeof *profile->units);
        profile->n = n;
    }
    profile->units[id] += units;
    profile->total += units;
}

void as_profile_charge(struct as_profile *profile, const struct as_attribution *to, uint64_t cycles)
{
    uint64_t units = cycles * AS_CYCLE_UNITS;
    for (uint32_t i = 0; i < to->n; i++)
        as_profile_add(profile, to->ids[i], as_share(units, to->n, i));
    profile->states[to->state] += units;
}

uint64_t as_profile_get(const struct as_profile *profile, uint32_t id)
{
    return id < profile->n ? profile->units[id] : 0;
}

void as_profile_free(struct as_profile *profile)
{
    free(profile->units);
    *profile = (struct as_profile){0};
}

uint64_t *as_profile_group(const struct as_profile *profile, const struct as_grouping *grouping)
{
    uint64_t *sums = as_alloc_array((size_t)grouping->count + 1, sizeof *sums);
    for (size_t id = 0; id < profile->n; id++)
        sums[as_grouping_of(grouping, (uint32_t)id)] += profile->units[id];
    return sums;
}

/* (whole - part) / whole, where `part` may be all of it. */
static double missing(unsigned __int128 part, unsigned __int128 whole)
{
    return (double)((long double)(whole - part) / (long double)whole);
}

static unsigned __int128 overlap(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b, uint64_t total_a,
                                 uint64_t total_b)
{
    unsigned __int128 sum = 0;
    for (size_t i = 0; i < n_a && i < n_b; i++) {
        unsigned __int128 left = (unsigned __int128)a[i] * total_b, right = (unsigned __int128)b[i] * total_a;
        sum += left < right ? left : right;
    }
    return sum;
}

double as_profile_error(const struct as_profile *a, const struct as_profile *b, const struct as_grouping *grouping)
{
    if (a->total == 0 || b->total == 0)
        return NAN;
    unsigned __int128 whole = (unsigned __int128)a->total * b->total;
    if (!grouping)
        return missing(overlap(a->units, a->n, b->units, b->n, a->total, b->total), whole);
    uint64_t *sums_a = as_profile_group(a, grouping), *sums_b = as_profile_group(b, grouping);
    size_t n = (size_t)grouping->count + 1;
    double error = missing(overlap(sums_a, n, sums_b, n, a->total, b->total), whole);
    free(sums_a);
    free(sums_b);
    return error;
}

static void add_pair(struct as_agreement *agreement, uint32_t said, uint32_t truth, uint64_t units)
{
    if (said == truth)
        agreement->same += units;
    else
        *as_map_put(&agreement->pairs, (uint64_t)said << 32 | truth) += units;
}

void as_agreement_add(struct as_agreement *agreement, const struct as_attribution *said,
                      const struct as_attribution *truth, uint64_t cycles)
{
    uint64_t units = cycles * AS_CYCLE_UNITS;
    agreement->total += units;
    if (said->n == truth->n && memcmp(said->ids, truth->ids, said->n * sizeof *said->ids) == 0) {
        agreement->same += units;
        return;
    }
    for (uint32_t i = 0; i < said->n; i++)
        for (uint32_t j = 0; j < truth->n; j++)
            add_pair(agreement, said->ids[i], truth->ids[j], as_share(as_share(units, said->n, i), truth->n, j));
}

double as_agreement_error(const struct as_agreement *agreement, const struct as_grouping *grouping)
{
    if (agreement->total == 0)
        return NAN;
    uint64_t right = agreement->same;
    for (size_t i = 0; grouping && i < agreement->pairs.cap; i++) {
        const struct as_map_slot *slot = &agreement->pairs.slots[i];
        if (slot->used &&
            as_grouping_of(grouping, (uint32_t)(slot->key >> 32)) == as_grouping_of(grouping, (uint32_t)slot->key))
            right += slot->value;
    }
    return missing(right, agreement->total);
}

void as_agreement_free(struct as_agreement *agreement)
{
    as_map_free(&agreement->pairs);
    *agreement = (struct as_agreement){0};
}
