/* From sampled uses to a distribution of distances, and from distances in accesses to distances in distinct granules.
 *
 * A use that is watched ends in a reuse, in an invalidation, or with the run; or the watchpoint is needed for another use
 * first, and all that is known is that its distance is longer. Leaving those out would make long distances rare: they are
 * the ones that are given up. So the estimate goes from octave to octave of distances (Kaplan and Meier): of the uses that
 * got into it, which part ended there? Uses with long distances keep the slots taken and are given up at other ages than
 * others, so that alone has a bias. But which use goes is decided by chance, with a probability that is known each time; so a
 * use counts for as many as it was unlikely to be watched still (inverse probability of censoring). Up to a limit: where
 * hardly a use is watched so long, those few that are would decide by chance what all the others come to.
 *
 * Pure functions over values. */
#ifndef AS_REUSE_SURVIVAL_H
#define AS_REUSE_SURVIVAL_H

#include "reuse/distances.h"
#include "reuse/reuse_rules.h"

#include <stddef.h>

/* AS_USE_OWN: in a shared cache, the owner itself came first: a pair of one core, which is the thread's. */
enum as_use_end { AS_USE_REUSED, AS_USE_INVALIDATED, AS_USE_OWN, AS_USE_GIVEN_UP, AS_USE_NEVER };

/* What an outcome by the rules (reuse_rules.h) is as the end of a use: none is the owner's own access. */
static inline enum as_use_end as_use_end_of(enum as_reuse_outcome outcome)
{
    return outcome == AS_REUSE_REUSE ? AS_USE_REUSED : outcome == AS_REUSE_NONE ? AS_USE_OWN : AS_USE_INVALIDATED;
}

struct as_watched_use {
    uint64_t distance; /* in accesses, until it ended or was given up */
    double weight;     /* uses that it stands for as one that was watched at all */
    double kept;       /* the chance that it was not given up before it ended; 0 counts as 1 */
    float passed
        [AS_DISTANCE_OCTAVES]; /* the same when it got into each octave up to that of its distance; 0 counts as 1 */
    uint8_t end;               /* enum as_use_end */
    uint8_t how;               /* enum as_lens_how: what the distance comes from */
};

struct as_survival {
    double reused, invalidated, own,
        never;        /* shares of all uses; sum 1 unless there are none. never: or nothing is known */
    double effective; /* so many ended uses of equal weight would be as good */
};

/* Adds to `times` the reuses by distance, `total` of them being all uses (0: shares of a million). */
struct as_survival as_survival_estimate(const struct as_watched_use *uses, size_t n, uint64_t total,
                                        struct as_distances *times);
/* The same, with how many reuses each of `uses` stands for in `shares`, of all uses being 1; 0 of those that are none. */
void as_survival_shares(const struct as_watched_use *uses, size_t n, double *shares);

#endif
