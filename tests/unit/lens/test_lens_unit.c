/* PMUs as samplers of a lens, from the files that ship: cycles become instructions, two to a cycle. */
#include "lens/lens_unit.h"

#include "unit.h"

static struct as_lens_unit unit_of(const char *path, uint64_t period)
{
    struct as_lens_unit unit;
    struct as_error err = {0};
    if (!as_lens_unit_choose(path, period, &unit, &err))
        fail_msg("%s", err.message);
    return unit;
}

/* It samples loads and stores, each with its shadow. */
static void pebs(void **state)
{
    struct as_lens_unit unit = unit_of(PMUS "/ice-lake.pmu", 1);
    assert_int_equal(unit.sampling, AS_SAMPLING_EVENTS);
    assert_int_equal(unit.load_shadow, 2 * 10);
    assert_int_equal(unit.store_shadow, 2 * 10);
    assert_int_equal(unit.sample_cost, 2 * (500 + 6500 + 300 + 28500));
    assert_int_equal(unit.random_bits, 0);
}

/* It tags operations, and counts none until its interrupt is there: half of the jitter on average. */
static void ibs(void **state)
{
    struct as_lens_unit unit = unit_of(PMUS "/magny-cours.pmu", 1);
    assert_int_equal(unit.sampling, AS_SAMPLING_OPERATIONS);
    assert_int_equal(unit.random_bits, 4);
    assert_int_equal(unit.deaf, 2 * (50 + 25));
    assert_int_equal(unit.sample_cost, 2 * (100 + 15750 + 300 + 14000));
    assert_false(unit.adds);
    assert_int_equal(unit.load_shadow, 0);
}

/* It adds to the interval, which must not be too short. */
static void spe(void **state)
{
    struct as_error err = {0};
    struct as_lens_unit unit = unit_of(PMUS "/neoverse-n1.pmu", 1024);
    assert_int_equal(unit.sampling, AS_SAMPLING_OPERATIONS);
    assert_int_equal(unit.random_bits, 8);
    assert_true(unit.adds);
    assert_int_equal(unit.deaf, 0);
    assert_int_equal(unit.sample_cost, 2 * (20000 + 50 + 14000));
    assert_false(as_lens_unit_choose(PMUS "/neoverse-n1.pmu", 1023, &unit, &err));
    assert_int_equal(err.status, AS_EXIT_USAGE);
    assert_non_null(strstr(err.message, "intervals of 1024 operations and more"));
}

static void others(void **state)
{
    struct as_lens_unit unit;
    struct as_error err = {0};
    assert_false(as_lens_unit_choose(PMUS "/tea-dispatch.pmu", 5000, &unit, &err));
    assert_int_equal(err.status, AS_EXIT_USAGE);
    assert_non_null(strstr(err.message, "samples cycles, not accesses"));
    assert_false(as_lens_unit_choose(PMUS "/there-is-none.pmu", 5000, &unit, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pebs),
        cmocka_unit_test(ibs),
        cmocka_unit_test(spe),
        cmocka_unit_test(others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
