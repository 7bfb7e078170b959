/* Loads that follow each other round a ring of PAGES pointers, APART bytes from one to the next, and SKEW bytes further
 * into its page each.
 *
 *   build   writes the ring: touches every page
 *   warm    goes round once: what fits is there afterwards, and the order of use is that of the ring
 *   probe   ROUNDS times round: PAGES * ROUNDS executions of `load`, each of which waits for the one before
 *
 *   APART   SKEW  all pointers lie in          so that going round
 *   4096    0     one L1 set, one LLC set each misses the L1 where PAGES > 8, and hits the LLC
 *   4096    64    L1 sets of their own         hits the L1
 *   131072  0     one L1 set, one LLC set      misses both where PAGES > 16
 *   any     any   PAGES pages                  misses the TLB where PAGES > 32, else hits it
 *
 * The next line, which the prefetcher brings behind a miss, is in another set and is not used. An L1 miss takes the LLC's
 * 20 cycles, a TLB miss the second TLB's 4, an LLC miss DRAM's 100 and more, each of them seen by the next load. */
#include "../known/rv_known.inc"

_start:
    lla s1, ring
    LI32 s2, APART + SKEW
    li s3, PAGES - 1
    mv a0, s1
1:  /* build */
    add a1, a0, s2
    sd a1, 0(a0)
    mv a0, a1
    addi s3, s3, -1
    bnez s3, 1b
    sd s1, 0(a0)
    fence
    li s3, PAGES
    mv a0, s1
2:  /* warm */
    ld a0, 0(a0)
    addi s3, s3, -1
    bnez s3, 2b
    LI32 s3, PAGES * ROUNDS
    .balign 64
    nop /* takes the line's instruction-cache miss */
    nop
    nop
    nop
3:
    addi s3, s3, -1
load:
    ld a0, 0(a0)
    bnez s3, 3b
    QUIT

.bss
.balign 131072
ring:
    .space PAGES * (APART + SKEW)
