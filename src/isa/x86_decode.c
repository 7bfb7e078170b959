/* x86-64 instructions, read by Zydis and put into our record.
 *
 * Zydis reports which operands an instruction reads and writes, hidden ones included. What is corrected here, because
 * Zydis follows the manual's notation and not what a renamer sees:
 *  - 8- and 16-bit writes of a general register and legacy SSE writes of less than 128 bits keep the rest: they read
 * it;
 *  - conditional writes (cmov, masks, bsf of zero) read what they may keep;
 *  - xor, sub and their vector kin of a register with itself read nothing;
 *  - a push stores below the old stack pointer, a pop into [rsp+n] addresses with the new one;
 *  - cmps, scas, ins and outs move their pointers; xlat adds al; leave reads rbp alone.
 * The shadow stack is not modelled: no processor state of a program under QEMU has one.
 */
#include "isa/x86.h"

#include <string.h>
#include <threads.h>

enum {
    STATUS_FLAGS =
        ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF,
    REG_RAX = AS_REG_INT0,
    REG_RCX = AS_REG_INT0 + 1,
    REG_RSP = AS_REG_INT0 + 4,
    REG_RBP = AS_REG_INT0 + 5
};

static once_flag decoder_once = ONCE_FLAG_INIT;
static ZydisDecoder decoder; /* constant after decoder_init */

static void decoder_init(void)
{
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    /* The bound registers are gone from processors and kernels: their instructions execute as nops. */
    ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MPX, ZYAN_FALSE);
}

/* Knights Corner's vectors never ran Linux programs of this instruction set, and QEMU has no VIA PadLock. */
static bool is_foreign(const ZydisDecodedInstruction *insn)
{
    ZydisISAExt ext = insn->meta.isa_ext;
    return ext == ZYDIS_ISA_EXT_KNC || ext == ZYDIS_ISA_EXT_KNCE || ext == ZYDIS_ISA_EXT_KNCV ||
           ext == ZYDIS_ISA_EXT_PADLOCK;
}

bool as_x86_read(struct as_x86 *x86, const uint8_t *bytes, size_t size)
{
    call_once(&decoder_once, decoder_init);
    size_t length = size < ZYDIS_MAX_INSTRUCTION_LENGTH ? size : ZYDIS_MAX_INSTRUCTION_LENGTH;
    ZyanStatus status = ZydisDecoderDecodeFull(&decoder, bytes, length, &x86->insn, x86->operands);
    return ZYAN_SUCCESS(status) && !is_foreign(&x86->insn);
}

static uint8_t special_register(ZydisRegister reg)
{
    switch (reg) {
    case ZYDIS_REGISTER_MXCSR:
        return AS_REG_FP_STATUS;
    case ZYDIS_REGISTER_X87CONTROL:
    case ZYDIS_REGISTER_X87STATUS:
    case ZYDIS_REGISTER_X87TAG:
        return AS_REG_X87;
    case ZYDIS_REGISTER_NONE:
        return AS_REG_NONE;
    default:
        return AS_REG_SYSTEM;
    }
}

uint8_t as_x86_register(ZydisRegister reg)
{
    int id = ZydisRegisterGetId(reg);
    switch (ZydisRegisterGetClass(reg)) {
    case ZYDIS_REGCLASS_GPR8:
        /* ah … bh share numbers with spl … dil. */
        reg = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
        return (uint8_t)(AS_REG_INT0 + ZydisRegisterGetId(reg));
    case ZYDIS_REGCLASS_GPR16:
    case ZYDIS_REGCLASS_GPR32:
    case ZYDIS_REGCLASS_GPR64:
        return (uint8_t)(AS_REG_INT0 + id);
    case ZYDIS_REGCLASS_XMM:
    case ZYDIS_REGCLASS_YMM:
    case ZYDIS_REGCLASS_ZMM:
        return (uint8_t)(AS_REG_VEC0 + id);
    case ZYDIS_REGCLASS_MMX:
        return (uint8_t)(AS_REG_MMX0 + id);
    case ZYDIS_REGCLASS_MASK:
        return (uint8_t)(AS_REG_MASK0 + id);
    case ZYDIS_REGCLASS_X87:
        return AS_REG_X87;
    case ZYDIS_REGCLASS_SEGMENT:
        return AS_REG_SEGMENT;
    case ZYDIS_REGCLASS_FLAGS:
    case ZYDIS_REGCLASS_IP:
    case ZYDIS_REGCLASS_TMM: /* tiles have no number here */
        return AS_REG_NONE;
    default:
        return special_register(reg);
    }
}

