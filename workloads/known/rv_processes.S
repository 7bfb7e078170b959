/* CHILDREN processes, each made and waited for in turn; a child adds WORK times and ends. All are followed.
 *
 *   parent  lla li                        3 int
 *   a child li li li li li li ecall       6 int, 1 system
 *           beqz                          1 branch not taken
 *           wait4                         4 int, 1 system
 *           addi bnez                     1 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system
 *   child   beqz LI32                     1 branch taken, 2 int
 *           ld addi sd, addi bnez         WORK times: 1 load, 1 int, 1 store, 1 int, 1 branch (last not taken)
 *           li li ecall                   2 int, 1 system
 * Each child is a process with one thread. */
#include "rv_known.inc"

#define SIGCHLD 17

_start:
    lla s2, total
    li s1, CHILDREN
1:
    li a0, SIGCHLD
    li a1, 0
    li a2, 0
    li a3, 0
    li a4, 0
    li a7, SYS_clone
    ecall
    beqz a0, child
    li a1, 0
    li a2, 0
    li a3, 0
    li a7, SYS_wait4
    ecall
    addi s1, s1, -1
    bnez s1, 1b
    QUIT

child:
    LI32 t0, WORK
2:
    ld t1, 0(s2)
    addi t1, t1, 1
    sd t1, 0(s2)
    addi t0, t0, -1
    bnez t0, 2b
    li a0, 0
    li a7, SYS_exit
    ecall

.bss
.balign 8
total:
    .quad 0
