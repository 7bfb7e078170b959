/* ITERS times one data access of SIZE bytes, OFFSET bytes into a page-aligned buffer.
 *
 * ACCESS  1 a load, 2 a store, 3 a load and a store by one instruction (add to memory; SIZE up to 8)
 * SIZE    1, 2, 4, 8, 16 (SSE), 32 (AVX), 10 (x87: fldt for a load, fldz and fstpt for a store)
 * OFFSET  0: aligned; 1: misaligned; 4096 - SIZE / 2: across two pages
 *
 *   before  lea mov                       2 int
 *   loop    ACCESS dec jnz                one access, 1 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system
 * Each access is one, however wide and wherever it lies. The x87 load also has an fstp that drops the value, the x87
 * store an fldz that makes one: one more instruction an iteration, without an access. */
#include "x86_known.inc"

_start:
    lea buffer + OFFSET(%rip), %rbx
    mov $ITERS, %ecx
1:
#if ACCESS == 1 && SIZE == 1
    movzbl (%rbx), %eax
#elif ACCESS == 1 && SIZE == 2
    mov (%rbx), %ax
#elif ACCESS == 1 && SIZE == 4
    mov (%rbx), %eax
#elif ACCESS == 1 && SIZE == 8
    mov (%rbx), %rax
#elif ACCESS == 1 && SIZE == 16
    movups (%rbx), %xmm0
#elif ACCESS == 1 && SIZE == 32
    vmovups (%rbx), %ymm0
#elif ACCESS == 1 && SIZE == 10
    fldt (%rbx)
    fstp %st(0)
#elif ACCESS == 2 && SIZE == 1
    mov %al, (%rbx)
#elif ACCESS == 2 && SIZE == 2
    mov %ax, (%rbx)
#elif ACCESS == 2 && SIZE == 4
    mov %eax, (%rbx)
#elif ACCESS == 2 && SIZE == 8
    mov %rax, (%rbx)
#elif ACCESS == 2 && SIZE == 16
    movups %xmm0, (%rbx)
#elif ACCESS == 2 && SIZE == 32
    vmovups %ymm0, (%rbx)
#elif ACCESS == 2 && SIZE == 10
    fldz
    fstpt (%rbx)
#elif ACCESS == 3 && SIZE == 1
    addb $1, (%rbx)
#elif ACCESS == 3 && SIZE == 2
    addw $1, (%rbx)
#elif ACCESS == 3 && SIZE == 4
    addl $1, (%rbx)
#elif ACCESS == 3 && SIZE == 8
    addq $1, (%rbx)
#else
#error "no such access"
#endif
    dec %ecx
    jnz 1b
    QUIT

.bss
.balign 4096
buffer:
    .space 3 * 4096
