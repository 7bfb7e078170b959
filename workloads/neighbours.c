/* Programs that an adjacent-line prefetcher helps, harms or leaves alone: what neighbouring lines are to each other is known.
 *
 * usage: neighbours KIND THREADS N [LINES]
 *
 * Each thread makes N visits of LINES lines of 64 bytes (default 32768: 2 MiB), shared by all unless said otherwise.
 *   stream     reads its own lines one after the other
 *   fill       writes them
 *   copy       reads one half, writes the other
 *   sums       the same, and works on all words of a line: too much for the processor to look at the next line
 *   pairs      reads both lines of random pairs (128 bytes)
 *   records    writes both lines of random pairs of its own
 *   singles    reads random lines, one of each pair
 *   weave      writes its own lines one after the other; a line's neighbour is another thread's
 *   scatter    the same in random order
 *   blocks     writes random lines of its own, all together
 *   ring       thread 0 writes line after line, the others read them
 *   counters   adds to a counter of its own, next to another thread's
 *   list       follows a chain of nodes of a line, in random order
 *   list2      … of nodes of two lines: the first says where in the second the next one is
 *   chain      … of nodes of a line, in the order of addresses
 *   columns    reads a matrix by columns, rows of 8 KiB
 *   table      random lines of all: reads, and writes one in four */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64, WORDS = LINE / 8, MOST_THREADS = 64 };

typedef uint64_t line[WORDS];

static struct {
    const char *kind;
    long threads, n, lines;
    line *memory;
} plan;
static pthread_barrier_t all;
static _Alignas(128) line counters[MOST_THREADS];

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static uint64_t load(long at)
{
    return *(volatile uint64_t *)&plan.memory[at][0];
}

static void store(long at, uint64_t value)
{
    *(volatile uint64_t *)&plan.memory[at][1] = value;
}

/* Visits of the thread's own part, one after the other. */
static void walk(long thread, int kind)
{
    long size = plan.lines / plan.threads, first = thread * size;
    for (long i = 0; i < plan.n; i++) {
        long at = first + i % size;
        if (kind == 'f')
            store(at, (uint64_t)i);
        else if (kind == 'c' && i & 1)
            store(first + size / 2 + i / 2 % (size / 2), (uint64_t)i);
        else
            load(kind == 'c' ? first + i / 2 % (size / 2) : at);
    }
}

static void add_up(long thread)
{
    long size = plan.lines / plan.threads, first = thread * size;
    uint64_t sum = 0;
    for (long i = 0; i < plan.n; i++)
        for (int word = 0; word < WORDS; word++) {
            uint64_t value = *(volatile uint64_t *)&plan.memory[first + i % size][word];
            for (int round = 0; round < 4; round++)
                value ^= value << 13 ^ value >> 7;
            sum += value;
        }
    *(volatile uint64_t *)&counters[thread][1] = sum;
}

static void visit_pairs(uint64_t seed, long thread, int writes)
{
    long pairs = plan.lines / 2, own = pairs / plan.threads;
    for (long i = 0; i < plan.n / 2; i++) {
        long at = 2 * (long)(writes ? (uint64_t)(thread * own) + next_random(&seed) % (uint64_t)own
                                    : next_random(&seed) % (uint64_t)pairs);
        if (writes) {
            store(at, seed);
            store(at + 1, seed);
        } else {
            seed ^= load(at) ^ load(at + 1);
        }
    }
}

static void visit_lines(uint64_t seed, long thread)
{
    int kind = plan.kind[0];
    long own = plan.lines / plan.threads;
    for (long i = 0; i < plan.n; i++) {
        long any = (long)(next_random(&seed) % (uint64_t)plan.lines), of = any % own;
        if (strcmp(plan.kind, "singles") == 0)
            seed ^= load(any & ~1L);
        else if (kind == 'w')
            store(i % own * plan.threads + thread, seed);
        else if (strcmp(plan.kind, "scatter") == 0)
            store(of * plan.threads + thread, seed);
        else if (kind == 'b')
            store(thread * own + of, seed);
        else if (next_random(&seed) % 4 == 0)
            store(any, seed);
        else
            seed ^= load(any);
    }
}

static void follow(int lines)
{
    uint64_t at = 0, sum = 0;
    for (long i = 0; i < plan.n; i++) {
        at = lines == 2 ? load((long)(at + load((long)at))) : load((long)at);
        sum += at;
    }
    *(volatile uint64_t *)&counters[0][1] = sum;
}

