/* A program with known answers for the model: main calls work a thousand times through a pointer, and work calls leaf
 * twice; leaf runs a division. With an argument, a second thread does the same; with "long", both do it thirty times; with "fill", there is
 * none, and repeated string instructions write and copy known numbers of bytes at the end. */
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

static unsigned long rounds = 1000;

static void *run(void *argument)
{
    unsigned long sum = 0;
    for (unsigned long i = 0; i < rounds; i++)
        sum += worker(i);
    return sum == 1 ? argument : NULL;
}

static char filled[4096 + 64], copied[4096 + 64];

/* 3 * 4000 bytes one by one, 3 * 500 words of eight: what is written, and what is copied, does not begin at a line. */
APART static void fill(void)
{
#if defined(__x86_64__)
    for (int i = 0; i < 3; i++) {
        char *to = filled + 5, *from = filled + 8;
        unsigned long n = 4000;
        __asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(i) : "memory");
        to = copied + 16;
        n = 500;
        __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
    }
#endif
}

int main(int argc, char **argv)
{
    pthread_t thread;
    bool fills = argc > 1 && argv[1][0] == 'f', second = argc > 1 && !fills;
    rounds *= second && argv[1][0] == 'l' ? 30 : 1;
    if (second && pthread_create(&thread, NULL, run, argv) != 0)
        return 2;
    run(argv);
    if (second)
        pthread_join(thread, NULL);
    if (fills)
        fill();
    return 3;
}
