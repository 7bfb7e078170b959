/* Four reads an iteration that all miss, because their lines were flushed just before (after Snippet 3 of "On the
 * Precision of Precise Event Based Sampling").
 *
 * BYTES  how far to go through each of the four areas, eight bytes an iteration
 * NOPS   so many nops behind each read
 *
 *   before  lea xor                       2 int
 *   loop    clflush (4), mfence           4 cache, 1 fence; BYTES / 8 times
 *           mov, NOPS nops                4 times: 1 load, NOPS nop
 *           add cmp jb                    2 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system */
#include "x86_known.inc"

#define AREA ((BYTES + 4095) / 4096 * 4096)

_start:
    lea areas(%rip), %rbx
    xor %edx, %edx
1:
    .irp area, 0, 1, 2, 3
    clflush \area * AREA(%rbx, %rdx)
    .endr
    mfence
    .irp area, 0, 1, 2, 3
    mov \area * AREA(%rbx, %rdx), %rax
    .rept NOPS
    nop
    .endr
    .endr
    add $8, %rdx
    cmp $BYTES, %rdx
    jb 1b
    QUIT

.bss
.balign 4096
areas:
    .space 4 * AREA
