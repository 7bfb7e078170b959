/* A profile of a whole program from simulation points: a few intervals, each of which stands for a phase.
 *
 * One process runs the program: it counts everything, and warms caches and predictors by a sieve, and completely for a while
 * before each point. At a point it makes a copy of itself (as_model_twin), which measures the interval and delivers what
 * the Oracle charged; the original only warms there, and goes on. So every point begins with what the whole run up to
 * it leaves in caches and predictors, whether others were measured before it or not, and the result does not depend on
 * how many copies run at a time. Where the program has threads, each point is measured by a run of its own
 * (points_again.h). See doc/design/points.md.
 *
 * The estimate: the time of each instruction in a point counts as often as the point stands for other intervals. How often it was
 * executed in the whole run is known, so its time is then multiplied by that over what the points stand for (sampled_scale.h). Where a
 * phase has several points, their differences give the error bar, by replicates as for sampled runs (sampled.h).
 */
#ifndef AS_RECORD_POINTS_RUN_H
#define AS_RECORD_POINTS_RUN_H

#include "record/points_time.h"
#include "record/sampled_internal.h"

struct as_points_run;
struct as_points_run *as_points_run_new(struct as_sampled *sampled, const struct as_points_plan *plan);
void as_points_run_free(struct as_points_run *run); /* NULL is fine; before what it is attached to */
void as_points_run_attach(struct as_points_run *run, struct as_modelled *modelled);
/* Before the run: measures the points that need runs of their own; there are none unless the plan says so. */
bool as_points_run_again(struct as_points_run *run, const struct as_engine_options *engine,
                         struct as_error *err) AS_MUST_CHECK;
/* Makes the copies; called by the engine. */
void as_points_run_border(void *context, const struct as_stretch *stretch);
/* After the run: waits for the copies and adds what they measured to the stratum. `interrupted`: the run did not come to its end. */
bool as_points_run_finish(struct as_points_run *run, bool interrupted, struct as_stratum *stratum,
                          struct as_error *err) AS_MUST_CHECK;
/* Once the estimate is there, if the program has threads: the elapsed time. */
bool as_points_run_time(struct as_points_run *run, struct as_error *err) AS_MUST_CHECK;
/* … over the cycles of all threads; 0: there is one thread. */
double as_points_run_elapsed_each(const struct as_points_run *run);
bool as_points_run_has_error(const struct as_points_run *run); /* phases have several points */
/* What its points are expected to differ by. Returns false if their phases are not known. */
bool as_points_run_prior(const struct as_points_run *run, struct as_region_prior *prior);
size_t as_points_run_phases(const struct as_points_run *run);
/* The part by which the instructions of this run, or of one of the points, differ from those of the run in which the points
 * were chosen. */
double as_points_run_differs(const struct as_points_run *run);

/* ---- points_result.c: what a copy delivers ---- */

struct as_point_row {
    uint32_t id, image; /* of the instruction: its number, and where it is */
    uint64_t address;
    struct as_sampled_cost cost;
    double again; /* further iterations of a rep instruction */
};
struct as_point_result {
    struct as_counters counters;
    AS_VEC(struct as_point_row) rows;
    struct as_pics pics, paths; /* paths: by numbers of the original */
};
/* The nodes of call trees that the original has when the copy is made. */
typedef AS_VEC(size_t) as_point_nodes; /* by tree */
/* In the copy: writes its result; again: by instruction, as in as_point_row. False: it could not be written. */
bool as_point_result_write(const struct as_modelled *modelled, const as_sampled_numbers *again,
                           const as_point_nodes *known, uint32_t region, int fd);
/* In the original: reads it and makes its calls, paths and targets known. False: it is not whole. */
bool as_point_result_read(struct as_point_result *result, const struct as_modelled *modelled,
                          const as_point_nodes *known, int fd);
void as_point_result_free(struct as_point_result *result);

#endif
