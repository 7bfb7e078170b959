/* The errors of profiles and cycle stacks against a truth, and what sampling alone makes of them: answers by hand. */
#include "score/errors.h"

#include "score/sampling_error.h"
#include "unit.h"

#include <math.h>

static const uint32_t block_of[] = {0, 0, 1, 1, 2};
static const struct as_grouping blocks = {.of = block_of, .n = 5, .count = 3};

/* Shares 0.5 0.5 0 0 0 against 0 0.25 0.25 0.25 0.25: they share 0.25 at 1; in blocks 0.25 too (block 0). */
static void overlap(void **state)
{
    struct as_profile a = {0}, b = {0};
    as_profile_add(&a, 0, 1000);
    as_profile_add(&a, 1, 1000);
    for (uint32_t id = 1; id <= 4; id++)
        as_profile_add(&b, id, 3);
    assert_true(as_profile_error(&a, &b, NULL) == 0.75);
    assert_true(as_profile_error(&b, &a, NULL) == 0.75);
    assert_true(as_profile_error(&a, &b, &blocks) == 0.75);
    as_profile_add(&b, 0, 12); /* now 0.5 0.125 … */
    assert_true(as_profile_error(&a, &b, NULL) == 1 - 0.625);
    assert_true(as_profile_error(&a, &b, &blocks) == 1 - 0.625);
    as_profile_add(&a, 3, 2000); /* 0.25 0.25 0 0.5 0 */
    assert_true(as_profile_error(&a, &b, NULL) == 1 - (0.25 + 0.125 + 0.125));
    assert_true(as_profile_error(&a, &b, &blocks) == 1 - (0.5 + 0.25));
    as_profile_free(&a);
    as_profile_free(&b);
}

/* Exactly 0, whatever the totals are and however large. */
static void equal_shapes_have_no_error(void **state)
{
    struct as_profile a = {0}, b = {0};
    for (uint32_t id = 0; id < 1000; id++) {
        as_profile_add(&a, id, (uint64_t)(id * 7919 % 997) * 3000000000000);
        as_profile_add(&b, id, (uint64_t)(id * 7919 % 997) * 70000000001);
    }
    assert_true(as_profile_error(&a, &b, NULL) == 0);
    assert_true(as_profile_error(&a, &b, &blocks) == 0);
    as_profile_free(&a);
    as_profile_free(&b);
}

static void disjoint_and_empty(void **state)
{
    struct as_profile a = {0}, b = {0};
    as_profile_add(&a, 0, 5);
    assert_true(isnan(as_profile_error(&a, &b, NULL)));
    assert_true(isnan(as_profile_error(&b, &a, &blocks)));
    as_profile_add(&b, 2, 5);
    assert_true(as_profile_error(&a, &b, NULL) == 1);
    assert_true(as_profile_error(&a, &b, &blocks) == 1);
    as_profile_free(&a);
    as_profile_free(&b);
}

static void confusions(void **state)
{
    struct as_confusion confusion = {0};
    const struct as_attribution zero = {.n = 1, .ids = {0}}, one = {.n = 1, .ids = {1}}, four = {.n = 1, .ids = {4}};
    const struct as_attribution group = {.n = 4, .ids = {0, 1, 2, 4}};
    assert_true(isnan(as_systematic_error(&confusion, NULL)));
    assert_true(as_systematic_error(&(struct as_confusion){.same = 1, .total = 1}, NULL) == 0);
    as_confusion_add(&confusion, &group, &group, 10); /* right */
    as_confusion_add(&confusion, &zero, &one, 10);    /* wrong, but in the right block */
    as_confusion_add(&confusion, &four, &one, 10);    /* wrong */
    as_confusion_add(&confusion, &zero, &group, 40);  /* a quarter right; half of the block */
    as_confusion_add(&confusion, &group, &four, 30);  /* a quarter right */
    assert_true(fabs(as_systematic_error(&confusion, NULL) - (1 - (10 + 10 + 7.5) / 100)) < 1e-12);
    assert_true(fabs(as_systematic_error(&confusion, &blocks) - (1 - (10 + 10 + 20 + 7.5) / 100)) < 1e-12);
    as_confusion_free(&confusion);
}

static struct as_pics make(const struct as_pics_entry *entries, size_t n)
{
    struct as_pics pics = {0};
    for (size_t i = 0; i < n; i++)
        as_pics_push(&pics, &entries[i]);
    as_pics_sort(&pics);
    return pics;
}

