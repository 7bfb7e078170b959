/* What a block does to the stack, as far as call paths need it. See engine.h.
 *
 * Stacks are switched by giving the stack pointer a value that comes from elsewhere: a load, a move from another register,
 * an exchange. What is relative to the old value, or to the frame pointer, stays on the stack (push, sub, leave).
 * Return addresses lie where a call stores them and a return loads them (x86-64), or where a function stores its link
 * register and loads it again (RISC-V).
 */
#include "engine/code_table.h"

enum { X86_SP = AS_REG_INT0 + 4, X86_FP = AS_REG_INT0 + 5, RV_LINK = AS_REG_INT0 + 1, RV_SP = AS_REG_INT0 + 2 };
enum { RV_FP = AS_REG_INT0 + 8, INT_REGISTERS = 32 };

static bool has(const uint8_t *list, size_t n, uint8_t number)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == number)
            return true;
    return false;
}

uint8_t as_insn_stack_pointer(const struct as_insn *insn)
{
    return insn->arch == AS_ARCH_X86_64 ? X86_SP : RV_SP;
}

bool as_insn_moves_pointer(const struct as_insn *insn)
{
    uint8_t sp = as_insn_stack_pointer(insn), fp = insn->arch == AS_ARCH_X86_64 ? X86_FP : RV_FP;
    if (!has(insn->writes, insn->n_writes, sp) || insn->flags & AS_INSN_ENDS_BLOCK)
        return false;
    if (insn->class_ == AS_CLASS_ATOMIC) /* xchg with memory */
        return true;
    if (has(insn->reads, insn->n_reads, sp)) { /* xchg of two registers */
        size_t written = 0;
        for (size_t i = 0; i < insn->n_writes; i++)
            written += insn->writes[i] < INT_REGISTERS;
        return insn->class_ == AS_CLASS_INT && written > 1;
    }
    return !has(insn->reads, insn->n_reads, fp);
}

bool as_insn_is_link(const struct as_insn *insn)
{
    if (insn->arch == AS_ARCH_X86_64)
        return insn->class_ == AS_CLASS_CALL || insn->class_ == AS_CLASS_CALL_INDIRECT ||
               insn->class_ == AS_CLASS_RETURN;
    if (insn->n_mem != 1 || insn->mem[0].size != 8 || insn->flags & AS_INSN_ATOMIC)
        return false;
    if (insn->class_ == AS_CLASS_LOAD)
        return has(insn->writes, insn->n_writes, RV_LINK);
    return insn->class_ == AS_CLASS_STORE && insn->mem[0].base != RV_LINK && has(insn->reads, insn->n_reads, RV_LINK);
}

void as_block_find_stack(struct as_block *block)
{
    block->link_at = block->stack_at = -1;
    for (uint32_t i = 0; i < block->n; i++) {
        if (as_insn_is_link(block->insns[i]))
            block->link_at = (int16_t)i;
        if (as_insn_moves_pointer(block->insns[i]))
            block->stack_at = (int16_t)i;
    }
}
