/* What a machine makes of a static instruction: computed once, read at each execution.
 *
 * It holds everything that is the same for all executions: the place of its packet, the registers, queue, unit and
 * latency of each micro-operation, and the special cases of the core that apply. A field without a meaning for the
 * instruction names a resource that never delays (a register that is always ready, a register file without limit), so
 * that the common path has no branches.
 */
#ifndef AS_CORE_RECIPE_H
#define AS_CORE_RECIPE_H

#include "core/machine.h"

enum as_micro_kind {
    AS_MICRO_UNIT, /* a unit and its latency */
    AS_MICRO_LOAD,
    AS_MICRO_STORE,
    AS_MICRO_NOP,
    AS_MICRO_ATOMIC,
    AS_MICRO_CACHE,
    AS_MICRO_FENCE
};

/* What a micro-operation needs beside an entry in the ROB. */
enum as_micro_trait {
    AS_MICRO_QUEUED = 1 << 0,     /* an issue-queue entry */
    AS_MICRO_LOADS = 1 << 1,      /* a load queue entry */
    AS_MICRO_STORES = 1 << 2,     /* a store queue entry */
    AS_MICRO_BRANCH = 1 << 3,     /* a branch tag */
    AS_MICRO_SERIALISES = 1 << 4, /* an empty ROB */
    AS_MICRO_WIDE = 1 << 5,       /* more registers than `reads` and `writes` hold: ask the static instruction */
    AS_MICRO_TIGHT = 1 << 6,      /* a unit for a cycle: there are fewer than its queue can issue in one */
    AS_MICRO_LONG = 1 << 7,       /* a unit for `interval` cycles */
};

/* Physical registers that it takes: the files' numbers. */
enum { AS_REGISTERS_NONE, AS_REGISTERS_INT, AS_REGISTERS_FP, AS_REGISTERS_COUNT };

/* Registers that are not: one is always ready, the other is never read. */
enum { AS_REG_READY = AS_REG_COUNT, AS_REG_SINK, AS_REG_SLOTS };

enum { AS_MICRO_READS = 3, AS_MICRO_WRITES = 2, AS_MICRO_MANY = UINT8_MAX };

struct as_micro {
    uint8_t kind;   /* enum as_micro_kind */
    uint8_t traits; /* enum as_micro_trait */
    uint8_t reads[AS_MICRO_READS], writes[AS_MICRO_WRITES];
    uint8_t queue, unit, registers;
    uint8_t after;       /* as in as_uop */
    uint8_t base, index; /* of a store: its address's registers. Base AS_REG_NONE: the address comes with the data */
    uint8_t accesses;    /* of the first micro-operation: those of its instruction, in a body; AS_MICRO_MANY: or more */
    uint16_t waits;      /* as_wait_slot of its instruction */
    uint32_t latency, interval;
};

enum as_recipe_trait {
    AS_RECIPE_CONTROL = 1 << 0,
    AS_RECIPE_FUSES = 1 << 1,      /* a branch, on a machine that fuses them with what is before */
    AS_RECIPE_FUSED = 1 << 2,      /* may be before one */
    AS_RECIPE_STORES = 1 << 3,     /* has stores that drain */
    AS_RECIPE_SERIALISES = 1 << 4, /* what follows waits for its commit */
    AS_RECIPE_FLUSHES = 1 << 5,    /* what follows is fetched after its commit */
    AS_RECIPE_SYSTEM = 1 << 6,     /* … and the kernel's time */
    AS_RECIPE_PAIRED = 1 << 7,     /* with FUSES: it does, if it comes in time; the one before is known */
    /* of what is not the usual access */
    AS_RECIPE_ATOMIC = 1 << 8, /* AS_INSN_ATOMIC */
    AS_RECIPE_LOCKED = 1 << 9, /* AS_INSN_LOCKED */
    AS_RECIPE_EACH = 1 << 10,  /* AS_INSN_MULTI_MEM */
    /* those that do anything to what follows */
    AS_RECIPE_HOLDS = AS_RECIPE_CONTROL | AS_RECIPE_FUSED | AS_RECIPE_SERIALISES | AS_RECIPE_FLUSHES | AS_RECIPE_SYSTEM
};

/* Loads that were caught passing a store are noted by address, a few bits of it. */
enum { AS_WAIT_SLOTS = 1 << 10 };

static inline uint16_t as_wait_slot(uint64_t address)
{
    return (uint16_t)((address >> 1 ^ address >> 11) % AS_WAIT_SLOTS);
}

/* Instructions of one micro-operation, with a few registers, that have a way of their own through the core. PLAIN_UNIT and
 * PLAIN_LOAD do nothing to those behind them, but for what may fuse with a branch; so does LOAD_UNIT, a load and then a unit.
 * PLAIN_STORE does nothing to them but for its store; a BRANCH only sends fetch elsewhere. */
enum as_recipe_shape {
    AS_SHAPE_ANY,
    AS_SHAPE_LOAD_UNIT,
    AS_SHAPE_STORE,
    AS_SHAPE_PLAIN_STORE,
    AS_SHAPE_LOAD,
    AS_SHAPE_PLAIN_LOAD,
    AS_SHAPE_UNIT, /* from here on: one that goes to a unit */
    AS_SHAPE_BRANCH,
    AS_SHAPE_PLAIN_UNIT
};

/* All that most executions look at: the static instruction is three host lines elsewhere, which the host has to wait for. */
struct as_recipe {
    uint64_t block, line; /* of its address, and of its last byte: fetch block and cache line */
    uint32_t insn;        /* its number */
    uint16_t traits;      /* enum as_recipe_trait */
    uint8_t n;            /* micro-operations: at least 1 */
    uint8_t shape;        /* enum as_recipe_shape */
    struct as_micro micro[];
};
_Static_assert(sizeof(struct as_recipe) % 8 == 0 && sizeof(struct as_micro) % 8 == 0, "they lie one behind the other");

/* Room for any recipe. */
union as_recipe_room {
    struct as_recipe recipe;
    uint8_t bytes[sizeof(struct as_recipe) + AS_INSN_MAX_UOPS * sizeof(struct as_micro)];
};

static inline size_t as_recipe_bytes(const struct as_recipe *recipe)
{
    return sizeof *recipe + recipe->n * sizeof *recipe->micro;
}

/* The one behind it, where recipes lie one behind the other. */
static inline const struct as_recipe *as_recipe_behind(const struct as_recipe *recipe)
{
    return (const struct as_recipe *)((const uint8_t *)recipe + as_recipe_bytes(recipe));
}

static inline size_t as_recipe_bytes_of(const struct as_insn *insn)
{
    return sizeof(struct as_recipe) + (insn->n_uops ? insn->n_uops : 1) * sizeof(struct as_micro);
}

/* Whether memory renaming, on machines that have it, knows an access of `size` bytes by this instruction: a load or store of an
 * integer register, 4 or 8 bytes of it. */
bool as_recipe_renames(const struct as_insn *insn, uint32_t size);

/* `recipe` has room for the instruction's micro-operations. */
void as_recipe_make(const struct as_machine *machine, const struct as_insn *insn, struct as_recipe *recipe);

#endif
