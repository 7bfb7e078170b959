/* See tag.h. */
#include "sampler/tag.h"

/* Whether the instructions after `pipe` were squashed, and in which cycle. */
static bool squashes(const struct as_pipe *pipe, uint64_t *cycle)
{
    bool retried = pipe->flags & (AS_PIPE_EXCEPTION | AS_PIPE_REFETCHED);
    *cycle = pipe->flags & AS_PIPE_MISPREDICTED ? pipe->done : pipe->commit;
    return pipe->flags & AS_PIPE_MISPREDICTED || (pipe->flags & AS_PIPE_FLUSHES && !retried);
}

/* The end of the cycles in which wrong-path instructions are dispatched: they come at full width from wrong_delay
 * cycles after it, until there are no more or they are squashed. */
static uint64_t wrong_end(const struct as_pipe *pipe, uint32_t width, uint64_t squash)
{
    uint64_t end = pipe->dispatch + pipe->wrong_delay + (pipe->wrong_path + width - 1) / width;
    return end < squash ? end : squash;
}

/* The first cycle after `cycle` in which wrong-path instructions after `pipe` are dispatched; UINT64_MAX: none. */
static uint64_t wrong_dispatch(const struct as_pipe *pipe, uint32_t width, uint64_t cycle, uint64_t squash)
{
    uint64_t start = pipe->dispatch + pipe->wrong_delay, first = start > cycle ? start : cycle + 1;
    return pipe->wrong_path > 0 && first < wrong_end(pipe, width, squash) ? first : UINT64_MAX;
}

/* … are fetched. Fetching starts right after it and continues as long as there is room downstream: while they are
 * dispatched. If none was dispatched, all were still on their way when they were squashed. */
static uint64_t wrong_fetch(const struct as_pipe *pipe, uint32_t width, uint64_t cycle, uint64_t squash)
{
    uint64_t first = pipe->fetch > cycle ? pipe->fetch + 1 : cycle + 1;
    uint64_t end = pipe->wrong_path > 0 ? wrong_end(pipe, width, squash) : squash;
    return first < end ? first : UINT64_MAX;
}

static enum as_verdict tag_at(const struct as_query *query, enum as_stage stage, struct as_tag *tag)
{
    const struct as_window *window = query->window;
    uint64_t next = as_window_after(window, stage, *query->cursor, query->cycle), squash;
    *query->cursor = next;
    if (next == window->end && !window->ended)
        return AS_SAMPLE_WAITS;
    const struct as_pipe *pipe = next < window->end ? as_window_at(window, next) : NULL;
    uint64_t passes = !pipe ? UINT64_MAX : stage == AS_STAGE_FETCH ? pipe->fetch : pipe->dispatch;
    *tag = (struct as_tag){.pipe = pipe, .end = pipe ? pipe->commit : UINT64_MAX};
    /* Only the youngest instruction that has passed can have a wrong path that is still to come: instructions after it
     * would have passed later. */
    if (next == as_window_start(window))
        return AS_SAMPLE_TAKEN;
    const struct as_pipe *last = as_window_at(window, next - 1);
    if (!squashes(last, &squash))
        return AS_SAMPLE_TAKEN;
    uint64_t wrong = (stage == AS_STAGE_FETCH ? wrong_fetch : wrong_dispatch)(last, query->run->dispatch_width,
                                                                              query->cycle, squash);
    if (wrong < passes)
        *tag = (struct as_tag){.end = squash};
    return AS_SAMPLE_TAKEN;
}

enum as_verdict as_tag_dispatch(const struct as_query *query, struct as_tag *tag)
{
    return tag_at(query, AS_STAGE_DISPATCH, tag);
}

enum as_verdict as_tag_fetch(const struct as_query *query, struct as_tag *tag)
{
    return tag_at(query, AS_STAGE_FETCH, tag);
}

enum as_verdict as_tag_take(const struct as_query *query,
                            enum as_verdict (*tag)(const struct as_query *query, struct as_tag *tag),
                            struct as_attribution *sample)
{
    struct as_tag tagged;
    if (query->cycle < *query->busy)
        return AS_SAMPLE_DROPPED;
    enum as_verdict verdict = tag(query, &tagged);
    if (verdict != AS_SAMPLE_TAKEN)
        return verdict;
    *query->busy = tagged.end;
    return tagged.pipe ? as_sample_one(sample, AS_STATE_UNKNOWN, tagged.pipe) : AS_SAMPLE_DROPPED;
}
