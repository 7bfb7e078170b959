/* What events count, by the names that perf and Assay give them. */
#include "base/time_unit.h"
#include "blocks/counted.h"

#include "unit.h"

static void test_names(void **state)
{
    static const struct {
        const char *name, *unit;
        enum as_counted counted;
    } cases[] = {
        {"instructions:u", "instructions", AS_COUNTED_INSTRUCTIONS},
        {"inst_retired.prec_dist", NULL, AS_COUNTED_INSTRUCTIONS},
        {"ex_ret_instr", NULL, AS_COUNTED_INSTRUCTIONS},
        {"r00c0", NULL, AS_COUNTED_INSTRUCTIONS},
        {"rc0:pp", NULL, AS_COUNTED_INSTRUCTIONS},
        {"raw 0x1c0", NULL, AS_COUNTED_INSTRUCTIONS},
        {"cpu/event=0xc0/", NULL, AS_COUNTED_INSTRUCTIONS},
        {"br_inst_retired.near_taken:u", NULL, AS_COUNTED_TAKEN},
        {"r20c4", NULL, AS_COUNTED_TAKEN},
        {"raw 0x20c4", NULL, AS_COUNTED_TAKEN},
        {"raw 0x5300020c4", NULL, AS_COUNTED_TAKEN},
        {"cpu/event=0xc4,umask=0x20/p", NULL, AS_COUNTED_TAKEN},
        {"br_inst_retired.not_taken", NULL, AS_COUNTED_OTHER},
        {"br_misp_retired.near_taken", NULL, AS_COUNTED_OTHER},
        {"br_inst_retired.all_branches", NULL, AS_COUNTED_OTHER},
        {"mem_inst_retired.all_loads", NULL, AS_COUNTED_OTHER},
        {"ref-cycles", NULL, AS_COUNTED_OTHER},
        {"cpu-clock", "nanoseconds", AS_COUNTED_OTHER},
        {"cycles:ppp", "cycles", AS_COUNTED_OTHER},
        {"uops_retired.all", NULL, AS_COUNTED_UOPS},
        {"ibs_op//", "cycles", AS_COUNTED_OTHER},
        {"ibs_op/cnt_ctl=1/", NULL, AS_COUNTED_UOPS},
        {"ibs_op//", "operations", AS_COUNTED_UOPS},
        {"arm_spe_0//", "operations", AS_COUNTED_UOPS},
        {"mine:u", "taken branches", AS_COUNTED_TAKEN},
        {"mine", "instructions", AS_COUNTED_INSTRUCTIONS},
        {"mine", "mine", AS_COUNTED_OTHER},
        {NULL, NULL, AS_COUNTED_OTHER},
        {"", "", AS_COUNTED_OTHER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (as_counted_of(cases[i].name, cases[i].unit) != cases[i].counted)
            fail_msg("%s is %d", cases[i].name, (int)as_counted_of(cases[i].name, cases[i].unit));
}

static void test_time(void **state)
{
    (void)state;
    static const char *const time[] = {"nanoseconds", "cycles", "ref-cycles", "cpu-clock", "cpu_clk_unhalted.thread"};
    static const char *const others[] = {"page-faults", "samples", "cache-misses", ""};
    for (size_t i = 0; i < sizeof time / sizeof *time; i++)
        assert_true(as_unit_is_time(time[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(as_unit_is_time(others[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
