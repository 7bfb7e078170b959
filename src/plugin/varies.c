/* See varies.h. x86: string instructions, masked moves, everything in the opcode map of gathers, all of EVEX.
 * RISC-V: store-conditional. */
#include "plugin/varies.h"

static bool is_legacy_prefix(uint8_t byte)
{
    switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
    case 0xf0:
    case 0xf2:
    case 0xf3:
        return true;
    default:
        return false;
    }
}

static bool is_string_opcode(uint8_t opcode)
{
    return (opcode >= 0xa4 && opcode <= 0xa7) || (opcode >= 0xaa && opcode <= 0xaf) ||
           (opcode >= 0x6c && opcode <= 0x6f);
}

static size_t prefix_length(const uint8_t *bytes, size_t size)
{
    enum { REX_FIRST = 0x40, REX_LAST = 0x4f };
    size_t n = 0;
    while (n < size && (is_legacy_prefix(bytes[n]) || (bytes[n] >= REX_FIRST && bytes[n] <= REX_LAST)))
        n++;
    return n;
}

static bool x86_varies(const uint8_t *bytes, size_t size)
{
    enum { VEX3 = 0xc4, VEX2 = 0xc5, EVEX = 0x62, MAP_MASK = 0x1f, MASKMOV = 0xf7 };
    size_t prefixes = prefix_length(bytes, size);
    bytes += prefixes;
    size -= prefixes;
    if (size == 0 || is_string_opcode(bytes[0]) || bytes[0] == EVEX)
        return true;
    if (bytes[0] == VEX3)
        return size < 4 || (bytes[1] & MAP_MASK) != 1 || bytes[3] == MASKMOV;
    if (bytes[0] == VEX2)
        return size < 3 || bytes[2] == MASKMOV;
    return bytes[0] == 0x0f && size > 1 && bytes[1] == MASKMOV;
}

static bool riscv_varies(const uint8_t *bytes, size_t size)
{
    enum { AMO = 0x2f, SC = 3 };
    return size == 4 && (bytes[0] & 0x7f) == AMO && bytes[3] >> 3 == SC;
}

bool as_insn_varies(enum as_arch arch, const uint8_t *bytes, size_t size)
{
    return arch == AS_ARCH_X86_64 ? x86_varies(bytes, size) : riscv_varies(bytes, size);
}

/* A lock prefix, or an exchange with memory. */
static bool x86_is_atomic(const uint8_t *bytes, size_t size)
{
    enum { LOCK = 0xf0, XCHG_BYTES = 0x86, XCHG = 0x87, REGISTERS = 0xc0 };
    size_t prefixes = prefix_length(bytes, size);
    for (size_t i = 0; i < prefixes; i++)
        if (bytes[i] == LOCK)
            return true;
    return size - prefixes > 1 && (bytes[prefixes] == XCHG_BYTES || bytes[prefixes] == XCHG) &&
           bytes[prefixes + 1] < REGISTERS;
}

static bool riscv_is_atomic(const uint8_t *bytes, size_t size)
{
    enum { AMO = 0x2f };
    return size == 4 && (bytes[0] & 0x7f) == AMO;
}

/* Opcodes 0f xx. */
static enum as_answer x86_answer_of_two(uint8_t opcode)
{
    enum { CMOV = 0x40, JCC = 0x80, SETCC = 0x90, MAP38 = 0x38, COMISS = 0x2e };
    bool reads = (opcode & 0xf0) == CMOV || (opcode & 0xf0) == JCC || (opcode & 0xf0) == SETCC || opcode == MAP38;
    return reads ? AS_ANSWER_READ : (opcode & 0xfe) == COMISS ? AS_ANSWER_LOST : AS_ANSWER_NONE;
}

/* Opcodes 00 to 3f, and those of group 1 by their number in modrm: add, or, adc, sbb, and, sub, xor, cmp. */
static enum as_answer x86_answer_of_sum(uint8_t number)
{
    enum { ADC = 2, SBB = 3 };
    return number == ADC || number == SBB ? AS_ANSWER_READ : AS_ANSWER_LOST;
}

