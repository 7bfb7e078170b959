/* The decoders' common entry point: picks the instruction set. */
#include "isa/arch.h"

#include <stdio.h>

bool as_insn_decode(enum as_arch arch, uint64_t address, const uint8_t *bytes, size_t size, struct as_insn *insn)
{
    struct as_insn_build build;
    as_insn_build_begin(&build, insn, arch, address);
    if (size == 0) {
        as_insn_build_unknown(insn, bytes, 0);
        return false;
    }
    return arch == AS_ARCH_RISCV64 ? as_rv64_decode(&build, bytes, size) : as_x86_decode(&build, bytes, size);
}

const char *as_insn_text(const struct as_insn *insn, char *text, size_t size)
{
    if (size == 0)
        return text;
    text[0] = '\0';
    if (insn->arch == AS_ARCH_RISCV64)
        as_rv64_text(insn, text, size);
    else
        as_x86_text(insn, text, size);
    return text;
}
