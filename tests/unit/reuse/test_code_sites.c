/* Instructions on call paths as numbers, and views folded by instruction. */
#include "reuse/reuse_fold.h"

#include "unit.h"

static void numbers(void **state)
{
    struct as_code_sites *sites = as_alloc(sizeof *sites);
    uint32_t here = as_code_sites_path(sites, 7), there = as_code_sites_path(sites, 9);
    assert_true(here && there && here != there && as_code_sites_path(sites, 7) == here);
    assert_int_equal(as_code_sites_number(sites, 0, 0), 0);
    assert_int_equal(as_code_sites_number(sites, 5, here), 1);
    assert_int_equal(as_code_sites_number(sites, 5, there), 2);
    for (uint32_t i = 0; i < 100000; i++)
        as_code_sites_number(sites, i, here);
    assert_int_equal(as_code_sites_number(sites, 5, here), 1);
    assert_int_equal(as_code_sites_number(sites, 5, there), 2);
    assert_true(sites->list.data[2].insn == 5 && sites->list.data[2].path == there);
    as_code_sites_free(sites);
    free(sites);
}

/* More paths than are kept: what comes beyond is the instruction's without a path. */
static void too_many(void **state)
{
    struct as_code_sites *sites = as_alloc(sizeof *sites);
    for (uint32_t i = 0; i < AS_CODE_SITES; i++)
        as_code_sites_number(sites, 1, i + 1);
    uint32_t number = as_code_sites_number(sites, 1, AS_CODE_SITES + 1);
    assert_int_equal(number, as_code_sites_number(sites, 1, AS_CODE_SITES + 2));
    assert_true(sites->list.data[number].insn == 1 && sites->list.data[number].path == 0);
    assert_int_equal(sites->numbers.len, AS_CODE_SITES + 1); /* what has no number takes no memory */
    assert_int_equal(sites->insns[AS_CODE_SITES - 1], 1);
    as_code_sites_free(sites);
    free(sites);
}

/* Two paths of one instruction: sums are of both, the path is the one with more. */
static void fold(void **state)
{
    struct as_code_sites *sites = as_alloc(sizeof *sites);
    struct as_reuse_shape shape = {.shift = 6, .interval = 1000};
    struct as_reuse_view *view = as_alloc(sizeof *view);
    uint32_t few = as_code_sites_number(sites, 5, 1), many = as_code_sites_number(sites, 5, 2);
    as_reuse_view_init(view, &shape, false, AS_REUSE_LLC, AS_REUSE_L2);
    as_reuse_code_of(view, few)->misses[AS_REUSE_L1][AS_MISS_COLD] = 3;
    as_reuse_code_of(view, many)->misses[AS_REUSE_L1][AS_MISS_COLD] = 30;
    as_reuse_pair_of(view, few, many)->count = 2;
    as_reuse_pair_of(view, many, many)->count = 20;
    as_reuse_fold(view, sites);
    assert_int_equal(view->codes.data[5].misses[AS_REUSE_L1][AS_MISS_COLD], 33);
    assert_int_equal(view->codes.data[5].path, 2);
    assert_int_equal(view->pairs.len, 1);
    const struct as_reuse_pair *pair = &view->pairs.data[0];
    assert_true(pair->use == 5 && pair->reuse == 5 && pair->count == 22 && pair->path_count == 20);
    assert_true(pair->use_path == 2 && pair->reuse_path == 2);
    as_reuse_view_free(view);
    as_code_sites_free(sites);
    free(sites);
    free(view);
}

/* Between two instructions there are more pairs of paths than are kept: what comes beyond is the instructions'. */
static void many_paths(void **state)
{
    enum { PATHS = AS_REUSE_PATH_PAIRS + 1000, USE = 5, REUSE = 7, TWICE = 3 };
    struct as_code_sites *sites = as_alloc(sizeof *sites);
    struct as_reuse_shape shape = {.insns = sites->insns, .n_insns = AS_CODE_SITES};
    struct as_reuse_view *view = as_alloc(sizeof *view);
    as_reuse_view_init(view, &shape, false, AS_REUSE_LLC, AS_REUSE_L2);
    for (uint32_t path = 1; path <= PATHS; path++)
        as_reuse_pair_of(view, as_code_sites_number(sites, USE, path), as_code_sites_number(sites, REUSE, 1))->count++;
    uint32_t one = as_code_sites_number(sites, USE, TWICE), other = as_code_sites_number(sites, REUSE, 1);
    as_reuse_pair_of(view, one, other)->count++;
    uint32_t late = as_code_sites_number(sites, 8, 1);
    as_reuse_pair_of(view, late, late)->count = 10;
    assert_int_equal(view->pairs.len, AS_REUSE_PATH_PAIRS + 2);
    as_reuse_fold(view, sites);
    assert_int_equal(view->pairs.len, 2);
    const struct as_reuse_pair *pair = &view->pairs.data[0];
    assert_true(pair->use == USE && pair->reuse == REUSE && pair->count == PATHS + 1);
    assert_true(pair->path_count == 2 && pair->use_path == TWICE && pair->reuse_path == 1);
    pair = &view->pairs.data[1];
    assert_true(pair->use == 8 && pair->reuse == 8 && pair->count == 10 && pair->path_count == 0);
    as_reuse_view_free(view);
    as_code_sites_free(sites);
    free(sites);
    free(view);
}

/* More pairs of instructions than are kept: one stands for the rest, and nothing is lost. */
static void many_pairs(void **state)
{
    enum { SIDE = 1 << 10, MORE = AS_REUSE_PAIRS + 5000 };
    struct as_reuse_shape shape = {0};
    struct as_reuse_view *view = as_alloc(sizeof *view);
    uint64_t sum = 0;
    as_reuse_view_init(view, &shape, false, AS_REUSE_LLC, AS_REUSE_L2);
    for (uint32_t i = 0; i < MORE; i++)
        as_reuse_pair_of(view, i / SIDE, i % SIDE)->count++;
    assert_int_equal(view->pairs.len, AS_REUSE_PAIRS + 1);
    assert_int_equal(as_reuse_pair_of(view, AS_REUSE_NO_CODE, AS_REUSE_NO_CODE)->count, 5000);
    for (size_t i = 0; i < view->pairs.len; i++)
        sum += view->pairs.data[i].count;
    assert_int_equal(sum, MORE);
    as_reuse_view_free(view);
    free(view);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers), cmocka_unit_test(too_many), cmocka_unit_test(fold),
                                       cmocka_unit_test(many_paths), cmocka_unit_test(many_pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
