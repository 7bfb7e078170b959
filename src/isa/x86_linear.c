/* The effect of x86-64 instructions on linear forms. See linear.h. */
#include "isa/linear.h"

#include "isa/x86.h"

/* A 64-bit register operand's form, an immediate's value, or unknown. */
static struct as_linear operand(const ZydisDecodedOperand *op, const struct as_linear *registers)
{
    if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return as_linear_constant(op->imm.is_signed ? (uint64_t)op->imm.value.s : op->imm.value.u);
    if (op->type != ZYDIS_OPERAND_TYPE_REGISTER || op->size != 64)
        return as_linear_unknown;
    uint8_t reg = as_x86_register(op->reg.value);
    return reg < AS_LINEAR_REGISTERS ? registers[reg] : as_linear_unknown;
}

static struct as_linear lea(const ZydisDecodedOperandMem *mem, uint64_t next, const struct as_linear *registers)
{
    struct as_linear result = as_linear_constant(mem->disp.has_displacement ? (uint64_t)mem->disp.value : 0);
    if (mem->base == ZYDIS_REGISTER_RIP) {
        result.constant += next;
    } else if (mem->base != ZYDIS_REGISTER_NONE) {
        uint8_t base = as_x86_register(mem->base);
        result = as_linear_sum(&result, 1, base < AS_LINEAR_REGISTERS ? &registers[base] : &as_linear_unknown);
    }
    if (mem->index != ZYDIS_REGISTER_NONE) {
        uint8_t index = as_x86_register(mem->index);
        result =
            as_linear_sum(&result, mem->scale, index < AS_LINEAR_REGISTERS ? &registers[index] : &as_linear_unknown);
    }
    return result;
}

/* What a 64-bit instruction leaves in its first operand. */
static struct as_linear result_of(const struct as_x86 *x86, uint64_t next, const struct as_linear *registers)
{
    const ZydisDecodedOperand *ops = x86->operands;
    struct as_linear first = operand(&ops[0], registers);
    struct as_linear second = x86->insn.operand_count_visible > 1 ? operand(&ops[1], registers) : as_linear_unknown;
    const struct as_linear one = as_linear_constant(1);
    switch (x86->insn.mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
        return second;
    case ZYDIS_MNEMONIC_LEA:
        return x86->insn.address_width == 64 ? lea(&ops[1].mem, next, registers) : as_linear_unknown;
    case ZYDIS_MNEMONIC_ADD:
        return as_linear_sum(&first, 1, &second);
    case ZYDIS_MNEMONIC_SUB:
        return as_linear_sum(&first, UINT64_MAX, &second);
    case ZYDIS_MNEMONIC_INC:
        return as_linear_sum(&first, 1, &one);
    case ZYDIS_MNEMONIC_DEC:
        return as_linear_sum(&first, UINT64_MAX, &one);
    case ZYDIS_MNEMONIC_SHL: {
        const struct as_linear zero = as_linear_constant(0);
        bool fixed = ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
        return fixed ? as_linear_sum(&zero, UINT64_C(1) << (ops[1].imm.value.u & 63), &first) : as_linear_unknown;
    }
    default:
        return as_linear_unknown;
    }
}

/* 32-bit results that are known all the same: an immediate, or a register made zero. */
static struct as_linear narrow_result(const struct as_x86 *x86)
{
    const ZydisDecodedOperand *ops = x86->operands;
    if (x86->insn.operand_count_visible != 2 || ops[0].size != 32)
        return as_linear_unknown;
    if (x86->insn.mnemonic == ZYDIS_MNEMONIC_MOV && ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return as_linear_constant((uint32_t)ops[1].imm.value.u);
    if (x86->insn.mnemonic == ZYDIS_MNEMONIC_XOR && ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
        ops[0].reg.value == ops[1].reg.value)
        return as_linear_constant(0);
    return as_linear_unknown;
}

void as_x86_linear_step(const struct as_insn *insn, struct as_linear registers[AS_LINEAR_REGISTERS])
{
    struct as_x86 x86;
    struct as_linear result = as_linear_unknown;
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
            registers[insn->writes[i]] = insn->writes[i] == target ? result : as_linear_unknown;
}
