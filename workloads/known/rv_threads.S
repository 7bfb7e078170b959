/* THREADS threads beside the first, made by clone and waited for by futex; thread i (from 1) adds to a shared total
 * WORK * i times, so that each has its own known count.
 *
 *   first   lla (4) LI32 li li            12 int
 *   a clone LI32 add mv mv li mv li       8 int
 *           ecall beqz                    1 system, 1 branch not taken
 *           sw addi addi addi bleu        1 store, 3 int, 1 branch taken but for the last time
 *   then    lla lla li                    5 int
 *   a wait  li mv li lw li ecall          4 int, 1 load, 1 system; no loop: see x86_threads.S
 *           addi addi addi bleu           3 int, 1 branch taken but for the last time
 *   last    ld LI32 bne                   1 load, 2 int, 1 branch not taken
 *           QUIT                          2 int, 1 system
 *   thread  beqz LI32 mul li              1 branch taken, 3 int, 1 mul
 *           amoadd, addi bnez             WORK * i times: 1 atomic (load and store), 1 int, 1 branch (last not taken)
 *           li li ecall                   2 int, 1 system */
#include "rv_known.inc"

#define CLONE_THREAD_FLAGS 0x350f00 /* vm fs files sighand thread sysvsem parent_settid child_cleartid */
#define STACK_BYTES 4096

_start:
    lla s2, words
    lla s3, ids
    lla s4, stacks
    lla s5, total
    LI32 s6, STACK_BYTES
    li s7, THREADS
    li s1, 1
1:
    LI32 a0, CLONE_THREAD_FLAGS
    add s4, s4, s6
    mv a1, s4
    mv a2, s2
    li a3, 0
    mv a4, s2
    li a7, SYS_clone
    ecall
    beqz a0, thread
    sw a0, 0(s3)
    addi s2, s2, 4
    addi s3, s3, 4
    addi s1, s1, 1
    bleu s1, s7, 1b
    lla s2, words
    lla s3, ids
    li s1, 1
2:
    li a7, SYS_futex
    mv a0, s2
    li a1, 0
    lw a2, 0(s3)
    li a3, 0
    ecall
    addi s2, s2, 4
    addi s3, s3, 4
    addi s1, s1, 1
    bleu s1, s7, 2b
    ld t1, 0(s5)
    LI32 t2, WORK * THREADS * (THREADS + 1) / 2
    bne t1, t2, fail
    QUIT
    FAIL

thread:
    LI32 t1, WORK
    mul t1, t1, s1
    li t2, 1
3:
    amoadd.d t3, t2, (s5)
    addi t1, t1, -1
    bnez t1, 3b
    li a0, 0
    li a7, SYS_exit
    ecall

.bss
.balign 64
total:
    .quad 0
words:
    .space 4 * THREADS
ids:
    .space 4 * THREADS
.balign 16
stacks:
    .space STACK_BYTES * THREADS
