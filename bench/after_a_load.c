/* What a store takes behind a load of the same line, by what another core did with the line before: whether lines that are written migrate
 * (coherence.migratory, doc/design/coherence.md). Prints medians in cycles of the time stamp counter, less those of an own line.
 *
 *     after_a_load          needs two processors
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <x86intrin.h>

enum { ROUNDS = 20000, APART = 64, QUIET = 150 };
enum deed { NOTHING, WRITES, READS, DEEDS };
static const char *const names[DEEDS] = {"nothing", "wrote it", "read it"};

static _Alignas(4096) volatile uint64_t word, turns[2 * APART];
static uint64_t loads[ROUNDS], stores[ROUNDS];
static enum deed deed;

static void keep_to(int processor)
{
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(processor, &own);
    if (sched_setaffinity(0, sizeof own, &own) != 0)
        perror("after_a_load: a processor for each thread");
}

static uint64_t now(void)
{
    unsigned processor;
    _mm_lfence();
    uint64_t time = __rdtscp(&processor);
    _mm_lfence();
    return time;
}

static void *help(void *unused)
{
    (void)unused;
    keep_to(1);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        while (turns[0] != i)
            ;
        if (deed == WRITES)
            word = i;
        else if (deed == READS)
            (void)word;
        _mm_mfence();
        turns[APART] = i;
    }
    return NULL;
}

static void be_quiet(void)
{
    for (volatile int i = 0; i < QUIET; i++)
        ;
}

static int compare(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return (a > b) - (a < b);
}

static uint64_t median(uint64_t *times)
{
    qsort(times, ROUNDS, sizeof *times, compare);
    return times[ROUNDS / 2];
}

static void measure(void)
{
    pthread_t helper;
    turns[0] = turns[APART] = 0;
    pthread_create(&helper, NULL, help, NULL);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        turns[0] = i;
        while (turns[APART] != i)
            ;
        be_quiet();
        uint64_t from = now();
        (void)word;
        loads[i - 1] = now() - from;
        be_quiet();
        from = now();
        word = i;
        _mm_mfence();
        stores[i - 1] = now() - from;
    }
    pthread_join(helper, NULL);
}

int main(void)
{
    uint64_t own_load = 0, own_store = 0;
    keep_to(0);
    for (deed = NOTHING; deed < DEEDS; deed++) {
        measure();
        uint64_t load = median(loads), store = median(stores);
        own_load = deed == NOTHING ? load : own_load;
        own_store = deed == NOTHING ? store : own_store;
        printf("the other core %-9s load %+5lld, then store %+5lld\n", names[deed], (long long)(load - own_load),
               (long long)(store - own_store));
    }
    return 0;
}