static void pics_errors(void **state)
{
    const struct as_pics_entry golden[] = {{1, 0, 30, 0}, {1, 1, 30, 0}, {2, 2, 40, 0}};
    /* Half as much time in all, the same in each but for 10 of 50 that are on another component, then instruction. */
    const struct as_pics_entry other[] = {{1, 0, 25, 0}, {1, 1, 5, 0}, {2, 2, 20, 0}};
    const struct as_pics_entry moved[] = {{1, 0, 15, 0}, {1, 1, 15, 0}, {3, 2, 20, 0}};
    struct as_pics a = make(golden, 3), b = make(other, 3), c = make(moved, 3), none = {0};
    assert_true(as_pics_error(&a, &a) == 0);
    assert_true(fabs(as_pics_error(&a, &b) - 0.2) < 1e-12);
    assert_true(fabs(as_pics_error(&b, &a) - 0.2) < 1e-12);
    assert_true(fabs(as_pics_error(&a, &c) - 0.4) < 1e-12);
    assert_true(isnan(as_pics_error(&a, &none)) && isnan(as_pics_error(&none, &a)));
    const struct as_pics_entry least[] = {{1, 0, 1, 0}};
    struct as_pics one = make(least, 1);
    assert_true(fabs(as_pics_error(&a, &one) - 0.7) < 1e-12 && fabs(as_pics_error(&one, &a) - 0.7) < 1e-12);
    as_pics_free(&one);
    struct as_pics whole_a = as_pics_fold(&a, 3, &as_grouping_program),
                   whole_c = as_pics_fold(&c, 3, &as_grouping_program);
    assert_int_equal(whole_a.len, 3);
    assert_true(as_pics_error(&whole_a, &whole_c) == 0);
    struct as_pics blind_a = as_pics_fold(&a, 0, NULL), blind_b = as_pics_fold(&b, 0, NULL);
    assert_int_equal(blind_a.len, 2);
    assert_true(as_pics_error(&blind_a, &blind_b) == 0);
    const uint32_t of[] = {0, 0, 1};
    const struct as_grouping groups = {.of = of, .n = 3, .count = 2};
    struct as_pics grouped = as_pics_fold(&c, 3, &groups); /* instruction 3 is in no group */
    assert_int_equal(grouped.data[2].id, 2);
    as_pics_free(&a);
    as_pics_free(&b);
    as_pics_free(&c);
    as_pics_free(&whole_a);
    as_pics_free(&whole_c);
    as_pics_free(&blind_a);
    as_pics_free(&blind_b);
    as_pics_free(&grouped);
}

/* All levels at once are what each of them is alone. */
static void pics_errors_at_all_levels(void **state)
{
    const struct as_pics_entry golden[] = {{0, 1, 50, 0}, {2, 0, 50, 0}};
    const struct as_pics_entry said[] = {{1, 1, 10, 0}, {2, 0, 5, 0}, {4, 0, 5, 0}};
    const uint32_t all_of[] = {0, 0, 1, 1, 1};
    const struct as_grouping functions = {.of = all_of, .n = 5, .count = 2};
    const struct as_levels levels = {{NULL, &blocks, &functions, &as_grouping_program}};
    struct as_pics a = make(golden, 2), b = make(said, 3);
    double errors[AS_LEVELS];
    as_pics_errors(&b, &a, 1, &levels, errors);
    assert_true(errors[AS_LEVEL_INSTRUCTION] == 0.75);
    assert_true(errors[AS_LEVEL_BLOCK] == 0.25); /* instructions 0 and 1 are one block, 2 and 4 are not */
    assert_true(errors[AS_LEVEL_FUNCTION] == 0);
    assert_true(errors[AS_LEVEL_PROGRAM] == 0);
    as_pics_free(&a);
    as_pics_free(&b);
}

/* One sample of two halves is always wrong by a half; at the level of blocks nothing can be wrong. */
static void agreement_with_the_truth(void **state)
{
    struct as_profile said = {0}, truth = {0};
    as_profile_add(&truth, 0, 50);
    as_profile_add(&truth, 1, 50);
    as_profile_add(&said, 0, 7);
    struct as_truth exact, in_groups;
    as_truth_open(&exact, &truth, NULL);
    as_truth_open(&in_groups, &truth, &blocks);
    struct as_agreement one = as_truth_agreement(&exact, &said, 1, 3);
    assert_true(one.distance == 0.5 && fabs(one.expected - 0.5) < 1e-12);
    struct as_agreement many = as_truth_agreement(&exact, &said, 1000, 3);
    assert_int_equal(many.verdict, AS_PROFILES_DIFFER);
    for (uint64_t samples = 1; samples < 20; samples++) /* more than are kept, and back to the first */
        assert_true(as_truth_agreement(&exact, &said, samples, 3).expected ==
                    as_agreement_of((struct as_sampled){exact.weights, (double)samples},
                                    (struct as_sampled){exact.weights, INFINITY}, 3)
                        .expected);
    assert_true(as_truth_agreement(&exact, &said, 1, 3).expected == one.expected);
    struct as_agreement in_blocks = as_truth_agreement(&in_groups, &said, 1000, 3);
    assert_true(in_blocks.distance == 0 && in_blocks.expected == 0);
    assert_int_equal(in_blocks.verdict, AS_PROFILES_AGREE);
    as_truth_close(&exact);
    as_truth_close(&in_groups);
    as_profile_free(&said);
    as_profile_free(&truth);
}

