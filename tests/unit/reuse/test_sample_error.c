/* By how much a sample of the lines may be off: the parts of the lines, and the spread of short distances. */
#include "unit.h"

#include "reuse/sample_error.h"

#include <math.h>
#include <string.h>

enum { LINES = 64, SCALE = 3, MISSES = 1000 };

static struct as_sample_parts parts;

static int clear(void **state)
{
    memset(&parts, 0, sizeof parts);
    return 0;
}

static void add(uint32_t part, uint64_t lines, uint64_t distance, uint64_t n)
{
    parts.lines[part] += lines;
    as_distances_add(&parts.hits[part], distance, n);
}

static void all_lines_have_no_error(void **state)
{
    add(0, 10, LINES * 2, MISSES);
    assert_true(as_sample_error(&parts, LINES, 0) == 0);
}

/* Far beyond the size, where the spread moves nothing over it. */
static void equal_misses_a_line_have_no_error(void **state)
{
    for (uint32_t i = 0; i < AS_SAMPLE_PARTS; i++)
        add(i, 1 + i, LINES * 100, (1 + i) * MISSES);
    assert_true(as_sample_error(&parts, LINES, SCALE) < 1e-6 * MISSES);
}

/* One hot line of 16: its part has all misses, the rest of each part is MISSES / 16 off. */
static void a_hot_line_counts_whole(void **state)
{
    for (uint32_t i = 0; i < AS_SAMPLE_PARTS; i++)
        add(i, 10, i == 3 ? LINES * 100 : 0, MISSES);
    double mean = MISSES / 16.0, squares = (MISSES - mean) * (MISSES - mean) + 15 * mean * mean;
    double expected = 2 * sqrt((1 - 1.0 / 8) * squares * 16 / 15);
    assert_true(fabs(as_sample_error(&parts, LINES, SCALE) - expected) < 1e-6 * expected);
}

/* 64 lines are 8 of the sample. Of touches at distance 32, P(Bin(32, 1/8) >= 8) = 0.0395 seem to miss. */
static void short_distances_spread(void **state)
{
    for (uint32_t i = 0; i < AS_SAMPLE_PARTS; i++)
        add(i, 10, 32, MISSES);
    double share = as_sample_error(&parts, LINES, SCALE) / (16.0 * MISSES);
    assert_true(share > 0.0394 && share < 0.0396);
}

/* 64 sampled lines and more are spread too little to matter. */
static void long_distances_do_not_spread(void **state)
{
    for (uint32_t i = 0; i < AS_SAMPLE_PARTS; i++)
        add(i, 10, 400, MISSES);
    assert_true(as_sample_error(&parts, 64 << SCALE, SCALE) < 1e-6 * MISSES);
}

/* 8 sampled lines are 8 +- sqrt(7): all distances may be up to a third longer or shorter, and then all of those miss, or none. */
static void distances_may_be_off_together(void **state)
{
    for (uint32_t i = 0; i < AS_SAMPLE_PARTS; i++)
        add(i, 10, 48, MISSES);
    assert_float_equal(as_sample_error(&parts, LINES, SCALE), 16.0 * MISSES, 1e-6 * MISSES);
    clear(NULL);
    for (uint32_t i = 0; i < AS_SAMPLE_PARTS; i++)
        add(i, 10, 80, MISSES);
    assert_float_equal(as_sample_error(&parts, LINES, SCALE), 16.0 * MISSES, 1e-6 * MISSES);
}

/* Pieces have two lines and three in turn: each is half a line off the mean, 16 squares of 1/4. */
static void the_number_of_lines_is_a_guess(void **state)
{
    for (uint32_t i = 0; i < AS_SAMPLE_PARTS; i++)
        add(i, 10, LINES * 100, MISSES);
    for (uint64_t i = 0; i < AS_SAMPLE_PARTS; i++)
        for (uint64_t n = 0; n < 2 + i % 2; n++)
            as_sample_parts_line(&parts, (i << 60) >> SCALE, SCALE);
    double expected = 2 * 16.0 * MISSES * sqrt(4 * 7.0 / 8 * 16 / 15) / 40;
    assert_float_equal(as_sample_error(&parts, LINES, SCALE), expected, 1e-6 * MISSES);
    assert_true(as_sample_error(&parts, LINES, 0) == 0);
}

/* Where all pieces are equal one line more or less is still possible. */
static void one_line_is_always_in_doubt(void **state)
{
    for (uint32_t i = 0; i < AS_SAMPLE_PARTS; i++) {
        add(i, 1, LINES * 100, MISSES);
        as_sample_parts_line(&parts, ((uint64_t)i << 60) >> SCALE, SCALE);
        assert_int_equal(parts.pieces[i], 1);
    }
    assert_float_equal(as_sample_error(&parts, LINES, SCALE), 2.0 * MISSES, 1e-6 * MISSES);
}

static void merged_parts_are_those_of_both(void **state)
{
    static struct as_sample_parts other;
    add(2, 5, LINES * 100, 7);
    other = parts;
    other.missed[2] = 3;
    as_sample_parts_line(&other, 0, SCALE);
    as_sample_parts_merge(&parts, &other);
    assert_int_equal(parts.lines[2], 10);
    assert_int_equal(parts.missed[2], 3);
    assert_int_equal(parts.pieces[0], 1);
    assert_int_equal(parts.hits[2].total, 14);
}

static void neighbours_are_in_all_parts(void **state)
{
    uint32_t seen[AS_SAMPLE_PARTS] = {0};
    for (uint64_t key = 0; key < 16000; key++)
        seen[as_sample_part(1 << 20 | key)]++;
    for (uint32_t i = 0; i < AS_SAMPLE_PARTS; i++)
        assert_in_range(seen[i], 850, 1150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(all_lines_have_no_error, clear),
        cmocka_unit_test_setup(equal_misses_a_line_have_no_error, clear),
        cmocka_unit_test_setup(a_hot_line_counts_whole, clear),
        cmocka_unit_test_setup(short_distances_spread, clear),
        cmocka_unit_test_setup(long_distances_do_not_spread, clear),
        cmocka_unit_test_setup(distances_may_be_off_together, clear),
        cmocka_unit_test_setup(the_number_of_lines_is_a_guess, clear),
        cmocka_unit_test_setup(one_line_is_always_in_doubt, clear),
        cmocka_unit_test_setup(merged_parts_are_those_of_both, clear),
        cmocka_unit_test(neighbours_are_in_all_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
