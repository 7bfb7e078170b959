/* The pipeline, one instruction after the other. See core.h; core_internal.h names the parts and what each is for.
 *
 * Constraints, in the order in which an instruction meets them:
 *   fetch     the packet: width, aligned block, taken branches, redirects; instruction cache and TLB; room in the fetch
 *             buffer; a fetch target queue entry
 *   dispatch  front-end depth; in order; dispatch width; ROB entry; physical register; issue-queue entry; load or store
 *             queue entry; branch tag; serialising instructions wait for the ROB to drain and hold what follows
 *   issue     operands; issue width of the queue; a unit; atomics wait to be the oldest with all stores drained
 *   done      unit latency, or the memory's answer; store-to-load forwarding; memory-order speculation
 *   commit    in order; commit width; flushes and mispredictions then say when fetch goes on
 *   drain     committed stores leave the store queue in order
 */
#include "core/core_internal.h"

#include "base/alloc.h"

static struct ring ring_new(uint32_t limit)
{
    uint64_t size = 1;
    while (size < limit + 1)
        size *= 2;
    return (struct ring){.cycles = as_alloc_array(size, sizeof(uint64_t)), .mask = size - 1, .limit = limit};
}

struct as_core *as_core_new(const struct as_machine *machine, struct as_uncore *uncore, uint32_t number,
                            as_code_at *code_at, void *code_context)
{
    struct as_core *core = as_alloc(sizeof *core);
    core->machine = machine;
    core->predictor = as_predictor_new(machine);
    core->memory = as_memory_new(machine, uncore, number);
    core->code_at = code_at;
    core->code_context = code_context;
    core->fetch_next = 1;
    core->line_shift = (uint32_t)__builtin_ctz(machine->memory.line);
    core->block_shift = (uint32_t)__builtin_ctz(machine->front.fetch_bytes);
    core->page_shift = (uint32_t)__builtin_ctz(machine->memory.page);
    core->packet_block = core->packet_line = UINT64_MAX;
    core->buffer = ring_new(machine->front.fetch_buffer);
    core->targets = ring_new(machine->front.fetch_targets);
    core->width = ring_new(machine->back.width);
    core->rob = ring_new(machine->back.rob);
    core->int_regs = ring_new(machine->back.int_registers - ARCH_REGISTERS);
    core->fp_regs = ring_new(machine->back.fp_registers - ARCH_REGISTERS);
    core->load_queue = ring_new(machine->back.load_queue);
    core->store_queue = ring_new(machine->back.store_queue);
    core->pending_mask = core->store_queue.mask;
    core->pending = as_alloc_array(core->pending_mask + 1, sizeof *core->pending);
    core->next_drain = UINT64_MAX;
    core->branches = as_alloc(sizeof *core->branches);
    core->branches->size = machine->front.max_branches;
    core->commit_width = ring_new(machine->back.commit_width);
    for (int i = 0; i < AS_QUEUE_COUNT; i++) {
        core->queues[i] = as_alloc(sizeof *core->queues[i]);
        core->queues[i]->size = machine->back.queue_size[i];
        core->queue_calendar[i] = as_alloc(sizeof *core->queue_calendar[i]);
        core->queue_calendar[i]->width = machine->back.queue_width[i];
    }
    for (int i = 0; i < AS_CLASS_COUNT; i++) {
        enum as_unit unit = as_machine_unit((enum as_class)i);
        core->classes[i] = (struct class_info){.unit = (uint8_t)unit,
                                               .queue = (uint8_t)as_machine_queue(unit),
                                               .latency = as_machine_latency(machine, (enum as_class)i),
                                               .interval = as_machine_interval(machine, (enum as_class)i)};
    }
    for (int i = 0; i < AS_UNIT_COUNT; i++) {
        core->unit_calendar[i] = as_alloc(sizeof *core->unit_calendar[i]);
        core->unit_calendar[i]->width = machine->units[i].count;
    }
    return core;
}

void as_core_set_process(struct as_core *core, uint32_t process)
{
    as_memory_set_process(core->memory, process);
}

void as_core_free(struct as_core *core)
{
    if (!core)
        return;
    struct ring *rings[] = {&core->buffer,  &core->targets,    &core->width,       &core->rob,         &core->int_regs,
                            &core->fp_regs, &core->load_queue, &core->store_queue, &core->commit_width};
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++)
        free(rings[i]->cycles);
    for (int i = 0; i < AS_QUEUE_COUNT; i++) {
        free(core->queues[i]);
        free(core->queue_calendar[i]);
    }
    for (int i = 0; i < AS_UNIT_COUNT; i++)
        free(core->unit_calendar[i]);
    free(core->branches);
    free(core->pending);
    as_predictor_free(core->predictor);
    as_memory_free(core->memory);
    free(core);
}

static bool flushes(const struct as_core *core, const struct as_insn *insn)
{
    if (core->ideal & AS_EVENT_FL_EX)
        return false;
    return insn->class_ == AS_CLASS_SYSTEM || (insn->flags & AS_INSN_FLUSHES && core->machine->back.flag_flush);
}