static enum as_answer x86_answer_of_one(const uint8_t *bytes, size_t size)
{
    enum { JCC = 0x70, TEST_BYTES = 0x84, TEST = 0x85, TEST_AL = 0xa8, TEST_AX = 0xa9, CALL = 0xe8, RETURN = 0xc3 };
    enum { UNARY = 0xf6, TEST_THERE = 1, NEG = 3 }; /* test with a constant is 0, and 1 by another code */
    enum { PUSHF = 0x9c, LAHF = 0x9f, FCMOV = 0xda, LOOPNE = 0xe0, LOOPE = 0xe1, CMC = 0xf5, RCL = 2, RCR = 3 };
    uint8_t opcode = bytes[0], number = size > 1 ? bytes[1] >> 3 & 7 : RCL;
    if (opcode < 0x40 && (opcode & 7) < 6)
        return x86_answer_of_sum(opcode >> 3);
    if (opcode >= 0x80 && opcode <= 0x83)
        return x86_answer_of_sum(number);
    bool turns = (opcode & 0xfc) == 0xd0 || (opcode & 0xfe) == 0xc0;
    if ((opcode & 0xf0) == JCC || opcode == PUSHF || opcode == LAHF || opcode == LOOPNE || opcode == LOOPE ||
        opcode == CMC || (opcode & 0xfe) == FCMOV || (turns && (number == RCL || number == RCR)))
        return AS_ANSWER_READ;
    bool unary = (opcode & 0xfe) == UNARY && (number <= TEST_THERE || number == NEG);
    bool sets = opcode == TEST_BYTES || opcode == TEST || opcode == TEST_AL || opcode == TEST_AX || unary;
    return sets || opcode == CALL || opcode == RETURN ? AS_ANSWER_LOST : AS_ANSWER_NONE;
}

/* With a lock prefix only xadd, cmpxchg and their like (0f …), and exchanges, have a result. */
static enum as_answer x86_answer(const uint8_t *bytes, size_t size)
{
    enum { ESCAPE = 0x0f, XCHG_KIND = 0x86, BIT_TESTS = 0xa3, BIT_KIND = 0xe7, BIT_GROUP = 0xba };
    size_t prefixes = prefix_length(bytes, size), left = size - prefixes;
    const uint8_t *opcode = bytes + prefixes;
    if (left == 0 || (opcode[0] == ESCAPE && left < 2))
        return AS_ANSWER_READ;
    bool is_two = opcode[0] == ESCAPE;
    if (x86_is_atomic(bytes, size)) {
        bool tests = is_two && ((opcode[1] & BIT_KIND) == BIT_TESTS || opcode[1] == BIT_GROUP);
        return tests || (!is_two && (opcode[0] & 0xfe) != XCHG_KIND) ? AS_ANSWER_FLAGS : AS_ANSWER_VALUE;
    }
    return is_two ? x86_answer_of_two(opcode[1]) : x86_answer_of_one(opcode, left);
}

/* A store-conditional asks nothing that its load-reserved did not. */
static enum as_answer riscv_answer(const uint8_t *bytes, size_t size)
{
    enum { X0 = 0 };
    bool asks =
        riscv_is_atomic(bytes, size) && !riscv_varies(bytes, size) && ((bytes[0] | bytes[1] << 8) >> 7 & 31) != X0;
    return asks ? AS_ANSWER_VALUE : AS_ANSWER_NONE;
}

enum as_answer as_insn_answer(enum as_arch arch, const uint8_t *bytes, size_t size)
{
    return arch == AS_ARCH_X86_64 ? x86_answer(bytes, size) : riscv_answer(bytes, size);
}

enum as_reservation as_insn_reservation(enum as_arch arch, const uint8_t *bytes, size_t size)
{
    enum { LR = 2 };
    if (arch != AS_ARCH_RISCV64 || !riscv_is_atomic(bytes, size))
        return AS_RESERVATION_NONE;
    return riscv_varies(bytes, size) ? AS_RESERVATION_USED
           : bytes[3] >> 3 == LR     ? AS_RESERVATION_MADE
                                     : AS_RESERVATION_NONE;
}

static bool x86_hints(const uint8_t *bytes, size_t size)
{
    enum { ESCAPE = 0x0f, PREFETCH = 0x18, PREFETCHW = 0x0d, GROUP15 = 0xae, CLWB = 6 };
    size_t prefixes = prefix_length(bytes, size);
    if (size - prefixes < 3 || bytes[prefixes] != ESCAPE)
        return false;
    uint8_t opcode = bytes[prefixes + 1], modrm = bytes[prefixes + 2];
    return opcode == PREFETCH || opcode == PREFETCHW || (opcode == GROUP15 && (modrm >> 3 & 7) >= CLWB);
}

