/* PEBS: counters of events. A counter starts at -N and overflows after N events. It is loaded with -N again and goes on;
 * so many cycles later, the shadow, the unit is armed, and the next such event that retires is recorded. Events that
 * retire in the shadow cannot be.
 *
 * Where there are more events than counters, the kernel gives the counters to one set of them after the other.
 *
 * Not modelled: that recording delays what follows (its cost is computed afterwards), and hyper-threads. */
#include "pmu/pmu_unit.h"

/* ---- which events have a counter ---- */

/* From Ice Lake on, fixed counters of instructions, cycles and reference cycles can sample as well: bit i, counter i of the
 * request is on one. */
static uint32_t on_fixed(const struct as_pmu_stream *stream)
{
    uint32_t fixed = 0, used = 0;
    for (size_t i = 0; i < stream->request.n; i++) {
        uint32_t number = stream->request.counters[i].event->fixed;
        if (!number || number > stream->pmu.fixed || used >> number & 1)
            continue;
        used |= 1u << number;
        fixed |= 1u << i;
    }
    return fixed;
}

/* In the n-th interval the list of events has been rotated n times, as the kernel does. */
static uint32_t active_in(const struct as_pmu_stream *stream, uint64_t interval)
{
    uint32_t active = on_fixed(stream);
    size_t n = stream->request.n - (size_t)__builtin_popcount(active), place = 0;
    for (size_t i = 0; i < stream->request.n; i++) {
        if (on_fixed(stream) >> i & 1)
            continue;
        if ((place++ + n - interval % n) % n < stream->pmu.counters)
            active |= 1u << i;
    }
    return active;
}

static void open(struct as_pmu_core *core)
{
    struct as_pmu_stream *stream = core->stream;
    for (size_t i = 0; i < AS_PMU_COUNTERS_MAX; i++)
        core->pebs.armed_at[i] = AS_PMU_NEVER;
    core->pebs.clock = core->shift;
    core->pebs.active = active_in(stream, 0);
    bool fits = core->pebs.active == (1u << stream->request.n) - 1;
    core->pebs.slice_end = fits ? AS_PMU_NEVER : stream->slice;
}

/* What is armed when its counter is taken away is lost; what was counted is kept. */
static __attribute__((noinline)) void rotate(struct as_pmu_core *core, uint64_t cycle)
{
    struct as_pmu_pebs *pebs = &core->pebs;
    uint64_t interval = cycle / core->stream->slice;
    pebs->active = active_in(core->stream, interval);
    pebs->slice_end = (interval + 1) * core->stream->slice;
    for (size_t i = 0; i < core->stream->request.n; i++)
        if (!(pebs->active >> i & 1))
            pebs->armed_at[i] = AS_PMU_NEVER;
}

/* ---- counting ---- */

/* A handler that stops and restarts the event executes loads, which the event counts where it counts plain loads of the
 * kernel. */
static uint64_t handler_events(const struct as_pmu_stream *stream, const struct as_pmu_counter *counter)
{
    const struct as_pmu_event *event = counter->event;
    bool plain_loads = event->insn_flags == AS_INSN_LOAD && !event->events && !event->latency;
    return stream->request.handler == AS_HANDLER_IOCTL && counter->kernel && plain_loads ? stream->pmu.handler_loads
                                                                                         : 0;
}

static void overflow(struct as_pmu_core *core, uint32_t i, uint64_t commit)
{
    const struct as_pmu_counter *counter = &core->stream->request.counters[i];
    struct as_pmu_counts *counts = &core->stream->counts[i];
    core->pebs.count[i] -= counter->period;
    counts->overflows++;
    if (core->pebs.armed_at[i] != AS_PMU_NEVER)
        counts->missed++;
    else
        core->pebs.armed_at[i] =
            commit + (counter->precise_dist ? 0 : core->stream->pmu.shadow[counter->event->shadow]);
}

