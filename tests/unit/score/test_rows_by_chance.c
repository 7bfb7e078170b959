/* Which samples are one row at each level, and what chance does to the rows. */
#include "unit.h"

#include "score/rows_by_chance.h"
#include "score/sampling_error.h"

#include <math.h>

enum { NONE = UINT32_MAX };

static void check_level(const struct as_row_sums *sums, enum as_row_level level, const uint64_t *units,
                        const uint64_t *samples, size_t n)
{
    const struct as_row_groups *groups = &sums->levels[level];
    assert_int_equal(groups->units.len, n);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(groups->units.data[i], units[i]);
        assert_int_equal(groups->samples.data[i], samples[i]);
    }
    double wanted = as_sampling_error(as_weights_of(units, n), samples, 50);
    assert_true(wanted > 0);
    assert_float_equal(as_row_sums_error(sums, level, 50), wanted, 1e-15);
    assert_true(as_row_sums_error(sums, level, 5000) < wanted);
}

/* Code without a function is one row for each module, code without a line one for each function. */
static void rows_of_levels(void **state)
{
    static const struct as_row_samples samples[] = {
        {.instruction = 10, .file = 1, .line = 5, .function = 0, .module = 0, .units = 100, .samples = 10},
        {.instruction = 11, .file = 1, .line = 5, .function = 0, .module = 0, .units = 200, .samples = 9},
        {.instruction = 12, .file = 2, .line = 5, .function = 0, .module = 0, .units = 300, .samples = 8},
        {.instruction = 13, .file = 1, .function = 0, .module = 0, .units = 400, .samples = 7},
        {.instruction = 14, .function = NONE, .module = 0, .units = 500, .samples = 6},
        {.instruction = 15, .function = NONE, .module = 0, .units = 600, .samples = 5},
        {.instruction = 16, .function = NONE, .module = 1, .units = 700, .samples = 4},
        {.instruction = 17, .function = 1, .module = 1, .units = 800, .samples = 3},
        {.instruction = 10, .file = 1, .line = 5, .function = 0, .module = 0, .units = 1000, .samples = 2},
    };
    struct as_row_sums sums = {0};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
        as_row_sums_add(&sums, &samples[i]);
    check_level(&sums, AS_ROW_INSTRUCTION, (const uint64_t[]){1100, 200, 300, 400, 500, 600, 700, 800},
                (const uint64_t[]){12, 9, 8, 7, 6, 5, 4, 3}, 8);
    check_level(&sums, AS_ROW_LINE, (const uint64_t[]){1300, 300, 400, 1100, 700, 800},
                (const uint64_t[]){21, 8, 7, 11, 4, 3}, 6);
    check_level(&sums, AS_ROW_FUNCTION, (const uint64_t[]){2000, 1100, 700, 800}, (const uint64_t[]){36, 11, 4, 3}, 4);
    as_row_sums_free(&sums);
    assert_int_equal(sums.levels[AS_ROW_LINE].units.len, 0);
}

static void without_lines(void **state)
{
    struct as_row_sums sums = {0};
    assert_true(isnan(as_row_sums_error(&sums, AS_ROW_FUNCTION, 0)));
    as_row_sums_add(&sums, &(struct as_row_samples){.instruction = 1, .file = 3, .units = 10, .samples = 10});
    assert_true(isnan(as_row_sums_error(&sums, AS_ROW_LINE, 10)));
    assert_false(isnan(as_row_sums_error(&sums, AS_ROW_FUNCTION, 10)));
    as_row_sums_add(&sums, &(struct as_row_samples){.instruction = 2, .line = 1, .units = 10, .samples = 10});
    assert_false(isnan(as_row_sums_error(&sums, AS_ROW_LINE, 20)));
    as_row_sums_free(&sums);
}

static void names(void **state)
{
    assert_string_equal(as_row_level_names[AS_ROW_INSTRUCTION], "instruction");
    assert_string_equal(as_row_level_names[AS_ROW_LINE], "line");
    assert_string_equal(as_row_level_names[AS_ROW_FUNCTION], "function");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_of_levels), cmocka_unit_test(without_lines),
                                       cmocka_unit_test(names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
