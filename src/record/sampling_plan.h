/* How to measure a run that may be too long to be measured completely: systematically (sampled.h), or by simulation points
 * (points_run.h). */
#ifndef AS_RECORD_SAMPLING_PLAN_H
#define AS_RECORD_SAMPLING_PLAN_H

#include "base/map.h"
#include "record/input.h"

#include <stdbool.h>
#include <stdint.h>

#define AS_SAMPLED_ALL UINT64_MAX /* everything between regions */
#define AS_SAMPLED_AUTO (UINT64_MAX - 1)
struct as_sampled_options {
    uint64_t head;   /* instructions measured in full */
    uint64_t unit;   /* instructions of a region */
    uint64_t period; /* of the first stratum */
    uint64_t warm;   /* instructions before each region; AS_SAMPLED_AUTO: what is found out in the head */
    uint64_t seed;
};
#define AS_SAMPLED_DEFAULT                                                                                             \
    {                                                                                                                  \
        .head = 50000000, .unit = 10000, .period = 400000, .warm = AS_SAMPLED_AUTO, .seed = 1                          \
    }

/* Simulation points: intervals that stand for all others of their phase. */
enum { AS_PLAN_PER_PHASE = 10 };
struct as_plan_point {
    uint64_t start;      /* the number of its first instruction */
    uint32_t phase;      /* from 0; the points of a phase stand for it in equal parts */
    uint32_t number;     /* among the points of its phase, from 0 */
    uint32_t chosen;     /* points of its phase: at most AS_PLAN_PER_PHASE */
    uint32_t of;         /* intervals of its phase; 0: not known */
    double weight;       /* the part of the program's instructions that it stands for; of all points together 1 */
    struct as_map lines; /* what it executed when it was chosen, by as_code_line; empty: not known */
};
struct as_points_plan {
    const struct as_plan_point *points; /* by start */
    size_t n;
    uint64_t interval;     /* instructions */
    uint64_t warm;         /* instructions before each point that warm everything; before that a sieve does */
    uint64_t instructions; /* that the program executed when the points were chosen; 0: not known */
    uint32_t jobs;         /* points that are measured at a time; 0: one for each processor */
    bool again;            /* each point is measured by a run of its own: the program has threads, in a fixed order */
    struct as_input input; /* where each run reads standard input from */
};

#endif
