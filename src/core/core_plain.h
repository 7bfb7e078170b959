/* The way of the common instructions, inline: one micro-operation that goes to a unit or loads, and does nothing to those
 * behind it. Of its block it is known that no ring can hold it up: neither the fetch buffer nor the ROB, the physical
 * registers or the load queue. So it waits for its packet, the dispatch width, its issue queue and its operands alone. All
 * else goes the long way (as_core_execute), which gives the same times. Private to core*.c.
 */
#ifndef AS_CORE_CORE_PLAIN_H
#define AS_CORE_CORE_PLAIN_H

#include "core/core_back.h"
#include "core/memo.h"

/* Whether the `n`-th from now on finds what it waits for gone by `cycle`. They go in order, so that all before it do. */
static inline bool is_roomy(const struct ring *ring, uint64_t from, uint64_t n, uint64_t cycle)
{
    return n < ring->limit && gone_at(ring, from + n) <= cycle;
}

/* Whether no ring holds up any instruction of the body. Rows are looked at each time. */
static inline bool has_room_for(const struct as_core *core, const struct as_body *body)
{
    uint64_t cycle = core->last_dispatch;
    const struct ring *ints = &core->registers[AS_REGISTERS_INT], *fps = &core->registers[AS_REGISTERS_FP];
    return is_roomy(&core->buffer, core->n_insns, body->n, core->packet_cycle + core->depth) &&
           (core->has_rows ||
            (body->uops < core->rob && flight(core, core->n_uops + body->uops - core->rob)->committed <= cycle)) &&
           is_roomy(ints, core->n_writes[AS_REGISTERS_INT], body->int_writes, cycle) &&
           is_roomy(fps, core->n_writes[AS_REGISTERS_FP], body->fp_writes, cycle) &&
           is_roomy(&core->load_queue, core->n_loads, body->loads, cycle);
}

/* Fetch and dispatch, of an instruction of a body that there is room for. */
static inline __attribute__((always_inline)) uint64_t
enter_plainly(struct as_core *core, const struct as_recipe *recipe, uint16_t number, bool rows, struct as_pipe *pipe)
{
    if (core->packet_slots == 0 || recipe->block != core->packet_block || recipe->line != core->packet_line)
        as_core_open_packet(core, recipe, number, 0, pipe);
    core->packet_slots--;
    uint64_t fetch = core->packet_cycle, not_before = fetch + core->depth;
    pipe->fetch = fetch;
    struct turn turn = {.in_width = later(flight(core, core->n_uops - core->width)->dispatched, not_before)};
    if (rows)
        turn = next_turn_in_rows(core, not_before);
    uint64_t cycle = later(later(turn.room, core->hold_dispatch), later(turn.in_width, core->last_dispatch));
    cycle = as_occupancy_free_at(core->queues[recipe->micro->queue], cycle);
    if (rows)
        enter_row(core, cycle);
    core->last_dispatch = cycle;
    return cycle;
}

/* From issue to commit. `load` NULL: it loads nothing. */
static inline __attribute__((always_inline)) void pass_plainly(struct as_core *core, const struct as_recipe *recipe,
                                                               uint16_t number, bool rows, bool loads,
                                                               const struct as_core_access *load, struct as_pipe *pipe,
                                                               struct trouble *trouble)
{
    const struct as_micro *micro = recipe->micro;
    open_record(recipe, false, pipe);
    uint64_t dispatched = enter_plainly(core, recipe, number, rows, pipe);
    uint64_t ready = later(dispatched + core->dispatch_to_issue, operands_ready(core, micro));
    uint64_t issued = issue(core, micro, ready, pipe), done = issued + micro->latency;
    if (load)
        done = later(done, as_core_load(core, micro, load, done, pipe, trouble));
    write_registers(core, micro, done);
    as_occupancy_take(core->queues[micro->queue], dispatched, issued);
    uint64_t cycle = rows ? leave_row(core, done + 1) : leave(core, dispatched, done + 1);
    core->last_commit = cycle;
    leave_trail(core, micro, loads ? AS_MICRO_LOADS : 0, cycle);
    if (micro->registers)
        go(&core->registers[micro->registers], core->n_writes[micro->registers]++, cycle);
    if (loads)
        go(&core->load_queue, core->n_loads++, cycle);
    pipe->dispatch = dispatched;
    pipe->issue = issued;
    pipe->done = done;
    pipe->commit = cycle;
}

/* What as_core_execute does at its end. */
static inline __attribute__((always_inline)) void end_plainly(struct as_core *core, const struct as_insn *insn,
                                                              const struct as_recipe *recipe,
                                                              const struct as_pipe *pipe)
{
    go(&core->buffer, core->n_insns, pipe->dispatch);
    go(&core->targets, core->n_packets - 1, pipe->commit);
    if (recipe->traits & AS_RECIPE_FUSED) {
        core->previous_dispatch = pipe->dispatch;
        core->previous_issue = pipe->issue;
        core->previous_done = pipe->done;
        core->previous_commit = pipe->commit;
    }
    core->previous = insn;
    core->last_flags = pipe->flags & AS_STATE_FLAGS;
    core->n_insns++;
}

#endif
