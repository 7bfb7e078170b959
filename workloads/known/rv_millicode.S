/* ITERS calls whose return address is in t0, the other link register of the calling convention (compilers use it for
 * the routines that save and restore registers).
 *
 *   before  LI32                          2 int
 *   loop    jal t0, addi, jr t0           1 call, 1 int, 1 return
 *           addi bnez                     1 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system */
#include "rv_known.inc"

_start:
    LI32 a3, ITERS
1:
    jal t0, routine
    addi a3, a3, -1
    bnez a3, 1b
    QUIT

.type routine, @function
routine:
    addi a2, a2, 1
    jr t0
.size routine, . - routine
