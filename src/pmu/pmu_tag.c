/* Tags: an operation is chosen before it executes and followed to its retirement; then an interrupt tells of it. See
 * pmu_unit.h.
 *
 * The handler decides the mode of the sample by what it interrupted, which may be long behind the tagged operation. It
 * also starts the counter again, so what is dispatched before is not counted. */
#include "base/random.h"
#include "pmu/pmu_unit.h"

#include <string.h>

static uint32_t random_bits(const struct as_pmu_stream *stream, uint32_t counter)
{
    const struct as_pmu *pmu = &stream->pmu;
    return stream->request.counters[counter].event->counts == AS_COUNTS_FETCHES ? pmu->fetch_random_bits
                                                                                : pmu->random_bits;
}

/* The counter starts at a random value of few bits, so that it is not in step with a loop. */
void as_pmu_tag_restart(struct as_pmu_core *core, struct as_pmu_tag *tag, uint32_t counter, uint64_t resume)
{
    const struct as_pmu_counter *asked = &core->stream->request.counters[counter];
    uint64_t start = as_random_below(&core->seed, UINT64_C(1) << random_bits(core->stream, counter));
    if (start >= asked->period)
        start = asked->period - 1;
    *tag = (struct as_pmu_tag){.count = start,
                               .limit = asked->period,
                               .resume = resume,
                               .group = AS_PMU_NEVER,
                               .interrupt_at = AS_PMU_NEVER,
                               .due = AS_PMU_NEVER};
    if (asked->event->counts == AS_COUNTS_CYCLES)
        tag->due = resume + asked->period - start;
}

void as_pmu_tag_put(struct as_pmu_core *core, struct as_pmu_tag *tag, uint32_t counter, const struct as_pmu_op *op)
{
    const struct as_pmu *pmu = &core->stream->pmu;
    as_pmu_describe(core, counter, op, &tag->sample);
    tag->sample.n_branches = as_pmu_lbr_read(core, tag->branches);
    tag->interrupt_at =
        as_pmu_commit(core, op) + pmu->interrupt + as_random_below(&core->seed, (uint64_t)pmu->jitter + 1);
    tag->wants_next = pmu->off_by_one && core->stream->request.counters[counter].event->counts != AS_COUNTS_FETCHES;
}

static void pass_on(struct as_pmu_core *core, struct as_pmu_tag *tag, uint32_t counter, uint64_t resume)
{
    tag->sample.branches = tag->branches;
    core->stream->counts[counter].overflows++;
    as_pmu_pass_on(core, &tag->sample);
    as_pmu_tag_restart(core, tag, counter, resume);
}

void as_pmu_tag_settle(struct as_pmu_core *core, struct as_pmu_tag *tag, uint32_t counter, const struct as_pmu_op *op)
{
    if (tag->interrupt_at == AS_PMU_NEVER)
        return;
    if (tag->wants_next)
        tag->sample.ip = op->code->address;
    tag->wants_next = false;
    if (as_pmu_commit(core, op) < tag->interrupt_at)
        return;
    tag->sample.kernel = op->kernel;
    pass_on(core, tag, counter, tag->interrupt_at);
}

void as_pmu_tag_finish(struct as_pmu_core *core, struct as_pmu_tag *tag, uint32_t counter)
{
    if (tag->interrupt_at != AS_PMU_NEVER)
        pass_on(core, tag, counter, tag->interrupt_at);
}

bool as_pmu_wrong_path(const struct as_pmu_core *core, const struct as_pmu_op *op, uint64_t *start, uint64_t *end)
{
    const struct as_pipe *pipe = op->pipe;
    uint32_t width = core->stream->run->dispatch_width ? core->stream->run->dispatch_width : 1;
    if (!(pipe->flags & AS_PIPE_MISPREDICTED) || !pipe->wrong_path)
        return false;
    *start = pipe->dispatch + pipe->wrong_delay + core->shift;
    *end = *start + (pipe->wrong_path + width - 1) / width;
    if (*end > pipe->done + core->shift)
        *end = pipe->done + core->shift;
    return *start < *end;
}
