/* ITERS times what orders memory or drains the pipeline.
 *
 *   before  LI32                          2 int
 *   loop    fence rw,rw, fence r,r        2 fence
 *           fence.i frflags fsflags       3 serialise
 *           addi bnez                     1 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system */
#include "rv_known.inc"

_start:
    LI32 a3, ITERS
1:
    fence rw, rw
    fence r, r
    fence.i
    frflags a0
    fsflags a0
    addi a3, a3, -1
    bnez a3, 1b
    QUIT
