/* Three branches an iteration: the loop's own (Br1), one for every other time (Br2) and, NOPS nops later, one for every
 * third time (Br3) (after Snippet 2 of "On the Precision of Precise Event Based Sampling", which has 50 nops).
 * The two jump over a nop unless i % 2 == 0 and unless i % 3 == 0; i runs from 0 to ITERS - 1.
 *
 *   before  xor mov                       2 int
 *   loop    test jnz                      1 int, 1 branch, taken where i is odd: ITERS / 2 times
 *           nop                           1 nop where i is even
 *           NOPS nops                     NOPS nop
 *           dec jnz                       1 int, 1 branch, taken except (ITERS + 2) / 3 times
 *           mov nop                       1 int, 1 nop there
 *           inc cmp jb                    2 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system */
#include "x86_known.inc"

_start:
    xor %ecx, %ecx
    mov $1, %edx
1:
    test $1, %ecx
    jnz 2f
    nop
2:
.rept NOPS
    nop
.endr
    dec %edx
    jnz 3f
    mov $3, %edx
    nop
3:
    inc %ecx
    cmp $ITERS, %ecx
    jb 1b
    QUIT
