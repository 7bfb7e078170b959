/* Threads and lines: what they share is known.
 *
 *   pingpong   two threads hand one word to and fro: true sharing, a line moves twice in each round
 *   counters   each thread adds to its own counter, all in one line: false sharing
 *   padded     … each in a line of its own: none
 *   readonly   all threads read one table: none that anybody wrote meanwhile
 *   sync       a mutex, a condition variable, a spin lock and an atomic counter, one after the other
 *   work       threads take ROUNDS pieces of work one by one, each under one mutex: they seldom wait for it, so they take a THREADS-th
 *              of the time of one thread
 *
 * Usage: lines KIND [THREADS [ROUNDS]] (default 2 threads, 2000 rounds). It prints the sum of what was counted.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64, MAX_THREADS = 64, TABLE = 512, PIECE = 200 };

_Alignas(LINE) volatile uint64_t ball;
_Alignas(LINE) volatile uint64_t counters[MAX_THREADS];
struct padded {
    _Alignas(LINE) volatile uint64_t count;
};
struct padded padded[MAX_THREADS];
_Alignas(LINE) uint64_t table[TABLE];
_Alignas(LINE) uint64_t sum;
_Alignas(LINE) uint64_t guarded;
_Alignas(LINE) uint32_t spin;

static uint64_t rounds = 2000;
static uint32_t threads = 2;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static uint64_t turn;

static void pingpong(uint64_t self)
{
    for (uint64_t i = 0; self < 2 && i < rounds; i++) {
        while (ball % 2 != self)
            ;
        ball = ball + 1;
    }
}

static void count_beside_others(uint64_t self)
{
    for (uint64_t i = 0; i < rounds; i++)
        counters[self]++;
}

static void count_apart(uint64_t self)
{
    for (uint64_t i = 0; i < rounds; i++)
        padded[self].count++;
}

static void read_all(uint64_t self)
{
    uint64_t found = 0;
    for (uint64_t i = 0; i < rounds; i++)
        found += ((volatile uint64_t *)table)[i % TABLE];
    padded[self].count = found;
}

static void take_turn(uint64_t self)
{
    pthread_mutex_lock(&mutex);
    while (turn % threads != self)
        pthread_cond_wait(&turned, &mutex);
    turn++;
    pthread_cond_broadcast(&turned);
    pthread_mutex_unlock(&mutex);
}

static void synchronise(uint64_t self)
{
    for (uint64_t i = 0; i < rounds; i++) {
        while (__atomic_exchange_n(&spin, 1, __ATOMIC_ACQUIRE))
            ;
        guarded++;
        __atomic_store_n(&spin, 0, __ATOMIC_RELEASE);
        __atomic_fetch_add(&sum, 1, __ATOMIC_SEQ_CST);
        if (i % 64 == 0)
            take_turn(self);
    }
}

static uint64_t take_piece(void)
{
    pthread_mutex_lock(&mutex);
    uint64_t piece = turn++;
    pthread_mutex_unlock(&mutex);
    return piece;
}

static void work(uint64_t self)
{
    while (take_piece() < rounds)
        for (uint64_t i = 0; i < PIECE; i++)
            padded[self].count++;
}

static const struct {
    const char *name;
    void (*run)(uint64_t self);
} kinds[] = {{"pingpong", pingpong},  {"counters", count_beside_others},
             {"padded", count_apart}, {"readonly", read_all},
             {"sync", synchronise},   {"work", work}};

static void (*chosen)(uint64_t self);
static pthread_barrier_t barrier;

static void *start(void *self)
{
    pthread_barrier_wait(&barrier);
    chosen((uint64_t)(uintptr_t)self);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t ids[MAX_THREADS];
    for (size_t i = 0; argc > 1 && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(argv[1], kinds[i].name) == 0)
            chosen = kinds[i].run;
    threads = argc > 2 ? (uint32_t)atoi(argv[2]) : threads;
    rounds = argc > 3 ? strtoull(argv[3], NULL, 10) : rounds;
    if (!chosen || threads < 1 || threads > MAX_THREADS) {
        fprintf(stderr, "usage: lines pingpong|counters|padded|readonly|sync|work [THREADS [ROUNDS]]\n");
        return 2;
    }
    for (uint64_t i = 0; i < TABLE; i++)
        table[i] = i;
    pthread_barrier_init(&barrier, NULL, threads);
    for (uint64_t i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, start, (void *)(uintptr_t)i);
    for (uint32_t i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    uint64_t total = ball + sum + guarded;
    for (uint32_t i = 0; i < threads; i++)
        total += counters[i] + padded[i].count;
    printf("%llu\n", (unsigned long long)total);
    return 0;
}
