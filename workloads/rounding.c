/* Rounds numbers up and down the way the C library does on RISC-V: with the floating-point flags saved before and
 * restored after, so that rounding leaves no trace in them. BOOM flushes its pipeline at both. Built twice: as it is,
 * and with KEEP_FLAGS=0, where nops stand in place of the two instructions. This is the disease of SPEC's imagick in
 * the TIP paper, section 6. RISC-V only.
 *
 *   rounding [ROUNDS]   thousands of pairs of ceil and floor (default 300)
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef KEEP_FLAGS
#define KEEP_FLAGS 1
#endif
#if KEEP_FLAGS
#define SAVE_FLAGS "frflags %[flags]\n\t"
#define RESTORE_FLAGS "fsflags %[flags]\n\t"
#else
/* As long as what they stand for, so that all other code stays where it is. */
#define LONG_NOP ".option push\n\t.option norvc\n\tnop\n\t.option pop\n\t"
#define SAVE_FLAGS LONG_NOP
#define RESTORE_FLAGS LONG_NOP
#endif

#define ROUND(mode, x)                                                                                                 \
    __asm__ volatile(SAVE_FLAGS "fcvt.l.d %[whole], %[value], " mode "\n\t"                                            \
                                "fcvt.d.l %[value], %[whole]\n\t" RESTORE_FLAGS                                        \
                     : [value] "+f"(x), [whole] "=&r"(whole), [flags] "=&r"(flags))

__attribute__((noinline)) static double round_up(double x)
{
    uint64_t whole, flags = 0;
    if (x < 4503599627370496.0 && x > -4503599627370496.0)
        ROUND("rup", x);
    return x;
}

__attribute__((noinline)) static double round_down(double x)
{
    uint64_t whole, flags = 0;
    if (x < 4503599627370496.0 && x > -4503599627370496.0)
        ROUND("rdn", x);
    return x;
}

/* What an image filter does around it: weights of a window, independent of each other. */
__attribute__((noinline)) static double shift_pixels(int n)
{
    double sum = 0, weight = 1;
    for (int i = 0; i < n; i++) {
        double x = i * 0.37, y = i * 0.73;
        sum += round_up(x) * 0.5 + round_down(y) * 0.25 + (x - y) * weight;
        weight = weight * 0.999 + 0.001;
    }
    return sum;
}

int main(int argc, char **argv)
{
    int thousands = argc > 1 ? atoi(argv[1]) : 300;
    printf("%g\n", shift_pixels(thousands * 1000));
    return 0;
}
