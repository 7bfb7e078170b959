/* See errors.h. */
#include "score/errors.h"

#include "score/weights.h"

#include <math.h>
#include <stdlib.h>

/* Returns the sums of a profile at a level. If they had to be computed, *own holds them and the caller frees it. */
static struct as_weights weights_of(const struct as_profile *profile, const struct as_grouping *grouping,
                                    uint64_t **own)
{
    *own = grouping ? as_profile_group(profile, grouping) : NULL;
    if (!grouping)
        return (struct as_weights){profile->units, profile->n, profile->total};
    return (struct as_weights){*own, (size_t)grouping->count + 1, profile->total};
}

void as_truth_open(struct as_truth *truth, const struct as_profile *profile, const struct as_grouping *grouping)
{
    *truth = (struct as_truth){.grouping = grouping};
    truth->weights = weights_of(profile, grouping, &truth->own);
}

void as_truth_close(struct as_truth *truth)
{
    free(truth->own);
}

static struct as_chance chance_of(struct as_truth *truth, uint64_t samples)
{
    const size_t room = sizeof truth->kept / sizeof *truth->kept;
    for (size_t i = 0; i < truth->n_kept && i < room; i++)
        if (truth->kept[i].samples == samples)
            return truth->kept[i].chance;
    struct as_sampled exact = {truth->weights, INFINITY}, said = {truth->weights, (double)samples};
    struct as_chance chance = samples && truth->weights.total ? as_chance_of(said, exact) : (struct as_chance){0};
    truth->kept[truth->n_kept++ % room] = (struct as_truth_chance){samples, chance};
    return chance;
}

struct as_agreement as_truth_agreement(struct as_truth *truth, const struct as_profile *said, uint64_t samples,
                                       double z)
{
    uint64_t *own;
    struct as_sampled a = {weights_of(said, truth->grouping, &own), (double)samples}, b = {truth->weights, INFINITY};
    struct as_agreement agreement = as_agreement_with(a, b, chance_of(truth, samples), z);
    free(own);
    return agreement;
}

double as_profile_error(const struct as_profile *a, const struct as_profile *b, const struct as_grouping *grouping)
{
    uint64_t *own[2];
    double error = as_weights_distance(weights_of(a, grouping, &own[0]), weights_of(b, grouping, &own[1]));
    free(own[0]);
    free(own[1]);
    return error;
}

double as_systematic_error(const struct as_confusion *confusion, const struct as_grouping *grouping)
{
    if (confusion->total == 0)
        return NAN;
    uint64_t right = confusion->same;
    for (size_t i = 0; grouping && i < confusion->pairs.cap; i++) {
        const struct as_map_slot *slot = &confusion->pairs.slots[i];
        if (slot->used &&
            as_grouping_of(grouping, (uint32_t)(slot->key >> 32)) == as_grouping_of(grouping, (uint32_t)slot->key))
            right += slot->value;
    }
    return as_weights_missing(right, confusion->total);
}

double as_pics_error(const struct as_pics *a, const struct as_pics *b)
{
    uint64_t total_a = as_pics_total(a), total_b = as_pics_total(b);
    if (total_a == 0 || total_b == 0)
        return NAN;
    unsigned __int128 same = 0;
    for (size_t i = 0, j = 0; i < a->len && j < b->len;) {
        uint64_t left = as_pics_key(&a->data[i]), right = as_pics_key(&b->data[j]);
        if (left == right) {
            unsigned __int128 in_a = (unsigned __int128)a->data[i].units * total_b;
            unsigned __int128 in_b = (unsigned __int128)b->data[j].units * total_a;
            same += in_a < in_b ? in_a : in_b;
        }
        i += left <= right;
        j += right <= left;
    }
    return as_weights_missing(same, (unsigned __int128)total_a * total_b);
}

void as_pics_errors(const struct as_pics *said, const struct as_pics *golden, uint32_t events,
                    const struct as_levels *levels, double errors[AS_LEVELS])
{
    struct as_pics all[] = {as_pics_fold(said, events, NULL),
                            as_pics_fold(golden, events, NULL)}; /* events are the same at all levels */
    for (int level = 0; level < AS_LEVELS; level++) {
        struct as_pics a = as_pics_fold(&all[0], events, levels->grouping[level]);
        struct as_pics b = as_pics_fold(&all[1], events, levels->grouping[level]);
        errors[level] = as_pics_error(&a, &b);
        as_pics_free(&a);
        as_pics_free(&b);
    }
    as_pics_free(&all[0]);
    as_pics_free(&all[1]);
}
