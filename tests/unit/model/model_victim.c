/* A program with known answers for the model: main calls work a thousand times through a pointer, and work calls leaf
 * twice; leaf runs a division. With an argument, a second thread does the same. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#if defined(__clang__) /* which makes no clones */
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone))
#endif

unsigned long leaf(unsigned long number);
unsigned long work(unsigned long number);

static volatile unsigned long divisor = 7;
unsigned long (*volatile worker)(unsigned long) = work;

APART unsigned long leaf(unsigned long number)
{
    return (number + 12345678901UL) / divisor;
}

APART unsigned long work(unsigned long number)
{
    return leaf(number) ^ leaf(number + 1);
}

static void *run(void *argument)
{
    unsigned long sum = 0;
    for (unsigned long i = 0; i < 1000; i++)
        sum += worker(i);
    return sum == 1 ? argument : NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    bool second = argc > 1;
    if (second && pthread_create(&thread, NULL, run, argv) != 0)
        return 2;
    run(argv);
    if (second)
        pthread_join(thread, NULL);
    return 3;
}
