/* Samplers at work: one observer that asks any number of samplers about the same cycles, charges the samples to
 * profiles, and compares each with the Oracle at that very cycle.
 *
 * Between samples a batch costs a comparison and a copy of its end, so several of these with different schedules can
 * watch one run.
 */
#ifndef AS_SAMPLER_SAMPLING_H
#define AS_SAMPLER_SAMPLING_H

#include "base/error.h"
#include "observe/pics.h"
#include "observe/thread_limit.h"
#include "sampler/sampler.h"
#include "sampler/schedule.h"

struct as_sampling_result {
    const struct as_sampler *sampler;
    uint64_t samples; /* that were charged */
    uint64_t dropped; /* that were not: their cycles are in the next one, or lost at a thread's end */
    uint32_t events;  /* that it records; 0: none, and all of its stacks are Base */
    struct as_profile profile;
    struct as_confusion confusion;
};

struct as_sampling;
/* NULL and `err` where the period is 0 or the machine commits too many a cycle. `run` and `samplers` are copied. */
struct as_sampling *as_sampling_new(const struct as_run_info *run, const struct as_schedule *schedule,
                                    const struct as_sampler *const *samplers, size_t n,
                                    struct as_error *err) AS_MUST_CHECK;
void as_sampling_free(struct as_sampling *sampling);
/* Before the first batch: the events of samplers that can be given others (as_sampler.any_events). */
void as_sampling_set_events(struct as_sampling *sampling, uint32_t events);
extern const struct as_observer as_sampling_observer; /* its self is the as_sampling; its finish writes nothing */

/* After finish. */
const struct as_sampling_result *as_sampling_results(const struct as_sampling *sampling, size_t *n);
const struct as_schedule *as_sampling_schedule(const struct as_sampling *sampling);

/* The result of sampler number `index`: cycle stacks, of all threads and of one of them. Threads are kept apart as the
 * Oracle keeps them; AS_NO_THREAD: those that are not. One that records no events has all time on the component
 * without any. A sample that is charged to several instructions is counted with one of them, taking turns, so that the
 * counts add up to the samples. The caller frees. */
struct as_pics as_sampling_pics(const struct as_sampling *sampling, size_t index);
struct as_pics as_sampling_thread_pics(const struct as_sampling *sampling, size_t index, uint32_t thread);
/* The same by call path, which differs between threads (as_pipe.path). */
struct as_pics as_sampling_path_pics(const struct as_sampling *sampling, size_t index);

#endif
