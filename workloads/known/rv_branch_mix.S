/* Three branches an iteration: the loop's own, one for every other time and, NOPS nops later, one for every third time;
 * see x86_branch_mix.S.
 *
 *   before  li li LI32                    4 int
 *   loop    andi bnez                     1 int, 1 branch, taken where i is odd: ITERS / 2 times
 *           nop                           1 nop where i is even
 *           NOPS nops                     NOPS nop
 *           addi bnez                     1 int, 1 branch, taken except (ITERS + 2) / 3 times
 *           li nop                        1 int, 1 nop there
 *           addi bltu                     1 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system */
#include "rv_known.inc"

_start:
    li a1, 0
    li a2, 1
    LI32 a3, ITERS
1:
    andi a0, a1, 1
    bnez a0, 2f
    nop
2:
.rept NOPS
    nop
.endr
    addi a2, a2, -1
    bnez a2, 3f
    li a2, 3
    nop
3:
    addi a1, a1, 1
    bltu a1, a3, 1b
    QUIT
