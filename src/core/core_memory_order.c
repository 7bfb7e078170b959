/* Memory order: what loads, stores, atomics, fences and cache operations wait for beside their operands.
 *
 * Recent stores lie in a table by 8-byte granule. A load that overlaps one that has not drained takes its data from
 * there (or waits for it to drain, where it does not cover the load); where the store's address was not known yet the
 * load goes ahead, is caught later, and waits from then on. Virtual addresses decide.
 *
 * Not modelled: replays of loads that were woken up too early. */
#include "core/core_back.h"

static struct as_memory_answer access_memory(struct as_core *core, enum as_memory_kind kind, uint64_t cycle,
                                             uint64_t address, uint32_t size)
{
    drain_until(core, cycle);
    return in_core_time(core, as_memory_access(core->memory, kind, cycle + core->offset, address, size));
}

static struct as_memory_answer translate(struct as_core *core, uint64_t cycle, uint64_t address)
{
    drain_until(core, cycle);
    return in_core_time(core, as_memory_translate(core->memory, cycle + core->offset, address));
}

static uint8_t *wait_slot(struct as_core *core, uint64_t address)
{
    return &core->waits[(address >> 1 ^ address >> 11) % WAIT_TABLE];
}

/* The youngest older store that the load overlaps and that has not drained by `cycle`, or NULL. (An instruction that is
 * tried again finds the store of its first try: not an older one.) */
static const struct store *find_store(struct as_core *core, const struct as_core_access *access, uint64_t cycle)
{
    const struct store *found = NULL;
    uint64_t end = access->address + access->size;
    for (uint64_t granule = access->address / 8; granule <= (end - 1) / 8; granule++) {
        const struct store *store = store_slot(core, granule);
        if (store->granule == granule && store->drained > cycle && store->number < core->n_stores &&
            store->address < end && access->address < store->end && (!found || store->number > found->number))
            found = store;
    }
    return found;
}

/* The load overlaps a store that has not drained and whose address it knows: when it has its data. */
static uint64_t forward(struct as_core *core, const struct store *store, const struct as_core_access *access,
                        uint64_t cycle, struct as_pipe *pipe)
{
    bool covers = store->address <= access->address && access->address + access->size <= store->end;
    if (covers) {
        pipe->events |= AS_EVENT_FORWARDED;
        core->counters.store_forwards++;
        return later(cycle, store->data_known) + core->machine->back.forward_latency;
    }
    pipe->events |= AS_EVENT_ORDER;
    while (store->drained == UINT64_MAX && core->n_drained < core->n_stores)
        as_core_drain_one(core);
    return later(cycle, store->drained) + core->machine->memory.l1d.latency;
}

uint64_t as_core_load(struct as_core *core, const struct as_insn *insn, const struct as_core_access *access,
                      uint64_t cycle, struct as_pipe *pipe, struct trouble *trouble)
{
    const struct as_machine *machine = core->machine;
    uint8_t *waits = wait_slot(core, insn->address);
    if (later(core->load_barrier, core->store_barrier) > cycle) {
        pipe->events |= AS_EVENT_ORDER;
        cycle = later(core->load_barrier, core->store_barrier);
    }
    if (!machine->back.memory_speculation || (machine->back.dependence_predictor && *waits))
        cycle = later(cycle, core->stores_known);
    drain_until(core, cycle);
    const struct store *store = find_store(core, access, cycle);
    if (store) {
        if (core->ideal & AS_EVENT_FL_MO)
            cycle = later(cycle, store->address_known);
        if (store->address_known <= cycle)
            return forward(core, store, access, cycle, pipe);
        *waits = 1; /* it takes what the cache has, and is caught */
        trouble->violated = later(trouble->violated, store->address_known);
    }
    struct as_memory_answer answer = access_memory(core, AS_MEMORY_LOAD, cycle, access->address, access->size);
    pipe->events |= answer.events;
    trouble->fault |= answer.fault;
    return answer.done;
}

static void note_store(struct as_core *core, const struct as_core_access *access, uint64_t address_known,
                       uint64_t data_known)
{
    uint64_t end = access->address + access->size;
    for (uint64_t granule = access->address / 8; granule <= (end - 1) / 8 && granule - access->address / 8 < 16;
         granule++)
        *store_slot(core, granule) = (struct store){.granule = granule,
                                                    .number = core->n_stores,
                                                    .address = access->address,
                                                    .end = end,
                                                    .address_known = address_known,
                                                    .data_known = data_known,
                                                    .drained = UINT64_MAX};
    core->stores_known = later(core->stores_known, address_known);
}

static uint64_t address_ready(const struct as_core *core, const struct as_mem_operand *mem)
{
    uint64_t ready = mem->base < AS_REG_COUNT ? core->ready[mem->base] : 0;
    return mem->index < AS_REG_COUNT ? later(ready, core->ready[mem->index]) : ready;
}

/* Atomics wait until they are the oldest, the cycle after the commit before, and every store before them has drained.
 */
static uint64_t oldest_and_drained(struct as_core *core, uint64_t ready)
{
    drain_first(core, core->n_stores);
    return later(later(ready, core->last_commit + 1), core->last_drain);
}

