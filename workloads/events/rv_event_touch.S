/* The first touch of each of PAGES pages: a page fault. The instruction is tried again and misses the TLB both times. A
 * load's line is in no cache; a store asks the cache only when it has committed. STORE 1: by stores. */
#include "../known/rv_known.inc"

_start:
    lla a1, pages
    LI32 s2, 4096
    LI32 s3, PAGES
    j 1f
    .balign 64
1:
    addi s3, s3, -1
touch:
#if STORE
    sd zero, 0(a1)
#else
    ld a0, 0(a1)
#endif
    add a1, a1, s2
    bnez s3, 1b
    QUIT

.bss
.balign 4096
pages:
    .space PAGES * 4096
