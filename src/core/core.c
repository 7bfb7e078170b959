/* The pipeline, one instruction after the other. See core.h; core_internal.h names the parts and what each is for.
 *
 * Constraints, in the order in which an instruction meets them:
 *   fetch     the packet: width, aligned block, taken branches, redirects; instruction cache and TLB; room in the fetch
 *             buffer; a fetch target queue entry
 *   dispatch  front-end depth; in order; dispatch width; ROB entry or row; physical register; issue-queue entry;
 *             load or store queue entry; branch tag; serialising instructions wait for the ROB to drain and hold
 *             what follows
 *   issue     operands; issue width of the queue; a unit; atomics wait to be the oldest with all stores drained
 *   done      unit latency, or the memory's answer; store-to-load forwarding; memory-order speculation
 *   commit    in order; commit width; one row; flushes and mispredictions then say when fetch goes on
 *   drain     committed stores leave the store queue in order
 */
#include "core/core_back.h"

#include "base/alloc.h"
#include "core/core_state.h"

/* More than the limit: who asks about the one `limit` before the first finds an entry that nobody has written. */
static uint64_t ring_size(uint64_t limit)
{
    uint64_t size = 1;
    while (size < limit + 1)
        size *= 2;
    return size;
}

static struct ring ring_new(uint32_t limit)
{
    uint64_t size = ring_size(limit);
    return (struct ring){.gone = as_alloc_array(size, sizeof(uint64_t)), .mask = size - 1, .limit = limit};
}

static void note_unit(struct as_core *core, enum as_class class_)
{
    const struct as_machine *machine = core->machine;
    enum as_unit unit = as_machine_unit(class_);
    if (as_machine_interval(machine, class_) > 1)
        core->long_units |= 1u << unit;
    else if (machine->units[unit].count < machine->back.queue_width[as_machine_queue(unit)])
        core->tight_units |= 1u << unit;
}

struct as_core *as_core_new(const struct as_machine *machine, struct as_uncore *uncore, uint32_t number,
                            as_code_at *code_at, void *code_context)
{
    struct as_core *core = as_alloc_apart(1, sizeof *core);
    core->machine = machine;
    core->predictor = as_predictor_new(machine);
    core->memory = as_memory_take(machine, uncore, number);
    as_memory_count(core->memory, &core->found);
    core->away = as_memory_users(core->memory) > 1;
    core->code_at = code_at;
    core->code_context = code_context;
    core->fetch_next = 1;
    core->line_shift = (uint32_t)__builtin_ctz(machine->memory.line);
    core->block_shift = (uint32_t)__builtin_ctz(machine->front.fetch_bytes);
    core->page_shift = (uint32_t)__builtin_ctz(machine->memory.page);
    core->packet_block = core->packet_line = UINT64_MAX;
    core->buffer = ring_new(machine->front.fetch_buffer);
    core->targets = ring_new(machine->front.fetch_targets);
    core->depth = machine->front.depth;
    core->dispatch_to_issue = machine->back.dispatch_to_issue;
    core->width = machine->back.width;
    core->rob = machine->back.rob;
    core->commit_width = machine->back.commit_width;
    core->has_rows = machine->back.rob_rows;
    core->rows = ring_new(core->has_rows ? machine->back.rob / machine->back.width : 0);
    core->flights_mask = ring_size(later(core->rob, later(core->width, core->commit_width))) - 1;
    core->flights = as_alloc_array(core->flights_mask + 1, sizeof *core->flights);
    core->trail = as_alloc_array(core->flights_mask + 1, sizeof *core->trail);
    core->registers[AS_REGISTERS_INT] = ring_new(machine->back.int_registers - ARCH_REGISTERS);
    core->registers[AS_REGISTERS_FP] = ring_new(machine->back.fp_registers - ARCH_REGISTERS);
    core->load_queue = ring_new(machine->back.load_queue);
    core->store_queue = ring_new(machine->back.store_queue);
    core->store_moved = as_alloc_array(core->store_queue.mask + 1, sizeof *core->store_moved);
    core->pending_mask = ring_size(core->store_queue.mask + AS_BODY_STORES) - 1;
    core->pending = as_alloc_array(core->pending_mask + 1, sizeof *core->pending);
    core->next_drain = UINT64_MAX;
    core->branches = as_alloc(sizeof *core->branches);
    core->branches->size = machine->front.max_branches;
    for (int i = 0; i < AS_QUEUE_COUNT; i++) {
        core->queues[i] = as_alloc(sizeof *core->queues[i]);
        core->queues[i]->size = machine->back.queue_size[i];
        core->queue_calendar[i] = as_alloc(sizeof *core->queue_calendar[i]);
        core->queue_calendar[i]->width = machine->back.queue_width[i];
    }
    for (int i = 0; i < AS_UNIT_COUNT; i++) {
        core->unit_calendar[i] = as_alloc(sizeof *core->unit_calendar[i]);
        core->unit_calendar[i]->width = machine->units[i].count;
    }
    for (int i = 0; i < AS_CLASS_COUNT; i++)
        note_unit(core, (enum as_class)i);
    return core;
}

