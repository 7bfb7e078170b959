/* What a sweep has found, between the part that tries choices (points_sweep.c) and the part that shows them. */
#ifndef AS_CMD_POINTS_SWEEP_INSIDE_H
#define AS_CMD_POINTS_SWEEP_INSIDE_H

#include "cmd/points.h"
#include "cmd/points_blame.h"

/* One choice of points, and what became of it. */
struct as_sweep_trial {
    const char *sweep;
    uint32_t max_k, dims, phases;
    uint32_t joined; /* intervals of the run that are one here */
    uint64_t seed;
    double threshold, coverage, cpi, error; /* the error is a fraction, never negative */
    uint64_t simulated;
    bool front; /* no other trial is both cheaper and better */
};

struct as_sweep {
    struct as_points_session *session;
    AS_VEC(double) cpi; /* by interval */
    double truth;
    double
        differs; /* the part by which the instructions of the second run, or of an interval, differ from those of the first */
    struct as_points_blame *blame;
    AS_VEC(struct as_sweep_trial) trials;
};

/* Whether it was made with the seed that was asked for. */
static inline bool as_sweep_is_own(const struct as_sweep *sweep, const struct as_sweep_trial *trial)
{
    return trial->seed == sweep->session->options->seed;
}

void as_sweep_text(const struct as_sweep *sweep, FILE *out);
void as_sweep_csv(const struct as_sweep *sweep, FILE *out);
bool as_sweep_json(const struct as_sweep *sweep, FILE *out);
/* The file of --phases, if it is asked for. */
bool as_sweep_write_intervals(const struct as_sweep *sweep, struct as_error *err) AS_MUST_CHECK;

#endif
