/* Do two profiles say the same, as far as their samples can tell?
 *
 * Two profiles of one program are apart even if nothing is wrong with either, because each is a sample. So their
 * distance (weights.h) is held against the distance to expect if both were samples of one and the same profile: which
 * samples are in which profile is then chance, and mean and standard deviation of the distance follow from the number
 * of samples of each group in both together. That needs no estimate of the groups that neither has seen.
 *
 * Samples are taken to be independent. Those of a regular clock spread less, so "agree" is then said a little too
 * easily.
 */
#ifndef AS_SCORE_AGREEMENT_H
#define AS_SCORE_AGREEMENT_H

#include "score/weights.h"

enum as_agreement_verdict {
    AS_PROFILES_AGREE,   /* not further apart than chance explains */
    AS_PROFILES_DIFFER,  /* further */
    AS_PROFILES_TOO_FEW, /* chance could explain any distance, or one of them is empty */
};
const char *as_agreement_verdict_name(enum as_agreement_verdict verdict); /* "agree", "differ", "too few samples" */

/* A profile at some level, and the number of samples that it is made of: the effective number where they stand for
 * different times (confidence.h), INFINITY where it is exact. */
struct as_sampled {
    struct as_weights weights;
    double samples;
};

struct as_agreement {
    double distance;            /* 0 to 1; NAN where one is empty */
    double expected, deviation; /* of the distance, by chance alone */
    enum as_agreement_verdict verdict;
};

/* They differ where the distance is more than z standard deviations above the expected one. */
struct as_agreement as_agreement_of(struct as_sampled a, struct as_sampled b, double z);

#endif
