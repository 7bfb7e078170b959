/* The micro-operations of x86-64 instructions and what fuses with a branch.
 *
 * The shape is the same for all: loads, then what is computed, then stores; each waits for the registers it needs and
 * for the ones before it that feed it. Exceptions have their own function: stack, string and cache instructions.
 * Counts are those of Intel's cores around Skylake as they have been measured and published (Agner Fog's instruction
 * tables, uops.info), as far as six micro-operations allow; division, cpuid, the transcendental functions and other
 * microcode are one micro-operation with the latency of their class. A store is one, not split into address and data:
 * its address registers are known from its memory operand.
 */
#include "isa/x86.h"

enum { REG_RSP = AS_REG_INT0 + 4, REG_RBP = AS_REG_INT0 + 5 };

/* Where what is computed takes other than one micro-operation of the instruction's own class. */
struct recipe {
    uint8_t listed;
    uint8_t helpers;      /* micro-operations before the main one */
    uint8_t crossing;     /* those that are not needed where the operand comes from or goes to memory */
    uint8_t helper_class; /* enum as_class */
    uint8_t main_class;   /* enum as_class; AS_CLASS_COUNT for the instruction's own */
};

/* clang-format off */
#define NEEDS(name, count, class) [ZYDIS_MNEMONIC_##name] = {1, count, 0, AS_CLASS_##class, AS_CLASS_COUNT},
#define RUNS_AS(name, class) [ZYDIS_MNEMONIC_##name] = {1, 0, 0, 0, AS_CLASS_##class},
#define CROSSES(name) [ZYDIS_MNEMONIC_##name] = {1, 1, 1, AS_CLASS_VECTOR, AS_CLASS_COUNT},
#define BOTH_CROSS(name) CROSSES(name) CROSSES(V##name)
#define BOTH_NEED(name, count, class) NEEDS(name, count, class) NEEDS(V##name, count, class)
#define BOTH_RUN_AS(name, class) RUNS_AS(name, class) RUNS_AS(V##name, class)

