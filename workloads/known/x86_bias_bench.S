/* LOADS equal loads of one address in a row, then a loop end that does not touch memory: every load should get the same
 * share of samples, nothing else any (after Listing 2 of "Precise Event Sampling on AMD Versus Intel", which has four).
 *
 *   before  lea mov mov                   3 int
 *   loop    mov                           LOADS loads
 *           sub cmp jne                   2 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system */
#include "x86_known.inc"

_start:
    lea cell(%rip), %rax
    mov $ITERS, %rcx
    mov $1, %ebx
1:
.rept LOADS
    mov (%rax), %ebx
.endr
    sub $1, %rcx
    cmp $0, %rcx
    jne 1b
    QUIT

.bss
.balign 8
cell:
    .quad 0
