/* Choosing points: known phases, the score against its formula, rules, files. */
#include "points/simpoints.h"

#include "base/random.h"
#include "unit.h"

#include <math.h>

/* A run of `n` intervals whose phase is phases[i]; each phase has 20 blocks of its own, with a little noise. */
static struct as_vectors make_run(const char *phases)
{
    struct as_vectors vectors = {0};
    for (size_t i = 0; phases[i]; i++) {
        for (uint32_t b = 0; b < 20; b++)
            as_vectors_add(&vectors, (uint32_t)(phases[i] - 'a') * 20 + b + 1, 1000 + (i * 37 + b * 11) % 17);
        as_vectors_end(&vectors);
    }
    return vectors;
}

static void test_phases_are_found(void **state)
{
    static const char phases[] = "aaaaaaaabbbbbbbbbbbbaaaaccccccccccccccccaaaabbbbddddddddddaaaa";
    struct as_choose_options options = AS_CHOOSE_DEFAULT;
    struct as_vectors vectors = make_run(phases);
    options.max_k = 10;
    options.threshold = 0.8;
    for (options.seed = 1; options.seed <= 5; options.seed++) {
        struct as_choice choice;
        as_choose(&vectors, &options, &choice);
        assert_int_equal(choice.k, 4);
        double weight = 0, bic = NAN;
        for (size_t i = 0; i < choice.tried.len; i++)
            bic = choice.tried.data[i].k == 4 ? choice.tried.data[i].bic : bic;
        assert_true(choice.bic == bic);
        for (size_t i = 0; i < choice.groups.len; i++)
            for (size_t j = 0; j < i; j++)
                assert_int_equal(phases[i] == phases[j], choice.groups.data[i] == choice.groups.data[j]);
        for (uint32_t i = 0; i < choice.k; i++) {
            assert_int_equal(choice.groups.data[choice.points.data[i].interval], i);
            assert_int_equal(choice.points.data[i].group, i);
            assert_true(i == 0 || choice.points.data[i].interval > choice.points.data[i - 1].interval);
            weight += choice.points.data[i].weight;
        }
        assert_true(fabs(weight - 1) < 1e-12);
        as_choice_free(&choice);
    }
    as_vectors_free(&vectors);
}

/* Of those that were tried, the fewest whose score is good enough by the rule. */
static void test_fewest_that_are_good_enough(void **state)
{
    struct as_choose_options options = AS_CHOOSE_DEFAULT;
    struct as_vectors vectors = make_run("aaaabbbbccccddddeeeeffffgggghhhhiiiijjjjkkkkllll");
    options.max_k = 14;
    for (options.rule = AS_BIC_RANGE; options.rule <= AS_BIC_BEST; options.rule++)
        for (options.threshold = 0.1; options.threshold < 0.95; options.threshold += 0.15) {
            struct as_choice choice;
            double best = -INFINITY, worst = INFINITY;
            uint32_t fewest = UINT32_MAX;
            as_choose(&vectors, &options, &choice);
            for (size_t i = 0; i < choice.tried.len; i++) {
                best = fmax(best, choice.tried.data[i].bic);
                worst = fmin(worst, choice.tried.data[i].bic);
            }
            double least = options.rule == AS_BIC_RANGE ? worst + options.threshold * (best - worst)
                                                        : best - (1 - options.threshold) * fabs(best);
            for (size_t i = 0; i < choice.tried.len; i++)
                if (choice.tried.data[i].bic >= least && choice.tried.data[i].k < fewest)
                    fewest = choice.tried.data[i].k;
            assert_int_equal(choice.k, fewest);
            as_choice_free(&choice);
        }
    as_vectors_free(&vectors);
}

static void test_weights_are_instructions(void **state)
{
    struct as_vectors vectors = {0};
    const uint32_t counts[] = {3000, 3000, 1000};
    for (uint32_t i = 0; i < 3; i++) {
        as_vectors_add(&vectors, i == 1 ? 2 : 1, counts[i]);
        as_vectors_end(&vectors);
    }
    struct as_choose_options options = AS_CHOOSE_DEFAULT;
    struct as_choice choice;
    options.max_k = 2;
    options.threshold = 1;
    as_choose(&vectors, &options, &choice);
    assert_int_equal(choice.k, 2);
    assert_int_equal(choice.points.data[0].interval, 0);
    assert_true(fabs(choice.points.data[0].weight - 4.0 / 7) < 1e-12);
    assert_true(fabs(choice.points.data[1].weight - 3.0 / 7) < 1e-12);
    as_choice_free(&choice);
    as_vectors_free(&vectors);
}

