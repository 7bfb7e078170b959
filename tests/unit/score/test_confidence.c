/* Intervals of shares and means, and whether two profiles agree: answers by hand, and by drawing many samples. */
#include "score/change.h"
#include "score/confidence.h"

#include "base/random.h"
#include "score/agreement.h"
#include "score/binomial.h"
#include "unit.h"

#include <math.h>
#include <stdbool.h>

static bool near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance;
}

/* ---- intervals ---- */

/* Wilson's interval of 0 of 10 at 95 %: 0 to z^2 / (n + z^2); of 5 of 10: 0.5 -+ z sqrt(n + z^2) / (2 (n + z^2)). */
static void share_intervals(void **state)
{
    double z2 = AS_Z_95 * AS_Z_95;
    struct as_interval none = as_share_interval(0, 10, AS_Z_95), half = as_share_interval(0.5, 10, AS_Z_95);
    assert_true(near(none.low, 0, 1e-12) && near(none.high, z2 / (10 + z2), 1e-12));
    assert_true(near(half.low, 0.5 - AS_Z_95 * sqrt(10 + z2) / (2 * (10 + z2)), 1e-12));
    assert_true(near(half.low + half.high, 1, 1e-12));
    struct as_interval all = as_share_interval(1, 10, AS_Z_95);
    assert_true(near(all.low, 1 - none.high, 1e-12) && near(all.high, 1, 1e-12));
    struct as_interval unknown = as_share_interval(0.3, 0, AS_Z_95), exact = as_share_interval(0.3, INFINITY, AS_Z_95);
    assert_true(unknown.low == 0 && unknown.high == 1);
    assert_true(exact.low == 0.3 && exact.high == 0.3);
}

static void effective_samples(void **state)
{
    assert_true(near(as_effective_samples(16, 64), 4, 1e-12));      /* 4, 4, 4, 4 */
    assert_true(near(as_effective_samples(4, 6), 16.0 / 6, 1e-12)); /* 1, 1, 2 */
    assert_true(as_effective_samples(0, 0) == 0);
}

/* 2, 4, 9: mean 5, squares 9 + 1 + 16 over 2. */
static void spreads(void **state)
{
    const double values[] = {4, 2, 9};
    struct as_spread spread = as_spread_of(values, 3), one = as_spread_of(values, 1);
    assert_true(near(spread.mean, 5, 1e-12) && near(spread.deviation, sqrt(13), 1e-12));
    assert_true(spread.least == 2 && spread.most == 9);
    assert_true(one.mean == 4 && one.deviation == 0);
    struct as_interval unknown = as_mean_interval(&one, AS_Z_95);
    assert_true(isinf(unknown.low) && isinf(unknown.high));
}

/* Student's t at 95 %, two-sided, from tables; the tolerance is what the expansion is off, so each of its terms counts. */
static void mean_intervals(void **state)
{
    static const struct {
        size_t n;
        double t, tolerance;
    } rows[] = {{2, 12.706, 0.001},   {3, 4.303, 0.001},     {4, 3.18245, 0.004},  {5, 2.77645, 0.001},
                {6, 2.57058, 0.0004}, {11, 2.22814, 0.0001}, {31, 2.04227, 0.0001}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct as_spread spread = {.n = rows[i].n, .mean = 10, .deviation = 2};
        struct as_interval interval = as_mean_interval(&spread, AS_Z_95);
        double t = (interval.high - 10) / (2 / sqrt((double)rows[i].n));
        if (!near(t, rows[i].t, rows[i].tolerance))
            fail_msg("t of %zu values is %f, not %f", rows[i].n, t, rows[i].t);
        assert_true(near(interval.low + interval.high, 20, 1e-9));
    }
}

/* ---- chance ---- */

/* One sample of the group, in one of two profiles of n: the gap is 1/n, always. Two samples: in one profile (2/n) half
 * of the time if n is large, else one in each. */