static void count(struct as_pmu_core *core, uint32_t i, const struct as_pmu_op *op, uint64_t commit)
{
    struct as_pmu_stream *stream = core->stream;
    const struct as_pmu_counter *counter = &stream->request.counters[i];
    struct as_pmu_pebs *pebs = &core->pebs;
    if (!as_pmu_counts_mode(counter, op->kernel))
        return;
    stream->counts[i].happened++;
    if (!(pebs->active >> i & 1))
        return;
    stream->counts[i].counted++;
    if (pebs->armed_at[i] <= commit) {
        pebs->armed_at[i] = AS_PMU_NEVER;
        as_pmu_sample_now(core, i, op);
        pebs->count[i] += handler_events(stream, counter);
    }
    if (++pebs->count[i] >= counter->period)
        overflow(core, i, commit);
}

/* Cycles have passed since the instruction before: the counter may have overflowed in any of them. */
static void count_cycles(struct as_pmu_core *core, uint32_t i, const struct as_pmu_op *op, uint64_t commit)
{
    struct as_pmu_stream *stream = core->stream;
    struct as_pmu_pebs *pebs = &core->pebs;
    uint64_t passed = commit - pebs->clock, period = stream->request.counters[i].period;
    if (!as_pmu_counts_mode(&stream->request.counters[i], op->kernel))
        return;
    stream->counts[i].happened += passed;
    if (!(pebs->active >> i & 1))
        return;
    stream->counts[i].counted += passed;
    for (pebs->count[i] += passed; pebs->count[i] >= period;)
        overflow(core, i, commit - (pebs->count[i] - period));
    if (pebs->armed_at[i] > commit)
        return;
    pebs->armed_at[i] = AS_PMU_NEVER;
    as_pmu_sample_now(core, i, op);
}

static void take_op(struct as_pmu_core *core, const struct as_pmu_op *op)
{
    const struct as_pmu_request *request = &core->stream->request;
    uint64_t commit = as_pmu_commit(core, op);
    if (__builtin_expect(commit >= core->pebs.slice_end, 0))
        rotate(core, commit);
    if (op->pipe->flags & AS_PIPE_CONTINUES)
        return;
    for (uint32_t left = op->code->counters; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        if (request->counters[i].event->counts == AS_COUNTS_CYCLES)
            count_cycles(core, i, op, commit);
        else if (as_pmu_event_is(request->counters[i].event, request->counters[i].threshold, op->pipe))
            count(core, i, op, commit);
    }
    core->pebs.clock = commit;
}

/* What a block adds to a counter. */
static uint64_t block_counts(const struct as_pmu_core *core, size_t i, const struct as_pmu_sums *sums,
                             const struct as_pmu_span *span)
{
    const struct as_pmu_counter *counter = &core->stream->request.counters[i];
    if (counter->event->counts != AS_COUNTS_CYCLES)
        return sums->counts[i];
    return counter->user ? span->commit - core->pebs.clock : 0;
}

static bool skip(struct as_pmu_core *core, const struct as_pmu_sums *sums, const struct as_pmu_span *span)
{
    const struct as_pmu_request *request = &core->stream->request;
    struct as_pmu_pebs *pebs = &core->pebs;
    if (pebs->slice_end != AS_PMU_NEVER)
        return false;
    uint64_t counts[AS_PMU_SUMS];
    for (size_t i = 0; i < request->n; i++) {
        counts[i] = block_counts(core, i, sums, span);
        if (counts[i] &&
            (pebs->armed_at[i] != AS_PMU_NEVER || pebs->count[i] + counts[i] >= request->counters[i].period))
            return false;
    }
    for (size_t i = 0; i < request->n; i++) {
        pebs->count[i] += counts[i];
        core->stream->counts[i].happened += counts[i];
        core->stream->counts[i].counted += counts[i];
    }
    pebs->clock = span->commit;
    return true;
}

const struct as_pmu_unit as_pmu_unit_pebs = {.open = open, .op = take_op, .skip = skip};