void as_core_set_code_version(struct as_core *core, as_code_version *version)
{
    core->code_version = version;
    as_core_make_straights(core, STRAIGHTS);
}

void as_core_set_process(struct as_core *core, uint32_t process)
{
    core->process = process;
    if (!core->away)
        as_memory_set_process(core->memory, process);
}

void as_core_set_shared(struct as_core *core, const struct as_shared_ranges *shared)
{
    core->shared = shared;
    if (!core->away)
        as_memory_set_shared(core->memory, shared);
}

void as_core_set_thread(struct as_core *core, uint32_t thread)
{
    core->thread = thread;
    if (!core->away)
        as_memory_set_thread(core->memory, thread);
}

/* What the memory counted for this core alone. */
static struct as_counters count_memory(const struct as_core *core)
{
    struct as_counters now = {0};
    if (!core->away) {
        as_memory_count(core->memory, &now);
        as_counters_subtract(&now, &core->found, AS_COUNTER_SUM);
    }
    as_counters_add(&now, &core->left);
    return now;
}

void as_core_go(struct as_core *core)
{
    as_core_leave_memo(core);
    drain_first(core, core->n_stores);
    core->left = count_memory(core);
    core->away = true;
}

void as_core_come(struct as_core *core)
{
    as_memory_set_process(core->memory, core->process);
    as_memory_set_shared(core->memory, core->shared);
    as_memory_set_thread(core->memory, core->thread);
    as_memory_set_ideal(core->memory, core->ideal);
    as_memory_log_stays(core->memory, core->stays);
    as_memory_count(core->memory, &core->found);
    core->away = false;
}

void as_core_log_stays(struct as_core *core, struct as_stay_log *log)
{
    core->stays = log;
    log->offset = core->offset;
    core->store_dispatched = as_alloc_array(core->pending_mask + 1, sizeof *core->store_dispatched);
    if (!core->away)
        as_memory_log_stays(core->memory, log);
}

void as_core_free(struct as_core *core)
{
    if (!core)
        return;
    struct ring *rings[] = {&core->buffer, &core->targets, &core->rows, &core->load_queue, &core->store_queue};
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++)
        free(rings[i]->gone);
    free(core->store_moved);
    for (int i = 0; i < AS_REGISTERS_COUNT; i++)
        free(core->registers[i].gone);
    for (int i = 0; i < AS_QUEUE_COUNT; i++) {
        free(core->queues[i]);
        free(core->queue_calendar[i]);
    }
    for (int i = 0; i < AS_UNIT_COUNT; i++)
        free(core->unit_calendar[i]);
    as_core_forget_memo(core);
    free(core->branches);
    free(core->flights);
    free(core->trail);
    free(core->pending);
    free(core->store_dispatched);
    free(core->straights);
    as_predictor_free(core->predictor);
    as_memory_leave(core->memory);
    free(core);
}

