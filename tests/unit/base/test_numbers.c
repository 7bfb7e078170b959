/* Ratios and random numbers. */
#include "base/number.h"
#include "base/random.h"
#include "base/ratio.h"

#include "unit.h"

static void ratios(void **state)
{
    assert_true(as_ratio(1, 4) == 0.25);
    assert_true(as_ratio(0, 4) == 0);
    assert_true(as_ratio(5, 0) == 0);
}

/* The first numbers of splitmix64 from seed 1234567, as its authors publish them. */
static void known_numbers(void **state)
{
    static const uint64_t known[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                     4593380528125082431u, 16408922859458223821u};
    uint64_t seed = 1234567;
    for (size_t i = 0; i < 5; i++)
        assert_true(as_random(&seed) == known[i]);
    assert_true(as_random_hash(1234567) == known[0]);
}

/* Each of LIMIT numbers has the same chance: of N draws, a number's count has a deviation of sqrt(N/LIMIT), and five of
 * them are allowed. */
static void below_a_limit(void **state)
{
    enum { LIMIT = 7, N = 70000 };
    int counts[LIMIT] = {0};
    uint64_t seed = 0;
    for (int i = 0; i < N; i++) {
        uint64_t number = as_random_below(&seed, LIMIT);
        assert_true(number < LIMIT);
        counts[number]++;
    }
    for (int i = 0; i < LIMIT; i++)
        assert_in_range(counts[i], N / LIMIT - 500, N / LIMIT + 500);
    assert_int_equal(as_random_below(&seed, 1), 0);
    assert_int_equal(as_random_scale(UINT64_MAX, 7), 6);
}

/* The mean of N fractions is 1/2 with a deviation of 1/sqrt(12 N). */
static void fractions(void **state)
{
    enum { N = 30000 };
    double sum = 0;
    uint64_t seed = 5;
    for (int i = 0; i < N; i++) {
        double fraction = as_random_fraction(&seed);
        assert_true(fraction >= 0 && fraction < 1);
        sum += fraction;
    }
    assert_true(sum / N > 0.5 - 5.0 / 600 && sum / N < 0.5 + 5.0 / 600);
}

static void numbers_that_are_typed(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
    } right[] = {{"0", 0},
                 {"17", 17},
                 {"3k", 3000},
                 {"3K", 3000},
                 {"2M", 2000000},
                 {"1G", 1000000000},
                 {"1T", 1000000000000},
                 {"0x1f", 31},
                 {"0X1F", 31},
                 {"010", 10},
                 {"18446744073709551615", UINT64_MAX}};
    static const char *const wrong[] = {"",
                                        "k",
                                        "1kk",
                                        "1x",
                                        "1 ",
                                        " 1",
                                        "-1",
                                        "+1",
                                        "0x",
                                        "0xg",
                                        "0x1k",
                                        "1kB",
                                        "1m",
                                        "18446744073709551616",
                                        "18446744073709552k"};
    uint64_t value;
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        assert_true(as_number_read(right[i].text, &value));
        assert_true(value == right[i].value);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (as_number_read(wrong[i], &value))
            fail_msg("'%s' is taken for %llu", wrong[i], (unsigned long long)value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_that_are_typed), cmocka_unit_test(ratios),    cmocka_unit_test(known_numbers),
        cmocka_unit_test(below_a_limit),          cmocka_unit_test(fractions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