static uint8_t access_of(const ZydisDecodedOperand *operand)
{
    unsigned access = 0;
    if (operand->actions & (ZYDIS_OPERAND_ACTION_READ | ZYDIS_OPERAND_ACTION_CONDREAD))
        access |= AS_ACCESS_LOAD;
    if (operand->actions & (ZYDIS_OPERAND_ACTION_WRITE | ZYDIS_OPERAND_ACTION_CONDWRITE))
        access |= AS_ACCESS_STORE;
    return (uint8_t)access;
}

/* Displacement of a stack access relative to rsp before the instruction. */
static int64_t stack_shift(const struct as_x86 *x86, const ZydisDecodedOperand *operand)
{
    if (operand->mem.base != ZYDIS_REGISTER_RSP)
        return 0;
    bool hidden = operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
    if (hidden && (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
        return -(int64_t)(operand->size / 8);
    if (!hidden && x86->insn.mnemonic == ZYDIS_MNEMONIC_POP)
        return operand->size / 8;
    return 0;
}

static struct as_mem_operand mem_of(const struct as_insn *insn, const struct as_x86 *x86,
                                    const ZydisDecodedOperand *operand)
{
    const ZydisDecodedOperandMem *source = &operand->mem;
    struct as_mem_operand mem = {
        .base = as_x86_register(source->base),
        .index = as_x86_register(source->index),
        .scale = source->scale ? source->scale : 1,
        .access = access_of(operand),
        .segment = source->segment == ZYDIS_REGISTER_FS   ? 1
                   : source->segment == ZYDIS_REGISTER_GS ? 2
                                                          : 0,
        .size = operand->size / 8,
        .disp = source->disp.value + stack_shift(x86, operand),
    };
    if (source->base == ZYDIS_REGISTER_RIP || source->base == ZYDIS_REGISTER_EIP) {
        mem.pc_relative = true;
        mem.disp = (int64_t)((uint64_t)mem.disp + insn->address + insn->length);
        if (source->base == ZYDIS_REGISTER_EIP)
            mem.disp = (uint32_t)mem.disp;
    }
    return mem;
}

/* enter with a nesting level copies that many frame pointers, all but one of them from the old frame. */
static void add_enter(struct as_insn_build *build, const struct as_x86 *x86, struct as_mem_operand mem)
{
    uint16_t word = mem.size, level = x86->operands[1].imm.value.u & 31;
    if (level > 0)
        build->insn->flags |= AS_INSN_BULK_MEM;
    mem.size = (uint16_t)(word * (level + 1));
    mem.disp = -(int64_t)mem.size;
    as_insn_add_mem(build, &mem);
    if (level < 2)
        return;
    mem.base = REG_RBP;
    mem.access = AS_ACCESS_LOAD;
    mem.size = (uint16_t)(word * (level - 1));
    mem.disp = -(int64_t)mem.size;
    as_insn_add_mem(build, &mem);
}

static void add_mem(struct as_insn_build *build, const struct as_x86 *x86, const ZydisDecodedOperand *operand,
                    const struct as_x86_rule *rule)
{
    struct as_mem_operand mem = mem_of(build->insn, x86, operand);
    if (rule->form & AS_X86_NO_ACCESS)
        mem.access = 0;
    if (x86->insn.mnemonic == ZYDIS_MNEMONIC_XLAT)
        mem.index = REG_RAX;
    if (x86->insn.mnemonic == ZYDIS_MNEMONIC_ENTER)
        add_enter(build, x86, mem);
    else
        as_insn_add_mem(build, &mem);
}

/* Address computations without an access (lea) read their registers as data. */
static void add_address_generation(struct as_insn_build *build, const ZydisDecodedOperand *operand)
{
    as_insn_read_data(build, as_x86_register(operand->mem.base));
    as_insn_read_data(build, as_x86_register(operand->mem.index));
}

static void add_memory(struct as_insn_build *build, const struct as_x86 *x86, const struct as_x86_rule *rule)
{
    for (unsigned i = 0; i < x86->insn.operand_count; i++) {
        const ZydisDecodedOperand *operand = &x86->operands[i];
        if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY)
            continue;
        if (operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN || operand->mem.type == ZYDIS_MEMOP_TYPE_MIB)
            add_address_generation(build, operand);
        else
            add_mem(build, x86, operand, rule);
    }
    if (x86->insn.mnemonic == ZYDIS_MNEMONIC_CLZERO) {
        struct as_mem_operand line = {.base = REG_RAX, .index = AS_REG_NONE, .scale = 1, .access = AS_ACCESS_STORE};
        line.size = 64;
        as_insn_add_mem(build, &line);
    }
}

/* Whether a write leaves part of the register as it was. */
static bool write_is_partial(const struct as_x86 *x86, const ZydisDecodedOperand *operand)
{
    if (operand->actions & ZYDIS_OPERAND_ACTION_CONDWRITE)
        return true;
    switch (ZydisRegisterGetClass(operand->reg.value)) {
    case ZYDIS_REGCLASS_GPR8:
    case ZYDIS_REGCLASS_GPR16:
        return true;
    case ZYDIS_REGCLASS_XMM:
        return x86->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && operand->size < 128;
    default:
        return false;
    }
}

/* Not the mask register of an unmasked instruction, nor the selectors that a system call changes on the way. */
static bool register_counts(const ZydisDecodedOperand *operand)
{
    if (operand->encoding == ZYDIS_OPERAND_ENCODING_MASK && operand->reg.value == ZYDIS_REGISTER_K0)
        return false;
    bool hidden = operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
    bool far_segment = operand->reg.value == ZYDIS_REGISTER_CS || operand->reg.value == ZYDIS_REGISTER_SS;
    return !(hidden && far_segment);
}

static void add_register(struct as_insn_build *build, const struct as_x86 *x86, const ZydisDecodedOperand *operand,
                         const struct as_x86_rule *rule)
{
    uint8_t reg = as_x86_register(operand->reg.value);
    bool writes = (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
    bool reads = (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
    /* The x87 registers are one: each instruction that touches it depends on the one before. */
    if (reg == AS_REG_X87) {
        reads = true;
        writes = x86->insn.mnemonic != ZYDIS_MNEMONIC_FNSTCW && x86->insn.mnemonic != ZYDIS_MNEMONIC_FNSTSW;
    }
    if (writes && (write_is_partial(x86, operand) || (rule->form & AS_X86_MERGES)))
        reads = true;
    /* The stack pointer of push, pop, call and return is part of the address, not of what is moved. */
    if (reads && reg == REG_RSP && operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
        as_insn_read_address(build, reg);
    else if (reads)
        as_insn_read_data(build, reg);
    if (writes)
        as_insn_write(build, reg);
    unsigned more = operand->attributes & ZYDIS_OATTRIB_IS_MULTISOURCE4 ? 3 : 0;
    for (unsigned i = 1; i <= more && reg + i < AS_REG_FLAGS; i++)
        as_insn_read_data(build, (uint8_t)(reg + i));
}

/* The status flags are renamed as one; the direction flag is elsewhere. A shift by cl keeps the flags when cl is 0. */
static void add_flags(struct as_insn_build *build, const struct as_x86 *x86)
{
    const ZydisAccessedFlags *flags = x86->insn.cpu_flags;
    if (!flags)
        return;
    uint32_t written = flags->modified | flags->set_0 | flags->set_1 | flags->undefined;
    bool keeps = false;
    for (unsigned i = 0; i < x86->insn.operand_count; i++) {
        const ZydisDecodedOperand *operand = &x86->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER && operand->reg.value == ZYDIS_REGISTER_RFLAGS)
            keeps = (operand->actions & ZYDIS_OPERAND_ACTION_CONDWRITE) != 0;
    }
    if ((flags->tested & STATUS_FLAGS) || (keeps && (written & STATUS_FLAGS)))
        as_insn_read_data(build, AS_REG_FLAGS);
    if (written & STATUS_FLAGS)
        as_insn_write(build, AS_REG_FLAGS);
    if (flags->tested & ZYDIS_CPUFLAG_DF)
        as_insn_read_data(build, AS_REG_SYSTEM);
    if (written & ZYDIS_CPUFLAG_DF)
        as_insn_write(build, AS_REG_SYSTEM);
}

/* Zeroing, or filling with ones, whatever the two equal sources hold. Not with 8 or 16 bits, which keep the rest. */
static bool is_idiom(const struct as_x86 *x86, const struct as_x86_rule *rule)
{
    if (!(rule->form & AS_X86_IDIOM) || x86->insn.operand_count_visible < 2)
        return false;
    const ZydisDecodedOperand *last = &x86->operands[x86->insn.operand_count_visible - 1], *other = last - 1;
    if (last->type != ZYDIS_OPERAND_TYPE_REGISTER || other->type != ZYDIS_OPERAND_TYPE_REGISTER ||
        last->reg.value != other->reg.value || last->size < 32)
        return false;
    if (x86->insn.encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX)
        return true;
    /* Into a mask register, or under one, it is computed like any other. */
    return ZydisRegisterGetClass(x86->operands[0].reg.value) != ZYDIS_REGCLASS_MASK &&
           x86->insn.avx.mask.reg == ZYDIS_REGISTER_K0;
}

static void add_string_pointers(struct as_insn_build *build)
{
    struct as_insn *insn = build->insn;
    for (unsigned i = 0; i < insn->n_mem; i++)
        as_insn_write(build, insn->mem[i].base);
    if (insn->flags & AS_INSN_REP) {
        as_insn_read_data(build, REG_RCX);
        as_insn_write(build, REG_RCX);
    }
}

/* fxsave, xsave and their counterparts: as much of the state as the lists hold. */
static void add_fp_state(struct as_insn_build *build, const struct as_x86_rule *rule)
{
    void (*const add)(struct as_insn_build *, uint8_t) =
        rule->form & AS_X86_FP_SAVE ? as_insn_read_data : as_insn_write;
    add(build, AS_REG_X87);
    add(build, AS_REG_FP_STATUS);
    for (unsigned i = 0; i < 16; i++)
        add(build, (uint8_t)(AS_REG_VEC0 + i));
}

/* Registers that Zydis does not list. */
static void add_unlisted(struct as_insn_build *build, const struct as_x86 *x86, const struct as_x86_rule *rule)
{
    if (rule->form & (AS_X86_FP_SAVE | AS_X86_FP_RESTORE))
        add_fp_state(build, rule);
    switch (x86->insn.mnemonic) {
    case ZYDIS_MNEMONIC_EMMS:
    case ZYDIS_MNEMONIC_FEMMS:
    case ZYDIS_MNEMONIC_FWAIT:
        as_insn_read_data(build, AS_REG_X87);
        as_insn_write(build, AS_REG_X87);
        break;
    case ZYDIS_MNEMONIC_RDFSBASE:
    case ZYDIS_MNEMONIC_RDGSBASE:
        as_insn_read_data(build, AS_REG_SEGMENT);
        break;
    case ZYDIS_MNEMONIC_WRFSBASE:
    case ZYDIS_MNEMONIC_WRGSBASE:
        as_insn_write(build, AS_REG_SEGMENT);
        break;
    case ZYDIS_MNEMONIC_VZEROALL:
        for (unsigned i = 0; i < 16; i++)
            as_insn_write(build, (uint8_t)(AS_REG_VEC0 + i));
        break;
    case ZYDIS_MNEMONIC_LEAVE:
        as_insn_forget_read(build, REG_RSP);
        break;
    default:
        break;
    }
}

static void add_registers(struct as_insn_build *build, const struct as_x86 *x86, const struct as_x86_rule *rule)
{
    for (unsigned i = 0; i < x86->insn.operand_count; i++) {
        const ZydisDecodedOperand *operand = &x86->operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER && register_counts(operand))
            add_register(build, x86, operand, rule);
    }
    add_flags(build, x86);
    add_unlisted(build, x86, rule);
    if (is_idiom(x86, rule))
        as_insn_forget_reads(build);
}

static void set_target(struct as_insn *insn, const struct as_x86 *x86)
{
    const ZydisDecodedOperand *operand = &x86->operands[0];
    ZyanU64 target = 0;
    if (x86->insn.operand_count == 0 || operand->type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !operand->imm.is_relative)
        return;
    if (ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&x86->insn, operand, insn->address, &target)))
        insn->target = target;
}

bool as_x86_decode(struct as_insn_build *build, const uint8_t *bytes, size_t size)
{
    struct as_insn *insn = build->insn;
    struct as_x86 x86;
    if (!as_x86_read(&x86, bytes, size)) {
        as_insn_build_unknown(insn, bytes, 1);
        return false;
    }
    insn->length = x86.insn.length;
    memcpy(insn->bytes, bytes, insn->length);
    struct as_x86_rule rule = as_x86_rule_of(&x86);
    if (!(rule.form & AS_X86_NO_EFFECT)) {
        add_memory(build, &x86, &rule);
        add_registers(build, &x86, &rule);
    }
    as_x86_classify(insn, &x86, &rule);
    if (insn->class_ == AS_CLASS_STRING)
        add_string_pointers(build);
    if (as_insn_is_control(insn))
        set_target(insn, &x86);
    as_x86_add_uops(build, &x86);
    as_x86_set_fusion(insn, &x86);
    return true;
}
