/* Rates from times between known places: medians, so that one interruption does not count; nothing from what does not fit. */
#include "reuse/native_rate.h"
#include "unit.h"

#include <math.h>

static void is_unknown_at_first(void **state)
{
    struct as_native_rate rate = {0};
    assert_true(as_rate_trap(&rate) == 0 && as_rate_usual(&rate) == 0);
    assert_true(as_rate_add(&rate, 1000, 5000, 1) == 0); /* what a trap takes is not known */
    assert_int_equal(rate.measured, 0);
}

static void leaves_traps_out(void **state)
{
    struct as_native_rate rate = {0};
    as_rate_add_trap(&rate, 10000);
    as_rate_add_trap(&rate, 900000); /* interrupted */
    as_rate_add_trap(&rate, 10000);
    assert_true(as_rate_trap(&rate) == 10000);
    assert_true(as_rate_add(&rate, 20000, 20000, 1) == 2);
    assert_true(as_rate_add(&rate, 20000, 30000, 2) == 2);
    assert_true(as_rate_add(&rate, 20000, 2e6, 1) < 0.02); /* interrupted */
    assert_true(as_rate_usual(&rate) == 2);
}

static void refuses_the_impossible(void **state)
{
    struct as_native_rate rate = {0};
    as_rate_add_trap(&rate, 10000);
    assert_true(as_rate_add(&rate, 20000, 10100, 1) == 0);  /* nothing but the trap */
    assert_true(as_rate_add(&rate, 200000, 11000, 1) == 0); /* 200 a nanosecond */
    assert_true(as_rate_add(&rate, 1, 1e9, 1) == 0);
    assert_int_equal(rate.measured, 0);
}

/* Ways that are short beside a trap: they count while there is nothing better, and not by ones and twos. */
static void takes_rough_rates_for_want_of_others(void **state)
{
    struct as_native_rate rate = {0};
    as_rate_add_trap(&rate, 10000);
    as_rate_add_rough(&rate, 2000, 10100, 1); /* nothing but the trap */
    assert_int_equal(rate.roughly, 0);
    as_rate_add_rough(&rate, 2000, 11000, 1);
    as_rate_add_rough(&rate, 2000, 12000, 1);
    assert_true(as_rate_usual(&rate) == 0);
    as_rate_add_rough(&rate, 2000, 14000, 1);
    assert_true(as_rate_usual(&rate) == 1);
    as_rate_add(&rate, 20000, 15000, 1);
    assert_true(as_rate_usual(&rate) == 4);
}

/* Warm caches are faster than those behind a stop, within limits; a few such measurements replace the others. */
static void prefers_warm_rates(void **state)
{
    struct as_native_rate rate = {0};
    as_rate_add_trap(&rate, 10000);
    for (int i = 0; i < 5; i++)
        assert_true(as_rate_add(&rate, 20000, 20000, 1) == 2);
    assert_true(as_rate_add_warm(&rate, 2, 100000, 10000 + 1e6, 1) == 0); /* it was elsewhere in between */
    assert_true(as_rate_add_warm(&rate, 2, 100000, 10000 + 5000, 1) == 0);
    assert_true(as_rate_usual(&rate) == 2);
    for (int i = 0; i < 3; i++)
        assert_true(as_rate_add_warm(&rate, 2, 100000, 10000 + 25000, 1) == 4);
    assert_true(as_rate_usual(&rate) == 4);
    for (int i = 0; i < 9; i++) /* neither is known */
        assert_true(as_rate_add_warm(&rate, 0, 100000, 10000, 1) == 0);
    assert_true(as_rate_usual(&rate) == 4);
}

/* What is known of a long run: nothing, rates behind stops, rates with warm caches. */
static void says_how_uncertain_it_is(void **state)
{
    struct as_native_rate rate = {0};
    assert_true(as_rate_range(&rate).low == 0.01 && as_rate_range(&rate).high == 16);
    as_rate_add_trap(&rate, 10000);
    for (int i = 0; i < 3; i++) { /* one or two may be anything */
        assert_false(as_rate_is_known(&rate));
        assert_true(as_rate_range(&rate).low == 0.01 && as_rate_range(&rate).high == 16);
        as_rate_add(&rate, 20000, 30000, 1);
    }
    assert_true(as_rate_is_known(&rate));
    assert_true(as_rate_range(&rate).low == 0.5 && as_rate_range(&rate).high == 8);
    for (int i = 0; i < 3; i++)
        as_rate_add_turn(&rate, 30000, 15000, 20000, 1);
    assert_true(as_rate_range(&rate).low == 1.5 && as_rate_range(&rate).high == 6);
    for (int i = 0; i < 31; i++)
        as_rate_add_long(&rate, 15);
    assert_true(as_rate_range(&rate).high <= 16);
}

