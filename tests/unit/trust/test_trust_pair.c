/* Two profiles against each other, and what error to expect of one, on the profiles of view_bed.h. The program's runs in the model
 * are played here. */
#include "unit.h"

#include "trust/trust_expected.h"
#include "trust/trust_pair.h"
#include "view_bed.h"

#include <math.h>
#include <string.h>

/* ---- what is played ---- */

static struct {
    size_t runs;                       /* of each side */
    double share;                      /* that each run measures */
    const char *series[AS_DIFF_SIDES]; /* of shop.db, that the runs give */
    int called, kept, like;
    uint64_t seeds[AS_DIFF_SIDES];
    bool fails;
} played;

bool as_trust_again(const struct as_view *of, const struct as_again_options *options, const struct as_again *like,
                    struct as_again *again, struct as_error *err)
{
    int side = played.called++ % AS_DIFF_SIDES;
    played.seeds[side] = options->seed;
    played.like += like != NULL;
    if (played.fails)
        return as_error_set(err, "no model");
    for (size_t i = 0; i < played.runs; i++) {
        struct as_again_run *run = &again->runs[again->n++];
        run->share = played.share;
        again->measured += played.share;
        for (int window = 0; window < AS_AGAIN_WINDOWS; window++)
            run->views[window] = view_bed_open("shop.db", played.series[side]);
    }
    return true;
}

void as_trust_again_free(struct as_again *again)
{
    for (size_t i = 0; i < again->n; i++)
        for (int window = 0; window < AS_AGAIN_WINDOWS; window++)
            as_view_free(&again->runs[i].views[window]);
}

void as_trust_again_keep(struct as_view *of, const struct as_again *again, const struct as_notices *notices)
{
    played.kept++;
}

/* ---- pairs ---- */

static struct as_trust_pair open_pair(const char *before, const char *a, const char *after, const char *b)
{
    return (struct as_trust_pair){.views = {view_bed_open(before, a), view_bed_open(after, b)}};
}

static void make(struct as_trust_pair *pair, const struct as_again_options *again)
{
    struct as_error err = AS_ERROR_INIT;
    if (!as_trust_pair_make(pair, again, &err))
        fail_msg("%s", err.message);
}

static void refuse(struct as_trust_pair *pair, const struct as_again_options *again, const char *part)
{
    struct as_error err = AS_ERROR_INIT;
    assert_false(as_trust_pair_make(pair, again, &err));
    bed_assert_line(&err, part);
}

static void close_pair(struct as_trust_pair *pair)
{
    for (int side = 0; side < AS_DIFF_SIDES; side++)
        as_view_free(&pair->views[side]);
}

