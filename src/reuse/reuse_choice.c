/* Which sample is watched, and which use goes for it when all slots are taken: Algorithm 2's reservoir, and the graded choice
 * (reuse_watch.h). */
#include "base/random.h"
#include "reuse/reuse_watch_internal.h"

#include <math.h>

/* AS_REPLACE_GRADED: by how much fewer samples are left out after one that found a free slot, and by which part more after one
 * that did not: two of three that are watched take a slot from another. */
static const double FEWER = 1, MORE = 0.5;
/* The chance of a patient slot's new use to go for the next. Much less, and a use holds the slot through the phases that follow,
 * ends in its own phase of the next round, and hands the slot to that phase again. Two slots' chances add up to at most 1. */
static const double PATIENT = 0.5;

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

/* The chances of the slots' uses to have to go: in the first half of the slots it falls with each time that they were spared, the
 * others share the rest. They add up to 1. */
static void grade(const struct as_reuse_watch *watch, double chances[AS_LENS_REGISTERS])
{
    uint32_t n = watch->n_slots, patient = n / 2;
    double all = 0, rest = 1;
    for (uint32_t i = 0; i < patient; i++)
        rest -= chances[i] = PATIENT / (1 + watch->slots[i].spared);
    for (uint32_t i = patient; i < n; i++)
        all += chances[i] = 1 / as_patience_reach(&watch->patience, watch->samples - watch->slots[i].since);
    for (uint32_t i = patient; i < n; i++)
        chances[i] *= rest / all;
}

/* Under all slots' locks, all of them being taken. */
static void replace(struct as_reuse_watch *watch, const struct as_lens_access *use, double weight)
{
    double chances[AS_LENS_REGISTERS], at = draw(watch);
    uint32_t gone = 0;
    grade(watch, chances);
    while (gone + 1 < watch->n_slots && at >= chances[gone])
        at -= chances[gone++];
    for (uint32_t i = 0; i < watch->n_slots; i++)
        if (i != gone)
            as_use_spare(watch, &watch->slots[i], 1 - chances[i]);
    const struct as_use_slot *slot = &watch->slots[gone];
    as_patience_learn(&watch->patience, watch->samples - slot->since, false, slot->contents.weight);
    as_use_begin(watch, gone, use, weight);
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
    if (room)
        watch->one_in = fmax(1, one_in - FEWER);
    if (draw(watch) * one_in >= 1) {
        atomic_fetch_add(&watch->dropped, 1);
    } else if (!room || !take_free_slot(watch, use, weight * one_in)) {
        watch->one_in = one_in * (1 + MORE);
        if (!lock_taken(watch)) {
            atomic_fetch_add(&watch->busy, 1);
            return;
        }
        replace(watch, use, weight * one_in);
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

/* What is learned only steers, so it may be missed. */
void as_use_learn(struct as_reuse_watch *watch, const struct as_use_slot *slot)
{
    if (atomic_flag_test_and_set_explicit(&watch->choosing, memory_order_acquire))
        return;
    as_patience_learn(&watch->patience, watch->samples - slot->since, true, slot->contents.weight);
    atomic_flag_clear_explicit(&watch->choosing, memory_order_release);
}
