/* The static instruction: what a decoder knows about the bytes at an address, in terms that both instruction sets
 * share.
 *
 * Everything behind the decoders (counts, the core model, call paths, reports) reads this record and never the bytes.
 * A record is made once for each (address, bytes) that a program executes; it is immutable afterwards.
 */
#ifndef ASSAY_INSN_H
#define ASSAY_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum as_arch { AS_ARCH_X86_64, AS_ARCH_RISCV64, AS_ARCH_COUNT };

/* What an instruction mainly does: the unit that executes it. One class each, the most specific that fits; reading or
 * writing memory on the side is in `flags` (x86 `add (%rax),%rbx` is AS_CLASS_INT with AS_INSN_LOAD). */
enum as_class {
    AS_CLASS_INT,    /* integer and logic, moves between integer registers, address computation, flags */
    AS_CLASS_MUL,    /* integer multiply */
    AS_CLASS_DIV,    /* integer divide, remainder */
    AS_CLASS_FP_ADD, /* scalar and packed floating point: add, subtract, compare, minimum, maximum */
    AS_CLASS_FP_MUL,
    AS_CLASS_FP_FMA,
    AS_CLASS_FP_DIV,
    AS_CLASS_FP_SQRT,    /* square roots and their estimates */
    AS_CLASS_FP_CONVERT, /* between formats, between FP and integer values, rounding */
    AS_CLASS_FP_OTHER,   /* moves, sign injection, classification, x87 housekeeping */
    AS_CLASS_VECTOR,     /* packed integer and logic, shuffles, packed moves between registers */
    AS_CLASS_VECTOR_MUL, /* packed integer multiply */
    AS_CLASS_LOAD,       /* nothing but a load (mov, pop, lb…ld, flw, fld, movups from memory, lr) */
    AS_CLASS_STORE,      /* nothing but a store (mov, push, sb…sd, fsw, fsd, movups to memory, sc) */
    AS_CLASS_ATOMIC,     /* atomic read-modify-write: lock prefix, xchg with memory, amo* */
    AS_CLASS_STRING,     /* x86 string instructions, with or without rep */
    AS_CLASS_BRANCH,     /* conditional branch */
    AS_CLASS_JUMP,       /* direct jump */
    AS_CLASS_JUMP_INDIRECT,
    AS_CLASS_CALL, /* direct call */
    AS_CLASS_CALL_INDIRECT,
    AS_CLASS_RETURN,
    AS_CLASS_FENCE,     /* orders memory: mfence, sfence, lfence, fence */
    AS_CLASS_SERIALISE, /* drains the pipeline: cpuid, csr accesses, fence.i … */
    AS_CLASS_SYSTEM,    /* system calls, breakpoints, traps */
    AS_CLASS_CACHE,     /* cache-line operations: prefetches, clflush, clwb, cbo.* */
    AS_CLASS_NOP,       /* does nothing: nop, endbr64, hints, pause */
    AS_CLASS_UNKNOWN,   /* not decoded; executes as a one-cycle integer operation in the models */
    AS_CLASS_COUNT
};

