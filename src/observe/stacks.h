/* Cycle stacks: what kind of time a program, a function or an instruction spent, in the categories of the TIP paper,
 * and the class that a program falls into by them. */
#ifndef AS_OBSERVE_STACKS_H
#define AS_OBSERVE_STACKS_H

#include "assay/insn.h"
#include "observe/oracle.h"

enum as_stack_part {
    AS_STACK_EXECUTION,   /* instructions commit */
    AS_STACK_ALU_STALL,   /* the oldest instruction is not done: it neither loads nor stores … */
    AS_STACK_LOAD_STALL,  /* … it loads (whatever else it does) … */
    AS_STACK_STORE_STALL, /* … it stores */
    AS_STACK_FRONT_END,   /* the ROB has drained */
    AS_STACK_MISPREDICT,  /* the ROB is empty behind a mispredicted branch */
    AS_STACK_MISC_FLUSH,  /* … for any other flush: status registers, exceptions, memory order */
    AS_STACK_COUNT
};

struct as_stack {
    uint64_t units[AS_STACK_COUNT];
};

enum as_intensity {
    AS_INTENSITY_COMPUTE, /* more than half of the time instructions commit */
    AS_INTENSITY_FLUSH,   /* otherwise: more than 3 % of the time went to flushes */
    AS_INTENSITY_STALL,
};

const char *as_stack_part_name(enum as_stack_part part);          /* "execution", "alu_stall" … as in JSON */
const char *as_intensity_name(enum as_intensity intensity);       /* "compute", "flush", "stall" */
enum as_stack_part as_stack_stall_of(const struct as_insn *insn); /* NULL: ALU */

void as_stack_add(struct as_stack *stack, const struct as_oracle_row *row, const struct as_insn *insn);
/* Over all instructions of the run. */
struct as_stack as_stack_of(const struct as_oracle *oracle, const struct as_run_info *run);
uint64_t as_stack_total(const struct as_stack *stack);
enum as_intensity as_stack_intensity(const struct as_stack *stack);

#endif
