/* Known numbers of loads, stores, branches, taken branches, returns and locked operations in one loop (after Listing 3
 * of "Precise Event Sampling on AMD Versus Intel").
 *
 *   before  mov                           1 int
 *   loop    call, ret                     1 call with its store, 1 return with its load
 *           lock addl, lock addl          2 atomic: a load and a store each
 *           mov                           1 load
 *           sub cmp je                    2 int, 1 branch, taken the last time only
 *           cmp jne                       all but the last time: 1 int, 1 branch, taken
 *   after   QUIT                          2 int, 1 system */
#include "x86_known.inc"

_start:
    mov $ITERS, %rcx
1:
    call nothing
    lock addl $1, value(%rip)
    lock addl $1, value(%rip)
    mov value(%rip), %ebx
    sub $1, %rcx
    cmp $0, %rcx
    je 2f
    cmp $0, %rcx
    jne 1b
2:
    QUIT

.type nothing, @function
nothing:
    ret
.size nothing, . - nothing

.bss
.balign 4
value:
    .long 0
