/* Matrices of pairs: growing keeps what is there, pairs are symmetric, folding leaves out what stays within a group. */
#include "unit.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(grows), cmocka_unit_test(folds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
