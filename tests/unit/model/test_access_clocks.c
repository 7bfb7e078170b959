/* Clocks of threads that wait for each other, by small numbers. */
#include "model/access_clocks.h"

#include "unit.h"

static void test_put(void **state)
{
    struct as_access_clock clock = {.executed = 100, .offset = 20};
    as_clock_put(&clock, 110); /* it is behind that */
    assert_int_equal(as_clock_now(&clock), 120);
    as_clock_put(&clock, 150);
    assert_true(as_clock_now(&clock) == 150 && clock.debt == 0 && clock.executed == 100);
    as_clock_put_back(&clock, 160); /* before that */
    assert_int_equal(as_clock_now(&clock), 150);
    as_clock_put_back(&clock, 60); /* less than it has executed */
    assert_true(as_clock_now(&clock) == 60 && clock.debt == 90);
    as_clock_put(&clock, 90);
    assert_true(as_clock_now(&clock) == 90 && clock.debt == 60);
    as_clock_put(&clock, 190); /* more than it owes */
    assert_true(as_clock_now(&clock) == 190 && clock.debt == 0);
}

static void test_threads(void **state)
{
    struct as_access_clocks clocks = {0};
    struct as_access_clock first = {.number = 1}, second = {.number = 2}, third = {.number = 5};
    *as_vec_push(&clocks.all) = &first;
    *as_vec_push(&clocks.all) = &second;
    *as_vec_push(&clocks.all) = &third;
    assert_ptr_equal(as_clocks_find(&clocks, 5), &third);
    assert_null(as_clocks_find(&clocks, 3));
    as_clocks_go_on(&clocks, &first); /* nobody has stopped yet */
    assert_true(first.runs && as_clock_now(&first) == 0);
    first.executed = 300;
    assert_int_equal(as_clocks_of_others(&clocks, &first), UINT64_MAX);
    assert_int_equal(as_clocks_of_others(&clocks, &second), 300);
    as_clocks_go_on(&clocks, &second);
    assert_int_equal(as_clock_now(&second), 300);
    second.executed = 40;
    as_clocks_go_on(&clocks, &third); /* with the slower one */
    assert_int_equal(as_clock_now(&third), 300);
    third.executed = 100;
    assert_int_equal(as_clocks_passed(&clocks), 300);
    first.executed = 500;
    assert_int_equal(as_clocks_passed(&clocks), 340);
    as_clock_put_back(&second, 310); /* has been executed all the same */
    assert_int_equal(as_clocks_passed(&clocks), 340);
    assert_int_equal(as_clocks_of_others(&clocks, &first), 310);
    as_clocks_stop(&clocks, &second);
    as_clocks_stop(&clocks, &first);
    assert_true(!first.runs && clocks.stopped == 500);
    assert_int_equal(as_clocks_passed(&clocks), 400);
    as_clocks_stop(&clocks, &third); /* stops before the first one did */
    assert_int_equal(clocks.stopped, 500);
    assert_int_equal(as_clocks_passed(&clocks), UINT64_MAX);
    as_clocks_go_on(&clocks, &second); /* none runs: when the last one stopped */
    assert_int_equal(as_clock_now(&second), 500);
    as_clocks_remove(&clocks, &first);
    assert_null(as_clocks_find(&clocks, 1));
    assert_ptr_equal(as_clocks_find(&clocks, 2), &second);
    assert_ptr_equal(as_clocks_find(&clocks, 5), &third);
    assert_int_equal(clocks.all.len, 2);
    as_vec_free(&clocks.all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_put), cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