static const struct recipe recipes[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
    /* Both halves of the product; both registers; carry and zero flag, which are renamed apart. */
    NEEDS(MUL, 1, INT) NEEDS(MULX, 1, INT) NEEDS(XCHG, 2, INT) NEEDS(XADD, 2, INT) NEEDS(CMPXCHG, 3, INT)
    NEEDS(CMPXCHG8B, 3, INT) NEEDS(CMPXCHG16B, 3, INT) NEEDS(RCL, 2, INT) NEEDS(RCR, 2, INT) NEEDS(CMOVBE, 1, INT)
    NEEDS(CMOVNBE, 1, INT) NEEDS(SETBE, 1, INT) NEEDS(SETNBE, 1, INT) NEEDS(LOOP, 4, INT) NEEDS(LOOPE, 5, INT)
    NEEDS(LOOPNE, 5, INT) NEEDS(JRCXZ, 1, INT) NEEDS(JECXZ, 1, INT) NEEDS(ENTER, 3, INT) NEEDS(PUSHFQ, 2, INT)
    NEEDS(PUSHF, 2, INT)
    /* As long as a multiply, on its port. */
    RUNS_AS(POPCNT, MUL) RUNS_AS(LZCNT, MUL) RUNS_AS(TZCNT, MUL) RUNS_AS(BSF, MUL) RUNS_AS(BSR, MUL) RUNS_AS(PDEP, MUL)
    RUNS_AS(PEXT, MUL) RUNS_AS(CRC32, MUL) RUNS_AS(SHLD, MUL) RUNS_AS(SHRD, MUL)
    BOTH_RUN_AS(AESENC, VECTOR_MUL) BOTH_RUN_AS(AESENCLAST, VECTOR_MUL) BOTH_RUN_AS(AESDEC, VECTOR_MUL)
    BOTH_RUN_AS(AESDECLAST, VECTOR_MUL) BOTH_RUN_AS(AESIMC, VECTOR_MUL) BOTH_RUN_AS(PHMINPOSUW, VECTOR_MUL)
    BOTH_RUN_AS(PSADBW, VECTOR_MUL) BOTH_RUN_AS(GF2P8MULB, VECTOR_MUL) BOTH_RUN_AS(GF2P8AFFINEQB, VECTOR_MUL)
    BOTH_RUN_AS(GF2P8AFFINEINVQB, VECTOR_MUL) RUNS_AS(SHA1MSG1, VECTOR_MUL) RUNS_AS(SHA1MSG2, VECTOR_MUL)
    RUNS_AS(SHA1NEXTE, VECTOR_MUL) RUNS_AS(SHA1RNDS4, VECTOR_MUL) RUNS_AS(SHA256MSG1, VECTOR_MUL)
    RUNS_AS(SHA256MSG2, VECTOR_MUL) RUNS_AS(SHA256RNDS2, VECTOR_MUL)
    BOTH_RUN_AS(RCPPS, FP_MUL) BOTH_RUN_AS(RCPSS, FP_MUL) BOTH_RUN_AS(RSQRTPS, FP_MUL) BOTH_RUN_AS(RSQRTSS, FP_MUL)
    RUNS_AS(VRCP14PS, FP_MUL) RUNS_AS(VRCP14PD, FP_MUL) RUNS_AS(VRCP14SS, FP_MUL) RUNS_AS(VRCP14SD, FP_MUL)
    RUNS_AS(VRSQRT14PS, FP_MUL) RUNS_AS(VRSQRT14PD, FP_MUL) RUNS_AS(VRSQRT14SS, FP_MUL) RUNS_AS(VRSQRT14SD, FP_MUL)
    /* A shuffle or a crossing between register files beside the work proper. */
    BOTH_NEED(HADDPS, 2, VECTOR) BOTH_NEED(HADDPD, 2, VECTOR) BOTH_NEED(HSUBPS, 2, VECTOR) BOTH_NEED(HSUBPD, 2, VECTOR)
    BOTH_NEED(PHADDW, 2, VECTOR) BOTH_NEED(PHADDD, 2, VECTOR) BOTH_NEED(PHADDSW, 2, VECTOR) BOTH_NEED(PHSUBW, 2, VECTOR)
    BOTH_NEED(PHSUBD, 2, VECTOR) BOTH_NEED(PHSUBSW, 2, VECTOR) BOTH_NEED(DPPS, 3, FP_ADD) BOTH_NEED(DPPD, 2, FP_ADD)
    BOTH_NEED(PMULLD, 1, VECTOR_MUL) BOTH_NEED(MPSADBW, 1, VECTOR) BOTH_NEED(PTEST, 1, VECTOR)
    BOTH_NEED(CVTSD2SI, 1, VECTOR) BOTH_NEED(CVTSS2SI, 1, VECTOR) BOTH_NEED(CVTTSD2SI, 1, VECTOR)
    BOTH_NEED(CVTTSS2SI, 1, VECTOR) BOTH_NEED(CVTSD2SS, 1, VECTOR) BOTH_NEED(CVTPD2PS, 1, VECTOR)
    BOTH_NEED(CVTPD2DQ, 1, VECTOR) BOTH_NEED(CVTTPD2DQ, 1, VECTOR)
    BOTH_CROSS(CVTSI2SD) BOTH_CROSS(CVTSI2SS) BOTH_CROSS(CVTSS2SD) BOTH_CROSS(CVTDQ2PD) BOTH_CROSS(CVTPS2PD)
    BOTH_CROSS(PEXTRB) BOTH_CROSS(PEXTRW) BOTH_CROSS(PEXTRD) BOTH_CROSS(PEXTRQ) BOTH_CROSS(EXTRACTPS)
    BOTH_CROSS(PINSRB) BOTH_CROSS(PINSRW) BOTH_CROSS(PINSRD) BOTH_CROSS(PINSRQ)
    BOTH_NEED(PCMPISTRI, 2, VECTOR) BOTH_NEED(PCMPISTRM, 2, VECTOR) BOTH_NEED(PCMPESTRI, 5, VECTOR)
    BOTH_NEED(PCMPESTRM, 5, VECTOR) NEEDS(VPBLENDVB, 1, VECTOR) NEEDS(VBLENDVPS, 1, VECTOR) NEEDS(VBLENDVPD, 1, VECTOR)
    BOTH_NEED(ROUNDPS, 1, FP_ADD) BOTH_NEED(ROUNDPD, 1, FP_ADD) BOTH_NEED(ROUNDSS, 1, FP_ADD) BOTH_NEED(ROUNDSD, 1, FP_ADD)
};
/* clang-format on */

static uint8_t all_writes(const struct as_insn *insn)
{
    return (uint8_t)((1u << insn->n_writes) - 1);
}

/* rsp as the stack engine keeps it, unless the instruction also writes it openly (pop rsp). */
static uint8_t stack_engine_writes(const struct as_insn *insn, const struct as_x86 *x86)
{
    ZydisInstructionCategory category = x86->insn.meta.category;
    if (category != ZYDIS_CATEGORY_PUSH && category != ZYDIS_CATEGORY_POP && category != ZYDIS_CATEGORY_CALL &&
        category != ZYDIS_CATEGORY_RET)
        return 0;
    const ZydisDecodedOperand *first = &x86->operands[0];
    bool openly = x86->insn.operand_count_visible > 0 && first->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                  (first->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) && as_x86_register(first->reg.value) == REG_RSP;
    return openly ? 0 : as_insn_write_bit(insn, REG_RSP);
}

