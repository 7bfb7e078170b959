/* Compressed instructions (the C extension for RV64) as the 32-bit instructions they stand for.
 *
 * A row states which bits identify the instruction, which must not all be zero (otherwise it is reserved), what the
 * 32-bit form starts from, where its registers are and how its immediate is scattered. Hints (a result in x0 and the
 * like) are expanded like any other: the result is an instruction without effect.
 */
#include "isa/rv64.h"

/* Where a register number is. The letters with a P are three bits, for x8 to x15. */
enum field { NO_REG, F11_7, F9_7P, F4_2P, F6_2 };

enum place { NO_IMM, AS_I, AS_S, AS_B, AS_J, AS_U };

struct slice {
    uint8_t from, count, to; /* `count` bits from bit `from` of the instruction go to bit `to` of the immediate */
};

/* sign: the immediate's bit that is its sign, 0 where it has none. */
struct layout {
    uint8_t sign;
    struct slice slices[8];
};

enum { I_NONE, I_4SPN, I_LW, I_LD, I_CI, I_16SP, I_LUI, I_CJ, I_CB, I_LWSP, I_LDSP, I_SWSP, I_SDSP, I_SHAMT };

static const struct layout layouts[] = {
    [I_4SPN] = {0, {{11, 2, 4}, {7, 4, 6}, {6, 1, 2}, {5, 1, 3}}},
    [I_LW] = {0, {{10, 3, 3}, {6, 1, 2}, {5, 1, 6}}},
    [I_LD] = {0, {{10, 3, 3}, {5, 2, 6}}},
    [I_CI] = {5, {{12, 1, 5}, {2, 5, 0}}},
    [I_16SP] = {9, {{12, 1, 9}, {6, 1, 4}, {5, 1, 6}, {3, 2, 7}, {2, 1, 5}}},
    [I_LUI] = {17, {{12, 1, 17}, {2, 5, 12}}},
    [I_CJ] = {11, {{12, 1, 11}, {11, 1, 4}, {9, 2, 8}, {8, 1, 10}, {7, 1, 6}, {6, 1, 7}, {3, 3, 1}, {2, 1, 5}}},
    [I_CB] = {8, {{12, 1, 8}, {10, 2, 3}, {5, 2, 6}, {3, 2, 1}, {2, 1, 5}}},
    [I_LWSP] = {0, {{12, 1, 5}, {4, 3, 2}, {2, 2, 6}}},
    [I_LDSP] = {0, {{12, 1, 5}, {5, 2, 3}, {2, 3, 6}}},
    [I_SWSP] = {0, {{9, 4, 2}, {7, 2, 6}}},
    [I_SDSP] = {0, {{10, 3, 3}, {7, 3, 6}}},
    [I_SHAMT] = {0, {{12, 1, 5}, {2, 5, 0}}},
};

struct row {
    uint16_t mask, match, nonzero;
    uint32_t base;
    uint8_t rd, rs1, rs2; /* enum field */
    uint8_t layout, place;
};

enum { RD_BITS = 0x0f80, IMM_BITS = 0x107c, IMM8_BITS = 0x1fe0 };