static void assert_values(const double values[], const double expected[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_true(isnan(expected[i]) ? isnan(values[i]) : fabs(values[i] - expected[i]) < 1e-9);
}

static void test_levels(void **state)
{
    assert_string_equal(as_view_level_name(as_trust_levels[0]), "instruction");
    assert_string_equal(as_view_level_name(as_trust_levels[1]), "line");
    assert_string_equal(as_view_level_name(as_trust_levels[2]), "function");
    assert_string_equal(as_view_level_name(as_trust_levels[3]), "module");
}

/* By module: shop has 0.81 of the time before the change, all of it after. */
static void test_exact_profiles(void **state)
{
    struct as_trust_pair pair = open_pair("shop.db", "golden", "old.db", "golden");
    make(&pair, NULL);
    assert_true(pair.comparable && pair.by == AS_TRUST_ERRORS_EXPECT && as_trust_pair_is_far(&pair));
    assert_true(fabs(pair.agreements[3].distance - 0.19) < 1e-9);
    assert_int_equal(as_trust_pair_agreed(&pair), AS_TRUST_LEVELS);
    assert_values(pair.expected, (double[]){0, 0, 0, 0}, AS_TRUST_LEVELS);
    close_pair(&pair);
    pair = open_pair("old.db", "golden", "old.db", "golden");
    make(&pair, NULL);
    assert_true(pair.comparable && !as_trust_pair_is_far(&pair));
    assert_int_equal(as_trust_pair_agreed(&pair), 0);
    assert_true(pair.agreements[0].distance == 0);
    close_pair(&pair);
}

/* The errors of the level that is nearest; where there is none, anything is to be expected. */
static void test_measured_error(void **state)
{
    struct as_trust_pair pair = open_pair("shop.db", "golden", "shop.db", "tea");
    make(&pair, NULL);
    assert_true(pair.by == AS_TRUST_ERRORS_EXPECT);
    assert_values(pair.expected, (double[]){0.125, 1, 0.0625, 0.0625}, AS_TRUST_LEVELS);
    assert_true(pair.agreements[0].expected > 0); /* ten samples: of chance */
    close_pair(&pair);
}

static void test_unknown_error(void **state)
{
    struct as_trust_pair pair = open_pair("shop.db", "golden", "shop.db", "clock");
    make(&pair, NULL);
    assert_true(pair.comparable && pair.by == AS_TRUST_NOTHING && !as_trust_pair_is_far(&pair));
    assert_string_equal(as_trust_counted(&pair.views[AS_DIFF_AFTER]), "time");
    close_pair(&pair);
}

static void test_other_things_counted(void **state)
{
    struct as_trust_pair pair = open_pair("shop.db", "golden", "shop.db", "bytes");
    played.called = 0;
    make(&pair, &(struct as_again_options){.max = 1});
    assert_true(!pair.comparable && pair.by == AS_TRUST_NOTHING && !as_trust_pair_is_far(&pair));
    assert_int_equal(played.called, 0);
    assert_string_equal(as_trust_counted(&pair.views[AS_DIFF_BEFORE]), "time");
    assert_string_equal(as_trust_counted(&pair.views[AS_DIFF_AFTER]), "bytes");
    close_pair(&pair);
}

static void test_programs(void **state)
{
    struct as_trust_pair pair = open_pair("shop.db", "golden", "old.db", "golden");
    pair.views[AS_DIFF_BEFORE].summary.program = "stall";
    refuse(&pair, NULL, "shop.db is of stall, old.db of shop");
    pair.views[AS_DIFF_BEFORE].summary.program = NULL; /* it may be the same */
    make(&pair, NULL);
    close_pair(&pair);
    pair = open_pair("shop.db", "golden", "shop.db", "golden");
    pair.views[AS_DIFF_AFTER].summary.program = "stall"; /* the same build has another name */
    make(&pair, NULL);
    close_pair(&pair);
}

/* ---- in the model ---- */

/* Two samplers of which nothing was measured: the first as by an interrupt, the second as `way`. */
static struct as_trust_pair unknown_pair(const char *way)
{
    struct as_trust_pair pair = open_pair("shop.db", "clock", "shop.db", "clock");
    pair.views[AS_DIFF_BEFORE].summary.bias = as_bias_named("interrupt");
    pair.views[AS_DIFF_AFTER].summary.bias = as_bias_named(way);
    memset(&played, 0, sizeof played);
    return pair;
}

/* One sampler sees all of shop.db, by instruction; the other one, "clock", has one sample. */
static void test_runs_in_the_model(void **state)
{
    struct as_trust_pair pair = unknown_pair("interrupt");
    played.runs = 2;
    played.share = 0.4;
    played.series[0] = played.series[1] = "golden";
    make(&pair, &(struct as_again_options){.seed = 9});
    assert_true(pair.by == AS_TRUST_MODEL_EXPECTS);
    assert_int_equal(played.called, 2);
    assert_int_equal(played.kept, 2);
    assert_int_equal(played.like, 1); /* the second runs the same functions */
    assert_true(played.seeds[0] == 1 && played.seeds[1] == 2);
    for (size_t i = 0; i < AS_TRUST_LEVELS; i++) /* alike in the model: chance alone sets them apart */
        assert_true(pair.expected[i] == pair.agreements[i].expected);
    close_pair(&pair);

    pair = unknown_pair("interrupt");
    played.runs = 1;
    played.share = 0.5;
    played.series[0] = "golden";
    played.series[1] = "clock";
    make(&pair, &(struct as_again_options){.seed = 9});
    static const uint64_t golden[] = {400, 200, 300, 100, 1600, 250, 150, 760, 240}, sampled[] = {0, 0, 0, 0, 0, 0, 1};
    struct as_agreement model = as_agreement_of((struct as_sampled){as_weights_of(golden, 9), INFINITY},
                                                (struct as_sampled){as_weights_of(sampled, 7), 1}, 3);
    double rest = sqrt(model.distance * model.distance - model.expected * model.expected);
    assert_true(rest > 0.1 && fabs(pair.expected[0] - hypot(0.5 * rest, pair.agreements[0].expected)) < 1e-6);
    close_pair(&pair);
}

/* What no run has measured differs by what the suite has of the two ways. */
static void test_two_ways(void **state)
{
    struct as_trust_pair pair = unknown_pair("spe");
    const struct as_bias *a = pair.views[AS_DIFF_BEFORE].summary.bias, *b = pair.views[AS_DIFF_AFTER].summary.bias;
    played.runs = 1;
    played.share = 0.25;
    played.series[0] = played.series[1] = "golden";
    make(&pair, &(struct as_again_options){0});
    const enum as_bias_level nearest[] = {AS_BIAS_INSTRUCTION, AS_BIAS_BLOCK, AS_BIAS_FUNCTION, AS_BIAS_FUNCTION};
    for (size_t i = 0; i < AS_TRUST_LEVELS; i++) {
        double rest = 0.75 * hypot(a->levels[nearest[i]].median, b->levels[nearest[i]].median);
        assert_true(fabs(pair.expected[i] - hypot(rest, pair.agreements[i].expected)) < 1e-9);
    }
    close_pair(&pair);
}

/* The one whose error is known does not run, so that the errors decide. */
static void test_one_unknown(void **state)
{
    struct as_trust_pair pair = open_pair("shop.db", "golden", "shop.db", "clock");
    memset(&played, 0, sizeof played);
    pair.views[AS_DIFF_AFTER].summary.bias = as_bias_named("interrupt");
    pair.views[AS_DIFF_AFTER].summary.trust[AS_BIAS_BLOCK].expected.median = 0.5;
    played.runs = 1;
    played.series[0] = "golden";
    make(&pair, &(struct as_again_options){0});
    assert_true(pair.by == AS_TRUST_ERRORS_EXPECT && played.called == 1 && played.kept == 1 && !played.like);
    assert_true(played.seeds[0] == 2 && pair.expected[1] == 0.5);
    close_pair(&pair);
}

static void test_no_model(void **state)
{
    struct as_trust_pair pair = unknown_pair("interrupt");
    played.fails = true;
    refuse(&pair, &(struct as_again_options){0}, "no model");
    assert_true(played.called == 1 && played.kept == 0 && pair.by == AS_TRUST_NOTHING);
    close_pair(&pair);
}

/* ---- verdicts ---- */

static void test_far(void **state)
{
    for (size_t level = 0; level < AS_TRUST_LEVELS; level++) {
        struct as_trust_pair pair = {.by = AS_TRUST_MODEL_EXPECTS};
        pair.expected[level] = 0.2;
        pair.agreements[level] = (struct as_agreement){.distance = 0.385, .deviation = 0.03}; /* up to 0.39 */
        assert_false(as_trust_pair_is_far(&pair));
        pair.agreements[level].distance = 0.395;
        assert_true(as_trust_pair_is_far(&pair));
        pair.by = AS_TRUST_NOTHING;
        assert_false(as_trust_pair_is_far(&pair));
    }
}

static void test_agreed(void **state)
{
    struct as_trust_pair pair = {0};
    for (size_t i = 0; i < AS_TRUST_LEVELS; i++)
        pair.agreements[i].verdict = i == 1 ? AS_PROFILES_TOO_FEW : AS_PROFILES_DIFFER;
    assert_int_equal(as_trust_pair_agreed(&pair), AS_TRUST_LEVELS);
    pair.agreements[3].verdict = AS_PROFILES_AGREE;
    assert_int_equal(as_trust_pair_agreed(&pair), 3);
    pair.agreements[2].verdict = AS_PROFILES_AGREE;
    assert_int_equal(as_trust_pair_agreed(&pair), 2);
}

/* ---- one profile ---- */

static void test_expected_of_one(void **state)
{
    struct as_view view = view_bed_open("shop.db", "golden");
    struct as_trust_expected expected = as_trust_expect(&view);
    assert_values(expected.errors, (double[]){0, 0, 0}, AS_BIAS_LEVELS);
    assert_values(expected.chance, (double[]){NAN, NAN, NAN}, AS_BIAS_LEVELS);
    assert_true(expected.believed == AS_BIAS_INSTRUCTION && as_trust_has_error(&view));
    as_view_free(&view);
    view = view_bed_open("shop.db", "tea");
    expected = as_trust_expect(&view);
    assert_values(expected.errors, (double[]){0.0625, NAN, 0.125}, AS_BIAS_LEVELS);
    assert_true(expected.believed == AS_BIAS_FUNCTION && as_trust_has_error(&view));
    as_view_free(&view);
}

static void test_expected_by_bias(void **state)
{
    static const double medians[] = {0.05, 0.1, 0.2};
    struct as_view view = view_bed_open("shop.db", "clock");
    assert_false(as_trust_has_error(&view));
    view.summary.bias = as_bias_named("interrupt");
    view.summary.too_few = false;
    for (int i = 0; i < AS_BIAS_LEVELS; i++)
        view.summary.trust[i] = (struct as_summary_trust){.chance = 0.01 * i, .expected = {0, medians[i], 1}};
    struct as_trust_expected expected = as_trust_expect(&view);
    assert_values(expected.errors, medians, AS_BIAS_LEVELS);
    assert_values(expected.chance, (double[]){0, 0.01, 0.02}, AS_BIAS_LEVELS);
    assert_int_equal(expected.believed, AS_BIAS_BLOCK);
    view.summary.too_few = true;
    expected = as_trust_expect(&view);
    assert_values(expected.errors, (double[]){NAN, NAN, NAN}, AS_BIAS_LEVELS);
    assert_values(expected.chance, (double[]){NAN, NAN, NAN}, AS_BIAS_LEVELS);
    assert_int_equal(expected.believed, -1);
    as_view_free(&view);
}

static void test_open(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_view view = {0};
    bed_sql("shop.db", "UPDATE series SET samples = 0 WHERE name IN ('golden', 'bytes')");
    assert_true(as_trust_open_view(&view, "shop.db", NULL, &err) && view.summary.exact);
    as_view_free(&view);
    assert_true(as_trust_open_view(&view, "shop.db", "clock", &err));
    as_view_free(&view);
    assert_false(as_trust_open_view(&view, "shop.db", "bytes", &err));
    bed_assert_line(&err, "shop.db: it has no samples");
    as_view_free(&view);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_exact_profiles),
        cmocka_unit_test(test_measured_error),
        cmocka_unit_test(test_unknown_error),
        cmocka_unit_test(test_other_things_counted),
        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_runs_in_the_model),
        cmocka_unit_test(test_two_ways),
        cmocka_unit_test(test_one_unknown),
        cmocka_unit_test(test_no_model),
        cmocka_unit_test(test_far),
        cmocka_unit_test(test_agreed),
        cmocka_unit_test(test_expected_of_one),
        cmocka_unit_test(test_expected_by_bias),
        cmocka_unit_test(test_open), /* changes shop.db */
    };
    return cmocka_run_group_tests(tests, view_bed_set_up, NULL);
}
