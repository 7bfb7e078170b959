/* Programs for the core that no machine ever ran: made of synthetic instructions, without QEMU.
 *
 * A bed holds a machine, code (static instructions one behind the other, RISC-V style: one micro-operation each) and
 * the steps that were executed. core_bed_run sends the steps through the core and returns their records. Before them it
 * touches the code and the data named by core_bed_warm, and makes a system call: the core then stands empty with warm
 * caches, at a cycle that the records count as 0. So the first fetch is in cycle front.flush.
 */
#ifndef AS_TESTS_CORE_BED_H
#define AS_TESTS_CORE_BED_H

#include "base/vec.h"
#include "bed_random.h"
#include "core/core.h"

enum { BED_NONE = -1, BED_CODE = 0x10000, BED_DATA = 0x10000000 };

struct bed_step {
    uint32_t insn; /* index into code */
    bool taken;
    uint64_t next;
    struct as_core_access access; /* size 0: none */
};

struct bed_range {
    uint64_t address, bytes;
};

struct core_bed {
    struct as_machine machine;
    uint64_t pc;               /* where the next static instruction goes */
    uint8_t length;            /* of instructions: 4 */
    bool cold_code;            /* leave the code out of the caches */
    uint32_t ideal;            /* of every step: see as_op */
    struct as_stay_log *stays; /* NULL: no log; its cycles are the core's, `start` more than the records' */
    AS_VEC(struct as_insn) code;
    AS_VEC(struct bed_step) steps;
    AS_VEC(struct bed_range) warm;
    AS_VEC(struct bed_range) foreign; /* another core has written it last */
    /* after core_bed_run */
    struct as_pipe *pipes;
    struct as_counters counters;
    uint64_t kernel_cycles, start; /* `start`: the cycle that the records call 0 */
};

/* boom-tip, with changes ("back.rob=64,back.commit_width=2") or NULL. Pages are there from the start. */
void core_bed_open(struct core_bed *bed, const char *changes);
void core_bed_open_machine(struct core_bed *bed, const char *machine, const char *changes);
void core_bed_close(struct core_bed *bed);

/* Static instructions. Registers are as in insn.h, BED_NONE where absent; loads and stores take their address from `a`.
 * Each returns its index. */
uint32_t core_bed_add(struct core_bed *bed, enum as_class class_, int write, int a, int b);
uint32_t core_bed_add_flagged(struct core_bed *bed, enum as_class class_, uint32_t flags, int write, int a, int b);

/* Executed instructions. */
void core_bed_step(struct core_bed *bed, uint32_t insn);
void core_bed_access(struct core_bed *bed, uint32_t insn, uint64_t address);
void core_bed_jump(struct core_bed *bed, uint32_t insn, bool taken, uint64_t target); /* sets the static target too */

/* Both at once: the instruction is new and executed at once. */
void core_bed_do(struct core_bed *bed, enum as_class class_, int write, int a, int b);
void core_bed_load(struct core_bed *bed, int write, int base, uint64_t address);
void core_bed_store(struct core_bed *bed, int base, int data, uint64_t address);

void core_bed_warm(struct core_bed *bed, uint64_t address, uint64_t bytes);
/* From before the steps on, another core owns these lines. Only with coherence. */
void core_bed_give_away(struct core_bed *bed, uint64_t address, uint64_t bytes);
/* That core, where there are such lines, or NULL; the caller frees it. */
struct as_memory *core_bed_other_core(const struct core_bed *bed, struct as_uncore *uncore);
/* The steps, for the code that executes them. */
struct as_op core_bed_op(const struct core_bed *bed, const struct bed_step *step);
/* Calls `touch` for each line of code and data that is to be warm, in the order in which the core sees them. */
void core_bed_each_warm(const struct core_bed *bed, void (*touch)(void *context, bool code, uint64_t address),
                        void *context);
void core_bed_run(struct core_bed *bed);
/* What core_bed_run does first, for a core of the caller's. Returns the cycle at which it stands. */
uint64_t core_bed_warm_up(const struct core_bed *bed, struct as_core *core);

/* Cycles of a step between the commits of `from` and `to`, on average; negative counts from the end. */
double core_bed_rate(const struct core_bed *bed, long from, long to);

#endif
