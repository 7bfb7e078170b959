/* CHILDREN processes, each made and waited for in turn; a child adds WORK times and ends. All are followed.
 *
 * HOW  SYS_fork or SYS_vfork
 *
 *   parent  mov                           1 int
 *   a child mov syscall                   1 int, 1 system
 *           test jz                       1 int, 1 branch not taken
 *           wait4                         5 int, 1 system
 *           dec jnz                       1 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system
 *   child   test jz mov                   2 int, 1 branch taken
 *           addq, dec jnz                 WORK times: 1 int with a load and a store, 1 int, 1 branch (last not taken)
 *           mov xor syscall               2 int, 1 system
 * Each child is a process with one thread. */
#include "x86_known.inc"

_start:
    mov $CHILDREN, %ebx
1:
    mov $HOW, %eax
    syscall
    test %eax, %eax
    jz child
    mov %eax, %edi
    mov $SYS_wait4, %eax
    xor %esi, %esi
    xor %edx, %edx
    xor %r10d, %r10d
    syscall
    dec %ebx
    jnz 1b
    QUIT

child:
    mov $WORK, %ecx
2:
    addq $1, total(%rip)
    dec %ecx
    jnz 2b
    mov $SYS_exit, %eax
    xor %edi, %edi
    syscall

.bss
.balign 8
total:
    .quad 0
