/* The delete-a-group jackknife: of a mean it gives what textbooks give. */
#include "score/confidence.h"

#include "unit.h"

#include <math.h>

static void jackknife(void **state)
{
    const double values[] = {3, 7, 4, 12, 9, 5, 6, 8, 10, 1};
    double replicates[10], sum = 0;
    for (size_t i = 0; i < 10; i++)
        sum += values[i];
    for (size_t i = 0; i < 10; i++)
        replicates[i] = (sum - values[i]) / 9;
    struct as_spread spread = as_spread_of(values, 10);
    struct as_interval interval = as_mean_interval(&spread, AS_Z_95);
    assert_true(fabs(as_jackknife_deviation(replicates, 10) - spread.deviation / sqrt(10)) < 1e-12);
    assert_true(fabs(as_jackknife_interval(replicates, 10) - (interval.high - interval.low) / 2) < 1e-12);
    assert_true(isinf(as_jackknife_interval(replicates, 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(jackknife)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
