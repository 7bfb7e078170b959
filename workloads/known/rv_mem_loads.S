/* BYTES of memory read once, eight bytes at a time, four reads an iteration; see x86_mem_loads.S.
 *
 * FENCE  1: a fence r,r before the four reads
 * NOPS   so many nops behind each read
 *
 *   before  lla LI32 add                  5 int
 *   loop    [fence]                       FENCE fence; BYTES / 32 times
 *           ld, NOPS nops                 4 times: 1 load, NOPS nop
 *           addi bltu                     1 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system */
#include "rv_known.inc"

_start:
    lla a1, region
    LI32 a2, BYTES
    add a2, a2, a1
1:
#if FENCE
    fence r, r
#endif
    .irp at, 0, 8, 16, 24
    ld a0, \at(a1)
    .rept NOPS
    nop
    .endr
    .endr
    addi a1, a1, 32
    bltu a1, a2, 1b
    QUIT

.bss
.balign 4096
region:
    .space BYTES
