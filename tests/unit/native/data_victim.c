/* A program whose accesses to each of its objects are known: `data_victim WHAT N`, N rounds of
 *
 *   stream   a twice, b and c once each: 50, 25 and 25 %
 *   regions  the heap three times, the stack once: 75 and 25 %
 *   chase    a list in `nodes` twice a step, `tally` once, at an index that was just loaded: 67 and 33 %
 *   ways     the same list, then `odd` or `even` by a value that was just loaded: 67, 17 and 17 %
 *   threads  stream in four threads
 *   all      stream, regions, chase and ways in turn
 *
 * Each works in a function of its name. N 1 is some 50,000 accesses.
 */
#include "apart.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 4096 };

struct node {
    uint32_t next, value;
};

uint64_t a[2 * SIZE], b[SIZE], c[SIZE];
struct node nodes[SIZE];
uint32_t tally[SIZE], odd[SIZE], even[SIZE];

UNIT_APART static void stream(long n)
{
    while (n--)
        for (size_t i = 0; i < SIZE; i++)
            c[i] = a[2 * i] + a[2 * i + 1] + b[i];
}

UNIT_APART static void regions(long n, const uint64_t *heap)
{
    uint64_t local[SIZE];
    while (n--)
        for (size_t i = 0; i < SIZE; i++) {
            local[i] = heap[i] + heap[i + SIZE] + heap[i + 2 * SIZE];
            __asm__ volatile("" : : "r"(local) : "memory");
        }
}

/* The list is a permutation with one cycle, so every node comes up equally often. */
static void link_nodes(void)
{
    uint32_t order[SIZE];
    uint64_t random = 1;
    for (uint32_t i = 0; i < SIZE; i++)
        order[i] = i;
    for (uint32_t i = SIZE - 1; i > 0; i--) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint32_t j = (uint32_t)(random >> 33) % i, swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    for (uint32_t i = 0; i < SIZE; i++)
        nodes[order[i]] = (struct node){order[(i + 1) % SIZE], order[SIZE - 1 - i]};
}

UNIT_APART static uint32_t chase(long n)
{
    uint32_t at = 0;
    for (n *= SIZE; n--;) {
        tally[nodes[at].value]++;
        at = nodes[at].next;
    }
    return at;
}

UNIT_APART static uint32_t ways(long n)
{
    uint32_t at = 0;
    for (n *= SIZE; n--;) {
        uint32_t value = nodes[at].value;
        __asm__ volatile("" : "+r"(value)); /* a branch, not a choice between two addresses */
        if (value & 1) {
            odd[value]++;
            __asm__ volatile("nop");
        } else {
            even[value]++;
            __asm__ volatile("nop; nop");
        }
        at = nodes[at].next;
    }
    return at;
}

static void *stream_thread(void *n)
{
    stream((long)(intptr_t)n);
    return NULL;
}

static void run_threads(long n)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, stream_thread, (void *)(intptr_t)n) != 0)
            exit(1);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    long n = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    bool all = strcmp(what, "all") == 0;
    uint64_t *heap = malloc(3 * SIZE * sizeof *heap);
    if (!heap || n <= 0)
        return fprintf(stderr, "usage: data_victim stream|regions|chase|ways|threads|all N\n"), 2;
    memset(heap, 1, 3 * SIZE * sizeof *heap);
    link_nodes();
    for (long i = 0; i < (all ? n : 1); i++) {
        long rounds = all ? 1 : n;
        if (all || strcmp(what, "stream") == 0)
            stream(rounds);
        if (all || strcmp(what, "regions") == 0)
            regions(rounds, heap);
        if (all || strcmp(what, "chase") == 0)
            chase(rounds);
        if (all || strcmp(what, "ways") == 0)
            ways(rounds);
    }
    if (strcmp(what, "threads") == 0)
        run_threads(n);
    free(heap);
    return 0;
}
