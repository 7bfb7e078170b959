/* A micro-operation from dispatch to commit, as far as it is the same for all of them: inline, since it runs for each.
 *
 *   dispatch  in order; dispatch width; ROB entry or row; physical register; issue-queue entry; load or store queue
 *             entry; branch tag; serialising instructions wait for the ROB to drain and hold what follows
 *   issue     issue width of the queue; a unit
 *   commit    in order; commit width; one row of the ROB a cycle
 *
 * Rows (back.rob_rows) are BOOM's: what the decoders took together is a group with a row of the ROB for itself, each
 * micro-operation in the lane that it had in the fetch buffer, whose rows are refilled from the first lane after a
 * redirect. Part of a group may dispatch and the rest later, into the same row; the next group waits for it. Decoders
 * and dispatch are one stage here: a group is what has come when its first one dispatches.
 */
#ifndef AS_CORE_CORE_BACK_H
#define AS_CORE_CORE_BACK_H

#include "core/core_internal.h"

uint64_t as_core_wait_for_store_queue(struct as_core *core, uint64_t cycle, uint64_t in_turn, struct as_pipe *pipe);
uint64_t as_core_issue_long(struct as_core *core, const struct as_micro *micro, uint64_t cycle, struct as_pipe *pipe);
uint64_t as_core_wide_operands(const struct as_core *core, const struct as_insn *insn, uint8_t mask);
void as_core_write_wide(struct as_core *core, const struct as_insn *insn, uint8_t mask, uint64_t cycle);

/* All of a record but the times, path and thread. */
static inline void open_record(const struct as_recipe *recipe, bool continues, struct as_pipe *pipe)
{
    pipe->insn = recipe->insn;
    pipe->events = 0;
    pipe->exception = 0;
    pipe->wrong_path = 0;
    pipe->flags = continues ? AS_PIPE_CONTINUES : 0;
    pipe->uops = recipe->n;
    pipe->wrong_delay = 0;
}

static inline struct flight *flight(const struct as_core *core, uint64_t n)
{
    return &core->flights[n & core->flights_mask];
}

/* Since when the width and the ROB let a micro-operation dispatch. */
struct turn {
    uint64_t in_width, room;
};

static inline struct turn next_turn(const struct as_core *core, uint64_t not_before)
{
    return (struct turn){.in_width = later(flight(core, core->n_uops - core->width)->dispatched, not_before),
                         .room = flight(core, core->n_uops - core->rob)->committed};
}

/* Without branches: no host foresees who opens a row. */
static inline struct turn next_turn_in_rows(struct as_core *core, uint64_t not_before)
{
    uint64_t opens = (core->lane == 0) | (not_before > core->row_dispatched);
    core->opens_row = opens;
    return (struct turn){.in_width = later(core->last_dispatch + opens, not_before),
                         .room = gone_at(&core->rows, core->n_rows) & -opens};
}

static inline void enter_row(struct as_core *core, uint64_t cycle)
{
    uint64_t lane = core->lane + 1, opens = core->opens_row;
    core->lane = lane == core->width ? 0 : lane;
    core->row_dispatched = opens ? cycle : core->row_dispatched;
    core->n_rows += opens;
}

/* The cycle in which a micro-operation with these traits enters the ROB. The constraints that do not depend on the one
 * before are joined first: the time of the one before is what this waits for. */
