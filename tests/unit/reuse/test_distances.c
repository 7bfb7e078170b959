/* The values that reuse is made of, by hand: histograms, caches, shares of watched uses, how long they are watched. */
#include "shen.h"
#include "unit.h"

#include "reuse/lru_cache.h"
#include "reuse/patience.h"
#include "reuse/survival.h"

#include <math.h>

static void check_near(double value, double expected)
{
    if (fabs(value - expected) > 1e-9)
        fail_msg("%.12g, not %.12g", value, expected);
}

/* ---- histograms ---- */

static void bins(void **state)
{
    static const struct {
        uint64_t distance;
        uint32_t bin;
        uint64_t low;
        uint32_t octave;
    } cases[] = {{0, 0, 0, 0},          {1, 1, 1, 1},         {3, 3, 3, 2},       {63, 63, 63, 6},
                 {64, 64, 64, 7},       {127, 127, 127, 7},   {128, 128, 128, 8}, {129, 128, 128, 8},
                 {255, 191, 254, 8},    {256, 192, 256, 9},   {259, 192, 256, 9}, {260, 193, 260, 9},
                 {1023, 319, 1016, 10}, {1024, 320, 1024, 11}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(as_distance_bin(cases[i].distance), cases[i].bin);
        assert_int_equal(as_distance_low(cases[i].bin), cases[i].low);
        assert_int_equal(as_distance_octave(cases[i].distance), cases[i].octave);
    }
    assert_int_equal(as_distance_bin(UINT64_MAX), AS_DISTANCE_BINS - 1);
    assert_int_equal(as_distance_octave(UINT64_MAX), AS_DISTANCE_OCTAVES - 1);
    assert_true(as_distance_octave_low(0) == 0 && as_distance_octave_low(1) == 1 && as_distance_octave_low(7) == 64);
}

static void sums(void **state)
{
    static struct as_distances one, other;
    uint64_t octaves[AS_DISTANCE_OCTAVES] = {0};
    as_distances_add(&one, 3, 10);
    as_distances_add(&one, 64, 20);
    as_distances_add(&other, 64, 1);
    as_distances_add(&other, 256, 40); /* 256 to 259 are one bin */
    as_distances_merge(&one, &other);
    assert_true(one.total == 71 && one.bins[64] == 21 && one.bins[192] == 40);
    check_near(as_distances_beyond(&one, 0), 71);
    check_near(as_distances_beyond(&one, 3), 71);
    check_near(as_distances_beyond(&one, 4), 61);
    check_near(as_distances_beyond(&one, 65), 40);
    check_near(as_distances_beyond(&one, 257), 30);
    check_near(as_distances_beyond(&one, 260), 0);
    as_distances_octaves(&one, octaves);
    assert_true(octaves[2] == 10 && octaves[7] == 21 && octaves[9] == 40 && octaves[8] == 0);
}

/* Distances that cannot be told apart are one octave, the first. */
static void short_ones(void **state)
{
    static struct as_distances all, other;
    uint64_t octaves[AS_DISTANCE_OCTAVES] = {0};
    for (uint32_t i = 0; i < 5; i++)
        as_distances_add(&all, (uint64_t[]){0, 1, 3, 7, 8}[i], 1 << i);
    as_distances_octaves(&all, octaves);
    assert_true(octaves[0] == 1 && octaves[1] == 2 && octaves[2] == 4 && octaves[3] == 8 && octaves[4] == 16);
    assert_int_equal(as_distances_high(&all, 0), 0);
    other.least = 8;
    as_distances_merge(&all, &other);
    other.least = 4;
    as_distances_merge(&all, &other);
    assert_int_equal(all.least, 8);
    as_distances_octaves(&all, octaves);
    assert_true(octaves[0] == 15 && octaves[1] == 0 && octaves[2] == 0 && octaves[3] == 0 && octaves[4] == 16);
    assert_int_equal(as_distances_high(&all, 0), 7);
    assert_int_equal(as_distances_high(&all, 4), 15);
}

