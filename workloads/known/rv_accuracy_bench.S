/* A pointer chase over 128 KiB with a known share of loads that miss a 32 KiB cache; see x86_accuracy_bench.S.
 *
 *   before  lla LI32                      4 int
 *   OUTER   LI32 mv                       3 int
 *    INNER  lw                            1 load
 *           slli add, PADDING times addi  2 + PADDING int
 *           addi bnez                     1 int, 1 branch (last not taken)
 *           addi bnez                     1 int, 1 branch (last not taken)
 *   after   QUIT                          2 int, 1 system */
#include "rv_known.inc"

#define ELEMENTS 1024

_start:
    lla a1, array
    LI32 a2, OUTER
1:
    LI32 a3, INNER
    mv a4, a1
2:
    lw a4, 0(a4)
    slli a4, a4, 7
    add a4, a4, a1
.rept PADDING
    addi a5, a5, 1
.endr
    addi a3, a3, -1
    bnez a3, 2b
    addi a2, a2, -1
    bnez a2, 1b
    QUIT

.data
.balign 128
array:
    .set element, 0
.rept ELEMENTS
    .4byte (element * 389 + 457) % ELEMENTS
    .space 124
    .set element, element + 1
.endr
