/* Known numbers of loads, stores, branches, taken branches, returns and atomic operations in one loop; see
 * x86_multi_event.S.
 *
 *   before  lla li LI32                   5 int
 *   loop    jal, ret                      1 call, 1 return
 *           amoadd, amoadd                2 atomic: a load and a store each
 *           lw                            1 load
 *           addi beqz                     1 int, 1 branch, taken the last time only
 *           bnez                          all but the last time: 1 branch, taken
 *   after   QUIT                          2 int, 1 system */
#include "rv_known.inc"

_start:
    lla a1, value
    li a2, 1
    LI32 a3, ITERS
1:
    jal ra, nothing
    amoadd.w a0, a2, (a1)
    amoadd.w a0, a2, (a1)
    lw a0, 0(a1)
    addi a3, a3, -1
    beqz a3, 2f
    bnez a3, 1b
2:
    QUIT

.type nothing, @function
nothing:
    ret
.size nothing, . - nothing

.bss
.balign 4
value:
    .4byte 0