void as_core_try_again(const struct passage *first, uint64_t before)
{
    struct as_core *core = first->core;
    struct as_pipe *pipe = first->pipe;
    uint64_t head = later(pipe->done, before) + 1, dispatched = pipe->dispatch;
    if (first->trouble.violated)
        head = later(head, first->trouble.violated + 1);
    if (first->trouble.fault)
        core->kernel_cycles += core->machine->memory.fault_cycles;
    core->last_commit = later(before, head - 1);
    as_core_flush_after(core, head);
    if (core->machine->back.retry_vector) {
        pipe->flags |= AS_PIPE_OWN_VECTORS;
        pipe->events = 0;
    }
    fetch(core, first->op, first->recipe, pipe);
    struct passage second = {.core = core, .op = first->op, .recipe = first->recipe, .pipe = pipe};
    as_core_pass(&second);
    pipe->flags |= (first->trouble.fault ? AS_PIPE_EXCEPTION : 0) | (first->trouble.violated ? AS_PIPE_REFETCHED : 0);
    if (!core->machine->back.retry_vector)
        pipe->events |= (first->trouble.fault ? AS_EVENT_FL_EX : 0) | (first->trouble.violated ? AS_EVENT_FL_MO : 0);
    pipe->exception = pipe->dispatch > head ? (uint32_t)(pipe->dispatch - head) : 0;
    pipe->first_try = head - dispatched < UINT16_MAX ? (uint16_t)(head - dispatched) : UINT16_MAX;
    core->counters.memory_order_violations += first->trouble.violated != 0;
    core->n_again += first->recipe->n;
}

/* What an instruction does to those behind it, for the few that do anything. */
static void hold_others(struct as_core *core, const struct as_op *op, const struct as_recipe *recipe,
                        struct as_pipe *pipe)
{
    if (recipe->traits & AS_RECIPE_SERIALISES) {
        pipe->flags |= AS_PIPE_SERIALISED;
        core->hold_dispatch = pipe->commit + 1;
    }
    if (recipe->traits & AS_RECIPE_CONTROL)
        as_core_predict(core, op, pipe);
    if (recipe->traits & AS_RECIPE_FLUSHES && !(core->ideal & AS_EVENT_FL_EX)) {
        pipe->flags |= AS_PIPE_FLUSHES;
        pipe->events |= AS_EVENT_FL_EX;
        as_core_flush_after(core, pipe->commit);
        if (recipe->traits & AS_RECIPE_SYSTEM)
            core->kernel_cycles += core->machine->memory.syscall_cycles;
    }
    if (recipe->traits & AS_RECIPE_FUSED) {
        core->previous_dispatch = pipe->dispatch;
        core->previous_issue = pipe->issue;
        core->previous_done = pipe->done;
        core->previous_commit = pipe->commit;
    }
}

static const struct as_recipe *make_recipe(struct as_core *core, const struct as_insn *insn)
{
    as_recipe_make(core->machine, insn, &core->own.recipe);
    return &core->own.recipe;
}

/* The first half of the way of an instruction of one micro-operation: to its issue. Both halves are inlined whatever
 * the compiler thinks: calls cost a tenth of the core's speed. */
static inline __attribute__((always_inline)) struct uop_times
start(struct as_core *core, const struct as_micro *micro, uint32_t traits, uint64_t *dispatched, struct as_pipe *pipe)
{
    *dispatched = dispatch(core, micro, traits, pipe->fetch + core->depth, pipe);
    uint64_t ready = later(*dispatched + core->dispatch_to_issue, operands_ready(core, micro));
    struct uop_times times = {.issue = issue(core, micro, ready, pipe)};
    times.done = times.issue + micro->latency;
    return times;
}

