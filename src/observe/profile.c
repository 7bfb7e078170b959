/* See profile.h. */
#include "observe/profile.h"

#include "base/vec.h"

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

static void add_pair(struct as_confusion *confusion, uint32_t said, uint32_t truth, uint64_t units)
{
    if (said == truth)
        confusion->same += units;
    else
        *as_map_put(&confusion->pairs, (uint64_t)said << 32 | truth) += units;
}

void as_confusion_add(struct as_confusion *confusion, const struct as_attribution *said,
                      const struct as_attribution *truth, uint64_t cycles)
{
    uint64_t units = cycles * AS_CYCLE_UNITS;
    confusion->total += units;
    if (said->n == truth->n && memcmp(said->ids, truth->ids, said->n * sizeof *said->ids) == 0) {
        confusion->same += units;
        return;
    }
    for (uint32_t i = 0; i < said->n; i++)
        for (uint32_t j = 0; j < truth->n; j++)
            add_pair(confusion, said->ids[i], truth->ids[j], as_share(as_share(units, said->n, i), truth->n, j));
}

void as_confusion_free(struct as_confusion *confusion)
{
    as_map_free(&confusion->pairs);
    *confusion = (struct as_confusion){0};
}
