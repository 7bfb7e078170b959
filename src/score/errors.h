/* How wrong a profile is, compared with one that is known to be true: the errors that `compare` and `record` report.
 *
 *   profile error     1 - the overlap of two profiles, each normalised to 1. Includes sampling noise.
 *   systematic error  for each sample, the part of it that the truth at that very cycle charges elsewhere; the mean
 *                     over samples, weighted by the cycles that they stand for. Free of sampling noise.
 *   PICS error        1 - the part of all time that both profiles put on the same component of the same unit. Both are
 *                     first reduced to the events that the sampler records, and to the level asked for.
 *
 * All errors are from 0 to 1, and NAN if there is nothing to compare. Each is computed at a level; a NULL grouping
 * means single instructions.
 */
#ifndef AS_SCORE_ERRORS_H
#define AS_SCORE_ERRORS_H

#include "observe/grouping.h"
#include "observe/pics.h"
#include "observe/profile.h"
#include "score/agreement.h"

double as_profile_error(const struct as_profile *a, const struct as_profile *b, const struct as_grouping *grouping);

/* A true profile at a level, for others to be compared with. What chance explains is the same for all that have as many
 * samples, so it is kept. The profile and the grouping stay the caller's. */
struct as_truth {
    const struct as_grouping *grouping;
    struct as_weights weights;
    uint64_t *own; /* the weights, if they had to be computed */
    struct as_truth_chance {
        uint64_t samples;
        struct as_chance chance;
    } kept[8];
    size_t n_kept;
};
void as_truth_open(struct as_truth *truth, const struct as_profile *profile, const struct as_grouping *grouping);
void as_truth_close(struct as_truth *truth);
/* How far a profile of this many samples is from the truth, and whether that is further than chance explains
 * (score/agreement.h). */
struct as_agreement as_truth_agreement(struct as_truth *truth, const struct as_profile *said, uint64_t samples,
                                       double z);

double as_systematic_error(const struct as_confusion *confusion, const struct as_grouping *grouping);

/* Both must have been reduced to the same events and level. */
double as_pics_error(const struct as_pics *a, const struct as_pics *b);
/* The PICS errors of a sampler that records `events`, at all levels. */
void as_pics_errors(const struct as_pics *said, const struct as_pics *golden, uint32_t events,
                    const struct as_levels *levels, double errors[AS_LEVELS]);

#endif
