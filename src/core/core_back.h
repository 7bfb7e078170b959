/* A micro-operation from dispatch to commit, as far as it is the same for all of them: inline, since it runs for each.
 *
 *   dispatch  in order; dispatch width; ROB entry; physical register; issue-queue entry; load or store queue entry;
 * branch tag; serialising instructions wait for the ROB to drain and hold what follows issue     issue width of the
 * queue; a unit commit    in order; commit width
 */
#ifndef AS_CORE_CORE_BACK_H
#define AS_CORE_CORE_BACK_H

#include "core/core_internal.h"

uint64_t as_core_wait_for_store_queue(struct as_core *core, uint64_t cycle, uint64_t in_turn, struct as_pipe *pipe);
uint64_t as_core_issue_long(struct as_core *core, const struct as_micro *micro, uint64_t cycle, struct as_pipe *pipe);
uint64_t as_core_wide_operands(const struct as_core *core, const struct as_insn *insn, uint8_t mask);
void as_core_write_wide(struct as_core *core, const struct as_insn *insn, uint8_t mask, uint64_t cycle);

static inline struct flight *flight(const struct as_core *core, uint64_t n)
{
    return &core->flights[n & core->flights_mask];
}

/* The cycle in which a micro-operation with these traits enters the ROB. The constraints that do not depend on the one
 * before are joined first: the time of the one before is what this waits for. */
static inline uint64_t dispatch(struct as_core *core, const struct as_micro *micro, uint32_t traits,
                                uint64_t not_before, struct as_pipe *pipe)
{
    uint64_t in_width = later(flight(core, core->n_uops - core->width)->dispatched, not_before);
    uint64_t room = later(flight(core, core->n_uops - core->rob)->committed, core->hold_dispatch);
    if (micro->registers)
        room = later(room, gone_at(&core->registers[micro->registers], core->n_writes[micro->registers]));
    if (traits & AS_MICRO_LOADS)
        room = later(room, gone_at(&core->load_queue, core->n_loads));
    uint64_t cycle = later(later(room, in_width), core->last_dispatch);
    if (traits & AS_MICRO_SERIALISES)
        cycle = later(cycle, core->last_commit + 1);
    if (traits & AS_MICRO_BRANCH)
        cycle = as_occupancy_free_at(core->branches, cycle);
    if (traits & AS_MICRO_QUEUED)
        cycle = as_occupancy_free_at(core->queues[micro->queue], cycle);
    if (traits & AS_MICRO_STORES)
        cycle = as_core_wait_for_store_queue(core, cycle, later(in_width, core->last_dispatch), pipe);
    core->last_dispatch = cycle;
    return cycle;
}

static inline uint64_t operands_ready(const struct as_core *core, const struct as_micro *micro)
{
    const uint64_t *ready = core->ready;
    return later(later(ready[micro->reads[0]], ready[micro->reads[1]]), ready[micro->reads[2]]);
}

static inline void write_registers(struct as_core *core, const struct as_micro *micro, uint64_t cycle)
{
    for (int i = 0; i < AS_MICRO_WRITES; i++)
        core->ready[micro->writes[i]] = cycle;
}

/* The first cycle from `cycle` in which the queue can issue and a unit is free; takes both. */
static inline uint64_t issue(struct as_core *core, const struct as_micro *micro, uint64_t cycle, struct as_pipe *pipe)
{
    struct as_calendar *queue = core->queue_calendar[micro->queue];
    if (!(micro->traits & (AS_MICRO_TIGHT | AS_MICRO_LONG)))
        return as_calendar_take_first(queue, cycle);
    if (micro->traits & AS_MICRO_LONG)
        return as_core_issue_long(core, micro, cycle, pipe);
    return as_calendar_take_both(queue, core->unit_calendar[micro->unit], cycle);
}

/* The micro-operation, dispatched and issued, is done: what it frees, and when it commits. */
static inline uint64_t commit(struct as_core *core, const struct as_micro *micro, uint32_t traits, uint64_t dispatched,
                              struct uop_times times)
{
    if (traits & AS_MICRO_QUEUED)
        as_occupancy_take(core->queues[micro->queue], dispatched, times.issue);
    if (traits & AS_MICRO_BRANCH)
        as_occupancy_take(core->branches, dispatched, times.done);
    uint64_t n = core->n_uops++, room = flight(core, n - core->commit_width)->committed;
    uint64_t cycle = later(later(times.done + 1, room), core->last_commit);
    core->last_commit = cycle;
    *flight(core, n) = (struct flight){.dispatched = dispatched + 1, .committed = cycle + 1};
    if (micro->registers)
        go(&core->registers[micro->registers], core->n_writes[micro->registers]++, cycle);
    if (traits & AS_MICRO_LOADS)
        go(&core->load_queue, core->n_loads++, cycle);
    return cycle;
}

#endif
