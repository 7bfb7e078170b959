/* The core's state, and the small functions that its parts share. Private to core*.c; the parts are
 *   core.c               a core from its making to its end; an instruction's way through the parts; trying again
 *   core_front.c         fetch packets; predictions and where they send fetch; the wrong path
 *   core_back.h, .c      a micro-operation from dispatch to commit: what runs for each, and what is not the rule
 *   core_memory_order.c  loads, stores, atomics and fences: forwarding, speculation, barriers
 *   core_drain.c         committed stores on their way to the cache
 *   core_ask.h           the questions themselves, inline
 *   core_plain.h         the common instructions' way through all of it, where no resource is short
 *   core_script.h, .c    what a block asks outside, and the answers, for the memo
 *   core_state.h, .c     the state of all this at the start of a block
 *   core_run.c           blocks, from the memo or instruction by instruction
 *   core_edge.h, .c      what the pipeline did with one, as an edge of the memo
 *   core_follow.h, .c    … from the memo: questions and answers
 *   core_warm.c          execution without time
 * What runs for every instruction is inline here or static in one of them.
 */
#ifndef AS_CORE_CORE_INTERNAL_H
#define AS_CORE_CORE_INTERNAL_H

#include "core/calendar.h"
#include "core/core.h"
#include "core/core_script.h"
#include "core/memo_walk.h"
#include "core/predictor.h"
#include "core/recipe.h"

enum {
    STORE_TABLE = 1 << 10, /* recent stores by 8-byte granule */
    MAX_UNITS = 16,        /* of one kind */
    ARCH_REGISTERS = 32,
    STRAIGHTS = 1 << 12,      /* pieces of straight code that wrong paths go through: at first … */
    STRAIGHTS_MOST = 1 << 16, /* … and at most */
};

/* At most `limit` at a time, in the order of their numbers: for each the first cycle in which it has gone. The ring is
 * longer than the limit, so what number n asks about is 0 until it has been set. */
struct ring {
    uint64_t *gone;
    uint64_t mask, limit;
};

/* What the memo needs to know of a micro-operation in flight: cycles from the commit before to its own, and what it
 * frees then. */
enum trail_word {
    TRAIL_CYCLES = (1 << 12) - 1, /* so many: or more */
    TRAIL_INT = 1 << 12,          /* a physical register */
    TRAIL_FP = 1 << 13,           /* … of the other file */
    TRAIL_LOAD = 1 << 14,         /* an entry of the load queue */
    TRAIL_ROW = 1 << 15,          /* it was the first of its row of the ROB */
};

/* A micro-operation's way: the first cycles behind its dispatch and its commit. Those `width`, `rob` and `commit_width`
 * before another limit it. (Counting how many a cycle has had would be shorter, but is one long chain for the host.) */
struct flight {
    uint64_t dispatched, committed;
};

struct store {
    uint64_t number; /* sequence number of the store */
    uint64_t address, end;
    uint64_t address_known, data_known, drained;
    uint64_t executed; /* by the store unit; data_known is later where the translation was */
    bool renames;      /* as_core_access.renames */
};

/* A committed store on its way to the cache. */
struct pending {
    uint64_t address, commit, number; /* `number`: its struct store's */
    uint32_t size;                    /* 0: it wrote nothing (sc) */
    bool read;                        /* a load has its value */
    uint32_t insn;                    /* as_insn.id */
};

/* Code without a control transfer, from an address on. */
struct straight {
    uint64_t address, end;
    uint64_t version, code;        /* as_code_version: of what is here, and of any code */
    const struct as_insn *control; /* behind it; NULL: none */
    uint32_t walk;                 /* number of the last walk that came here */
    uint16_t n;                    /* instructions, with `control` */
    bool unknown;                  /* no code is known at `end` */
};

struct as_core {
    const struct as_machine *machine;
    struct as_predictor *predictor;
    struct as_memory *memory;
    as_code_at *code_at;
    void *code_context;
    as_code_version *code_version; /* NULL: code is looked up each time */
    struct as_stay_log *stays;     /* NULL: nobody asks for occupancy */
    uint64_t *store_dispatched;    /* beside `pending`, only where there is a log */
    const struct as_insn **insns;  /* of the block at hand; NULL: instructions come one by one */
    const uint32_t *foreseen;      /* of its next control transfer: as_body_run.foreseen */
    struct as_script *script;      /* of the block at hand; NULL: it is run for itself */
    struct as_walk walk;           /* where the core is in the memo */
    uint64_t offset;               /* the machine's time is ours plus this */
    uint32_t ideal;                /* of the instruction at hand */
    uint32_t tight_units; /* bit u: some go to unit u for a cycle, and fewer of it are there than can issue … */
    uint32_t long_units;  /* … for longer */
    uint32_t line_shift, block_shift, page_shift; /* of addresses to lines, fetch blocks and pages */

