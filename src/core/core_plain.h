/* The way of the common instructions, inline: one micro-operation that goes to a unit, loads, stores or transfers control, or a load
 * and a unit. Of most blocks it is known that no ring can hold up any of it: neither the fetch buffer nor the ROB, the physical
 * registers or the load queue (`roomy`). Then it waits for its packet, the dispatch width, its issue queue, its operands and what few
 * others need (an entry of the store queue, a branch tag) alone. All else goes the long way (as_core_execute), which gives the same
 * times. Private to core*.c.
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

/* The packet of an instruction. */
static inline __attribute__((always_inline)) void fetch_plainly(struct as_core *core, const struct as_recipe *recipe,
                                                                uint16_t number, bool roomy, struct as_pipe *pipe)
{
    uint64_t room = roomy ? 0 : gone_at(&core->buffer, core->n_insns);
    uint64_t not_before = room > core->depth ? room - core->depth : 0;
    open_record(recipe, false, pipe);
    if (core->packet_slots == 0 || recipe->block != core->packet_block || recipe->line != core->packet_line ||
        not_before > core->packet_cycle)
        as_core_open_packet(core, recipe, number, not_before, pipe);
    core->packet_slots--;
    pipe->fetch = core->packet_cycle;
}

/* What a micro-operation is for the compiler, which makes code of its own for each. */
enum plain_kind { PLAIN_UNIT, PLAIN_LOAD, PLAIN_STORE, PLAIN_BRANCH };

/* When the rings let a micro-operation dispatch, of a body that is not roomy. Rows are the caller's. */
static inline uint64_t room_for(const struct as_core *core, const struct as_micro *micro, enum plain_kind kind,
                                bool rows)
{
    uint64_t room = rows ? 0 : flight(core, core->n_uops - core->rob)->committed;
    if (micro->registers)
        room = later(room, gone_at(&core->registers[micro->registers], core->n_writes[micro->registers]));
    return kind == PLAIN_LOAD ? later(room, gone_at(&core->load_queue, core->n_loads)) : room;
}

static inline __attribute__((always_inline)) uint64_t dispatch_plainly(struct as_core *core,
                                                                       const struct as_micro *micro,
                                                                       enum plain_kind kind, bool rows, bool roomy,
                                                                       struct as_pipe *pipe)
{
    uint64_t not_before = pipe->fetch + core->depth;
    struct turn turn = {.in_width = later(flight(core, core->n_uops - core->width)->dispatched, not_before)};
    if (rows)
        turn = next_turn_in_rows(core, not_before);
    uint64_t in_turn = later(turn.in_width, core->last_dispatch);
    uint64_t cycle = later(later(turn.room, core->hold_dispatch), in_turn);
    if (!roomy)
        cycle = later(cycle, room_for(core, micro, kind, rows));
    if (kind == PLAIN_BRANCH)
        cycle = as_occupancy_free_at(core->branches, cycle);
    cycle = as_occupancy_free_at(core->queues[micro->queue], cycle);
    if (kind == PLAIN_STORE)
        cycle = as_core_wait_for_store_queue(core, cycle, in_turn, pipe);
    if (rows)
        enter_row(core, cycle);
    core->last_dispatch = cycle;
    return cycle;
}

static inline __attribute__((always_inline)) uint64_t commit_plainly(struct as_core *core, const struct as_micro *micro,
                                                                     enum plain_kind kind, bool rows,
                                                                     uint64_t dispatched, struct uop_times times)
{
    as_occupancy_take(core->queues[micro->queue], dispatched, times.issue);
    if (kind == PLAIN_BRANCH)
        as_occupancy_take(core->branches, dispatched, times.done);
    uint64_t cycle = rows ? leave_row(core, times.done + 1) : leave(core, dispatched, times.done + 1);
    core->last_commit = cycle;
    leave_trail(core, micro, kind == PLAIN_LOAD ? AS_MICRO_LOADS : 0, cycle);
    if (__builtin_expect(core->stays != NULL, 0))
        as_core_note_stays(core, micro, micro->traits, dispatched, times.issue, cycle);
    if (micro->registers)
        go(&core->registers[micro->registers], core->n_writes[micro->registers]++, cycle);
    if (kind == PLAIN_LOAD)
        go(&core->load_queue, core->n_loads++, cycle);
    return cycle;
}

