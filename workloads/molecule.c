/* Adds up a force between all pairs of atoms nearer than a cutoff: differences of coordinates, a square root for the
 * distance, a few terms that depend on it. In a program that was compiled to follow IEEE 754, the compiler puts a quiet
 * comparison before each square root (a negative number has to set errno), and RISC-V has none: it saves the
 * floating-point flags, compares, and restores them. BOOM flushes its pipeline at both, so that no square root starts
 * before the one of the pair before is done with: the disease of SPEC's nab in the TEA paper, section 6. Built three
 * times: as it is, with -ffinite-math-only and with -ffast-math.
 *
 *   molecule [ATOMS]   atoms (default 200: 19900 pairs)
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 2000 };
static double x[MOST], y[MOST], z[MOST], charge[MOST];

/* All on a grid that is a bit out of shape, so that no two are in one place. */
__attribute__((noinline)) static void place(int atoms)
{
    for (int i = 0; i < atoms; i++) {
        x[i] = i % 7 + i * 0.001;
        y[i] = i / 7 % 7 + i * 0.002;
        z[i] = i / 49 + i * 0.003;
        charge[i] = i % 3 - 0.9;
    }
}

__attribute__((noinline)) static double energy(int atoms)
{
    double sum = 0;
    for (int i = 0; i < atoms; i++) {
        for (int j = 0; j < i; j++) {
            double dx = x[i] - x[j], dy = y[i] - y[j], dz = z[i] - z[j];
            double square = dx * dx + dy * dy + dz * dz;
            double distance = sqrt(square);
            double near = square + charge[i] * charge[j] * 0.25;
            sum += charge[i] * charge[j] * (20.0 - distance) + distance * 0.01 * near - near * near * 0.001;
        }
    }
    return sum;
}

int main(int argc, char **argv)
{
    int atoms = argc > 1 ? atoi(argv[1]) : 200;
    if (atoms < 2 || atoms > MOST) {
        fprintf(stderr, "molecule: %d atoms are none of 2 to %d\n", atoms, MOST);
        return 2;
    }
    place(atoms);
    printf("%g\n", energy(atoms));
    return 0;
}
