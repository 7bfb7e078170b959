/* LOADS equal loads of one address in a row, then a loop end that does not touch memory; see x86_bias_bench.S.
 *
 *   before  lla LI32                      4 int
 *   loop    lw                            LOADS loads
 *           addi bnez                     1 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system */
#include "rv_known.inc"

_start:
    lla a1, cell
    LI32 a3, ITERS
1:
.rept LOADS
    lw a0, 0(a1)
.endr
    addi a3, a3, -1
    bnez a3, 1b
    QUIT

.bss
.balign 8
cell:
    .quad 0
