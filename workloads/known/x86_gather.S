/* ITERS gathers of ELEMENTS 4-byte elements out of eight (the others are masked off) over scattered addresses.
 *
 *   before  lea mov vmovdqu vmovdqu       2 int, 2 loads
 *   loop    vmovdqa                       1 vector: the instruction clears its mask, so it is set again
 *           vpgatherdd                    ELEMENTS loads by one instruction (none: it is no load)
 *           dec jnz                       1 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system */
#include "x86_known.inc"

_start:
    lea buffer(%rip), %rbx
    mov $ITERS, %ecx
    vmovdqu indices(%rip), %ymm1
    vmovdqu masks(%rip), %ymm2
1:
    vmovdqa %ymm2, %ymm3
    vpgatherdd %ymm3, (%rbx, %ymm1, 4), %ymm0
    dec %ecx
    jnz 1b
    QUIT

.data
.balign 32
indices:
    .long 0, 17, 1024, 3, 900, 2047, 64, 5
masks:
    .fill ELEMENTS, 4, -1
    .fill 8 - ELEMENTS, 4, 0
.bss
.balign 64
buffer:
    .space 8192
