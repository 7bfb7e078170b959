/* Kernels of different character for the suite, one a run: RISC-V, statically linked. Each runs for some hundred
 * million instructions; the suite measures the first part of that. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 88172645463325252u;

static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* Dependent loads over 8 MiB: every step misses. */
static double chase(void)
{
    enum { N = 1 << 21 };
    uint32_t *next = malloc(N * sizeof *next), at = 0;
    for (uint32_t i = 0; i < N; i++)
        next[i] = i;
    for (uint32_t i = N - 1; i > 0; i--) { /* one cycle through all (Sattolo) */
        uint32_t j = (uint32_t)(next_random() % i), other = next[i];
        next[i] = next[j];
        next[j] = other;
    }
    for (int i = 0; i < 100000000; i++)
        at = next[at];
    return at;
}

/* a = b + s * c over arrays larger than the caches. */
static double stream(void)
{
    enum { N = 1 << 20 };
    double *a = calloc(N, sizeof *a), *b = calloc(N, sizeof *b), *c = calloc(N, sizeof *c);
    for (int round = 0; round < 50; round++)
        for (int i = 0; i < N; i++)
            a[i] = b[i] + 3.0 * c[i];
    return a[N / 2];
}

/* ceil and floor of the C library, which save and restore the floating-point flags. */
static double rounding(void)
{
    double sum = 0;
    for (int i = 0; i < 10000000; i++)
        sum += ceil(i * 0.37) + floor(i * 0.73);
    return sum;
}

static double matrix(void)
{
    enum { N = 96 };
    static double a[N][N], b[N][N], c[N][N];
    for (int i = 0; i < N * N; i++) {
        a[i / N][i % N] = i % 7;
        b[i / N][i % N] = i % 5;
    }
    for (int round = 0; round < 60; round++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                double sum = 0;
                for (int k = 0; k < N; k++)
                    sum += a[i][k] * b[k][j];
                c[i][j] += sum;
            }
    return c[3][4];
}

/* Branches that nobody can predict. */
static double branches(void)
{
    uint64_t odd = 0, even = 0;
    for (int i = 0; i < 30000000; i++) {
        if (next_random() & 1024)
            odd += seed;
        else
            even ^= seed;
    }
    return (double)(odd ^ even);
}

/* A lattice of five densities a cell, each step relaxing them and moving them on: arrays beyond the caches, much
 * floating point between a load and its use. */
static double lattice(void)
{
    enum { SIDE = 512, CELLS = SIDE * SIDE };
    double *from = calloc(5 * CELLS, sizeof *from), *to = calloc(5 * CELLS, sizeof *to);
    static const int step[5] = {0, 1, -1, SIDE, -SIDE};
    for (int i = 0; i < 5 * CELLS; i++)
        from[i] = 1.0 + i % 3;
    for (int round = 0; round < 30; round++) {
        for (int i = SIDE; i < CELLS - SIDE; i++) {
            double sum = 0;
            for (int k = 0; k < 5; k++)
                sum += from[5 * i + k];
            for (int k = 0; k < 5; k++)
                to[5 * (i + step[k]) + k] = from[5 * i + k] * 0.4 + sum * 0.12;
        }
        double *other = from;
        from = to;
        to = other;
    }
    return from[5 * CELLS / 2];
}

/* A sparse matrix of eight entries a row times a vector of 4 MiB: gathers all over it. */
static double sparse(void)
{
    enum { N = 1 << 19, A_ROW = 8 };
    uint32_t *column = malloc(N * A_ROW * sizeof *column);
    double *value = malloc(N * A_ROW * sizeof *value), *x = malloc(N * sizeof *x), *y = calloc(N, sizeof *y);
    for (int i = 0; i < N * A_ROW; i++) {
        column[i] = (uint32_t)(next_random() % N);
        value[i] = i % 9;
    }
    for (int i = 0; i < N; i++)
        x[i] = i % 11;
    for (int round = 0; round < 30; round++)
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int k = 0; k < A_ROW; k++)
                sum += value[i * A_ROW + k] * x[column[i * A_ROW + k]];
            y[i] += sum;
        }
    return y[N / 2];
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        double (*run)(void);
    } kernels[] = {{"chase", chase},     {"stream", stream},   {"ceil", rounding}, {"matrix", matrix},
                   {"branch", branches}, {"lattice", lattice}, {"sparse", sparse}};
    for (size_t i = 0; argc > 1 && i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(argv[1], kernels[i].name) == 0) {
            printf("%g\n", kernels[i].run());
            return 0;
        }
    fprintf(stderr, "usage: rv-kernels chase|stream|ceil|matrix|branch|lattice|sparse\n");
    return 2;
}
