/* Two threads that take turns, in a way that is known: who waits for whom by what.
 *
 *   spin     looks at a word until it says that it is this thread's turn, and writes it
 *   yield    … and lets others run between two looks
 *   atomic   … with an atomic load, and an atomic addition at the end of the turn
 *   mutex    takes a mutex to look, and again, until it is its turn
 *   condvar  waits on a condition variable
 *
 * Each thread has N turns, and takes a mutex once in each. `turn` and `guard` have lines of their own: the line of `turn` moves
 * 2N - 1 times, because each thread reads what the other wrote before it writes itself, and nobody reads the last one. In each turn the mutex
 * is this thread's alone, but for `mutex` and `condvar`, where threads also take it to look: 2N - 1 moves of its line, or more there.
 *
 * Usage: turns spin|yield|atomic|mutex|condvar [N [IDLE]] (default 50, and no idle threads). IDLE more threads sleep meanwhile.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };
static _Alignas(LINE) pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(LINE) volatile long turn;
static _Alignas(LINE) pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static _Alignas(LINE) long turns = 50;

static void use_guard(void)
{
    pthread_mutex_lock(&guard);
    pthread_mutex_unlock(&guard);
}

static void by_spin(long own)
{
    while (turn != own)
        ;
    use_guard();
    turn = !own;
}

static void by_yield(long own)
{
    while (turn != own)
        sched_yield();
    use_guard();
    turn = !own;
}

static void by_atomic(long own)
{
    _Atomic long *counter = (_Atomic long *)&turn;
    while (atomic_load_explicit(counter, memory_order_acquire) % 2 != own)
        ;
    use_guard();
    atomic_fetch_add_explicit(counter, 1, memory_order_release);
}

static void by_mutex(long own)
{
    for (bool done = false; !done; sched_yield()) {
        pthread_mutex_lock(&guard);
        done = turn == own;
        if (done)
            turn = !own;
        pthread_mutex_unlock(&guard);
    }
}

static void by_condvar(long own)
{
    pthread_mutex_lock(&guard);
    while (turn != own)
        pthread_cond_wait(&changed, &guard);
    turn = !own;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&guard);
}

static const struct {
    const char *name;
    void (*take)(long own);
} ways[] = {
    {"spin", by_spin}, {"yield", by_yield}, {"atomic", by_atomic}, {"mutex", by_mutex}, {"condvar", by_condvar}};
static void (*take)(long own);

static void *work(void *own)
{
    for (long i = 0; i < turns; i++)
        take((long)own);
    return NULL;
}

enum { MOST_IDLE = 1000 };
static pthread_barrier_t all_there, all_done;

static void *idle(void *unused)
{
    pthread_barrier_wait(&all_there);
    pthread_barrier_wait(&all_done);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2], idlers[MOST_IDLE];
    for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof *ways; i++)
        if (strcmp(argv[1], ways[i].name) == 0)
            take = ways[i].take;
    if (!take) {
        fprintf(stderr, "usage: turns spin|yield|atomic|mutex|condvar [N [IDLE]]\n");
        return 2;
    }
    turns = argc > 2 ? atol(argv[2]) : turns;
    long n_idle = argc > 3 ? atol(argv[3]) : 0;
    n_idle = n_idle < 0 ? 0 : n_idle > MOST_IDLE ? MOST_IDLE : n_idle;
    pthread_barrier_init(&all_there, NULL, (unsigned)n_idle + 1);
    pthread_barrier_init(&all_done, NULL, (unsigned)n_idle + 1);
    for (long i = 0; i < n_idle; i++)
        pthread_create(&idlers[i], NULL, idle, NULL);
    pthread_barrier_wait(&all_there);
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_wait(&all_done);
    for (long i = 0; i < n_idle; i++)
        pthread_join(idlers[i], NULL);
    return 0;
}
