/* The errors of simulation points by how they are chosen, over all choices for one program: see sweep.c.
 *
 * Calls: run, after vectors were taken and points were chosen; ask; free in any case. */
#ifndef AS_PREDICT_SWEEP_H
#define AS_PREDICT_SWEEP_H

#include "predict/point_blame.h"
#include "predict/predict.h"

/* One choice of points, and what became of it. */
struct as_sweep_trial {
    const char *sweep;
    uint32_t max_k, dims, phases;
    uint32_t joined; /* intervals of the run that are one here */
    uint64_t seed;
    double threshold, coverage, cpi, error; /* the error is a fraction, never negative */
    uint64_t simulated;
    bool front; /* no other trial of the whole run is both cheaper and better */
};

struct as_sweep {
    struct as_predict *predict;
    AS_VEC(double) cpi; /* by interval */
    double truth;
    double
        differs; /* the part by which the instructions of the second run, or of an interval, differ from those of the first */
    struct as_point_blame *blame;
    AS_VEC(struct as_sweep_trial) trials;
};

/* Whether it was made with the seed that was asked for. */
static inline bool as_sweep_is_own(const struct as_sweep *sweep, const struct as_sweep_trial *trial)
{
    return trial->seed == sweep->predict->request->choose.seed;
}

/* Runs the whole program in the model, and tries all choices. `sweep` has its `predict`. */
bool as_sweep_run(struct as_sweep *sweep, struct as_error *err) AS_MUST_CHECK;
/* The second half of that: `sweep` has its truth and the CPI of each interval. */
void as_sweep_try(struct as_sweep *sweep);
void as_sweep_free(struct as_sweep *sweep);
/* By cost: a trial is on the front where it is better than all that cost less, and as good as any that cost the same. Trials that look at a
 * part of the run are neither on it nor recommended: their points stand for that part, and no option chooses such points. */
void as_sweep_find_front(struct as_sweep *sweep);

/* The last two trials: what was asked for, and one point as long as those together. */
static inline const struct as_sweep_trial *as_sweep_asked(const struct as_sweep *sweep)
{
    return &sweep->trials.data[sweep->trials.len - 2];
}
static inline const struct as_sweep_trial *as_sweep_long(const struct as_sweep *sweep)
{
    return &sweep->trials.data[sweep->trials.len - 1];
}
/* The cheapest trial whose error is at most this; of several the best. NULL: there is none. */
const struct as_sweep_trial *as_sweep_cheapest(const struct as_sweep *sweep, double error);

typedef AS_VEC(const struct as_sweep_trial *) as_sweep_trials;
/* The choices that none is both cheaper and better than, the cheapest first; one of those that are equal. */
void as_sweep_front(const struct as_sweep *sweep, as_sweep_trials *front);

/* What a number of phases leads to, over all other ways to choose. */
struct as_saturation {
    double average, most, simulated;
    uint32_t trials;
};
struct as_saturation as_sweep_saturation(const struct as_sweep *sweep, uint32_t max_k);
/* The number of phases where errors saturate; 0: there is none. `least`: the least average error of all numbers. */
uint32_t as_sweep_saturates_at(const struct as_sweep *sweep, double *least);

/* A length and a number of phases over all seeds, with the dimensions and the threshold that were asked for. */
struct as_steadiness {
    uint32_t joined, max_k, seeds;
    double average, most, simulated;
};
struct as_steadiness as_sweep_steadiness(const struct as_sweep *sweep, uint32_t joined, uint32_t max_k);
/* The cheapest that is within 1 % on average over the seeds; if there is none, the best. */
struct as_steadiness as_sweep_recommend(const struct as_sweep *sweep);

/* A phase, and what its point makes of it. Shares are parts of the true CPI. */
struct as_swept_phase {
    double weight, point, mean, least, most; /* CPI of the point and of the phase's intervals */
    double adds, blamed;                     /* to the error, by the point and by the function that has most of it */
    const char *function;                    /* NULL: not known */
};
struct as_swept_phase as_sweep_phase(const struct as_sweep *sweep, uint32_t group);

#endif
