/* See pipe_gen.h. A toy pipeline: no resources but widths, random latencies, program order where order is due. */
#include "pipe_gen.h"

#include "base/random.h"

#include <stdlib.h>
#include <string.h>

enum { FRONT_END = 3 }; /* cycles from fetch to dispatch */

uint64_t pipe_gen_random(struct pipe_gen *gen)
{
    return as_random(&gen->random);
}

uint32_t pipe_gen_below(struct pipe_gen *gen, uint32_t limit)
{
    return (uint32_t)(pipe_gen_random(gen) >> 33) % limit;
}

struct toy {
    uint64_t fetch; /* earliest for the next */
    uint64_t dispatch, commit;
    uint32_t dispatched, committed; /* in these cycles */
    uint32_t insn, path;
};

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void dispatch(struct toy *toy, uint32_t width, uint64_t cycle)
{
    cycle = later(cycle, toy->dispatch + (toy->dispatched == width));
    toy->dispatched = cycle == toy->dispatch ? toy->dispatched + 1 : 1;
    toy->dispatch = cycle;
}

static void commit(struct toy *toy, uint32_t width, uint64_t cycle)
{
    cycle = later(cycle, toy->commit + (toy->committed == width));
    toy->committed = cycle == toy->commit ? toy->committed + 1 : 1;
    toy->commit = cycle;
}

static uint32_t latency(struct pipe_gen *gen)
{
    return pipe_gen_below(gen, 8) ? 1 + pipe_gen_below(gen, 3) : 1 + pipe_gen_below(gen, 60);
}

/* Tried once, found wrong at the head of the ROB, and tried again. */
static void try_first(struct pipe_gen *gen, struct toy *toy, struct as_pipe *pipe)
{
    uint64_t first = toy->dispatch, head = later(toy->commit + 1, first + pipe_gen_below(gen, 20));
    pipe->flags |= pipe_gen_below(gen, 2) ? AS_PIPE_EXCEPTION : AS_PIPE_REFETCHED;
    pipe->flags |= gen->own_vectors ? AS_PIPE_OWN_VECTORS : 0;
    pipe->exception = pipe_gen_below(gen, 40);
    pipe->first_try = (uint16_t)(head - first);
    toy->dispatch = head + pipe->exception;
    toy->dispatched = 1;
    pipe->fetch = later(pipe->fetch, toy->dispatch > FRONT_END ? toy->dispatch - FRONT_END : 0);
    toy->fetch = pipe->fetch;
}

static void trouble_after(struct pipe_gen *gen, struct toy *toy, struct as_pipe *pipe)
{
    switch (pipe_gen_below(gen, 4)) {
    case 0:
        pipe->flags |= AS_PIPE_MISPREDICTED;
        pipe->wrong_path = (uint16_t)pipe_gen_below(gen, 40);
        pipe->wrong_delay = (uint8_t)pipe_gen_below(gen, 5);
        toy->fetch = pipe->done + pipe_gen_below(gen, 6);
        break;
    case 1:
        pipe->flags |= AS_PIPE_FLUSHES;
        if (!(pipe->flags & (AS_PIPE_EXCEPTION | AS_PIPE_REFETCHED))) {
            pipe->wrong_path = (uint16_t)pipe_gen_below(gen, 10);
            pipe->wrong_delay = (uint8_t)pipe_gen_below(gen, 3);
        }
        toy->fetch = pipe->commit + pipe_gen_below(gen, 4);
        break;
    case 2:
        toy->fetch += pipe_gen_below(gen, 50); /* the next fetch misses */
        break;
    default:
        toy->insn = pipe_gen_below(gen, gen->statics);
        toy->path = pipe_gen_below(gen, gen->paths);
    }
}

