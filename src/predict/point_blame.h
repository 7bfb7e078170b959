/* Why a simulation point does not take its phase's mean time: the function whose time makes most of the difference.
 *
 * While the whole program runs in the model, the time of each function in each interval is kept. For a phase, each function
 * then has cycles per instruction of the interval: in the point, and on average. The functions' differences add up to that of
 * the phase.
 */
#ifndef AS_PREDICT_POINT_BLAME_H
#define AS_PREDICT_POINT_BLAME_H

#include "points/collect.h"
#include "predict/time_spent.h"
#include "record/modelled.h"

struct as_point_blame;
/* Before the run: the Oracle observes `modelled`, which must outlive this, as the vectors of the run before must. */
struct as_point_blame *as_point_blame_new(struct as_modelled *modelled, const struct as_collect *collect,
                                          const struct as_vectors *vectors);
void as_point_blame_free(struct as_point_blame *blame); /* NULL is fine */

/* At the end of the run, before `modelled` is freed: what no interval's end reported is of the last one, which the program's end cut short. */
void as_point_blame_end(struct as_point_blame *blame, size_t intervals);

/* The interval that executed the most else than its vector has, and the part of its instructions that this is; by lines of code, since
 * blocks can be cut in other places. */
struct as_interval_apart {
    uint32_t interval;
    double part;
};
struct as_interval_apart as_point_blame_apart(const struct as_point_blame *blame);

/* After the run: as_time_spent_blame. */
struct as_blamed as_point_blame_find(const struct as_point_blame *blame, const struct as_choice *choice, uint32_t phase,
                                     const struct as_vectors *vectors);

#endif
