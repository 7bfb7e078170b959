/* gem5's O3PipeView: seven lines an instruction, in program order. The model does not separate decode and rename from
 * dispatch, so those have the time of the dispatch. It does not record when a store leaves the store queue; that time
 * is 0. */
#include "observe/trace_format.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <stdlib.h>

enum { TICKS_PER_CYCLE = 1000 }; /* the value that gem5's viewer and Konata assume */

struct o3pipeview {
    struct as_trace_target target;
    uint64_t number;     /* of the instruction */
    uint64_t base, last; /* cycles of programs before this one; the last commit */
};

static void *start(const struct as_trace_target *target)
{
    struct o3pipeview *self = as_alloc(sizeof *self);
    self->target = *target;
    return self;
}

static uint64_t tick(const struct o3pipeview *self, uint64_t cycle)
{
    return (self->base + cycle) * TICKS_PER_CYCLE;
}

static void write_record(struct o3pipeview *self, const struct as_pipe *pipe)
{
    uint64_t dispatch = tick(self, pipe->dispatch);
    fprintf(self->target.out,
            "O3PipeView:fetch:%" PRIu64 ":0x%08" PRIx64 ":0:%" PRIu64 ":  %s\n"
            "O3PipeView:decode:%" PRIu64 "\nO3PipeView:rename:%" PRIu64 "\nO3PipeView:dispatch:%" PRIu64 "\n"
            "O3PipeView:issue:%" PRIu64 "\nO3PipeView:complete:%" PRIu64 "\nO3PipeView:retire:%" PRIu64 ":store:0\n",
            tick(self, pipe->fetch), as_trace_address(self->target.run, pipe->insn), ++self->number,
            as_trace_text(self->target.texts, pipe->insn), dispatch, dispatch, dispatch, tick(self, pipe->issue),
            tick(self, pipe->done), tick(self, pipe->commit));
    self->last = pipe->commit;
}

static void add(void *self, const struct as_pipe *pipes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        write_record(self, &pipes[i]);
}

static void end(void *opaque)
{
    struct o3pipeview *self = opaque;
    self->base += self->last;
    self->last = 0;
}

const struct as_trace_format as_trace_o3pipeview = {
    .name = "O3PipeView", .start = start, .add = add, .end = end, .free = free};
