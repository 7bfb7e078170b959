/* ITERS calls of a function that calls itself down to DEPTH frames.
 *
 * FORM  1 direct, 2 through a register, 3 through memory (one load more), 4 direct through a tail jump (one jump more);
 *       the recursive calls are always direct
 *
 *   before  lla lla LI32                  6 int
 *   loop    LI32                          2 int
 *           [ld]                          1 load with form 3
 *           FORM                          1 call
 *           [j]                           1 jump with form 4
 *           the function, DEPTH times     1 int, 1 branch (taken in the innermost frame), 1 return
 *           and its recursive call        DEPTH - 1 times 2 int, 1 store, 1 call, 1 load
 *           addi bnez                     1 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system */
#include "rv_known.inc"

_start:
    lla a1, function
    lla a4, cell
    LI32 a3, ITERS
1:
    LI32 a2, DEPTH
#if FORM == 1
    jal ra, function
#elif FORM == 2
    jalr a1
#elif FORM == 3
    ld a5, 0(a4)
    jalr a5
#elif FORM == 4
    jal ra, tail
#else
#error "no such form"
#endif
    addi a3, a3, -1
    bnez a3, 1b
    QUIT

.type function, @function
function:
    addi a2, a2, -1
    beqz a2, 2f
    addi sp, sp, -16
    sd ra, 8(sp)
    jal ra, function
    ld ra, 8(sp)
    addi sp, sp, 16
2:
    ret
.size function, . - function

.type tail, @function
tail:
    j function
.size tail, . - tail

.data
.balign 8
cell:
    .quad function
