/* ITERS system calls: number NUMBER with the arguments -1 and COMMAND.
 *
 *   before  LI32                          2 int
 *   loop    li li li ecall                3 int, 1 system
 *           addi bnez                     1 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system
 * System calls: ITERS + 1. */
#include "rv_known.inc"

_start:
    LI32 s1, ITERS
1:
    li a7, NUMBER
    li a0, -1
    li a1, COMMAND
    ecall
    addi s1, s1, -1
    bnez s1, 1b
    QUIT
