/* The program of test_reuse_run: main calls rounds, which calls walk, which loads the first bytes of each line of `data`, one after the
 * other. */
#include <stdint.h>

enum { LINES = 256, ROUNDS = 5, LINE = 64 };

_Alignas(LINE) volatile uint64_t data[LINES][LINE / 8];

__attribute__((noinline)) static uint64_t walk(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < LINES; i++)
        sum += data[i][0];
    return sum;
}

__attribute__((noinline)) static uint64_t rounds(void)
{
    uint64_t sum = 1;
    for (int i = 0; i < ROUNDS; i++)
        sum += walk();
    return sum;
}

int main(void)
{
    return rounds() == 1 ? 0 : 1;
}
