/* Every way of sampling blocks (units.h) on one run, each held against the exact counts of the same run.
 *
 * Calls: open, add the observer and the sink to a run in the model, run it, judge while the engine lives, read, close.
 */
#ifndef AS_BLOCKS_TRIAL_H
#define AS_BLOCKS_TRIAL_H

#include "blocks/accuracy.h"
#include "blocks/exact.h"
#include "blocks/units.h"

struct as_trial_result {
    const struct as_way *way;
    uint64_t period, samples;
    struct as_accuracy plain, balanced; /* as estimated, and with counts that are balanced then */
};

enum { AS_TRIAL_WAYS = 32 };
struct as_trial {
    struct as_units *units;
    struct as_exact_counters counters;
    struct as_flow *truth;
    struct as_trial_result results[AS_TRIAL_WAYS]; /* of the ways that the PMU has */
    size_t n;
};

/* Of a trial that is zeroed. `run` as in as_units_new. The units are an observer (as_units_observer) that its fan-out frees. */
void as_trial_open(struct as_trial *trial, const struct as_run_info *run, const struct as_units_options *options);
void as_trial_judge(struct as_trial *trial, const struct as_engine *engine);
void as_trial_close(struct as_trial *trial); /* accepts one that was never opened */

const struct as_trial_result *as_trial_find(const struct as_trial *trial, const char *way); /* NULL: the PMU has none */
/* The one with the least error, balanced or not; NULL: there is none. */
const struct as_trial_result *as_trial_best(const struct as_trial *trial);
/* The part of the instructions that the better of its counts has in the wrong block. */
double as_trial_misplaced(const struct as_trial_result *result);

#endif