static const struct row rows[] = {
    /* Quadrant 0 */
    {0xe003, 0x0000, IMM8_BITS, 0x00010013, F4_2P, NO_REG, NO_REG, I_4SPN, AS_I}, /* addi rd', sp */
    {0xe003, 0x2000, 0, 0x00003007, F4_2P, F9_7P, NO_REG, I_LD, AS_I},            /* fld */
    {0xe003, 0x4000, 0, 0x00002003, F4_2P, F9_7P, NO_REG, I_LW, AS_I},            /* lw */
    {0xe003, 0x6000, 0, 0x00003003, F4_2P, F9_7P, NO_REG, I_LD, AS_I},            /* ld */
    {0xe003, 0xa000, 0, 0x00003027, NO_REG, F9_7P, F4_2P, I_LD, AS_S},            /* fsd */
    {0xe003, 0xc000, 0, 0x00002023, NO_REG, F9_7P, F4_2P, I_LW, AS_S},            /* sw */
    {0xe003, 0xe000, 0, 0x00003023, NO_REG, F9_7P, F4_2P, I_LD, AS_S},            /* sd */
    /* Quadrant 1 */
    {0xe003, 0x0001, 0, 0x00000013, F11_7, F11_7, NO_REG, I_CI, AS_I},            /* addi, nop */
    {0xe003, 0x2001, RD_BITS, 0x0000001b, F11_7, F11_7, NO_REG, I_CI, AS_I},      /* addiw */
    {0xe003, 0x4001, 0, 0x00000013, F11_7, NO_REG, NO_REG, I_CI, AS_I},           /* li */
    {0xef83, 0x6101, IMM_BITS, 0x00010113, NO_REG, NO_REG, NO_REG, I_16SP, AS_I}, /* addi sp, sp */
    {0xe003, 0x6001, IMM_BITS, 0x00000037, F11_7, NO_REG, NO_REG, I_LUI, AS_U},   /* lui */
    {0xec03, 0x8001, 0, 0x00005013, F9_7P, F9_7P, NO_REG, I_SHAMT, AS_I},         /* srli */
    {0xec03, 0x8401, 0, 0x40005013, F9_7P, F9_7P, NO_REG, I_SHAMT, AS_I},         /* srai */
    {0xec03, 0x8801, 0, 0x00007013, F9_7P, F9_7P, NO_REG, I_CI, AS_I},            /* andi */
    {0xfc63, 0x8c01, 0, 0x40000033, F9_7P, F9_7P, F4_2P, I_NONE, NO_IMM},         /* sub */
    {0xfc63, 0x8c21, 0, 0x00004033, F9_7P, F9_7P, F4_2P, I_NONE, NO_IMM},         /* xor */
    {0xfc63, 0x8c41, 0, 0x00006033, F9_7P, F9_7P, F4_2P, I_NONE, NO_IMM},         /* or */
    {0xfc63, 0x8c61, 0, 0x00007033, F9_7P, F9_7P, F4_2P, I_NONE, NO_IMM},         /* and */
    {0xfc63, 0x9c01, 0, 0x4000003b, F9_7P, F9_7P, F4_2P, I_NONE, NO_IMM},         /* subw */
    {0xfc63, 0x9c21, 0, 0x0000003b, F9_7P, F9_7P, F4_2P, I_NONE, NO_IMM},         /* addw */
    {0xe003, 0xa001, 0, 0x0000006f, NO_REG, NO_REG, NO_REG, I_CJ, AS_J},          /* j */
    {0xe003, 0xc001, 0, 0x00000063, NO_REG, F9_7P, NO_REG, I_CB, AS_B},           /* beqz */
    {0xe003, 0xe001, 0, 0x00001063, NO_REG, F9_7P, NO_REG, I_CB, AS_B},           /* bnez */
    /* Quadrant 2 */
    {0xe003, 0x0002, 0, 0x00001013, F11_7, F11_7, NO_REG, I_SHAMT, AS_I},         /* slli */
    {0xe003, 0x2002, 0, 0x00013007, F11_7, NO_REG, NO_REG, I_LDSP, AS_I},         /* fld, sp */
    {0xe003, 0x4002, RD_BITS, 0x00012003, F11_7, NO_REG, NO_REG, I_LWSP, AS_I},   /* lw, sp */
    {0xe003, 0x6002, RD_BITS, 0x00013003, F11_7, NO_REG, NO_REG, I_LDSP, AS_I},   /* ld, sp */
    {0xf07f, 0x8002, RD_BITS, 0x00000067, NO_REG, F11_7, NO_REG, I_NONE, NO_IMM}, /* jr */
    {0xf003, 0x8002, 0x007c, 0x00000013, F11_7, F6_2, NO_REG, I_NONE, NO_IMM},    /* mv */
    {0xffff, 0x9002, 0, 0x00100073, NO_REG, NO_REG, NO_REG, I_NONE, NO_IMM},      /* ebreak */
    {0xf07f, 0x9002, RD_BITS, 0x000000e7, NO_REG, F11_7, NO_REG, I_NONE, NO_IMM}, /* jalr ra */
    {0xf003, 0x9002, 0x007c, 0x00000033, F11_7, F11_7, F6_2, I_NONE, NO_IMM},     /* add */
    {0xe003, 0xa002, 0, 0x00013027, NO_REG, NO_REG, F6_2, I_SDSP, AS_S},          /* fsd, sp */
    {0xe003, 0xc002, 0, 0x00012023, NO_REG, NO_REG, F6_2, I_SWSP, AS_S},          /* sw, sp */
    {0xe003, 0xe002, 0, 0x00013023, NO_REG, NO_REG, F6_2, I_SDSP, AS_S},          /* sd, sp */
};

static uint32_t reg_of(uint16_t half, enum field field)
{
    switch (field) {
    case F11_7:
        return half >> 7 & 31;
    case F6_2:
        return half >> 2 & 31;
    case F9_7P:
        return 8u + (half >> 7 & 7);
    case F4_2P:
        return 8u + (half >> 2 & 7);
    default:
        return 0;
    }
}

static uint32_t imm_of(uint16_t half, const struct layout *layout)
{
    uint32_t imm = 0;
    for (unsigned i = 0; i < 8 && layout->slices[i].count; i++) {
        const struct slice *slice = &layout->slices[i];
        imm |= ((uint32_t)half >> slice->from & ((1u << slice->count) - 1)) << slice->to;
    }
    if (layout->sign && (imm >> layout->sign & 1))
        imm |= ~0u << layout->sign;
    return imm;
}

static uint32_t put_imm(uint32_t imm, enum place place)
{
    switch (place) {
    case AS_I:
        return imm << 20;
    case AS_S:
        return (imm >> 5 & 0x7f) << 25 | (imm & 0x1f) << 7;
    case AS_B:
        return (imm >> 12 & 1) << 31 | (imm >> 5 & 0x3f) << 25 | (imm >> 1 & 0xf) << 8 | (imm >> 11 & 1) << 7;
    case AS_J:
        return (imm >> 20 & 1) << 31 | (imm >> 1 & 0x3ff) << 21 | (imm >> 11 & 1) << 20 | (imm >> 12 & 0xff) << 12;
    case AS_U:
        return imm & 0xfffff000;
    default:
        return 0;
    }
}

uint32_t as_rv_expand(uint16_t half)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        if ((half & row->mask) != row->match)
            continue;
        if (row->nonzero && !(half & row->nonzero))
            continue;
        return row->base | reg_of(half, row->rd) << 7 | reg_of(half, row->rs1) << 15 | reg_of(half, row->rs2) << 20 |
               put_imm(imm_of(half, &layouts[row->layout]), row->place);
    }
    return 0;
}