/* One micro-operation for each memory operand with this access. Returns which they are, as a mask for `after`. */
static uint8_t add_accesses(struct as_insn *insn, unsigned access, struct as_uop uop)
{
    unsigned mask = 0;
    uint8_t reads = uop.reads;
    for (uint8_t i = 0; i < insn->n_mem; i++) {
        if (!(insn->mem[i].access & access))
            continue;
        uop.class_ = access == AS_ACCESS_LOAD ? AS_CLASS_LOAD : AS_CLASS_STORE;
        uop.mem = i;
        uop.reads = (uint8_t)(reads | as_insn_mem_bits(insn, i));
        if (as_insn_add_uop(insn, uop))
            mask |= 1u << (insn->n_uops - 1);
    }
    return (uint8_t)mask;
}

/* The helpers and the main micro-operation; leaves room for the stores. Returns the main one's bit. */
static uint8_t add_work(struct as_insn *insn, const struct recipe *recipe, struct as_uop uop, unsigned room)
{
    uint8_t helpers = (uint8_t)(recipe->helpers - (insn->n_mem ? recipe->crossing : 0)), writes = uop.writes;
    while (helpers > 0 && insn->n_uops + helpers + 1u + room > AS_INSN_MAX_UOPS)
        helpers--;
    uint8_t main_class = uop.class_;
    for (unsigned i = 0; i <= helpers; i++) {
        bool is_main = i == helpers;
        uop.class_ = is_main ? main_class : recipe->helper_class;
        uop.writes = is_main ? writes : 0;
        as_insn_add_uop(insn, uop);
        uop.after = (uint8_t)(1u << (insn->n_uops - 1));
    }
    return uop.after;
}

static unsigned count_accesses(const struct as_insn *insn, unsigned access)
{
    unsigned count = 0;
    for (unsigned i = 0; i < insn->n_mem; i++)
        count += (insn->mem[i].access & access) != 0;
    return count;
}

/* What is left to do beside the accesses of a load or a store: merge with old contents, or under a mask. */
static uint8_t class_of_merge(const struct as_insn *insn)
{
    for (unsigned i = 0; i < insn->n_writes; i++) {
        uint8_t reg = insn->writes[i];
        if (reg == AS_REG_X87)
            return AS_CLASS_FP_OTHER;
        if ((reg >= AS_REG_VEC0 && reg < AS_REG_FLAGS) || reg >= AS_REG_MASK0)
            return AS_CLASS_VECTOR;
    }
    return AS_CLASS_INT;
}

static uint8_t class_of_work(const struct as_insn *insn, const struct recipe *recipe)
{
    if (recipe->listed && recipe->main_class != AS_CLASS_COUNT)
        return recipe->main_class;
    if (insn->class_ == AS_CLASS_LOAD || insn->class_ == AS_CLASS_STORE)
        return class_of_merge(insn);
    return insn->class_ == AS_CLASS_ATOMIC ? AS_CLASS_INT : insn->class_;
}

/* A plain load or store that needs nothing else: mov, push, pop. A load that merges does, and a store of what it loaded
 * (push and pop of memory) does not. */
static bool has_work(const struct as_insn_build *build, const struct recipe *recipe)
{
    const struct as_insn *insn = build->insn;
    if (insn->class_ == AS_CLASS_STORE)
        return recipe->listed;
    return insn->class_ != AS_CLASS_LOAD || build->data_reads;
}

/* An operand that is named and not accessed (invlpg) is read by the work itself. */
static uint8_t unaccessed_bits(const struct as_insn *insn)
{
    unsigned bits = 0;
    for (uint8_t i = 0; i < insn->n_mem; i++)
        if (!insn->mem[i].access)
            bits |= as_insn_mem_bits(insn, i);
    return (uint8_t)bits;
}

static void add_general(struct as_insn_build *build, const struct as_x86 *x86, const struct recipe *recipe)
{
    struct as_insn *insn = build->insn;
    uint8_t writes = (uint8_t)(all_writes(insn) & ~stack_engine_writes(insn, x86));
    bool work = has_work(build, recipe);
    uint8_t last = add_accesses(insn, AS_ACCESS_LOAD, (struct as_uop){.writes = work ? 0 : writes});
    struct as_uop store = {.reads = build->data_reads, .after = last};
    if (work) {
        struct as_uop uop = {.class_ = class_of_work(insn, recipe), .mem = AS_UOP_NO_MEM, .after = last};
        uop.reads = build->data_reads | unaccessed_bits(insn);
        uop.writes = writes;
        last = add_work(insn, recipe, uop, count_accesses(insn, AS_ACCESS_STORE));
        store = (struct as_uop){.after = last};
    } else if (!last) {
        store.writes = writes;
    }
    add_accesses(insn, AS_ACCESS_STORE, store);
}

