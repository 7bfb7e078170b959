/* record --points: which simulation points to measure, read from SimPoint's files or chosen in a first run. */
#ifndef AS_CMD_RECORD_POINTS_H
#define AS_CMD_RECORD_POINTS_H

#include "base/vec.h"
#include "cmd/run_options.h"
#include "record/sampling_plan.h"

struct as_record_points_options {
    const char *points;  /* "auto" or a file of points; NULL: not asked for */
    const char *weights; /* its file of weights */
    const char *warm;    /* a number of instructions, or "all" */
    uint64_t interval, max_k, per_phase, jobs, seed;
    const char *core; /* the machine on which threads in a fixed order run */
    const struct as_strlist *set;
};
#define AS_RECORD_POINTS_DEFAULT                                                                                       \
    {                                                                                                                  \
        .warm = "1M", .interval = 1000000, .max_k = 30, .per_phase = 2                                                 \
    }

struct as_record_points {
    AS_VEC(struct as_plan_point) points;
    struct as_points_plan plan;
};

/* Makes the plan; with "auto" this runs the program. */
bool as_record_points_choose(const struct as_record_points_options *options, const struct as_run_options *run,
                             char **argv, struct as_record_points *points, struct as_error *err) AS_MUST_CHECK;
void as_record_points_free(struct as_record_points *points);

#endif
