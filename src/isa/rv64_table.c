/* The 32-bit RISC-V instructions that are decoded: RV64 I, M, A, F, D, Zicsr, Zifencei; the bit-manipulation extensions
 * Zba, Zbb, Zbc, Zbs; the cache-block operations Zicbom, Zicbop, Zicboz; and the privileged ones that user programs can
 * meet. Encodings are those of the RISC-V unprivileged and privileged specifications.
 *
 * The first row that matches counts: special cases stand before the general ones. The table is searched linearly; an
 * instruction is decoded once in its life.
 */
#include "isa/rv64.h"

enum {
    LOADS = AS_INSN_LOAD,
    STORES = AS_INSN_STORE,
    AMO = AS_INSN_LOAD | AS_INSN_STORE | AS_INSN_ATOMIC,
    LR = AS_INSN_LOAD | AS_INSN_ATOMIC,
    SC = AS_INSN_STORE | AS_INSN_ATOMIC | AS_INSN_COND_MEM,
    DRAIN = AS_INSN_SERIALISES | AS_INSN_FLUSHES,
    SYSTEM = AS_INSN_ENDS_BLOCK | AS_INSN_SERIALISES | AS_INSN_FLUSHES,
    CONDITION = AS_INSN_CONDITIONAL | AS_INSN_ENDS_BLOCK,
    ALL = -1
};

/* Which bits identify the instruction. */
enum {
    M_OPCODE = 0x7f,
    M_FUNCT3 = 0x707f,
    M_RM = 0xfe00007f,     /* funct7, rounding mode free */
    M_FUNCT7 = 0xfe00707f, /* funct7 and funct3 */
    M_SHIFT6 = 0xfc00707f, /* six bits of shift amount */
    M_RS2_RM = 0xfff0007f, /* rs2 is part of the opcode, rounding mode free */
    M_RS2 = 0xfff0707f,    /* rs2 and funct3 are */
    M_FMA = 0x0600007f,    /* format */
    M_AMO = 0xf800707f,    /* aq and rl free */
    M_LR = 0xf9f0707f,     /* … and rs2 zero */
    M_PREFETCH = 0x01f07fff,
    M_CBO = 0xfff07fff
};

