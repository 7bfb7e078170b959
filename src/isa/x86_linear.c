/* See linear.h. */
#include "isa/linear.h"

#include "isa/x86.h"

#include <string.h>

static const struct as_linear unknown;

void as_linear_start(struct as_linear registers[AS_LINEAR_REGISTERS])
{
    memset(registers, 0, AS_LINEAR_REGISTERS * sizeof *registers);
    for (unsigned i = 0; i < AS_LINEAR_REGISTERS; i++) {
        registers[i].known = true;
        registers[i].factor[i] = 1;
    }
}

static struct as_linear constant(uint64_t value)
{
    return (struct as_linear){.known = true, .constant = value};
}

/* a + scale * b */
static struct as_linear sum(const struct as_linear *a, uint64_t scale, const struct as_linear *b)
{
    if (!a->known || !b->known)
        return unknown;
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
    struct as_linear address = constant((uint64_t)mem->disp);
    if (mem->segment || (mem->base != AS_REG_NONE && mem->base >= AS_LINEAR_REGISTERS) ||
        (mem->index != AS_REG_NONE && mem->index >= AS_LINEAR_REGISTERS))
        return unknown;
    if (mem->base != AS_REG_NONE && !mem->pc_relative)
        address = sum(&address, 1, &registers[mem->base]);
    if (mem->index != AS_REG_NONE)
        address = sum(&address, mem->scale, &registers[mem->index]);
    return address;
}

struct as_linear as_linear_address(const struct as_insn *insn, unsigned mem,
                                   const struct as_linear registers[AS_LINEAR_REGISTERS])
{
    return mem < insn->n_mem ? address_of(&insn->mem[mem], registers) : unknown;
}

/* A 64-bit register operand's form, an immediate's value, or unknown. */
static struct as_linear operand(const ZydisDecodedOperand *op, const struct as_linear *registers)
{
    if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return constant(op->imm.is_signed ? (uint64_t)op->imm.value.s : op->imm.value.u);
    if (op->type != ZYDIS_OPERAND_TYPE_REGISTER || op->size != 64)
        return unknown;
    uint8_t reg = as_x86_register(op->reg.value);
    return reg < AS_LINEAR_REGISTERS ? registers[reg] : unknown;
}

static struct as_linear lea(const ZydisDecodedOperandMem *mem, uint64_t next, const struct as_linear *registers)
{
    struct as_linear result = constant(mem->disp.has_displacement ? (uint64_t)mem->disp.value : 0);
    if (mem->base == ZYDIS_REGISTER_RIP) {
        result.constant += next;
    } else if (mem->base != ZYDIS_REGISTER_NONE) {
        uint8_t base = as_x86_register(mem->base);
        result = sum(&result, 1, base < AS_LINEAR_REGISTERS ? &registers[base] : &unknown);
    }
    if (mem->index != ZYDIS_REGISTER_NONE) {
        uint8_t index = as_x86_register(mem->index);
        result = sum(&result, mem->scale, index < AS_LINEAR_REGISTERS ? &registers[index] : &unknown);
    }
    return result;
}

/* What a 64-bit instruction leaves in its first operand. */
static struct as_linear result_of(const struct as_x86 *x86, uint64_t next, const struct as_linear *registers)
{
    const ZydisDecodedOperand *ops = x86->operands;
    struct as_linear first = operand(&ops[0], registers);
    struct as_linear second = x86->insn.operand_count_visible > 1 ? operand(&ops[1], registers) : unknown;
    const struct as_linear one = constant(1);
    switch (x86->insn.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
        return second;
    case ZYDIS_MNEMONIC_LEA:
        return x86->insn.address_width == 64 ? lea(&ops[1].mem, next, registers) : unknown;
    case ZYDIS_MNEMONIC_ADD:
        return sum(&first, 1, &second);
    case ZYDIS_MNEMONIC_SUB:
        return sum(&first, UINT64_MAX, &second);
    case ZYDIS_MNEMONIC_INC:
        return sum(&first, 1, &one);
    case ZYDIS_MNEMONIC_DEC:
        return sum(&first, UINT64_MAX, &one);
    case ZYDIS_MNEMONIC_SHL: {
        const struct as_linear zero = constant(0);
        bool fixed = ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
        return fixed ? sum(&zero, UINT64_C(1) << (ops[1].imm.value.u & 63), &first) : unknown;
    }
    default:
        return unknown;
    }
}

/* 32-bit results that are known all the same: an immediate, or a register made zero. */
static struct as_linear narrow_result(const struct as_x86 *x86)
{
    const ZydisDecodedOperand *ops = x86->operands;
    if (x86->insn.operand_count_visible != 2 || ops[0].size != 32)
        return unknown;
    if (x86->insn.mnemonic == ZYDIS_MNEMONIC_MOV && ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return constant((uint32_t)ops[1].imm.value.u);
    if (x86->insn.mnemonic == ZYDIS_MNEMONIC_XOR && ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
        ops[0].reg.value == ops[1].reg.value)
        return constant(0);
    return unknown;
}

void as_linear_step(const struct as_insn *insn, struct as_linear registers[AS_LINEAR_REGISTERS])
{
    struct as_x86 x86;
    struct as_linear result = unknown;
    uint8_t target = AS_REG_NONE;
    if (as_x86_read(&x86, insn->bytes, insn->length) && x86.insn.operand_count_visible > 0 &&
        x86.operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER) {
        target = as_x86_register(x86.operands[0].reg.value);
        if (x86.operands[0].size == 64)
            result = result_of(&x86, insn->address + insn->length, registers);
        else if (x86.operands[0].size == 32)
            result = narrow_result(&x86);
    }
    for (uint8_t i = 0; i < insn->n_writes; i++)
        if (insn->writes[i] < AS_LINEAR_REGISTERS)
            registers[insn->writes[i]] = insn->writes[i] == target ? result : unknown;
}
