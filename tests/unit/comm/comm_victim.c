/* A program with known answers for communication: main and a second thread pass a ball, a hundred times each. Whoever has the turn
 * adds one to the ball. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#if defined(__clang__) /* which makes no clones */
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone))
#endif

enum { ROUNDS = 100 };
extern volatile unsigned long ball[8];
void hit(void);
void play(unsigned side);

static _Alignas(64) atomic_uint turn;
_Alignas(64) volatile unsigned long ball[8];

APART void hit(void)
{
    ball[2]++;
}

APART void play(unsigned side)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        while (atomic_load(&turn) % 2 != side)
            sched_yield();
        hit();
        atomic_fetch_add(&turn, 1);
    }
}

static void *other(void *argument)
{
    play(1);
    return argument;
}

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, other, NULL) != 0)
        return 2;
    play(0);
    pthread_join(thread, NULL);
    return 0;
}