/* The return address needs no unit; the target may come from memory. */
static void add_call(struct as_insn_build *build)
{
    struct as_insn *insn = build->insn;
    uint8_t loads = add_accesses(insn, AS_ACCESS_LOAD, (struct as_uop){0});
    add_accesses(insn, AS_ACCESS_STORE, (struct as_uop){0});
    struct as_uop jump = {.class_ = insn->class_, .mem = AS_UOP_NO_MEM, .after = loads};
    jump.reads = build->data_reads;
    as_insn_add_uop(insn, jump);
}

/* One iteration: the accesses, a comparison (cmps, scas), and the pointers and the count, which wait for neither. */
static void add_string(struct as_insn_build *build)
{
    struct as_insn *insn = build->insn;
    uint8_t pointers = 0, moved = 0;
    for (uint8_t i = 0; i < insn->n_mem; i++) {
        pointers |= as_insn_write_bit(insn, insn->mem[i].base);
        moved |= as_insn_read_bit(insn, insn->mem[i].base);
    }
    if (insn->flags & AS_INSN_REP) {
        pointers |= as_insn_write_bit(insn, AS_REG_INT0 + 1);
        moved |= as_insn_read_bit(insn, AS_REG_INT0 + 1);
    }
    moved |= as_insn_read_bit(insn, AS_REG_SYSTEM); /* the direction flag */
    uint8_t results = (uint8_t)(all_writes(insn) & ~pointers), data = (uint8_t)(build->data_reads & ~moved);
    bool compares = (results & as_insn_write_bit(insn, AS_REG_FLAGS)) != 0;
    struct as_uop load = {.reads = compares ? 0 : data, .writes = compares ? 0 : results};
    uint8_t loads = add_accesses(insn, AS_ACCESS_LOAD, load);
    if (compares) {
        struct as_uop compare = {.class_ = AS_CLASS_INT, .mem = AS_UOP_NO_MEM, .after = loads};
        compare.reads = data;
        compare.writes = results;
        as_insn_add_uop(insn, compare);
    }
    add_accesses(insn, AS_ACCESS_STORE, (struct as_uop){.reads = loads ? 0 : data, .after = loads});
    struct as_uop advance = {.class_ = AS_CLASS_INT, .mem = AS_UOP_NO_MEM, .reads = moved, .writes = pointers};
    as_insn_add_uop(insn, advance);
}

/* rsp comes from rbp, not from the load. */
static void add_leave(struct as_insn *insn)
{
    add_accesses(insn, AS_ACCESS_LOAD, (struct as_uop){.writes = as_insn_write_bit(insn, REG_RBP)});
    struct as_uop stack = {.class_ = AS_CLASS_INT, .mem = AS_UOP_NO_MEM};
    stack.reads = as_insn_read_bit(insn, REG_RBP);
    stack.writes = as_insn_write_bit(insn, REG_RSP);
    as_insn_add_uop(insn, stack);
}

static void add_cache(struct as_insn *insn)
{
    struct as_uop uop = {.class_ = AS_CLASS_CACHE, .mem = insn->n_mem ? 0 : AS_UOP_NO_MEM};
    if (insn->n_mem)
        uop.reads = as_insn_mem_bits(insn, 0);
    as_insn_add_uop(insn, uop);
}

/* imul with one operand gives both halves, like mul. */
static const struct recipe *recipe_of(const struct as_x86 *x86)
{
    bool wide = x86->insn.mnemonic == ZYDIS_MNEMONIC_IMUL && x86->insn.operand_count_visible == 1;
    return &recipes[wide ? ZYDIS_MNEMONIC_MUL : x86->insn.mnemonic];
}

void as_x86_add_uops(struct as_insn_build *build, const struct as_x86 *x86)
{
    struct as_insn *insn = build->insn;
    if (insn->class_ == AS_CLASS_STRING)
        add_string(build);
    else if (insn->class_ == AS_CLASS_CACHE)
        add_cache(insn);
    else if (as_insn_is_call(insn))
        add_call(build);
    else if (x86->insn.mnemonic == ZYDIS_MNEMONIC_LEAVE)
        add_leave(insn);
    else
        add_general(build, x86, recipe_of(x86));
}
