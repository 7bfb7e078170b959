/* Threads that share: a parallel program with parameters, whose result is known.
 *
 * Each thread works in ROUNDS rounds with a barrier after each. In a round it adds WORK times to
 *   - its own counter, padded to its own cache line (no sharing),
 *   - its own counter beside the others' in one line (false sharing),
 *   - one atomic counter of all (true sharing),
 *   - one counter under a lock (true sharing, and waiting), every 16th time.
 *
 * Usage: threads [-t THREADS] [-w WORK] [-r ROUNDS] (default 4 1000 10). It prints the totals and fails when one is
 * not what it must be.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_THREADS = 64, LINE = 64, LOCK_EVERY = 16 };

struct padded {
    _Alignas(LINE) volatile uint64_t count;
};

static struct padded own[MAX_THREADS];
static _Alignas(LINE) volatile uint64_t adjacent[MAX_THREADS];
static _Alignas(LINE) uint64_t shared;
static _Alignas(LINE) uint64_t locked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static uint64_t work = 1000, rounds = 10, thread_count = 4;

static void work_round(size_t self)
{
    for (uint64_t i = 0; i < work; i++) {
        own[self].count++;
        adjacent[self]++;
        __atomic_fetch_add(&shared, 1, __ATOMIC_SEQ_CST);
        if (i % LOCK_EVERY == 0) {
            pthread_mutex_lock(&lock);
            locked++;
            pthread_mutex_unlock(&lock);
        }
    }
}

static void *work_all(void *argument)
{
    for (uint64_t round = 0; round < rounds; round++) {
        work_round((size_t)(uintptr_t)argument);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static uint64_t number(const char *text, uint64_t low, uint64_t high)
{
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    if (end == text || *end || value < low || value > high) {
        fprintf(stderr, "threads: %s is not a number from %llu to %llu\n", text, (unsigned long long)low,
                (unsigned long long)high);
        exit(2);
    }
    return value;
}

static void read_options(int argc, char **argv)
{
    int option;
    while ((option = getopt(argc, argv, "t:w:r:")) != -1) {
        if (option == 't') {
            thread_count = number(optarg, 1, MAX_THREADS);
        } else if (option == 'w') {
            work = number(optarg, 0, UINT32_MAX);
        } else if (option == 'r') {
            rounds = number(optarg, 0, UINT32_MAX);
        } else {
            fprintf(stderr, "usage: threads [-t THREADS] [-w WORK] [-r ROUNDS]\n");
            exit(2);
        }
    }
}

static void run_threads(void)
{
    pthread_t threads[MAX_THREADS];
    for (uint64_t i = 0; i < thread_count; i++) {
        if (pthread_create(&threads[i], NULL, work_all, (void *)(uintptr_t)i) != 0) {
            perror("threads: pthread_create");
            exit(1);
        }
    }
    for (uint64_t i = 0; i < thread_count; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    pthread_barrier_init(&barrier, NULL, (unsigned)thread_count);
    run_threads();
    uint64_t owned = 0, side_by_side = 0;
    for (uint64_t i = 0; i < thread_count; i++) {
        owned += own[i].count;
        side_by_side += adjacent[i];
    }
    uint64_t total = thread_count * rounds * work;
    uint64_t total_locked = thread_count * rounds * ((work + LOCK_EVERY - 1) / LOCK_EVERY);
    printf("own %llu adjacent %llu shared %llu locked %llu\n", (unsigned long long)owned,
           (unsigned long long)side_by_side, (unsigned long long)shared, (unsigned long long)locked);
    return owned == total && side_by_side == total && shared == total && locked == total_locked ? 0 : 1;
}