static void levels_have_names(void **state)
{
    assert_string_equal(as_level_names[AS_LEVEL_INSTRUCTION], "instruction");
    assert_string_equal(as_level_names[AS_LEVEL_PROGRAM], "program");
}

/* ---- weights and sampling ---- */

static void distance_of_weights(void **state)
{
    const uint64_t a[] = {1, 1, 2}, b[] = {30, 10};
    struct as_weights left = as_weights_of(a, 3), right = as_weights_of(b, 2), none = as_weights_of(a, 0);
    assert_int_equal(left.total, 4);
    assert_true(as_weights_share(left, 2) == 0.5 && as_weights_share(left, 3) == 0);
    assert_true(as_weights_share(none, 0) == 0);
    assert_true(as_weights_distance(left, right) == 0.5); /* they share 0.25 and 0.25 */
    assert_true(as_weights_distance(right, left) == 0.5);
    assert_true(isnan(as_weights_distance(left, none)) && isnan(as_weights_distance(none, left)));
    const uint64_t least[] = {0, 1};
    struct as_weights one = as_weights_of(least, 2);
    assert_true(as_weights_distance(left, one) == 0.75 && as_weights_distance(one, left) == 0.75);
    assert_true(as_weights_distance(one, one) == 0);
}

/* Two groups of a half: each deviates by sqrt(2 * 0.25 / (pi * 100)). Nothing was seen once. */
static void sampling_error_of_two_halves(void **state)
{
    const uint64_t halves[] = {7, 7};
    assert_true(fabs(as_sampling_error(as_weights_of(halves, 2), NULL, 100) - sqrt(0.5 / (M_PI * 100))) < 1e-12);
    assert_true(isnan(as_sampling_error(as_weights_of(halves, 2), NULL, 0)));
    assert_true(isnan(as_sampling_error(as_weights_of(halves, 0), NULL, 5)));
}

/* Everything was seen once: there is no limit to what was not seen. */
static void sampling_error_of_single_samples(void **state)
{
    uint64_t once[400];
    for (size_t i = 0; i < 400; i++)
        once[i] = 3;
    double seen = 400 * sqrt(2 * (1 / 400.0) * (399 / 400.0) / (M_PI * 400)) / 2;
    assert_true(fabs(as_sampling_error(as_weights_of(once, 400), NULL, 400) - (seen + 0.5)) < 1e-12);
}

/* A period that varies by some percent does not change what was seen once: the estimate must not jump. */
static void sampling_error_does_not_jump_with_the_period(void **state)
{
    uint64_t even[400], uneven[400], seen[400];
    for (size_t i = 0; i < 400; i++) {
        even[i] = 1000;
        uneven[i] = i % 2 ? 985 : 1015;
        seen[i] = 1;
    }
    double steady = as_sampling_error(as_weights_of(even, 400), NULL, 400);
    assert_true(fabs(as_sampling_error(as_weights_of(uneven, 400), NULL, 400) - steady) < 0.001);
    assert_true(fabs(as_sampling_error(as_weights_of(uneven, 400), seen, 400) - steady) < 0.001);
    seen[0] = 2; /* however little it weighs */
    double less = as_sampling_error(as_weights_of(even, 400), seen, 400);
    assert_true(fabs(steady - less - 0.5 / 400) < 1e-12);
    assert_true(fabs(as_sampling_distance(0.1) - 0.1 * sqrt(2)) < 1e-12 && as_sampling_distance(0.9) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlap),
        cmocka_unit_test(equal_shapes_have_no_error),
        cmocka_unit_test(disjoint_and_empty),
        cmocka_unit_test(confusions),
        cmocka_unit_test(pics_errors),
        cmocka_unit_test(pics_errors_at_all_levels),
        cmocka_unit_test(agreement_with_the_truth),
        cmocka_unit_test(levels_have_names),
        cmocka_unit_test(distance_of_weights),
        cmocka_unit_test(sampling_error_of_two_halves),
        cmocka_unit_test(sampling_error_of_single_samples),
        cmocka_unit_test(sampling_error_does_not_jump_with_the_period),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
