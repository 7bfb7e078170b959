/* ITERS times each kind of jump: direct and through a register, and conditional branches that compare two registers.
 *
 *   before  lla LI32 LI32                 6 int
 *   loop    j, jr                         1 jump, 1 indirect jump
 *           beq                           1 branch, taken the last time only: then straight to the end
 *           blt, bgeu                     2 branches, the first never taken, the second always
 *           addi j                        1 int, 1 jump
 *   after   QUIT                          2 int, 1 system
 * What stands behind the beq is executed ITERS - 1 times. The nops are jumped over. */
#include "rv_known.inc"

_start:
    lla a1, 3f
    LI32 a2, ITERS
    LI32 a3, 1
1:
    j 2f
    nop
2:
    jr a1
    nop
3:
    beq a2, a3, 5f
    blt a2, a3, fail
    bgeu a2, a3, 4f
    FAIL
4:
    addi a2, a2, -1
    j 1b
5:
    QUIT
