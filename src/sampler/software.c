/* Software: a profiler that is called by an interrupt (perf without PEBS, IBS or SPE). The core stops fetching and
 * drains; the interrupt returns to the first instruction that was not fetched yet, and the sample is charged to that
 * one. The drain itself is not modelled: the program's timing is that without samples. */
#include "sampler/sampler.h"

static enum as_verdict take(const struct as_query *query, struct as_attribution *sample)
{
    const struct as_window *window = query->window;
    uint64_t next = as_window_after(window, AS_STAGE_FETCH, *query->cursor, query->cycle);
    *query->cursor = next;
    if (next == window->end)
        return as_query_waits(query);
    return as_sample_one(sample, AS_STATE_UNKNOWN, as_window_at(window, next));
}

const struct as_sampler as_sampler_software = {
    .name = "software",
    .stands_for = "interrupt-driven profilers, such as perf without hardware support",
    .take = take,
};
