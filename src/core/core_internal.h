/* The core's state, and the small functions that its parts share. Private to core*.c; the parts are
 *   core.c               a core from its making to its end; an instruction's way through the parts; trying again
 *   core_front.c         fetch packets; predictions and where they send fetch; the wrong path
 *   core_back.c          a micro-operation from dispatch to commit
 *   core_memory_order.c  loads, stores, atomics and fences: forwarding, speculation, barriers
 *   core_drain.c         committed stores on their way to the cache
 * What runs for every instruction is inline here or static in one of them.
 */
#ifndef AS_CORE_CORE_INTERNAL_H
#define AS_CORE_CORE_INTERNAL_H

#include "core/calendar.h"
#include "core/core.h"
#include "core/predictor.h"

enum {
    STORE_TABLE = 1 << 10, /* recent stores by 8-byte granule */
    WAIT_TABLE = 1 << 10,  /* loads that were caught passing a store */
    MAX_UNITS = 16,        /* of one kind */
    ARCH_REGISTERS = 32,
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
    uint32_t ideal;                               /* of the instruction at hand */
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

/* What one pass through the pipeline came to; a second one follows a fault or a memory-order violation. */
struct attempt {
    uint64_t dispatch, issue, done, commit;
    uint64_t violated;
    bool fault;
};

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

/* ---- core_front.c ---- */

/* The fetch cycle of the next instruction, into `pipe`. */
void as_core_fetch(struct as_core *core, const struct as_insn *insn, struct as_pipe *pipe);
/* Predicts a control transfer that has its times, and says when and where fetch goes on. */
void as_core_predict(struct as_core *core, const struct as_op *op, struct as_pipe *pipe);
/* Fetch goes on after a commit that flushed. */
void as_core_flush_after(struct as_core *core, uint64_t commit);

/* ---- core_back.c ---- */

/* One pass of an instruction through the pipeline. */
void as_core_pass(struct as_core *core, const struct as_op *op, struct as_pipe *pipe, struct attempt *attempt);

/* The first cycle from `cycle` in which the queue can issue and a unit is free; takes both. */
static inline uint64_t issue(struct as_core *core, enum as_class class_, uint64_t cycle, struct as_pipe *pipe)
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
        if (free_at[best] > cycle && !(core->ideal & AS_EVENT_DIVIDE)) {
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

/* ---- core_memory_order.c ---- */

/* Micro-operations that the memory unit carries out; operands are ready in cycle `ready`. */
struct uop_times as_core_run_load(struct passage *p, const struct as_uop *uop, uint64_t ready);
struct uop_times as_core_run_store(struct passage *p, const struct as_uop *uop, uint64_t ready);
struct uop_times as_core_run_atomic(struct passage *p, uint64_t ready);
struct uop_times as_core_run_cache_operation(struct passage *p, uint64_t ready);
struct uop_times as_core_run_fence(struct passage *p, uint64_t ready);

static inline const struct as_core_access *next_access(const struct as_op *op, uint32_t *at, uint8_t kinds)
{
    while (*at < op->n_accesses)
        if (op->accesses[(*at)++].kind & kinds)
            return &op->accesses[*at - 1];
    return NULL;
}

static inline struct store *store_slot(struct as_core *core, uint64_t granule)
{
    return &core->stores[(granule ^ granule >> 10) % STORE_TABLE];
}

/* ---- core_drain.c ---- */

void as_core_drain_one(struct as_core *core);
/* Stores of the instruction drain after its commit. */
void as_core_put_off_drains(struct as_core *core, const struct as_op *op, uint64_t commit);

/* All that start by `cycle`. */
static inline void drain_until(struct as_core *core, uint64_t cycle)
{
    while (core->next_drain <= cycle)
        as_core_drain_one(core);
}

/* The first n of all, whenever they do. */
static inline void drain_first(struct as_core *core, uint64_t n)
{
    while (core->n_drained < n)
        as_core_drain_one(core);
}

/* The memory has its own time. */
static inline struct as_memory_answer in_core_time(const struct as_core *core, struct as_memory_answer answer)
{
    answer.done -= core->offset;
    return answer;
}

#endif