static void likeness(void **state)
{
    static const uint64_t even[] = {10, 10, 0}, left[] = {20, 0, 0}, right[] = {0, 0, 7}, none[3] = {0};
    check_near(as_distances_accuracy(even, even, 3), 1);
    check_near(as_distances_accuracy(even, left, 3), 0.5);
    check_near(as_distances_accuracy(left, right, 3), 0);
    check_near(as_distances_accuracy(none, none, 3), 1);
    check_near(as_distances_accuracy(none, left, 3), 0);
}

/* Half of the accesses are to what was just used: ten accesses are five granules. */
static void times_to_granules(void **state)
{
    static struct as_distances times, distances, all_far, none_reused;
    as_distances_add(&times, 0, 50);
    as_distances_add(&times, 10, 50);
    as_distances_from_times(&times, &times, 100, &distances);
    assert_true(distances.total == 100 && distances.bins[0] == 50 && distances.bins[5] == 50);
    as_distances_add(&none_reused, 30, 1);
    as_distances_from_times(&none_reused, &none_reused, 1000, &all_far);
    assert_true(all_far.total == 1 && all_far.bins[30] == 1);
}

/* ---- a cache ---- */

static void check_out(const struct as_cached_line *out, uint64_t key, uint64_t bytes, uint32_t code)
{
    assert_int_equal(out->key, key + 1);
    assert_int_equal(out->bytes, bytes);
    assert_int_equal(out->code, code);
}

static void two_ways(void **state)
{
    struct as_lru_cache cache;
    struct as_cached_line out;
    as_lru_cache_init(&cache, &(struct as_cache_shape){.lines = 4, .ways = 2});
    assert_true(cache.sets == 2 && cache.ways == 2);
    assert_false(as_lru_cache_access(&cache, 0, 50, 1, &out));
    assert_int_equal(out.key, 0);
    assert_false(as_lru_cache_access(&cache, 2, 52, 2, &out));
    assert_true(as_lru_cache_access(&cache, 0, 99, 4, &out)); /* who brought it stays */
    assert_true(as_lru_cache_access(&cache, 0, 99, 8, &out));
    assert_false(as_lru_cache_access(&cache, 1, 51, 1, &out)); /* the other set */
    assert_false(as_lru_cache_access(&cache, 4, 54, 1, &out));
    check_out(&out, 2, 2, 52);
    as_lru_cache_drop(&cache, 4, &out);
    check_out(&out, 4, 1, 54);
    as_lru_cache_drop(&cache, 4, &out);
    assert_int_equal(out.key, 0);
    as_lru_cache_drop(&cache, 0, &out);
    check_out(&out, 0, 13, 50);
    assert_false(as_lru_cache_access(&cache, 0, 60, 1, &out));
    assert_int_equal(out.key, 0);
    as_lru_cache_free(&cache);
}

static void three_sets(void **state)
{
    struct as_lru_cache cache;
    struct as_cached_line out;
    as_lru_cache_init(&cache, &(struct as_cache_shape){.lines = 3, .ways = 1});
    for (uint64_t key = 0; key < 3; key++)
        assert_false(as_lru_cache_access(&cache, key, 7, 1, &out));
    assert_true(as_lru_cache_access(&cache, 2, 7, 1, &out));
    assert_false(as_lru_cache_access(&cache, 5, 8, 1, &out));
    check_out(&out, 2, 1, 7);
    assert_true(as_lru_cache_access(&cache, 1, 7, 1, &out));
    assert_true(as_lru_cache_has(&cache, 5) && as_lru_cache_has(&cache, 0));
    assert_false(as_lru_cache_has(&cache, 2));
    assert_false(as_lru_cache_has(&cache, 2)); /* to ask changes nothing */
    as_lru_cache_free(&cache);
}

/* ---- watched uses ---- */

