/* IBS: a counter of dispatched operations (or of cycles) and one of fetches. When the operation counter has reached its
 * limit, an operation that is dispatched in a later cycle is tagged; it is recorded when it retires. An operation on the
 * wrong path is squashed with its tag, and the counter starts again.
 *
 * A fetch is what is fetched in one cycle. */
#include "base/random.h"
#include "pmu/pmu_unit.h"

static struct as_pmu_tag *tag_of(struct as_pmu_core *core, const struct as_pmu_counter *counter)
{
    return counter->event->counts == AS_COUNTS_FETCHES ? &core->fetches : &core->op;
}

static void open(struct as_pmu_core *core)
{
    const struct as_pmu_request *request = &core->stream->request;
    core->fetch = AS_PMU_NEVER;
    for (uint32_t i = 0; i < request->n; i++)
        as_pmu_tag_restart(core, tag_of(core, &request->counters[i]), i, 0);
}

/* ---- operations ---- */

/* Chooses among the operations of one dispatch group, which ends when another one begins. Returns whether this one
 * belongs to it. */
static bool choose(struct as_pmu_core *core, struct as_pmu_tag *tag, uint32_t counter, const struct as_pmu_op *op)
{
    uint64_t dispatch = as_pmu_dispatch(core, op);
    if (tag->group == AS_PMU_NEVER)
        tag->group = dispatch;
    if (dispatch != tag->group)
        return false;
    tag->seen++;
    if (tag->wants_next) { /* of the one that was chosen so far */
        tag->sample.ip = op->code->address;
        tag->wants_next = false;
    }
    if (tag->seen == 1 || (core->stream->pmu.slot == AS_PMU_SLOT_ANY && as_random_below(&core->seed, tag->seen) == 0))
        as_pmu_tag_put(core, tag, counter, op);
    return true;
}

/* Operations on the wrong path count as well. If the tag falls on one, there is no sample. */
static void pass_wrong_path(struct as_pmu_core *core, struct as_pmu_tag *tag, uint32_t counter,
                            const struct as_pmu_op *op)
{
    uint64_t start, end;
    if (tag->interrupt_at != AS_PMU_NEVER || !as_pmu_wrong_path(core, op, &start, &end) || start < tag->resume)
        return;
    core->stream->counts[counter].counted += op->pipe->wrong_path;
    if (core->stream->request.counters[counter].event->counts == AS_COUNTS_OPS)
        tag->count += op->pipe->wrong_path;
    if (tag->due == AS_PMU_NEVER && tag->count >= tag->limit)
        tag->due = start;
    if (tag->due == AS_PMU_NEVER || tag->due + 1 >= end)
        return;
    core->stream->counts[counter].squashed++;
    as_pmu_tag_restart(core, tag, counter, op->pipe->done + core->shift);
}

static void take_tagged(struct as_pmu_core *core, uint32_t counter, const struct as_pmu_op *op)
{
    struct as_pmu_tag *tag = &core->op;
    bool cycles = core->stream->request.counters[counter].event->counts == AS_COUNTS_CYCLES;
    uint64_t dispatch = as_pmu_dispatch(core, op);
    if (!cycles)
        core->stream->counts[counter].happened += op->pipe->uops;
    if (tag->group != AS_PMU_NEVER && choose(core, tag, counter, op))
        return;
    as_pmu_tag_settle(core, tag, counter, op);
    if (tag->interrupt_at != AS_PMU_NEVER || dispatch < tag->resume)
        return;
    if (tag->due != AS_PMU_NEVER && dispatch > tag->due) {
        choose(core, tag, counter, op);
        return;
    }
    if (!cycles) {
        core->stream->counts[counter].counted += op->pipe->uops;
        tag->count += op->pipe->uops;
        if (tag->due == AS_PMU_NEVER && tag->count >= tag->limit)
            tag->due = dispatch;
    }
    pass_wrong_path(core, tag, counter, op);
}

/* ---- fetches ---- */

