/* A false-sharing bug as people write it: statistics by thread, side by side in an array. Each thread hashes its own part of a
 * buffer and counts what it sees; nothing is shared but the lines of `stats`. With -DFIXED each thread's part has lines of its own.
 *
 * Usage: false_counters [THREADS [ROUNDS]]. Prints the sums, the same for both.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_THREADS = 64, BYTES = 4096 };

struct counters {
#ifdef FIXED
    _Alignas(64)
#endif
        uint64_t letters,
        digits, others;
};

static struct counters stats[MAX_THREADS];
static unsigned char text[MAX_THREADS][BYTES];
static uint64_t rounds = 200;

static void count(volatile struct counters *own, const unsigned char *bytes)
{
    for (int i = 0; i < BYTES; i++) {
        if (bytes[i] >= 'a' && bytes[i] <= 'z')
            own->letters++;
        else if (bytes[i] >= '0' && bytes[i] <= '9')
            own->digits++;
        else
            own->others++;
    }
}

static void *work(void *argument)
{
    uint64_t self = (uint64_t)(uintptr_t)argument;
    for (uint64_t i = 0; i < rounds; i++)
        count(&stats[self], text[self]);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[MAX_THREADS];
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 2, seed = 88172645463325252, sums[3] = {0};
    rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : rounds;
    if (n < 1 || n > MAX_THREADS)
        return 2;
    for (uint64_t i = 0; i < n * BYTES; i++) {
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        text[i / BYTES][i % BYTES] = (unsigned char)(' ' + seed % 94);
    }
    for (uint64_t i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i) != 0)
            return 1;
    for (uint64_t i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
        sums[0] += stats[i].letters, sums[1] += stats[i].digits, sums[2] += stats[i].others;
    }
    printf("%llu letters, %llu digits, %llu others\n", (unsigned long long)sums[0], (unsigned long long)sums[1],
           (unsigned long long)sums[2]);
    return 0;
}
