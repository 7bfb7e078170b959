/* See decisions.h: for each load, the registers that hold something of its value are followed to the block's end. */
#include "engine/decisions.h"

typedef unsigned __int128 register_set;

enum {
    X86_SP = AS_REG_INT0 + 4,
    RISCV_SP = AS_REG_INT0 + 2,
    X86_RESULT = AS_REG_INT0,
    RISCV_RESULT = AS_REG_INT0 + 10
};

static register_set one(uint8_t reg)
{
    return reg < AS_REG_COUNT ? (register_set)1 << reg : 0;
}

static uint8_t stack_pointer(const struct as_insn *insn)
{
    return insn->arch == AS_ARCH_X86_64 ? X86_SP : RISCV_SP;
}

static register_set reads_of(const struct as_insn *insn)
{
    register_set set = 0;
    for (uint8_t i = 0; i < insn->n_reads; i++)
        set |= one(insn->reads[i]);
    return set;
}

/* The stack pointer of a push or a pop moves by a constant. */
static register_set writes_of(const struct as_insn *insn)
{
    register_set set = 0;
    for (uint8_t i = 0; i < insn->n_writes; i++)
        set |= one(insn->writes[i]);
    return set & ~one(stack_pointer(insn));
}

/* Whether the instruction accesses memory in this way other than on the stack, which threads have for themselves. */
static bool accesses(const struct as_insn *insn, uint32_t flag, uint8_t access)
{
    if (!(insn->flags & flag))
        return false;
    bool known = false;
    for (uint8_t i = 0; i < insn->n_mem; i++) {
        known |= (insn->mem[i].access & access) != 0;
        if (insn->mem[i].access & access && insn->mem[i].base != stack_pointer(insn))
            return true;
    }
    return !known;
}

static bool decides(const struct as_block *block, uint32_t load)
{
    const struct as_insn *last = block->insns[block->n - 1];
    register_set holds = writes_of(block->insns[load]);
    for (uint32_t i = load + 1; i + 1 < block->n && holds; i++) {
        register_set writes = writes_of(block->insns[i]);
        holds = reads_of(block->insns[i]) & holds ? holds | writes : holds & ~writes;
    }
    if (last->flags & AS_INSN_CONDITIONAL)
        return load + 1 < block->n && reads_of(last) & holds;
    return last->class_ == AS_CLASS_RETURN && holds & one(last->arch == AS_ARCH_X86_64 ? X86_RESULT : RISCV_RESULT);
}

void as_block_find_decisions(struct as_block *block)
{
    size_t found = 0;
    for (size_t i = 0; i < AS_BLOCK_DECIDERS; i++)
        block->deciders[i] = -1;
    block->publishes = false;
    for (uint32_t i = block->n; i-- > 0;) {
        block->publishes |= accesses(block->insns[i], AS_INSN_STORE, AS_ACCESS_STORE);
        if (found < AS_BLOCK_DECIDERS && accesses(block->insns[i], AS_INSN_LOAD, AS_ACCESS_LOAD) && decides(block, i))
            block->deciders[found++] = (int16_t)i;
    }
}
