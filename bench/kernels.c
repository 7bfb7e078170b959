/* The bench's own programs: CPU-bound, single-threaded, each with another kind of work, in one program with parameters.
 *
 *   kernels branches|memory|calls|fp ROUNDS
 *
 * A round is a few hundred thousand instructions. The result is printed, so that no work can be left out and two runs
 * can be compared. What stands behind each name:
 *   branches   integer work with branches that depend on pseudo-random data: searching, sorting, a small state machine
 *   memory     a walk through 12 MiB in random order, and sums and copies in it
 *   calls      recursion, and calls through a table of functions
 *   fp         products of matrices and an iteration in double precision
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 88172645463325252u;

static inline uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* ---- branches ---- */

enum { SORTED = 1024 };

static void sort(uint32_t *values, int n)
{
    for (int gap = n / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
        for (int i = gap; i < n; i++) {
            uint32_t value = values[i];
            int at = i;
            for (; at >= gap && values[at - gap] > value; at -= gap)
                values[at] = values[at - gap];
            values[at] = value;
        }
}

static uint32_t search(const uint32_t *values, int n, uint32_t wanted)
{
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (values[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)low;
}

static uint64_t run_branches(void)
{
    static uint32_t values[SORTED];
    uint64_t sum = 0;
    int state = 0;
    for (int i = 0; i < SORTED; i++)
        values[i] = (uint32_t)next_random();
    sort(values, SORTED);
    for (int i = 0; i < SORTED; i++) {
        uint64_t random = next_random();
        sum += search(values, SORTED, (uint32_t)random);
        switch (state + (int)(random >> 60 & 3)) {
        case 0:
            state = 1;
            break;
        case 1:
        case 5:
            state = 2;
            sum ^= random;
            break;
        case 3:
            state = random & 1 ? 3 : 0;
            break;
        default:
            state = (state + 1) % 4;
            sum += (uint64_t)state;
        }
    }
    return sum;
}

/* ---- memory ---- */

enum { PLACES = 1 << 20 };
static uint32_t *permutation; /* one cycle through all places */
static uint64_t *block;

static void make_memory(void)
{
    permutation = malloc(PLACES * sizeof *permutation);
    block = calloc(PLACES, sizeof *block);
    if (!permutation || !block)
        exit(1);
    for (uint32_t i = 0; i < PLACES; i++)
        permutation[i] = i;
    for (uint32_t i = PLACES - 1; i > 0; i--) {
        uint32_t other = (uint32_t)(next_random() % i), value = permutation[i];
        permutation[i] = permutation[other];
        permutation[other] = value;
    }
}

static uint64_t run_memory(void)
{
    static uint32_t place;
    uint64_t sum = 0;
    for (int i = 0; i < 20000; i++) {
        place = permutation[place];
        block[place] += place;
        sum += block[place ^ 1];
    }
    uint64_t *part = block + (next_random() % (PLACES / 32768)) * 32768;
    for (int i = 0; i < 16384; i++) {
        part[16384 + i] = part[i] + sum;
        sum += part[i];
    }
    return sum;
}

/* ---- calls ---- */

static __attribute__((noinline)) uint64_t fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

typedef uint64_t (*step)(uint64_t);
static __attribute__((noinline)) uint64_t step_add(uint64_t value)
{
    return value + 12345;
}
static __attribute__((noinline)) uint64_t step_mix(uint64_t value)
{
    return (value ^ value >> 9) * 5;
}
static __attribute__((noinline)) uint64_t step_turn(uint64_t value)
{
    return value << 7 | value >> 57;
}
static __attribute__((noinline)) uint64_t step_twice(uint64_t value)
{
    return step_add(step_turn(value));
}

static uint64_t run_calls(void)
{
    static const step steps[] = {step_add, step_mix, step_turn, step_twice};
    uint64_t value = fibonacci(19);
    for (int i = 0; i < 10000; i++)
        value = steps[value & 3](value);
    return value;
}

/* ---- floating point ---- */

enum { SIDE = 40 };

static double iterate(double x, double y)
{
    double a = 0, b = 0;
    int n = 0;
    for (; n < 200 && a * a + b * b < 4; n++) {
        double next = a * a - b * b + x;
        b = 2 * a * b + y;
        a = next;
    }
    return n + a / (1 + b * b);
}

static uint64_t run_fp(void)
{
    static double left[SIDE][SIDE], right[SIDE][SIDE], product[SIDE][SIDE];
    double sum = 0;
    for (int i = 0; i < SIDE * SIDE; i++) {
        left[i / SIDE][i % SIDE] = (double)(next_random() >> 40) / 16777216.0;
        right[i % SIDE][i / SIDE] = 1.0 / (1.0 + i);
    }
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            double cell = 0;
            for (int k = 0; k < SIDE; k++)
                cell += left[i][k] * right[k][j];
            product[i][j] = cell;
            sum += cell;
        }
    for (int i = 0; i < 100; i++)
        sum += iterate(product[i % SIDE][i / SIDE] - 1.5, left[i % SIDE][0] - 0.5);
    return (uint64_t)(sum * 1000);
}

struct kernel {
    const char *name;
    uint64_t (*run)(void);
    void (*prepare)(void);
};
static const struct kernel kernels[] = {
    {"branches", run_branches, NULL},
    {"memory", run_memory, make_memory},
    {"calls", run_calls, NULL},
    {"fp", run_fp, NULL},
};

int main(int argc, char **argv)
{
    uint64_t result = 0;
    for (size_t i = 0; argc == 3 && i < sizeof kernels / sizeof *kernels; i++) {
        if (strcmp(argv[1], kernels[i].name) != 0)
            continue;
        if (kernels[i].prepare)
            kernels[i].prepare();
        for (long round = atol(argv[2]); round > 0; round--)
            result = result * 31 + kernels[i].run();
        printf("%s %llu\n", argv[1], (unsigned long long)result);
        return 0;
    }
    fprintf(stderr, "usage: kernels branches|memory|calls|fp ROUNDS\n");
    return 2;
}
