/* Stores that find the store queue full, of 64 entries.
 *
 * HELD   `store` stands behind HELD stores and divides that hold all of them back: four in a chain, 80 cycles, in which
 *        they all dispatch. With HELD = 64 it finds the queue full in each of the ROUNDS but the first, whose code comes
 *        from memory so slowly that the divides have long been done. frflags flushes behind the fence, so that each
 *        round starts with an empty queue. All stores but the last go to one line; the last one goes round PAGES pages,
 *        each time in another L1 set: with PAGES = 1 it never misses the TLB, with more than 32 always.
 *
 * BURST  PAGES * 32 stores, each to a line of its own that no cache has, every second of 32 pages that the TLB has. A
 *        store that misses leaves the queue when an MSHR takes it. There are 16, and the prefetcher takes one for the
 *        next line behind each miss: 8 stores leave at once, the others only when memory has answered, after 100 cycles
 *        and more. So the first 64 + 8 stores find room, and no other: each of those waits for memory's bandwidth, 12.8
 *        cycles for a line, behind an empty ROB, but for a cycle or two in which the loop's two other instructions commit
 *        in rows of their own. (The prefetcher finds no MSHR from then on.)
 *
 * (That a store misses a cache is none of its events: the cache is asked when it has committed.) */
#include "../known/rv_known.inc"

_start:
    lla s1, line
    lla s2, pages
    LI32 s5, STEP
    LI32 s4, PAGES * STEP
    add s4, s4, s2
    li t0, 1
    li t1, 1
    mv a0, s2
1:  /* touches every page; with BURST its last line */
#if HELD
    sd zero, 0(a0)
    add a0, a0, s5
#else
    add a0, a0, s5
    sd zero, -64(a0)
#endif
    bltu a0, s4, 1b
    sd zero, 0(s1)
    fence
    ld t2, -64(a0)
    ld t2, 0(s1)
    fence
    frflags t2 /* no miss is under way when what follows is fetched */
    mv a0, s2
#if HELD
    LI32 s3, ROUNDS
    j 2f
    .balign 64
2:
    .rept 4
    div t0, t0, t1
    .endr
    .rept HELD
    sd zero, 0(s1)
    .endr
    nop
store:
    sd zero, 0(a0)
    add a0, a0, s5
    bltu a0, s4, 3f
    mv a0, s2
3:
    fence
    frflags t2
    addi s3, s3, -1
    bnez s3, 2b
#else
    j 2f
    .balign 64
2:
    addi a0, a0, 128
store:
    sd zero, -128(a0)
    bltu a0, s4, 2b
#endif
    QUIT

.bss
.balign 4096
line:
    .space 4096
pages:
    .space PAGES * STEP
