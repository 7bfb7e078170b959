/* ITERS system calls: number NUMBER with the arguments -1 and COMMAND.
 *
 *   before  mov                           1 int
 *   loop    mov mov mov syscall           3 int, 1 system
 *           dec jnz                       1 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system
 * System calls: ITERS + 1. */
#include "x86_known.inc"

_start:
    mov $ITERS, %ebx
1:
    mov $NUMBER, %eax
    mov $-1, %edi
    mov $COMMAND, %esi
    syscall
    dec %ebx
    jnz 1b
    QUIT
