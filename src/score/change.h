/* Whether a time has changed between two profiles, or whether chance explains the difference of their samples. */
#ifndef AS_SCORE_CHANGE_H
#define AS_SCORE_CHANGE_H

#include <stdbool.h>

/* A time as one of the profiles has it. */
struct as_timed {
    double time;
    double samples; /* that it is the sum of; 0: none. INFINITY: the time is exact */
    double weight;  /* what an average sample of the profile stands for: how sure a time without samples is */
};

/* The standard deviation of the difference of two times, if their samples came by chance (as counts do: Poisson). */
double as_change_deviation(struct as_timed before, struct as_timed after);

/* Whether the difference is more than AS_Z_5_SIGMA deviations. Samples of a clock come in bunches where a program has
 * phases, so that less would call too much significant. Equal times have not changed. */
bool as_change_is_significant(struct as_timed before, struct as_timed after);

#endif
