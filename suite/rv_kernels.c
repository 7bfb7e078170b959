/* Kernels of different character for the suite, one a run: RISC-V, statically linked. */
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

/* Dependent loads over 16 MiB: every step misses. */
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
    for (int i = 0; i < 2000000; i++)
        at = next[at];
    return at;
}

/* a = b + s * c over arrays larger than the caches. */
static double stream(void)
{
    enum { N = 1 << 20 };
    double *a = calloc(N, sizeof *a), *b = calloc(N, sizeof *b), *c = calloc(N, sizeof *c);
    for (int round = 0; round < 4; round++)
        for (int i = 0; i < N; i++)
            a[i] = b[i] + 3.0 * c[i];
    return a[N / 2];
}

/* ceil and floor of the C library, which save and restore the floating-point flags. */
static double rounding(void)
{
    double sum = 0;
    for (int i = 0; i < 1000000; i++)
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
    for (int round = 0; round < 4; round++)
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
    for (int i = 0; i < 3000000; i++) {
        if (next_random() & 1024)
            odd += seed;
        else
            even ^= seed;
    }
    return (double)(odd ^ even);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        double (*run)(void);
    } kernels[] = {{"chase", chase}, {"stream", stream}, {"ceil", rounding}, {"matrix", matrix}, {"branch", branches}};
    for (size_t i = 0; argc > 1 && i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(argv[1], kernels[i].name) == 0) {
            printf("%g\n", kernels[i].run());
            return 0;
        }
    fprintf(stderr, "usage: rv-kernels chase|stream|ceil|matrix|branch\n");
    return 2;
}
