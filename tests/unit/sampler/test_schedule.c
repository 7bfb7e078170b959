/* Sampling cycles: one in each period, increasing, the same for every caller, spread evenly where they are random. */
#include "unit.h"

#include "sampler/schedule.h"

static void periodic(void **state)
{
    const struct as_schedule schedule = {.period = 1000};
    for (uint64_t k = 1; k <= 10; k++)
        assert_int_equal(as_schedule_cycle(&schedule, 3, k), 1000 * k);
}

static void random_ones_stay_in_their_period(void **state)
{
    static const uint64_t periods[] = {1, 2, 7, 1000, 799999, UINT64_C(1) << 40};
    for (size_t p = 0; p < sizeof periods / sizeof *periods; p++) {
        const struct as_schedule schedule = {.period = periods[p], .random = true, .seed = p};
        uint64_t before = 0;
        for (uint64_t k = 1; k <= 5000; k++) {
            uint64_t cycle = as_schedule_cycle(&schedule, 0, k);
            assert_true(cycle > before);
            assert_in_range(cycle, (k - 1) * periods[p] + 1, k * periods[p]);
            before = cycle;
        }
    }
}

/* 10 bins of 8000 samples: each within 6 standard deviations (27) of 800. */
static void random_ones_are_spread(void **state)
{
    const struct as_schedule schedule = {.period = 1000, .random = true, .seed = 42};
    int bins[10] = {0};
    for (uint64_t k = 1; k <= 8000; k++)
        bins[(as_schedule_cycle(&schedule, 1, k) - 1) % 1000 / 100]++;
    for (int i = 0; i < 10; i++)
        assert_in_range(bins[i], 640, 960);
}

static void seeds_and_threads_differ(void **state)
{
    const struct as_schedule one = {.period = 100000, .random = true, .seed = 1};
    const struct as_schedule two = {.period = 100000, .random = true, .seed = 2};
    int same_seed = 0, same_thread = 0;
    for (uint64_t k = 1; k <= 100; k++) {
        uint64_t cycle = as_schedule_cycle(&one, 0, k);
        assert_int_equal(cycle, as_schedule_cycle(&one, 0, k));
        same_seed += cycle == as_schedule_cycle(&one, 1, k);
        same_thread += cycle == as_schedule_cycle(&two, 0, k);
    }
    assert_in_range(same_seed, 0, 2);
    assert_in_range(same_thread, 0, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(periodic),
        cmocka_unit_test(random_ones_stay_in_their_period),
        cmocka_unit_test(random_ones_are_spread),
        cmocka_unit_test(seeds_and_threads_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
