/* The back end: a micro-operation from dispatch to commit.
 *
 *   dispatch  in order; dispatch width; ROB entry; physical register; issue-queue entry; load or store queue entry;
 * branch tag; serialising instructions wait for the ROB to drain and hold what follows issue     operands; issue width
 * of the queue; a unit done      unit latency, or what core_memory_order.c says commit    in order; commit width
 *
 * Not modelled: partial-register stalls, SMT. */
#include "core/core_internal.h"

struct needs {
    bool load, store, branch, int_write, fp_write, serialise;
    enum as_queue_kind queue;
    bool queued; /* needs an issue-queue entry */
};

/* The cycle in which a micro-operation enters the ROB. The constraints that do not depend on the one before are joined
 * first: the time of the one before is what this waits for. */
static uint64_t dispatch(struct as_core *core, const struct needs *needs, uint64_t not_before, struct as_pipe *pipe)
{
    uint64_t room = later(gone_at(&core->width, core->n_uops), gone_at(&core->rob, core->n_uops));
    if (needs->int_write)
        room = later(room, gone_at(&core->int_regs, core->n_int_writes));
    if (needs->fp_write)
        room = later(room, gone_at(&core->fp_regs, core->n_fp_writes));
    if (needs->load)
        room = later(room, gone_at(&core->load_queue, core->n_loads));
    uint64_t cycle = later(later(room, not_before), later(core->last_dispatch, core->hold_dispatch));
    if (needs->serialise)
        cycle = later(cycle, core->last_commit + 1);
    if (needs->branch)
        cycle = as_occupancy_free_at(core->branches, cycle);
    if (needs->queued)
        cycle = as_occupancy_free_at(core->queues[needs->queue], cycle);
    if (needs->store && !(core->ideal & AS_EVENT_DR_SQ)) {
        if (core->n_stores >= core->store_queue.limit)
            drain_first(core, core->n_stores - core->store_queue.limit + 1);
        uint64_t room_for_store = gone_at(&core->store_queue, core->n_stores);
        /* It was next and the queue was full, whatever else may have been full as well. */
        if (room_for_store > later(later(not_before, core->last_dispatch), gone_at(&core->width, core->n_uops)))
            pipe->events |= AS_EVENT_DR_SQ;
        cycle = later(cycle, room_for_store);
    }
    core->last_dispatch = cycle;
    ring_set(&core->width, core->n_uops, cycle);
    return cycle;
}

static uint64_t operands_ready(const struct as_core *core, const struct as_insn *insn, uint8_t mask)
{
    uint64_t ready = 0;
    for (; mask; mask &= (uint8_t)(mask - 1))
        ready = later(ready, core->ready[insn->reads[__builtin_ctz(mask)]]);
    return ready;
}

static bool writes_fp(const struct as_insn *insn)
{
    return insn->n_writes && insn->writes[0] >= AS_REG_VEC0 && insn->writes[0] < AS_REG_VEC0 + 32;
}

static bool writes_int(const struct as_insn *insn)
{
    return insn->n_writes && insn->writes[0] < AS_REG_INT0 + 32;
}

static struct uop_times run_uop(struct passage *p, const struct as_uop *uop, uint64_t ready)
{
    struct as_core *core = p->core;
    enum as_class class_ = (enum as_class)uop->class_;
    switch (class_) {
    case AS_CLASS_LOAD:
        return as_core_run_load(p, uop, ready);
    case AS_CLASS_STORE:
        return as_core_run_store(p, uop, ready);
    case AS_CLASS_ATOMIC:
        return as_core_run_atomic(p, ready);
    case AS_CLASS_CACHE:
        return as_core_run_cache_operation(p, ready);
    case AS_CLASS_FENCE:
        return as_core_run_fence(p, ready);
    case AS_CLASS_NOP:
        return (struct uop_times){.issue = p->dispatched, .done = p->dispatched};
    default:
        break;
    }
    struct uop_times times = {.issue = issue(core, class_, ready, p->pipe)};
    times.done = times.issue + core->classes[class_].latency;
    return times;
}

