/* A lattice-Boltzmann fluid (D3Q19): in each step every cell reads its nineteen numbers, lets them collide and writes
 * one to each neighbour. Both grids are larger than the last-level cache of boom-tea (4.4 MB, 2 MB), and a cell's
 * arithmetic fills the core's queues, so that the loads of the next cell start too late: the disease of SPEC's lbm in
 * the TEA paper, section 6. The cell that comes AHEAD cells later can be prefetched, all three of its lines.
 *
 *   lattice [AHEAD [STEPS]]   cells to prefetch ahead (default 0: none), steps of the fluid (default 1)
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 48, HEIGHT = 48, DEPTH = 10, ROW = WIDTH, PLANE = WIDTH * HEIGHT, CELLS = PLANE * DEPTH };
enum { NUMBERS = 20 }; /* of a cell: nineteen directions and one unused, 160 bytes */
enum { EDGE = PLANE + ROW, LINE = 64 / sizeof(double), PAGE = 4096 / sizeof(double) };

static double grids[2][(CELLS + 2 * EDGE) * NUMBERS] __attribute__((aligned(4096)));

static inline void prefetch(const double *line)
{
#ifdef __riscv
    __asm__ volatile(".option push\n\t.option arch, +zicbop\n\tprefetch.r 0(%0)\n\t.option pop" : : "r"(line));
#else
    __builtin_prefetch(line);
#endif
}

static inline void prefetch_cell(const double *cell)
{
    prefetch(cell);
    prefetch(cell + LINE);
    prefetch(cell + 2 * LINE);
}

/* What a pair of opposite directions becomes: `along` is the velocity in its direction. */
#define COLLIDE(at, x, y, z, opposite, weight, along)                                                                  \
    do {                                                                                                               \
        double u = (along), even = (weight)*density * (still + 4.5 * u * u), odd = (weight)*density * 3.0 * u;         \
        to[(at) + ((x) + (y)*ROW + (z)*PLANE) * NUMBERS] = keep * from[at] + omega * (even + odd);                     \
        to[(opposite) - ((x) + (y)*ROW + (z)*PLANE) * NUMBERS] = keep * from[opposite] + omega * (even - odd);         \
    } while (0)

/* Sums are written in pairs, so that what follows the loads is many short chains. */
__attribute__((always_inline)) static inline void step_cell(const double *restrict from, double *restrict to)
{
    const double omega = 1.85, keep = 1.0 - omega;
    double ne = from[7] - from[8], nw = from[9] - from[10], te = from[11] - from[12], be = from[13] - from[14];
    double tn = from[15] - from[16], bn = from[17] - from[18];
    double density =
        from[0] + (((from[1] + from[2]) + (from[3] + from[4])) + ((from[5] + from[6]) + (from[7] + from[8]))) +
        (((from[9] + from[10]) + (from[11] + from[12])) + ((from[13] + from[14]) + (from[15] + from[16]))) +
        (from[17] + from[18]);
    double x = ((from[1] - from[2]) + (ne + nw)) + (te + be), y = ((from[3] - from[4]) + (ne - nw)) + (tn + bn),
           z = ((from[5] - from[6]) + (te - be)) + (tn - bn);
    double still = 1.0 - 1.5 * (x * x + y * y + z * z);
    to[0] = keep * from[0] + omega * density * still * (1.0 / 3);
    COLLIDE(1, 1, 0, 0, 2, 1.0 / 18, x);
    COLLIDE(3, 0, 1, 0, 4, 1.0 / 18, y);
    COLLIDE(5, 0, 0, 1, 6, 1.0 / 18, z);
    COLLIDE(7, 1, 1, 0, 8, 1.0 / 36, x + y);
    COLLIDE(9, 1, -1, 0, 10, 1.0 / 36, x - y);
    COLLIDE(11, 1, 0, 1, 12, 1.0 / 36, x + z);
    COLLIDE(13, 1, 0, -1, 14, 1.0 / 36, x - z);
    COLLIDE(15, 0, 1, 1, 16, 1.0 / 36, y + z);
    COLLIDE(17, 0, 1, -1, 18, 1.0 / 36, y - z);
}

__attribute__((noinline)) static void stream(const double *from, double *to)
{
    for (long cell = 0; cell < CELLS; cell++, from += NUMBERS, to += NUMBERS)
        step_cell(from, to);
}

__attribute__((noinline)) static void stream_ahead(const double *from, double *to, long ahead)
{
    for (long cell = 0; cell < CELLS; cell++, from += NUMBERS, to += NUMBERS) {
        prefetch_cell(from + ahead * NUMBERS);
        step_cell(from, to);
    }
}

/* A drop in an empty space; the rest of the pages are touched, so that no step meets a page fault. */
__attribute__((noinline)) static void fill(void)
{
    for (size_t i = 0; i < sizeof grids[0] / sizeof(double); i += PAGE)
        grids[0][i] = grids[1][i] = 0;
    for (int i = 0; i < 19; i++)
        grids[0][(EDGE + CELLS / 2) * NUMBERS + i] = 0.05;
}

int main(int argc, char **argv)
{
    long ahead = argc > 1 ? atol(argv[1]) : 0, steps = argc > 2 ? atol(argv[2]) : 1;
    if (ahead < 0 || ahead > EDGE) {
        fprintf(stderr, "lattice: %ld cells ahead is none of 0 to %d\n", ahead, EDGE);
        return 2;
    }
    fill();
    for (long step = 0; step < steps; step++) {
        const double *from = grids[step & 1] + EDGE * NUMBERS;
        double *to = grids[~step & 1] + EDGE * NUMBERS;
        if (ahead)
            stream_ahead(from, to, ahead);
        else
            stream(from, to);
    }
    printf("%g\n", grids[steps & 1][(EDGE + CELLS / 2) * NUMBERS]);
    return 0;
}
