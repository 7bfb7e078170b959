/* SPE: an interval of operations, lengthened by random bits; the operation with which it ends is the sample. Only one can
 * be in flight: if another is chosen before the first has retired, that is a collision, and there is no sample. What the
 * filters do not want is dropped when it retires.
 *
 * Some processors give the samples of the first instructions behind a branch target to the target (target_window). */
#include "base/random.h"
#include "pmu/pmu_unit.h"

static void restart(struct as_pmu_core *core)
{
    const struct as_pmu_stream *stream = core->stream;
    core->op.count = 0;
    core->op.limit =
        stream->request.counters[0].period + as_random_below(&core->seed, UINT64_C(1) << stream->pmu.jitter_bits);
}

static void open(struct as_pmu_core *core)
{
    core->spe_busy = 0;
    core->behind_target = UINT32_MAX;
    core->was_taken = false;
    restart(core);
}

static void follow_targets(struct as_pmu_core *core, const struct as_pmu_op *op)
{
    if (core->was_taken) {
        core->behind_target = 0;
        core->target = op->code->address;
        core->target_insn = op->pipe->insn;
    } else if (core->behind_target < UINT32_MAX)
        core->behind_target++;
    core->was_taken = op->pipe->flags & AS_PIPE_TAKEN;
}

static bool is_wanted(const struct as_pmu_counter *counter, const struct as_pmu_op *op)
{
    bool branch = AS_INSN_CONTROL_CLASSES >> op->code->class_ & 1;
    if (op->pipe->commit - op->pipe->dispatch < counter->threshold)
        return false;
    return !counter->filter || op->code->flags & counter->filter & (AS_INSN_LOAD | AS_INSN_STORE) ||
           (branch && counter->filter & AS_PMU_BRANCHES);
}

static void choose(struct as_pmu_core *core, const struct as_pmu_op *op)
{
    struct as_pmu_stream *stream = core->stream;
    struct as_pmu_counts *counts = &stream->counts[0];
    struct as_pmu_sample sample;
    counts->overflows++;
    restart(core);
    if (as_pmu_dispatch(core, op) < core->spe_busy) {
        counts->collisions++;
        return;
    }
    core->spe_busy = as_pmu_commit(core, op);
    if (!as_pmu_counts_mode(&stream->request.counters[0], op->kernel))
        return;
    if (!is_wanted(&stream->request.counters[0], op)) {
        counts->filtered++;
        return;
    }
    as_pmu_describe(core, 0, op, &sample);
    if (core->behind_target > 0 && core->behind_target <= stream->pmu.target_window && !op->kernel) {
        sample.ip = core->target;
        sample.insn = core->target_insn;
    }
    as_pmu_pass_on(core, &sample);
}

/* An operation on the wrong path that is chosen never retires. */
static void pass_wrong_path(struct as_pmu_core *core, const struct as_pmu_op *op)
{
    uint64_t start, end;
    if (!as_pmu_wrong_path(core, op, &start, &end))
        return;
    core->op.count += op->pipe->wrong_path;
    if (core->op.count < core->op.limit)
        return;
    core->stream->counts[0].squashed++;
    restart(core);
}

static void take_op(struct as_pmu_core *core, const struct as_pmu_op *op)
{
    follow_targets(core, op);
    core->stream->counts[0].happened += op->pipe->uops;
    core->stream->counts[0].counted += op->pipe->uops;
    core->op.count += op->pipe->uops;
    if (core->op.count >= core->op.limit)
        choose(core, op);
    pass_wrong_path(core, op);
}

static bool skip(struct as_pmu_core *core, const struct as_pmu_sums *sums, const struct as_pmu_span *span)
{
    uint64_t ops = sums->uops + sums->wrong;
    if (core->stream->pmu.target_window || core->op.count + ops >= core->op.limit)
        return false;
    core->op.count += ops;
    core->stream->counts[0].happened += sums->uops;
    core->stream->counts[0].counted += sums->uops;
    return true;
}

const struct as_pmu_unit as_pmu_unit_spe = {.needs_all = true, .open = open, .op = take_op, .skip = skip};
