/* ITERS times one instruction of each kind of unit, all between registers.
 *
 *   before  LI32 li fcvt fcvt             3 int, 2 fp_convert
 *   loop    add slli addw lui             4 int
 *           mul mulh                      2 mul
 *           divu rem                      2 div
 *           fadd fsub feq fmax            4 fp_add
 *           fmul                          1 fp_mul
 *           fmadd fnmsub                  2 fp_fma
 *           fdiv                          1 fp_div
 *           fsqrt                         1 fp_sqrt
 *           fcvt fcvt                     2 fp_convert
 *           fsgnj fmv fclass              3 fp_other
 *           nop                           1 nop
 *           addi bnez                     1 int, 1 branch taken but for the last time
 *   after   QUIT                          2 int, 1 system */
#include "rv_known.inc"

_start:
    LI32 a3, ITERS
    li a1, 7
    fcvt.d.w fa0, a1
    fcvt.s.l fa1, a3
1:
    add a2, a2, a1
    slli a2, a2, 1
    addw a4, a2, a1
    lui a5, 0x12345
    mul a4, a4, a1
    mulh a5, a4, a5
    divu a4, a4, a1
    rem a5, a5, a1
    fadd.d fa2, fa0, fa0
    fsub.s fa3, fa1, fa1
    feq.d a5, fa0, fa2
    fmax.d fa4, fa0, fa2
    fmul.d fa4, fa0, fa2
    fmadd.d fa4, fa0, fa2, fa4
    fnmsub.s fa5, fa1, fa3, fa1
    fdiv.d fa4, fa4, fa0
    fsqrt.d fa4, fa0
    fcvt.s.d fa5, fa0
    fcvt.w.d a5, fa0
    fsgnj.d fa4, fa0, fa2
    fmv.x.d a5, fa0
    fclass.d a5, fa0
    nop
    addi a3, a3, -1
    bnez a3, 1b
    QUIT
