/* Whether a time has changed between two profiles, or chance explains the difference of their samples. */
#ifndef AS_SCORE_CHANGE_H
#define AS_SCORE_CHANGE_H

#include <stdbool.h>

/* A time in one of the profiles. */
struct as_timed {
    double time;
    double samples;   /* number of samples that add up to the time; INFINITY: the time is exact */
    double weight;    /* time that an average sample stands for; gives the uncertainty of a time without samples */
    double deviation; /* of an estimate whose standard deviation is known otherwise; 0: it follows from the samples */
};

/* The standard deviation of the difference of two times, for samples that arrive at random (Poisson counts). */
double as_change_deviation(struct as_timed before, struct as_timed after);

/* Returns whether the difference exceeds AS_Z_5_SIGMA deviations. The threshold is high because a clock's samples come
 * in bunches if the program has phases, so a lower one would report too many changes. Equal times have not changed. */
bool as_change_is_significant(struct as_timed before, struct as_timed after);

#endif
