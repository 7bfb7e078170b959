/* Slots, banks and the bus over time: exact where requests come in the order of time, never too late where they do not.
 */
#include "unit.h"

#include "core/slots.h"
#include "memory_bed.h"

static void lets_in_as_many_as_there_are(void **state)
{
    struct as_slots slots;
    as_slots_init(&slots, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(as_slots_admit(&slots, 100), 100);
        as_slots_hold(&slots, 100, 150 + 10 * i);
    }
    assert_false(as_slots_has_room(&slots, 100));
    /* two wait: the first for the first end, the second for the second */
    assert_int_equal(as_slots_admit(&slots, 101), 150);
    as_slots_hold(&slots, 150, 250);
    assert_int_equal(as_slots_admit(&slots, 102), 160);
    as_slots_hold(&slots, 160, 260);
    assert_false(as_slots_has_room(&slots, 165));
    assert_true(as_slots_has_room(&slots, 250));
    assert_int_equal(as_slots_admit(&slots, 250), 250);
    as_slots_free(&slots);
}

/* What was granted for cycles around 1000 does not delay a request of cycle 100. */
static void does_not_wait_for_the_future(void **state)
{
    struct as_slots slots;
    as_slots_init(&slots, 2);
    for (int i = 0; i < 4; i++) {
        uint64_t start = as_slots_admit(&slots, 1000);
        as_slots_hold(&slots, start, start + 200);
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(as_slots_admit(&slots, 100), 100);
        as_slots_hold(&slots, 100, 300);
    }
    assert_int_equal(as_slots_admit(&slots, 100), 300);
    /* between the two groups, and behind them */
    assert_int_equal(as_slots_admit(&slots, 500), 500);
    assert_int_equal(as_slots_admit(&slots, 1100), 1400);
    as_slots_free(&slots);
}

/* Against an array of free times, which is exact for requests in the order of time. */
static void agrees_with_free_times_in_order(void **state)
{
    uint64_t seed = 7;
    for (uint32_t limit = 1; limit <= 17; limit += 4) {
        struct as_slots slots;
        as_slots_init(&slots, limit);
        uint64_t free_at[32] = {0}, cycle = 1;
        for (int step = 0; step < 20000; step++) {
            cycle += bed_random(&seed) % 20;
            uint32_t best = 0;
            for (uint32_t i = 1; i < limit; i++)
                best = free_at[i] < free_at[best] ? i : best;
            uint64_t expected = free_at[best] > cycle ? free_at[best] : cycle;
            assert_int_equal(as_slots_admit(&slots, cycle), expected);
            free_at[best] = expected + bed_random(&seed) % 200 + 1;
            as_slots_hold(&slots, expected, free_at[best]);
        }
        as_slots_free(&slots);
    }
}

/* In any order: an answer is not before the request; where it waits, all slots are busy before one that is usually held
 * as long would be free again; and more than there are are rarely busy. */
static void waits_only_for_what_is_busy_then(void **state)
{
    enum { N = 20000, LIMIT = 8, LONGEST = 250 };
    struct as_slots slots;
    as_slots_init(&slots, LIMIT);
    static uint8_t busy[N * 50];
    uint64_t seed = 3, base = 1000, waited = 0, cycles = 0, exceeded = 0;
    for (uint32_t n = 0; n < N; n++) {
        base += bed_random(&seed) % 50; /* 6 of 8 are busy on average */
        uint64_t cycle = base - bed_random(&seed) % 500, start = as_slots_admit(&slots, cycle);
        assert_true(start >= cycle);
        if (start > cycle) {
            uint8_t most = 0;
            for (uint64_t at = cycle; at < cycle + LONGEST; at++)
                most = busy[at] > most ? busy[at] : most;
            assert_true(most >= LIMIT);
            waited++;
        }
        uint64_t end = start + 50 + bed_random(&seed) % (LONGEST - 50);
        as_slots_hold(&slots, start, end);
        for (uint64_t at = start; at < end; at++)
            busy[at]++;
    }
    for (uint64_t at = 1000; at < base; at++, cycles++)
        exceeded += busy[at] > LIMIT;
    assert_true(waited > N / 50);
    assert_true(exceeded < cycles / 20);
    as_slots_free(&slots);
}