    /* fetch */
    uint64_t fetch_next; /* the next packet cannot start before */
    uint64_t packet_cycle, packet_block, packet_line;
    uint32_t packet_slots; /* of the packet that the next instruction may join; 0: of none */
    uint64_t n_insns, n_packets, n_loads, n_stores, n_uops;
    uint64_t n_writes[AS_REGISTERS_COUNT];
    uint64_t depth;      /* front.depth */
    struct ring buffer;  /* dispatch by instruction: fetch buffer */
    struct ring targets; /* commit by packet: fetch target queue */

    /* dispatch */
    uint64_t last_dispatch, hold_dispatch, last_commit;
    uint64_t dispatch_to_issue;
    struct flight *flights;          /* of micro-operations: a ring */
    uint16_t *trail;                 /* beside it, for the memo: enum trail_word */
    uint64_t trail_commit;           /* of the last one */
    uint64_t trail_break;            /* number of the last one whose commit came too late for its word */
    bool has_rows;                   /* back.rob_rows */
    uint64_t lane;                   /* that the next micro-operation takes in its row; 0: of a new one */
    uint64_t opens_row;              /* 1: the micro-operation at hand is the first of its row */
    uint64_t n_rows, row_dispatched; /* the last row: when its first one dispatched */
    struct ring rows;                /* last commit by row */
    uint64_t flights_mask, width, rob, commit_width;
    struct ring load_queue, store_queue;
    uint64_t
        *store_moved; /* beside the store queue: until when what left waited for another core's line; 0: it did not */
    struct ring registers[AS_REGISTERS_COUNT];
    struct as_occupancy *branches; /* unresolved ones: they resolve out of order */

    /* issue */
    struct as_occupancy *queues[AS_QUEUE_COUNT];
    struct as_calendar *queue_calendar[AS_QUEUE_COUNT], *unit_calendar[AS_UNIT_COUNT];
    uint64_t unit_free[AS_UNIT_COUNT][MAX_UNITS]; /* units that are not pipelined */
    uint64_t ready[AS_REG_SLOTS];

    /* memory order */
    uint64_t store_granules[STORE_TABLE]; /* address / 8 of each: most look-ups need no more */
    struct store stores[STORE_TABLE];
    uint8_t waits[AS_WAIT_SLOTS];
    uint64_t stores_known;                /* all older stores have their addresses */
    uint64_t load_barrier, store_barrier; /* loads, all accesses may not start before */
    /* By store, a ring: those from n_drained to n_stores. It has room for a block's more, so that those of its start are
     * still there at its end. */
    struct pending *pending;
    uint64_t pending_mask, n_drained;
    uint64_t next_drain; /* cycle in which the first of them starts; UINT64_MAX: there is none */
    uint64_t last_drain_start, last_drain;
    uint64_t
        stood; /* cycles that the core has stood still since it last ran: `stores` drained so much earlier than they say */
    uint32_t drains_in_cycle;
    uint64_t gathered; /* line + 1 for which stores are put together until last_drain, or were; 0: none */

    /* commit */
    uint64_t kernel_cycles;
    uint16_t last_flags; /* of the last record: AS_STATE_FLAGS */

    /* the instruction before, for fusion */
    const struct as_insn *previous;
    uint64_t previous_dispatch, previous_issue, previous_done, previous_commit;
    uint64_t n_continued, n_again; /* further iterations of rep; micro-operations that came a second time */
    struct as_counters counters;
    uint32_t process, thread;
    const struct as_shared_ranges *shared;
    bool away;                      /* others use its memory */
    struct as_counters found, left; /* what the memory had counted when it came; … did while it was there before */
    uint64_t warm_line;             /* the instruction line that was last fetched without time */
    uint64_t warm_mispredictions;   /* without time */

    /* wrong paths: as the predictor, of whoever predicts */
    uint32_t n_walks;
    struct straight *straights; /* by address */
    uint64_t straights_mask, straights_missed;

    union as_recipe_room own; /* of an instruction that came without one; last, as its size varies */
};

/* The first cycle in which the one `limit` before number n has gone; 0 where there is none. */
static inline uint64_t gone_at(const struct ring *ring, uint64_t n)
{
    return ring->gone[(n - ring->limit) & ring->mask];
}

