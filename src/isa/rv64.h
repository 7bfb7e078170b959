/* The parts of the RISC-V decoder: the table of the 32-bit instructions (rv64_table.c), the compressed ones expanded to
 * 32 bits (rv64_compressed.c), the record (rv64_decode.c) and the text (rv64_text.c). */
#ifndef AS_ISA_RV64_H
#define AS_ISA_RV64_H

#include "isa/arch.h"

/* Where the operands are: which register fields count, as integer or FP register, and what else there is to print. */
enum as_rv_format {
    AS_RV_NONE,
    AS_RV_R,            /* rd, rs1, rs2 */
    AS_RV_RR,           /* rd, rs1 */
    AS_RV_I,            /* rd, rs1, imm12 */
    AS_RV_SHIFT,        /* rd, rs1, shamt */
    AS_RV_U,            /* rd, imm20 */
    AS_RV_LOAD,         /* rd, imm12(rs1) */
    AS_RV_STORE,        /* rs2, imm12(rs1) */
    AS_RV_BRANCH,       /* rs1, rs2, target */
    AS_RV_JAL,          /* rd, target */
    AS_RV_JALR,         /* rd, imm12(rs1) */
    AS_RV_FENCE,        /* predecessors, successors */
    AS_RV_CSR,          /* rd, csr, rs1 */
    AS_RV_CSRI,         /* rd, csr, imm5 */
    AS_RV_AMO,          /* rd, rs2, (rs1) */
    AS_RV_LR,           /* rd, (rs1) */
    AS_RV_FR,           /* fd, fs1, fs2, rounding mode */
    AS_RV_FR_EXACT,     /* fd, fs1, fs2 */
    AS_RV_FR4,          /* fd, fs1, fs2, fs3, rounding mode */
    AS_RV_F1,           /* fd, fs1, rounding mode */
    AS_RV_F1_WIDEN,     /* the same, and every rounding mode gives the same */
    AS_RV_FCMP,         /* rd, fs1, fs2 */
    AS_RV_F_TO_X,       /* rd, fs1, rounding mode */
    AS_RV_F_TO_X_MOVE,  /* rd, fs1 */
    AS_RV_X_TO_F,       /* fd, rs1, rounding mode */
    AS_RV_X_TO_F_WIDEN, /* the same, and every rounding mode gives the same */
    AS_RV_X_TO_F_MOVE,  /* fd, rs1 */
    AS_RV_FLOAD,        /* fd, imm12(rs1) */
    AS_RV_FSTORE,       /* fs2, imm12(rs1) */
    AS_RV_CBO,          /* (rs1) */
    AS_RV_PREFETCH,     /* imm12(rs1), the low five bits zero */
    AS_RV_SFENCE,       /* rs1, rs2 */
    AS_RV_FORMAT_COUNT
};

struct as_rv_row {
    uint32_t mask, match;
    const char *name;
    uint8_t format; /* enum as_rv_format */
    uint8_t class_; /* enum as_class; jumps differ by their registers */
    uint8_t size;   /* bytes of the memory operand */
    uint32_t flags; /* enum as_insn_flag */
};

/* NULL where no row matches. */
const struct as_rv_row *as_rv_find(uint32_t word);

/* The 32-bit instruction that a compressed one stands for; 0 where it is none. 0 itself is the defined illegal
 * instruction, which is not expanded. */
uint32_t as_rv_expand(uint16_t half);

/* What is illegal on purpose: all zeros, and the write of a read-only counter that assemblers call unimp. */
enum { AS_RV_UNIMP = 0xc0001073 };

enum as_rv_csr { AS_RV_FFLAGS = 1, AS_RV_FRM = 2, AS_RV_FCSR = 3, AS_RV_CYCLE = 0xc00, AS_RV_HPMCOUNTER31 = 0xc1f };

/* The 32-bit form of a decoded instruction, 0 for all zeros or bytes that are not an instruction. */
uint32_t as_rv_word(const uint8_t *bytes, size_t length);

static inline unsigned as_rv_rd(uint32_t word)
{
    return word >> 7 & 31;
}
static inline unsigned as_rv_rs1(uint32_t word)
{
    return word >> 15 & 31;
}
static inline unsigned as_rv_rs2(uint32_t word)
{
    return word >> 20 & 31;
}
static inline unsigned as_rv_rs3(uint32_t word)
{
    return word >> 27;
}
static inline unsigned as_rv_funct3(uint32_t word)
{
    return word >> 12 & 7;
}
static inline unsigned as_rv_csr(uint32_t word)
{
    return word >> 20;
}

int64_t as_rv_imm_i(uint32_t word);
int64_t as_rv_imm_s(uint32_t word);
int64_t as_rv_imm_b(uint32_t word);
int64_t as_rv_imm_j(uint32_t word);

#endif
