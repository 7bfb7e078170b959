/* RISC-V instructions as records: the table's row, with what depends on register numbers.
 *
 * One micro-operation each; an atomic read-modify-write is one that the memory unit carries out, as in BOOM.
 * The acquire and release bits of atomics are not represented.
 */
#include "isa/rv64.h"

#include <string.h>

enum { NO, X, F }; /* what a register field holds: nothing, an integer or an FP register */

struct shape {
    uint8_t rd, rs1, rs2, rs3;
};

static const struct shape shapes[AS_RV_FORMAT_COUNT] = {
    [AS_RV_R] = {X, X, X, NO},
    [AS_RV_RR] = {X, X, NO, NO},
    [AS_RV_I] = {X, X, NO, NO},
    [AS_RV_SHIFT] = {X, X, NO, NO},
    [AS_RV_U] = {X, NO, NO, NO},
    [AS_RV_LOAD] = {X, X, NO, NO},
    [AS_RV_STORE] = {NO, X, X, NO},
    [AS_RV_BRANCH] = {NO, X, X, NO},
    [AS_RV_JAL] = {X, NO, NO, NO},
    [AS_RV_JALR] = {X, X, NO, NO},
    [AS_RV_CSR] = {X, X, NO, NO},
    [AS_RV_CSRI] = {X, NO, NO, NO},
    [AS_RV_AMO] = {X, X, X, NO},
    [AS_RV_LR] = {X, X, NO, NO},
    [AS_RV_FR] = {F, F, F, NO},
    [AS_RV_FR_EXACT] = {F, F, F, NO},
    [AS_RV_FR4] = {F, F, F, F},
    [AS_RV_F1] = {F, F, NO, NO},
    [AS_RV_F1_WIDEN] = {F, F, NO, NO},
    [AS_RV_FCMP] = {X, F, F, NO},
    [AS_RV_F_TO_X] = {X, F, NO, NO},
    [AS_RV_F_TO_X_MOVE] = {X, F, NO, NO},
    [AS_RV_X_TO_F] = {F, X, NO, NO},
    [AS_RV_X_TO_F_WIDEN] = {F, X, NO, NO},
    [AS_RV_X_TO_F_MOVE] = {F, X, NO, NO},
    [AS_RV_FLOAD] = {F, X, NO, NO},
    [AS_RV_FSTORE] = {NO, X, F, NO},
    [AS_RV_CBO] = {NO, X, NO, NO},
    [AS_RV_PREFETCH] = {NO, X, NO, NO},
    [AS_RV_SFENCE] = {NO, X, X, NO},
};

/* Sign-extends the low `bits` bits. */
static int64_t extend(uint32_t value, unsigned bits)
{
    uint64_t sign = 1ull << (bits - 1);
    return (int64_t)(((uint64_t)value ^ sign) - sign);
}

int64_t as_rv_imm_i(uint32_t word)
{
    return extend(word >> 20, 12);
}

int64_t as_rv_imm_s(uint32_t word)
{
    return extend((word >> 25) << 5 | (word >> 7 & 31), 12);
}

int64_t as_rv_imm_b(uint32_t word)
{
    return extend((word >> 31) << 12 | (word >> 7 & 1) << 11 | (word >> 25 & 0x3f) << 5 | (word >> 8 & 0xf) << 1, 13);
}

int64_t as_rv_imm_j(uint32_t word)
{
    return extend((word >> 31) << 20 | (word >> 12 & 0xff) << 12 | (word >> 20 & 1) << 11 | (word >> 21 & 0x3ff) << 1,
                  21);
}

static uint8_t reg_number(unsigned kind, unsigned number)
{
    if (kind == F)
        return (uint8_t)(AS_REG_VEC0 + number);
    return kind == X && number ? (uint8_t)(AS_REG_INT0 + number) : AS_REG_NONE;
}

static bool is_memory(const struct as_rv_row *row)
{
    return (row->flags & (AS_INSN_LOAD | AS_INSN_STORE)) || row->class_ == AS_CLASS_CACHE;
}

static int64_t displacement(const struct as_rv_row *row, uint32_t word)
{
    switch (row->format) {
    case AS_RV_LOAD:
    case AS_RV_FLOAD:
        return as_rv_imm_i(word);
    case AS_RV_STORE:
    case AS_RV_FSTORE:
        return as_rv_imm_s(word);
    case AS_RV_PREFETCH:
        return as_rv_imm_i(word) & ~31;
    default:
        return 0;
    }
}

static void add_memory(struct as_insn_build *build, const struct as_rv_row *row, uint32_t word)
{
    unsigned access = 0;
    if (row->flags & AS_INSN_LOAD)
        access |= AS_ACCESS_LOAD;
    if (row->flags & AS_INSN_STORE)
        access |= AS_ACCESS_STORE;
    struct as_mem_operand mem = {
        .base = reg_number(X, as_rv_rs1(word)),
        .index = AS_REG_NONE,
        .scale = 1,
        .access = (uint8_t)access,
        .size = row->size,
        .disp = displacement(row, word),
    };
    as_insn_add_mem(build, &mem);
}

static void add_registers(struct as_insn_build *build, const struct as_rv_row *row, uint32_t word)
{
    const struct shape *shape = &shapes[row->format];
    if (!is_memory(row))
        as_insn_read_data(build, reg_number(shape->rs1, as_rv_rs1(word)));
    as_insn_read_data(build, reg_number(shape->rs2, as_rv_rs2(word)));
    as_insn_read_data(build, reg_number(shape->rs3, as_rv_rs3(word)));
    as_insn_write(build, reg_number(shape->rd, as_rv_rd(word)));
}

