/* ITERS times each atomic read-modify-write, with the lock prefix (LOCK given as "lock;") or without (LOCK empty; xchg
 * with memory locks anyhow).
 *
 *   before  mov                           1 int
 *   loop    addq, incq, xadd, xchg        4 read-modify-writes
 *           mov mov cmpxchg               2 int, 1 read-modify-write that succeeds
 *           mov cmpxchg                   1 int, 1 read-modify-write that fails: it writes the old value back
 *           xor xor xor xor cmpxchg16b    4 int, 1 read-modify-write of 16 bytes, in one access each way
 *           dec jnz                       1 int, 1 branch taken but for the last time
 *   after   cmpq jne                      1 int with a load, 1 branch never taken
 *           QUIT                          2 int, 1 system
 * Seven read-modify-writes an iteration, each one load and one store. The total is checked: 1 by addq, 1 by incq, 1 by
 * xadd. */
#include "x86_known.inc"

_start:
    mov $ITERS, %esi
1:
    LOCK addq $1, total(%rip)
    LOCK incq total(%rip)
    mov $1, %edi
    LOCK xadd %rdi, total(%rip)
    xchg %rdi, other(%rip)
    mov $0, %eax
    mov $0, %edi
    LOCK cmpxchg %rdi, same(%rip)
    mov $1, %eax
    LOCK cmpxchg %rdi, same(%rip)
    xor %eax, %eax
    xor %edx, %edx
    xor %ebx, %ebx
    xor %ecx, %ecx
    LOCK cmpxchg16b pair(%rip)
    dec %esi
    jnz 1b
    cmpq $3 * ITERS, total(%rip)
    jne fail
    QUIT
    FAIL

.bss
.balign 16
pair:
    .quad 0, 0
total:
    .quad 0
other:
    .quad 0
same:
    .quad 0
