/* Which compare-like instructions fuse with a conditional branch: Intel's cores since Sandy Bridge, after the
 * optimization manual's section on macro-fusion. test and and fuse with every condition; cmp, add and sub not with
 * those on overflow, sign and parity alone; inc and dec, which leave the carry flag, not with those on the carry
 * either. */
#include "isa/x86.h"

enum { WITH_TEST = 1, WITH_COMPARE = 2, WITH_INCREMENT = 4, CACHE_LINE = 64 };

static uint8_t first_group(ZydisMnemonic mnemonic)
{
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_TEST:
    case ZYDIS_MNEMONIC_AND:
        return WITH_TEST;
    case ZYDIS_MNEMONIC_CMP:
    case ZYDIS_MNEMONIC_ADD:
    case ZYDIS_MNEMONIC_SUB:
        return WITH_COMPARE;
    case ZYDIS_MNEMONIC_INC:
    case ZYDIS_MNEMONIC_DEC:
        return WITH_INCREMENT;
    default:
        return 0;
    }
}

static uint8_t branch_groups(ZydisMnemonic mnemonic)
{
    switch (mnemonic) {
    case ZYDIS_MNEMONIC_JO:
    case ZYDIS_MNEMONIC_JNO:
    case ZYDIS_MNEMONIC_JS:
    case ZYDIS_MNEMONIC_JNS:
    case ZYDIS_MNEMONIC_JP:
    case ZYDIS_MNEMONIC_JNP:
        return WITH_TEST;
    case ZYDIS_MNEMONIC_JB:
    case ZYDIS_MNEMONIC_JNB:
    case ZYDIS_MNEMONIC_JBE:
    case ZYDIS_MNEMONIC_JNBE:
        return WITH_TEST | WITH_COMPARE;
    case ZYDIS_MNEMONIC_JZ:
    case ZYDIS_MNEMONIC_JNZ:
    case ZYDIS_MNEMONIC_JL:
    case ZYDIS_MNEMONIC_JNL:
    case ZYDIS_MNEMONIC_JLE:
    case ZYDIS_MNEMONIC_JNLE:
        return WITH_TEST | WITH_COMPARE | WITH_INCREMENT;
    default: /* loop and jrcxz */
        return 0;
    }
}

/* Memory with an immediate operand does not fuse, nor does anything that writes memory. */
static bool operands_allow(const struct as_insn *insn, const struct as_x86 *x86)
{
    if (insn->flags & AS_INSN_STORE)
        return false;
    bool has_immediate = x86->insn.operand_count_visible > 1 && x86->operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    return !(has_immediate && (insn->flags & AS_INSN_LOAD));
}

void as_x86_set_fusion(struct as_insn *insn, const struct as_x86 *x86)
{
    if (insn->flags & AS_INSN_CONDITIONAL) {
        insn->fuse = branch_groups(x86->insn.mnemonic);
    } else if (operands_allow(insn, x86)) {
        insn->fuse = first_group(x86->insn.mnemonic);
        if (insn->fuse)
            insn->flags |= AS_INSN_FUSE_FIRST;
    }
}

bool as_insn_fuses(const struct as_insn *first, const struct as_insn *second)
{
    return (first->flags & AS_INSN_FUSE_FIRST) && (second->flags & AS_INSN_CONDITIONAL) &&
           (first->fuse & second->fuse) && first->address + first->length == second->address &&
           second->address % CACHE_LINE != 0;
}