/* The second half, when it is known when it is done. */
static inline __attribute__((always_inline)) void end(struct as_core *core, const struct as_micro *micro,
                                                      uint32_t traits, uint64_t dispatched, struct uop_times times,
                                                      struct as_pipe *pipe)
{
    write_registers(core, micro, times.done);
    pipe->dispatch = dispatched;
    pipe->issue = times.issue;
    pipe->done = times.done;
    pipe->commit = commit(core, micro, traits, dispatched, times);
}

/* One micro-operation that goes to a unit. */
static inline void pass_unit(struct as_core *core, const struct as_recipe *recipe, struct as_pipe *pipe)
{
    uint32_t traits = recipe->micro->traits & ~(AS_MICRO_LOADS | AS_MICRO_STORES);
    uint64_t dispatched;
    struct uop_times times = start(core, recipe->micro, traits, &dispatched, pipe);
    end(core, recipe->micro, traits, dispatched, times, pipe);
}

/* One load. */
static inline void pass_load(struct as_core *core, const struct as_op *op, const struct as_recipe *recipe,
                             struct as_pipe *pipe, struct trouble *trouble)
{
    uint32_t at = 0, traits = AS_MICRO_LOADS | AS_MICRO_QUEUED;
    uint64_t dispatched;
    struct uop_times times = start(core, recipe->micro, traits, &dispatched, pipe);
    const struct as_core_access *access = next_access(op, &at, AS_ACCESS_LOAD);
    if (access)
        times.done = later(times.done, as_core_load(core, recipe->micro, access, times.done, pipe, trouble));
    end(core, recipe->micro, traits, dispatched, times, pipe);
}

/* One store, but for its drain. */
static inline void pass_store(struct as_core *core, const struct as_op *op, const struct as_recipe *recipe,
                              struct as_pipe *pipe, struct trouble *trouble)
{
    uint32_t at = 0, traits = AS_MICRO_STORES | AS_MICRO_QUEUED;
    uint64_t dispatched;
    struct uop_times times = start(core, recipe->micro, traits, &dispatched, pipe);
    const struct as_core_access *access = next_access(op, &at, AS_ACCESS_STORE);
    times.done = as_core_store(core, recipe->micro, access, dispatched, times.issue, pipe, trouble);
    end(core, recipe->micro, traits, dispatched, times, pipe);
}

/* An instruction that has to do with memory, or more than one thing to do; twice where it must be. */
static __attribute__((noinline)) void pass(struct as_core *core, const struct as_op *op, const struct as_recipe *recipe,
                                           struct as_pipe *pipe)
{
    struct passage p = {.core = core, .op = op, .recipe = recipe, .pipe = pipe};
    uint64_t before = core->last_commit;
    if (recipe->shape == AS_SHAPE_LOAD || recipe->shape == AS_SHAPE_PLAIN_LOAD)
        pass_load(core, op, recipe, pipe, &p.trouble);
    else if (recipe->shape == AS_SHAPE_STORE || recipe->shape == AS_SHAPE_PLAIN_STORE)
        pass_store(core, op, recipe, pipe, &p.trouble);
    else
        as_core_pass(&p);
    if (__builtin_expect((p.trouble.violated | p.trouble.fault) != 0, 0))
        as_core_try_again(&p, before);
    if (recipe->traits & AS_RECIPE_STORES)
        as_core_put_off_drains(core, op, recipe, pipe);
}