static void hypergeometric_gaps(void **state)
{
    struct as_gap one = as_hypergeometric_gap(1, 10, 10), two = as_hypergeometric_gap(2, 2, 2);
    assert_true(near(one.mean, 0.1, 1e-9) && near(one.square, 0.01, 1e-9));
    assert_true(near(two.mean, 1.0 / 3, 1e-9) && near(two.square, 1.0 / 3, 1e-9)); /* 2 of 6 ways are one-sided */
    struct as_gap between = as_hypergeometric_gap(0.5, 10, 10);
    assert_true(near(between.mean, 0.05, 1e-9));
    assert_true(as_hypergeometric_gap(0, 10, 10).mean == 0 && as_hypergeometric_gap(20, 10, 10).mean == 0);
    struct as_gap exact = as_hypergeometric_gap(64, 1000, 500), normal = as_hypergeometric_gap(64.001, 1000, 500);
    assert_true(near(exact.mean / normal.mean, 1, 0.02) && near(exact.square / normal.square, 1, 0.001));
    assert_true(fabs(exact.mean / normal.mean - 1) > 1e-6); /* up to 64 it is the sum itself */
    struct as_gap beyond = as_hypergeometric_gap(3.5, 2, 2), three = as_hypergeometric_gap(3, 2, 2);
    assert_true(near(three.mean, 0.5, 1e-9) && near(three.square, 0.25, 1e-9));
    assert_true(beyond.mean == three.mean && beyond.square == three.square); /* all four are no whole number more */
    struct as_gap half = as_hypergeometric_gap(1.5, 2, 2);
    assert_true(near(half.mean, (0.5 + 1.0 / 3) / 2, 1e-9) && near(half.square, (0.25 + 1.0 / 3) / 2, 1e-9));
    /* x of 100 has the variance 100 * (3/4) (1/4) (300/399); a share of 300 and one of 100 move together. */
    double variance = 100 * 0.75 * 0.25 * 300 / 399, each = 1.0 / 300 + 1.0 / 100;
    struct as_gap many = as_hypergeometric_gap(100, 300, 100);
    assert_true(near(many.square / (variance * each * each), 1, 1e-12));
    assert_true(near(many.mean / sqrt(2 / M_PI * many.square), 1, 1e-12));
}

/* One sample of a half is always wrong by a half. Of two samples, half of the pairs fall on one side and half are
 * right. Many have the normal distribution's deviation. */
/* Where neither depends on the other, sum and difference have the correlation (A - B) / (A + B), A and B being their sums of squares. Of six
 * things it is significant from t = 2.1318 on (5 % above, 4 degrees of freedom, from tables): where A is 6.39 times B. */
static void what_varies_less(void **state)
{
    const double second[] = {10, 10, 10, 10, 11, 9}; /* B = 2 */
    for (int i = 0; i < 2; i++) {
        double apart = i ? 1.83 : 1.75; /* A = 4 times its square: 6.70 and 6.13 times B */
        const double first[] = {5 + apart, 5 - apart, 5 + apart, 5 - apart, 5, 5};
        assert_int_equal(as_varies_less(first, second, 6), i);
        assert_false(as_varies_less(second, first, 6));
    }
    const double much[] = {0, 100, 0}, little[] = {1, 0, 0};
    assert_false(as_varies_less(much, little, 3)); /* of so few nobody can tell */
    assert_false(as_varies_less(second, second, 6));
}

static void binomial_deviations(void **state)
{
    assert_true(near(as_binomial_deviation(1, 0.5), 0.5, 1e-12));
    assert_true(near(as_binomial_deviation(2, 0.5), 0.25, 1e-12));
    assert_true(near(as_binomial_deviation(3, 0.9), 0.9 * 0.9 * 0.9 * 0.1 * 2, 1e-12));
    /* Samples of different weights are worth a number that is not whole; it lies between those around it. */
    assert_true(near(as_binomial_deviation(2, 0.9), 0.162, 1e-12) &&
                near(as_binomial_deviation(3, 0.9), 0.1458, 1e-12));
    assert_true(near(as_binomial_deviation(2.5, 0.9), 0.2 * pow(0.9, 2.5), 1e-12));
    assert_true(as_binomial_deviation(10, 1) == 0 && as_binomial_deviation(10, 0) == 0 &&
                as_binomial_deviation(0, 0.5) == 0);
    assert_true(near(as_binomial_deviation(1e6, 0.5) / sqrt(0.5 / (M_PI * 1e6)), 1, 1e-3));
}

