/* ITERS times one instruction of each kind of unit, all between registers.
 *
 *   before  mov mov cvtsi2sd cvtsi2sd     2 int, 2 fp_convert
 *   loop    add lea                       2 int
 *           imul                          1 mul
 *           xor div                       1 int, 1 div
 *           addsd, subps, ucomisd         3 fp_add
 *           mulsd                         1 fp_mul
 *           divsd                         1 fp_div
 *           sqrtsd                        1 fp_sqrt
 *           cvttsd2si                     1 fp_convert
 *           paddd pshufd pxor             3 vector
 *           pmulld                        1 vector_mul
 *           nop, nopw, pause, endbr64     4 nop
 *           dec jnz                       1 int, 1 branch taken but for the last time
 *   after   xor cpuid                     1 int, 1 serialise
 *           QUIT                          2 int, 1 system */
#include "x86_known.inc"

_start:
    mov $ITERS, %ecx
    mov $7, %ebx
    cvtsi2sd %ebx, %xmm0
    cvtsi2sd %ecx, %xmm1
1:
    add %ebx, %esi
    lea 3(%rsi, %rbx, 2), %rdi
    imul %rbx, %rdi
    xor %edx, %edx
    div %ebx
    addsd %xmm0, %xmm1
    subps %xmm3, %xmm4
    ucomisd %xmm0, %xmm1
    mulsd %xmm0, %xmm2
    divsd %xmm0, %xmm2
    sqrtsd %xmm1, %xmm2
    cvttsd2si %xmm1, %edi
    paddd %xmm5, %xmm6
    pshufd $0x1b, %xmm6, %xmm5
    pxor %xmm5, %xmm6
    pmulld %xmm5, %xmm6
    nop
    nopw 0(%rax, %rax)
    pause
    endbr64
    dec %ecx
    jnz 1b
    xor %eax, %eax
    cpuid
    QUIT
