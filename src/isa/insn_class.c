/* The names of classes, instruction sets and registers, as they appear in JSON, reports and tests. */
#include "assay/insn.h"

#include <string.h>

static const char *const class_names[AS_CLASS_COUNT] = {
    [AS_CLASS_INT] = "int",
    [AS_CLASS_MUL] = "mul",
    [AS_CLASS_DIV] = "div",
    [AS_CLASS_FP_ADD] = "fp_add",
    [AS_CLASS_FP_MUL] = "fp_mul",
    [AS_CLASS_FP_FMA] = "fp_fma",
    [AS_CLASS_FP_DIV] = "fp_div",
    [AS_CLASS_FP_SQRT] = "fp_sqrt",
    [AS_CLASS_FP_CONVERT] = "fp_convert",
    [AS_CLASS_FP_OTHER] = "fp_other",
    [AS_CLASS_VECTOR] = "vector",
    [AS_CLASS_VECTOR_MUL] = "vector_mul",
    [AS_CLASS_LOAD] = "load",
    [AS_CLASS_STORE] = "store",
    [AS_CLASS_ATOMIC] = "atomic",
    [AS_CLASS_STRING] = "string",
    [AS_CLASS_BRANCH] = "branch",
    [AS_CLASS_JUMP] = "jump",
    [AS_CLASS_JUMP_INDIRECT] = "jump_indirect",
    [AS_CLASS_CALL] = "call",
    [AS_CLASS_CALL_INDIRECT] = "call_indirect",
    [AS_CLASS_RETURN] = "return",
    [AS_CLASS_FENCE] = "fence",
    [AS_CLASS_SERIALISE] = "serialise",
    [AS_CLASS_SYSTEM] = "system",
    [AS_CLASS_CACHE] = "cache",
    [AS_CLASS_NOP] = "nop",
    [AS_CLASS_UNKNOWN] = "unknown",
};

static const char *const arch_names[AS_ARCH_COUNT] = {[AS_ARCH_X86_64] = "x86_64", [AS_ARCH_RISCV64] = "riscv64"};

static const char *const x86_registers[AS_REG_COUNT] = {
    "rax",   "rcx",     "rdx",    "rbx",   "rsp",   "rbp",   "rsi",   "rdi",   "r8",    "r9",    "r10",
    "r11",   "r12",     "r13",    "r14",   "r15",   NULL,    NULL,    NULL,    NULL,    NULL,    NULL,
    NULL,    NULL,      NULL,     NULL,    NULL,    NULL,    NULL,    NULL,    NULL,    NULL,    "xmm0",
    "xmm1",  "xmm2",    "xmm3",   "xmm4",  "xmm5",  "xmm6",  "xmm7",  "xmm8",  "xmm9",  "xmm10", "xmm11",
    "xmm12", "xmm13",   "xmm14",  "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22",
    "xmm23", "xmm24",   "xmm25",  "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "flags", "mxcsr",
    "x87",   "segment", "system", NULL,    NULL,    NULL,    "k0",    "k1",    "k2",    "k3",    "k4",
    "k5",    "k6",      "k7",     "mm0",   "mm1",   "mm2",   "mm3",   "mm4",   "mm5",   "mm6",   "mm7",
};

static const char *const riscv_registers[AS_REG_COUNT] = {
    "zero", "ra",  "sp",   "gp",   "tp",  "t0",  "t1",   "t2",   "s0",  "s1",   "a0",  "a1",  "a2",     "a3",
    "a4",   "a5",  "a6",   "a7",   "s2",  "s3",  "s4",   "s5",   "s6",  "s7",   "s8",  "s9",  "s10",    "s11",
    "t3",   "t4",  "t5",   "t6",   "ft0", "ft1", "ft2",  "ft3",  "ft4", "ft5",  "ft6", "ft7", "fs0",    "fs1",
    "fa0",  "fa1", "fa2",  "fa3",  "fa4", "fa5", "fa6",  "fa7",  "fs2", "fs3",  "fs4", "fs5", "fs6",    "fs7",
    "fs8",  "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11", NULL,  "fcsr", NULL,  NULL,  "system",
};

const char *as_class_name(enum as_class class_)
{
    return (unsigned)class_ < AS_CLASS_COUNT ? class_names[class_] : "unknown";
}

bool as_class_from_name(const char *name, enum as_class *class_)
{
    for (unsigned i = 0; i < AS_CLASS_COUNT; i++) {
        if (strcmp(class_names[i], name) == 0) {
            *class_ = (enum as_class)i;
            return true;
        }
    }
    return false;
}

const char *as_arch_name(enum as_arch arch)
{
    return (unsigned)arch < AS_ARCH_COUNT ? arch_names[arch] : "unknown";
}

const char *as_register_name(enum as_arch arch, uint8_t reg)
{
    const char *name = NULL;
    if (reg < AS_REG_COUNT)
        name = arch == AS_ARCH_RISCV64 ? riscv_registers[reg] : x86_registers[reg];
    return name ? name : "none";
}