static inline struct needs needs_of(const struct as_core *core, const struct as_insn *insn, const struct as_uop *uop,
                                    bool first, bool last)
{
    enum as_class class_ = (enum as_class)uop->class_;
    return (struct needs){
        .load = class_ == AS_CLASS_LOAD || class_ == AS_CLASS_ATOMIC,
        .store = class_ == AS_CLASS_STORE || class_ == AS_CLASS_ATOMIC,
        .branch = last && as_insn_is_control(insn),
        .int_write = last && writes_int(insn),
        .fp_write = last && writes_fp(insn),
        .serialise = first && insn->flags & AS_INSN_SERIALISES,
        .queue = (enum as_queue_kind)core->classes[class_].queue,
        .queued = class_ != AS_CLASS_NOP && class_ != AS_CLASS_FENCE,
    };
}

static uint64_t commit_uop(struct as_core *core, uint64_t done)
{
    uint64_t cycle = later(done + 1, core->last_commit);
    cycle = room_at(&core->commit_width, core->n_uops, cycle);
    core->last_commit = cycle;
    ring_set(&core->commit_width, core->n_uops, cycle);
    ring_set(&core->rob, core->n_uops, cycle);
    return cycle;
}

static const struct as_uop plain_uop = {.class_ = AS_CLASS_INT, .mem = AS_UOP_NO_MEM};

/* One micro-operation from dispatch to commit. */
static struct uop_times pass_uop(struct passage *p, uint8_t index, uint8_t n, const uint64_t *uop_done)
{
    struct as_core *core = p->core;
    struct attempt *attempt = p->attempt;
    const struct as_insn *insn = p->op->insn;
    const struct as_uop *uop = insn->n_uops ? &insn->uops[index] : &plain_uop;
    struct needs needs = needs_of(core, insn, uop, index == 0, index == n - 1);
    p->dispatched = dispatch(core, &needs, p->pipe->fetch + core->machine->front.depth, p->pipe);
    uint64_t ready =
        later(p->dispatched + core->machine->back.dispatch_to_issue, operands_ready(core, insn, uop->reads));
    for (uint8_t after = uop->after; after; after &= (uint8_t)(after - 1))
        ready = later(ready, uop_done[__builtin_ctz(after)]);
    struct uop_times times = run_uop(p, uop, ready);
    if (needs.queued)
        as_occupancy_take(core->queues[needs.queue], p->dispatched, times.issue);
    attempt->commit = commit_uop(core, times.done);
    if (needs.int_write)
        ring_set(&core->int_regs, core->n_int_writes++, attempt->commit);
    if (needs.fp_write)
        ring_set(&core->fp_regs, core->n_fp_writes++, attempt->commit);
    if (needs.load)
        ring_set(&core->load_queue, core->n_loads++, attempt->commit);
    if (needs.branch)
        as_occupancy_take(core->branches, p->dispatched, times.done);
    core->n_uops++;
    return times;
}

static void write_registers(struct as_core *core, const struct as_insn *insn, uint8_t mask, uint64_t cycle)
{
    for (; mask; mask &= (uint8_t)(mask - 1))
        core->ready[insn->writes[__builtin_ctz(mask)]] = cycle;
}

/* One pass of an instruction through the pipeline. Its registers become ready when all its micro-operations have read
 * theirs. */
void as_core_pass(struct as_core *core, const struct as_op *op, struct as_pipe *pipe, struct attempt *attempt)
{
    const struct as_insn *insn = op->insn;
    struct passage p = {.core = core, .op = op, .pipe = pipe, .attempt = attempt};
    uint8_t n = insn->n_uops ? insn->n_uops : 1;
    uint64_t uop_done[AS_INSN_MAX_UOPS] = {0};
    struct uop_times times = pass_uop(&p, 0, n, uop_done);
    uint64_t first = times.issue, last = times.done;
    attempt->dispatch = p.dispatched;
    uop_done[0] = times.done;
    for (uint8_t i = 1; i < n; i++) {
        times = pass_uop(&p, i, n, uop_done);
        uop_done[i] = times.done;
        first = times.issue < first ? times.issue : first;
        last = later(last, times.done);
    }
    for (uint8_t i = 0; i < insn->n_uops; i++)
        write_registers(core, insn, insn->uops[i].writes, uop_done[i]);
    attempt->issue = first;
    attempt->done = last;
}