/* ---- agreement ---- */

enum { GROUPS = 300, ROUNDS = 2000 };

static uint64_t seed = 1;

/* A few large groups and a long tail, which is what profiles look like. */
static void make_profile(uint64_t *units)
{
    for (size_t i = 0; i < GROUPS; i++)
        units[i] = (uint64_t)(1e9 / (double)(i + 1));
}

static void draw_samples(const uint64_t *units, int samples, uint64_t *counts)
{
    struct as_weights truth = as_weights_of(units, GROUPS);
    memset(counts, 0, GROUPS * sizeof *counts);
    for (int i = 0; i < samples; i++) {
        uint64_t at = (uint64_t)(as_random_fraction(&seed) * (double)truth.total);
        size_t group = 0;
        for (; group + 1 < GROUPS && at >= units[group]; group++)
            at -= units[group];
        counts[group]++;
    }
}

static struct as_sampled sampled(const uint64_t *counts, double samples)
{
    return (struct as_sampled){as_weights_of(counts, GROUPS), samples};
}

/* The distance of two profiles of n_a and n_b samples (0: exact), drawn ROUNDS times: mean and deviation are what the
 * library expects of a single pair. The mean of ROUNDS values has a standard error of deviation/sqrt(ROUNDS), their
 * deviation one of deviation/sqrt(2 ROUNDS), which five of are allowed, and 10 % for the approximation. */
static void check_expectation(int n_a, int n_b)
{
    uint64_t units[GROUPS], a[GROUPS], b[GROUPS];
    double *distances = calloc(ROUNDS, sizeof *distances), expected = 0, deviation = 0;
    int differ = 0;
    make_profile(units);
    for (int i = 0; i < ROUNDS; i++) {
        draw_samples(units, n_a, a);
        draw_samples(units, n_b, b);
        struct as_agreement agreement =
            as_agreement_of(sampled(a, n_a), n_b ? sampled(b, n_b) : sampled(units, INFINITY), 3);
        distances[i] = agreement.distance;
        expected += agreement.expected / ROUNDS;
        deviation += agreement.deviation / ROUNDS;
        differ += agreement.verdict == AS_PROFILES_DIFFER;
    }
    struct as_spread spread = as_spread_of(distances, ROUNDS);
    free(distances);
    assert_true(near(expected, spread.mean, 5 * spread.deviation / sqrt(ROUNDS)));
    assert_true(near(deviation, spread.deviation, (5 / sqrt(2 * ROUNDS) + 0.1) * spread.deviation));
    assert_true(differ <= 20); /* 0.135 % of them beyond three deviations: 2.7, and five of its own deviations */
}

static void chance_is_expected(void **state)
{
    check_expectation(100, 100);
    check_expectation(1000, 200);
    check_expectation(2000, 2000);
    check_expectation(500, 0);
}

/* Where all is in one group, chance moves nothing. Groups without a sample add nothing. */
static void one_group(void **state)
{
    const uint64_t one[] = {0, 7, 0};
    struct as_sampled a = {as_weights_of(one, 3), 100}, b = {as_weights_of(one, 3), 50};
    struct as_chance chance = as_chance_of(a, b);
    assert_true(chance.expected == 0 && chance.deviation == 0);
    assert_int_equal(as_agreement_of(a, b, 3).verdict, AS_PROFILES_AGREE);
    const uint64_t two[] = {5, 0, 5}, halves[] = {5, 5};
    struct as_sampled wide = {as_weights_of(two, 3), 100}, narrow = {as_weights_of(halves, 2), 100};
    struct as_chance wider = as_chance_of(wide, wide), same = as_chance_of(narrow, narrow);
    assert_true(same.expected > 0 && same.deviation > 0);
    assert_true(near(wider.expected, same.expected, 1e-12) && near(wider.deviation, same.deviation, 1e-12));
}

