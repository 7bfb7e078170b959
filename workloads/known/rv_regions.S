/* ITERS turns between two markers, each a call of a function that reads one word WORK times; see x86_regions.S.
 *
 *   before  LI32 lla                      4 int
 *   loop    marker 1                      1 nop
 *           jal                           1 call
 *           marker 2                      1 nop
 *           addi bnez                     1 int, 1 branch taken but for the last time
 *   function
 *           LI32                          2 int
 *           ld addi bnez, WORK times      1 load, 1 int, 1 branch taken but for the last time
 *           ret                           1 return
 *   after   QUIT                          2 int, 1 system */
#include "rv_known.inc"

.macro MARKER number
    .insn i 0x13, 2, x0, x27, \number
.endm

_start:
    LI32 a3, ITERS
    lla a4, cell
1:
    MARKER 1
    jal ra, function
    MARKER 2
    addi a3, a3, -1
    bnez a3, 1b
    QUIT

.type function, @function
function:
    LI32 a2, WORK
2:
    ld a5, 0(a4)
    addi a2, a2, -1
    bnez a2, 2b
    ret
.size function, . - function

.data
.balign 8
cell:
    .dword 1
