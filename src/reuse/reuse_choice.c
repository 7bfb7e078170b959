/* Which sample is watched, and which use goes for it when all slots are taken: Algorithm 2's reservoir, and the graded choice
 * (reuse_watch.h). */
#include "base/random.h"
#include "reuse/reuse_watch_internal.h"

#include <math.h>

/* AS_REPLACE_GRADED: by which part fewer samples are left out after one that was watched in a free slot, and more after one that
 * took its slot from a use that is not far. Both go by samples that are watched: where many threads are in the same phase, hundreds
 * that are not come and go while slots are free for a moment. */
static const double FEWER = 0.25, MORE = 1;
/* A use is far if uses seldom end at its age and most of those that end have ended by then. By how seldom alone, where most
 * end at once, all others would be far. */
static const double FAR_REACH = 1.0 / 8, FAR_LATER = 1.0 / 8;
static const double FAR_FEWER = 1, FAR_MORE = 0.5; /* as FEWER and MORE, for far uses that want to stay */

static double draw(struct as_reuse_watch *watch)
{
    uint64_t step = atomic_fetch_add(&watch->seed, AS_RANDOM_STEP);
    return (double)(as_random_hash(step) >> 11) * 0x1p-53;
}

static bool take_free_slot(struct as_reuse_watch *watch, const struct as_lens_access *use, double weight)
{
    for (uint32_t i = 0; i < watch->n_slots; i++) {
        struct as_use_slot *slot = &watch->slots[i];
        if (slot->contents.active || !as_use_try_lock(slot))
            continue;
        bool ours = !slot->contents.active;
        if (ours)
            as_use_begin(watch, i, use, weight);
        as_use_unlock(slot);
        if (ours)
            return true;
    }
    return false;
}

/* ---- AS_REPLACE_RESERVOIR ---- */

/* The chance that a sample gets any of the slots, all of them taken. */
static double chance(const struct as_reuse_watch *watch)
{
    double none = 1;
    for (uint32_t i = 0; i < watch->n_slots; i++)
        none *= 1 - 1 / watch->slots[i].samples;
    return 1 - none;
}

static bool allow_replacement(struct as_reuse_watch *watch, struct as_use_slot *slot)
{
    double rate = 1 / slot->samples++;
    bool allowed = draw(watch) < rate;
    if (!allowed)
        as_use_spare(watch, slot, 1 - rate);
    return allowed;
}

static void sample_reservoir(struct as_reuse_watch *watch, const struct as_lens_access *use, double weight)
{
    if (take_free_slot(watch, use, weight))
        return;
    double p = chance(watch);
    for (uint32_t i = 0; i < watch->n_slots; i++) {
        struct as_use_slot *slot = &watch->slots[i];
        if (!as_use_try_lock(slot))
            continue;
        bool ours = slot->contents.active && allow_replacement(watch, slot);
        if (ours)
            as_use_begin(watch, i, use, p > 0 ? weight / p : weight);
        as_use_unlock(slot);
        if (ours)
            return;
    }
    atomic_fetch_add(&watch->dropped, 1);
}

/* ---- AS_REPLACE_GRADED ---- */

/* The uses in the slots, at a sample. */
struct ages {
    double reach[AS_LENS_REGISTERS];
    bool far[AS_LENS_REGISTERS];
    uint32_t n_far, newest; /* newest: of the far ones, the slot whose use is the youngest */
};

static bool is_far(const struct as_reuse_watch *watch, uint64_t age)
{
    return watch->n_slots > 1 && /* one slot alone would never learn better */
           as_patience_reach(&watch->patience, age) <= FAR_REACH &&
           as_patience_later(&watch->patience, age) <= FAR_LATER;
}

static void look_at(const struct as_reuse_watch *watch, struct ages *ages)
{
    *ages = (struct ages){0};
    for (uint32_t i = 0; i < watch->n_slots; i++) {
        uint64_t age = watch->samples - watch->slots[i].since;
        ages->reach[i] = as_patience_reach(&watch->patience, age);
        ages->far[i] = is_far(watch, age);
        if (ages->far[i] && (!ages->n_far++ || watch->slots[i].since > watch->slots[ages->newest].since))
            ages->newest = i;
    }
}

/* The chances of the slots' uses to have to go; they add up to 1. Up to half of the slots are left to uses that are far. With one
 * more, the newest of those has to go, unless it is one of the few that may stay: then one of the others. */
