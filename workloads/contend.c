/* Threads that change one word at the same time, in a way that is known: how often its line moves follows from that.
 *
 *   plain   a load, an addition and a store, which other threads may come between
 *   add     an atomic addition whose result nobody looks at
 *   take    an atomic addition whose result decides
 *   cas     a load and a compare-and-swap, again until it succeeds
 *   far     the same, with a branch between the load and the compare-and-swap
 *   lock    a spin lock around an addition
 *
 * Usage: contend WAY [-t THREADS] [-n TIMES] [-b] (default 4, 10000; -b: no thread begins before all are there). Each thread
 * changes the word TIMES times. It prints what the word is in the end, the compare-and-swaps that failed, and on how many processors each thread
 * may run.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_THREADS = 64, LINE = 64, WORDS = LINE / 8 };

static _Alignas(LINE) _Atomic uint64_t word;
static _Alignas(LINE) _Atomic uint32_t lock;
static _Alignas(LINE) _Atomic uint64_t arrived;
static _Alignas(LINE) uint64_t failed[MAX_THREADS * WORDS]; /* one line apart */
static uint64_t thread_count = 4, times = 10000;
static int meets;
static _Atomic int processors = CPU_SETSIZE; /* the least that a thread may run on */

static uint64_t add_plainly(void)
{
    volatile uint64_t *plain = (volatile uint64_t *)&word;
    for (uint64_t i = 0; i < times; i++)
        *plain = *plain + 1;
    return 0;
}

static uint64_t add(void)
{
    for (uint64_t i = 0; i < times; i++)
        atomic_fetch_add_explicit(&word, 1, memory_order_relaxed);
    return 0;
}

static uint64_t take(void)
{
    for (uint64_t i = 0; i < times; i++)
        if (atomic_fetch_add_explicit(&word, 1, memory_order_relaxed) == UINT64_MAX)
            return 1; /* never */
    return 0;
}

static uint64_t swap(void)
{
    uint64_t again = 0;
    for (uint64_t i = 0; i < times; i++) {
        uint64_t seen = atomic_load_explicit(&word, memory_order_relaxed);
        while (!atomic_compare_exchange_strong_explicit(&word, &seen, seen + 1, memory_order_relaxed,
                                                        memory_order_relaxed))
            again++;
    }
    return again;
}

static uint64_t swap_far(void)
{
    uint64_t again = 0;
    for (uint64_t i = 0; i < times; i++) {
        uint64_t seen = atomic_load_explicit(&word, memory_order_relaxed);
        for (;;) {
            uint64_t next = seen + 1;
            if (next & 1)
                __asm__ volatile("" : "+r"(next));
            if (atomic_compare_exchange_strong_explicit(&word, &seen, next, memory_order_relaxed, memory_order_relaxed))
                break;
            again++;
        }
    }
    return again;
}

static uint64_t add_locked(void)
{
    for (uint64_t i = 0; i < times; i++) {
        while (atomic_exchange_explicit(&lock, 1, memory_order_acquire))
            while (atomic_load_explicit(&lock, memory_order_relaxed))
                ;
        *(volatile uint64_t *)&word += 1;
        atomic_store_explicit(&lock, 0, memory_order_release);
    }
    return 0;
}

static const struct way {
    const char *name;
    uint64_t (*work)(void);
} ways[] = {{"plain", add_plainly}, {"add", add},      {"take", take},
            {"cas", swap},          {"far", swap_far}, {"lock", add_locked}};
static const struct way *way;

static void count_processors(void)
{
    cpu_set_t own;
    int count = sched_getaffinity(0, sizeof own, &own) == 0 ? CPU_COUNT(&own) : 0, least = atomic_load(&processors);
    while (count < least && !atomic_compare_exchange_weak(&processors, &least, count))
        ;
}

static void *work(void *argument)
{
    atomic_fetch_add(&arrived, 1);
    while (meets && atomic_load_explicit(&arrived, memory_order_acquire) < thread_count)
        ;
    failed[(uintptr_t)argument * WORDS] = way->work();
    count_processors();
    return NULL;
}

static int parse(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof *ways; i++)
        if (strcmp(argv[1], ways[i].name) == 0)
            way = &ways[i];
    int option;
    optind = 2;
    while (way && (option = getopt(argc, argv, "t:n:b")) != -1) {
        if (option == 't')
            thread_count = strtoull(optarg, NULL, 10);
        else if (option == 'n')
            times = strtoull(optarg, NULL, 10);
        else if (option == 'b')
            meets = 1;
        else
            return 0;
    }
    return way && thread_count >= 1 && thread_count <= MAX_THREADS;
}

int main(int argc, char **argv)
{
    pthread_t threads[MAX_THREADS];
    uint64_t again = 0;
    if (!parse(argc, argv)) {
        fprintf(stderr, "usage: contend plain|add|take|cas|far|lock [-t THREADS] [-n TIMES] [-b]\n");
        return 2;
    }
    for (uint64_t i = 0; i < thread_count; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i) != 0) {
            perror("contend: pthread_create");
            return 1;
        }
    for (uint64_t i = 0; i < thread_count; i++) {
        pthread_join(threads[i], NULL);
        again += failed[i * WORDS];
    }
    printf("word %llu failed %llu processors %d\n", (unsigned long long)word, (unsigned long long)again, processors);
    return 0;
}
