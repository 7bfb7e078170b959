/* Counters of threads on the heap: what lies together is known.
 *
 *   array    all in one block, side by side: false sharing
 *   blocks   each in a block of its own, of which two are in a line: false sharing of neighbours
 *   padded   in one block, each on a line of its own: none
 *
 * Usage: heaps KIND [THREADS [ROUNDS]] (default 4 threads, 6000 rounds). It prints the sum of what was counted.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64, MAX_THREADS = 64 };

static uint64_t rounds = 6000;
static volatile uint64_t *counters[MAX_THREADS];
static pthread_barrier_t barrier;

static void *count(void *self)
{
    volatile uint64_t *counter = self;
    pthread_barrier_wait(&barrier);
    for (uint64_t i = 0; i < rounds; i++)
        (*counter)++;
    return NULL;
}

static void *zeroed(size_t bytes)
{
    void *memory = aligned_alloc(LINE, bytes);
    if (!memory)
        exit(1);
    return memset(memory, 0, bytes);
}

__attribute__((noinline)) static void make_array(size_t step)
{
    uint64_t *array = zeroed(MAX_THREADS * step);
    for (size_t i = 0; i < MAX_THREADS; i++)
        counters[i] = array + i * step / sizeof *array;
}

__attribute__((noinline)) static void make_blocks(void)
{
    for (size_t i = 0; i < MAX_THREADS; i++)
        if (!(counters[i] = calloc(1, sizeof *counters[i])))
            exit(1);
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";
    int threads = argc > 2 ? atoi(argv[2]) : 4;
    pthread_t ids[MAX_THREADS];
    uint64_t sum = 0;
    rounds = argc > 3 ? strtoull(argv[3], NULL, 10) : rounds;
    if (threads < 1 || threads > MAX_THREADS ||
        (strcmp(kind, "array") != 0 && strcmp(kind, "blocks") != 0 && strcmp(kind, "padded") != 0)) {
        fputs("usage: heaps array|blocks|padded [THREADS [ROUNDS]]\n", stderr);
        return 2;
    }
    if (strcmp(kind, "blocks") == 0)
        make_blocks();
    else
        make_array(strcmp(kind, "padded") == 0 ? LINE : sizeof(uint64_t));
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, count, (void *)counters[i]);
    for (int i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        sum += *counters[i];
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