static void grade(const struct as_reuse_watch *watch, const struct ages *ages, double chances[AS_LENS_REGISTERS])
{
    uint32_t n = watch->n_slots;
    bool crowded = ages->n_far > n / 2;
    double all = 0, stay = ages->n_far > 1 ? 1 / watch->far_one_in : 0;
    for (uint32_t i = 0; i < n; i++)
        all += chances[i] = ages->far[i] == crowded ? (crowded ? stay / (ages->n_far - 1) : 1 / ages->reach[i]) : 0;
    for (uint32_t i = 0; !crowded && i < n; i++)
        chances[i] /= all;
    if (crowded)
        chances[ages->newest] = 1 - stay;
}

/* Under all slots' locks, all of them being taken. Returns whether one had to go that was not far. */
static bool replace(struct as_reuse_watch *watch, const struct as_lens_access *use, double weight)
{
    double chances[AS_LENS_REGISTERS] = {0}, at = draw(watch);
    uint32_t gone = 0, half = watch->n_slots / 2;
    struct ages ages;
    look_at(watch, &ages);
    grade(watch, &ages, chances);
    for (uint32_t i = 0; i < watch->n_slots && at >= 0; at -= chances[i++])
        gone = chances[i] > 0 ? i : gone;
    for (uint32_t i = 0; i < watch->n_slots; i++)
        if (i != gone)
            as_use_spare(watch, &watch->slots[i], 1 - chances[i]);
    if (ages.n_far < half)
        watch->far_one_in = fmax(1, watch->far_one_in - FAR_FEWER);
    else if (ages.n_far > half && gone != ages.newest)
        watch->far_one_in *= 1 + FAR_MORE;
    const struct as_use_slot *slot = &watch->slots[gone];
    as_patience_learn(&watch->patience, watch->samples - slot->since, false, slot->contents.weight);
    as_use_begin(watch, gone, use, weight);
    return !ages.far[gone];
}

/* All or none; none where a slot is free or being changed. */
static bool lock_taken(struct as_reuse_watch *watch)
{
    uint32_t locked = 0;
    bool taken = true;
    for (; taken && locked < watch->n_slots && as_use_try_lock(&watch->slots[locked]); locked++)
        taken = watch->slots[locked].contents.active;
    if (taken && locked == watch->n_slots)
        return true;
    while (locked)
        as_use_unlock(&watch->slots[--locked]);
    return false;
}

/* Under `choosing`. */
static void sample_graded(struct as_reuse_watch *watch, const struct as_lens_access *use, double weight)
{
    bool room = false;
    double one_in = watch->one_in;
    for (uint32_t i = 0; i < watch->n_slots; i++)
        room |= !watch->slots[i].contents.active;
    watch->credit += 1 / one_in; /* in turn, not by lot: each phase has its part of the samples that are watched */
    bool chosen = watch->credit >= 1;
    watch->credit -= chosen;
    if (!chosen) {
        atomic_fetch_add(&watch->dropped, 1);
    } else if (room && take_free_slot(watch, use, weight * one_in)) {
        watch->one_in = fmax(1, one_in * (1 - FEWER));
    } else {
        if (!lock_taken(watch)) {
            atomic_fetch_add(&watch->busy, 1);
            return;
        }
        if (replace(watch, use, weight * one_in))
            watch->one_in = one_in * (1 + MORE);
        for (uint32_t i = 0; i < watch->n_slots; i++)
            as_use_unlock(&watch->slots[i]);
    }
}

void as_use_choose(struct as_reuse_watch *watch, const struct as_lens_access *use, double weight)
{
    if (watch->options.replacement == AS_REPLACE_RESERVOIR) {
        sample_reservoir(watch, use, weight);
    } else if (!atomic_flag_test_and_set_explicit(&watch->choosing, memory_order_acquire)) {
        sample_graded(watch, use, weight);
        atomic_flag_clear_explicit(&watch->choosing, memory_order_release);
    } else {
        atomic_fetch_add(&watch->busy, 1);
    }
}

/* What is learned only steers, so it may be missed. `choosing` is a lock, of this and of as_use_choose. */
void as_use_learn(struct as_reuse_watch *watch, const struct as_use_slot *slot)
{
    if (atomic_flag_test_and_set_explicit(&watch->choosing, memory_order_acquire))
        return;
    as_patience_learn(&watch->patience, watch->samples - slot->since, true, slot->contents.weight);
    atomic_flag_clear_explicit(&watch->choosing, memory_order_release);
}