struct uop_times as_core_run_load(struct passage *p, const struct as_micro *micro, uint64_t ready)
{
    struct as_core *core = p->core;
    const struct as_insn *insn = p->op->insn;
    bool locked = (insn->flags & AS_INSN_LOCKED) != 0;
    if (locked) {
        p->pipe->events |= AS_EVENT_ORDER;
        ready = oldest_and_drained(core, ready);
    }
    struct uop_times times = {.issue = issue(core, micro, ready, p->pipe)};
    uint64_t known = times.issue + core->machine->units[AS_UNIT_LOAD].latency;
    const struct as_core_access *access;
    times.done = known;
    bool all = (insn->flags & AS_INSN_MULTI_MEM) != 0;
    while ((access = next_access(p->op, &p->load_at, AS_ACCESS_LOAD))) {
        times.done = later(times.done, as_core_load(core, insn, access, known, p->pipe, &p->trouble));
        if (!all)
            break;
    }
    times.done += locked ? core->machine->atomic_latency : 0;
    return times;
}

/* Both halves of a store that crosses a page. */
static struct as_memory_answer translate_all(struct as_core *core, uint64_t cycle, const struct as_core_access *access)
{
    uint64_t last_byte = access->address + access->size - 1;
    struct as_memory_answer answer = translate(core, cycle, access->address);
    if (access->address >> core->page_shift != last_byte >> core->page_shift) {
        struct as_memory_answer second = translate(core, cycle, last_byte);
        answer.done = later(answer.done, second.done);
        answer.events |= second.events;
        answer.fault |= second.fault;
    }
    return answer;
}

uint64_t as_core_store(struct as_core *core, const struct as_op *op, const struct as_micro *micro,
                       const struct as_core_access *access, uint64_t dispatched, uint64_t issued, struct as_pipe *pipe,
                       struct trouble *trouble)
{
    uint64_t latency = core->machine->units[AS_UNIT_STORE].latency, done = issued + latency, known = done;
    if (!access)
        return done;
    if (micro->mem < op->insn->n_mem) {
        uint64_t early =
            later(dispatched + core->dispatch_to_issue, address_ready(core, &op->insn->mem[micro->mem])) + latency;
        known = early < known ? early : known; /* the address goes ahead of the data */
    }
    struct as_memory_answer answer = translate_all(core, known, access);
    pipe->events |= answer.events;
    trouble->fault |= answer.fault;
    done = later(done, answer.done);
    /* The virtual address decides what passes what: a load from here waits for the same translation. */
    note_store(core, access, known, done);
    return done;
}

struct uop_times as_core_run_store(struct passage *p, const struct as_micro *micro, uint64_t ready)
{
    struct uop_times times = {.issue = issue(p->core, micro, ready, p->pipe)};
    const struct as_core_access *access = next_access(p->op, &p->store_at, AS_ACCESS_STORE);
    times.done = as_core_store(p->core, p->op, micro, access, p->dispatched, times.issue, p->pipe, &p->trouble);
    return times;
}

/* A read-modify-write that the memory unit carries out, once it owns the line. */
struct uop_times as_core_run_atomic(struct passage *p, const struct as_micro *micro, uint64_t ready)
{
    struct as_core *core = p->core;
    uint32_t at = 0;
    const struct as_core_access *access = next_access(p->op, &at, AS_ACCESS_LOAD | AS_ACCESS_STORE);
    struct uop_times times = {.issue = issue(core, micro, oldest_and_drained(core, ready), p->pipe)};
    times.done = times.issue + core->machine->units[AS_UNIT_LOAD].latency;
    if (access) {
        struct as_memory_answer answer = access_memory(core, AS_MEMORY_LOAD, times.done, access->address, access->size);
        p->pipe->events |= answer.events;
        p->trouble.fault |= answer.fault;
        times.done = answer.done;
    }
    times.done += core->machine->atomic_latency;
    p->pipe->events |= AS_EVENT_ORDER;
    return times;
}

struct uop_times as_core_run_cache_operation(struct passage *p, const struct as_micro *micro, uint64_t ready)
{
    struct as_core *core = p->core;
    uint32_t at = 0;
    struct uop_times times = {.issue = issue(core, micro, ready, p->pipe)};
    times.done = times.issue + core->machine->units[AS_UNIT_LOAD].latency;
    const struct as_core_access *access = next_access(p->op, &at, AS_ACCESS_PREFETCH | AS_ACCESS_FLUSH);
    if (access)
        access_memory(core, access->kind == AS_ACCESS_FLUSH ? AS_MEMORY_FLUSH : AS_MEMORY_PREFETCH, times.done,
                      access->address, 1);
    return times;
}

struct uop_times as_core_run_fence(struct passage *p, uint64_t ready)
{
    struct as_core *core = p->core;
    uint32_t flags = p->op->insn->flags;
    struct uop_times times = {.issue = later(ready, core->last_commit + 1)};
    times.done = times.issue + 1;
    if (flags & AS_INSN_FENCE_STORE) {
        drain_first(core, core->n_stores);
        times.done = later(times.done, core->last_drain);
        core->store_barrier = times.done;
    }
    if (flags & AS_INSN_FENCE_LOAD)
        core->load_barrier = times.done;
    p->pipe->events |= AS_EVENT_ORDER;
    return times;
}