/* Zicbop's prefetches are an ori to x0; the line operations of Zicbom and Zicboz have an opcode of their own. */
static bool riscv_hints(const uint8_t *bytes, size_t size)
{
    enum { ORI_TO_X0 = 0x6013, LINE_OPERATION = 0x200f, SHAPE = 0x7fff };
    uint32_t shape = size == 4 ? (uint32_t)(bytes[0] | bytes[1] << 8) & SHAPE : 0;
    return shape == ORI_TO_X0 || shape == LINE_OPERATION;
}

bool as_insn_hints(enum as_arch arch, const uint8_t *bytes, size_t size)
{
    return arch == AS_ARCH_X86_64 ? x86_hints(bytes, size) : riscv_hints(bytes, size);
}

/* mov and lea to rsp, exchanges with it. */
static bool x86_moves_stack(const uint8_t *bytes, size_t size)
{
    enum { REX_W = 0x48, REX_R = 4, REX_B = 1, REX_KIND = 0xf8, SP = 4, MOV_TO = 0x8b, MOV_FROM = 0x89, LEA = 0x8d };
    enum { XCHG = 0x87, XCHG_RAX_RSP = 0x94 };
    size_t prefixes = prefix_length(bytes, size);
    if (prefixes == 0 || prefixes + 1 > size || (bytes[prefixes - 1] & REX_KIND) != REX_W)
        return false;
    uint8_t rex = bytes[prefixes - 1], opcode = bytes[prefixes], modrm = prefixes + 1 < size ? bytes[prefixes + 1] : 0;
    bool is_reg = !(rex & REX_R) && (modrm >> 3 & 7) == SP;
    bool is_rm = !(rex & REX_B) && modrm >> 6 == 3 && (modrm & 7) == SP;
    return ((opcode == MOV_TO || opcode == LEA || opcode == XCHG) && is_reg) ||
           ((opcode == MOV_FROM || opcode == XCHG) && is_rm) || (opcode == XCHG_RAX_RSP && !(rex & REX_B));
}

