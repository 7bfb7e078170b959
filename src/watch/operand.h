/* Data addresses from saved registers: the addresses that a decoded instruction is about to access, or the addresses
 * that it has accessed if it has just completed.
 *
 * Forwards this is plain arithmetic. Backwards, the instruction may have overwritten its own address registers. If the
 * change is known (stack and string instructions), it is undone; otherwise there is no address.
 */
#ifndef AS_WATCH_OPERAND_H
#define AS_WATCH_OPERAND_H

#include "assay/insn.h"

enum { AS_MACHINE_REGISTERS = 32 };

/* The registers of a stopped thread, numbered as in struct as_insn (x86: rax rcx rdx rbx rsp rbp rsi rdi r8 … r15). */
struct as_machine_state {
    uint64_t value[AS_MACHINE_REGISTERS];
    uint64_t ip, flags;
    uint64_t segment[3]; /* bases of fs [1] and gs [2] */
    bool knows_flags;
    bool knows_segments; /* if false, thread-local operands have no address */
    uint32_t known;      /* bit i: value[i] is known */
};

enum as_operand_fit {
    AS_OPERAND_KNOWN,
    AS_OPERAND_UNKNOWN /* needs an overwritten register, a vector register, or a segment base that is not known */
};

/* The address of memory operand `mem`, given the state before `insn`. */
enum as_operand_fit as_operand_before(const struct as_insn *insn, unsigned mem, const struct as_machine_state *state,
                                      uint64_t *address);
/* The same, given the state right after `insn`. */
enum as_operand_fit as_operand_after(const struct as_insn *insn, unsigned mem, const struct as_machine_state *state,
                                     uint64_t *address);

bool as_insn_writes(const struct as_insn *insn, uint8_t reg);

#endif
