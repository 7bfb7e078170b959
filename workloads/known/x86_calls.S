/* ITERS calls of a function that calls itself down to DEPTH frames.
 *
 * FORM  1 direct, 2 through a register, 3 through memory (one load more), 4 direct through a tail jump (one jump more);
 *       the recursive calls are always direct
 *
 *   before  lea mov                       2 int
 *   loop    mov                           1 int
 *           FORM                          1 call, 1 store (form 3: and a load)
 *           [jmp]                         1 jump with form 4
 *           the function, DEPTH times     1 int, 1 branch (taken in the innermost frame), 1 return with its load
 *           and its recursive call        DEPTH - 1 times 1 call, 1 store
 *           dec jnz                       1 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system */
#include "x86_known.inc"

_start:
    lea function(%rip), %rbx
    mov $ITERS, %ecx
1:
    mov $DEPTH, %edx
#if FORM == 1
    call function
#elif FORM == 2
    call *%rbx
#elif FORM == 3
    call *cell(%rip)
#elif FORM == 4
    call tail
#else
#error "no such form"
#endif
    dec %ecx
    jnz 1b
    QUIT

.type function, @function
function:
    dec %edx
    jz 2f
    call function
2:
    ret
.size function, . - function

.type tail, @function
tail:
    jmp function
.size tail, . - tail

.data
.balign 8
cell:
    .quad function