/* Two groups are as far apart as each of them is: their gaps are the same. */
static void two_groups(void **state)
{
    const uint64_t halves[] = {50, 50}, moved[] = {80, 20};
    struct as_sampled a = {as_weights_of(halves, 2), 1000}, b = {as_weights_of(moved, 2), 1000};
    struct as_sampled exact = {as_weights_of(halves, 2), INFINITY};
    struct as_agreement same = as_agreement_of(a, a, 3), other = as_agreement_of(a, b, 3);
    struct as_agreement truth = as_agreement_of(a, exact, 3), exactly = as_agreement_of(exact, exact, 3);
    double sigma = sqrt(0.25 * 2 / 1000);
    assert_true(same.distance == 0 && near(same.expected, sqrt(2 / M_PI) * sigma, 0.01 * sigma));
    assert_true(near(same.deviation, sqrt(1 - 2 / M_PI) * sigma, 0.05 * sigma));
    assert_int_equal(same.verdict, AS_PROFILES_AGREE);
    assert_true(near(other.distance, 0.3, 1e-12));
    assert_int_equal(other.verdict, AS_PROFILES_DIFFER);
    assert_true(near(truth.expected, sqrt(2 / M_PI * 0.25 / 1000), 1e-4));
    assert_int_equal(truth.verdict, AS_PROFILES_AGREE);
    assert_true(exactly.expected == 0 && exactly.deviation == 0);
    assert_int_equal(exactly.verdict, AS_PROFILES_AGREE);
}

/* All samples on different groups: two profiles that share nothing are what is to be expected. */
static void too_few(void **state)
{
    uint64_t a[GROUPS] = {0}, b[GROUPS] = {0};
    for (size_t i = 0; i < GROUPS; i++)
        (i % 2 ? a : b)[i] = 1;
    struct as_agreement apart = as_agreement_of(sampled(a, GROUPS / 2.0), sampled(b, GROUPS / 2.0), 3);
    assert_true(apart.distance == 1 && near(apart.expected, 1, 1e-9));
    assert_int_equal(apart.verdict, AS_PROFILES_TOO_FEW);
    struct as_agreement empty = as_agreement_of(sampled(a, 100), (struct as_sampled){.samples = 0}, 3);
    assert_true(isnan(empty.distance));
    assert_int_equal(empty.verdict, AS_PROFILES_TOO_FEW);
    assert_string_equal(as_agreement_verdict_name(AS_PROFILES_TOO_FEW), "too few samples");
    assert_string_equal(as_agreement_verdict_name(AS_PROFILES_AGREE), "agree");
    assert_string_equal(as_agreement_verdict_name(AS_PROFILES_DIFFER), "differ");
}

/* 27 samples against 3 are 4.4 deviations apart, 40 against 3 are 5.6. */
static void changes_beyond_chance(void **state)
{
    struct as_timed few = {.time = 3, .samples = 3, .weight = 1}, many = {.time = 27, .samples = 27, .weight = 1};
    assert_true(fabs(as_change_deviation(few, many) - sqrt(30)) < 1e-12);
    assert_false(as_change_is_significant(many, few));
    many.time = many.samples = 40;
    assert_true(as_change_is_significant(many, few) && as_change_is_significant(few, many));
    struct as_timed none = {.weight = 1}, one = {.time = 1, .samples = 1, .weight = 1};
    assert_false(as_change_is_significant(none, one));
    struct as_timed exact = {.time = 1000, .samples = INFINITY, .weight = 1}, more = exact;
    assert_false(as_change_is_significant(exact, more));
    more.time++;
    assert_true(as_change_is_significant(exact, more));
    assert_true(as_change_deviation(exact, more) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(share_intervals),
        cmocka_unit_test(effective_samples),
        cmocka_unit_test(spreads),
        cmocka_unit_test(mean_intervals),
        cmocka_unit_test(hypergeometric_gaps),
        cmocka_unit_test(chance_is_expected),
        cmocka_unit_test(binomial_deviations),
        cmocka_unit_test(what_varies_less),
        cmocka_unit_test(two_groups),
        cmocka_unit_test(one_group),
        cmocka_unit_test(too_few),
        cmocka_unit_test(changes_beyond_chance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