static void take_fetch(struct as_pmu_core *core, uint32_t counter, const struct as_pmu_op *op)
{
    struct as_pmu_tag *tag = &core->fetches;
    uint64_t fetch = op->pipe->fetch + core->shift, before = core->fetch;
    as_pmu_tag_settle(core, tag, counter, op);
    if (fetch == before)
        return;
    core->fetch = fetch;
    core->stream->counts[counter].happened++;
    if (tag->interrupt_at != AS_PMU_NEVER || fetch < tag->resume)
        return;
    core->stream->counts[counter].counted++;
    if (++tag->count < tag->limit)
        return;
    as_pmu_tag_put(core, tag, counter, op);
    tag->sample.address = 0;
    tag->sample.latency = before == AS_PMU_NEVER ? 0 : (uint32_t)(fetch - before);
}

static void take_op(struct as_pmu_core *core, const struct as_pmu_op *op)
{
    const struct as_pmu_request *request = &core->stream->request;
    for (uint32_t i = 0; i < request->n; i++)
        (request->counters[i].event->counts == AS_COUNTS_FETCHES ? take_fetch : take_tagged)(core, i, op);
}

static void finish(struct as_pmu_core *core)
{
    const struct as_pmu_request *request = &core->stream->request;
    for (uint32_t i = 0; i < request->n; i++)
        as_pmu_tag_finish(core, tag_of(core, &request->counters[i]), i);
}

/* Nothing is counted from the choice to the interrupt, and nothing else can happen before it. */
static bool is_waiting(const struct as_pmu_tag *tag, uint64_t dispatch, uint64_t commit)
{
    return tag->interrupt_at != AS_PMU_NEVER && commit < tag->interrupt_at && !tag->wants_next &&
           (tag->group == AS_PMU_NEVER || dispatch > tag->group);
}

/* All are counted, and the limit is not reached. */
static bool is_counting(const struct as_pmu_tag *tag, uint64_t dispatch, uint64_t uops)
{
    return tag->interrupt_at == AS_PMU_NEVER && tag->due == AS_PMU_NEVER && tag->group == AS_PMU_NEVER &&
           dispatch >= tag->resume && tag->count + uops < tag->limit;
}

static void count_ops(struct as_pmu_core *core, uint64_t uops)
{
    core->op.count += uops;
    core->stream->counts[0].happened += uops;
    core->stream->counts[0].counted += uops;
}

/* Of one counter. Fetches are not told by blocks; cycles go on by themselves until one is due. */
static bool skip(struct as_pmu_core *core, const struct as_pmu_sums *sums, const struct as_pmu_span *span)
{
    const struct as_pmu_request *request = &core->stream->request;
    struct as_pmu_tag *tag = &core->op;
    enum as_pmu_counted counts = request->counters[0].event->counts;
    if (request->n > 1 || (counts != AS_COUNTS_OPS && counts != AS_COUNTS_CYCLES))
        return false;
    if (is_waiting(tag, span->dispatch, span->commit)) {
        core->stream->counts[0].happened += counts == AS_COUNTS_OPS ? sums->uops : 0;
        return true;
    }
    if (counts == AS_COUNTS_CYCLES)
        return !sums->wrong && tag->interrupt_at == AS_PMU_NEVER && tag->group == AS_PMU_NEVER &&
               span->last_dispatch <= tag->due;
    if (!is_counting(tag, span->dispatch, sums->uops + sums->wrong))
        return false;
    count_ops(core, sums->uops);
    tag->count += sums->wrong;
    core->stream->counts[0].counted += sums->wrong;
    return true;
}

/* Most records do nothing but count. */
static void take_first(struct as_pmu_core *core, const struct as_pmu_op *op)
{
    const struct as_pmu_request *request = &core->stream->request;
    bool ops = request->n == 1 && request->counters[0].event->counts == AS_COUNTS_OPS;
    if (ops && !(op->pipe->flags & AS_PIPE_MISPREDICTED) &&
        is_counting(&core->op, as_pmu_dispatch(core, op), op->pipe->uops))
        count_ops(core, op->pipe->uops);
    else
        take_op(core, op);
}

const struct as_pmu_unit as_pmu_unit_ibs = {
    .needs_all = true, .open = open, .op = take_first, .finish = finish, .skip = skip};