/* A branch that fused with the compare before it has no micro-operation of its own. */
static bool fuse(struct as_core *core, const struct as_op *op, struct as_pipe *pipe)
{
    if (!core->machine->back.fuse || !core->previous || op->insn->class_ != AS_CLASS_BRANCH ||
        !(core->previous->flags & AS_INSN_FUSE_FIRST) ||
        core->previous->address + core->previous->length != op->insn->address ||
        pipe->fetch + core->machine->front.depth > core->previous_dispatch || /* it came too late to decode with it */
        !as_insn_fuses(core->previous, op->insn))
        return false;
    pipe->dispatch = core->previous_dispatch;
    pipe->issue = core->previous_issue;
    pipe->done = core->previous_done;
    pipe->commit = core->previous_commit;
    pipe->uops = 0;
    return true;
}

/* The instruction raised an exception, or loaded too early: at the head of the ROB the pipeline is flushed and it is
 * fetched again. */
static void try_again(struct as_core *core, const struct as_op *op, struct as_pipe *pipe, const struct attempt *first,
                      uint64_t before)
{
    const struct as_machine *machine = core->machine;
    uint64_t head = later(first->done, before) + 1;
    if (first->violated)
        head = later(head, first->violated + 1);
    if (first->fault)
        core->kernel_cycles += machine->memory.fault_cycles;
    core->last_commit = before > head - 1 ? before : head - 1;
    as_core_flush_after(core, head);
    uint32_t events = pipe->events;
    as_core_fetch(core, op->insn, pipe);
    struct attempt second = {0};
    as_core_pass(core, op, pipe, &second);
    pipe->flags |= AS_PIPE_EXCEPTION | AS_PIPE_REFETCHED;
    pipe->events |= events | (first->fault ? AS_EVENT_FL_EX : 0) | (first->violated ? AS_EVENT_FL_MO : 0);
    pipe->exception = second.dispatch > head ? (uint32_t)(second.dispatch - head) : 0;
    pipe->first_try = head - first->dispatch < UINT16_MAX ? (uint16_t)(head - first->dispatch) : UINT16_MAX;
    core->counters.order_violations += first->violated != 0;
    pipe->dispatch = second.dispatch;
    pipe->issue = second.issue;
    pipe->done = second.done;
    pipe->commit = second.commit;
}

void as_core_execute(struct as_core *core, const struct as_op *op, struct as_pipe *pipe)
{
    const struct as_insn *insn = op->insn;
    *pipe = (struct as_pipe){.insn = insn->id, .uops = insn->n_uops ? insn->n_uops : 1};
    uint64_t before = core->last_commit;
    if (__builtin_expect(op->ideal != core->ideal, 0)) {
        core->ideal = op->ideal;
        as_memory_set_ideal(core->memory, op->ideal);
    }
    as_core_fetch(core, insn, pipe);
    if (!fuse(core, op, pipe)) {
        struct attempt attempt = {0};
        as_core_pass(core, op, pipe, &attempt);
        pipe->dispatch = attempt.dispatch;
        pipe->issue = attempt.issue;
        pipe->done = attempt.done;
        pipe->commit = attempt.commit;
        if (attempt.fault || attempt.violated)
            try_again(core, op, pipe, &attempt, before);
        as_core_put_off_drains(core, op, pipe->commit);
    }
    ring_set(&core->buffer, core->n_insns, pipe->dispatch);
    ring_set(&core->targets, core->n_packets - 1, pipe->commit);
    if (insn->flags & AS_INSN_SERIALISES) {
        pipe->flags |= AS_PIPE_SERIALISED;
        core->hold_dispatch = pipe->commit + 1;
    }
    if (as_insn_is_control(insn))
        as_core_predict(core, op, pipe);
    if (flushes(core, insn)) {
        pipe->flags |= AS_PIPE_FLUSHES;
        pipe->events |= AS_EVENT_FL_EX;
        as_core_flush_after(core, pipe->commit);
        if (insn->class_ == AS_CLASS_SYSTEM)
            core->kernel_cycles += core->machine->memory.syscall_cycles;
    }
    pipe->flags |= op->continues ? AS_PIPE_CONTINUES : 0;
    core->previous = insn;
    if (insn->flags & AS_INSN_FUSE_FIRST) {
        core->previous_dispatch = pipe->dispatch;
        core->previous_issue = pipe->issue;
        core->previous_done = pipe->done;
        core->previous_commit = pipe->commit;
    }
    core->n_insns++;
    core->counters.instructions += !op->continues;
    core->counters.uops += pipe->uops;
}

uint64_t as_core_cycles(const struct as_core *core)
{
    return core->last_commit;
}

uint64_t as_core_time(const struct as_core *core)
{
    return core->last_commit + core->offset;
}

void as_core_wait_until(struct as_core *core, uint64_t time)
{
    drain_first(core, core->n_stores); /* in the time that they belong to */
    if (time > as_core_time(core))
        core->offset = time - core->last_commit;
}

uint64_t as_core_kernel_cycles(const struct as_core *core)
{
    return core->kernel_cycles;
}

void as_core_count(const struct as_core *core, struct as_core_counters *counters)
{
    *counters = core->counters;
    as_memory_count(core->memory, &counters->memory);
}
