/* ITERS times the whole x87 and SSE state to memory and back: one operand of 512 bytes, so one access each way.
 *
 *   before  lea mov                       2 int
 *   loop    fxsave                        1 store
 *           fxrstor                       1 load
 *           dec jnz                       1 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system */
#include "x86_known.inc"

_start:
    lea area(%rip), %rbx
    mov $ITERS, %ecx
1:
    fxsave (%rbx)
    fxrstor (%rbx)
    dec %ecx
    jnz 1b
    QUIT

.bss
.balign 64
area:
    .space 512
