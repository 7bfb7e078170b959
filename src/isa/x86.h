/* The parts of the x86-64 decoder: Zydis reads the bytes (x86_decode.c), a table maps a mnemonic to its class (x86_class.c),
 * and the micro-operations follow from both (x86_uops.c). */
#ifndef AS_ISA_X86_H
#define AS_ISA_X86_H

#include "isa/arch.h"

#include <Zydis/Zydis.h>

struct as_x86 {
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

/* Thread-safe. Returns false where the bytes are not an instruction of the processors that are modelled. */
bool as_x86_read(struct as_x86 *x86, const uint8_t *bytes, size_t size);

enum as_x86_form {
    AS_X86_LISTED = 1 << 0,     /* the table has a row; without it the category decides */
    AS_X86_MOVE = 1 << 1,       /* with a memory operand it is nothing but a load or a store */
    AS_X86_MOVE_OUT = 1 << 2,   /* … but only towards memory; from memory it computes (movhps merges) */
    AS_X86_NO_ACCESS = 1 << 3,  /* its memory operand is named, not accessed */
    AS_X86_NO_EFFECT = 1 << 4,  /* its operands mean nothing */
    AS_X86_MERGES = 1 << 5,     /* keeps its destination in some cases, which Zydis does not report */
    AS_X86_FP_SAVE = 1 << 6,    /* reads the whole FP and vector state */
    AS_X86_FP_RESTORE = 1 << 7, /* writes it */
    AS_X86_IDIOM = 1 << 8       /* of a register with itself it gives the same whatever the register holds */
};

struct as_x86_rule {
    uint8_t class_; /* of the form without memory where it is a move */
    uint16_t form;
    uint32_t flags;
};

struct as_x86_rule as_x86_rule_of(const struct as_x86 *x86);

/* Memory and registers known: settles the class, sets the flags that follow from it. */
void as_x86_classify(struct as_insn *insn, const struct as_x86 *x86, const struct as_x86_rule *rule);

void as_x86_add_uops(struct as_insn_build *build, const struct as_x86 *x86);

/* insn.fuse and AS_INSN_FUSE_FIRST. */
void as_x86_set_fusion(struct as_insn *insn, const struct as_x86 *x86);

/* The one register set of both: zmm3 and xmm3 are the same number. AS_REG_NONE for rip and the flags register. */
uint8_t as_x86_register(ZydisRegister reg);

static inline bool as_x86_is_string(const struct as_x86 *x86)
{
    ZydisInstructionCategory category = x86->insn.meta.category;
    return category == ZYDIS_CATEGORY_STRINGOP || category == ZYDIS_CATEGORY_IOSTRINGOP;
}

#endif
