/* The pipeline, one instruction after the other. See core.h.
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
 *
 * Not modelled here: contention by wrong-path instructions (they are counted, not executed), replays of loads that were
 * woken up too early, partial-register stalls, micro-op caches, SMT.
 */
#include "core/core.h"

#include "base/alloc.h"
#include "core/calendar.h"
#include "core/predictor.h"

#include <string.h>

enum {
    STORE_TABLE = 1 << 10, /* recent stores by 8-byte granule */
    WAIT_TABLE = 1 << 10,  /* loads that were caught passing a store */
    MAX_UNITS = 16,        /* of one kind */
    ARCH_REGISTERS = 32,
    WRONG_PATH_MOST = 512,
};

/* A ring of cycles by sequence number, at least as long as what it limits. */
struct ring {
    uint64_t *cycles;
    uint64_t mask, limit;
};

struct store {
    uint64_t granule, number; /* address / 8; sequence number of the store */
    uint64_t address, end;
    uint64_t address_known, data_known, drained;
};

/* A committed store on its way to the cache. */
struct pending {
    uint64_t address, commit, number; /* `number`: its struct store's */
    uint32_t size;                    /* 0: it wrote nothing (sc) */
};

/* What the machine makes of a class. */
struct class_info {
    uint8_t unit, queue;
    uint32_t latency, interval;
};

struct as_core {
    const struct as_machine *machine;
    struct as_predictor *predictor;
    struct as_memory *memory;
    as_code_at *code_at;
    void *code_context;
    uint64_t offset;                              /* the machine's time is ours plus this */
    uint32_t line_shift, block_shift, page_shift; /* of addresses to lines, fetch blocks and pages */

    /* fetch */
    uint64_t fetch_next; /* the next packet cannot start before */
    uint64_t packet_cycle, packet_block, packet_line;
    uint32_t packet_slots;
    uint64_t n_insns, n_packets, n_loads, n_stores, n_uops;
    uint64_t n_int_writes, n_fp_writes;
    struct ring buffer;  /* dispatch by instruction: fetch buffer */
    struct ring targets; /* commit by packet: fetch target queue */
    bool packet_open;    /* the next instruction may join the packet */

    /* dispatch */
    uint64_t last_dispatch, hold_dispatch;
    struct ring width, rob, int_regs, fp_regs, load_queue, store_queue;
    struct as_occupancy *branches; /* unresolved ones: they resolve out of order */

    /* issue */
    struct class_info classes[AS_CLASS_COUNT];
    struct as_occupancy *queues[AS_QUEUE_COUNT];
    struct as_calendar *queue_calendar[AS_QUEUE_COUNT], *unit_calendar[AS_UNIT_COUNT];
    uint64_t unit_free[AS_UNIT_COUNT][MAX_UNITS]; /* units that are not pipelined */
    uint64_t ready[AS_REG_COUNT];

    /* memory order */
    struct store stores[STORE_TABLE];
    uint8_t waits[WAIT_TABLE];
    uint64_t stores_known;                /* all older stores have their addresses */
    uint64_t load_barrier, store_barrier; /* loads, all accesses may not start before */
    struct pending *pending;              /* by store, a ring: those from n_drained to n_stores */
    uint64_t pending_mask, n_drained;
    uint64_t next_drain; /* cycle in which the first of them starts; UINT64_MAX: there is none */
    uint64_t last_drain_start, last_drain;
    uint32_t drains_in_cycle;

    /* commit */
    uint64_t last_commit;
    struct ring commit_width;
    uint64_t kernel_cycles;

    /* the instruction before, for fusion */
    const struct as_insn *previous;
    uint64_t previous_dispatch, previous_issue, previous_done, previous_commit;
    struct as_core_counters counters;
};

static struct ring ring_new(uint32_t limit)
{
    uint64_t size = 1;
    while (size < limit + 1)
        size *= 2;
    return (struct ring){.cycles = as_alloc_array(size, sizeof(uint64_t)), .mask = size - 1, .limit = limit};
}

/* The cycle of the one `limit` before number n, and 0 for the first ones. */
static inline uint64_t ring_before(const struct ring *ring, uint64_t n)
{
    return n < ring->limit ? 0 : ring->cycles[(n - ring->limit) & ring->mask];
}

