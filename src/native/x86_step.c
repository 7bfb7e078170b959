/* A small interpreter for the code between two accesses. See x86_step.h. */
#include "native/x86_step.h"

#include "isa/x86.h"

enum { CF = 1 << 0, PF = 1 << 2, ZF = 1 << 6, SF = 1 << 7, OF = 1 << 11, ALL = CF | PF | ZF | SF | OF, RSP = 4 };

void as_x86_machine_start(struct as_x86_machine *machine, const struct as_machine_state *state, bool flags)
{
    machine->state = *state;
    machine->known_flags = flags ? ALL : 0;
}

static uint64_t mask_of(unsigned bits)
{
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* Only registers that start at bit 0: ah … bh are not supported. */
static uint8_t register_of(const ZydisDecodedOperand *operand)
{
    ZydisRegister reg = operand->reg.value;
    if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER || (reg >= ZYDIS_REGISTER_AH && reg <= ZYDIS_REGISTER_BH))
        return AS_REG_NONE;
    uint8_t number = as_x86_register(reg);
    return number < 16 ? number : AS_REG_NONE;
}

static bool read_register(const struct as_x86_machine *machine, uint8_t reg, uint64_t *value)
{
    if (reg == AS_REG_NONE || !(machine->state.known >> reg & 1))
        return false;
    *value = machine->state.value[reg];
    return true;
}

static bool read_operand(const struct as_x86_machine *machine, const ZydisDecodedOperand *operand, uint64_t *value)
{
    if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        *value = operand->imm.is_signed ? (uint64_t)operand->imm.value.s : operand->imm.value.u;
        return true;
    }
    if (!read_register(machine, register_of(operand), value))
        return false;
    *value &= mask_of(operand->size);
    return true;
}

/* A 32-bit write clears the upper half; 8 and 16 bits leave the rest. */
static void write_operand(struct as_x86_machine *machine, const ZydisDecodedOperand *operand, uint64_t value)
{
    uint8_t reg = register_of(operand);
    if (reg == AS_REG_NONE)
        return;
    uint64_t mask = mask_of(operand->size);
    if (operand->size < 32 && !(machine->state.known >> reg & 1))
        return;
    uint64_t kept = operand->size < 32 ? machine->state.value[reg] & ~mask : 0;
    machine->state.value[reg] = kept | (value & mask);
    machine->state.known |= 1u << reg;
}

static void set_flags(struct as_x86_machine *machine, uint64_t which, uint64_t flags)
{
    machine->state.flags = (machine->state.flags & ~which) | (flags & which);
    machine->known_flags |= which;
}

static uint64_t result_flags(uint64_t result, unsigned bits)
{
    result &= mask_of(bits);
    return (result == 0 ? ZF : 0) | (result >> (bits - 1) & 1 ? SF : 0) |
           (__builtin_parity((unsigned)result & 0xff) ? 0 : PF);
}

/* Addition and subtraction, with a carry of 0 or 1, and the flags that they leave. */
static uint64_t add_carry(struct as_x86_machine *machine, uint64_t a, uint64_t b, uint64_t carry, unsigned bits,
                          uint64_t which)
{
    uint64_t mask = mask_of(bits), result = (a + b + carry) & mask;
    bool overflow = ((a ^ result) & (b ^ result)) >> (bits - 1) & 1;
    bool carries = carry ? result <= (a & mask) : result < (a & mask);
    set_flags(machine, which, result_flags(result, bits) | (carries ? CF : 0) | (overflow ? OF : 0));
    return result;
}

static uint64_t add(struct as_x86_machine *machine, uint64_t a, uint64_t b, unsigned bits, uint64_t which)
{
    return add_carry(machine, a, b, 0, bits, which);
}

static uint64_t subtract_borrow(struct as_x86_machine *machine, uint64_t a, uint64_t b, uint64_t borrow, unsigned bits,
                                uint64_t which)
{
    uint64_t mask = mask_of(bits), result = (a - b - borrow) & mask;
    bool overflow = ((a ^ b) & (a ^ result)) >> (bits - 1) & 1;
    bool borrows = borrow ? (a & mask) <= (b & mask) : (a & mask) < (b & mask);
    set_flags(machine, which, result_flags(result, bits) | (borrows ? CF : 0) | (overflow ? OF : 0));
    return result;
}

