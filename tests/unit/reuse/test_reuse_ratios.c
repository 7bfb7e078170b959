/* What follows from distances: misses of caches of every size, the orders of pairs and codes, and the same from an estimate. Threads walk
 * along lines in rounds, so that all of it is known. */
#include "reuse/reuse_ratios.h"

#include "reuse/reuse_estimate.h"
#include "reuse/reuse_native.h"

#include "unit.h"

#include <math.h>
#include <stdlib.h>

enum { LINES = 20, ROUNDS = 3, LINE = 64, FIRST = 0x10000 };

static void check_near(double value, double expected)
{
    if (fabs(value - expected) > 1e-12)
        fail_msg("%g, not %g", value, expected);
}

static struct as_reuse_options options(void)
{
    return (struct as_reuse_options){
        .shape = {.shift = 6,
                  .levels = {{.lines = 8, .ways = 8}, {.lines = 16, .ways = 16}, {.lines = 64, .ways = 64}},
                  .interval = 25},
        .sockets = 1};
}

static void access_one(struct as_reuse *reuse, uint32_t thread, uint64_t line, uint8_t kind, uint32_t code)
{
    struct as_data_access access = {.address = FIRST + line * LINE, .insn = code, .size = 8, .kind = kind};
    as_reuse_take(reuse, thread, 1, &access, 1);
}

/* Thread 1 loads; thread 2, if it runs, stores to every fourth of the lines, once in the first round. */
static struct as_reuse *run(const struct as_reuse_options *how, bool two)
{
    struct as_reuse *reuse = as_reuse_new(how);
    for (int round = 0; round < ROUNDS; round++)
        for (uint64_t i = 0; i < LINES; i++) {
            access_one(reuse, 1, i, AS_ACCESS_LOAD, 1);
            if (two && round == 0 && i % 4 == 0)
                access_one(reuse, 2, i, AS_ACCESS_STORE, 2);
        }
    as_reuse_finish(reuse);
    return reuse;
}

static void one_thread(void **state)
{
    struct as_reuse_options how = options();
    struct as_reuse *one = run(&how, false);
    uint64_t missed[AS_MISS_CAUSES];
    assert_ptr_equal(as_reuse_last_level(one), as_reuse_all_threads(one));
    assert_ptr_equal(as_reuse_working_view(one), as_reuse_get_thread(one, 0)->view);
    assert_int_equal(as_reuse_working_view(one)->working_set.data[0], LINES);
    assert_int_equal(as_reuse_least(one), 1);
    check_near(as_reuse_miss_ratio(one, false, 1), 1);
    check_near(as_reuse_miss_ratio(one, false, 16), 1); /* each comes back behind 19 others */
    check_near(as_reuse_miss_ratio(one, false, 32), 1.0 / ROUNDS);
    check_near(as_reuse_miss_ratio(one, true, 32), 1.0 / ROUNDS);
    check_near(as_reuse_miss_ratio_error(one, false, 32), 0);
    as_reuse_level_misses(one, AS_REUSE_L1, missed);
    assert_int_equal(missed[AS_MISS_COLD], LINES);
    assert_int_equal(missed[AS_MISS_CAPACITY], (ROUNDS - 1) * LINES);
    assert_int_equal(as_reuse_sum(missed), ROUNDS * LINES);
    as_reuse_level_misses(one, AS_REUSE_LLC, missed);
    assert_int_equal(as_reuse_sum(missed), LINES);
    as_reuse_free(one);
}

/* What the second thread has stored to comes again as a miss of the first thread alone, not of what they share. */
static void two_threads(void **state)
{
    struct as_reuse_options how = options();
    struct as_reuse *two = run(&how, true);
    uint64_t missed[AS_MISS_CAUSES];
    const double stores = LINES / 4, touches = ROUNDS * LINES + stores;
    assert_ptr_equal(as_reuse_last_level(two), as_reuse_all_sockets(two));
    assert_ptr_equal(as_reuse_working_view(two), as_reuse_all_sockets(two));
    assert_int_equal(as_reuse_all_threads(two)->counts.touches, touches);
    check_near(as_reuse_miss_ratio(two, false, 32), (LINES + 2 * stores) / touches); /* cold in both, then gone */
    check_near(as_reuse_miss_ratio(two, true, 32), LINES / (double)as_reuse_last_level(two)->counts.touches);
    as_reuse_level_misses(two, AS_REUSE_L1, missed);
    assert_int_equal(missed[AS_MISS_COHERENCE], stores);
    assert_int_equal(missed[AS_MISS_COLD], LINES + stores);
    as_reuse_level_misses(two, AS_REUSE_LLC, missed); /* the sockets' */
    assert_int_equal(missed[AS_MISS_COLD], LINES);
    as_reuse_free(two);
}

static void no_accesses(void **state)
{
    struct as_reuse_options how = options();
    struct as_reuse *none = as_reuse_new(&how);
    as_reuse_finish(none);
    assert_null(as_reuse_working_view(none));
    check_near(as_reuse_miss_ratio(none, false, 8), 0);
    check_near(as_reuse_miss_ratio(none, true, 8), 0);
    as_reuse_free(none);
}