static inline void ring_set(struct ring *ring, uint64_t n, uint64_t cycle)
{
    ring->cycles[n & ring->mask] = cycle;
}

static inline uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
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

/* ---- the memory, in its own time ---- */

static struct as_memory_answer in_core_time(const struct as_core *core, struct as_memory_answer answer)
{
    answer.done -= core->offset;
    return answer;
}

static struct store *store_slot(struct as_core *core, uint64_t granule)
{
    return &core->stores[(granule ^ granule >> 10) % STORE_TABLE];
}

/* ---- draining ----
 *
 * Committed stores leave the store queue in order, `store_drain` a cycle. That is long after younger loads have asked
 * the cache, so it is put off until something asks for a later cycle, or needs to know when it happened. */

/* When the first pending store can start. */
static uint64_t drain_start(const struct as_core *core)
{
    uint64_t start = later(core->pending[core->n_drained & core->pending_mask].commit + 1, core->last_drain_start);
    if (start == core->last_drain_start && core->drains_in_cycle >= core->machine->back.store_drain)
        start++;
    return later(start, core->last_drain);
}

static void note_drained(struct as_core *core, const struct pending *pending)
{
    uint64_t end = pending->address + pending->size, first = pending->address / 8;
    for (uint64_t granule = first; granule <= (end - 1) / 8 && granule - first < 16; granule++) {
        struct store *store = store_slot(core, granule);
        if (store->granule == granule && store->number == pending->number && store->address == pending->address)
            store->drained = core->last_drain;
    }
}

static void drain_one(struct as_core *core)
{
    const struct pending *pending = &core->pending[core->n_drained & core->pending_mask];
    uint64_t freed = pending->commit;
    if (pending->size) {
        uint64_t start = core->next_drain;
        core->drains_in_cycle = start == core->last_drain_start ? core->drains_in_cycle + 1 : 1;
        core->last_drain_start = start;
        struct as_memory_answer answer =
            in_core_time(core, as_memory_access(core->memory, AS_MEMORY_STORE, start + core->offset, pending->address,
                                                pending->size));
        core->last_drain = freed = later(start, answer.done);
        note_drained(core, pending);
    }
    ring_set(&core->store_queue, core->n_drained++, freed);
    core->next_drain = core->n_drained < core->n_stores ? drain_start(core) : UINT64_MAX;
}

/* All that start by `cycle`. */
static inline void drain_until(struct as_core *core, uint64_t cycle)
{
    while (core->next_drain <= cycle)
        drain_one(core);
}

/* The first n of all, whenever they do. */
static inline void drain_first(struct as_core *core, uint64_t n)
{
    while (core->n_drained < n)
        drain_one(core);
}

static void put_off_drain(struct as_core *core, const struct as_core_access *access, uint64_t commit, uint64_t number)
{
    if (core->n_stores - core->n_drained > core->pending_mask)
        drain_one(core);
    core->pending[core->n_stores & core->pending_mask] = (struct pending){
        .address = access ? access->address : 0, .size = access ? access->size : 0, .commit = commit, .number = number};
    if (core->n_drained == core->n_stores++)
        core->next_drain = drain_start(core);
}

/* ---- what asks the memory ---- */

static struct as_memory_answer access_memory(struct as_core *core, enum as_memory_kind kind, uint64_t cycle,
                                             uint64_t address, uint32_t size)
{
    drain_until(core, cycle);
    return in_core_time(core, as_memory_access(core->memory, kind, cycle + core->offset, address, size));
}

static struct as_memory_answer fetch_line(struct as_core *core, uint64_t cycle, uint64_t address)
{
    drain_until(core, cycle);
    return in_core_time(core, as_memory_fetch(core->memory, cycle + core->offset, address));
}

static struct as_memory_answer translate(struct as_core *core, uint64_t cycle, uint64_t address)
{
    drain_until(core, cycle);
    return in_core_time(core, as_memory_translate(core->memory, cycle + core->offset, address));
}

/* ---- fetch ---- */

