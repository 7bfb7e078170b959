/* A program to look at: five small jobs of different character, each in functions of its own, about 250 million
 * instructions in all. Its time goes to different places for different reasons, which is what a profile should show:
 *
 *   words    scans generated text byte by byte: simple integer work, branches that are hard to predict
 *   table    counts words in a hash table: short dependent loads, a multiply each, collisions
 *   sort     sorts random numbers: branches that nobody can predict
 *   matrix   multiplies matrices: floating point at the pace of the multipliers
 *   chase    follows a list through 8 MiB in random order: waits for memory
 *
 * Usage: demo [SCALE]: SCALE (default 100) is the amount of work in percent. It prints one checksum a job, the same in
 * every run.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

enum {
    TEXT_BYTES = 3 << 20,
    TABLE_SLOTS = 1 << 14,
    SORT_COUNT = 300000,
    MATRIX_SIZE = 160,
    CHASE_NODES = 1 << 17,
    CHASE_STEPS = 3000000,
};

struct node {
    struct node *next;
    uint64_t value;
    char rest[48]; /* one cache line each */
};

struct slot {
    uint64_t key;
    uint64_t count;
};

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) {
        fprintf(stderr, "demo: out of memory\n");
        exit(1);
    }
    return memory;
}

/* Words of one to eight letters out of a small alphabet, so that the same ones come again. */
static NOINLINE void text_fill(char *text, size_t length)
{
    size_t i = 0;
    while (i + 1 < length) {
        uint64_t bits = next_random();
        size_t letters = 1 + (bits & 7);
        for (size_t k = 0; k < letters && i + 1 < length; k++)
            text[i++] = (char)('a' + (bits >> (8 + 4 * k) & 3));
        text[i++] = ' ';
    }
    text[length - 1] = 0;
}

/* Linear probing; a slot without a count is free. */
static NOINLINE uint64_t *table_find(struct slot *table, uint64_t key)
{
    size_t at = (size_t)(key * 0x9e3779b97f4a7c15u >> 50);
    while (table[at].count && table[at].key != key)
        at = (at + 1) & (TABLE_SLOTS - 1);
    table[at].key = key;
    return &table[at].count;
}

static NOINLINE const char *word_end(const char *text)
{
    while (*text && *text != ' ')
        text++;
    return text;
}

static NOINLINE uint64_t words_count(const char *text, struct slot *table)
{
    uint64_t distinct = 0;
    while (*text) {
        const char *end = word_end(text);
        uint64_t key = 0;
        memcpy(&key, text, (size_t)(end - text) < sizeof key ? (size_t)(end - text) : sizeof key);
        if (key && ++*table_find(table, key) == 1 && ++distinct > TABLE_SLOTS / 2) {
            memset(table, 0, TABLE_SLOTS * sizeof *table); /* nearly full: start again */
            distinct = 0;
        }
        text = *end ? end + 1 : end;
    }
    return distinct;
}

static NOINLINE void sort(uint32_t *first, uint32_t *last)
{
    while (last - first > 1) {
        uint32_t pivot = first[(last - first) / 2];
        uint32_t *low = first, *high = last - 1;
        while (low <= high) {
            while (*low < pivot)
                low++;
            while (*high > pivot)
                high--;
            if (low <= high) {
                uint32_t swap = *low;
                *low++ = *high;
                *high-- = swap;
            }
        }
        sort(first, high + 1);
        first = low;
    }
}

static NOINLINE void matrix_multiply(const double *a, const double *b, double *c)
{
    for (int i = 0; i < MATRIX_SIZE; i++) {
        for (int k = 0; k < MATRIX_SIZE; k++) {
            double factor = a[i * MATRIX_SIZE + k];
            for (int j = 0; j < MATRIX_SIZE; j++)
                c[i * MATRIX_SIZE + j] += factor * b[k * MATRIX_SIZE + j];
        }
    }
}

/* One cycle through all nodes in random order (Sattolo's shuffle). */
static NOINLINE void list_make(struct node *nodes)
{
    for (size_t i = 0; i < CHASE_NODES; i++) {
        nodes[i].next = &nodes[i];
        nodes[i].value = i;
    }
    for (size_t i = CHASE_NODES - 1; i > 0; i--) {
        size_t other = next_random() % i;
        struct node *swap = nodes[i].next;
        nodes[i].next = nodes[other].next;
        nodes[other].next = swap;
    }
}

static NOINLINE uint64_t list_chase(const struct node *node, uint64_t steps)
{
    uint64_t sum = 0;
    while (steps--) {
        sum += node->value;
        node = node->next;
    }
    return sum;
}

static void words_job(uint64_t scale)
{
    size_t length = 2 + TEXT_BYTES * scale / 100;
    char *text = allocate(length, 1);
    struct slot *table = allocate(TABLE_SLOTS, sizeof *table);
    text_fill(text, length);
    printf("words   %llu\n", (unsigned long long)words_count(text, table));
    free(table);
    free(text);
}

static void sort_job(uint64_t scale)
{
    size_t count = 1 + SORT_COUNT * scale / 100;
    uint32_t *numbers = allocate(count, sizeof *numbers);
    for (size_t i = 0; i < count; i++)
        numbers[i] = (uint32_t)next_random();
    sort(numbers, numbers + count);
    printf("sort    %u\n", numbers[count / 2]);
    free(numbers);
}

static void matrix_job(uint64_t scale)
{
    size_t cells = (size_t)MATRIX_SIZE * MATRIX_SIZE;
    double *matrices = allocate(3 * cells, sizeof *matrices);
    for (size_t i = 0; i < 2 * cells; i++)
        matrices[i] = (double)(next_random() % 1000) / 1000;
    for (uint64_t round = 0; round < 1 + 2 * scale / 100; round++)
        matrix_multiply(matrices, matrices + cells, matrices + 2 * cells);
    printf("matrix  %.6f\n", matrices[3 * cells - 1]);
    free(matrices);
}

static void chase_job(uint64_t scale)
{
    struct node *nodes = allocate(CHASE_NODES, sizeof *nodes);
    list_make(nodes);
    printf("chase   %llu\n", (unsigned long long)list_chase(nodes, CHASE_STEPS * scale / 100));
    free(nodes);
}

int main(int argc, char **argv)
{
    char *end = NULL;
    uint64_t scale = argc > 1 ? strtoull(argv[1], &end, 10) : 100;
    if (argc > 2 || (end && (*end || end == argv[1])) || scale > 100000) {
        fprintf(stderr, "usage: demo [SCALE]\n");
        return 2;
    }
    words_job(scale);
    sort_job(scale);
    matrix_job(scale);
    chase_job(scale);
    return 0;
}
