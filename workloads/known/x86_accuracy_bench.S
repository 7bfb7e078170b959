/* A pointer chase over 128 KiB with a known share of loads that miss a 32 KiB cache: one load every 5 + PADDING
 * instructions (after Listing 1 of "Precise Event Sampling on AMD Versus Intel"). The array has 1024 elements 128 bytes
 * apart; each holds the number of the next, in one cycle through all of them that hops about.
 *
 *   before  lea mov                       2 int
 *   OUTER   mov mov                       2 int
 *    INNER  mov                           1 load
 *           shl add, PADDING times add    2 + PADDING int
 *           dec jnz                       1 int, 1 branch (last not taken)
 *           dec jnz                       1 int, 1 branch (last not taken)
 *   after   QUIT                          2 int, 1 system */
#include "x86_known.inc"

#define ELEMENTS 1024

_start:
    lea array(%rip), %rcx
    mov $OUTER, %edx
1:
    mov $INNER, %eax
    mov %rcx, %rbx
2:
    mov (%rbx), %ebx
    shl $7, %rbx
    add %rcx, %rbx
.rept PADDING
    add $1, %r8
.endr
    dec %eax
    jnz 2b
    dec %edx
    jnz 1b
    QUIT

.data
.balign 128
array:
    .set element, 0
.rept ELEMENTS
    .long (element * 389 + 457) % ELEMENTS
    .space 124
    .set element, element + 1
.endr
