/* Linear forms of registers: what both architectures share. See linear.h. */
#include "isa/linear.h"

#include <string.h>

const struct as_linear as_linear_unknown;

void as_linear_start(struct as_linear registers[AS_LINEAR_REGISTERS])
{
    memset(registers, 0, AS_LINEAR_REGISTERS * sizeof *registers);
    for (unsigned i = 0; i < AS_LINEAR_REGISTERS; i++) {
        registers[i].known = true;
        registers[i].factor[i] = 1;
    }
}

struct as_linear as_linear_constant(uint64_t value)
{
    return (struct as_linear){.known = true, .constant = value};
}

struct as_linear as_linear_sum(const struct as_linear *a, uint64_t scale, const struct as_linear *b)
{
    if (!a->known || !b->known)
        return as_linear_unknown;
    struct as_linear result = *a;
    result.constant += scale * b->constant;
    for (unsigned i = 0; i < AS_LINEAR_REGISTERS; i++)
        result.factor[i] += scale * b->factor[i];
    return result;
}

uint64_t as_linear_value(const struct as_linear *form, const uint64_t values[AS_LINEAR_REGISTERS])
{
    uint64_t value = form->constant;
    for (unsigned i = 0; i < AS_LINEAR_REGISTERS; i++)
        value += form->factor[i] * values[i];
    return value;
}

static struct as_linear address_of(const struct as_mem_operand *mem, const struct as_linear *registers)
{
    struct as_linear address = as_linear_constant((uint64_t)mem->disp);
    if (mem->segment || (mem->base != AS_REG_NONE && mem->base >= AS_LINEAR_REGISTERS) ||
        (mem->index != AS_REG_NONE && mem->index >= AS_LINEAR_REGISTERS))
        return as_linear_unknown;
    if (mem->base != AS_REG_NONE && !mem->pc_relative)
        address = as_linear_sum(&address, 1, &registers[mem->base]);
    if (mem->index != AS_REG_NONE)
        address = as_linear_sum(&address, mem->scale, &registers[mem->index]);
    return address;
}

struct as_linear as_linear_address(const struct as_insn *insn, unsigned mem,
                                   const struct as_linear registers[AS_LINEAR_REGISTERS])
{
    return mem < insn->n_mem ? address_of(&insn->mem[mem], registers) : as_linear_unknown;
}

void as_linear_step(const struct as_insn *insn, struct as_linear registers[AS_LINEAR_REGISTERS])
{
    if (insn->arch == AS_ARCH_X86_64)
        as_x86_linear_step(insn, registers);
    else
        as_rv_linear_step(insn, registers);
}
