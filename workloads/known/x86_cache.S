/* ITERS times what touches caches and orders memory without being an access.
 *
 *   before  lea mov                       2 int
 *   loop    prefetches (4), clflush       5 cache, no access
 *           lfence mfence sfence          3 fence
 *           mov                           1 load
 *           dec jnz                       1 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system */
#include "x86_known.inc"

_start:
    lea buffer(%rip), %rbx
    mov $ITERS, %ecx
1:
    prefetcht0 (%rbx)
    prefetcht2 64(%rbx)
    prefetchnta 128(%rbx)
    prefetchw 192(%rbx)
    clflush (%rbx)
    lfence
    mfence
    sfence
    mov (%rbx), %rax
    dec %ecx
    jnz 1b
    QUIT

.bss
.balign 4096
buffer:
    .space 4096