static void pass_on(long thread)
{
    for (long i = 0; i < plan.n; i++) {
        if (thread == 0)
            store(i % plan.lines, (uint64_t)i);
        else
            load(i % plan.lines);
    }
}

static void by_columns(void)
{
    enum { ROW = 128 };
    long rows = plan.lines / ROW;
    for (long i = 0; i < plan.n; i++)
        load(i % rows * ROW + i / rows % ROW);
}

__attribute__((noinline)) static void *work(void *argument)
{
    long thread = (long)(intptr_t)argument;
    uint64_t seed = (uint64_t)thread * 77 + 1;
    const char *kind = plan.kind;
    pthread_barrier_wait(&all);
    if (strcmp(kind, "stream") == 0 || strcmp(kind, "fill") == 0 || strcmp(kind, "copy") == 0)
        walk(thread, kind[0]);
    else if (strcmp(kind, "pairs") == 0 || strcmp(kind, "records") == 0)
        visit_pairs(seed, thread, kind[0] == 'r');
    else if (strcmp(kind, "list") == 0 || strcmp(kind, "list2") == 0 || strcmp(kind, "chain") == 0)
        follow(strcmp(kind, "list2") == 0 ? 2 : 1);
    else if (strcmp(kind, "sums") == 0)
        add_up(thread);
    else if (strcmp(kind, "ring") == 0)
        pass_on(thread);
    else if (strcmp(kind, "columns") == 0)
        by_columns();
    else if (strcmp(kind, "counters") == 0)
        for (long i = 0; i < plan.n; i++)
            ++*(volatile uint64_t *)&counters[thread][0];
    else
        visit_lines(seed, thread);
    return NULL;
}

/* A chain through all nodes, in random order or that of addresses. */
static void make_chain(int lines, int shuffled)
{
    uint64_t seed = 5;
    long nodes = plan.lines / lines;
    uint32_t *order = malloc((size_t)nodes * sizeof *order);
    for (long i = 0; i < nodes; i++)
        order[i] = (uint32_t)i;
    for (long i = nodes - 1; shuffled && i > 0; i--) {
        long other = (long)(next_random(&seed) % (uint64_t)i);
        uint32_t kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    for (long i = 0; i < nodes; i++) {
        plan.memory[order[i] * lines][0] = lines == 2 ? 1 : order[(i + 1) % nodes];
        if (lines == 2)
            plan.memory[order[i] * 2 + 1][0] = (uint64_t)order[(i + 1) % nodes] * 2;
    }
    free(order);
}

int main(int argc, char **argv)
{
    static const char kinds[] = " stream fill copy pairs records singles weave scatter blocks ring counters list list2 "
                                "chain sums columns table ";
    char padded[32];
    pthread_t threads[MOST_THREADS];
    snprintf(padded, sizeof padded, " %s ", argc > 1 ? argv[1] : "");
    if (argc < 4 || argc > 5 || !strstr(kinds, padded)) {
        fprintf(stderr, "usage: neighbours KIND THREADS N [LINES]; kinds:%s\n", kinds);
        return 2;
    }
    plan.kind = argv[1];
    plan.threads = atol(argv[2]);
    plan.n = atol(argv[3]);
    plan.lines = argc > 4 ? atol(argv[4]) : 32768;
    if (plan.threads < 1 || plan.threads > MOST_THREADS || plan.n < 0 || plan.lines < 512 * plan.threads) {
        fprintf(stderr, "neighbours: 1 to %d threads, and 512 lines or more for each\n", MOST_THREADS);
        return 2;
    }
    plan.memory = aligned_alloc(4096, (size_t)plan.lines * LINE);
    memset(plan.memory, 0, (size_t)plan.lines * LINE);
    if (strncmp(plan.kind, "list", 4) == 0 || strcmp(plan.kind, "chain") == 0)
        make_chain(strcmp(plan.kind, "list2") == 0 ? 2 : 1, plan.kind[0] == 'l');
    pthread_barrier_init(&all, NULL, (unsigned)plan.threads);
    for (long i = 1; i < plan.threads; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i)) {
            fprintf(stderr, "neighbours: cannot create thread %ld\n", i);
            return 1;
        }
    work(NULL);
    for (long i = 1; i < plan.threads; i++)
        pthread_join(threads[i], NULL);
    free(plan.memory);
    return 0;
}