/* A quarter ends in the first octave; of the rest a third in the second, where one is given up; the last one ends. */
static void shares_of_uses(void **state)
{
    struct as_watched_use uses[] = {{.distance = 1, .weight = 1, .end = AS_USE_REUSED},
                                    {.distance = 2, .weight = 1, .end = AS_USE_REUSED},
                                    {.distance = 2, .weight = 1, .end = AS_USE_GIVEN_UP},
                                    {.distance = 4, .weight = 1, .end = AS_USE_INVALIDATED}};
    static struct as_distances times;
    struct as_survival result = as_survival_estimate(uses, 4, 1000, &times);
    double shares[4];
    as_survival_shares(uses, 4, shares);
    check_near(shares[0], 0.25);
    check_near(shares[1], 0.25);
    check_near(shares[2], 0); /* given up */
    check_near(shares[3], 0); /* no reuse */
    check_near(result.reused, 0.5);
    check_near(result.invalidated, 0.5);
    check_near(result.never, 0);
    check_near(result.effective, 3);
    assert_true(times.total == 500 && times.bins[1] == 250 && times.bins[2] == 250);
    uses[3].end = AS_USE_NEVER;
    uses[1].weight = 2; /* three fifths get beyond the first octave and end there with two of four */
    times = (struct as_distances){0};
    result = as_survival_estimate(uses, 4, 0, &times);
    check_near(result.reused, 0.2 + 0.8 * 0.5);
    check_near(result.invalidated, 0);
    check_near(result.never, 0.4);
    assert_true(times.bins[1] == 200000 && times.bins[2] == 400000);
    check_near(result.effective, 16.0 / 6);
}

/* One that had a chance of a quarter to be watched still stands for four; of less than an eighth, for eight. */
static void unlikely_uses(void **state)
{
    struct as_watched_use uses[] = {{.distance = 1, .weight = 1, .end = AS_USE_REUSED},
                                    {.distance = 1, .weight = 1, .kept = 0.25, .end = AS_USE_INVALIDATED}};
    static struct as_distances times;
    struct as_survival result = as_survival_estimate(uses, 2, 1000, &times);
    check_near(result.reused, 0.2);
    check_near(result.invalidated, 0.8);
    uses[1].kept = 0.01;
    result = as_survival_estimate(uses, 2, 1000, &times);
    check_near(result.reused, 1.0 / 9);
    check_near(result.invalidated, 8.0 / 9);
}

/* ---- patience ---- */

static void patience_falls(void **state)
{
    struct as_patience patience;
    as_patience_init(&patience);
    check_near(as_patience_reach(&patience, 0), 1);
    check_near(as_patience_reach(&patience, 1), 1);
    check_near(as_patience_reach(&patience, 2), sqrt(0.5));
    check_near(as_patience_reach(&patience, 3), sqrt(0.5));
    check_near(as_patience_reach(&patience, 4), 0.5);
    check_near(as_patience_reach(&patience, 16), 0.25);
    check_near(as_patience_reach(&patience, 1 << 20), 1.0 / 64);
    check_near(as_patience_reach(&patience, UINT64_MAX), 1.0 / 64);
    /* One more ends in the second octave, after half a sample in it: 3 ends in 2 + 2 + 1.5, and all before it was watched. */
    as_patience_learn(&patience, 1, true, 1);
    check_near(patience.ended[1], 2);
    check_near(patience.watched[0], 3);
    check_near(patience.watched[1], 2.5);
    check_near(patience.ended[0], 1);
    check_near(as_patience_reach(&patience, 2), sqrt((1.0 / 4) / (3 / 5.5)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bins),
                                       cmocka_unit_test(sums),
                                       cmocka_unit_test(short_ones),
                                       cmocka_unit_test(likeness),
                                       cmocka_unit_test(times_to_granules),
                                       cmocka_unit_test(two_ways),
                                       cmocka_unit_test(three_sets),
                                       cmocka_unit_test(shares_of_uses),
                                       cmocka_unit_test(unlikely_uses),
                                       cmocka_unit_test(patience_falls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
