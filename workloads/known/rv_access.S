/* ITERS times one data access of SIZE bytes, OFFSET bytes into a page-aligned buffer.
 *
 * ACCESS  1 a load, 2 a store
 * SIZE    1, 2, 4, 8
 * FLOAT   1: through a floating-point register (SIZE 4 or 8)
 * OFFSET  0: aligned; 1: misaligned; 4096 - SIZE / 2: across two pages
 *
 *   before  lla LI32 add LI32             7 int
 *   loop    ACCESS addi bnez              one access, 1 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system */
#include "rv_known.inc"

_start:
    lla a1, buffer
    LI32 a2, OFFSET
    add a1, a1, a2
    LI32 a3, ITERS
1:
#if ACCESS == 1 && FLOAT && SIZE == 4
    flw ft0, 0(a1)
#elif ACCESS == 1 && FLOAT && SIZE == 8
    fld ft0, 0(a1)
#elif ACCESS == 1 && SIZE == 1
    lb a0, 0(a1)
#elif ACCESS == 1 && SIZE == 2
    lhu a0, 0(a1)
#elif ACCESS == 1 && SIZE == 4
    lw a0, 0(a1)
#elif ACCESS == 1 && SIZE == 8
    ld a0, 0(a1)
#elif ACCESS == 2 && FLOAT && SIZE == 4
    fsw ft0, 0(a1)
#elif ACCESS == 2 && FLOAT && SIZE == 8
    fsd ft0, 0(a1)
#elif ACCESS == 2 && SIZE == 1
    sb a0, 0(a1)
#elif ACCESS == 2 && SIZE == 2
    sh a0, 0(a1)
#elif ACCESS == 2 && SIZE == 4
    sw a0, 0(a1)
#elif ACCESS == 2 && SIZE == 8
    sd a0, 0(a1)
#else
#error "no such access"
#endif
    addi a3, a3, -1
    bnez a3, 1b
    QUIT

.bss
.balign 4096
buffer:
    .space 3 * 4096
