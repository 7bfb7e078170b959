/* The Oracle at one cycle: the four states of the commit stage, each with the instruction(s) that the time is exposed
 * for. Written from the definition, independently of the streaming Oracle; the tests compare the two. */
#include "sampler/sampler.h"

/* The ROB is empty at the cycle, and `next` is the instruction that it waits for. */
static enum as_verdict empty(const struct as_query *query, uint64_t next, struct as_attribution *truth)
{
    if (next > as_window_start(query->window)) {
        const struct as_pipe *last = as_window_at(query->window, next - 1);
        enum as_state state = as_state_behind(last);
        if (state != AS_STATE_DRAINED)
            return as_sample_one(truth, state, last);
    }
    return as_sample_one(truth, AS_STATE_DRAINED, as_window_at(query->window, next));
}

enum as_verdict as_truth_take(const struct as_query *query, struct as_attribution *truth)
{
    uint64_t head;
    if (!as_query_head(query, &head))
        return as_query_waits(query);
    const struct as_pipe *pipe = as_window_at(query->window, head);
    if (pipe->commit == query->cycle) {
        truth->state = AS_STATE_COMPUTING;
        return as_window_group(query->window, head, truth) ? AS_SAMPLE_TAKEN : AS_SAMPLE_WAITS;
    }
    struct as_tries tries = as_tries_of(pipe);
    if (query->cycle >= pipe->dispatch)
        return as_sample_one(truth, AS_STATE_STALLED, pipe);
    if (query->cycle < tries.first) {
        enum as_verdict verdict = empty(query, head, truth);
        if (truth->state == AS_STATE_DRAINED && tries.first < pipe->dispatch)
            truth->events[0] = as_first_events(pipe);
        return verdict;
    }
    as_sample_one(truth, query->cycle < tries.fault ? AS_STATE_STALLED : AS_STATE_EXCEPTION, pipe);
    truth->events[0] = as_first_events(pipe);
    return AS_SAMPLE_TAKEN;
}