static void test_threads_do_not_matter(void **state)
{
    struct as_vectors vectors = make_run("abcdefghabcdefghaabbccddeeffgghh");
    struct as_choose_options options = AS_CHOOSE_DEFAULT;
    struct as_choice one, many;
    options.threads = 1;
    as_choose(&vectors, &options, &one);
    options.threads = 7;
    as_choose(&vectors, &options, &many);
    assert_int_equal(one.tried.len, many.tried.len);
    assert_memory_equal(one.groups.data, many.groups.data, one.groups.len * sizeof *one.groups.data);
    assert_true(one.bic == many.bic);
    as_choice_free(&one);
    as_choice_free(&many);
    as_vectors_free(&vectors);
}

/* Four points on a line in two groups: worked out by hand. */
static void test_score(void **state)
{
    const double at[] = {0, 0, 0, 0, 2, 0, 0, 0, 10, 0, 0, 0, 12, 0, 0, 0}, weights[] = {0.25, 0.25, 0.25, 0.25};
    const double centres[] = {0, 0, 0, 0, 10, 0, 0, 0};
    struct as_cloud cloud = {.at = at, .weights = weights, .n = 4, .dims = 1, .stride = 4};
    struct as_groups_found found;
    as_kmeans_run(&cloud, 2, centres, &found);
    assert_true(fabs(found.inertia - 1) < 1e-12); /* each point is 1 from its centre */
    double pi = acos(-1), expected = 4 * (-0.5 * (log(2 * pi) + 1) - log(2)) - 2 * log(4);
    assert_true(fabs(as_bic(&cloud, &found) - expected) < 1e-9);
    as_groups_found_free(&found);
    const double counts[] = {3, 3, 3, 3}; /* only their shares count */
    cloud.weights = counts;
    as_kmeans_run(&cloud, 2, centres, &found);
    assert_true(fabs(as_bic(&cloud, &found) - expected) < 1e-9);
    as_groups_found_free(&found);
}

static void test_projection_keeps_scale(void **state)
{
    struct as_vectors vectors = {0}, half = {0};
    for (uint32_t b = 1; b <= 50; b++) {
        as_vectors_add(&vectors, b, 20 * b);
        as_vectors_add(&half, b, 10 * b);
    }
    as_vectors_end(&vectors);
    as_vectors_end(&half);
    struct as_cloud a, b, other;
    double *x = as_vectors_project(&vectors, 15, 9, &a), *y = as_vectors_project(&half, 15, 9, &b);
    double *z = as_vectors_project(&vectors, 15, 10, &other);
    assert_int_equal(a.stride, 16);
    assert_true(x[15] == 0);
    assert_true(as_cloud_distance2(x, y, 16) < 1e-20); /* shares, not counts */
    assert_true(as_cloud_distance2(x, z, 16) > 1e-6);  /* another seed is another projection */
    free(x);
    free(y);
    free(z);
    as_vectors_free(&vectors);
    as_vectors_free(&half);
}

/* The best of several runs of k-means counts: with more of them no score is worse, and some are better. */
static void test_best_of_tries(void **state)
{
    struct as_vectors vectors = {0};
    struct as_choose_options options = AS_CHOOSE_DEFAULT;
    struct as_choice once, often;
    uint64_t random = 11;
    unsigned better = 0;
    for (int i = 0; i < 60; i++) {
        for (uint32_t b = 1; b <= 6; b++)
            as_vectors_add(&vectors, b, 1 + as_random(&random) % 1000);
        as_vectors_end(&vectors);
    }
    options.max_k = 12;
    options.tries = 1;
    as_choose(&vectors, &options, &once);
    options.tries = 8;
    as_choose(&vectors, &options, &often);
    for (size_t i = 0; i < once.tried.len; i++)
        for (size_t k = 0; k < often.tried.len; k++)
            if (once.tried.data[i].k == often.tried.data[k].k) {
                assert_true(often.tried.data[k].bic >= once.tried.data[i].bic);
                better += often.tried.data[k].bic > once.tried.data[i].bic;
            }
    assert_true(better > 0);
    as_choice_free(&once);
    as_choice_free(&often);
    as_vectors_free(&vectors);
}

