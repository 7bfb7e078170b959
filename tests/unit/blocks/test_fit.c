/* When samples fit their code too badly: refused, doubted or taken, with the words for it. */
#include "base/str.h"
#include "blocks/blocks_fit.h"

#include "unit.h"

static struct as_flow *flow;

static int set_up(void **state)
{
    struct as_cfg *cfg = as_cfg_new(NULL);
    as_cfg_module_of(cfg, "/nowhere/one", AS_ARCH_X86_64);
    as_cfg_module_of(cfg, "/nowhere/two", AS_ARCH_X86_64);
    as_cfg_build(cfg);
    flow = as_flow_new(cfg);
    flow->fits = as_alloc_array(2, sizeof *flow->fits);
    return 0;
}

static int tear_down(void **state)
{
    struct as_cfg *cfg = flow->cfg;
    as_flow_free(flow);
    as_cfg_free(cfg);
    return 0;
}

static void set_fits(double checked, double wrong, double other_checked, double other_wrong)
{
    flow->fits[0] = (struct as_flow_fit){checked, wrong};
    flow->fits[1] = (struct as_flow_fit){other_checked, other_wrong};
}

/* What is said: "" where nothing is in doubt. */
static void expect(const struct as_blocks_fit *fit, double misfit, const char *refused, const char *doubt)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_str text = {0};
    as_str_add(&text, "");
    assert_float_equal(as_blocks_misfit(fit), misfit, 1e-12);
    assert_int_equal(as_blocks_check_fit(fit, &err), !refused);
    if (refused)
        assert_string_equal(err.message, refused);
    assert_int_equal(as_blocks_add_doubt(fit, &text), *doubt != 0);
    assert_string_equal(text.data, doubt);
    as_str_free(&text);
}

static void taken(void **state)
{
    struct as_blocks_fit fit = {.flow = flow, .method = AS_METHOD_IP, .disordered = 0.9};
    set_fits(1000, 100, 0, 0); /* at the limit; addresses have no order */
    expect(&fit, 0.1, NULL, "");
    set_fits(100000, 0, 900, 800); /* most is wrong in one file, of which there is next to nothing */
    expect(&fit, 800.0 / 100900, NULL, "");
    set_fits(0, 0, 0, 0);
    expect(&fit, 0, NULL, "");
    free(flow->fits);
    flow->fits = NULL; /* exact counts */
    expect(&fit, 0, NULL, "");
}

static void doubted(void **state)
{
    struct as_blocks_fit fit = {.flow = flow, .method = AS_METHOD_UOPS};
    set_fits(1000, 200, 1000, 0);
    expect(
        &fit, 0.1, NULL,
        "20.0 % of the addresses in /nowhere/one do not fit the code, and were left out: is it another build than the "
        "recorded one? Counts are then of chance. ");
    set_fits(1000, 200, 1000, 400);
    fit.method = AS_METHOD_LBR;
    fit.disordered = 0.25;
    expect(&fit, 0.3, NULL,
           "20.0 % of the branch entries in /nowhere/one, 40.0 % of the branch entries in /nowhere/two do not fit the "
           "code, and were left out: is each of them another build than the recorded one? Counts are then of chance. "
           "25.0 % of the runs of branch stacks end before they begin, and were left out. ");
    fit.disordered = 0.1;
    fit.module = "two";
    expect(
        &fit, 0.4, NULL,
        "40.0 % of the branch entries in /nowhere/two do not fit the code, and were left out: is it another build than "
        "the recorded one? Counts are then of chance. ");
}

static void refused(void **state)
{
    struct as_blocks_fit fit = {.flow = flow, .method = AS_METHOD_IP, .module = "/nowhere/one"};
    set_fits(1000, 510, 1000, 900);
    expect(
        &fit, 0.51,
        "51.0 % of the addresses do not fit the code of /nowhere/one: is it another build than the recorded one?",
        "51.0 % of the addresses in /nowhere/one do not fit the code, and were left out: is it another build than the "
        "recorded one? Counts are then of chance. ");
    fit.module = NULL;
    fit.method = AS_METHOD_FLOW;
    struct as_error err = AS_ERROR_INIT;
    assert_false(as_blocks_check_fit(&fit, &err));
    assert_string_equal(err.message, "70.5 % of the branch entries do not fit the code of /nowhere/two: is it another "
                                     "build than the recorded one?");
    set_fits(1000, 500, 0, 0);
    assert_true(as_blocks_check_fit(&fit, &err));
    fit.disordered = 0.6;
    assert_true(as_blocks_check_fit(&fit, &err)); /* these branches have no order */
    fit.method = AS_METHOD_LBR;
    assert_false(as_blocks_check_fit(&fit, &err));
    assert_string_equal(
        err.message, "60.0 % of the runs between two entries of branch stacks end before they begin: the recording is "
                     "damaged");
    fit.disordered = 0.5;
    assert_true(as_blocks_check_fit(&fit, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(doubted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
