/* The kernels for RV64GC. Registers: a0 data, a1 iterations left, t0 to t5 scratch, t6 the address to return to. Every
 * instruction has four bytes, so that a nop takes as much room as what it stands between.
 *
 * Not there: snippet3, as user code of RV64GC cannot flush a line. Other than on x86-64 a loop ends with two
 * instructions, not three, a call stores nothing and a return loads nothing. */
#include "trust/trust_kernels.h"

#include <string.h>

enum reg { ZERO, RA, SP, T0 = 5, T1, T2, A0 = 10, A1, A7 = 17, T3 = 28, T4, T5, T6 };

/* ---- encodings ---- */

static uint32_t i_type(uint32_t opcode, uint32_t funct3, enum reg rd, enum reg rs1, int32_t imm)
{
    return ((uint32_t)imm & 0xfff) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode;
}
static uint32_t r_type(uint32_t funct7, uint32_t funct3, enum reg rd, enum reg rs1, enum reg rs2)
{
    return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x33;
}
static uint32_t addi(enum reg rd, enum reg rs1, int32_t imm)
{
    return i_type(0x13, 0, rd, rs1, imm);
}
static uint32_t andi(enum reg rd, enum reg rs1, int32_t imm)
{
    return i_type(0x13, 7, rd, rs1, imm);
}
static uint32_t slli(enum reg rd, enum reg rs1, uint32_t by)
{
    return i_type(0x13, 1, rd, rs1, (int32_t)by);
}
static uint32_t add(enum reg rd, enum reg rs1, enum reg rs2)
{
    return r_type(0, 0, rd, rs1, rs2);
}
static uint32_t and (enum reg rd, enum reg rs1, enum reg rs2)
{
    return r_type(0, 7, rd, rs1, rs2);
}
static uint32_t mul(enum reg rd, enum reg rs1, enum reg rs2)
{
    return r_type(1, 0, rd, rs1, rs2);
}
static uint32_t divu(enum reg rd, enum reg rs1, enum reg rs2)
{
    return r_type(1, 5, rd, rs1, rs2);
}
static uint32_t lui(enum reg rd, uint32_t pages)
{
    return pages << 12 | rd << 7 | 0x37;
}
static uint32_t lw(enum reg rd, enum reg rs1, int32_t at)
{
    return i_type(0x03, 2, rd, rs1, at);
}
static uint32_t ld(enum reg rd, enum reg rs1, int32_t at)
{
    return i_type(0x03, 3, rd, rs1, at);
}
static uint32_t sd(enum reg rs2, enum reg rs1, uint32_t at)
{
    return (at >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | 3 << 12 | (at & 0x1f) << 7 | 0x23;
}
static uint32_t amoadd_w(enum reg rd, enum reg rs2, enum reg rs1)
{
    return rs2 << 20 | rs1 << 15 | 2 << 12 | rd << 7 | 0x2f;
}
static uint32_t jal(enum reg rd, int32_t by)
{
    uint32_t u = (uint32_t)by;
    return (u >> 20 & 1) << 31 | (u >> 1 & 0x3ff) << 21 | (u >> 11 & 1) << 20 | (u >> 12 & 0xff) << 12 | rd << 7 | 0x6f;
}
static uint32_t ret(void)
{
    return i_type(0x67, 0, ZERO, RA, 0);
}
enum { EQUAL = 0, UNEQUAL = 1 };
static uint32_t branch(uint32_t condition, enum reg rs1, int32_t by) /* against zero */
{
    uint32_t u = (uint32_t)by;
    return (u >> 12 & 1) << 31 | (u >> 5 & 0x3f) << 25 | rs1 << 15 | condition << 12 | (u >> 1 & 0xf) << 8 |
           (u >> 11 & 1) << 7 | 0x63;
}

/* ---- code ---- */

static void outside(struct as_kernel_code *code, uint32_t word)
{
    as_kernel_put(code, &word, sizeof word);
}

static void insn(struct as_kernel_code *code, uint32_t word)
{
    outside(code, word);
    code->per_iteration[AS_KERNEL_INSTRUCTIONS]++;
}

static void labelled(struct as_kernel_code *code, const char *name, uint32_t number, uint32_t word, uint32_t events)
{
    struct as_kernel_label *here = as_kernel_label(code, name, number);
    insn(code, word);
    as_kernel_end_label(code, here, events);
}

static void nops(struct as_kernel_code *code, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        insn(code, addi(ZERO, ZERO, 0));
}

static void adds(struct as_kernel_code *code, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        insn(code, addi(T5, T5, 1));
}

/* A conditional branch reaches 4 KiB; further back a jump goes, and a branch past it at the end. */
static void loop_back(struct as_kernel_code *code, const char *name, enum reg counter, size_t loop)
{
    enum { REACH = 4096, WORD = 4 };
    if (code->size - loop <= REACH) {
        labelled(code, name, 0, branch(UNEQUAL, counter, (int32_t)(loop - code->size)),
                 AS_KERNEL_A_CONDITIONAL | AS_KERNEL_A_TAKEN);
        return;
    }
    insn(code, branch(EQUAL, counter, 2 * WORD));
    code->per_iteration[AS_KERNEL_BRANCHES]++;
    code->per_iteration[AS_KERNEL_CONDITIONAL]++;
    labelled(code, name, 0, jal(ZERO, (int32_t)(loop - code->size)), AS_KERNEL_A_BRANCH | AS_KERNEL_A_TAKEN);
}

static void count_down(struct as_kernel_code *code, size_t loop)
{
    labelled(code, "addi", 0, addi(A1, A1, -1), 0);
    loop_back(code, "bne", A1, loop);
    outside(code, ret());
}

static uint32_t rest(uint32_t ratio, uint32_t others)
{
    return ratio > others ? ratio - others : 0;
}

/* ---- the kernels ---- */

void as_riscv_accuracy(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    outside(code, addi(T0, A0, 0));
    size_t loop = code->size;
    labelled(code, "load", 0, lw(T0, T0, 0), AS_KERNEL_A_LOAD | 1 << AS_KERNEL_L1_MISS);
    insn(code, slli(T0, T0, 7));
    insn(code, add(T0, T0, A0));
    adds(code, rest(options->ratio, 5));
    count_down(code, loop);
}

void as_riscv_load_ratio(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    size_t loop = code->size;
    labelled(code, "load", 0, lw(T0, A0, 0), AS_KERNEL_A_LOAD);
    adds(code, rest(options->ratio, 3));
    count_down(code, loop);
}

static void atomic_add(struct as_kernel_code *code, uint32_t number)
{
    labelled(code, "amoadd ", number, amoadd_w(T0, T1, A0), AS_KERNEL_A_LOCKED);
}

void as_riscv_locked_load(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    outside(code, addi(T1, ZERO, 1));
    size_t loop = code->size;
    atomic_add(code, 0);
    adds(code, rest(options->ratio, 3));
    count_down(code, loop);
}

void as_riscv_bias(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    size_t loop = code->size;
    for (uint32_t i = 1; i <= options->places; i++) {
        labelled(code, "load ", i, lw(T0, A0, 0), AS_KERNEL_A_LOAD);
        nops(code, options->nops);
    }
    count_down(code, loop);
}

void as_riscv_distance(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    size_t loop = code->size;
    for (uint32_t i = 1; i <= 2; i++) {
        labelled(code, "load ", i, lw(T0, A0, 0), AS_KERNEL_A_LOAD);
        nops(code, i == 1 ? options->nops : AS_KERNEL_FAR);
    }
    count_down(code, loop);
}

void as_riscv_multi_event(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    enum { WORD = 4 };
    outside(code, addi(T6, RA, 0));
    outside(code, addi(T1, ZERO, 1));
    outside(code, jal(ZERO, 2 * WORD)); /* over the function */
    size_t function = code->size;
    labelled(code, "ret", 0, ret(), AS_KERNEL_A_BRANCH | AS_KERNEL_A_TAKEN | 1 << AS_KERNEL_RETURNS);
    size_t loop = code->size;
    labelled(code, "call", 0, jal(RA, (int32_t)(function - code->size)), AS_KERNEL_A_CALL);
    atomic_add(code, 1);
    atomic_add(code, 2);
    labelled(code, "load", 0, lw(T0, A0, 0), AS_KERNEL_A_LOAD);
    insn(code, addi(A1, A1, -1));
    labelled(code, "beq", 0, branch(EQUAL, A1, 2 * WORD), AS_KERNEL_A_CONDITIONAL);
    loop_back(code, "bne", A1, loop);
    outside(code, addi(RA, T6, 0));
    outside(code, ret());
}

void as_riscv_exec_mode(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    enum { IOCTL = 29, ECALL = 0x73 };
    outside(code, addi(T3, A1, 0));
    size_t loop = code->size;
    insn(code, addi(A7, ZERO, IOCTL));
    insn(code, addi(A0, ZERO, -1));
    insn(code, addi(A1, ZERO, 0x67));
    labelled(code, "ecall", 0, ECALL, 1 << AS_KERNEL_SYSCALLS);
    insn(code, addi(T3, T3, -1));
    loop_back(code, "bne", T3, loop);
    outside(code, ret());
}

void as_riscv_snippet1(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    enum { FENCE = 0x0330000f, STEP = 32 }; /* fence rw, rw */
    outside(code, lui(T2, AS_KERNEL_DATA >> 12));
    outside(code, addi(T2, T2, -1));
    outside(code, addi(T1, ZERO, 0));
    size_t loop = code->size;
    insn(code, add(T0, A0, T1));
    if (options->fence)
        insn(code, FENCE);
    for (uint32_t i = 0; i < 4; i++) {
        labelled(code, "R", i + 1, ld(T3, T0, (int32_t)(8 * i)), AS_KERNEL_A_LOAD);
        nops(code, options->nops);
    }
    insn(code, addi(T1, T1, STEP));
    insn(code, and(T1, T1, T2));
    count_down(code, loop);
}

void as_riscv_snippet2(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    enum { WORD = 4, THIRD = 3 };
    outside(code, addi(T0, ZERO, THIRD));
    size_t loop = code->size;
    nops(code, options->nops); /* behind Br1 */
    insn(code, andi(T1, A1, 1));
    labelled(code, "Br2", 0, branch(UNEQUAL, T1, 2 * WORD), AS_KERNEL_A_CONDITIONAL);
    code->per_iteration[AS_KERNEL_TAKEN] += 0.5;
    nops(code, 1);
    code->per_iteration[AS_KERNEL_INSTRUCTIONS] -= 0.5;
    nops(code, options->nops > 50 ? options->nops : 50);
    insn(code, addi(T0, T0, -1));
    labelled(code, "Br3", 0, branch(UNEQUAL, T0, 2 * WORD), AS_KERNEL_A_CONDITIONAL);
    code->per_iteration[AS_KERNEL_TAKEN] += 2.0 / 3;
    insn(code, addi(T0, ZERO, THIRD));
    code->per_iteration[AS_KERNEL_INSTRUCTIONS] -= 2.0 / 3;
    nops(code, options->nops);
    insn(code, addi(A1, A1, -1));
    loop_back(code, "Br1", A1, loop);
    outside(code, ret());
}

void as_riscv_stores(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    size_t loop = code->size;
    for (uint32_t i = 0; i < 4; i++) {
        labelled(code, "W", i + 1, sd(T0, A0, 8 * i), AS_KERNEL_A_STORE);
        nops(code, options->nops);
    }
    nops(code, AS_KERNEL_FAR);
    count_down(code, loop);
}

void as_riscv_misses(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    static const enum reg areas[] = {A0, T2, T3, T4};
    uint32_t area = as_kernel_area(options);
    outside(code, lui(T5, area >> 12));
    for (uint32_t i = 1; i < 4; i++)
        outside(code, add(areas[i], areas[i - 1], T5));
    outside(code, addi(T5, T5, -1));
    outside(code, addi(T1, ZERO, 0));
    size_t loop = code->size;
    for (uint32_t i = 0; i < 4; i++) {
        insn(code, add(T0, areas[i], T1));
        labelled(code, "R", i + 1, ld(T0, T0, 0), AS_KERNEL_A_LOAD | as_kernel_missing(area));
        nops(code, options->nops);
    }
    nops(code, AS_KERNEL_FAR);
    insn(code, addi(T1, T1, AS_KERNEL_STRIDE));
    insn(code, and(T1, T1, T5));
    count_down(code, loop);
}

void as_riscv_mispredict(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    enum { WORD = 4, FACTOR_HIGH = 0x41c65, FACTOR_LOW = -0x193, BIT = 1 << 11 }; /* 1103515245 */
    outside(code, lui(T2, FACTOR_HIGH));
    outside(code, addi(T2, T2, FACTOR_LOW));
    outside(code, lui(T3, BIT));
    outside(code, addi(T0, ZERO, 1));
    size_t loop = code->size;
    insn(code, mul(T0, T0, T2));
    insn(code, addi(T0, T0, 57));
    insn(code, and(T1, T0, T3));
    labelled(code, "either", 0, branch(UNEQUAL, T1, 2 * WORD), AS_KERNEL_A_CONDITIONAL);
    code->per_iteration[AS_KERNEL_TAKEN] += 0.5;
    nops(code, 1);
    code->per_iteration[AS_KERNEL_INSTRUCTIONS] -= 0.5;
    count_down(code, loop);
}

void as_riscv_latency_biased(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    enum { WORD = 4 };
    outside(code, addi(T4, ZERO, 7));
    size_t loop = code->size;
    insn(code, andi(T1, A1, 1));
    insn(code, branch(EQUAL, T1, 3 * WORD));
    struct as_kernel_label *divide = as_kernel_label(code, "divide", 0);
    insn(code, divu(T3, T3, T4));
    insn(code, jal(ZERO, 2 * WORD)); /* over the sum */
    as_kernel_end_label(code, divide, 0);
    divide->executed = 1;
    labelled(code, "sum", 0, add(T3, T3, T4), 0);
    code->labels[code->n_labels - 1].executed = 0.5;
    code->per_iteration[AS_KERNEL_INSTRUCTIONS] -= 1.5; /* half of two and half of one are executed */
    code->per_iteration[AS_KERNEL_BRANCHES] += 1.5;
    code->per_iteration[AS_KERNEL_CONDITIONAL]++;
    count_down(code, loop);
}

/* One function of the chain: 16 instructions, whether it calls another one or not. */
static void link(struct as_kernel_code *code, uint32_t number, size_t next)
{
    enum { WORK = 10, LAST = 15, FRAME = 16 };
    struct as_kernel_label *function = as_kernel_label(code, "f", number);
    if (next) {
        insn(code, addi(SP, SP, -FRAME));
        insn(code, sd(RA, SP, 0));
        adds(code, WORK);
        insn(code, jal(RA, (int32_t)(next - code->size)));
        insn(code, ld(RA, SP, 0));
        insn(code, addi(SP, SP, FRAME));
    } else
        adds(code, LAST);
    insn(code, ret());
    as_kernel_end_label(code, function, 0);
    code->per_iteration[AS_KERNEL_BRANCHES] += next ? 2 : 1;
    code->per_iteration[AS_KERNEL_CALLS] += next != 0;
}

void as_riscv_call_chain(struct as_kernel_code *code, const struct as_kernel_options *options)
{
    uint32_t n = options->places < 40 ? options->places : 40;
    outside(code, addi(T6, RA, 0));
    size_t head = code->size, next = 0;
    outside(code, 0);
    for (uint32_t i = n; i > 0; i--) {
        size_t start = code->size;
        link(code, i, next);
        next = start;
    }
    uint32_t over = jal(ZERO, (int32_t)(code->size - head));
    if (!code->overflowed)
        memcpy(code->bytes + head, &over, sizeof over);
    size_t loop = code->size;
    insn(code, jal(RA, (int32_t)(next - code->size)));
    code->per_iteration[AS_KERNEL_BRANCHES]++;
    code->per_iteration[AS_KERNEL_CALLS]++;
    labelled(code, "addi", 0, addi(A1, A1, -1), 0);
    loop_back(code, "bne", A1, loop);
    outside(code, addi(RA, T6, 0));
    outside(code, ret());
}