static uint64_t subtract(struct as_x86_machine *machine, uint64_t a, uint64_t b, unsigned bits, uint64_t which)
{
    return subtract_borrow(machine, a, b, 0, bits, which);
}

/* adc and sbb: false where the carry is not known. */
static bool chain(struct as_x86_machine *machine, ZydisMnemonic how, uint64_t a, uint64_t b, unsigned bits,
                  uint64_t *result)
{
    uint64_t carry = machine->state.flags & CF;
    if (!(machine->known_flags & CF))
        return false;
    *result = how == ZYDIS_MNEMONIC_ADC ? add_carry(machine, a, b, carry, bits, ALL)
                                        : subtract_borrow(machine, a, b, carry, bits, ALL);
    return true;
}

/* Whether a condition holds, by its code in the instruction: 1, 0, or -1 where the flags are not known. Each odd one is the
 * opposite of the one before. */
static int condition_holds(const struct as_x86_machine *machine, unsigned condition)
{
    static const uint64_t needed[8] = {OF, CF, ZF, CF | ZF, SF, PF, SF | OF, ZF | SF | OF};
    uint64_t flags = machine->state.flags;
    if (needed[condition / 2] & ~machine->known_flags)
        return -1;
    bool less = !(flags & SF) != !(flags & OF);
    bool value = condition / 2 == 6   ? less
                 : condition / 2 == 7 ? less || flags & ZF
                                      : (flags & needed[condition / 2]) != 0;
    return value != (condition & 1);
}

static uint64_t logic(struct as_x86_machine *machine, uint64_t result, unsigned bits)
{
    set_flags(machine, ALL, result_flags(result, bits));
    return result;
}

/* A shift by a constant; carry and overflow become unknown. */
static uint64_t shift(struct as_x86_machine *machine, ZydisMnemonic how, uint64_t a, uint64_t count, unsigned bits)
{
    unsigned by = (unsigned)(count & (bits == 64 ? 63 : 31)); /* of 16 bits, up to 31, too */
    uint64_t mask = mask_of(bits);
    int64_t extended = (int64_t)(a << (64 - bits)) >> (64 - bits);
    if (!by)
        return a;
    uint64_t result = how == ZYDIS_MNEMONIC_SHL   ? a << by
                      : how == ZYDIS_MNEMONIC_SHR ? a >> by
                                                  : (uint64_t)(extended >> by);
    set_flags(machine, ZF | SF | PF, result_flags(result & mask, bits));
    return result & mask;
}

static bool lea(const struct as_x86_machine *machine, const struct as_x86 *x86, uint64_t next, uint64_t *value)
{
    const ZydisDecodedOperandMem *mem = &x86->operands[1].mem;
    uint64_t base = 0, index = 0;
    if (x86->insn.address_width != 64)
        return false;
    if (mem->base == ZYDIS_REGISTER_RIP)
        base = next;
    else if (mem->base != ZYDIS_REGISTER_NONE && !read_register(machine, as_x86_register(mem->base), &base))
        return false;
    if (mem->index != ZYDIS_REGISTER_NONE && !read_register(machine, as_x86_register(mem->index), &index))
        return false;
    *value = base + index * mem->scale + (mem->disp.has_displacement ? (uint64_t)mem->disp.value : 0);
    return true;
}

static bool is_conditional_move(const struct as_x86 *x86)
{
    return x86->insn.meta.category == ZYDIS_CATEGORY_CMOV;
}

static bool is_set(const struct as_x86 *x86)
{
    return x86->insn.meta.category == ZYDIS_CATEGORY_SETCC;
}

/* cmov and set: false where the condition is not known. */
static bool choose(const struct as_x86_machine *machine, const struct as_x86 *x86, uint64_t a, uint64_t b,
                   uint64_t *result)
{
    int holds = condition_holds(machine, x86->insn.opcode & 15);
    if (is_set(x86))
        *result = holds > 0;
    else
        *result = holds > 0 ? b : a;
    return holds >= 0;
}

