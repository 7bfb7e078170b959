/* Whether two profiles agree, as far as their samples can show.
 *
 * Two profiles of one program differ even if both are right, because each is a sample. This module therefore compares
 * their distance (weights.h) with the distance that two samples of the same profile would have. Under that assumption,
 * chance alone decides which samples are in which profile, so the mean and the standard deviation of the distance
 * follow from the number of samples of each group in both profiles together. Groups that neither profile has seen need
 * no estimate.
 *
 * Samples are assumed to be independent. Samples of a regular clock spread less, so their profiles are reported to
 * agree slightly too often.
 */
#ifndef AS_SCORE_AGREEMENT_H
#define AS_SCORE_AGREEMENT_H

#include "score/weights.h"

enum as_agreement_verdict {
    AS_PROFILES_AGREE,   /* the distance is within what chance explains */
    AS_PROFILES_DIFFER,  /* the distance is larger than chance explains */
    AS_PROFILES_TOO_FEW, /* chance could explain any distance, or one profile is empty */
};
const char *as_agreement_verdict_name(enum as_agreement_verdict verdict); /* "agree", "differ" or "too few samples" */

/* A profile at one level, and its number of samples: the effective number if the samples stand for different times
 * (confidence.h), INFINITY if the profile is exact. */
struct as_sampled {
    struct as_weights weights;
    double samples;
};

struct as_agreement {
    double distance;            /* 0 to 1; NAN if one profile is empty */
    double expected, deviation; /* mean and standard deviation of the distance if only chance acts */
    enum as_agreement_verdict verdict;
};

/* The distance that chance alone explains. If one profile is exact, it depends on that one and on the number of samples of
 * the other. */
struct as_chance {
    double expected, deviation;
};
struct as_chance as_chance_of(struct as_sampled a, struct as_sampled b);

/* The profiles differ if their distance is more than z standard deviations above the expected one. */
struct as_agreement as_agreement_of(struct as_sampled a, struct as_sampled b, double z);
/* The same if what chance explains is known; `chance` is not read if one of the profiles is empty or has no samples. */
struct as_agreement as_agreement_with(struct as_sampled a, struct as_sampled b, struct as_chance chance, double z);

#endif