static void open_packet(struct as_core *core, const struct as_insn *insn, uint64_t not_before, struct as_pipe *pipe)
{
    const struct as_machine *machine = core->machine;
    uint64_t cycle = later(core->fetch_next, not_before), last_byte = insn->address + insn->length - 1;
    uint64_t target_free = ring_before(&core->targets, core->n_packets);
    if (target_free >= cycle)
        cycle = target_free + 1;
    for (uint64_t line = insn->address >> core->line_shift; line <= last_byte >> core->line_shift; line++) {
        if (line == core->packet_line)
            continue;
        struct as_memory_answer answer = fetch_line(core, cycle, line << core->line_shift);
        cycle = later(cycle, answer.done);
        pipe->events |= answer.events;
        core->packet_line = line;
    }
    core->packet_cycle = cycle;
    core->packet_block = insn->address >> core->block_shift;
    core->packet_slots = machine->front.fetch_width;
    core->packet_open = true;
    core->fetch_next = cycle + 1;
    core->n_packets++;
}

/* An instruction enters the fetch buffer depth - 1 cycles after its fetch and leaves it when it dispatches. */
static void fetch(struct as_core *core, const struct as_insn *insn, struct as_pipe *pipe)
{
    const struct as_machine *machine = core->machine;
    uint64_t room = ring_before(&core->buffer, core->n_insns);
    uint64_t not_before = room > machine->front.depth - 1 ? room - (machine->front.depth - 1) : 0;
    uint64_t last_line = (insn->address + insn->length - 1) >> core->line_shift;
    if (!core->packet_open || core->packet_slots == 0 || insn->address >> core->block_shift != core->packet_block ||
        last_line != core->packet_line || not_before > core->packet_cycle)
        open_packet(core, insn, not_before, pipe);
    core->packet_slots--;
    pipe->fetch = core->packet_cycle;
}

/* ---- dispatch ---- */

struct needs {
    bool load, store, branch, int_write, fp_write, serialise;
    enum as_queue_kind queue;
    bool queued; /* needs an issue-queue entry */
};

static inline uint64_t room_at(const struct ring *ring, uint64_t n, uint64_t cycle)
{
    uint64_t free_at = ring_before(ring, n);
    return free_at >= cycle && n >= ring->limit ? free_at + 1 : cycle;
}

/* The first cycle in which the one `limit` before number n has gone. */
static inline uint64_t gone_at(const struct ring *ring, uint64_t n)
{
    return n < ring->limit ? 0 : ring->cycles[(n - ring->limit) & ring->mask] + 1;
}

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
    if (needs->store) {
        if (core->n_stores >= core->store_queue.limit)
            drain_first(core, core->n_stores - core->store_queue.limit + 1);
        uint64_t with_store = room_at(&core->store_queue, core->n_stores, cycle);
        if (with_store > cycle)
            pipe->events |= AS_EVENT_DR_SQ;
        cycle = with_store;
    }
    core->last_dispatch = cycle;
    ring_set(&core->width, core->n_uops, cycle);
    return cycle;
}

/* ---- issue ---- */

/* The first cycle from `cycle` in which the queue can issue and a unit is free; takes both. */
static uint64_t issue(struct as_core *core, enum as_class class_, uint64_t cycle, struct as_pipe *pipe)
{
    enum as_unit unit = (enum as_unit)core->classes[class_].unit;
    uint32_t interval = core->classes[class_].interval;
    struct as_calendar *queue = core->queue_calendar[core->classes[class_].queue], *units = core->unit_calendar[unit];
    if (interval > 1) {
        uint64_t *free_at = core->unit_free[unit];
        uint32_t best = 0;
        for (uint32_t i = 1; i < core->machine->units[unit].count; i++)
            if (free_at[i] < free_at[best])
                best = i;
        if (free_at[best] > cycle) {
            pipe->events |= AS_EVENT_DIVIDE;
            cycle = free_at[best];
        }
        while (!as_calendar_has_room(queue, cycle))
            cycle++;
        free_at[best] = cycle + interval;
    } else {
        while (!as_calendar_has_room(queue, cycle) || !as_calendar_has_room(units, cycle))
            cycle++;
        as_calendar_take(units, cycle);
    }
    as_calendar_take(queue, cycle);
    return cycle;
}

/* ---- memory ---- */

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

struct load_result {
    uint64_t done;
    uint64_t violated; /* not 0: the store that it passed without knowing has its address in this cycle */
    bool fault;
};

