/* ITERS string operations.
 *
 * OP     movsb … movsq, stosb …, lodsb …, cmpsb …, scasb …
 * REP    rep, repe, repne or empty
 * COUNT  the repeat count in rcx (also loaded where there is no prefix, and then without effect)
 * DOWN   1: the direction flag is set and the pointers start behind the middle of the buffers
 * MATCH  1: the buffers are equal and hold what is in rax, so repe runs to its end; 0: they differ everywhere, so that
 *        repe stops after its first element
 *
 *   before  std or cld, mov               2 int
 *   loop    lea lea mov mov               4 int
 *           OP                            1 string instruction, whatever COUNT is
 *           dec jnz                       1 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system
 * Accesses: one each element that the instruction went over (movs, cmps: of both operands). With COUNT 0 it touches no
 * memory. */
#include "x86_known.inc"

_start:
#if DOWN
    std
#else
    cld
#endif
    mov $ITERS, %ebx
1:
    lea from + 4096(%rip), %rsi
    lea to + 4096(%rip), %rdi
    mov $COUNT, %ecx
    mov $-1 + MATCH, %rax
    REP OP
    dec %ebx
    jnz 1b
    QUIT

.data
.balign 4096
from:
    .fill 8192, 1, 0
to:
    .fill 8192, 1, 1 - MATCH
