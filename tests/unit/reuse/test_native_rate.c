/* Rates from times between known places: medians, so that one interruption does not count; nothing from what does not fit. */
#include "reuse/native_rate.h"
#include "unit.h"

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
}

/* The same way behind a stop and later on; a few such pairs count. */
static void knows_how_much_faster_it_gets(void **state)
{
    struct as_native_rate rate = {0};
    as_rate_add_gain(&rate, 150, 100);
    as_rate_add_gain(&rate, 1000, 100); /* it went another way */
    as_rate_add_gain(&rate, 50, 100);
    as_rate_add_gain(&rate, 100, 0);
    as_rate_add_gain(&rate, 150, 100);
    assert_int_equal(rate.gained, 2);
    assert_true(as_rate_gain(&rate) == 1);
    as_rate_add_gain(&rate, 200, 100);
    assert_true(as_rate_gain(&rate) == 1.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_unknown_at_first),           cmocka_unit_test(leaves_traps_out),
        cmocka_unit_test(refuses_the_impossible),        cmocka_unit_test(prefers_warm_rates),
        cmocka_unit_test(knows_how_much_faster_it_gets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
