/* ITERS times each kind of jump: direct, through a register, through memory, and the conditional ones that test rcx.
 *
 *   before  lea mov                       2 int
 *   loop    jmp 2f                        1 jump
 *           jmp *%rax                     1 indirect jump
 *           jmp *cell                     1 indirect jump, 1 load
 *           jrcxz                         1 branch, never taken (rcx is at least 1 there)
 *           loop                          1 branch, taken ITERS - 1 times
 *   after   jrcxz                         1 branch, taken
 *           QUIT                          2 int, 1 system
 * The nops are jumped over. */
#include "x86_known.inc"

_start:
    lea 3f(%rip), %rax
    mov $ITERS, %ecx
1:
    jmp 2f
    nop
2:
    jmp *%rax
    nop
3:
    jmp *cell(%rip)
    nop
4:
    jrcxz fail
    loop 1b
    jrcxz 5f
    FAIL
5:
    QUIT

.data
.balign 8
cell:
    .quad 4b
