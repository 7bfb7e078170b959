/* Code made at run time: ROUNDS functions of 1, 2, … ROUNDS times `addi a0, a0, 1` (ROUNDS at most 1000) and a ret,
 * each written over the one before and called CALLS times.
 *
 *   before  mmap, mv li LI32 LI32 li      7 + 7 int, 1 system
 *   round   mv mv                         2 int
 *           sw addi addi bnez             round times: 1 store, 2 int, 1 branch (last not taken)
 *           sw fence.i li                 1 store, 1 serialise, 1 int
 *           li jalr addi bnez             CALLS times: 1 int, 1 indirect call, 1 int, 1 branch (last not taken)
 *           the function                  CALLS times: round int, 1 return
 *           bne                           1 branch not taken: the function returned its round
 *           addi bleu                     1 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system */
#include "rv_known.inc"

#define MAP_PRIVATE_ANONYMOUS 0x22

_start:
    li a0, 0
    lui a1, 1
    li a2, 7
    li a3, MAP_PRIVATE_ANONYMOUS
    li a4, -1
    li a5, 0
    li a7, SYS_mmap
    ecall
    mv s1, a0
    li s2, 1
    LI32 s3, 0x00150513
    LI32 s4, 0x00008067
    li s5, ROUNDS
1:
    mv t0, s2
    mv t1, s1
2:
    sw s3, 0(t1)
    addi t1, t1, 4
    addi t0, t0, -1
    bnez t0, 2b
    sw s4, 0(t1)
    fence.i
    li t0, CALLS
3:
    li a0, 0
    jalr s1
    addi t0, t0, -1
    bnez t0, 3b
    bne a0, s2, fail
    addi s2, s2, 1
    bleu s2, s5, 1b
    QUIT
    FAIL
