/* Carries x86-64 registers forward over instructions, as far as their values are known: moves, address arithmetic,
 * integer arithmetic and logic, the stack pointer, and the flags that conditional branches read. An instruction that is
 * not supported, or that reads memory, makes its results unknown. */
#ifndef AS_NATIVE_X86_STEP_H
#define AS_NATIVE_X86_STEP_H

#include "watch/operand.h"

struct as_x86_machine {
    struct as_machine_state state; /* value, known and flags are updated */
    uint64_t known_flags;          /* of state.flags */
};

void as_x86_machine_start(struct as_x86_machine *machine, const struct as_machine_state *state, bool flags);
void as_x86_machine_step(struct as_x86_machine *machine, const struct as_insn *insn);

/* Whether a conditional branch is taken: 1, 0, or -1 if the flags are unknown. */
int as_x86_machine_branch(const struct as_x86_machine *machine, const struct as_insn *insn);

#endif