enum as_insn_flag {
    AS_INSN_LOAD = 1u << 0,         /* reads data memory (pop, return, atomic included; prefetch not) */
    AS_INSN_STORE = 1u << 1,        /* writes data memory (push, call, atomic included) */
    AS_INSN_ATOMIC = 1u << 2,       /* one indivisible read-modify-write, or lr/sc */
    AS_INSN_LOCKED = 1u << 3,       /* has a lock prefix, or locks implicitly (xchg with memory) */
    AS_INSN_COND_MEM = 1u << 4,     /* may complete without touching memory, or all of its operand (sc, maskmov, gather,
                                       rep with count 0, AVX-512 with a mask) */
    AS_INSN_MULTI_MEM = 1u << 5,    /* each access is its own (rep, gather, scatter); otherwise adjacent pieces of one
                                       operand are one access */
    AS_INSN_BULK_MEM = 1u << 6,     /* one operand written or read in pieces of any order, perhaps with gaps (fxsave,
                                       xsave, xrstor, enter, maskmov …) */
    AS_INSN_REP = 1u << 7,          /* repeats: the engine sees it once an iteration */
    AS_INSN_SERIALISES = 1u << 8,   /* younger instructions wait until it has committed (cpuid, lfence, csr …) */
    AS_INSN_FLUSHES = 1u << 9,      /* the pipeline behind it is flushed when it commits (BOOM: writes of CSRs and FP
                                       flags — frflags, fsflags, csrrw … —, fence.i; x86: none but iret-like) */
    AS_INSN_FENCE_LOAD = 1u << 10,  /* younger loads wait for older loads (lfence, mfence, fence r,*) */
    AS_INSN_FENCE_STORE = 1u << 11, /* younger accesses wait for older stores to drain (mfence, sfence, fence w,*) */
    AS_INSN_PREFETCH = 1u << 12,    /* mem[0] is prefetched */
    AS_INSN_CACHE_FLUSH = 1u << 13, /* the line of mem[0] is written back and dropped */
    AS_INSN_CONDITIONAL = 1u << 14, /* conditional branch */
    AS_INSN_MAY_TRAP = 1u << 15,    /* may raise a synchronous signal without an access (x86 div, idiv) */
    AS_INSN_ENDS_BLOCK = 1u << 16,  /* control transfer or system call: never falls through silently */
    AS_INSN_FUSE_FIRST = 1u << 17,  /* may fuse with a conditional branch right behind it: see as_insn_fuses */
    AS_INSN_FP_STATE = 1u << 18,    /* reads or writes the FP status or control register explicitly */
    AS_INSN_CACHE_CLEAN = 1u << 19, /* the line of mem[0] is written back and may stay (clwb, cbo.clean) */
};
#define AS_INSN_CONTROL_CLASSES                                                                                        \
    (1u << AS_CLASS_BRANCH | 1u << AS_CLASS_JUMP | 1u << AS_CLASS_JUMP_INDIRECT | 1u << AS_CLASS_CALL |                \
     1u << AS_CLASS_CALL_INDIRECT | 1u << AS_CLASS_RETURN)

/* Registers, numbered alike for both instruction sets. The RISC-V zero register is never listed. Partial registers are
 * listed as the whole one; an x86 write of 8 or 16 bits therefore also reads it. */
enum {
    AS_REG_INT0 = 0,       /* 0-31: x86 rax rcx rdx rbx rsp rbp rsi rdi r8…r15 as 0-15; RISC-V x0…x31 */
    AS_REG_VEC0 = 32,      /* 32-63: x86 xmm/ymm/zmm0-31; RISC-V f0…f31 */
    AS_REG_FLAGS = 64,     /* x86 status flags */
    AS_REG_FP_STATUS = 65, /* x86 mxcsr; RISC-V fcsr (written by no ordinary FP instruction here: sticky flags are
                              renamed like BOOM does and only explicit accesses are listed) */
    AS_REG_X87 = 66,       /* x87 stack and control words as one */
    AS_REG_SEGMENT = 67,   /* fs/gs base and selectors */
    AS_REG_SYSTEM = 68,    /* any other CSR or system register */
    AS_REG_MASK0 = 72,     /* 72-79: x86 k0…k7 */
    AS_REG_MMX0 = 80,      /* 80-87: x86 mm0…mm7 */
    AS_REG_COUNT = 88,
    AS_REG_NONE = 255
};

struct as_mem_operand {
    uint8_t base, index, scale; /* registers, AS_REG_NONE where absent; scale 1, 2, 4, 8 */
    uint8_t access;             /* AS_ACCESS_* below; 0 for prefetches and cache-line operations */
    uint8_t segment;            /* x86: 0 none, 1 fs, 2 gs */
    bool pc_relative;           /* the address is disp alone (already absolute) */
    uint16_t size;              /* bytes of the whole operand; of one element where AS_INSN_MULTI_MEM */
    int64_t disp;
};
enum {
    AS_ACCESS_LOAD = 1,
    AS_ACCESS_STORE = 2,
    AS_ACCESS_PREFETCH = 4, /* not an operand's: what a prefetch or a line flush points at, where that is known */
    AS_ACCESS_FLUSH = 8
};