/* A single rate that takes the place of rough ones may be anything; and parts of a program differ. */
static void is_no_surer_than_its_rates(void **state)
{
    struct as_native_rate rate = {0};
    as_rate_add_trap(&rate, 10000);
    for (int i = 0; i < 3; i++)
        as_rate_add_rough(&rate, 2000, 14000, 1);
    assert_true(as_rate_is_known(&rate) && as_rate_count(&rate) == 3);
    as_rate_add(&rate, 40000, 20000, 1);
    assert_true(as_rate_count(&rate) == 1 && !as_rate_is_known(&rate));
    for (int i = 0; i < 3; i++)
        as_rate_add(&rate, 10000, 20000, 1);
    as_rate_add(&rate, 1000, 20000, 1);
    assert_true(as_rate_is_known(&rate) && as_rate_usual(&rate) == 1);
    assert_true(as_rate_range(&rate).low == 0.1 && as_rate_range(&rate).high == 8);
}

/* Turns with one and two places counted: the difference is what counting takes. */
static void leaves_out_what_counting_takes(void **state)
{
    struct as_native_rate rate = {0};
    for (int i = 0; i < 3; i++)
        as_rate_add_long(&rate, 2);
    assert_true(as_rate_add_turn(&rate, 30000, 15000, 20000, 1)); /* 10 us a turn */
    assert_int_equal(rate.gained, 1);
    assert_true(as_rate_gain(&rate) == 1); /* one is not enough */
    assert_true(as_rate_add_turn(&rate, 30000, 15000, 20000, 1));
    assert_true(as_rate_add_turn(&rate, 90000, 15000, 20000, 2)); /* faster code has its part in a long time */
    assert_true(as_rate_gain(&rate) == 2.5);
    assert_true(as_rate_add_turn(&rate, 90000, 35000, 90000, 3)); /* interrupted: others say what counting takes */
    assert_true(as_rate_gain(&rate) == 2.25);
    assert_true(as_rate_add_turn(&rate, 30000, 25000, 30000, 3)); /* disturbed: of one code, the faster ones count */
    assert_true(as_rate_gain(&rate) == 2.1);
}

/* A long way behind a stop and later on, which counts as turns do. */
static void takes_long_ways_again(void **state)
{
    struct as_native_rate rate = {0};
    for (int i = 0; i < 3; i++)
        as_rate_add_long(&rate, 2);
    assert_true(as_rate_add_gain(&rate, 150, 100, 300, 1));
    assert_false(as_rate_add_gain(&rate, 1000, 100, 2000, 1)); /* it went another way */
    assert_false(as_rate_add_gain(&rate, 50, 100, 100, 1));
    assert_false(as_rate_add_gain(&rate, 100, 0, 200, 1));
    assert_true(as_rate_add_gain(&rate, 150, 100, 300, 1));
    assert_true(as_rate_gain(&rate) == 1);
    assert_true(as_rate_add_turn(&rate, 60000, 15000, 20000, 2));
    assert_true(as_rate_gain(&rate) == 2);
}

static void refuses_turns_that_say_nothing(void **state)
{
    struct as_native_rate rate = {0};
    assert_false(as_rate_add_turn(&rate, 30000, 15000, 14000, 1)); /* two places are not faster than one */
    assert_false(as_rate_add_turn(&rate, 30000, 15000, 15050, 1));
    assert_false(as_rate_add_turn(&rate, 30000, 15000, 200000, 1));
    assert_int_equal(rate.hit, 0);
    assert_false(as_rate_add_turn(&rate, 5000, 5900, 10900, 1));    /* hardly more than counting */
    assert_false(as_rate_add_turn(&rate, 500000, 15000, 20000, 1)); /* 50 a nanosecond */
    assert_false(as_rate_add_turn(&rate, 0.5, 15000, 20000, 1));
    assert_int_equal(rate.gained, 0);
    assert_true(as_rate_usual(&rate) == 0);
    for (int i = 0; i < 3; i++)
        assert_true(as_rate_add_turn(&rate, 30000, 15000, 20000, 1));
    assert_true(as_rate_usual(&rate) == 3 && as_rate_gain(&rate) == 1); /* where nothing else is known */
}

