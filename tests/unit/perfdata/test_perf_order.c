/* Sorting by time, and ranges of addresses: against the plainest way to do the same. */
#include "perfdata/perf_order.h"
#include "perfdata/perf_ranges.h"

#include "base/random.h"
#include "unit.h"

enum { RECORDS = 700, SPACE = 300, CHANGES = 400 };

/* Records come oldest first, and those of one time as they arrived; none that is newer than was asked for. */
static void oldest_first(void **state)
{
    struct as_perf_order order = {0};
    uint64_t seed = 3, time, last = 0, taken = 0;
    uint32_t arrival, before = 0;
    for (uint32_t i = 0; i < RECORDS; i++)
        as_perf_order_push(&order, as_random(&seed) % 100 + 5, (const uint8_t *)&i, sizeof i);
    assert_true(order.bytes >= RECORDS * sizeof(struct as_perf_queued));
    for (uint64_t until = 4; until <= 104; until += 20) {
        for (uint8_t *record; (record = as_perf_order_pop(&order, until, &time)); taken++) {
            memcpy(&arrival, record, sizeof arrival);
            free(record);
            assert_true(time <= until && time >= last);
            assert_true(time > last || arrival > before);
            last = time;
            before = arrival;
        }
        assert_true(order.heap.len == 0 || order.heap.data[0].time > until);
        assert_int_equal(taken + order.heap.len, RECORDS);
    }
    assert_int_equal(taken, RECORDS);
    assert_int_equal(order.bytes, 0);
    as_perf_order_free(&order);
}

/* A round's end lets go what was there before the round. */
static void rounds(void **state)
{
    struct as_perf_order order = {0};
    uint8_t byte = 0;
    assert_int_equal(as_perf_order_round(&order), 0);
    as_perf_order_push(&order, 70, &byte, 1);
    as_perf_order_push(&order, 50, &byte, 1);
    assert_int_equal(as_perf_order_round(&order), 0);
    as_perf_order_push(&order, 60, &byte, 1);
    as_perf_order_push(&order, 90, &byte, 1);
    assert_int_equal(as_perf_order_round(&order), 70);
    assert_int_equal(as_perf_order_round(&order), 90);
    as_perf_order_free(&order);
}

/* One byte of the plain space: which range covers it, and its offset in the file. */
struct cell {
    void *value;
    uint64_t offset;
};

static void compare(const struct as_perf_ranges *ranges, const struct cell *cells)
{
    const struct as_perf_range *last = NULL;
    for (uint64_t at = 0; at < SPACE; at++) {
        const struct as_perf_range *found = as_perf_ranges_find(ranges, at);
        assert_ptr_equal(found ? found->value : NULL, cells[at].value);
        if (found) {
            assert_true(found->start <= at && at < found->end);
            assert_int_equal(found->offset + at - found->start, cells[at].offset);
            last = found;
        }
        assert_ptr_equal(as_perf_ranges_before(ranges, at), last);
    }
}

/* A new range replaces what it covers, a removed one leaves a hole, and a copy stays as it was. */
static void ranges_replace(void **state)
{
    static struct cell cells[SPACE], kept[SPACE];
    static char values[CHANGES];
    struct as_perf_ranges ranges = {0}, copy = {0};
    uint64_t seed = 5;
    compare(&ranges, cells);
    for (int i = 0; i < CHANGES; i++) {
        uint64_t start = as_random(&seed) % SPACE, end = start + as_random(&seed) % 40,
                 offset = as_random(&seed) % 1000;
        end = end < SPACE ? end : SPACE;
        bool removes = as_random(&seed) % 4 == 0;
        if (removes)
            as_perf_ranges_remove(&ranges, start, end);
        else
            as_perf_ranges_put(&ranges, &(struct as_perf_range){start, end, offset, &values[i]});
        for (uint64_t at = start; at < end; at++)
            cells[at] = removes ? (struct cell){0} : (struct cell){&values[i], offset + at - start};
        compare(&ranges, cells);
        if (i % 50 == 25) {
            as_perf_ranges_free(&copy);
            copy = as_perf_ranges_copy(&ranges);
            memcpy(kept, cells, sizeof kept);
        }
        if (i > 25)
            compare(&copy, kept);
    }
    as_perf_ranges_free(&ranges);
    assert_null(as_perf_ranges_find(&ranges, 5));
    compare(&copy, kept);
    as_perf_ranges_free(&copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oldest_first),
        cmocka_unit_test(rounds),
        cmocka_unit_test(ranges_replace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
