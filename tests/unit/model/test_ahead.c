/* Blocks come out on the other thread as they were put in, in order, and all of them before it counts as settled. */
#include "base/alloc.h"
#include "model/ahead.h"

#include "unit.h"

#include <stdlib.h>

enum { BLOCKS = 20000, BODIES = 40 };

/* What block number i is: a body, its accesses in full or as addresses, a target. */
struct bench {
    struct as_body bodies[BODIES];
    struct as_core_access shapes[BODIES][BODIES];
    uint64_t taken; /* blocks */
    uint64_t words; /* that came between them */
    uint64_t announced,
        expected;   /* addresses that were announced; … that blocks taken had, of those that come as addresses */
    uint64_t asked; /* whether announcing is of use */
    bool wrong;
};

static uint64_t address_of(uint64_t block, size_t access)
{
    return block * 1000 + access * 7;
}

static uint32_t foreseen_of(uint64_t block, size_t control)
{
    return (uint32_t)(block * 10 + control);
}

static bool is_full(uint64_t block)
{
    return block % 3 == 0;
}

static void take(void *context, const struct as_body_run *run, uint32_t path)
{
    struct bench *bench = context;
    uint64_t block = bench->taken++;
    const struct as_body *body = &bench->bodies[block % BODIES];
    bench->wrong |=
        run->body != body || run->next != block + 5 || path != (uint32_t)block + 1 || run->taken != block % 2;
    for (uint32_t i = 0; i < body->controls; i++)
        bench->wrong |= run->foreseen[i] != foreseen_of(block, i);
    bench->expected += is_full(block) ? 0 : body->n_accesses;
    for (uint32_t i = 0; i < body->n_accesses; i++)
        bench->wrong |= run->accesses[i].address != address_of(block, i) || run->accesses[i].size != i + 1;
}

/* Of use but for every third chunk. Addresses come in order, before their block. */
static bool announce(void *context, const uint64_t *addresses, size_t n)
{
    struct bench *bench = context;
    if (n == 0)
        return bench->asked++ % 3 != 2;
    bench->wrong |= addresses[0] / 1000 < bench->taken || is_full(addresses[0] / 1000);
    for (size_t i = 0; i < n; i++)
        bench->wrong |= addresses[i] != addresses[0] + i * 7;
    bench->announced += n;
    return true;
}

/* Words say how many blocks came before them, and are numbered. */
static void take_words(void *context, const uint64_t *words, size_t n)
{
    struct bench *bench = context;
    for (size_t i = 0; i < n; i++)
        bench->wrong |= words[i] != (bench->taken << 32 | bench->words++);
}

static struct bench *make_bench(void)
{
    struct bench *bench = as_alloc(sizeof *bench);
    for (uint32_t i = 0; i < BODIES; i++) {
        bench->bodies[i] = (struct as_body){.n = 1, .n_accesses = i, .controls = i % 5};
        for (uint32_t k = 0; k < BODIES; k++)
            bench->shapes[i][k] = (struct as_core_access){.size = k + 1};
    }
    return bench;
}

static void put(struct as_ahead *ahead, struct bench *bench, uint64_t number)
{
    const struct as_body *body = &bench->bodies[number % BODIES];
    size_t n = body->n_accesses;
    struct as_ahead_block *block = as_ahead_room(ahead, n, body->controls);
    assert_non_null(block);
    *block =
        (struct as_ahead_block){.body = body, .next = number + 5, .path = (uint32_t)number + 1, .taken = number % 2};
    if (!is_full(number))
        block->shape = bench->shapes[number % BODIES];
    struct as_core_access *full = (struct as_core_access *)block->data;
    for (size_t i = 0; i < n; i++)
        if (is_full(number))
            full[i] = (struct as_core_access){.address = address_of(number, i), .size = (uint32_t)i + 1};
        else
            block->data[i] = address_of(number, i);
    size_t bytes = n * (is_full(number) ? sizeof *full : sizeof *block->data);
    uint32_t *foreseen = (uint32_t *)((char *)block->data + bytes);
    for (uint32_t i = 0; i < body->controls; i++)
        foreseen[i] = foreseen_of(number, i);
    as_ahead_put(ahead, bytes, body->controls);
}

