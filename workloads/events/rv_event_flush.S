/* ROUNDS flushes of one kind.
 *
 *   MISPREDICT  `branch` jumps to two places in turn. boom-tea predicts an indirect jump's last target, which is never the
 *               right one, and none the first time: each execution is mispredicted. Fetch goes on 4 cycles after it is done,
 *               the next instruction dispatches 6 later, and it commits 1 after it is done: 9 cycles are its own.
 *   CALL        `call` is a system call (getpid).
 *   PASS        `load` reads what the store before it writes, whose address comes out of a divide (20 cycles); the load's
 *               own address has been there for long. There is no predictor of dependences: each execution reads too early
 *               and is caught, which flushes what the next round has begun. */
#include "../known/rv_known.inc"
.option norvc

_start:
    LI32 s3, ROUNDS
    lla s1, 2f
    lla s2, 3f
    xor s4, s1, s2
    lla a1, word
    li t1, 1
    sd zero, 0(a1)
    fence
    ld a2, 0(a1)
    fence
    frflags t2 /* the line is there before anything that follows is fetched */
    li a7, SYS_getpid
    j 1f
    .balign 64
1:
#if MISPREDICT
    xor s1, s1, s4
    addi s3, s3, -1
branch:
    jr s1
    nop
2:
    bnez s3, 1b
    j 4f
3:
    bnez s3, 1b
4:
#elif CALL
    addi s3, s3, -1
call:
    ecall
    bnez s3, 1b
2:
3:
#elif PASS
    addi s3, s3, -1
    div a0, a1, t1
    sd s3, 0(a0)
load:
    ld a2, 0(a1)
    bnez s3, 1b
2:
3:
#endif
    QUIT

.bss
.balign 4096
word:
    .space 64
