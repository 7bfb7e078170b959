/* The index of intervals against the definition of its answer, on random intervals. */
#include "symbol/interval.h"

#include "unit.h"

enum { SPAN = 400, MANY = 60 };

static uint32_t seed = 1;

static uint32_t next_random(uint32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}

static uint32_t by_definition(const struct as_address_range *items, size_t count, uint64_t address)
{
    const struct as_address_range *best = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct as_address_range *x = &items[i];
        if (address < x->start || address >= x->end)
            continue;
        if (best == NULL || x->rank < best->rank ||
            (x->rank == best->rank &&
             (x->start > best->start ||
              (x->start == best->start && (x->end < best->end || (x->end == best->end && x->id > best->id))))))
            best = x;
    }
    return best != NULL ? best->id : AS_INTERVAL_NONE;
}

static void test_random(void **state)
{
    for (int round = 0; round < 500; round++) {
        struct as_address_range items[MANY], sorted[MANY];
        size_t count = next_random(MANY + 1);
        for (size_t i = 0; i < count; i++) {
            uint64_t start = 10 + next_random(SPAN), length = next_random(round % 2 == 0 ? 20 : SPAN);
            items[i] = (struct as_address_range){start, start + length, next_random(3), (uint32_t)i};
        }
        memcpy(sorted, items, sizeof sorted);
        struct as_interval_index index;
        as_interval_build(&index, sorted, count);
        assert_true(index.len <= 2 * count);
        for (uint64_t at = 0; at < 2 * SPAN + 20; at++)
            assert_int_equal(as_interval_find(&index, at), by_definition(items, count, at));
        as_interval_free(&index);
    }
}

static void test_edges(void **state)
{
    struct as_interval_index index;
    struct as_address_range items[] = {
        {0, UINT64_MAX, 0, 7}, {5, 5, 0, 8}, {9, 3, 0, 9}, {UINT64_MAX - 1, UINT64_MAX, 0, 1}};
    as_interval_build(&index, items, 4);
    assert_int_equal(as_interval_find(&index, 0), 7);
    assert_int_equal(as_interval_find(&index, 5), 7);
    assert_int_equal(as_interval_find(&index, UINT64_MAX - 1), 1);
    assert_int_equal(as_interval_find(&index, UINT64_MAX), AS_INTERVAL_NONE);
    as_interval_free(&index);
    as_interval_build(&index, items, 0);
    assert_int_equal(as_interval_find(&index, 0), AS_INTERVAL_NONE);
    as_interval_free(&index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_edges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
