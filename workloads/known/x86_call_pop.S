/* Calls and returns that do not pair: ITERS times a call whose return address is popped instead of returned to, then a
 * pushed address that is "returned" to without a call, then a return that also drops an argument.
 *
 *   before  lea mov                       2 int
 *   loop    call, pop                     1 call with its store, 1 load
 *           push, ret                     1 store, 1 return with its load
 *           push, call, ret $8            1 store, 1 call with its store, 1 return with its load
 *           dec jnz                       1 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system */
#include "x86_known.inc"

_start:
    lea 3f(%rip), %rbx
    mov $ITERS, %ecx
1:
    call 2f
    FAIL
2:
    pop %rax
    push %rbx
    ret
    nop
3:
    push %rax
    call drop
    dec %ecx
    jnz 1b
    QUIT

drop:
    ret $8
