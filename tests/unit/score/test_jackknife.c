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

/* ---- few regions ---- */

/* Runs whose regions cost 1, and one in ten 2: most have none or one of those, and seem to agree. */
enum { REGIONS = 10, RUNS = 2000 };
static const double truth = 1.1;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the mean of a run's regions, relative to the truth; *found is its deviation by jackknife. */
static double measure(uint64_t *seed, double *found)
{
    double costs[REGIONS], sum = 0, replicates[REGIONS];
    for (size_t i = 0; i < REGIONS; i++) {
        *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        costs[i] = (*seed >> 33) % 10 == 0 ? 2 : 1;
        sum += costs[i];
    }
    for (size_t i = 0; i < REGIONS; i++)
        replicates[i] = (sum - costs[i]) / (REGIONS - 1);
    *found = as_jackknife_deviation(replicates, REGIONS) * REGIONS / sum;
    return sum / REGIONS / truth;
}

static void few_regions_are_held_against_others(void **state)
{
    (void)state;
    double raw[RUNS], regular[RUNS];
    size_t raw_holds = 0, holds = 0;
    uint64_t seed = 1;
    struct as_region_prior prior = as_region_prior_of(1, REGIONS);
    for (size_t i = 0; i < RUNS; i++) {
        double found, estimate = measure(&seed, &found), t = as_jackknife_quantile(REGIONS);
        raw[i] = t * found;
        regular[i] = t * as_region_deviation(&prior, found);
        raw_holds += fabs(1 - 1 / estimate) <= raw[i];
        holds += fabs(1 - 1 / estimate) <= regular[i];
    }
    qsort(raw, RUNS, sizeof *raw, by_value);
    qsort(regular, RUNS, sizeof *regular, by_value);
    assert_true(raw_holds < RUNS * 8 / 10);
    assert_true(holds > RUNS * 95 / 100);
    assert_true(raw[RUNS / 20] < 1e-9);
    assert_true(regular[RUNS * 19 / 20] < 2 * regular[RUNS / 20]);
}

static void many_regions_speak_for_themselves(void **state)
{
    (void)state;
    struct as_region_prior few = as_region_prior_of(0.5, 1), many = as_region_prior_of(0.5, 100000);
    assert_true(fabs(as_region_deviation(&few, 0.9) - 0.15) < 1e-12); /* a single one has no spread */
    assert_true(fabs(as_region_deviation(&many, 0.01) - 0.01) < 1e-5);
    assert_true(as_region_share_deviation(&few, 0, 0, 0) == 0);
    assert_true(as_region_share_deviation(&few, 1, 1, 0) == 0);                    /* all of the time, whatever it is */
    assert_true(fabs(as_region_share_deviation(&few, 0.5, 0, 0) - 0.075) < 1e-12); /* only others change */
    assert_true(fabs(as_region_share_deviation(&few, 0.1, 0.5, 0) - 0.15 * hypot(0.9, 0.05)) < 1e-12);
    assert_true(as_region_prior_of(0.5, 0).regions == 1);
}

/* Two phases of two intervals each: each has half of the variance, with one degree of freedom, so both together have two. Alone, a
 * phase has one. A phase that was measured completely adds nothing. */
static void phases_by_their_weights(void **state)
{
    (void)state;
    struct as_region_prior two = as_points_prior_of(0.5, 2 * 0.25 * 0.25), one = as_points_prior_of(0.25, 0.25 * 0.25);
    assert_true(fabs((two.regions - 1) - 2 * (one.regions - 1)) < 1e-12 && one.regions > 1);
    assert_true(fabs(two.deviation - M_SQRT2 * one.deviation) < 1e-12 && one.deviation > 0);
    struct as_region_prior none = as_points_prior_of(0, 0);
    assert_true(none.deviation == 0 && none.regions == 1);
    assert_true(as_region_deviation(&none, 0) == 0);
}

static void what_no_region_has_is_a_guess(void **state)
{
    (void)state;
    assert_true(as_guessed_share_deviation(0.1, 0, 0.02) == 0.02);
    assert_true(fabs(as_guessed_share_deviation(0.1, 0.05, 0) - 1.2 * 0.05 * 0.9) < 1e-12);
    assert_true(fabs(as_guessed_share_deviation(0.1, 0.05, 0.1) - hypot(0.1, 1.2 * 0.05 * 0.9)) < 1e-12);
    assert_true(as_guessed_share_deviation(1, 1, 0) == 0); /* all of the time, whatever it is */
    assert_true(fabs(as_guessed_share_deviation(0.1, 0.3, 0) - 1.2 * 0.1 * 0.9) < 1e-12); /* no more than the row has */
}

/* What a second variable explains of ten values is significant, or chance. */
static void varies_less(void **state)
{
    (void)state;
    static const double noise[] = {3, -1, 4, -1, 5, -9, 2, -6, 5, -3}, other[] = {-2, 7, 1, -8, 2, 8, -1, 8, -2, 8};
    double less[10], alike[10], more[10], hardly[10];
    for (int i = 0; i < 10; i++) {
        less[i] = 100 + 0.3 * noise[i] + 0.1 * other[i];
        alike[i] = 100 + other[i];
        more[i] = 100 + 2 * noise[i];
        hardly[i] = 100 + 0.99 * noise[i] + 0.5 * other[i];
    }
    assert_true(as_varies_less(noise, less, 10));
    assert_false(as_varies_less(less, noise, 10));
    assert_false(as_varies_less(noise, noise, 10));
    assert_false(as_varies_less(noise, alike, 10));
    assert_false(as_varies_less(noise, more, 10));
    assert_false(as_varies_less(noise, hardly, 10));
    assert_false(as_varies_less(noise, less, 3)); /* too few for any verdict */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(jackknife),
                                       cmocka_unit_test(few_regions_are_held_against_others),
                                       cmocka_unit_test(many_regions_speak_for_themselves),
                                       cmocka_unit_test(phases_by_their_weights),
                                       cmocka_unit_test(what_no_region_has_is_a_guess),
                                       cmocka_unit_test(varies_less)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