/* Each block has a direction of its own: from -1 to 1 in each dimension, evenly, so that on average they cancel out. */
static void test_directions(void **state)
{
    enum { BLOCKS = 500, DIMS = 8 };
    struct as_vectors vectors = {0};
    struct as_cloud cloud;
    for (uint32_t b = 1; b <= BLOCKS; b++) {
        as_vectors_add(&vectors, b, 10);
        as_vectors_end(&vectors);
    }
    double *at = as_vectors_project(&vectors, DIMS, 3, &cloud), sum = 0, squares = 0;
    for (size_t i = 0; i < BLOCKS; i++)
        for (uint32_t d = 0; d < DIMS; d++) {
            double x = at[i * cloud.stride + d];
            assert_true(x >= -1 && x < 1);
            sum += x;
            squares += x * x;
        }
    /* The mean of 4,000 spreads by 0.0091, their squares' by 0.0047: six times that. */
    assert_float_equal(sum / (BLOCKS * DIMS), 0, 0.055);
    assert_float_equal(squares / (BLOCKS * DIMS), 1 / 3.0, 0.028);

    struct as_vectors alone = {
        0}; /* a number is not a place in a table: the last of these blocks, without the others */
    struct as_cloud one;
    as_vectors_add(&alone, BLOCKS, 7);
    as_vectors_end(&alone);
    double *again = as_vectors_project(&alone, DIMS, 3, &one);
    assert_memory_equal(again, at + (size_t)(BLOCKS - 1) * cloud.stride, DIMS * sizeof *at);
    free(again);
    as_vectors_free(&alone);
    free(at);
    as_vectors_free(&vectors);
}

/* The rules differ where scores are far from 0: 0.9 of the best is nearly all of them. */
static void test_rules(void **state)
{
    struct as_vectors vectors = make_run("aaaaaaaabbbbbbbbccccccccddddddddeeeeeeee");
    struct as_choose_options options = AS_CHOOSE_DEFAULT;
    struct as_choice range, best, any;
    options.max_k = 12;
    as_choose(&vectors, &options, &range);
    options.rule = AS_BIC_BEST;
    options.threshold = 0.5;
    as_choose(&vectors, &options, &best);
    options.rule = AS_BIC_RANGE;
    options.threshold = 0;
    as_choose(&vectors, &options, &any);
    assert_true(range.k >= 5);
    assert_true(best.k <= range.k);
    assert_int_equal(any.k, 1);
    as_choice_free(&range);
    as_choice_free(&best);
    as_choice_free(&any);
    as_vectors_free(&vectors);
}

static bool read_texts(const char *points, const char *weights, struct as_choice *choice, struct as_error *err)
{
    FILE *a = fmemopen((void *)points, strlen(points), "r"), *b = fmemopen((void *)weights, strlen(weights), "r");
    bool ok = as_choice_read(choice, a, "p", b, "w", err);
    fclose(a);
    fclose(b);
    return ok;
}

static void test_files(void **state)
{
    struct as_choice choice;
    struct as_error err = AS_ERROR_INIT;
    char *text = NULL;
    size_t size = 0;
    assert_true(read_texts("50 1\n7 0\n\n9 3\n", "0.25 0\n0.5 1\n0.25 3\n", &choice, &err));
    assert_int_equal(choice.k, 3);
    assert_int_equal(choice.points.data[0].interval, 7);
    assert_true(choice.points.data[2].weight == 0.5);
    FILE *out = open_memstream(&text, &size);
    assert_true(as_choice_write_points(&choice, out) && as_choice_write_weights(&choice, out));
    fclose(out);
    assert_string_equal(text, "7 0\n9 1\n50 2\n0.25 0\n0.25 1\n0.5 2\n");
    free(text);
    as_choice_free(&choice);
}

static void test_bad_files(void **state)
{
    static const struct {
        const char *points, *weights, *says;
    } cases[] = {
        {"7 0\n", "1 1\n", "w: no weight for group 0 of p"},
        {"7 0\n7 1\n", "0.5 0\n0.5 1\n", "p: interval 7 is there twice"},
        {"7 0\n8 0\n", "1 0\n", "p: group 0 has two points"},
        {"7 0\n", "0.5 0\n", "w: the weights of the points in p sum to 0.5 instead of 1, so"},
        {"7.5 0\n", "1 0\n", "p: 7.5 is not the number of an interval"},
        {"x 0\n", "1 0\n", "p:1: not a line of simulation points"},
        {"7 0\n", "-1 0\n", "w:1: not a line of weights"},
        {"7 0\n", "nan 0\n", "w:1: not a line of weights"},
        {"\n", "1 0\n", "p: no point in it"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_choice choice;
        struct as_error err = AS_ERROR_INIT;
        assert_false(read_texts(cases[i].points, cases[i].weights, &choice, &err));
        if (!strstr(err.message, cases[i].says))
            fail_msg("%s", err.message);
        as_choice_free(&choice);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_phases_are_found),
        cmocka_unit_test(test_fewest_that_are_good_enough),
        cmocka_unit_test(test_weights_are_instructions),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_score),
        cmocka_unit_test(test_projection_keeps_scale),
        cmocka_unit_test(test_best_of_tries),
        cmocka_unit_test(test_directions),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_bad_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
