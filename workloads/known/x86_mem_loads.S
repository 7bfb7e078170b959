/* BYTES of memory read once, eight bytes at a time, four reads an iteration (after Snippet 1 of "On the Precision
 * of Precise Event Based Sampling", where all samples fell on the first read).
 *
 * FENCE  1: an lfence before the four reads
 * NOPS   so many nops behind each read (the paper's remedy needs 43 or 44)
 *
 *   before  lea xor                       2 int
 *   loop    [lfence]                      FENCE fence; BYTES / 32 times
 *           mov, NOPS nops                4 times: 1 load, NOPS nop
 *           add cmp jb                    2 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system */
#include "x86_known.inc"

_start:
    lea region(%rip), %rbx
    xor %edx, %edx
1:
#if FENCE
    lfence
#endif
    .irp at, 0, 8, 16, 24
    mov \at(%rbx, %rdx), %rax
    .rept NOPS
    nop
    .endr
    .endr
    add $32, %rdx
    cmp $BYTES, %rdx
    jb 1b
    QUIT

.bss
.balign 4096
region:
    .space BYTES
