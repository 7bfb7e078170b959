/* A program that executes itself TIMES times in the same process. How often still is the length of its first argument;
 * without one, it starts with a string of TIMES characters. Each image first counts down from WORK.
 *
 *   image   LI32                          2 int
 *           addi bnez                     WORK times: 1 int, 1 branch (last not taken)
 *           ld ld bnez                    2 loads, 1 branch (not taken in the first image)
 *           lla                           2 int in the first image alone
 *           lbu beqz                      1 load, 1 branch (taken in the last image)
 *   all but addi addi                     2 int
 *   the     sd sd sd                      3 stores: the new argument vector
 *   last    mv mv li li ecall             4 int, 1 system; it does not return
 *   the end of the last image: QUIT, 2 int, 1 system */
#include "rv_known.inc"

_start:
    LI32 t0, WORK
1:
    addi t0, t0, -1
    bnez t0, 1b
    ld s1, 8(sp)
    ld s2, 16(sp)
    bnez s2, 2f
    lla s2, countdown
2:
    lbu t0, 0(s2)
    beqz t0, 3f
    addi s2, s2, 1
    addi sp, sp, -32
    sd s1, 0(sp)
    sd s2, 8(sp)
    sd zero, 16(sp)
    mv a0, s1
    mv a1, sp
    li a2, 0
    li a7, SYS_execve
    ecall
    FAIL
3:
    QUIT

.data
countdown:
    .fill TIMES, 1, 'x'
    .byte 0
