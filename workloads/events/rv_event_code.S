/* Code that runs ROUNDS times along a chain of PAGES blocks, each in a page of its own and SKEW bytes further into it. A
 * block is a nop and a jump to the next.
 *
 *   SKEW 0    all blocks lie in one set of the L1I: it misses every time where PAGES > 8
 *   SKEW 64   each has a set of its own: the L1I misses in the first round only
 *   PAGES     more than the 32 entries of the instruction TLB: it misses every time; else in the first round only
 *
 * The first instruction of a block has the events of its fetch, the jump has none: PAGES * ROUNDS each. The code around
 * the chain lies where no block does: 32 lines further into its page. Direct jumps are never mispredicted. */
#include "../known/rv_known.inc"
.option norvc

_start:
    LI32 s3, ROUNDS
    j loop

.balign 4096
chain:
.set page, 0
.rept PAGES
    .org chain + page * (4096 + SKEW)
    nop
    .if page + 1 < PAGES
    j chain + (page + 1) * (4096 + SKEW)
    .else
    j next
    .endif
    .set page, page + 1
.endr
chain_end:

.balign 4096
    .space 4032
loop:
    j chain
next:
    addi s3, s3, -1
    bnez s3, loop
    QUIT