static struct as_ahead *start(struct bench *bench)
{
    struct as_ahead *ahead = as_ahead_new(take, take_words, announce, bench);
    if (!ahead)
        unit_skip("this process may use only one processor");
    return ahead;
}

static void test_order(void **state)
{
    (void)state;
    struct bench *bench = make_bench();
    struct as_ahead *ahead = start(bench);
    for (uint64_t i = 0; i < BLOCKS; i++) {
        put(ahead, bench, i);
        if (i % 997 != 0 && i + 1 < BLOCKS)
            continue;
        as_ahead_settle(ahead);
        assert_int_equal(bench->taken, i + 1);
        assert_false(bench->wrong);
    }
    as_ahead_settle(ahead); /* nothing is on its way */
    assert_int_equal(bench->taken, BLOCKS);
    assert_in_range(bench->announced, bench->expected / 3, bench->expected);
    as_ahead_free(ahead);
    free(bench);
}

/* Whoever waits for what was handed over some time ago finds all of that taken, and no more was needed. */
static void test_rounds(void **state)
{
    enum { ROUND = 150, LAG = 2 };
    (void)state;
    struct bench *bench = make_bench();
    struct as_ahead *ahead = start(bench);
    uint64_t handed[BLOCKS / ROUND + 1], rounds = 0;
    as_ahead_wait(ahead, as_ahead_hand_over(ahead)); /* nothing is on its way */
    for (uint64_t i = 0; i < BLOCKS; i++) {
        put(ahead, bench, i);
        if (i % ROUND != 0)
            continue;
        handed[rounds++] = as_ahead_hand_over(ahead);
        if (rounds <= LAG)
            continue;
        as_ahead_wait(ahead, handed[rounds - 1 - LAG]);
        assert_true(*(volatile uint64_t *)&bench->taken >= (rounds - 1 - LAG) * ROUND + 1);
    }
    as_ahead_wait(ahead, as_ahead_hand_over(ahead));
    assert_int_equal(bench->taken, BLOCKS);
    assert_false(bench->wrong);
    as_ahead_free(ahead);
    free(bench);
}

/* What is left is taken before the end. */
static void test_end(void **state)
{
    (void)state;
    struct bench *bench = make_bench();
    struct as_ahead *ahead = start(bench);
    for (uint64_t i = 0; i < 10; i++)
        put(ahead, bench, i);
    as_ahead_free(ahead);
    assert_int_equal(bench->taken, 10);
    assert_false(bench->wrong);
    free(bench);
}

static void test_words(void **state)
{
    (void)state;
    struct bench *bench = make_bench();
    struct as_ahead *ahead = start(bench);
    uint64_t words[AS_AHEAD_WORDS], sum = 0;
    for (uint64_t i = 0; i < BLOCKS / 10; i++) {
        size_t n = i * 37 % (AS_AHEAD_WORDS + 1);
        for (size_t k = 0; k < n; k++)
            words[k] = i << 32 | sum++;
        as_ahead_put_words(ahead, words, n);
        put(ahead, bench, i);
    }
    as_ahead_settle(ahead);
    assert_int_equal(bench->taken, BLOCKS / 10);
    assert_int_equal(bench->words, sum);
    assert_false(bench->wrong);
    as_ahead_free(ahead);
    free(bench);
}

static void test_too_large(void **state)
{
    (void)state;
    struct bench *bench = make_bench();
    struct as_ahead *ahead = start(bench);
    put(ahead, bench, 0);
    enum { CHUNK = 4096 * sizeof(uint64_t), ACCESS = sizeof(struct as_core_access) };
    size_t most = (CHUNK - sizeof(struct as_ahead_block)) / ACCESS, controls = 2 * ACCESS / sizeof(uint32_t);
    assert_null(as_ahead_room(ahead, 1000000, 0));
    assert_null(as_ahead_room(ahead, most + 1, 0));
    assert_non_null(as_ahead_room(ahead, most, 0));
    assert_null(as_ahead_room(ahead, most - 1, controls));
    assert_non_null(as_ahead_room(ahead, most - 2, controls));
    put(ahead, bench, 1);
    as_ahead_settle(ahead);
    assert_int_equal(bench->taken, 2);
    assert_false(bench->wrong);
    as_ahead_free(ahead);
    free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order), cmocka_unit_test(test_rounds),    cmocka_unit_test(test_end),
        cmocka_unit_test(test_words), cmocka_unit_test(test_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
