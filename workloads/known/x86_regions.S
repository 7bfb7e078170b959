/* ITERS turns between two markers, each a call of a function that reads one word WORK times: places for regions.
 *
 *   before  mov lea                       2 int
 *   loop    marker 1                      1 nop
 *           call                          1 call, 1 store
 *           marker 2                      1 nop
 *           dec jnz                       1 int, 1 branch taken but for the last time
 *   function
 *           mov                           1 int
 *           mov dec jnz, WORK times       1 load, 1 int, 1 branch taken but for the last time
 *           ret                           1 return, 1 load
 *   after   QUIT                          2 int, 1 system */
#include "x86_known.inc"

.macro MARKER number
    .byte 0x0f, 0x1f, 0x84, 0x00
    .short \number, 0x4153
.endm

_start:
    mov $ITERS, %ecx
    lea cell(%rip), %rbx
1:
    MARKER 1
    call function
    MARKER 2
    dec %ecx
    jnz 1b
    QUIT

.type function, @function
function:
    mov $WORK, %edx
2:
    mov (%rbx), %rax
    dec %edx
    jnz 2b
    ret
.size function, . - function

.data
.balign 8
cell:
    .quad 1
