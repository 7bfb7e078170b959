/* ITERS times atomic memory operations, and load-reserved/store-conditional, once with and once without a reservation.
 *
 *   before  lla li LI32                   5 int
 *   loop    amoadd amoswap amomax         3 atomic: a load and a store each
 *           lr addi sc bnez               1 load, 1 int, 1 store, 1 branch not taken
 *           sc beqz                       a store that does not happen (its class is still store), 1 branch not taken
 *           addi bnez                     1 int, 1 branch taken but for the last time
 *   after   ld LI32 bne                   1 load, 2 int, 1 branch not taken: the increments arrived
 *           QUIT                          2 int, 1 system
 * The reservations are on argc, on the stack: it starts as 1. */
#include "rv_known.inc"

_start:
    lla a1, cells
    li a2, 1
    LI32 a3, ITERS
1:
    amoadd.d t1, a2, (a1)
    amoswap.w.aq t1, a2, (a1)
    amomax.d.aqrl t1, a2, (a1)
    lr.d t1, (sp)
    addi t1, t1, 1
    sc.d t2, t1, (sp)
    bnez t2, fail
    sc.d t2, t1, (sp)
    beqz t2, fail
    addi a3, a3, -1
    bnez a3, 1b
    ld t1, 0(sp)
    LI32 a3, ITERS + 1
    bne t1, a3, fail
    QUIT
    FAIL

.bss
.balign 8
cells:
    .quad 0
