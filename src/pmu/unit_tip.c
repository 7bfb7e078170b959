/* TIP and TEA: at every N-th cycle, what the commit stage did, as the Oracle would say (doc/design/oracle.md). Where
 * instructions commit in that cycle, each gets an equal part of the sample; where the oldest one waits, it gets all;
 * where there is none because of a flush, the one that flushed does, otherwise the next one. TEA records the events of
 * each beside it.
 *
 * With stage=dispatch the sample is the next instruction that is dispatched, as IBS and SPE choose theirs, with the events
 * that TEA has: what then differs from TEA is the policy alone. */
#include "pmu/pmu_unit.h"

static void open(struct as_pmu_core *core)
{
    core->tip.due = core->stream->request.counters[0].period;
    core->tip.commit = 0;
    core->tip.flags = 0;
    as_vec_clear(&core->tip.group);
}

/* The group that commits in a sampling cycle is complete. The first of it get what cannot be shared. */
static void share_group(struct as_pmu_core *core)
{
    struct as_pmu_tip *tip = &core->tip;
    uint64_t n = tip->group.len, period = core->stream->request.counters[0].period;
    for (uint64_t i = 0; i < n; i++) {
        struct as_pmu_sample *sample = &tip->group.data[i];
        sample->weight = period / n + (i < period % n);
        if (sample->weight)
            as_pmu_pass_on(core, sample);
    }
    as_vec_clear(&tip->group);
}

static void sample_waiting(struct as_pmu_core *core, const struct as_pmu_op *op)
{
    struct as_pmu_tip *tip = &core->tip;
    bool empty = as_pmu_dispatch(core, op) > tip->due && tip->commit > 0;
    bool flushed = empty && tip->flags & (AS_PIPE_MISPREDICTED | AS_PIPE_FLUSHES) &&
                   !(op->pipe->flags & (AS_PIPE_EXCEPTION | AS_PIPE_REFETCHED));
    struct as_pmu_sample sample = tip->last;
    if (!flushed)
        as_pmu_describe(core, 0, op, &sample);
    if (!flushed && as_pmu_dispatch(core, op) > tip->due)
        sample.events = as_first_events(op->pipe);
    as_pmu_pass_on(core, &sample);
}

static void take_dispatched(struct as_pmu_core *core, const struct as_pmu_op *op)
{
    struct as_pmu_tip *tip = &core->tip;
    uint64_t dispatch = as_pmu_dispatch(core, op), commit = as_pmu_commit(core, op);
    struct as_pmu_counts *counts = &core->stream->counts[0];
    counts->happened += commit - tip->commit;
    counts->counted = counts->happened;
    for (; tip->due <= dispatch; tip->due += core->stream->request.counters[0].period) {
        counts->overflows++;
        as_pmu_sample_now(core, 0, op);
    }
    tip->commit = commit;
}

static void take_committing(struct as_pmu_core *core, const struct as_pmu_op *op)
{
    struct as_pmu_tip *tip = &core->tip;
    uint64_t commit = as_pmu_commit(core, op), period = core->stream->request.counters[0].period;
    struct as_pmu_counts *counts = &core->stream->counts[0];
    if (tip->group.len && commit != tip->commit)
        share_group(core);
    counts->happened += commit - tip->commit;
    counts->counted = counts->happened;
    for (; tip->due < commit; tip->due += period) {
        counts->overflows++;
        sample_waiting(core, op);
    }
    if (tip->due == commit) {
        counts->overflows++;
        tip->due += period;
        as_pmu_describe(core, 0, op, as_vec_push(&tip->group));
    } else if (tip->group.len)
        as_pmu_describe(core, 0, op, as_vec_push(&tip->group));
    if (op->pipe->flags & (AS_PIPE_MISPREDICTED | AS_PIPE_FLUSHES))
        as_pmu_describe(core, 0, op, &tip->last);
    tip->flags = op->pipe->flags;
    tip->commit = commit;
}

static void take_op(struct as_pmu_core *core, const struct as_pmu_op *op)
{
    (core->stream->pmu.stage == AS_PMU_STAGE_DISPATCH ? take_dispatched : take_committing)(core, op);
}

/* The last of a block that was skipped: if it flushes, samples behind it are its own. */
static void note_last(struct as_pmu_core *core, const struct as_edge_run *run)
{
    struct as_pipe pipe = {0};
    as_edge_expand(run, core->thread, run->n - 1, run->n, &pipe);
    struct as_pmu_op op = {
        .pipe = &pipe, .code = as_pmu_code_of(core->stream, pipe.insn), .index = run->first + run->n - 1};
    as_pmu_describe(core, 0, &op, &core->tip.last);
}

/* No sampling cycle in the block. */
static bool skip(struct as_pmu_core *core, const struct as_pmu_sums *sums, const struct as_pmu_span *span)
{
    struct as_pmu_tip *tip = &core->tip;
    struct as_pmu_counts *counts = &core->stream->counts[0];
    bool by_dispatch = core->stream->pmu.stage == AS_PMU_STAGE_DISPATCH;
    if (tip->group.len || tip->due <= (by_dispatch ? span->last_dispatch : span->commit))
        return false;
    if (sums->flags & (AS_PIPE_MISPREDICTED | AS_PIPE_FLUSHES))
        note_last(core, span->run);
    counts->happened += span->commit - tip->commit;
    counts->counted = counts->happened;
    tip->commit = span->commit;
    tip->flags = sums->flags;
    return true;
}

static void finish(struct as_pmu_core *core)
{
    share_group(core);
}

const struct as_pmu_unit as_pmu_unit_tip = {
    .needs_all = true, .open = open, .op = take_op, .finish = finish, .skip = skip};