/* Number n goes at the end of `cycle`. */
static inline void go(struct ring *ring, uint64_t n, uint64_t cycle)
{
    ring->gone[n & ring->mask] = cycle + 1;
}

static inline uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* What a micro-operation comes to. */
struct uop_times {
    uint64_t issue, done;
};

/* Why an instruction has to be tried again. */
struct trouble {
    uint64_t violated; /* not 0: a store that a load passed without knowing has its address in this cycle */
    uint32_t fault;
};

/* One pass of an instruction through the pipeline; a second one follows a fault or a memory-order violation. */
struct passage {
    struct as_core *core;
    const struct as_op *op;
    const struct as_recipe *recipe;
    struct as_pipe *pipe; /* takes the times */
    uint32_t load_at, store_at;
    uint64_t dispatched; /* the micro-operation at hand */
    struct trouble trouble;
};

/* ---- core_front.c ---- */

uint64_t as_core_next_packet(const struct as_core *core); /* the earliest cycle of a new packet */
/* … for an instruction, which has this number in its block. */
void as_core_open_packet(struct as_core *core, const struct as_recipe *recipe, uint16_t number, uint64_t not_before,
                         struct as_pipe *pipe);
/* Predicts a control transfer that has its times, and says when and where fetch goes on. */
void as_core_predict(struct as_core *core, const struct as_op *op, struct as_pipe *pipe);
/* Returns enum as_ask_prediction, of a branch that is predicted wrong whatever its ideal. `next` 0: not known. */
uint32_t as_core_ask_predictor(struct as_core *core, const struct as_insn *insn, bool taken, uint64_t next,
                               uint64_t *target);
uint32_t as_core_walk_wrong_path(struct as_core *core, uint64_t address, uint32_t most);
void as_core_make_straights(struct as_core *core, uint64_t n); /* places for straight code, a power of 2, all empty */

/* A word of as_body_run.foreseen: what was predicted, and above it the length of the wrong path. */
enum { FORESEEN_BITS = 8 };

/* Returns enum as_ask_prediction. `*path` is for as_core_follow_wrong_path. */
static inline uint32_t as_core_ask_prediction(struct as_core *core, const struct as_insn *insn, bool taken,
                                              uint64_t next, uint64_t *path)
{
    uint32_t bits;
    if (core->foreseen) {
        *path = *core->foreseen >> FORESEEN_BITS;
        bits = *core->foreseen++ & ((1u << FORESEEN_BITS) - 1);
    } else {
        bits = as_core_ask_predictor(core, insn, taken, next, path);
    }
    return __builtin_expect(core->ideal & AS_EVENT_FL_MB, 0) ? bits & ~(uint32_t)AS_PREDICT_WRONG : bits;
}

/* The number of instructions on the wrong path behind the transfer that was predicted last, `most` at most. */
static inline uint32_t as_core_follow_wrong_path(struct as_core *core, uint64_t path, uint32_t most)
{
    if (core->foreseen)
        return path < most ? (uint32_t)path : most;
    return as_core_walk_wrong_path(core, path, most);
}

/* Fetch goes on after a commit that flushed. */
void as_core_flush_after(struct as_core *core, uint64_t commit);

/* The fetch cycle of the next instruction. It enters the fetch buffer depth - 1 cycles after its fetch and leaves it
 * when it dispatches. */
static inline void fetch(struct as_core *core, const struct as_op *op, const struct as_recipe *recipe,
                         struct as_pipe *pipe)
{
    uint64_t room = gone_at(&core->buffer, core->n_insns), depth = core->depth;
    uint64_t not_before = room > depth ? room - depth : 0;
    bool joins = core->packet_slots != 0 && recipe->block == core->packet_block && recipe->line == core->packet_line &&
                 not_before <= core->packet_cycle;
    if (!joins)
        as_core_open_packet(core, recipe, op->number, not_before, pipe);
    core->packet_slots--;
    pipe->fetch = core->packet_cycle;
}

/* ---- core_back.c ---- */

/* From dispatch to commit, any number of micro-operations of any kind. Fills the pipe's times. */
void as_core_pass(struct passage *p);
/* Notes the stays of a micro-operation, all but that in the store queue. Only where there is a log. */
void as_core_note_stays(struct as_core *core, const struct as_micro *micro, uint32_t traits, uint64_t dispatched,
                        uint64_t issued, uint64_t committed);

/* ---- core_memory_order.c ---- */