static bool is_link(unsigned reg)
{
    return reg == 1 || reg == 5;
}

/* The calling convention's meaning of the link registers ra and t0, as return-address predictors use it. */
static void settle_jump(struct as_insn *insn, const struct as_rv_row *row, uint32_t word)
{
    bool direct = row->format == AS_RV_JAL;
    if (is_link(as_rv_rd(word)))
        insn->class_ = direct ? AS_CLASS_CALL : AS_CLASS_CALL_INDIRECT;
    else if (!direct && as_rv_rd(word) == 0 && is_link(as_rv_rs1(word)))
        insn->class_ = AS_CLASS_RETURN;
    if (direct)
        insn->target = insn->address + (uint64_t)as_rv_imm_j(word);
}

static bool is_counter(unsigned csr)
{
    return csr >= AS_RV_CYCLE && csr <= AS_RV_HPMCOUNTER31;
}

/* The user-readable counters are read in order, too, but nothing behind them depends on what they do. Writing without
 * reading, and reading without writing, are what the specification makes of x0. */
static void settle_csr(struct as_insn_build *build, uint32_t word)
{
    struct as_insn *insn = build->insn;
    unsigned csr = as_rv_csr(word), function = as_rv_funct3(word) & 3;
    bool fp = csr >= AS_RV_FFLAGS && csr <= AS_RV_FCSR;
    uint8_t reg = fp ? AS_REG_FP_STATUS : AS_REG_SYSTEM;
    bool swaps = function == 1;
    if (!swaps || as_rv_rd(word) != 0)
        as_insn_read_data(build, reg);
    if (swaps || as_rv_rs1(word) != 0)
        as_insn_write(build, reg);
    if (fp)
        insn->flags |= AS_INSN_FP_STATE;
    if (is_counter(csr))
        insn->flags &= ~(uint32_t)AS_INSN_FLUSHES;
}

static void settle_fence(struct as_insn *insn, uint32_t word)
{
    enum { PREDECESSOR_READ = 1u << 25, PREDECESSOR_WRITE = 1u << 24 };
    if (word & PREDECESSOR_READ)
        insn->flags |= AS_INSN_FENCE_LOAD;
    if (word & PREDECESSOR_WRITE)
        insn->flags |= AS_INSN_FENCE_STORE;
}

/* What a row leaves open. */
static void settle(struct as_insn_build *build, const struct as_rv_row *row, uint32_t word)
{
    struct as_insn *insn = build->insn;
    switch (row->format) {
    case AS_RV_JAL:
    case AS_RV_JALR:
        settle_jump(insn, row, word);
        break;
    case AS_RV_BRANCH:
        insn->target = insn->address + (uint64_t)as_rv_imm_b(word);
        break;
    case AS_RV_CSR:
    case AS_RV_CSRI:
        settle_csr(build, word);
        break;
    case AS_RV_FENCE:
        settle_fence(insn, word);
        break;
    default:
        /* An integer result in x0 is how nop and the hints are written. */
        if (row->class_ == AS_CLASS_INT && as_rv_rd(word) == 0) {
            insn->class_ = AS_CLASS_NOP;
            as_insn_forget_reads(build);
        }
        break;
    }
}

static void add_uop(struct as_insn *insn)
{
    struct as_uop uop = {.class_ = insn->class_, .mem = insn->n_mem ? 0 : AS_UOP_NO_MEM};
    uop.reads = (uint8_t)((1u << insn->n_reads) - 1);
    uop.writes = (uint8_t)((1u << insn->n_writes) - 1);
    as_insn_add_uop(insn, uop);
}

static size_t length_of(uint8_t first)
{
    return (first & 3) == 3 ? 4 : 2;
}

static uint32_t little_endian(const uint8_t *bytes, size_t length)
{
    uint32_t word = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8;
    if (length == 4)
        word |= (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    return word;
}

uint32_t as_rv_word(const uint8_t *bytes, size_t length)
{
    if (length == 2)
        return as_rv_expand((uint16_t)little_endian(bytes, 2));
    return length == 4 ? little_endian(bytes, 4) : 0;
}

/* Halfword zero is illegal by definition: a trap, like unimp. */
static const struct as_rv_row *find(const uint8_t *bytes, size_t length, uint32_t *word)
{
    *word = as_rv_word(bytes, length);
    if (length == 2 && bytes[0] == 0 && bytes[1] == 0)
        *word = AS_RV_UNIMP;
    return *word ? as_rv_find(*word) : NULL;
}

bool as_rv64_decode(struct as_insn_build *build, const uint8_t *bytes, size_t size)
{
    struct as_insn *insn = build->insn;
    size_t length = length_of(bytes[0]);
    uint32_t word = 0;
    const struct as_rv_row *row = size >= length ? find(bytes, length, &word) : NULL;
    if (!row) {
        as_insn_build_unknown(insn, bytes, size < length ? size : length);
        return false;
    }
    insn->length = (uint8_t)length;
    memcpy(insn->bytes, bytes, length);
    insn->class_ = row->class_;
    insn->flags = row->flags;
    if (is_memory(row))
        add_memory(build, row, word);
    add_registers(build, row, word);
    settle(build, row, word);
    add_uop(insn);
    return true;
}
