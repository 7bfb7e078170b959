/* Threads that each change a word N times: on lines of their own, or side by side on one line. What a machine takes for that is what
 * coherence.hold and the atomics of a modelled core are held against (bench/contended.py, doc/design/coherence.md).
 *
 *     contended WAY PLACE N [THREADS]
 *
 * WAY is add, lock (lock add), xchg, cas (a load and a compare-and-swap), store, or turns: threads 0 and 1 change one word in turns. PLACE is
 * apart, beside or same. With NATIVE in the environment each thread keeps to a processor, and the cycles of a change are printed: a cycle is a
 * step of a chain of additions. In the model the cycles are Assay's to count.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 8, WORDS = 8, CALIBRATION = 4000000 };

static _Alignas(4096) uint64_t words[MOST * 4 * WORDS];
static int n_threads = 2, apart;
static long rounds;
static void (*change)(uint64_t *word, uint64_t self);
static double nanoseconds[MOST];
static pthread_barrier_t start;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Additions of a register: those of a small constant take no time of their own on Golden Cove, which adds them up when it renames. */
static double measure_cycle(void)
{
    uint64_t x = 0, y = 1;
    double from = now();
    for (uint64_t i = 0; i < CALIBRATION; i++)
        __asm__ volatile("add %1, %0\n\tadd %1, %0\n\tadd %1, %0\n\tadd %1, %0" : "+r"(x) : "r"(y));
    return (now() - from) / CALIBRATION / 4;
}

static void add(uint64_t *word, uint64_t self)
{
    for (long i = 0; i < rounds; i++)
        __asm__ volatile("addq $1, (%0)" : : "r"(word) : "memory");
}

static void lock(uint64_t *word, uint64_t self)
{
    for (long i = 0; i < rounds; i++)
        __asm__ volatile("lock addq $1, (%0)" : : "r"(word) : "memory");
}

static void exchange(uint64_t *word, uint64_t self)
{
    for (long i = 0; i < rounds; i++)
        __asm__ volatile("xchgq %1, (%0)" : : "r"(word), "r"(self) : "memory");
}

static void compare_and_swap(uint64_t *word, uint64_t self)
{
    for (long i = 0; i < rounds; i++) {
        uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(word, &old, old + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            ;
    }
}

static void store(uint64_t *word, uint64_t self)
{
    for (long i = 0; i < rounds; i++)
        __asm__ volatile("movq %1, (%0)" : : "r"(word), "r"(self) : "memory");
}

static void take_turns(uint64_t *word, uint64_t self)
{
    for (long i = 0; i < rounds; i++) {
        while (__atomic_load_n(words, __ATOMIC_ACQUIRE) % 2 != self)
            ;
        __atomic_store_n(words, words[0] + 1, __ATOMIC_RELEASE);
    }
}

static const struct {
    const char *name;
    void (*change)(uint64_t *word, uint64_t self);
} ways[] = {{"add", add},     {"lock", lock},       {"xchg", exchange}, {"cas", compare_and_swap},
            {"store", store}, {"turns", take_turns}};

static void *run(void *argument)
{
    uintptr_t self = (uintptr_t)argument;
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(self, &own);
    if (getenv("NATIVE") && sched_setaffinity(0, sizeof own, &own) != 0)
        perror("contended: a processor for each thread");
    pthread_barrier_wait(&start);
    double from = now();
    change(&words[self * (uintptr_t)apart], self);
    nanoseconds[self] = now() - from;
    return NULL;
}

static void print_cycles(double cycle)
{
    double sum = 0;
    for (int i = 0; i < n_threads; i++)
        sum += nanoseconds[i] / (double)rounds / cycle;
    printf("%.2f\n", sum / n_threads);
}

int main(int argc, char **argv)
{
    pthread_t threads[MOST];
    for (size_t i = 0; argc > 3 && i < sizeof ways / sizeof *ways; i++)
        if (!strcmp(argv[1], ways[i].name))
            change = ways[i].change;
    n_threads = argc > 4 ? atoi(argv[4]) : 2;
    if (!change || n_threads < 1 || n_threads > MOST)
        return fputs("usage: contended add|lock|xchg|cas|store|turns apart|beside|same N [THREADS]\n", stderr), 2;
    rounds = atol(argv[3]);
    apart = !strcmp(argv[2], "apart") ? 4 * WORDS : !strcmp(argv[2], "beside");
    pthread_barrier_init(&start, NULL, (unsigned)n_threads);
    double cycle = getenv("NATIVE") ? measure_cycle() : 1;
    for (intptr_t i = 1; i < n_threads; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    run(NULL);
    for (int i = 1; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    if (getenv("NATIVE"))
        print_cycles(cycle);
    return 0;
}