/* A load whose address is known in `cycle`. */
static struct load_result load(struct as_core *core, const struct as_insn *insn, const struct as_core_access *access,
                               uint64_t cycle, struct as_pipe *pipe)
{
    const struct as_machine *machine = core->machine;
    uint8_t *waits = wait_slot(core, insn->address);
    cycle = later(later(cycle, core->load_barrier), core->store_barrier);
    if (!machine->back.memory_speculation || (machine->back.dependence_predictor && *waits))
        cycle = later(cycle, core->stores_known);
    drain_until(core, cycle);
    const struct store *store = find_store(core, access, cycle);
    if (store && store->address_known <= cycle) {
        bool covers = store->address <= access->address && access->address + access->size <= store->end;
        pipe->events |= AS_EVENT_FORWARDED;
        core->counters.forwards++;
        if (covers)
            return (struct load_result){.done = later(cycle, store->data_known) + machine->back.forward_latency};
        while (store->drained == UINT64_MAX && core->n_drained < core->n_stores)
            drain_one(core);
        return (struct load_result){.done = later(cycle, store->drained) + machine->memory.l1d.latency};
    }
    if (store)
        *waits = 1; /* it takes what the cache has, and is caught */
    struct as_memory_answer answer = access_memory(core, AS_MEMORY_LOAD, cycle, access->address, access->size);
    pipe->events |= answer.events;
    return (struct load_result){
        .done = answer.done, .violated = store ? store->address_known : 0, .fault = answer.fault};
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

/* ---- one instruction ---- */

static const struct as_core_access *next_access(const struct as_op *op, uint32_t *at, uint8_t kinds)
{
    while (*at < op->n_accesses)
        if (op->accesses[(*at)++].kind & kinds)
            return &op->accesses[*at - 1];
    return NULL;
}

/* What one pass through the pipeline came to; a second one follows a fault or a memory-order violation. */
struct attempt {
    uint64_t dispatch, issue, done, commit;
    uint64_t violated;
    bool fault;
};

static uint64_t operands_ready(const struct as_core *core, const struct as_insn *insn, uint8_t mask)
{
    uint64_t ready = 0;
    for (; mask; mask &= (uint8_t)(mask - 1))
        ready = later(ready, core->ready[insn->reads[__builtin_ctz(mask)]]);
    return ready;
}

static uint64_t address_ready(const struct as_core *core, const struct as_mem_operand *mem)
{
    uint64_t ready = mem->base < AS_REG_COUNT ? core->ready[mem->base] : 0;
    return mem->index < AS_REG_COUNT ? later(ready, core->ready[mem->index]) : ready;
}

static bool writes_fp(const struct as_insn *insn)
{
    return insn->n_writes && insn->writes[0] >= AS_REG_VEC0 && insn->writes[0] < AS_REG_VEC0 + 32;
}

static bool writes_int(const struct as_insn *insn)
{
    return insn->n_writes && insn->writes[0] < AS_REG_INT0 + 32;
}

struct uop_times {
    uint64_t issue, done;
};

struct passage {
    struct as_core *core;
    const struct as_op *op;
    struct as_pipe *pipe;
    struct attempt *attempt;
    uint32_t load_at, store_at;
    uint64_t dispatched;
};

/* Atomics wait until they are the oldest, the cycle after the commit before, and every store before them has drained.
 */
static uint64_t oldest_and_drained(struct as_core *core, uint64_t ready)
{
    drain_first(core, core->n_stores);
    return later(later(ready, core->last_commit + 1), core->last_drain);
}

static struct uop_times run_load(struct passage *p, const struct as_uop *uop, uint64_t ready)
{
    struct as_core *core = p->core;
    const struct as_insn *insn = p->op->insn;
    bool locked = (insn->flags & AS_INSN_LOCKED) != 0;
    if (locked)
        ready = oldest_and_drained(core, ready);
    struct uop_times times = {.issue = issue(core, AS_CLASS_LOAD, ready, p->pipe)};
    uint64_t known = times.issue + core->machine->units[AS_UNIT_LOAD].latency;
    const struct as_core_access *access;
    times.done = known;
    bool all = (insn->flags & AS_INSN_MULTI_MEM) != 0;
    while ((access = next_access(p->op, &p->load_at, AS_ACCESS_LOAD))) {
        struct load_result result = load(core, insn, access, known, p->pipe);
        times.done = later(times.done, result.done);
        p->attempt->violated = later(p->attempt->violated, result.violated);
        p->attempt->fault |= result.fault;
        if (!all)
            break;
    }
    times.done += locked ? core->machine->atomic_latency : 0;
    return times;
}

static struct uop_times run_store(struct passage *p, const struct as_uop *uop, uint64_t ready)
{
    struct as_core *core = p->core;
    const struct as_insn *insn = p->op->insn;
    const struct as_machine *machine = core->machine;
    struct uop_times times = {.issue = issue(core, AS_CLASS_STORE, ready, p->pipe)};
    times.done = times.issue + machine->units[AS_UNIT_STORE].latency;
    const struct as_core_access *access = next_access(p->op, &p->store_at, AS_ACCESS_STORE);
    if (!access)
        return times;
    uint64_t known = times.done;
    if (uop->mem < insn->n_mem) {
        uint64_t early =
            later(p->dispatched + machine->back.dispatch_to_issue, address_ready(core, &insn->mem[uop->mem])) +
            machine->units[AS_UNIT_STORE].latency;
        known = early < known ? early : known; /* the address goes ahead of the data */
    }
    uint64_t last_byte = access->address + access->size - 1;
    struct as_memory_answer answer = translate(core, known, access->address);
    if (access->address >> core->page_shift != last_byte >> core->page_shift) {
        struct as_memory_answer second = translate(core, known, last_byte);
        answer.done = later(answer.done, second.done);
        answer.events |= second.events;
        answer.fault |= second.fault;
    }
    p->pipe->events |= answer.events;
    p->attempt->fault |= answer.fault;
    times.done = later(times.done, answer.done);
    /* The virtual address decides what passes what: a load from here waits for the same translation. */
    note_store(core, access, known, times.done);
    return times;
}

/* A read-modify-write that the memory unit carries out, once it owns the line. */
static struct uop_times run_atomic(struct passage *p, uint64_t ready)
{
    struct as_core *core = p->core;
    uint32_t at = 0;
    const struct as_core_access *access = next_access(p->op, &at, AS_ACCESS_LOAD | AS_ACCESS_STORE);
    struct uop_times times = {.issue = issue(core, AS_CLASS_LOAD, oldest_and_drained(core, ready), p->pipe)};
    times.done = times.issue + core->machine->units[AS_UNIT_LOAD].latency;
    if (access) {
        struct as_memory_answer answer = access_memory(core, AS_MEMORY_LOAD, times.done, access->address, access->size);
        p->pipe->events |= answer.events;
        p->attempt->fault |= answer.fault;
        times.done = answer.done;
    }
    times.done += core->machine->atomic_latency;
    return times;
}

static struct uop_times run_cache_operation(struct passage *p, uint64_t ready)
{
    struct as_core *core = p->core;
    uint32_t at = 0;
    struct uop_times times = {.issue = issue(core, AS_CLASS_LOAD, ready, p->pipe)};
    times.done = times.issue + core->machine->units[AS_UNIT_LOAD].latency;
    const struct as_core_access *access = next_access(p->op, &at, AS_ACCESS_PREFETCH | AS_ACCESS_FLUSH);
    if (access)
        access_memory(core, access->kind == AS_ACCESS_FLUSH ? AS_MEMORY_FLUSH : AS_MEMORY_PREFETCH, times.done,
                      access->address, 1);
    return times;
}

static struct uop_times run_fence(struct passage *p, uint64_t ready)
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
    return times;
}

