/* Profiles: time by static instruction, and what samples reported against what was true. How far one is from another is
 * scored in src/score.
 */
#ifndef AS_OBSERVE_PROFILE_H
#define AS_OBSERVE_PROFILE_H

#include "base/map.h"
#include "observe/attribution.h"
#include "observe/grouping.h"

#include <stddef.h>

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

/* What samples reported against what was true. Pairs of (reported, true) instructions that differ are kept with their units, so
 * that any level can be asked for at the end; memory grows with the pairs that occur, not with the samples. */
struct as_confusion {
    uint64_t same, total; /* units */
    struct as_map pairs;  /* reported << 32 | true */
};

/* Exact where the two are equal or one of them charges a single instruction. That is always so: two different commit
 * groups of several instructions each cannot be the answers for one cycle. */
void as_confusion_add(struct as_confusion *confusion, const struct as_attribution *said,
                      const struct as_attribution *truth, uint64_t cycles);
void as_confusion_free(struct as_confusion *confusion);

#endif