/* An instruction of one micro-operation, behind its fetch. `access` is that of a load or a store. */
static inline __attribute__((always_inline)) void pass_plainly(struct as_core *core, const struct as_recipe *recipe,
                                                               enum plain_kind kind, bool rows, bool roomy,
                                                               const struct as_core_access *access,
                                                               struct as_pipe *pipe, struct trouble *trouble)
{
    const struct as_micro *micro = recipe->micro;
    uint64_t dispatched = dispatch_plainly(core, micro, kind, rows, roomy, pipe);
    uint64_t ready = later(dispatched + core->dispatch_to_issue, operands_ready(core, micro));
    struct uop_times times = {.issue = issue(core, micro, ready, pipe)};
    times.done = times.issue + micro->latency;
    if (kind == PLAIN_LOAD)
        times.done = later(times.done, as_core_load(core, micro, access, times.done, pipe, trouble));
    if (kind == PLAIN_STORE)
        times.done = as_core_store(core, micro, access, dispatched, times.issue, pipe, trouble);
    write_registers(core, micro, times.done);
    pipe->dispatch = dispatched;
    pipe->issue = times.issue;
    pipe->done = times.done;
    pipe->commit = commit_plainly(core, micro, kind, rows, dispatched, times);
}

/* A load, and a unit that may wait for it. Registers become ready when both have read theirs. */
static inline __attribute__((always_inline)) void pass_load_unit(struct as_core *core, const struct as_recipe *recipe,
                                                                 bool rows, bool roomy,
                                                                 const struct as_core_access *load,
                                                                 struct as_pipe *pipe, struct trouble *trouble)
{
    const struct as_micro *micro = recipe->micro;
    uint64_t dispatched = dispatch_plainly(core, micro, PLAIN_LOAD, rows, roomy, pipe);
    uint64_t ready = later(dispatched + core->dispatch_to_issue, operands_ready(core, micro));
    struct uop_times first = {.issue = issue(core, micro, ready, pipe)};
    first.done = first.issue + micro->latency;
    first.done = later(first.done, as_core_load(core, micro, load, first.done, pipe, trouble));
    commit_plainly(core, micro, PLAIN_LOAD, rows, dispatched, first);
    pipe->dispatch = dispatched;
    dispatched = dispatch_plainly(core, micro + 1, PLAIN_UNIT, rows, roomy, pipe);
    ready = later(dispatched + core->dispatch_to_issue, operands_ready(core, micro + 1));
    ready = later(ready, micro[1].after ? first.done : 0);
    struct uop_times second = {.issue = issue(core, micro + 1, ready, pipe)};
    second.done = second.issue + micro[1].latency;
    pipe->commit = commit_plainly(core, micro + 1, PLAIN_UNIT, rows, dispatched, second);
    write_registers(core, micro, first.done);
    write_registers(core, micro + 1, second.done);
    pipe->issue = first.issue < second.issue ? first.issue : second.issue;
    pipe->done = later(first.done, second.done);
}

/* as_core_predict, of a transfer that was foreseen, and was not predicted wrong. Returns false for others. */
static inline bool go_as_foreseen(struct as_core *core, struct as_pipe *pipe)
{
    if (core->script || !core->foreseen || *core->foreseen & (AS_PREDICT_NONE | AS_PREDICT_WRONG))
        return false;
    uint32_t bits = *core->foreseen++;
    core->counters.branches++;
    if (!(bits & AS_PREDICT_TAKEN))
        return true;
    const struct as_machine *machine = core->machine;
    pipe->flags |= AS_PIPE_TAKEN;
    core->counters.btb_misses += (bits & AS_PREDICT_BTB_MISS) != 0;
    core->fetch_next = pipe->fetch + 1 + (bits & AS_PREDICT_FAST ? 0 : machine->front.taken_bubble) +
                       (bits & AS_PREDICT_BTB_MISS ? machine->front.btb_miss_bubble : 0);
    core->packet_slots = 0;
    return true;
}

/* What as_core_execute does at its end, but for as_core.previous: only the first instruction of a body asks for it. */
static inline __attribute__((always_inline)) void end_plainly(struct as_core *core, const struct as_recipe *recipe,
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
    core->last_flags = pipe->flags & AS_STATE_FLAGS;
    core->n_insns++;
}

#endif