void as_core_execute(struct as_core *core, const struct as_op *op, struct as_pipe *pipe)
{
    const struct as_recipe *recipe = op->recipe ? op->recipe : make_recipe(core, op->insn);
    as_core_begin_run(core);
    if (__builtin_expect(op->ideal != core->ideal, 0))
        set_ideal(core, op->ideal);
    open_record(recipe, op->continues, pipe);
    fetch(core, op, recipe, pipe);
    if (recipe->traits & AS_RECIPE_FUSES && fuse(core, op->insn, recipe, pipe))
        ; /* nothing is left to do */
    else if (recipe->shape >= AS_SHAPE_UNIT)
        pass_unit(core, recipe, pipe);
    else
        pass(core, op, recipe, pipe);
    go(&core->buffer, core->n_insns, pipe->dispatch);
    go(&core->targets, core->n_packets - 1, pipe->commit);
    if (recipe->traits & AS_RECIPE_HOLDS)
        hold_others(core, op, recipe, pipe);
    core->previous = op->insn;
    core->last_flags = pipe->flags & AS_STATE_FLAGS;
    core->n_insns++;
    core->n_continued += op->continues;
}

uint64_t as_core_cycles(const struct as_core *core)
{
    return core->last_commit;
}

uint64_t as_core_time(const struct as_core *core)
{
    return core->last_commit + core->offset;
}

uint64_t as_core_turn(const struct as_core *core)
{
    return as_memory_turn(core->memory, as_core_time(core));
}

uint64_t as_core_lost(const struct as_core *core, uint64_t address)
{
    return as_memory_lost(core->memory, address);
}

static uint64_t sooner(uint64_t time, uint64_t waited)
{
    return time > waited ? time - waited : 0;
}

void as_core_move_stores_back(struct as_core *core)
{
    for (size_t i = 0; i < STORE_TABLE; i++)
        if (core->stores[i].drained != UINT64_MAX)
            core->stores[i].drained = sooner(core->stores[i].drained, core->stood);
    core->stood = 0;
}

/* Stores go on draining while the core stands still, and are gone by then for the loads behind them, which may have issued long
 * before the last commit: they must not get what another core has written over. A core may stand still for a cycle at a time, thousands of times:
 * the table is looked through when it runs again. Until then no store is pending. */
static void go_on_draining(struct as_core *core, uint64_t waited)
{
    enum { LONGEST = 4096 }; /* cycles from the issue of a load to its commit, about */
    if (core->last_drain + LONGEST <= core->last_commit)
        return;
    core->stood += waited;
    core->last_drain = sooner(core->last_drain, waited);
    core->last_drain_start = sooner(core->last_drain_start, waited);
}

void as_core_wait_until(struct as_core *core, uint64_t time)
{
    uint64_t before = as_core_time(core);
    as_core_leave_memo(core);
    drain_first(core, core->n_stores); /* in the time that they belong to */
    if (time > before) {
        core->offset = time - core->last_commit;
        go_on_draining(core, time - before);
    }
    if (core->stays)
        core->stays->offset = core->offset;
}

uint64_t as_core_show_stores(struct as_core *core)
{
    if (core->walk.stale && core->n_drained == core->n_stores) /* nothing changes: the core goes on along its edges */
        return later(core->walk.drained, core->last_commit) + core->offset;
    as_core_leave_memo(core);
    drain_first(core, core->n_stores);
    return later(core->last_drain, core->last_commit) + core->offset;
}

bool as_core_announce(struct as_core *core, const uint64_t *addresses, size_t n)
{
    if (n == 0)
        return as_memory_misses_often(core->memory);
    for (size_t i = 0; i < n; i++)
        as_memory_announce(core->memory, addresses[i]);
    return true;
}

uint64_t as_core_kernel_cycles(const struct as_core *core)
{
    return core->kernel_cycles;
}

void as_core_count(const struct as_core *core, struct as_counters *counters)
{
    *counters = core->counters;
    counters->instructions = core->n_insns - core->n_continued;
    counters->uops = core->n_uops - core->n_again;
    counters->cycles = as_core_cycles(core);
    counters->elapsed_cycles = as_core_time(core);
    counters->kernel_cycles = as_core_kernel_cycles(core);
    struct as_counters memory = count_memory(core);
    as_counters_add(counters, &memory);
    as_counters_derive(counters);
}
