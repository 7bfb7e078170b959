/* Which way of sampling a series is of, and what error goes with it. */
#include "unit.h"

#include "score/bias.h"

#include <math.h>
#include <string.h>

static void check_way(const char *way, struct as_sampled_by by)
{
    const struct as_bias *bias = as_bias_of(&by);
    if (!way)
        assert_null(bias);
    else if (!bias || strcmp(bias->way, way) != 0)
        fail_msg("%s precise %d on %s: %s, not %s", by.event, by.precise, by.processor, bias ? bias->way : "unknown",
                 way);
}

static void ways_by_event_and_processor(void **state)
{
    check_way("interrupt", (struct as_sampled_by){"timer", "AMD EPYC", "task-clock", -1});
    check_way("interrupt", (struct as_sampled_by){"import", NULL, "cpu-clock:u", -1});
    check_way("interrupt", (struct as_sampled_by){"import", "Intel(R) Xeon(R)", "cycles", 0});
    check_way("pebs-cycles", (struct as_sampled_by){"import", "Intel(R) Xeon(R)", "cycles:ppp", 3});
    check_way("ibs-cycles", (struct as_sampled_by){"import", "AMD EPYC 7763", "cycles:pp", 2});
    check_way("ibs-ops", (struct as_sampled_by){"import", "AMD EPYC 7763", "instructions:p", 1});
    check_way("ibs-ops", (struct as_sampled_by){"import", NULL, "ibs_op/cnt_ctl=1/", 0});
    check_way("ibs-cycles", (struct as_sampled_by){"import", NULL, "ibs_op//", 0});
    check_way("spe", (struct as_sampled_by){"import", NULL, "arm_spe_0//", 0});
    check_way("pebs-instructions", (struct as_sampled_by){"pmu", "Intel", "instructions:pp", 2});
    check_way("pdir-instructions", (struct as_sampled_by){"pmu", "Intel", "instructions:ppp", 3});
    check_way("pdir-instructions", (struct as_sampled_by){"pmu", "Intel", "inst_retired.prec_dist:pp", 2});
    check_way("pebs-loads", (struct as_sampled_by){"pmu", "Intel", "mem_inst_retired.all_loads:pp", 2});
    check_way("pebs-misses", (struct as_sampled_by){"pmu", "Intel", "mem_load_retired.l3_miss:ppp", 3});
    check_way("pebs-branches", (struct as_sampled_by){"pmu", "Intel", "br_inst_retired.near_taken:pp", 2});
}

static void samplers_of_the_model(void **state)
{
    check_way("interrupt", (struct as_sampled_by){"model", "boom-tip", "cycles", -1, "software"});
    check_way("pebs-cycles", (struct as_sampled_by){"model", "boom-tip", "cycles", -1, "nci"});
    check_way("tip", (struct as_sampled_by){"model", "boom-tea", "cycles", -1, "tea"});
    check_way(NULL, (struct as_sampled_by){"model", "boom-tip", "cycles", -1, "lci"});
}

/* What nobody has measured is not guessed. */
static void ways_that_are_not_known(void **state)
{
    check_way(NULL, (struct as_sampled_by){"import", "Intel", "instructions", 0});
    check_way(NULL, (struct as_sampled_by){"import", NULL, "ibs_fetch//", 0});
    check_way(NULL, (struct as_sampled_by){"import", "Intel", "page-faults", -1});
    check_way(NULL, (struct as_sampled_by){"import", "Intel", "uops_issued.any:p", 1});
    check_way(NULL, (struct as_sampled_by){NULL, NULL, NULL, -1});
}

/* The table as it is: sorted ranges, coarser levels better, the samplers in the order of the TIP paper. */
static void the_table_makes_sense(void **state)
{
    static const char *const ways[] = {
        "interrupt",   "pebs-cycles",   "pebs-instructions", "pdir-instructions", "pebs-loads",
        "pebs-misses", "pebs-branches", "ibs-cycles",        "ibs-ops",           "spe",
        "tip"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const struct as_bias *bias = as_bias_named(ways[i]);
        assert_non_null(bias);
        assert_true(bias->programs >= 10 && bias->about[0]);
        for (int level = 0; level < AS_BIAS_LEVELS; level++) {
            const struct as_bias_range *range = &bias->levels[level];
            assert_true(range->low >= 0 && range->low <= range->median && range->median <= range->high);
            assert_true(range->high < 1);
            assert_true(level == 0 || range->median >= bias->levels[level - 1].median);
        }
    }
    const struct as_bias *interrupt = as_bias_named("interrupt"), *tip = as_bias_named("tip");
    assert_true(interrupt->levels[AS_BIAS_INSTRUCTION].median > as_bias_named("pebs-cycles")->levels[2].median);
    assert_true(tip->levels[AS_BIAS_INSTRUCTION].median < 0.02);
    assert_null(as_bias_named("magic"));
}

static void bias_and_chance_together(void **state)
{
    assert_float_equal(as_bias_with_chance(0.3, 0.4), 0.5, 1e-12);
    assert_true(as_bias_with_chance(0, 0.25) == 0.25);
    assert_true(as_bias_with_chance(0.9, 0.9) == 1);
    assert_true(isnan(as_bias_with_chance(NAN, 0.1)) && isnan(as_bias_with_chance(0.1, NAN)));
}

static void errors_without_chance(void **state)
{
    assert_float_equal(as_bias_without_chance(0.5, 0.4), 0.3, 1e-12);
    assert_true(as_bias_without_chance(0.25, 0) == 0.25);
    assert_true(as_bias_without_chance(0.1, 0.2) == 0 && as_bias_without_chance(0.1, NAN) == 0);
    assert_true(isnan(as_bias_without_chance(NAN, 0.1)));
}

static void profiles_apart(void **state)
{
    assert_float_equal(as_bias_apart(0.3, 0.4), 0.5, 1e-12);
    assert_true(as_bias_apart(0.25, 0) == 0.25 && as_bias_apart(0.9, 0.9) == 1);
    assert_true(as_bias_apart(NAN, 0.1) == 1 && as_bias_apart(0.1, NAN) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways_by_event_and_processor),
        cmocka_unit_test(samplers_of_the_model),
        cmocka_unit_test(ways_that_are_not_known),
        cmocka_unit_test(the_table_makes_sense),
        cmocka_unit_test(bias_and_chance_together),
        cmocka_unit_test(errors_without_chance),
        cmocka_unit_test(profiles_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