static uint32_t rv_word(const uint8_t *bytes, size_t size)
{
    return (uint32_t)(bytes[0] | bytes[1] << 8) | (size == 4 ? (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24 : 0);
}

enum { RV_LD = 0x3003, RV_SD = 0x3023, RV_ADDI = 0x13, RV_SHAPE = 0x707f, RV_LINK = 1, RV_SP = 2 };
enum { RVC_LDSP = 0x6002, RVC_SDSP = 0xe002, RVC_MV = 0x8002, RVC_SHAPE = 0xe003 };

/* ld sp, …; mv sp, … */
static bool riscv_moves_stack(const uint8_t *bytes, size_t size)
{
    uint32_t word = rv_word(bytes, size), rd = word >> 7 & 31, rs1 = word >> 15 & 31;
    if (size == 2)
        return rd == RV_SP && (word & RVC_SHAPE) == RVC_MV && (word >> 2 & 31) != 0;
    return rd == RV_SP && ((word & RV_SHAPE) == RV_LD || ((word & RV_SHAPE) == RV_ADDI && rs1 != RV_SP));
}

bool as_insn_moves_stack(enum as_arch arch, const uint8_t *bytes, size_t size)
{
    return arch == AS_ARCH_X86_64 ? x86_moves_stack(bytes, size) : riscv_moves_stack(bytes, size);
}

/* Calls and returns. */
static bool x86_links(const uint8_t *bytes, size_t size)
{
    enum { CALL = 0xe8, GROUP5 = 0xff, CALL_INDIRECT = 2, CALL_FAR = 3, RETURN_POP = 0xc2, RETURN_KIND = 0xf6 };
    size_t prefixes = prefix_length(bytes, size);
    uint8_t opcode = prefixes < size ? bytes[prefixes] : 0;
    uint8_t extension = prefixes + 1 < size ? bytes[prefixes + 1] >> 3 & 7 : 0;
    return opcode == CALL || (opcode & RETURN_KIND) == RETURN_POP ||
           (opcode == GROUP5 && (extension == CALL_INDIRECT || extension == CALL_FAR));
}

/* ld ra, …; sd ra, … */
static bool riscv_links(const uint8_t *bytes, size_t size)
{
    uint32_t word = rv_word(bytes, size), rd = word >> 7 & 31;
    if (size == 2)
        return ((word & RVC_SHAPE) == RVC_LDSP && rd == RV_LINK) ||
               ((word & RVC_SHAPE) == RVC_SDSP && (word >> 2 & 31) == RV_LINK);
    return ((word & RV_SHAPE) == RV_LD && rd == RV_LINK) ||
           ((word & RV_SHAPE) == RV_SD && (word >> 20 & 31) == RV_LINK);
}

bool as_insn_links(enum as_arch arch, const uint8_t *bytes, size_t size)
{
    return arch == AS_ARCH_X86_64 ? x86_links(bytes, size) : riscv_links(bytes, size);
}

/* Whether an operand behind these bytes is memory near the stack pointer: [rsp + a few hundred bytes]. */
static bool x86_is_near_stack(const uint8_t *modrm, size_t size)
{
    enum { SIB = 4, RSP_ALONE = 0x24, FAR = 2 };
    return size >= 2 && modrm[0] >> 6 != 3 && (modrm[0] & 7) == SIB && modrm[1] == RSP_ALONE &&
           (modrm[0] >> 6 < 2 || (size >= 6 && modrm[3] < FAR && !modrm[4] && !modrm[5]));
}

/* Whether an opcode of one byte is followed by an operand, which is all that it accesses. */
static bool x86_has_operand(uint8_t opcode)
{
    enum { GROUP5 = 0xff, POP_TO = 0x8f };
    return (opcode < 0x40 && (opcode & 7) < 4) || opcode == 0x63 || opcode == 0x69 || opcode == 0x6b ||
           (opcode >= 0x80 && opcode <= 0x8b) || (opcode & 0xfe) == 0xc0 || (opcode & 0xfe) == 0xc6 ||
           (opcode & 0xf8) == 0xd8 || (opcode & 0xfe) == 0xf6 || opcode == 0xfe || opcode == GROUP5 || opcode == POP_TO;
}

/* Whether prefixes may make [rsp + n] something else: [r12 + n], [rsp + r12 + n], [esp + n], fs:[rsp + n]. */
static bool x86_is_changed(const uint8_t *bytes, size_t prefixes)
{
    enum { FS = 0x64, GS = 0x65, ADDRESS_SIZE = 0x67, REX = 0x40, REX_KIND = 0xf0, REX_B = 1, REX_X = 2 };
    for (size_t i = 0; i < prefixes; i++)
        if (bytes[i] == FS || bytes[i] == GS || bytes[i] == ADDRESS_SIZE ||
            ((bytes[i] & REX_KIND) == REX && bytes[i] & (REX_B | REX_X)))
            return true;
    return false;
}

/* push, pop, call, return, and operands at [rsp + n]. */
static bool x86_only_stack(const uint8_t *bytes, size_t size)
{
    enum { ESCAPE = 0x0f, PUSH = 0x68, PUSH_BYTE = 0x6a, CALL = 0xe8 };
    size_t prefixes = prefix_length(bytes, size);
    if (prefixes >= size)
        return false;
    uint8_t opcode = bytes[prefixes];
    if ((opcode & 0xf0) == 0x50 || opcode == PUSH || opcode == PUSH_BYTE || opcode == CALL || (opcode & 0xfe) == 0xc2)
        return true;
    size_t before = opcode == ESCAPE ? 2 : 1; /* the maps 0f 38 and 0f 3a have their operand a byte later */
    if (x86_is_changed(bytes, prefixes) || prefixes + before >= size || (before == 1 && !x86_has_operand(opcode)) ||
        (before == 2 && (bytes[prefixes + 1] == 0x38 || bytes[prefixes + 1] == 0x3a)))
        return false;
    return x86_is_near_stack(bytes + prefixes + before, size - prefixes - before);
}

/* Loads and stores at n(sp). */
static bool riscv_only_stack(const uint8_t *bytes, size_t size)
{
    enum { LOAD = 0x03, LOAD_FP = 0x07, STORE = 0x23, STORE_FP = 0x27, QUADRANT = 3, BY_SP = 2 };
    uint32_t word = rv_word(bytes, size), opcode = word & 0x7f;
    if (size == 2)
        return (word & QUADRANT) == BY_SP && (word >> 13 & 3) != 0;
    return (opcode == LOAD || opcode == LOAD_FP || opcode == STORE || opcode == STORE_FP) && (word >> 15 & 31) == RV_SP;
}

bool as_insn_only_stack(enum as_arch arch, const uint8_t *bytes, size_t size)
{
    return arch == AS_ARCH_X86_64 ? x86_only_stack(bytes, size) : riscv_only_stack(bytes, size);
}
