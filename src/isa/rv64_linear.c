/* The effect of RISC-V instructions on linear forms. x0 needs no special case: its value at a block's start is 0. See
 * linear.h. */
#include "isa/linear.h"
#include "isa/rv64.h"

enum { OPCODE = 0x7f, OP_IMM = 0x13, OP = 0x33, LUI = 0x37, AUIPC = 0x17 };
enum { ADD = 0, SUB = 0x20, SHIFT_LEFT = 1 };

static struct as_linear immediate_result(uint32_t word, const struct as_linear *registers)
{
    const struct as_linear *source = &registers[as_rv_rs1(word)];
    struct as_linear amount = as_linear_constant((uint64_t)as_rv_imm_i(word)), zero = as_linear_constant(0);
    switch (as_rv_funct3(word)) {
    case ADD:
        return as_linear_sum(source, 1, &amount);
    case SHIFT_LEFT:
        return word >> 26 == 0 ? as_linear_sum(&zero, UINT64_C(1) << (word >> 20 & 63), source) : as_linear_unknown;
    default:
        return as_linear_unknown;
    }
}

static struct as_linear result_of(uint32_t word, uint64_t address, const struct as_linear *registers)
{
    uint64_t upper = (uint64_t)(int64_t)(int32_t)(word & ~UINT32_C(0xfff));
    switch (word & OPCODE) {
    case OP_IMM:
        return immediate_result(word, registers);
    case OP:
        if (as_rv_funct3(word) != ADD || (word >> 25 != ADD && word >> 25 != SUB))
            return as_linear_unknown;
        return as_linear_sum(&registers[as_rv_rs1(word)], word >> 25 == SUB ? UINT64_MAX : 1,
                             &registers[as_rv_rs2(word)]);
    case LUI:
        return as_linear_constant(upper);
    case AUIPC:
        return as_linear_constant(address + upper);
    default:
        return as_linear_unknown;
    }
}

void as_rv_linear_step(const struct as_insn *insn, struct as_linear registers[AS_LINEAR_REGISTERS])
{
    uint32_t word = as_rv_word(insn->bytes, insn->length);
    struct as_linear result = word ? result_of(word, insn->address, registers) : as_linear_unknown;
    for (uint8_t i = 0; i < insn->n_writes; i++)
        if (insn->writes[i] > 0 && insn->writes[i] < AS_LINEAR_REGISTERS)
            registers[insn->writes[i]] = result;
}