/* What instructions with one or two operands leave in the first; false: unknown, or nothing to write. */
static bool compute(struct as_x86_machine *machine, const struct as_x86 *x86, uint64_t a, uint64_t b, uint64_t *result)
{
    unsigned bits = x86->operands[0].size, from = x86->operands[1].size;
    switch (x86->insn.mnemonic) {
    case ZYDIS_MNEMONIC_ADD:
        *result = add(machine, a, b, bits, ALL);
        return true;
    case ZYDIS_MNEMONIC_SUB:
        *result = subtract(machine, a, b, bits, ALL);
        return true;
    case ZYDIS_MNEMONIC_CMP:
        subtract(machine, a, b, bits, ALL);
        return false;
    case ZYDIS_MNEMONIC_ADC:
    case ZYDIS_MNEMONIC_SBB:
        return chain(machine, x86->insn.mnemonic, a, b, bits, result);
    case ZYDIS_MNEMONIC_IMUL:
        machine->known_flags = 0;
        *result = a * b;
        return x86->insn.operand_count_visible == 2;
    case ZYDIS_MNEMONIC_INC:
        *result = add(machine, a, 1, bits, ALL & ~CF);
        return true;
    case ZYDIS_MNEMONIC_DEC:
        *result = subtract(machine, a, 1, bits, ALL & ~CF);
        return true;
    case ZYDIS_MNEMONIC_NEG:
        *result = subtract(machine, 0, a, bits, ALL);
        return true;
    case ZYDIS_MNEMONIC_TEST:
        logic(machine, a & b, bits);
        return false;
    case ZYDIS_MNEMONIC_AND:
        *result = logic(machine, a & b, bits);
        return true;
    case ZYDIS_MNEMONIC_OR:
        *result = logic(machine, a | b, bits);
        return true;
    case ZYDIS_MNEMONIC_XOR:
        *result = logic(machine, a ^ b, bits);
        return true;
    case ZYDIS_MNEMONIC_NOT:
        *result = ~a;
        return true;
    case ZYDIS_MNEMONIC_MOV:
    case ZYDIS_MNEMONIC_MOVZX:
        *result = b;
        return true;
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
        *result = (uint64_t)((int64_t)(b << (64 - from)) >> (64 - from));
        return true;
    case ZYDIS_MNEMONIC_SHL:
    case ZYDIS_MNEMONIC_SHR:
    case ZYDIS_MNEMONIC_SAR:
        *result = shift(machine, x86->insn.mnemonic, a, b, bits);
        return x86->operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    default:
        return (is_conditional_move(x86) || is_set(x86)) && choose(machine, x86, a, b, result);
    }
}

/* x ^ x and x - x are 0 whatever x is. */
static bool is_zero_idiom(const struct as_x86 *x86)
{
    return (x86->insn.mnemonic == ZYDIS_MNEMONIC_XOR || x86->insn.mnemonic == ZYDIS_MNEMONIC_SUB) &&
           x86->operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
           x86->operands[0].reg.value == x86->operands[1].reg.value;
}

static bool overwrites(ZydisMnemonic mnemonic)
{
    return mnemonic == ZYDIS_MNEMONIC_MOV || mnemonic == ZYDIS_MNEMONIC_MOVZX || mnemonic == ZYDIS_MNEMONIC_MOVSX ||
           mnemonic == ZYDIS_MNEMONIC_MOVSXD;
}

static void forget_written(struct as_x86_machine *machine, const struct as_insn *insn)
{
    for (uint8_t i = 0; i < insn->n_writes; i++)
        if (insn->writes[i] < 16)
            machine->state.known &= ~(1u << insn->writes[i]);
        else if (insn->writes[i] == AS_REG_FLAGS)
            machine->known_flags = 0;
}

