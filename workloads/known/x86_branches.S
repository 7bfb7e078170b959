/* ITERS times a conditional branch that is taken except every PERIOD-th time: PERIOD 1 never takes it, 2 alternates,
 * anything above ITERS always takes it.
 *
 *   before  mov mov                       2 int
 *   loop    dec jnz                       1 int, 1 branch taken ITERS - ITERS / PERIOD times
 *           mov                           1 int, ITERS / PERIOD times
 *           dec jnz                       1 int, 1 branch taken ITERS - 1 times
 *   after   QUIT                          2 int, 1 system */
#include "x86_known.inc"

_start:
    mov $PERIOD, %edx
    mov $ITERS, %ecx
1:
    dec %edx
    jnz 2f
    mov $PERIOD, %edx
2:
    dec %ecx
    jnz 1b
    QUIT
