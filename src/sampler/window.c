/* See window.h. */
#include "sampler/window.h"

#include "base/search.h"

#include <string.h>

void as_window_open(struct as_window *window, const struct as_pipe_batch *batch)
{
    window->pipes = batch->pipes;
    window->end += batch->n;
    window->ended = batch->pipes[batch->n - 1].flags & AS_PIPE_LAST;
}

void as_window_pass(struct as_window *window, size_t n)
{
    window->end += n;
    window->base = window->end;
    window->n_tail = 0;
}

void as_window_keep(struct as_window *window, const struct as_pipe *pipes, size_t n)
{
    memcpy(window->tail + AS_WINDOW_TAIL - n, pipes, n * sizeof *pipes);
    window->n_tail = n;
}

void as_window_close(struct as_window *window)
{
    size_t n = window->end - window->base;
    size_t fresh = n < AS_WINDOW_TAIL ? n : AS_WINDOW_TAIL, old = AS_WINDOW_TAIL - fresh;
    memmove(window->tail, window->tail + fresh, old * sizeof *window->tail);
    memcpy(window->tail + old, window->pipes + n - fresh, fresh * sizeof *window->tail);
    window->n_tail = window->n_tail + fresh < AS_WINDOW_TAIL ? window->n_tail + fresh : AS_WINDOW_TAIL;
    window->base = window->end;
    window->pipes = NULL;
}

static uint64_t time_of(const struct as_pipe *pipe, enum as_stage stage)
{
    return stage == AS_STAGE_FETCH ? pipe->fetch : stage == AS_STAGE_DISPATCH ? pipe->dispatch : pipe->commit;
}

/* Doubling steps, then halving: quick for samples that are close together and for those that are far apart. */
uint64_t as_window_after(const struct as_window *window, enum as_stage stage, uint64_t from, uint64_t cycle)
{
    uint64_t low = from > as_window_start(window) ? from : as_window_start(window), high = window->end, step = 1;
    if (low >= high || time_of(as_window_at(window, high - 1), stage) <= cycle)
        return high;
    while (low + step < high && time_of(as_window_at(window, low + step - 1), stage) <= cycle) {
        low += step;
        step *= 2;
    }
    high = low + step < high ? low + step : high;
    return as_search(low, high, i, time_of(as_window_at(window, i), stage) <= cycle);
}

bool as_window_group(const struct as_window *window, uint64_t position, struct as_attribution *group)
{
    uint64_t commit = as_window_at(window, position)->commit;
    group->n = 0;
    for (; position < window->end; position++) {
        const struct as_pipe *pipe = as_window_at(window, position);
        if (pipe->commit != commit)
            return true;
        bool same = pipe->flags & AS_PIPE_CONTINUES && group->n > 0 && group->ids[group->n - 1] == pipe->insn;
        if (same || group->n == AS_GROUP_MAX)
            continue;
        group->ids[group->n] = pipe->insn;
        group->paths[group->n] = pipe->path;
        group->events[group->n++] = pipe->events;
    }
    return window->ended;
}