/* Reads the values of the instruction's operands; false if a needed one is unknown. */
static bool read_inputs(const struct as_x86_machine *before, const struct as_x86 *x86, uint64_t *a, uint64_t *b)
{
    bool one = x86->insn.operand_count_visible == 1;
    if (is_zero_idiom(x86))
        return true;
    return (overwrites(x86->insn.mnemonic) || is_set(x86) || read_operand(before, &x86->operands[0], a)) &&
           (one || read_operand(before, &x86->operands[1], b));
}

static void take_flags(struct as_x86_machine *machine, const struct as_x86_machine *computed, ZydisMnemonic mnemonic)
{
    bool shifts = mnemonic == ZYDIS_MNEMONIC_SHL || mnemonic == ZYDIS_MNEMONIC_SHR || mnemonic == ZYDIS_MNEMONIC_SAR;
    machine->state.flags = computed->state.flags;
    machine->known_flags = computed->known_flags & (shifts ? ZF | SF | PF : ALL);
}

/* The effect of push, pop, call and return on the stack pointer; `ret n` and operand-size prefixes are not
 * supported. */
static void step_stack(struct as_x86_machine *machine, const struct as_insn *insn, const struct as_x86_machine *before)
{
    uint64_t change;
    uint8_t first = insn->bytes[0] >> 4 == 4 && insn->length > 1 ? insn->bytes[1] : insn->bytes[0];
    bool single = insn->length == 1 || (insn->length == 2 && insn->bytes[0] >> 4 == 4);
    if (insn->class_ == AS_CLASS_CALL || insn->class_ == AS_CLASS_CALL_INDIRECT ||
        (single && first >> 3 == 0x50 >> 3) || insn->bytes[0] == 0x68 || insn->bytes[0] == 0x6a)
        change = (uint64_t)-8;
    else if ((single && first >> 3 == 0x58 >> 3 && first != 0x5c) || (single && first == 0xc3))
        change = 8;
    else
        return;
    if (!(before->state.known >> RSP & 1))
        return;
    machine->state.value[RSP] = before->state.value[RSP] + change;
    machine->state.known |= 1u << RSP;
}

void as_x86_machine_step(struct as_x86_machine *machine, const struct as_insn *insn)
{
    struct as_x86 x86;
    struct as_x86_machine before = *machine, computed = *machine;
    uint64_t a = 0, b = 0, result = 0;
    bool flags = as_insn_writes(insn, AS_REG_FLAGS);
    forget_written(machine, insn);
    if (as_insn_writes(insn, RSP))
        step_stack(machine, insn, &before);
    if (!as_x86_read(&x86, insn->bytes, insn->length) || !x86.insn.operand_count_visible ||
        x86.insn.operand_count_visible > 2)
        return;
    ZydisMnemonic mnemonic = x86.insn.mnemonic;
    bool compares = mnemonic == ZYDIS_MNEMONIC_CMP || mnemonic == ZYDIS_MNEMONIC_TEST;
    bool known = mnemonic == ZYDIS_MNEMONIC_LEA
                     ? lea(&before, &x86, insn->address + insn->length, &result)
                     : read_inputs(&before, &x86, &a, &b) && (compute(&computed, &x86, a, b, &result) || compares);
    if (!known)
        return;
    if (flags)
        take_flags(machine, &computed, mnemonic);
    uint8_t reg = register_of(&x86.operands[0]);
    if (compares || reg == AS_REG_NONE)
        return;
    machine->state.known |= before.state.known & 1u << reg; /* the bits that a narrow write keeps */
    write_operand(machine, &x86.operands[0], result);
}

int as_x86_machine_branch(const struct as_x86_machine *machine, const struct as_insn *insn)
{
    struct as_x86 x86;
    if (!as_x86_read(&x86, insn->bytes, insn->length) || x86.insn.meta.category != ZYDIS_CATEGORY_COND_BR)
        return -1;
    bool near = x86.insn.opcode_map == ZYDIS_OPCODE_MAP_0F && x86.insn.opcode >> 4 == 8;
    if (!near && x86.insn.opcode >> 4 != 7)
        return -1; /* loop, jrcxz */
    return condition_holds(machine, x86.insn.opcode & 15);
}
