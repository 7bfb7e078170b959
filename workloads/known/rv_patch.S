/* ITERS times code that changes an instruction just ahead of itself: the word at `site` is a nop or an addi in turn,
 * addi first. One address, two instructions.
 *
 *   before  mprotect, lla LI32 LI32       5 + 6 int, 1 system
 *   loop    lw xor sw                     1 load, 1 int, 1 store
 *           fence.i                       1 serialise
 *           the site                      (ITERS + 1) / 2 times int, ITERS / 2 times nop
 *           addi bnez                     1 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system */
#define NORVC 1 /* so that the site is one aligned word */
#include "rv_known.inc"

#define NOP 0x00000013
#define ADDI 0x001e0e13 /* addi t3, t3, 1 */

.balign 4096
_start:
    lla a0, _start
    lui a1, 1
    li a2, 7
    li a7, SYS_mprotect
    ecall
    lla a1, site
    LI32 a2, NOP ^ ADDI
    LI32 a3, ITERS
1:
    lw t1, 0(a1)
    xor t1, t1, a2
    sw t1, 0(a1)
    fence.i
site:
    .4byte NOP
    addi a3, a3, -1
    bnez a3, 1b
    QUIT
