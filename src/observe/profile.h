/* Profiles (time by static instruction) and how far one is from another.
 *
 * Profiles are compared at a granularity: instructions themselves, or what a grouping makes of them (basic blocks,
 * functions). Two errors:
 *   error        1 - the overlap of two profiles, each normalised to 1. Sampling noise is in it.
 *   systematic   for each sample, how much of it the truth at that very cycle charges elsewhere; the mean over samples
 *                weighted by the cycles that they stand for. Kept as agreements.
 */
#ifndef AS_OBSERVE_PROFILE_H
#define AS_OBSERVE_PROFILE_H

#include "base/map.h"
#include "observe/attribution.h"

#include <stddef.h>

/* Instruction id to group number, 0 … count-1, for ids below n. Ids beyond, and numbers beyond count, are one group
 * more: unknown. A NULL grouping means that each instruction is its own. */
struct as_grouping {
    const uint32_t *of;
    size_t n;
    uint32_t count;
};

static inline uint32_t as_grouping_of(const struct as_grouping *grouping, uint32_t id)
{
    uint32_t group = id < grouping->n ? grouping->of[id] : grouping->count;
    return group < grouping->count ? group : grouping->count;
}

struct as_profile {
    uint64_t *units; /* by id */
    size_t n, cap;
    uint64_t total;
    uint64_t states[AS_STATE_COUNT + 1]; /* of all instructions; the last one: state not told */
};

void as_profile_add(struct as_profile *profile, uint32_t id, uint64_t units); /* `states` is left alone */
/* Charges `cycles` cycles. */
void as_profile_charge(struct as_profile *profile, const struct as_attribution *to, uint64_t cycles);
uint64_t as_profile_get(const struct as_profile *profile, uint32_t id);
void as_profile_free(struct as_profile *profile);

/* Sums by group: count + 1 numbers, the last one for what is in no group. The caller frees. */
uint64_t *as_profile_group(const struct as_profile *profile, const struct as_grouping *grouping);

/* 0 … 1; NAN where one of them is empty. */
double as_profile_error(const struct as_profile *a, const struct as_profile *b, const struct as_grouping *grouping);

/* What samples said against what was true. Pairs of (said, true) instructions that differ are kept with their units, so
 * that any granularity can be asked for at the end; memory grows with the pairs that occur, not with the samples. */
struct as_agreement {
    uint64_t same, total; /* units */
    struct as_map pairs;  /* said << 32 | true */
};

/* Exact where the two are equal or one of them charges a single instruction. That is always so: two different commit
 * groups of several instructions each cannot be the answers for one cycle. */
void as_agreement_add(struct as_agreement *agreement, const struct as_attribution *said,
                      const struct as_attribution *truth, uint64_t cycles);
double as_agreement_error(const struct as_agreement *agreement, const struct as_grouping *grouping);
void as_agreement_free(struct as_agreement *agreement);

#endif
