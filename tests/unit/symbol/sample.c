/* A program to look up names in: functions inlined into one another, static ones, aliases, one with a cold part, labels
 * that assembly leaves without type and size. What it computes does not matter. */
#include "sample_inline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int table[64];

static inline __attribute__((always_inline)) int innermost(int x)
{
    table[x & 63] += x;
    return table[(x >> 3) & 63] * 3;
}

static inline __attribute__((always_inline)) int middle(int x)
{
    int sum = 0;
    for (int i = 0; i < 3; i++)
        sum += innermost(x + i) ^ from_header(x);
    return sum;
}

__attribute__((noinline)) static int hidden(int x)
{
    return middle(x) + middle(x + 1);
}

__attribute__((noinline)) int visible(int x)
{
    if (__builtin_expect(x == 12345, 0)) {
        fprintf(stderr, "unlikely %d\n", middle(x));
        abort();
    }
    return hidden(x) + innermost(x);
}

__attribute__((alias("visible"))) int visible_alias(int x);
__attribute__((weak, alias("visible"))) int __visible_weak(int x);

__attribute__((noinline)) static int specialised(int x, int mode)
{
    if (mode == 0)
        return x;
    return specialised(x / 2, mode - 1) + hidden(x) * mode;
}

int asm_global(int x);
#if defined(__x86_64__)
__asm__(".text\n.globl asm_global\nasm_global:\n  mov %edi, %eax\nasm_local:\n  add $1, %eax\n  cmp $100, %eax\n  jl "
        "asm_local\n  ret\n");
#else
__asm__(
    ".text\n.globl asm_global\nasm_global:\nasm_local:\n  addiw a0, a0, 1\n  li a1, 100\n  blt a0, a1, asm_local\n  "
    "ret\n");
#endif

int main(int argc, char **argv)
{
    int sum = (int)strlen(argv[0]);
    for (int i = 0; i < argc + 20; i++)
        sum += visible(i) + visible_alias(i + 1) + specialised(i, 2) + asm_global(i);
    printf("%d\n", sum);
    return 0;
}
