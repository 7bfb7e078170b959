/* Jumps that are mispredicted and miss the instruction cache at once: in ROUNDS rounds, each of PAGES blocks is entered,
 * which is an indirect jump and nothing else. Blocks lie in pages of their own and in one set of the L1I, which holds
 * eight. In turn all of them go to one of two places, round by round: never where they went before (boom-tea predicts
 * the last target, and none the first time). The instruction TLB holds the PAGES pages from the second round on. The jump into a block is
 * mispredicted as well, and its flush is what the time of the cache miss goes to; the block's own flush takes 9 cycles. */
#include "../known/rv_known.inc"
.option norvc

_start:
    LI32 s3, ROUNDS
    LI32 s6, 4096
    lla s1, back
    lla s2, other
    xor s4, s1, s2
    lla s7, jump
    lla s8, jump_end
    j round

.balign 4096
jump:
.set page, 0
.rept PAGES
    .org jump + page * 4096
    jr s1
    .set page, page + 1
.endr
    .org jump + PAGES * 4096
jump_end:
    .space 2048 /* sets of their own for what follows */
round:
    xor s1, s1, s4
    mv a0, s7
1:
    jr a0
other:
    nop
back:
    add a0, a0, s6
    bltu a0, s8, 1b
    addi s3, s3, -1
    bnez s3, round
    QUIT
