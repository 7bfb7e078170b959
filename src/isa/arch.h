/* What each instruction set provides to insn_decode.c. `size` is at least 1 in both. */
#ifndef AS_ISA_ARCH_H
#define AS_ISA_ARCH_H

#include "isa/insn_build.h"

bool as_x86_decode(struct as_insn_build *build, const uint8_t *bytes, size_t size);
void as_x86_text(const struct as_insn *insn, char *text, size_t size);

bool as_rv64_decode(struct as_insn_build *build, const uint8_t *bytes, size_t size);
void as_rv64_text(const struct as_insn *insn, char *text, size_t size);

#endif
