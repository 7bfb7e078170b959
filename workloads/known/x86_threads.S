/* THREADS threads beside the first, made by clone and waited for by futex; thread i (from 1) adds to a shared total
 * WORK * i times, so that each has its own known count.
 *
 *   first   lea lea lea mov               4 int
 *   a clone mov mov add mov lea mov xor   7 int
 *           syscall                       1 system; 1 system call of the first thread
 *           test jz                       1 int, 1 branch not taken
 *           mov inc cmp jbe               1 store, 2 int, 1 branch taken but for the last time
 *   then    mov                           1 int
 *   a wait  mov lea xor mov xor syscall   4 int, 1 load, 1 system; no loop: the word is no longer the thread's id, or
 *                                         its end wakes us, and nothing else ever uses that address
 *           inc cmp jbe                   2 int, 1 branch taken but for the last time
 *   last    cmpq jne QUIT                 3 int, one with a load, 1 branch not taken, 1 system
 *   thread  test jz imul                  1 int, 1 branch taken, 1 mul
 *           lock incq, dec jnz            WORK * i times: 1 atomic (load and store), 1 int, 1 branch (last not taken)
 *           mov xor syscall               2 int, 1 system */
#include "x86_known.inc"

#define CLONE_THREAD_FLAGS 0x350f00 /* vm fs files sighand thread sysvsem parent_settid child_cleartid */
#define STACK_BYTES 4096

_start:
    lea words(%rip), %r12
    lea ids(%rip), %r13
    lea stacks(%rip), %r14
    mov $1, %ebx
1:
    mov $SYS_clone, %eax
    mov $CLONE_THREAD_FLAGS, %edi
    add $STACK_BYTES, %r14
    mov %r14, %rsi
    lea (%r12, %rbx, 4), %rdx
    mov %rdx, %r10
    xor %r8d, %r8d
    syscall
    test %eax, %eax
    jz thread
    mov %eax, (%r13, %rbx, 4)
    inc %ebx
    cmp $THREADS, %ebx
    jbe 1b
    mov $1, %ebx
2:
    mov $SYS_futex, %eax
    lea (%r12, %rbx, 4), %rdi
    xor %esi, %esi
    mov (%r13, %rbx, 4), %edx
    xor %r10d, %r10d
    syscall
    inc %ebx
    cmp $THREADS, %ebx
    jbe 2b
    cmpq $WORK * THREADS * (THREADS + 1) / 2, total(%rip)
    jne fail
    QUIT
    FAIL

thread:
    imul $WORK, %ebx, %ecx
3:
    lock incq total(%rip)
    dec %ecx
    jnz 3b
    mov $SYS_exit, %eax
    xor %edi, %edi
    syscall

.bss
.balign 64
total:
    .quad 0
words:
    .space 4 * (THREADS + 1)
ids:
    .space 4 * (THREADS + 1)
.balign 16
stacks:
    .space STACK_BYTES * THREADS
