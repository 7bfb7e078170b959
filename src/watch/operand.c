/* Computes addresses of memory operands before and after their instruction. See operand.h. */
#include "watch/operand.h"

enum { RSP = 4, RSI = 6, RDI = 7, DIRECTION_FLAG = 1 << 10, ADDRESS_SIZE = 0x67 };

bool as_insn_writes(const struct as_insn *insn, uint8_t reg)
{
    for (uint8_t i = 0; i < insn->n_writes; i++)
        if (insn->writes[i] == reg)
            return true;
    return false;
}

/* A 32-bit address (prefix 67) is truncated, which the record does not state. Prefixes come first; REX ends them. */
static bool narrow_address(const struct as_insn *insn)
{
    static const uint8_t prefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0xf0, 0xf2, 0xf3};
    for (uint8_t i = 0; insn->arch == AS_ARCH_X86_64 && i < insn->length; i++) {
        bool prefix = false;
        if (insn->bytes[i] == ADDRESS_SIZE)
            return true;
        for (size_t p = 0; p < sizeof prefixes; p++)
            prefix |= insn->bytes[i] == prefixes[p];
        if (!prefix)
            return false;
    }
    return false;
}

static bool add_register(const struct as_machine_state *state, uint8_t reg, uint64_t scale, uint64_t *address)
{
    if (reg == AS_REG_NONE)
        return true;
    if (reg >= AS_MACHINE_REGISTERS || !(state->known >> reg & 1))
        return false;
    *address += scale * state->value[reg];
    return true;
}

enum as_operand_fit as_operand_before(const struct as_insn *insn, unsigned mem, const struct as_machine_state *state,
                                      uint64_t *address)
{
    const struct as_mem_operand *operand = &insn->mem[mem];
    *address = (uint64_t)operand->disp;
    if (mem >= insn->n_mem || (operand->segment && !state->knows_segments) || narrow_address(insn))
        return AS_OPERAND_UNKNOWN;
    if (operand->segment)
        *address += state->segment[operand->segment];
    if (operand->pc_relative)
        return AS_OPERAND_KNOWN;
    bool known =
        add_register(state, operand->base, 1, address) && add_register(state, operand->index, operand->scale, address);
    return known ? AS_OPERAND_KNOWN : AS_OPERAND_UNKNOWN;
}

/* push, call, pop, ret and leave set the stack pointer to, or right above, what they accessed. This does not hold for
 * the explicit operand of `push [rsp+8]`. `ret n` drops n bytes more. */
static enum as_operand_fit stack_after(const struct as_insn *insn, const struct as_mem_operand *operand,
                                       const struct as_machine_state *state, uint64_t *address)
{
    bool enters = insn->bytes[0] == 0xc8;
    bool implicit = operand->index == AS_REG_NONE && !operand->segment &&
                    operand->disp == (operand->access == AS_ACCESS_STORE ? -8 : 0);
    uint64_t dropped = insn->class_ == AS_CLASS_RETURN && insn->length >= 3
                           ? (uint64_t)insn->bytes[insn->length - 2] | (uint64_t)insn->bytes[insn->length - 1] << 8
                           : 0;
    if (!implicit || enters || operand->size != 8)
        return AS_OPERAND_UNKNOWN;
    *address = state->value[RSP] - (operand->access == AS_ACCESS_STORE ? 0 : 8 + dropped);
    return AS_OPERAND_KNOWN;
}

/* A string instruction has stepped its pointer by one element. */
static enum as_operand_fit string_after(const struct as_mem_operand *operand, const struct as_machine_state *state,
                                        uint64_t *address)
{
    uint64_t size = operand->size;
    *address = state->value[operand->base] + (state->flags & DIRECTION_FLAG ? size : -size);
    return operand->segment ? AS_OPERAND_UNKNOWN : AS_OPERAND_KNOWN;
}

enum as_operand_fit as_operand_after(const struct as_insn *insn, unsigned mem, const struct as_machine_state *state,
                                     uint64_t *address)
{
    const struct as_mem_operand *operand = &insn->mem[mem];
    *address = 0;
    if (mem >= insn->n_mem)
        return AS_OPERAND_UNKNOWN;
    bool base_kept = operand->base == AS_REG_NONE || !as_insn_writes(insn, operand->base);
    bool index_kept = operand->index == AS_REG_NONE || !as_insn_writes(insn, operand->index);
    if (operand->pc_relative || (base_kept && index_kept))
        return as_operand_before(insn, mem, state, address);
    if (insn->arch != AS_ARCH_X86_64)
        return AS_OPERAND_UNKNOWN;
    if (insn->class_ == AS_CLASS_STRING && (operand->base == RSI || operand->base == RDI))
        return string_after(operand, state, address);
    bool leaves = insn->length == 1 && insn->bytes[0] == 0xc9;
    return (operand->base == RSP || leaves) && as_insn_writes(insn, RSP) ? stack_after(insn, operand, state, address)
                                                                         : AS_OPERAND_UNKNOWN;
}