static void next_record(struct pipe_gen *gen, struct toy *toy, struct as_pipe *pipe)
{
    bool troubled = pipe_gen_below(gen, gen->trouble) == 0;
    toy->fetch += pipe_gen_below(gen, 3) == 0;
    *pipe = (struct as_pipe){.insn = toy->insn, .path = toy->path, .fetch = toy->fetch, .uops = 1};
    dispatch(toy, gen->width, toy->fetch + FRONT_END);
    if (troubled && pipe_gen_below(gen, 5) == 0) {
        pipe->flags |= AS_PIPE_SERIALISED;
        dispatch(toy, gen->width, toy->commit + 1);
    } else if (troubled && pipe_gen_below(gen, 5) == 0) {
        try_first(gen, toy, pipe);
    }
    pipe->dispatch = toy->dispatch;
    pipe->issue = toy->dispatch + 1;
    pipe->done = pipe->issue + latency(gen);
    commit(toy, gen->width, pipe->done);
    pipe->commit = toy->commit;
    toy->insn = (toy->insn + 1) % gen->statics;
    if (troubled)
        trouble_after(gen, toy, pipe);
}

/* A second instruction in the slot of the one before. */
static bool fuse(struct pipe_gen *gen, const struct as_pipe *before, struct toy *toy, struct as_pipe *pipe)
{
    if (!gen->fuse || before->uops == 0 || before->flags || pipe_gen_below(gen, 2))
        return false;
    *pipe = *before;
    pipe->uops = 0;
    pipe->insn = toy->insn;
    toy->insn = (toy->insn + 1) % gen->statics;
    return true;
}

/* Most meet nothing, some one event, some several: few combinations for each instruction, as in life. A hash, so that
 * the rest of a seed's stream does not depend on it. */
static uint32_t events_of(uint32_t insn, size_t number)
{
    uint32_t hash = (insn * 7919u + (uint32_t)number % 5) * 2654435761u;
    switch (hash >> 28) {
    case 0:
        return 1u << (hash >> 20) % 16;
    case 1:
        return 1u << (hash >> 20) % 16 | 1u << (hash >> 12) % 16;
    case 2:
        return hash >> 8 & 0xffff;
    default:
        return 0;
    }
}

void pipe_gen_fill(struct pipe_gen *gen, struct as_pipe *pipes, size_t n)
{
    struct toy toy = {.fetch = 1 + pipe_gen_below(gen, 5)};
    for (size_t i = 0; i < n; i++) {
        struct as_pipe *pipe = &pipes[i];
        const struct as_pipe *before = i > 0 ? pipe - 1 : NULL;
        bool again = before && before->insn % 17 == 0 && pipe_gen_below(gen, 4);
        if (before && !again && fuse(gen, before, &toy, pipe))
            continue;
        if (again) { /* a rep instruction goes on */
            toy.insn = before->insn;
            toy.path = before->path;
        }
        next_record(gen, &toy, pipe);
        pipe->flags |= again ? AS_PIPE_CONTINUES : 0;
    }
    for (size_t i = 0; i < n; i++)
        pipes[i].events = events_of(pipes[i].insn, i);
    pipes[n - 1].flags |= AS_PIPE_LAST;
}

struct as_run_info pipe_gen_run(const struct pipe_gen *gen)
{
    return (struct as_run_info){
        .size = sizeof(struct as_run_info),
        .machine = "toy",
        .commit_width = gen->width,
        .dispatch_width = gen->width,
        .commit_group = gen->fuse ? 2 * gen->width : gen->width,
        .rob = 128,
    };
}

void pipe_gen_feed(struct pipe_gen *gen, const struct as_observer *ops, void *self, uint32_t thread,
                   const struct as_pipe *pipes, size_t n, uint32_t most)
{
    while (n > 0) {
        size_t piece = 1 + pipe_gen_below(gen, most);
        piece = piece < n ? piece : n;
        /* Exactly as large as needed: a sanitizer sees a read beyond it. */
        struct as_pipe *copy = malloc(piece * sizeof *copy);
        memcpy(copy, pipes, piece * sizeof *copy);
        struct as_pipe_batch batch = {.size = sizeof batch, .thread = thread, .n = piece, .pipes = copy};
        ops->batch(self, &batch);
        free(copy);
        pipes += piece;
        n -= piece;
    }
}
