/* Dispatch: what AMD IBS and Arm SPE do. The first instruction that is dispatched after the sampled cycle is tagged and
 * recorded when it commits. Time that the ROB is full goes to whoever waits to enter it. The one that is tagged can be
 * on the wrong path: then it never commits, and the sample is dropped. */
#include "sampler/sampler.h"

/* The first cycle after `cycle` in which wrong-path instructions behind `pipe` are dispatched; UINT64_MAX: none. They
 * come at full width from wrong_delay cycles after it on, and end when they are used up or it squashes them. */
static uint64_t wrong_dispatch_after(const struct as_pipe *pipe, uint32_t width, uint64_t cycle)
{
    bool flushes = pipe->flags & AS_PIPE_FLUSHES && !(pipe->flags & (AS_PIPE_EXCEPTION | AS_PIPE_REFETCHED));
    if (pipe->wrong_path == 0 || !(pipe->flags & AS_PIPE_MISPREDICTED || flushes))
        return UINT64_MAX;
    uint64_t start = pipe->dispatch + pipe->wrong_delay, end = start + (pipe->wrong_path + width - 1) / width;
    uint64_t squash = pipe->flags & AS_PIPE_MISPREDICTED ? pipe->done : pipe->commit;
    end = end < squash ? end : squash;
    uint64_t first = start > cycle ? start : cycle + 1;
    return first < end ? first : UINT64_MAX;
}

static enum as_verdict take(const struct as_query *query, struct as_attribution *sample)
{
    const struct as_window *window = query->window;
    uint64_t next = as_window_after(window, AS_STAGE_DISPATCH, *query->cursor, query->cycle);
    *query->cursor = next;
    uint64_t cycle = next < window->end ? as_window_at(window, next)->dispatch : UINT64_MAX;
    if (next == window->end && !window->ended)
        return AS_SAMPLE_WAITS;
    /* Only the youngest one dispatched so far can have a wrong path that is still coming: what is behind it would have
     * been dispatched later than that. */
    if (next > as_window_start(window)) {
        const struct as_pipe *last = as_window_at(window, next - 1);
        if (wrong_dispatch_after(last, query->run->dispatch_width, query->cycle) < cycle)
            return AS_SAMPLE_DROPPED;
    }
    return next < window->end ? as_sample_one(sample, AS_STATE_UNKNOWN, as_window_at(window, next)->insn)
                              : AS_SAMPLE_DROPPED;
}

const struct as_sampler as_sampler_dispatch = {
    .name = "dispatch",
    .stands_for = "AMD IBS, Arm SPE",
    .take = take,
};
