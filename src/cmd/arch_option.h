/* The value of --arch: x86_64 as the kernel writes it, or x86-64 as its manuals do. */
#ifndef AS_CMD_ARCH_OPTION_H
#define AS_CMD_ARCH_OPTION_H

#include "trust/remedy.h"

enum { AS_ARCH_OTHER_SPELLING = AS_ARCH_RISCV64 + 1 };
static const char *const as_arch_choices[] = {
    [AS_ARCH_X86_64] = "x86_64", [AS_ARCH_RISCV64] = "riscv64", [AS_ARCH_OTHER_SPELLING] = "x86-64", NULL};

static inline enum as_arch as_arch_chosen(int choice)
{
    return choice == AS_ARCH_RISCV64 ? AS_ARCH_RISCV64 : AS_ARCH_X86_64;
}

#endif