static inline __attribute__((always_inline)) uint64_t
dispatch(struct as_core *core, const struct as_micro *micro, uint32_t traits, uint64_t not_before, struct as_pipe *pipe)
{
    struct turn turn = core->has_rows ? next_turn_in_rows(core, not_before) : next_turn(core, not_before);
    uint64_t room = later(turn.room, core->hold_dispatch);
    if (micro->registers)
        room = later(room, gone_at(&core->registers[micro->registers], core->n_writes[micro->registers]));
    if (traits & AS_MICRO_LOADS)
        room = later(room, gone_at(&core->load_queue, core->n_loads));
    uint64_t cycle = later(later(room, turn.in_width), core->last_dispatch);
    if (traits & AS_MICRO_SERIALISES)
        cycle = later(cycle, core->last_commit + 1);
    if (traits & AS_MICRO_BRANCH)
        cycle = as_occupancy_free_at(core->branches, cycle);
    if (traits & AS_MICRO_QUEUED)
        cycle = as_occupancy_free_at(core->queues[micro->queue], cycle);
    if (traits & AS_MICRO_STORES)
        cycle = as_core_wait_for_store_queue(core, cycle, later(turn.in_width, core->last_dispatch), pipe);
    if (core->has_rows)
        enter_row(core, cycle);
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

/* The first cycle from `cycle` in which the next micro-operation can leave the ROB. */
static inline uint64_t leave(struct as_core *core, uint64_t dispatched, uint64_t cycle)
{
    uint64_t n = core->n_uops++;
    cycle = later(cycle, later(flight(core, n - core->commit_width)->committed, core->last_commit));
    *flight(core, n) = (struct flight){.dispatched = dispatched + 1, .committed = cycle + 1};
    return cycle;
}

/* … where it has a row, which it leaves with it. Only a width below the row's is one to look at. */
static inline uint64_t leave_row(struct as_core *core, uint64_t cycle)
{
    uint64_t n = core->n_uops++;
    cycle = later(cycle, core->last_commit + core->opens_row);
    if (core->commit_width < core->width)
        cycle = later(cycle, flight(core, n - core->commit_width)->committed);
    flight(core, n)->committed = cycle + 1;
    go(&core->rows, core->n_rows - 1, cycle);
    return cycle;
}

/* The bits of a trail's word that say what is freed lie as in a micro-operation. */
enum { TRAIL_FILE_SHIFT = 12, TRAIL_LOAD_SHIFT = 13 };
_Static_assert(AS_REGISTERS_INT << TRAIL_FILE_SHIFT == TRAIL_INT && AS_REGISTERS_FP << TRAIL_FILE_SHIFT == TRAIL_FP,
               "");
_Static_assert(AS_MICRO_LOADS << TRAIL_LOAD_SHIFT == TRAIL_LOAD, "");

/* For the memo: the micro-operation has committed. */
static inline void leave_trail(struct as_core *core, const struct as_micro *micro, uint32_t traits, uint64_t cycle)
{
    uint64_t n = core->n_uops - 1, cycles = cycle - core->trail_commit;
    if (__builtin_expect(cycles >= TRAIL_CYCLES, 0)) {
        cycles = TRAIL_CYCLES;
        core->trail_break = n;
    }
    core->trail_commit = cycle;
    core->trail[n & core->flights_mask] =
        (uint16_t)(cycles | (uint32_t)micro->registers << TRAIL_FILE_SHIFT |
                   (traits & AS_MICRO_LOADS) << TRAIL_LOAD_SHIFT | (core->opens_row ? TRAIL_ROW : 0));
}

/* The micro-operation, dispatched and issued, is done: what it frees, and when it commits. */
static inline __attribute__((always_inline)) uint64_t
commit(struct as_core *core, const struct as_micro *micro, uint32_t traits, uint64_t dispatched, struct uop_times times)
{
    if (traits & AS_MICRO_QUEUED)
        as_occupancy_take(core->queues[micro->queue], dispatched, times.issue);
    if (traits & AS_MICRO_BRANCH)
        as_occupancy_take(core->branches, dispatched, times.done);
    uint64_t cycle = core->has_rows ? leave_row(core, times.done + 1) : leave(core, dispatched, times.done + 1);
    core->last_commit = cycle;
    leave_trail(core, micro, traits, cycle);
    if (__builtin_expect(core->stays != NULL, 0))
        as_core_note_stays(core, micro, traits, dispatched, times.issue, cycle);
    if (micro->registers)
        go(&core->registers[micro->registers], core->n_writes[micro->registers]++, cycle);
    if (traits & AS_MICRO_LOADS)
        go(&core->load_queue, core->n_loads++, cycle);
    return cycle;
}

/* A branch that fused with the compare before it has no micro-operation of its own. */
static inline bool fuse(const struct as_core *core, const struct as_insn *insn, const struct as_recipe *recipe,
                        struct as_pipe *pipe)
{
    if (pipe->fetch + core->depth > core->previous_dispatch) /* it came too late to decode with it */
        return false;
    if (!(recipe->traits & AS_RECIPE_PAIRED) && !(core->previous && as_insn_fuses(core->previous, insn)))
        return false;
    pipe->dispatch = core->previous_dispatch;
    pipe->issue = core->previous_issue;
    pipe->done = core->previous_done;
    pipe->commit = core->previous_commit;
    pipe->uops = 0;
    return true;
}

#endif
