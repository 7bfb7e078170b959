/* A program that executes itself TIMES times, in the same process (FORK 0) or in a child that it waits for (FORK 1).
 * How often still is the length of its first argument; without one, it starts with a string of TIMES characters. Each
 * image first adds WORK times.
 *
 *   image   mov                           1 int
 *           addq, dec jnz                 WORK times: 1 int with a load and a store, 1 int, 1 branch (last not taken)
 *           mov mov                       2 loads: argument 0 and argument 1
 *           test jnz                      1 int, 1 branch (not taken in the first image)
 *           lea                           1 int in the first image alone
 *           cmpb je                       1 int with a load, 1 branch (taken in the last image)
 *   all but FORK: fork                    1 int, 1 system
 *   the     FORK: test jnz                1 int, 1 branch (taken in the parent, not in the child)
 *   last    inc                           1 int
 *           push push push                3 stores: the new argument vector, last first
 *           mov mov xor syscall           3 int, 1 system; it does not return
 *   FORK: each parent waits               5 int, 1 system
 *   the end of the last image, and of each parent: QUIT, 2 int, 1 system */
#include "x86_known.inc"

_start:
    mov $WORK, %ecx
1:
    addq $1, total(%rip)
    dec %ecx
    jnz 1b
    mov 8(%rsp), %rdi
    mov 16(%rsp), %rbx
    test %rbx, %rbx
    jnz 2f
    lea countdown(%rip), %rbx
2:
    cmpb $0, (%rbx)
    je 4f
#if FORK
    mov $SYS_fork, %eax
    syscall
    test %eax, %eax
    jnz 3f
#endif
    inc %rbx
    push $0
    push %rbx
    push %rdi
    mov %rsp, %rsi
    mov $SYS_execve, %eax
    xor %edx, %edx
    syscall
    FAIL
#if FORK
3:
    mov %eax, %edi
    mov $SYS_wait4, %eax
    xor %esi, %esi
    xor %edx, %edx
    xor %r10d, %r10d
    syscall
#endif
4:
    QUIT

.data
.balign 8
total:
    .quad 0
countdown:
    .fill TIMES, 1, 'x'
    .byte 0
