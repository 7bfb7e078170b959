/* A simulation point that is measured by running to it again, in a process of its own.
 *
 * A copy of a run (points_run.h) needs a program with one thread. Where there are several, their order decides what each sees,
 * and only `deterministic` fixes that order. Then every run up to the point is the same, so the point may be measured in a run
 * of its own, which warms caches and predictors from the start, settles, measures the interval and ends. It depends on no
 * other point, so the result is the same for any number of such runs at a time.
 */
#ifndef AS_RECORD_POINTS_AGAIN_H
#define AS_RECORD_POINTS_AGAIN_H

#include "record/points_run.h"

struct as_point_again {
    struct as_modelled *modelled;    /* set up, and not yet run */
    struct as_engine_options engine; /* its regions are replaced */
    const struct as_input *input;
    uint64_t start, length, settle;       /* instructions */
    const as_sampled_numbers *iterations; /* further ones of rep instructions that the point has, by instruction */
    int begin, costs;                     /* of as_points_time */
    int fd; /* gets the result, or why there is none; nothing, if the program ends before the point */
};
/* Returns the process that measures; -1: there is none. It ends with AS_EXIT_OK unless something failed. */
pid_t as_point_again(struct as_point_again *again);

/* ---- for other runs of that kind: points_time.h ---- */

typedef bool as_again_work(struct as_point_again *again, struct as_error *err);
pid_t as_again_fork(struct as_point_again *again, as_again_work *work);
/* In the process: runs the program to the end of the point, or to its own end. */
bool as_again_run(struct as_point_again *again, struct as_error *err) AS_MUST_CHECK;

#endif
