/* Samplers at work: one observer that asks any number of them about the same cycles, charges the samples to profiles,
 * and holds each one against the Oracle at that very cycle.
 *
 * Between samples a batch costs a comparison and a copy of its end, so that several of these with different schedules
 * can watch one run.
 */
#ifndef AS_SAMPLER_SAMPLING_H
#define AS_SAMPLER_SAMPLING_H

#include "base/error.h"
#include "observe/profile.h"
#include "sampler/sampler.h"
#include "sampler/schedule.h"

struct as_sampling_result {
    const struct as_sampler *sampler;
    uint64_t samples; /* that were charged */
    uint64_t dropped; /* that were not: their cycles are in the next one, or lost at a thread's end */
    struct as_profile profile;
    struct as_agreement agreement;
};

struct as_sampling;
/* NULL and `err` where the period is 0 or the machine commits too many a cycle. `run` and `samplers` are copied. */
struct as_sampling *as_sampling_new(const struct as_run_info *run, const struct as_schedule *schedule,
                                    const struct as_sampler *const *samplers, size_t n,
                                    struct as_error *err) AS_MUST_CHECK;
void as_sampling_free(struct as_sampling *sampling);
extern const struct as_observer as_sampling_observer; /* its self is the as_sampling; its finish writes nothing */

/* After finish. */
const struct as_sampling_result *as_sampling_results(const struct as_sampling *sampling, size_t *n);
const struct as_schedule *as_sampling_schedule(const struct as_sampling *sampling);

#endif
