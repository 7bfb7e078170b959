/* Filling an instruction record, for the decoders of both instruction sets.
 *
 * Registers are collected with the reason why they are read: to compute an address or as data. The micro-operations are
 * made from that at the end, because a load waits for address registers alone. A list that is full drops what comes
 * later, so callers add what matters most first.
 */
#ifndef AS_ISA_INSN_BUILD_H
#define AS_ISA_INSN_BUILD_H

#include "assay/insn.h"

struct as_insn_build {
    struct as_insn *insn;
    uint8_t address_reads; /* bit i: insn.reads[i] is part of an address */
    uint8_t data_reads;    /* bit i: insn.reads[i] is an operand */
};

void as_insn_build_begin(struct as_insn_build *build, struct as_insn *insn, enum as_arch arch, uint64_t address);

/* Bytes that are not an instruction: class, one micro-operation, `length` bytes. */
void as_insn_build_unknown(struct as_insn *insn, const uint8_t *bytes, size_t length);

/* AS_REG_NONE is ignored, a register twice is one. */
void as_insn_read_data(struct as_insn_build *build, uint8_t reg);
void as_insn_read_address(struct as_insn_build *build, uint8_t reg);
void as_insn_write(struct as_insn_build *build, uint8_t reg);
void as_insn_forget_reads(struct as_insn_build *build);
void as_insn_forget_read(struct as_insn_build *build, uint8_t reg);

/* A memory operand; its registers become address reads and its access a flag. NULL where there is no room: the
 * registers and the flags are kept even then. */
struct as_mem_operand *as_insn_add_mem(struct as_insn_build *build, const struct as_mem_operand *mem);

/* The bits that stand for registers in the masks of a micro-operation. */
uint8_t as_insn_read_bit(const struct as_insn *insn, uint8_t reg);
uint8_t as_insn_write_bit(const struct as_insn *insn, uint8_t reg);
uint8_t as_insn_mem_bits(const struct as_insn *insn, uint8_t mem);

/* Appends a micro-operation; false where there is no room. */
bool as_insn_add_uop(struct as_insn *insn, struct as_uop uop);

#endif
