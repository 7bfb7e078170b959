/* LCI: the last committed instruction. An external monitor that reads the retired program counter through a debug
 * interface sees this: the youngest instruction of the last group that committed, in the sampled cycle or before it.
 * Time spent waiting for an instruction goes to the one before it. */
#include "sampler/sampler.h"

static enum as_verdict take(const struct as_query *query, struct as_attribution *sample)
{
    const struct as_window *window = query->window;
    uint64_t next = as_window_after(window, AS_STAGE_COMMIT, *query->cursor, query->cycle);
    *query->cursor = next;
    if (next == window->end && !window->ended)
        return AS_SAMPLE_WAITS;
    if (next == as_window_start(window))
        return AS_SAMPLE_DROPPED; /* nothing has committed yet */
    return as_sample_one(sample, AS_STATE_UNKNOWN, as_window_at(window, next - 1));
}

const struct as_sampler as_sampler_lci = {
    .name = "lci",
    .stands_for = "external monitors on a debug interface, such as Arm CoreSight",
    .take = take,
};