/* One micro-operation as the models see it. It waits for the registers in `reads` and for the earlier uops in `after`;
 * the registers in `writes` are ready when it is done. Its class is the unit and the latency it needs, which may be
 * more exact than the instruction's (popcnt counts as integer and takes as long as a multiply). A register that the
 * instruction writes and no uop does is computed by the renamer from its old value: rsp in push, pop, call and return,
 * which the stack engine tracks. It is ready when its old value is. */
struct as_uop {
    uint8_t class_; /* enum as_class: AS_CLASS_LOAD, AS_CLASS_STORE or what the instruction computes */
    uint8_t mem;    /* index of the memory operand for loads, stores, RISC-V atomics and cache operations; else 255 */
    uint8_t reads;  /* bit i: insn.reads[i]. A store's address registers are those of its memory operand */
    uint8_t writes; /* bit i: insn.writes[i] */
    uint8_t after;  /* bit i: insn.uops[i], always an earlier one */
};
enum { AS_UOP_NO_MEM = 255 };

enum {
    AS_INSN_MAX_BYTES = 16,
    AS_INSN_MAX_READS = 8,
    AS_INSN_MAX_WRITES = 6,
    AS_INSN_MAX_MEM = 2,
    AS_INSN_MAX_UOPS = 6
};

struct as_insn {
    uint64_t address;
    uint64_t target; /* direct branches, jumps and calls; 0 otherwise */
    uint32_t flags;  /* enum as_insn_flag */
    uint8_t arch;    /* enum as_arch */
    uint8_t class_;  /* enum as_class */
    uint8_t length;
    uint8_t fuse; /* x86: what it may fuse with (as_insn_fuses); 0 where it never does */
    uint8_t n_reads, n_writes, n_mem, n_uops;
    /* No register twice in a list. Address registers are among the reads and come first. Where an instruction writes
     * more than fit (x86 vzeroall, key locker), the lists hold the first ones in the order of the manual. */
    uint8_t reads[AS_INSN_MAX_READS], writes[AS_INSN_MAX_WRITES];
    uint8_t bytes[AS_INSN_MAX_BYTES];
    struct as_mem_operand mem[AS_INSN_MAX_MEM];
    struct as_uop uops[AS_INSN_MAX_UOPS];
    uint32_t id; /* dense number within its run, given by whoever keeps the records; 0 from the decoder */
};

/* Decodes one instruction. Never fails: bytes that are no instruction give AS_CLASS_UNKNOWN with a length of at least 1
 * (RISC-V: 2 or 4 by the length bits, cut to `size`; 0 only where `size` is 0). Returns false in that case. `size` may
 * be more than one instruction; bytes beyond it are never read. */
bool as_insn_decode(enum as_arch arch, uint64_t address, const uint8_t *bytes, size_t size, struct as_insn *insn);

/* Writes the disassembly ("mov rax, qword ptr [rsp+8]" — Intel syntax as Zydis prints it; "ld a0, 8(sp)") into `text`,
 * always NUL-terminated. Returns text. Direct targets are printed as absolute hexadecimal addresses. */
const char *as_insn_text(const struct as_insn *insn, char *text, size_t size);

/* Whether `first` and `second` issue as one macro-fused micro-operation: x86 cmp/test/add/sub/and/inc/dec with the
 * conditional branch right behind it in memory, in the combinations that Intel cores since Sandy Bridge allow and not
 * across a cache line. Never on RISC-V. */
bool as_insn_fuses(const struct as_insn *first, const struct as_insn *second);

static inline bool as_insn_is_control(const struct as_insn *insn)
{
    return (AS_INSN_CONTROL_CLASSES >> insn->class_ & 1) != 0;
}
static inline bool as_insn_is_call(const struct as_insn *insn)
{
    return insn->class_ == AS_CLASS_CALL || insn->class_ == AS_CLASS_CALL_INDIRECT;
}

const char *as_class_name(enum as_class class_); /* "int", "fp_add", "branch" …: lower case, as in JSON */
bool as_class_from_name(const char *name, enum as_class *class_);
const char *as_arch_name(enum as_arch arch); /* "x86_64", "riscv64" */
const char *as_register_name(enum as_arch arch, uint8_t reg);

#endif
