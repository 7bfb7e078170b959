/* ITERS times: values through the stack, by register, by constant and straight from and to memory.
 *
 *   before  mov                           1 int
 *   loop    push %rbx                     1 store
 *           push $1                       1 store
 *           pushq cell, popq cell         each one load and one store
 *           pop, pop                      2 loads
 *           dec jnz                       1 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system
 * loads 4, stores 4 an iteration, in 6 instructions. */
#include "x86_known.inc"

_start:
    mov $ITERS, %ecx
1:
    push %rbx
    push $1
    pushq cell(%rip)
    popq cell(%rip)
    pop %rax
    pop %rbx
    dec %ecx
    jnz 1b
    QUIT

.bss
.balign 8
cell:
    .quad 0