/* A load whose address is known in `cycle`: when it has its data. */
uint64_t as_core_load(struct as_core *core, const struct as_micro *micro, const struct as_core_access *access,
                      uint64_t cycle, struct as_pipe *pipe, struct trouble *trouble);
/* A store that issued with its data: when it is done. Its address may have been known before. */
uint64_t as_core_store(struct as_core *core, const struct as_micro *micro, const struct as_core_access *access,
                       uint64_t dispatched, uint64_t issued, struct as_pipe *pipe, struct trouble *trouble);
/* Where core_ask.h does not answer inline. */
struct as_memory_answer as_core_translate_slowly(struct as_core *core, uint64_t cycle,
                                                 const struct as_core_access *access);
struct as_memory_answer as_core_ask_access(struct as_core *core, enum as_memory_kind kind, uint64_t cycle,
                                           const struct as_core_access *access);
struct as_memory_answer as_core_load_slowly(struct as_core *core, const struct as_core_access *access, uint64_t cycle);
/* Micro-operations that the memory unit carries out; operands are ready in cycle `ready`. */
struct uop_times as_core_run_load(struct passage *p, const struct as_micro *micro, uint64_t ready);
struct uop_times as_core_run_store(struct passage *p, const struct as_micro *micro, uint64_t ready);
struct uop_times as_core_run_atomic(struct passage *p, const struct as_micro *micro, uint64_t ready);
struct uop_times as_core_run_cache_operation(struct passage *p, const struct as_micro *micro, uint64_t ready);
struct uop_times as_core_run_fence(struct passage *p, uint64_t ready);

static inline const struct as_core_access *next_access(const struct as_op *op, uint32_t *at, uint8_t kinds)
{
    while (*at < op->n_accesses)
        if (op->accesses[(*at)++].kind & kinds)
            return &op->accesses[*at - 1];
    return NULL;
}

static inline uint32_t store_slot(uint64_t granule)
{
    return (granule ^ granule >> 10) % STORE_TABLE;
}

/* ---- core.c ---- */

/* The instruction raised an exception, or loaded too early: at the head of the ROB the pipeline is flushed and it is
 * fetched again. `before` is the commit before it. */
void as_core_try_again(const struct passage *first, uint64_t before);

/* ---- core_run.c ---- */

/* Brings the pipeline up to date; the next block looks for its node anew. */
void as_core_leave_memo(struct as_core *core);
void as_core_move_stores_back(struct as_core *core);

/* Before the core runs: stores are as old as they are. */
static inline void as_core_begin_run(struct as_core *core)
{
    if (__builtin_expect(core->stood != 0, 0))
        as_core_move_stores_back(core);
}
void as_core_forget_memo(struct as_core *core); /* before the core is freed */

/* ---- core_drain.c ---- */

void as_core_drain_one(struct as_core *core);
/* Sets when the first pending store starts. */
void as_core_plan_drain(struct as_core *core);
/* The first pending store's entry is free behind cycle `freed`. The core has a log. */
static inline void as_core_log_drain(struct as_core *core, uint64_t freed)
{
    as_stay_log_add(core->stays, AS_RESOURCE_STORE_QUEUE, core->store_dispatched[core->n_drained & core->pending_mask],
                    freed + 1);
}
/* A pending store that core_ask.h does not answer inline: when it has drained. */
struct as_memory_answer as_core_drain_slowly(struct as_core *core, const struct pending *pending, uint64_t start);
/* A store drains after its commit. `access` NULL: it wrote nothing. `number` is its struct store's. */
void as_core_put_off_drain(struct as_core *core, const struct as_core_access *access, const struct as_pipe *pipe,
                           uint64_t number);
/* All stores of the instruction do. */
void as_core_put_off_drains(struct as_core *core, const struct as_op *op, const struct as_recipe *recipe,
                            const struct as_pipe *pipe);

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

/* The instruction that an access belongs to. */
static inline uint32_t insn_of(const struct as_core *core, const struct as_core_access *access)
{
    return core->insns ? core->insns[access->index]->id : AS_TRANSFER_NO_INSN;
}

static inline void set_ideal(struct as_core *core, uint32_t ideal)
{
    if (core->ideal == ideal)
        return;
    core->ideal = ideal;
    as_memory_set_ideal(core->memory, ideal);
}

/* The memory has its own time. */
static inline struct as_memory_answer in_core_time(const struct as_core *core, struct as_memory_answer answer)
{
    answer.done -= core->offset;
    return answer;
}

#endif
