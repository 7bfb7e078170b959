/* The out-of-order core: gives each executed instruction its fetch, dispatch, issue, done and commit cycle.
 *
 * Instructions come in program order, once each, with their accesses and outcome; the core computes their times at once
 * instead of stepping every unit every cycle. Each resource is a constraint on those times (core.c names them one by
 * one). What that approximates is measured against a plain cycle-stepped core in the tests and named in
 * doc/design/core.md.
 */
#ifndef AS_CORE_CORE_H
#define AS_CORE_CORE_H

#include "assay/insn.h"
#include "assay/pipe.h"
#include "core/machine.h"
#include "core/memory.h"
#include "core/recipe.h"
#include "core/stay_log.h"

struct as_core_access {
    uint64_t address;
    uint32_t size;
    uint16_t index; /* of its instruction, where several are executed together (memo.h) */
    uint8_t kind;   /* AS_ACCESS_* */
    bool renames;   /* as_recipe_renames says so */
};

/* An executed instruction, or an iteration of a rep instruction. */
struct as_op {
    const struct as_insn *insn;
    const struct as_recipe *recipe; /* what as_recipe_make says of it; NULL: it is made anew */
    uint64_t next;                  /* where control went; 0 unknown */
    const struct as_core_access *accesses;
    uint32_t n_accesses;
    bool taken, continues;
    bool last;       /* of its block, or chain of blocks */
    uint16_t number; /* … its place in it */
    uint32_t ideal;  /* events that do not happen to it: AS_CORE_IDEAL */
};

/* The events that can be made not to happen, as if their causes had been removed. For the caches' and TLBs' see
 * as_memory_set_ideal. FL_MB: the branch is predicted right. FL_EX: its flush, or its page fault, does not happen.
 * FL_MO: the load waits for the store instead of passing it. DR_SQ: there is room for the store. DIVIDE: a unit is
 * free. */
enum {
    AS_CORE_IDEAL = AS_EVENT_DR_L1 | AS_EVENT_DR_TLB | AS_EVENT_DR_SQ | AS_EVENT_FL_MB | AS_EVENT_FL_EX |
                    AS_EVENT_FL_MO | AS_EVENT_ST_L1 | AS_EVENT_ST_TLB | AS_EVENT_ST_LLC | AS_EVENT_BANK |
                    AS_EVENT_DIVIDE,
};

/* Adjacent static instructions. */
struct as_code_run {
    uint32_t n; /* at least 1 */
    uint64_t end;
    const struct as_insn
        *control; /* the last of them, if it transfers control; none before it does. NULL: it does not */
};
/* Instructions from an address of the thread's image on, as many as are at hand; false where no code is known: for the
 * wrong path. */
typedef bool as_code_at(void *context, uint64_t address, struct as_code_run *run);
/* A number that is the same as long as as_code_at answers the same: where it found instructions, or (`unknown`) for any
 * address. */
typedef uint64_t as_code_version(void *context, bool unknown);

struct as_core;
struct as_core *as_core_new(const struct as_machine *machine, struct as_uncore *uncore, uint32_t number,
                            as_code_at *code_at, void *code_context);
/* Lets the core remember the code of wrong paths. */
void as_core_set_code_version(struct as_core *core, as_code_version *version);
/* Processes do not share lines and pages, though their addresses are the same. */
void as_core_set_process(struct as_core *core, uint32_t process);
void as_core_set_shared(struct as_core *core, const struct as_shared_ranges *shared); /* as_memory_set_shared */
/* The thread that it executes: what transfers call it (core/transfer.h). */
void as_core_set_thread(struct as_core *core, uint32_t thread);
void as_core_free(struct as_core *core);
/* Several cores with one number share caches and TLBs: a core with threads that take turns. The one that goes lets its
 * stores drain; the one that comes goes on with what it finds. A new one has come. */
void as_core_go(struct as_core *core);
void as_core_come(struct as_core *core);

/* From now on the core says into `log` how long entries of its parts are in use. Before the first instruction. Those of
 * the wrong path are not among them: as_pipe.wrong_path has their number. */
void as_core_log_stays(struct as_core *core, struct as_stay_log *log);

/* Fills all of `pipe` but path and thread. */
void as_core_execute(struct as_core *core, const struct as_op *op, struct as_pipe *pipe);

/* What the predictor says of a control transfer does not depend on times, so it can be asked ahead of the core and on another
 * thread: once for each transfer, in program order, instead of by the core itself. Returns a word for
 * as_body_run.foreseen (memo.h). */
uint32_t as_core_foresee(struct as_core *core, const struct as_insn *insn, bool taken, uint64_t next);
/* The same for the control transfers of a chain of blocks, which are always the same; `foreseen` gets a word for each. It lives as long
 * as the core. */
enum { AS_ROUTE_STEPS = 8 };
struct as_route {
    uint32_t n;        /* transfers */
    uint32_t plain;    /* so many of them, from the first on, are branches and direct jumps */
    uint32_t branches; /* bit i: transfer i is a conditional branch */
    struct as_route_step {
        const struct as_insn *insn;
        uint64_t next; /* where it goes; 0 unknown, of the last one alone */
        bool taken;
    } steps[AS_ROUTE_STEPS];
};
void as_route_add(struct as_route *route, const struct as_insn *insn);
void as_core_foresee_route(struct as_core *core, const struct as_route *route, uint32_t *foreseen);

/* Soon these addresses are accessed: the host may fetch what the core will look at then. Changes nothing. `n` 0: whether the
 * core has misses enough for that. */
bool as_core_announce(struct as_core *core, const uint64_t *addresses, size_t n);

/* ---- without time: caches, TLBs and predictors alone (core_warm.c) ---- */

/* The instruction lines of [address, end) are fetched. */
void as_core_warm_fetch(struct as_core *core, uint64_t address, uint64_t end);
void as_core_warm_accesses(struct as_core *core, const struct as_core_access *accesses, size_t n);
/* A control transfer went to `next`. */
void as_core_warm_control(struct as_core *core, const struct as_insn *insn, bool taken, uint64_t next);
uint64_t as_core_warm_mispredictions(const struct as_core *core); /* of these */
/* Lets all that is under way end, before something is left out: the next instruction is fetched after the last commit,
 * into an empty pipeline. */
void as_core_empty(struct as_core *core);

uint64_t as_core_cycles(const struct as_core *core); /* commit cycle of the last instruction */
/* The machine's time, which all cores share: own cycles, and those in which the thread was not running. */
uint64_t as_core_time(const struct as_core *core);
/* … when an atomic that came next could have its line, if that is the line of the last one (memory.h). */
uint64_t as_core_turn(const struct as_core *core);
/* When the core last lost the line of an address to another one; UINT64_MAX: that is not known (any more). */
uint64_t as_core_lost(const struct as_core *core, uint64_t address);
void as_core_wait_until(struct as_core *core, uint64_t time); /* it did not run until then; never backwards */
/* Drains all stores: when, in the machine's time, others can see the last of them. */
uint64_t as_core_show_stores(struct as_core *core);
uint64_t as_core_kernel_cycles(const struct as_core *core); /* system calls and page faults, not part of the above */

/* All that the core and its memory count; processes and threads are not theirs to know. */
void as_core_count(const struct as_core *core, struct as_counters *counters);

#endif
