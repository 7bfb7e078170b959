/* The back end for the less common cases: instructions of several micro-operations, units that are not pipelined, more
 * registers than a recipe holds. See core_back.h.
 *
 * Not modelled: partial-register stalls, SMT.
 */
#include "core/core_back.h"

/* Whether the entry that the next store takes was in use until another core's line came. */
static bool freed_by_move(const struct as_core *core)
{
    return core->store_moved[(core->n_stores - core->store_queue.limit) & core->store_queue.mask] != 0;
}

uint64_t as_core_wait_for_store_queue(struct as_core *core, uint64_t cycle, uint64_t in_turn, struct as_pipe *pipe)
{
    if (core->ideal & AS_EVENT_DR_SQ)
        return cycle;
    if (core->n_stores >= core->store_queue.limit)
        drain_first(core, core->n_stores - core->store_queue.limit + 1);
    uint64_t room = gone_at(&core->store_queue, core->n_stores);
    if (room > in_turn) /* it was next and the queue was full, whatever else may have been full as well */
        pipe->events |= AS_EVENT_DR_SQ | (freed_by_move(core) ? AS_EVENT_COHERENCE : 0);
    return later(cycle, room);
}

uint64_t as_core_wide_operands(const struct as_core *core, const struct as_insn *insn, uint8_t mask)
{
    uint64_t ready = 0;
    for (; mask; mask &= (uint8_t)(mask - 1))
        ready = later(ready, core->ready[insn->reads[__builtin_ctz(mask)]]);
    return ready;
}

void as_core_write_wide(struct as_core *core, const struct as_insn *insn, uint8_t mask, uint64_t cycle)
{
    for (; mask; mask &= (uint8_t)(mask - 1))
        core->ready[insn->writes[__builtin_ctz(mask)]] = cycle;
}

uint64_t as_core_issue_long(struct as_core *core, const struct as_micro *micro, uint64_t cycle, struct as_pipe *pipe)
{
    uint64_t *free_at = core->unit_free[micro->unit];
    uint32_t best = 0;
    for (uint32_t i = 1; i < core->machine->units[micro->unit].count; i++)
        if (free_at[i] < free_at[best])
            best = i;
    if (!(core->ideal & AS_EVENT_DIVIDE)) {
        pipe->events |= AS_EVENT_DIVIDE;
        cycle = later(cycle, free_at[best]);
    }
    cycle = as_calendar_take_first(core->queue_calendar[micro->queue], cycle);
    free_at[best] = cycle + micro->interval;
    return cycle;
}

void as_core_note_stays(struct as_core *core, const struct as_micro *micro, uint32_t traits, uint64_t dispatched,
                        uint64_t issued, uint64_t committed)
{
    static const enum as_resource queues[AS_QUEUE_COUNT] = {[AS_QUEUE_INT] = AS_RESOURCE_QUEUE_INT,
                                                            [AS_QUEUE_MEM] = AS_RESOURCE_QUEUE_MEM,
                                                            [AS_QUEUE_FP] = AS_RESOURCE_QUEUE_FP};
    struct as_stay *first = as_stay_log_room(core->stays, 3), *to = first;
    to += as_stay_set(to, AS_RESOURCE_ROB, dispatched, committed + 1);
    if (traits & AS_MICRO_QUEUED)
        to += as_stay_set(to, queues[micro->queue], dispatched, issued + 1);
    if (traits & AS_MICRO_LOADS)
        to += as_stay_set(to, AS_RESOURCE_LOAD_QUEUE, dispatched, committed + 1);
    core->stays->stays.len += (size_t)(to - first);
}

static inline struct uop_times run(struct passage *p, const struct as_micro *micro, uint64_t ready)
{
    switch ((enum as_micro_kind)micro->kind) {
    case AS_MICRO_UNIT:
        ready = issue(p->core, micro, ready, p->pipe);
        return (struct uop_times){.issue = ready, .done = ready + micro->latency};
    case AS_MICRO_LOAD:
        return as_core_run_load(p, micro, ready);
    case AS_MICRO_STORE:
        return as_core_run_store(p, micro, ready);
    case AS_MICRO_ATOMIC:
        return as_core_run_atomic(p, micro, ready);
    case AS_MICRO_CACHE:
        return as_core_run_cache_operation(p, micro, ready);
    case AS_MICRO_FENCE:
        return as_core_run_fence(p, ready);
    default:
        return (struct uop_times){.issue = p->dispatched, .done = p->dispatched};
    }
}

/* The uop's masks, for one that has more registers than its recipe. */
static const struct as_uop *uop_of(const struct passage *p, const struct as_micro *micro)
{
    return &p->op->insn->uops[micro - p->recipe->micro];
}

/* What it needs from micro-operations before it is there at `ready`. Its registers are for the caller to write. */
static inline struct uop_times pass_micro(struct passage *p, const struct as_micro *micro, uint64_t ready)
{
    struct as_core *core = p->core;
    p->dispatched = dispatch(core, micro, micro->traits, p->pipe->fetch + core->depth, p->pipe);
    ready = later(ready, later(p->dispatched + core->dispatch_to_issue, operands_ready(core, micro)));
    if (micro->traits & AS_MICRO_WIDE)
        ready = later(ready, as_core_wide_operands(core, p->op->insn, uop_of(p, micro)->reads));
    struct uop_times times = run(p, micro, ready);
    p->pipe->commit = commit(core, micro, micro->traits, p->dispatched, times);
    return times;
}

/* Registers become ready when all micro-operations have read theirs. */
static void write_all(struct passage *p, const uint64_t *done)
{
    const struct as_micro *micro = p->recipe->micro;
    for (uint8_t i = 0; i < p->recipe->n; i++) {
        write_registers(p->core, &micro[i], done[i]);
        if (micro[i].traits & AS_MICRO_WIDE)
            as_core_write_wide(p->core, p->op->insn, uop_of(p, &micro[i])->writes, done[i]);
    }
}

void as_core_pass(struct passage *p)
{
    const struct as_micro *micro = p->recipe->micro;
    uint64_t done[AS_INSN_MAX_UOPS];
    uint64_t first = UINT64_MAX, last = 0;
    for (uint8_t i = 0; i < p->recipe->n; i++) {
        uint64_t ready = 0;
        for (uint8_t after = micro[i].after; after; after &= (uint8_t)(after - 1))
            ready = later(ready, done[__builtin_ctz(after)]);
        struct uop_times times = pass_micro(p, &micro[i], ready);
        if (i == 0)
            p->pipe->dispatch = p->dispatched;
        done[i] = times.done;
        first = times.issue < first ? times.issue : first;
        last = later(last, times.done);
    }
    write_all(p, done);
    p->pipe->issue = first;
    p->pipe->done = last;
}
