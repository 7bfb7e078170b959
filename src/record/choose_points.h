/* Which simulation points of a program to measure: read from SimPoint's files or chosen in a first run. */
#ifndef AS_RECORD_CHOOSE_POINTS_H
#define AS_RECORD_CHOOSE_POINTS_H

#include "base/strlist.h"
#include "base/vec.h"
#include "engine/engine.h"
#include "record/meter.h"
#include "record/sampling_plan.h"

struct as_record_points_options {
    const char *points;  /* "auto" or a file of points; NULL: not asked for */
    const char *weights; /* … and that of their weights, which belong together */
    uint64_t warm;       /* instructions before each; AS_REGION_ALL: all */
    uint64_t interval, max_k, per_phase, jobs, seed;
    const char *core; /* the machine on which threads in a fixed order run */
    const struct as_strlist *set;
    struct as_engine_options engine; /* of the first run */
    const struct as_meter *meter;    /* NULL: none */
    void *meter_context;
    struct as_notices notices;
};
#define AS_RECORD_POINTS_DEFAULT                                                                                       \
    {                                                                                                                  \
        .warm = 1000000, .interval = 1000000, .max_k = 30, .per_phase = 2                                              \
    }

struct as_record_points {
    AS_VEC(struct as_plan_point) points;
    struct as_points_plan plan;
};

/* Makes the plan; with "auto" this runs the program. */
bool as_record_points_choose(const struct as_record_points_options *options, struct as_record_points *points,
                             struct as_error *err) AS_MUST_CHECK;
void as_record_points_free(struct as_record_points *points);

#endif
