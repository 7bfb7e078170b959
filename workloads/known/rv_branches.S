/* ITERS times a conditional branch that is taken except every PERIOD-th time: PERIOD 1 never takes it, 2 alternates,
 * anything above ITERS always takes it.
 *
 *   before  LI32 LI32                     4 int
 *   loop    addi bnez                     1 int, 1 branch taken ITERS - ITERS / PERIOD times
 *           LI32                          2 int, ITERS / PERIOD times
 *           addi bnez                     1 int, 1 branch taken ITERS - 1 times
 *   after   QUIT                          2 int, 1 system */
#include "rv_known.inc"

_start:
    LI32 a1, PERIOD
    LI32 a2, ITERS
1:
    addi a1, a1, -1
    bnez a1, 2f
    LI32 a1, PERIOD
2:
    addi a2, a2, -1
    bnez a2, 1b
    QUIT