/* clang-format off */
#define ROW(mask, match, name, format, class, size, flags)                                                             \
    {(uint32_t)(mask), (match), (name), AS_RV_##format, AS_CLASS_##class, (size), (flags)},
#define INT(mask, match, name, format) ROW(mask, match, name, format, INT, 0, 0)
#define FP_PAIR(mask, match, name, format, class)                                                                      \
    ROW(mask, match, name ".s", format, class, 0, 0) ROW(mask, (match) | 0x02000000, name ".d", format, class, 0, 0)
#define AMO_PAIR(funct5, name)                                                                                         \
    ROW(M_AMO, 0x0000202fu | (uint32_t)(funct5) << 27, name ".w", AMO, ATOMIC, 4, AMO)                                 \
    ROW(M_AMO, 0x0000302fu | (uint32_t)(funct5) << 27, name ".d", AMO, ATOMIC, 8, AMO)

static const struct as_rv_row rows[] = {
    ROW(M_FUNCT3, 0x00003003, "ld", LOAD, LOAD, 8, LOADS)
    ROW(M_FUNCT3, 0x00002003, "lw", LOAD, LOAD, 4, LOADS)
    ROW(M_FUNCT3, 0x00006003, "lwu", LOAD, LOAD, 4, LOADS)
    ROW(M_FUNCT3, 0x00001003, "lh", LOAD, LOAD, 2, LOADS)
    ROW(M_FUNCT3, 0x00005003, "lhu", LOAD, LOAD, 2, LOADS)
    ROW(M_FUNCT3, 0x00000003, "lb", LOAD, LOAD, 1, LOADS)
    ROW(M_FUNCT3, 0x00004003, "lbu", LOAD, LOAD, 1, LOADS)
    ROW(M_FUNCT3, 0x00003023, "sd", STORE, STORE, 8, STORES)
    ROW(M_FUNCT3, 0x00002023, "sw", STORE, STORE, 4, STORES)
    ROW(M_FUNCT3, 0x00001023, "sh", STORE, STORE, 2, STORES)
    ROW(M_FUNCT3, 0x00000023, "sb", STORE, STORE, 1, STORES)
    ROW(M_FUNCT3, 0x00002007, "flw", FLOAD, LOAD, 4, LOADS)
    ROW(M_FUNCT3, 0x00003007, "fld", FLOAD, LOAD, 8, LOADS)
    ROW(M_FUNCT3, 0x00002027, "fsw", FSTORE, STORE, 4, STORES)
    ROW(M_FUNCT3, 0x00003027, "fsd", FSTORE, STORE, 8, STORES)

    ROW(M_FUNCT3, 0x00000063, "beq", BRANCH, BRANCH, 0, CONDITION)
    ROW(M_FUNCT3, 0x00001063, "bne", BRANCH, BRANCH, 0, CONDITION)
    ROW(M_FUNCT3, 0x00004063, "blt", BRANCH, BRANCH, 0, CONDITION)
    ROW(M_FUNCT3, 0x00005063, "bge", BRANCH, BRANCH, 0, CONDITION)
    ROW(M_FUNCT3, 0x00006063, "bltu", BRANCH, BRANCH, 0, CONDITION)
    ROW(M_FUNCT3, 0x00007063, "bgeu", BRANCH, BRANCH, 0, CONDITION)
    ROW(M_OPCODE, 0x0000006f, "jal", JAL, JUMP, 0, AS_INSN_ENDS_BLOCK)
    ROW(M_FUNCT3, 0x00000067, "jalr", JALR, JUMP_INDIRECT, 0, AS_INSN_ENDS_BLOCK)

    /* Hints in the space of ori with rd zero. */
    ROW(M_PREFETCH, 0x00006013, "prefetch.i", PREFETCH, CACHE, 1, 0)
    ROW(M_PREFETCH, 0x00106013, "prefetch.r", PREFETCH, CACHE, 1, AS_INSN_PREFETCH)
    ROW(M_PREFETCH, 0x00306013, "prefetch.w", PREFETCH, CACHE, 1, AS_INSN_PREFETCH)

    INT(M_FUNCT3, 0x00000013, "addi", I)
    INT(M_FUNCT3, 0x00007013, "andi", I)
    INT(M_FUNCT3, 0x00006013, "ori", I)
    INT(M_FUNCT3, 0x00004013, "xori", I)
    INT(M_FUNCT3, 0x00002013, "slti", I)
    INT(M_FUNCT3, 0x00003013, "sltiu", I)
    INT(M_FUNCT3, 0x0000001b, "addiw", I)
    INT(M_SHIFT6, 0x00001013, "slli", SHIFT)
    INT(M_SHIFT6, 0x00005013, "srli", SHIFT)
    INT(M_SHIFT6, 0x40005013, "srai", SHIFT)
    INT(M_FUNCT7, 0x0000101b, "slliw", SHIFT)
    INT(M_FUNCT7, 0x0000501b, "srliw", SHIFT)
    INT(M_FUNCT7, 0x4000501b, "sraiw", SHIFT)
    INT(M_OPCODE, 0x00000037, "lui", U)
    INT(M_OPCODE, 0x00000017, "auipc", U)
    INT(M_FUNCT7, 0x00000033, "add", R)
    INT(M_FUNCT7, 0x40000033, "sub", R)
    INT(M_FUNCT7, 0x00001033, "sll", R)
    INT(M_FUNCT7, 0x00002033, "slt", R)
    INT(M_FUNCT7, 0x00003033, "sltu", R)
    INT(M_FUNCT7, 0x00004033, "xor", R)
    INT(M_FUNCT7, 0x00005033, "srl", R)
    INT(M_FUNCT7, 0x40005033, "sra", R)
    INT(M_FUNCT7, 0x00006033, "or", R)
    INT(M_FUNCT7, 0x00007033, "and", R)
    INT(M_FUNCT7, 0x0000003b, "addw", R)
    INT(M_FUNCT7, 0x4000003b, "subw", R)
    INT(M_FUNCT7, 0x0000103b, "sllw", R)
    INT(M_FUNCT7, 0x0000503b, "srlw", R)
    INT(M_FUNCT7, 0x4000503b, "sraw", R)

    ROW(M_FUNCT7, 0x02000033, "mul", R, MUL, 0, 0)
    ROW(M_FUNCT7, 0x02001033, "mulh", R, MUL, 0, 0)
    ROW(M_FUNCT7, 0x02002033, "mulhsu", R, MUL, 0, 0)
    ROW(M_FUNCT7, 0x02003033, "mulhu", R, MUL, 0, 0)
    ROW(M_FUNCT7, 0x0200003b, "mulw", R, MUL, 0, 0)
    ROW(M_FUNCT7, 0x02004033, "div", R, DIV, 0, 0)
    ROW(M_FUNCT7, 0x02005033, "divu", R, DIV, 0, 0)
    ROW(M_FUNCT7, 0x02006033, "rem", R, DIV, 0, 0)
    ROW(M_FUNCT7, 0x02007033, "remu", R, DIV, 0, 0)
    ROW(M_FUNCT7, 0x0200403b, "divw", R, DIV, 0, 0)
    ROW(M_FUNCT7, 0x0200503b, "divuw", R, DIV, 0, 0)
    ROW(M_FUNCT7, 0x0200603b, "remw", R, DIV, 0, 0)
    ROW(M_FUNCT7, 0x0200703b, "remuw", R, DIV, 0, 0)

    ROW(M_LR, 0x1000202f, "lr.w", LR, LOAD, 4, LR)
    ROW(M_LR, 0x1000302f, "lr.d", LR, LOAD, 8, LR)
    ROW(M_AMO, 0x1800202f, "sc.w", AMO, STORE, 4, SC)
    ROW(M_AMO, 0x1800302f, "sc.d", AMO, STORE, 8, SC)
    AMO_PAIR(0x00, "amoadd") AMO_PAIR(0x01, "amoswap") AMO_PAIR(0x04, "amoxor") AMO_PAIR(0x08, "amoor")
    AMO_PAIR(0x0c, "amoand") AMO_PAIR(0x10, "amomin") AMO_PAIR(0x14, "amomax") AMO_PAIR(0x18, "amominu")
    AMO_PAIR(0x1c, "amomaxu")

    FP_PAIR(M_RM, 0x00000053, "fadd", FR, FP_ADD)
    FP_PAIR(M_RM, 0x08000053, "fsub", FR, FP_ADD)
    FP_PAIR(M_RM, 0x10000053, "fmul", FR, FP_MUL)
    FP_PAIR(M_RM, 0x18000053, "fdiv", FR, FP_DIV)
    FP_PAIR(M_RS2_RM, 0x58000053, "fsqrt", F1, FP_SQRT)
    FP_PAIR(M_FUNCT7, 0x20000053, "fsgnj", FR_EXACT, FP_OTHER)
    FP_PAIR(M_FUNCT7, 0x20001053, "fsgnjn", FR_EXACT, FP_OTHER)
    FP_PAIR(M_FUNCT7, 0x20002053, "fsgnjx", FR_EXACT, FP_OTHER)
    FP_PAIR(M_FUNCT7, 0x28000053, "fmin", FR_EXACT, FP_ADD)
    FP_PAIR(M_FUNCT7, 0x28001053, "fmax", FR_EXACT, FP_ADD)
    FP_PAIR(M_FUNCT7, 0xa0002053, "feq", FCMP, FP_ADD)
    FP_PAIR(M_FUNCT7, 0xa0001053, "flt", FCMP, FP_ADD)
    FP_PAIR(M_FUNCT7, 0xa0000053, "fle", FCMP, FP_ADD)
    FP_PAIR(M_RS2, 0xe0001053, "fclass", F_TO_X_MOVE, FP_OTHER)
    FP_PAIR(M_RS2_RM, 0xc0000053, "fcvt.w", F_TO_X, FP_CONVERT)
    FP_PAIR(M_RS2_RM, 0xc0100053, "fcvt.wu", F_TO_X, FP_CONVERT)
    FP_PAIR(M_RS2_RM, 0xc0200053, "fcvt.l", F_TO_X, FP_CONVERT)
    FP_PAIR(M_RS2_RM, 0xc0300053, "fcvt.lu", F_TO_X, FP_CONVERT)
    ROW(M_RS2_RM, 0xd0000053, "fcvt.s.w", X_TO_F, FP_CONVERT, 0, 0)
    ROW(M_RS2_RM, 0xd0100053, "fcvt.s.wu", X_TO_F, FP_CONVERT, 0, 0)
    ROW(M_RS2_RM, 0xd0200053, "fcvt.s.l", X_TO_F, FP_CONVERT, 0, 0)
    ROW(M_RS2_RM, 0xd0300053, "fcvt.s.lu", X_TO_F, FP_CONVERT, 0, 0)
    ROW(M_RS2_RM, 0xd2000053, "fcvt.d.w", X_TO_F_WIDEN, FP_CONVERT, 0, 0)
    ROW(M_RS2_RM, 0xd2100053, "fcvt.d.wu", X_TO_F_WIDEN, FP_CONVERT, 0, 0)
    ROW(M_RS2_RM, 0xd2200053, "fcvt.d.l", X_TO_F, FP_CONVERT, 0, 0)
    ROW(M_RS2_RM, 0xd2300053, "fcvt.d.lu", X_TO_F, FP_CONVERT, 0, 0)
    ROW(M_RS2_RM, 0x40100053, "fcvt.s.d", F1, FP_CONVERT, 0, 0)
    ROW(M_RS2_RM, 0x42000053, "fcvt.d.s", F1_WIDEN, FP_CONVERT, 0, 0)
    ROW(M_RS2, 0xe0000053, "fmv.x.w", F_TO_X_MOVE, FP_OTHER, 0, 0)
    ROW(M_RS2, 0xe2000053, "fmv.x.d", F_TO_X_MOVE, FP_OTHER, 0, 0)
    ROW(M_RS2, 0xf0000053, "fmv.w.x", X_TO_F_MOVE, FP_OTHER, 0, 0)
    ROW(M_RS2, 0xf2000053, "fmv.d.x", X_TO_F_MOVE, FP_OTHER, 0, 0)
    FP_PAIR(M_FMA, 0x00000043, "fmadd", FR4, FP_FMA)
    FP_PAIR(M_FMA, 0x00000047, "fmsub", FR4, FP_FMA)
    FP_PAIR(M_FMA, 0x0000004b, "fnmsub", FR4, FP_FMA)
    FP_PAIR(M_FMA, 0x0000004f, "fnmadd", FR4, FP_FMA)

    ROW(ALL, 0x0100000f, "pause", NONE, NOP, 0, 0)
    ROW(ALL, 0x8330000f, "fence.tso", NONE, FENCE, 0, AS_INSN_FENCE_LOAD)
    ROW(M_FUNCT3, 0x0000000f, "fence", FENCE, FENCE, 0, 0)
    ROW(M_FUNCT3, 0x0000100f, "fence.i", NONE, SERIALISE, 0, DRAIN)
    ROW(M_CBO, 0x0000200f, "cbo.inval", CBO, CACHE, 64, AS_INSN_CACHE_FLUSH)
    ROW(M_CBO, 0x0010200f, "cbo.clean", CBO, CACHE, 64, AS_INSN_CACHE_CLEAN)
    ROW(M_CBO, 0x0020200f, "cbo.flush", CBO, CACHE, 64, AS_INSN_CACHE_FLUSH)
    ROW(M_CBO, 0x0040200f, "cbo.zero", CBO, CACHE, 64, AS_INSN_STORE | AS_INSN_BULK_MEM)

    ROW(ALL, AS_RV_UNIMP, "unimp", NONE, SYSTEM, 0, SYSTEM)
    ROW(M_FUNCT3, 0x00001073, "csrrw", CSR, SERIALISE, 0, DRAIN)
    ROW(M_FUNCT3, 0x00002073, "csrrs", CSR, SERIALISE, 0, DRAIN)
    ROW(M_FUNCT3, 0x00003073, "csrrc", CSR, SERIALISE, 0, DRAIN)
    ROW(M_FUNCT3, 0x00005073, "csrrwi", CSRI, SERIALISE, 0, DRAIN)
    ROW(M_FUNCT3, 0x00006073, "csrrsi", CSRI, SERIALISE, 0, DRAIN)
    ROW(M_FUNCT3, 0x00007073, "csrrci", CSRI, SERIALISE, 0, DRAIN)
    ROW(ALL, 0x00000073, "ecall", NONE, SYSTEM, 0, SYSTEM)
    ROW(ALL, 0x00100073, "ebreak", NONE, SYSTEM, 0, SYSTEM)
    ROW(ALL, 0x00200073, "uret", NONE, SYSTEM, 0, SYSTEM)
    ROW(ALL, 0x10200073, "sret", NONE, SYSTEM, 0, SYSTEM)
    ROW(ALL, 0x30200073, "mret", NONE, SYSTEM, 0, SYSTEM)
    ROW(ALL, 0x7b200073, "dret", NONE, SYSTEM, 0, SYSTEM)
    ROW(ALL, 0x10500073, "wfi", NONE, SERIALISE, 0, DRAIN)
    ROW(0xfe007fff, 0x12000073, "sfence.vma", SFENCE, SERIALISE, 0, DRAIN)

    /* Zba */
    INT(M_FUNCT7, 0x0800003b, "add.uw", R)
    INT(M_FUNCT7, 0x20002033, "sh1add", R)
    INT(M_FUNCT7, 0x20004033, "sh2add", R)
    INT(M_FUNCT7, 0x20006033, "sh3add", R)
    INT(M_FUNCT7, 0x2000203b, "sh1add.uw", R)
    INT(M_FUNCT7, 0x2000403b, "sh2add.uw", R)
    INT(M_FUNCT7, 0x2000603b, "sh3add.uw", R)
    INT(M_SHIFT6, 0x0800101b, "slli.uw", SHIFT)
    /* Zbb */
    INT(M_FUNCT7, 0x40007033, "andn", R)
    INT(M_FUNCT7, 0x40006033, "orn", R)
    INT(M_FUNCT7, 0x40004033, "xnor", R)
    INT(M_RS2, 0x60001013, "clz", RR)
    INT(M_RS2, 0x60101013, "ctz", RR)
    INT(M_RS2, 0x60201013, "cpop", RR)
    INT(M_RS2, 0x6000101b, "clzw", RR)
    INT(M_RS2, 0x6010101b, "ctzw", RR)
    INT(M_RS2, 0x6020101b, "cpopw", RR)
    INT(M_RS2, 0x60401013, "sext.b", RR)
    INT(M_RS2, 0x60501013, "sext.h", RR)
    INT(M_RS2, 0x0800403b, "zext.h", RR)
    INT(M_RS2, 0x28705013, "orc.b", RR)
    INT(M_RS2, 0x6b805013, "rev8", RR)
    INT(M_FUNCT7, 0x0a004033, "min", R)
    INT(M_FUNCT7, 0x0a005033, "minu", R)
    INT(M_FUNCT7, 0x0a006033, "max", R)
    INT(M_FUNCT7, 0x0a007033, "maxu", R)
    INT(M_FUNCT7, 0x60001033, "rol", R)
    INT(M_FUNCT7, 0x60005033, "ror", R)
    INT(M_FUNCT7, 0x6000103b, "rolw", R)
    INT(M_FUNCT7, 0x6000503b, "rorw", R)
    INT(M_SHIFT6, 0x60005013, "rori", SHIFT)
    INT(M_FUNCT7, 0x6000501b, "roriw", SHIFT)
    /* Zbc */
    ROW(M_FUNCT7, 0x0a001033, "clmul", R, MUL, 0, 0)
    ROW(M_FUNCT7, 0x0a002033, "clmulr", R, MUL, 0, 0)
    ROW(M_FUNCT7, 0x0a003033, "clmulh", R, MUL, 0, 0)
    /* Zbs */
    INT(M_FUNCT7, 0x48001033, "bclr", R)
    INT(M_FUNCT7, 0x48005033, "bext", R)
    INT(M_FUNCT7, 0x68001033, "binv", R)
    INT(M_FUNCT7, 0x28001033, "bset", R)
    INT(M_SHIFT6, 0x48001013, "bclri", SHIFT)
    INT(M_SHIFT6, 0x48005013, "bexti", SHIFT)
    INT(M_SHIFT6, 0x68001013, "binvi", SHIFT)
    INT(M_SHIFT6, 0x28001013, "bseti", SHIFT)
};
/* clang-format on */

/* Rounding modes 5 and 6 are reserved: such an instruction is illegal. */
static bool rounding_is_valid(const struct as_rv_row *row, uint32_t word)
{
    switch (row->format) {
    case AS_RV_FR:
    case AS_RV_FR4:
    case AS_RV_F1:
    case AS_RV_F1_WIDEN:
    case AS_RV_F_TO_X:
    case AS_RV_X_TO_F:
    case AS_RV_X_TO_F_WIDEN:
        return as_rv_funct3(word) != 5 && as_rv_funct3(word) != 6;
    default:
        return true;
    }
}

const struct as_rv_row *as_rv_find(uint32_t word)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if ((word & rows[i].mask) == rows[i].match)
            return rounding_is_valid(&rows[i], word) ? &rows[i] : NULL;
    return NULL;
}
