/* Matrices of pairs: growing keeps what is there, pairs are symmetric, folding leaves out what stays within a group. */
#include "unit.h"

#include "comm/comm_error.h"
#include "comm/pair_matrix.h"

static void grows(void **state)
{
    struct as_pair_matrix matrix = {0};
    as_pair_matrix_grow(&matrix, 2);
    as_pair_matrix_add(&matrix, 0, 1, false, 5);
    as_pair_matrix_add(&matrix, 1, 0, true, 7);
    as_pair_matrix_grow(&matrix, 100);
    as_pair_matrix_add(&matrix, 99, 0, false, 1);
    struct as_pair_cell pair = as_pair_matrix_pair(&matrix, 1, 0), total = as_pair_matrix_total(&matrix);
    assert_true(pair.true_ == 5 && pair.false_ == 7);
    assert_int_equal(as_pair_sum(as_pair_matrix_pair(&matrix, 0, 1)), 12);
    assert_int_equal(as_pair_sum(as_pair_matrix_pair(&matrix, 0, 0)), 0);
    assert_int_equal(as_pair_sum(as_pair_matrix_pair(&matrix, 0, 500)), 0);
    assert_true(total.true_ == 6 && total.false_ == 7);
    as_pair_matrix_free(&matrix);
    assert_true(matrix.n == 0 && matrix.cap == 0 && !matrix.cells); /* it can grow again */
}

static void folds(void **state)
{
    struct as_pair_matrix matrix = {0}, cores = {0};
    const uint32_t to[] = {0, 1, 0};
    as_pair_matrix_grow(&matrix, 3);
    as_pair_matrix_add(&matrix, 0, 1, false, 1);
    as_pair_matrix_add(&matrix, 0, 2, false, 10);
    as_pair_matrix_add(&matrix, 1, 2, true, 100);
    as_pair_matrix_fold(&matrix, to, 2, &cores);
    struct as_pair_cell pair = as_pair_matrix_pair(&cores, 0, 1);
    assert_true(cores.n == 2 && pair.true_ == 1 && pair.false_ == 100);
    assert_int_equal(as_pair_sum(as_pair_matrix_total(&cores)), 101);
    as_pair_matrix_free(&matrix);
    as_pair_matrix_free(&cores);
}

/* Three threads: exactly 80 and 20 transfers, of which 40 are false; the estimate has 100, none and a pair that is not there. */
static void errors_of_an_estimate(void **state)
{
    struct as_pair_matrix exact = {0}, estimate = {0};
    as_pair_matrix_grow(&exact, 3);
    as_pair_matrix_grow(&estimate, 3);
    struct as_comm_error none = as_comm_error(&estimate, &exact);
    assert_true(none.total == 0 && none.mean == 0 && none.largest == 0 && none.false_share == 0);
    as_pair_matrix_add(&exact, 0, 1, false, 50);
    as_pair_matrix_add(&exact, 1, 0, true, 30);
    as_pair_matrix_add(&exact, 1, 2, true, 10);
    as_pair_matrix_add(&exact, 2, 1, false, 10);
    struct as_comm_error nothing = as_comm_error(&estimate, &exact);
    assert_float_equal(nothing.total, -1, 1e-12);
    assert_float_equal(nothing.largest, 1, 1e-12);
    assert_float_equal(nothing.false_share, 0, 1e-12); /* of nothing there is none */
    as_pair_matrix_add(&estimate, 0, 1, false, 90);
    as_pair_matrix_add(&estimate, 1, 0, true, 10);
    as_pair_matrix_add(&estimate, 0, 2, true, 40);
    struct as_comm_error error = as_comm_error(&estimate, &exact);
    assert_float_equal(error.total, 0.4, 1e-12);
    assert_float_equal(error.largest, 40 / 80.0, 1e-12);
    assert_float_equal(error.mean, (20 + 20 + 40) / 80.0 / 3, 1e-12);
    assert_float_equal(error.false_share, 50 / 140.0 - 40 / 100.0, 1e-12);
    as_pair_matrix_free(&exact);
    as_pair_matrix_free(&estimate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(grows), cmocka_unit_test(folds),
                                       cmocka_unit_test(errors_of_an_estimate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