static void gives_a_bank_once_a_cycle(void **state)
{
    static struct as_banks banks;
    as_banks_init(&banks, 4);
    assert_int_equal(as_banks_take(&banks, 10, 5), 10);
    assert_int_equal(as_banks_take(&banks, 10, 1), 11); /* the same bank */
    assert_int_equal(as_banks_take(&banks, 10, 9), 12);
    assert_int_equal(as_banks_take(&banks, 10, 2), 10); /* another */
    assert_int_equal(as_banks_take(&banks, 12, 1), 13);
    /* earlier cycles are free as long as they are remembered, and free again when they are not */
    assert_int_equal(as_banks_take(&banks, 9, 1), 9);
    assert_int_equal(as_banks_take(&banks, 10 + 20 * AS_BANKS_CYCLES, 1), 10 + 20 * AS_BANKS_CYCLES);
    assert_int_equal(as_banks_take(&banks, 10, 1), 10);
}

static void fills_the_gaps_of_the_bus(void **state)
{
    struct as_bus bus = {.length = 10};
    assert_int_equal(as_bus_reserve(&bus, 100), 100);
    assert_int_equal(as_bus_reserve(&bus, 100), 110);
    assert_int_equal(as_bus_reserve(&bus, 95), 120);
    assert_int_equal(as_bus_reserve(&bus, 200), 200);
    assert_int_equal(as_bus_reserve(&bus, 90), 90);
    assert_int_equal(as_bus_reserve(&bus, 90), 130);
    /* 185 to 200 is long enough once */
    assert_int_equal(as_bus_reserve(&bus, 185), 185);
    assert_int_equal(as_bus_reserve(&bus, 185), 210);
}

static void leaves_no_small_gaps_for_what_can_move(void **state)
{
    struct as_bus bus = {.length = 10};
    as_bus_reserve(&bus, 100);
    assert_int_equal(as_bus_reserve_about(&bus, 115), 110); /* up to what ends at 110 */
    assert_int_equal(as_bus_reserve_about(&bus, 160), 160); /* nothing near */
    assert_int_equal(as_bus_reserve_about(&bus, 145), 150); /* up to what begins at 160 */
    assert_int_equal(as_bus_reserve_about(&bus, 105), 120); /* all taken: behind */
    assert_int_equal(as_bus_reserve(&bus, 100), 130);
}

/* Random times over a window: no two transfers overlap, and none is put off while its place was free. */
static void never_gives_the_bus_twice(void **state)
{
    enum { N = 20000, LENGTH = 13, BACK = 200 };
    static uint64_t starts[N];
    struct as_bus bus = {.length = LENGTH};
    uint64_t seed = 5, base = 1000, put_off = 0;
    for (uint32_t n = 0; n < N; n++) {
        base += bed_random(&seed) % 36; /* the bus is 3/4 busy */
        uint64_t time = base - bed_random(&seed) % 300;
        starts[n] = as_bus_reserve(&bus, time);
        assert_true(starts[n] >= time);
        bool was_free = true;
        for (uint32_t i = n > BACK ? n - BACK : 0; i < n; i++) {
            assert_true(starts[i] + LENGTH <= starts[n] || starts[n] + LENGTH <= starts[i]);
            was_free &= starts[i] + LENGTH <= time || time + LENGTH <= starts[i];
        }
        assert_false(was_free && starts[n] != time);
        put_off += starts[n] != time;
    }
    assert_true(put_off > N / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lets_in_as_many_as_there_are),
        cmocka_unit_test(does_not_wait_for_the_future),
        cmocka_unit_test(agrees_with_free_times_in_order),
        cmocka_unit_test(waits_only_for_what_is_busy_then),
        cmocka_unit_test(gives_a_bank_once_a_cycle),
        cmocka_unit_test(fills_the_gaps_of_the_bus),
        cmocka_unit_test(leaves_no_small_gaps_for_what_can_move),
        cmocka_unit_test(never_gives_the_bus_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
