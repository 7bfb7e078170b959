/* Addresses that no access record contains. QEMU does nothing for prefetches and cache-line flushes, so their addresses
 * must be computed from the registers.
 *
 * Within a block, each integer register is tracked as a linear form of the registers' values at the block's start, for
 * as long as the code adds, moves and scales; any other operation makes it unknown. linear.c has what the architectures
 * share, x86_linear.c and rv64_linear.c have the effect of their instructions (RISC-V's prefetches are Zicbop's).
 */
#ifndef AS_ISA_LINEAR_H
#define AS_ISA_LINEAR_H

#include "assay/insn.h"

enum { AS_LINEAR_REGISTERS = 32 }; /* x86-64 uses the first sixteen */

struct as_linear {
    bool known;
    uint64_t constant;
    uint64_t factor[AS_LINEAR_REGISTERS]; /* modulo 2^64 */
};

void as_linear_start(struct as_linear registers[AS_LINEAR_REGISTERS]); /* each register is itself */
void as_linear_step(const struct as_insn *insn, struct as_linear registers[AS_LINEAR_REGISTERS]);
/* The address of a memory operand before the instruction executes. */
struct as_linear as_linear_address(const struct as_insn *insn, unsigned mem,
                                   const struct as_linear registers[AS_LINEAR_REGISTERS]);
uint64_t as_linear_value(const struct as_linear *form, const uint64_t values[AS_LINEAR_REGISTERS]);

/* For the architectures' own parts. */
extern const struct as_linear as_linear_unknown;
struct as_linear as_linear_constant(uint64_t value);
struct as_linear as_linear_sum(const struct as_linear *a, uint64_t scale,
                               const struct as_linear *b); /* a + scale * b */
void as_x86_linear_step(const struct as_insn *insn, struct as_linear registers[AS_LINEAR_REGISTERS]);
void as_rv_linear_step(const struct as_insn *insn, struct as_linear registers[AS_LINEAR_REGISTERS]);

#endif