/* A way that takes far longer than its traps says what the rate is, another does not. */
static void believes_long_ways(void **state)
{
    struct as_native_rate rate = {0};
    as_rate_add_trap(&rate, 10000);
    assert_true(as_rate_if_long(&rate, 80000, 10000 + 39000, 1) == 0);
    assert_true(as_rate_if_long(&rate, 82000, 10000 + 41000, 1) == 2);
    assert_true(as_rate_if_long(&rate, 82000, 20000 + 41000, 2) == 0);
    assert_false(as_rate_fits(&rate, 100, 10000, 1)); /* nothing is known yet */
    for (int i = 0; i < 3; i++)
        as_rate_add_long(&rate, 2);
    assert_true(as_rate_usual(&rate) == 2);
    assert_true(as_rate_fits(&rate, 100000, 10000 + 100000, 1)); /* half as fast */
    assert_true(as_rate_fits(&rate, 100000, 10000, 1));
    assert_false(as_rate_fits(&rate, 100000, 200000, 1)); /* it was elsewhere in between */
}

/* A trap now: not more than it takes mostly. */
static void knows_traps_of_now(void **state)
{
    struct as_native_rate rate = {0};
    assert_true(as_rate_add_trap(&rate, 20000) == 20000);
    assert_true(as_rate_add_trap(&rate, 20000) == 20000);
    assert_true(as_rate_add_trap(&rate, 12000) == 12000);
    assert_true(as_rate_add_trap(&rate, 500000) == 20000);
}

static double likely(const struct as_native_rate *rate, double accesses, double nanoseconds)
{
    return as_rate_likely(rate, 2, &(struct as_rate_way){accesses, nanoseconds, 1});
}

/* A short way hardly says more than that it was not slow; a long one what its rate is. */
static void weighs_what_a_way_says(void **state)
{
    struct as_native_rate rate = {0};
    as_rate_add_trap(&rate, 10000);
    assert_true(fabs(likely(&rate, 1000, 10000 + 5000) - 2) < 0.3); /* by its time 0.2 */
    assert_true(fabs(likely(&rate, 1000, 10000 - 5000) - 2) < 0.3);
    assert_true(fabs(likely(&rate, 1000, 10000 + 50000) - 0.02) < 0.001); /* slow, whatever a trap takes */
    assert_true(fabs(likely(&rate, 1e6, 10000 + 250000) - 4) < 0.02);
    assert_true(fabs(likely(&rate, 1e6, 10000 + 1e6) - 1) < 0.01);
    /* 20 us are expected, known to as much; four stops are known to half a trap each, together 10 us: 0.8 of what is more. */
    struct as_rate_way way = {40000, 4 * 10000 + 20000 + 5000, 4};
    assert_true(fabs(as_rate_likely(&rate, 2, &way) - 40000 / 24000.0) < 1e-9);
    way.nanoseconds -= 10000; /* less than that: the same */
    assert_true(fabs(as_rate_likely(&rate, 2, &way) - 40000 / 16000.0) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_unknown_at_first),        cmocka_unit_test(leaves_traps_out),
        cmocka_unit_test(refuses_the_impossible),     cmocka_unit_test(takes_rough_rates_for_want_of_others),
        cmocka_unit_test(prefers_warm_rates),         cmocka_unit_test(says_how_uncertain_it_is),
        cmocka_unit_test(is_no_surer_than_its_rates), cmocka_unit_test(leaves_out_what_counting_takes),
        cmocka_unit_test(takes_long_ways_again),      cmocka_unit_test(refuses_turns_that_say_nothing),
        cmocka_unit_test(believes_long_ways),         cmocka_unit_test(knows_traps_of_now),
        cmocka_unit_test(weighs_what_a_way_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
