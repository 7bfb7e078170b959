/* Reuses at five distances, with invalidations between threads: a program whose histogram is known in advance.
 *
 * usage: ribench THREADS OUTER INV A A1 B B1 C C1 D D1 E E1
 *
 * Each thread does OUTER times: A times (INV stores to an array that all threads share, then a walk over its own first
 * array: A1 accesses, a load and a store in turn), then B times the same with B1 accesses of its second array, and so on.
 * Elements have 8 bytes. The time distance of a reuse in the i-th array is INV plus its size, less one; there are
 * OUTER * A * A1 of them less the first round, for each thread. Stores to the shared array invalidate those of the other
 * threads as long as the threads keep pace and come to an element in the same order each time; nothing makes them. So that
 * neither hangs on single instructions, threads begin a part of the shortest turn apart, as those of a parallel region do
 * anyway: side by side, the last of a turn is often the first of the next one, and finds its own store. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAYS = 5, MOST_THREADS = 256 };

struct plan {
    long threads, outer, inv, turns[ARRAYS], sizes[ARRAYS];
};

static struct plan plan;
static uint64_t *shared;
static pthread_barrier_t all;

static void walk_shared(uint64_t *array, long n)
{
    for (long k = 0; k < n; k++)
        *(volatile uint64_t *)&array[k] = (uint64_t)k;
}

static void walk_own(uint64_t *array, long n)
{
    for (long k = 0; k + 1 < n; k += 2) {
        uint64_t value = *(volatile uint64_t *)&array[k];
        *(volatile uint64_t *)&array[k + 1] = value;
    }
}

/* Accesses of a turn. */
static long shortest_turn(void)
{
    long shortest = 0;
    for (int i = 0; i < ARRAYS; i++)
        if (plan.turns[i] && (!shortest || plan.inv + plan.sizes[i] < shortest))
            shortest = plan.inv + plan.sizes[i];
    return shortest;
}

/* Without accesses; two rounds take about as long as one store to the shared array. It is part of the work, so that what is measured from
 * its beginning on knows of it. */
static void hold_back(long rounds)
{
    for (long i = 0; i < rounds; i++)
        __asm__ volatile("");
}

__attribute__((noinline)) static void work(uint64_t *const arrays[ARRAYS], long behind)
{
    hold_back(behind);
    for (long outer = 0; outer < plan.outer; outer++)
        for (int i = 0; i < ARRAYS; i++)
            for (long turn = 0; turn < plan.turns[i]; turn++) {
                walk_shared(shared, plan.inv);
                walk_own(arrays[i], plan.sizes[i]);
            }
}

static void *run(void *number)
{
    uint64_t *arrays[ARRAYS];
    for (int i = 0; i < ARRAYS; i++)
        arrays[i] = calloc((size_t)plan.sizes[i] + 1, sizeof **arrays);
    long behind = 2 * shortest_turn() / plan.threads * (long)(intptr_t)number;
    pthread_barrier_wait(&all);
    work(arrays, behind);
    for (int i = 0; i < ARRAYS; i++)
        free(arrays[i]);
    return NULL;
}

static long number(const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (*end || end == text || n < 0 || n > 100000000) {
        fprintf(stderr, "ribench: '%s' is not a number from 0 to 100000000\n", text);
        exit(2);
    }
    return n;
}

int main(int argc, char **argv)
{
    pthread_t threads[MOST_THREADS];
    if (argc != 4 + 2 * ARRAYS) {
        fprintf(stderr, "usage: ribench THREADS OUTER INV A A1 B B1 C C1 D D1 E E1\n");
        return 2;
    }
    long n = plan.threads = number(argv[1]);
    plan.outer = number(argv[2]);
    plan.inv = number(argv[3]);
    for (int i = 0; i < ARRAYS; i++) {
        plan.turns[i] = number(argv[4 + 2 * i]);
        plan.sizes[i] = number(argv[5 + 2 * i]);
    }
    if (n < 1 || n > MOST_THREADS) {
        fprintf(stderr, "ribench: 1 to %d threads\n", MOST_THREADS);
        return 2;
    }
    shared = calloc((size_t)plan.inv + 1, sizeof *shared);
    pthread_barrier_init(&all, NULL, (unsigned)n);
    for (long i = 1; i < n; i++)
        if (pthread_create(&threads[i], NULL, run, (void *)(intptr_t)i)) {
            fprintf(stderr, "ribench: cannot create thread %ld\n", i);
            return 1;
        }
    run(NULL);
    for (long i = 1; i < n; i++)
        pthread_join(threads[i], NULL);
    free(shared);
    return 0;
}