/* All lines are in the sample at first; then there are too many of them. More than a chunk of touches (reuse.h), which are counted together. */
static void a_sample(void **state)
{
    enum { MANY = 1 << 15, AT_ONCE = 64 };
    _Atomic uint64_t threshold = UINT64_MAX;
    struct as_data_access accesses[AT_ONCE];
    struct as_reuse_options how = options();
    how.shape.sampled = true;
    how.threshold = &threshold;
    how.most = 64;
    how.thinnest = 7;
    struct as_reuse *sampled = as_reuse_new(&how);
    for (uint64_t i = 0; i < ROUNDS * MANY; i++) {
        accesses[i % AT_ONCE] =
            (struct as_data_access){.address = FIRST + i % MANY * LINE, .size = 8, .kind = AS_ACCESS_LOAD};
        if (i % AT_ONCE == AT_ONCE - 1)
            as_reuse_take(sampled, 1, 1, accesses, AT_ONCE);
    }
    as_reuse_finish(sampled);
    uint32_t scale = as_reuse_scale(sampled);
    assert_in_range(scale, 2, 7);
    assert_null(as_reuse_working_view(sampled));
    assert_int_equal(as_reuse_least(sampled), 4 << scale);
    assert_true(as_reuse_miss_ratio_error(sampled, false, 8) > 0);
    assert_true(as_reuse_miss_ratio_error(sampled, false, 1 << 30) >
                0); /* how many first touches there are is a guess, too */
    as_reuse_free(sampled);
}

/* ---- orders ---- */

static void pairs_in_order(void **state)
{
    static const struct as_reuse_pair pairs[] = {
        {.use = 4, .reuse = 1, .count = 9, .beyond = {5, 7, 8}},
        {.use = 2, .reuse = 2, .count = 30, .beyond = {5, 0, 0}},
        {.use = 1, .reuse = 9, .count = 9, .beyond = {3, 0, 0}, .conflicts = 2},
        {.use = 7, .reuse = 7, .count = 99, .beyond = {0, 9, 9}},
        {.use = 1, .reuse = 8, .count = 9, .beyond = {5, 0, 0}},
        {.use = 5, .reuse = 5, .count = 1, .beyond = {1, 0, 0}, .conflicts = 5},
    };
    static const size_t expected[] = {5, 1, 4, 2, 0, 3};
    struct as_reuse_view view = {.pairs = {.data = (struct as_reuse_pair *)pairs, .len = 6}};
    const struct as_reuse_pair **sorted = as_reuse_sorted_pairs(&view);
    for (size_t i = 0; i < 6; i++)
        assert_ptr_equal(sorted[i], &pairs[expected[i]]);
    free(sorted);
}

static void codes_in_order(void **state)
{
    struct as_reuse_code codes[] = {{.misses = {{1, 2}, {0}, {7}}},
                                    {.misses = {{0}, {9}, {0}}},
                                    {.misses = {{0, 0, 1, 4}, {0}, {0}}},
                                    {.misses = {{3}, {0}, {8}}}};
    struct as_reuse_view view = {.codes = {.data = codes, .len = 4}};
    size_t n;
    uint32_t *sorted = as_reuse_sorted_codes(&view, AS_REUSE_L1, &n);
    assert_true(n == 3 && sorted[0] == 2 && sorted[1] == 0 && sorted[2] == 3);
    free(sorted);
    sorted = as_reuse_sorted_codes(&view, AS_REUSE_LLC, &n);
    assert_true(n == 2 && sorted[0] == 3 && sorted[1] == 0);
    free(sorted);
}

/* ---- estimates ---- */

static void estimated_ratio(void **state)
{
    struct as_reuse_estimate estimate = {.survival = {.reused = 0.5, .own = 0.25, .effective = 0.1}, .accesses = 1000};
    as_distances_add(&estimate.hits, 4, 300);
    as_distances_add(&estimate.hits, 64, 200);
    check_near(as_reuse_estimate_ratio(&estimate, 128), 0.25);
    check_near(as_reuse_estimate_ratio(&estimate, 64), 0.45);
    check_near(as_reuse_estimate_ratio(&estimate, 1), 0.75);
    assert_true(as_reuse_estimate_sizes(&estimate) == UINT64_C(1) << 32);
    as_distances_add(&estimate.hits, 64, 2000);
    check_near(as_reuse_estimate_ratio(&estimate, 64), 1);
    estimate.survival.reused = 1;
    check_near(as_reuse_estimate_ratio(&estimate, 128), 0);
    estimate.accesses = 0;
    check_near(as_reuse_estimate_ratio(&estimate, 64), 0);
    estimate.survival.effective = 0;
    assert_int_equal(as_reuse_estimate_sizes(&estimate), 0);
}

static void accuracy(void **state)
{
    struct as_distances estimate = {0}, truth = {0};
    as_distances_add(&truth, 4, 100);
    as_distances_add(&truth, 64, 100);
    assert_true(isnan(as_reuse_accuracy(&estimate, &truth)));
    as_distances_add(&estimate, 5, 3); /* of the same power of two */
    as_distances_add(&estimate, 64, 1);
    check_near(as_reuse_accuracy(&estimate, &truth), 0.75);
    check_near(as_reuse_accuracy(&truth, &truth), 1);
}

static void how_far_off(void **state)
{
    check_near(as_reuse_native_off(&(struct as_reuse_native_info){.accesses = 100, .least = 50, .most = 300}), 3);
    check_near(as_reuse_native_off(&(struct as_reuse_native_info){.accesses = 100, .least = 20, .most = 300}), 5);
    check_near(as_reuse_native_off(&(struct as_reuse_native_info){.accesses = 100, .least = 100, .most = 100}), 1);
    check_near(as_reuse_native_off(&(struct as_reuse_native_info){.accesses = 0, .least = 0, .most = 7}), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread),      cmocka_unit_test(two_threads),    cmocka_unit_test(no_accesses),
        cmocka_unit_test(a_sample),        cmocka_unit_test(pairs_in_order), cmocka_unit_test(codes_in_order),
        cmocka_unit_test(estimated_ratio), cmocka_unit_test(accuracy),       cmocka_unit_test(how_far_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