static struct uop_times run_uop(struct passage *p, const struct as_uop *uop, uint64_t ready)
{
    struct as_core *core = p->core;
    enum as_class class_ = (enum as_class)uop->class_;
    switch (class_) {
    case AS_CLASS_LOAD:
        return run_load(p, uop, ready);
    case AS_CLASS_STORE:
        return run_store(p, uop, ready);
    case AS_CLASS_ATOMIC:
        return run_atomic(p, ready);
    case AS_CLASS_CACHE:
        return run_cache_operation(p, ready);
    case AS_CLASS_FENCE:
        return run_fence(p, ready);
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
static void pass(struct as_core *core, const struct as_op *op, struct as_pipe *pipe, struct attempt *attempt)
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

/* Stores of the instruction drain after its commit. */
static void drain(struct as_core *core, const struct as_op *op, uint64_t commit)
{
    uint32_t at = 0;
    uint64_t number = core->n_stores;
    for (uint8_t i = 0; i < op->insn->n_uops; i++) {
        uint8_t class_ = op->insn->uops[i].class_;
        if (class_ != AS_CLASS_STORE && class_ != AS_CLASS_ATOMIC)
            continue;
        put_off_drain(core, next_access(op, &at, AS_ACCESS_STORE), commit, number);
    }
}

/* ---- what follows ---- */

/* How many instructions the front end would have brought into the ROB along the predicted path before the branch
 * resolved, from the program's own code. */
static void follow_wrong_path(struct as_core *core, const struct as_insn *branch, uint64_t address,
                              struct as_pipe *pipe)
{
    const struct as_machine *machine = core->machine;
    uint64_t first = later(pipe->fetch + 1 + machine->front.depth, pipe->dispatch);
    uint64_t delay = first - pipe->dispatch;
    if (first >= pipe->done || delay > UINT8_MAX)
        return;
    uint64_t most = (pipe->done - first) * machine->back.width;
    most = most < machine->back.rob ? most : machine->back.rob;
    most = most < WRONG_PATH_MOST ? most : WRONG_PATH_MOST;
    uint64_t n = 0;
    while (n < most && address) {
        const struct as_insn *insn = core->code_at ? core->code_at(core->code_context, address) : NULL;
        if (!insn)
            break;
        n++;
        address = as_insn_is_control(insn) ? as_predictor_peek(core->predictor, insn) : insn->address + insn->length;
    }
    pipe->wrong_path = (uint16_t)n;
    pipe->wrong_delay = (uint8_t)delay;
    core->counters.wrong_path += n;
}

static void predict(struct as_core *core, const struct as_op *op, struct as_pipe *pipe)
{
    const struct as_machine *machine = core->machine;
    if (!op->next)
        return;
    struct as_prediction prediction = as_predictor_predict(core->predictor, op->insn, op->taken, op->next);
    core->counters.branches++;
    pipe->flags |= op->taken ? AS_PIPE_TAKEN : 0;
    if (prediction.mispredicted) {
        core->counters.mispredictions++;
        pipe->flags |= AS_PIPE_MISPREDICTED;
        pipe->events |= AS_EVENT_FL_MB;
        follow_wrong_path(core, op->insn, prediction.target, pipe);
        core->fetch_next = pipe->done + machine->front.redirect;
        core->packet_open = false;
    } else if (op->taken) {
        core->counters.btb_misses += prediction.btb_miss;
        core->fetch_next = pipe->fetch + 1 + (prediction.fast ? 0 : machine->front.taken_bubble) +
                           (prediction.btb_miss ? machine->front.btb_miss_bubble : 0);
        core->packet_open = false;
    }
}

/* Fetch goes on after a commit that flushed. */
static void flush_after(struct as_core *core, uint64_t commit)
{
    core->fetch_next = commit + core->machine->front.flush;
    core->packet_open = false;
    core->counters.flushes++;
}

static bool flushes(const struct as_core *core, const struct as_insn *insn)
{
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
    flush_after(core, head);
    uint32_t events = pipe->events;
    fetch(core, op->insn, pipe);
    struct attempt second = {0};
    pass(core, op, pipe, &second);
    pipe->flags |= AS_PIPE_EXCEPTION | AS_PIPE_REFETCHED;
    pipe->events |= events | (first->fault ? AS_EVENT_FL_EX : AS_EVENT_FL_MO);
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
    fetch(core, insn, pipe);
    if (!fuse(core, op, pipe)) {
        struct attempt attempt = {0};
        pass(core, op, pipe, &attempt);
        pipe->dispatch = attempt.dispatch;
        pipe->issue = attempt.issue;
        pipe->done = attempt.done;
        pipe->commit = attempt.commit;
        if (attempt.fault || attempt.violated)
            try_again(core, op, pipe, &attempt, before);
        drain(core, op, pipe->commit);
    }
    ring_set(&core->buffer, core->n_insns, pipe->dispatch);
    ring_set(&core->targets, core->n_packets - 1, pipe->commit);
    if (insn->flags & AS_INSN_SERIALISES) {
        pipe->flags |= AS_PIPE_SERIALISED;
        core->hold_dispatch = pipe->commit + 1;
    }
    if (as_insn_is_control(insn))
        predict(core, op, pipe);
    if (flushes(core, insn)) {
        pipe->flags |= AS_PIPE_FLUSHES;
        pipe->events |= AS_EVENT_FL_EX;
        flush_after(core, pipe->commit);
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
