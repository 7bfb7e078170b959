/* What a native source samples, and what it refuses, from the options alone. */
#include "record/record_native.h"

#include "unit.h"

#include <linux/perf_event.h>
#include <math.h>

static struct as_record_options options;
static struct as_native_plan plan;
static struct as_regions regions;

static const char *event_names[AS_NATIVE_MAX_EVENTS + 1];

static void add_event(const char *name)
{
    event_names[options.event.len++] = name;
    options.event.data = event_names;
}

static int begin(void **state)
{
    options = as_record_defaults;
    plan = (struct as_native_plan){0};
    as_regions_free(&regions);
    regions = (struct as_regions){0};
    return 0;
}

static int end(void **state)
{
    as_regions_free(&regions);
    return 0;
}

static void check(bool pmu, const char *why)
{
    struct as_error err = AS_ERROR_INIT;
    bool ok = pmu ? as_native_plan_pmu(&plan, &options, &err) : as_native_plan_timer(&plan, &options, &err);
    if (!why && !ok)
        fail_msg("%s", err.message);
    if (!why)
        return;
    assert_false(ok);
    if (!strstr(err.message, why))
        fail_msg("'%s' is not about '%s'", err.message, why);
    assert_int_equal(err.status, AS_EXIT_USAGE);
    begin(NULL);
}

static void rates(void **state)
{
    options.rate = 0.009;
    check(false, "0.01 to 1000000");
    options.rate = 1e6 + 1;
    check(true, "0.01 to 1000000");
    options.rate = 100001;
    check(false, "at most 100000 samples");
    options.rate = 1000;
    options.period = 20000;
    check(false, "either --rate or --period");
    options.period = 9999;
    check(false, "at least 10000");
    options.rate = 100000;
    check(false, NULL);
    assert_true(plan.options.rate == 100000 && plan.options.period == 0 && plan.options.n_events == 1);
    assert_string_equal(plan.how, "the kernel's task clock");
    assert_int_equal(plan.events[0].attr.config, PERF_COUNT_SW_TASK_CLOCK);
    options.rate = NAN;
    options.period = 10000;
    check(false, NULL);
    assert_true(plan.options.rate == 0 && plan.options.period == 10000);
}

static void what_does_not_go_together(void **state)
{
    options.repeat = 2;
    options.pid = 7;
    check(false, "--repeat needs a program");
    options.allocations = true;
    options.pid = 7;
    check(false, "--allocations needs the agent");
    options.allocations = true;
    options.delay = 1;
    check(false, "--allocations counts the whole run");
    options.duration = 3;
    check(false, "--duration is for --pid");
    options.pid = 7;
    options.duration = 0;
    check(false, "more than 0 seconds");
    options.pid = 7;
    options.duration = 1e8;
    check(false, "more than 0 seconds");
    options.call_graph = AS_RECORD_LBR;
    check(false, "--call-graph=lbr");
    options.model_wish = "core";
    check(true, "--core needs --source=model: the pmu source");
    options.branches = true;
    check(false, "--branches is for --source=pmu");
    options.processors = true;
    check(true, "--processors is for --source=timer");
    options.random = true;
    options.period = AS_NATIVE_LEAST_RANDOM - 1;
    check(true, "--random needs");
    add_event("page-faults");
    check(false, "--event is for --source=pmu");
    options.pid = 7;
    options.duration = 0.5;
    check(false, NULL);
}

static void all_processes(void **state)
{
    static const char *const others[] = {"--pid", "--accesses", "--allocations", "--repeat"};
    for (int i = 0; i < 4; i++) {
        options.system_wide = true;
        options.pid = i == 0 ? 7 : 0;
        options.accesses = i == 1;
        options.allocations = i == 2;
        options.repeat = i == 3 ? 2 : 1;
        check(false, others[i]);
    }
    options.system_wide = true;
    options.duration = 2;
    check(false, NULL);
    assert_true(plan.options.processors && plan.options.everything);
    assert_string_equal(plan.how, "clocks of all processors");
    assert_int_equal(plan.events[0].attr.config, PERF_COUNT_SW_CPU_CLOCK);
}

#ifdef __x86_64__
enum { COPIES = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER };

static void check_chains(uint64_t fields, bool unwind)
{
    check(false, NULL);
    assert_int_equal(plan.options.fields, fields);
    assert_int_equal(plan.unwind, unwind);
}

/* Copies of the stack as long as they are not too many; 2,000 a second, half of that for each processor. */
static void call_chains(void **state)
{
    check_chains(PERF_SAMPLE_CALLCHAIN | COPIES, true);
    assert_int_equal(plan.options.stack_bytes, 8192);
    assert_int_equal(plan.options.ring_enough, 512 << 10);
    options.rate = 2000;
    check_chains(PERF_SAMPLE_CALLCHAIN | COPIES, true);
    options.rate = 2001;
    check_chains(PERF_SAMPLE_CALLCHAIN, false);
    options.rate = 1001;
    options.processors = true;
    check_chains(PERF_SAMPLE_CALLCHAIN, false);
    options.rate = 1000;
    check_chains(PERF_SAMPLE_CALLCHAIN | COPIES, true);
    options.processors = false;
    options.rate = NAN;
    options.period = 499999; /* of the clock: just above 2,000 a second */
    check_chains(PERF_SAMPLE_CALLCHAIN, false);
    options.period = 500000;
    check_chains(PERF_SAMPLE_CALLCHAIN | COPIES, true);
    options.call_graph = AS_RECORD_FP;
    check_chains(PERF_SAMPLE_CALLCHAIN, false);
    assert_int_equal(plan.options.ring_enough, 0);
    options.call_graph = AS_RECORD_DWARF;
    options.stack_size = 4096;
    check_chains(COPIES, true);
    assert_int_equal(plan.options.stack_bytes, 4096);
    options.call_graph = AS_RECORD_NO_CALLS;
    check_chains(0, false);
}

static void accesses(void **state)
{
    options.accesses = true;
    options.call_graph = AS_RECORD_FP;
    check_chains(PERF_SAMPLE_CALLCHAIN | COPIES, false);
    assert_true(plan.options.data_maps && plan.options.wait_ms == 20);
    assert_true(plan.options.stack_bytes == 512 && plan.options.ring_bytes == 512 << 10);
    options.call_graph = AS_RECORD_AUTO;
    check_chains(PERF_SAMPLE_CALLCHAIN | COPIES, true);
    assert_true(plan.options.stack_bytes == 8192 && plan.options.ring_bytes == 0);
}
#endif

/* Page faults have an address, and other software events have none. */
static void named_events(void **state)
{
    options.call_graph = AS_RECORD_NO_CALLS;
    options.accesses = true;
    options.user = options.branches = true;
    add_event("page-faults");
    check(true, NULL);
    assert_int_equal(plan.options.n_events, 1);
    assert_true(plan.options.fields & PERF_SAMPLE_ADDR && plan.options.fields & PERF_SAMPLE_BRANCH_STACK);
    assert_false(plan.options.fields & PERF_SAMPLE_DATA_SRC);
    assert_int_equal(plan.options.mode, AS_NATIVE_USER);
    assert_string_equal(plan.how, "the named events");
    add_event("context-switches");
    options.user = options.branches = false;
    check(true, NULL);
    assert_int_equal(plan.options.n_events, 2);
    assert_false(plan.options.fields & (PERF_SAMPLE_ADDR | PERF_SAMPLE_BRANCH_STACK));
    assert_int_equal(plan.options.mode, AS_NATIVE_ALLOWED);
    while (options.event.len <= AS_NATIVE_MAX_EVENTS)
        add_event("page-faults");
    struct as_error err = AS_ERROR_INIT;
    assert_false(as_native_plan_pmu(&plan, &options, &err));
    assert_string_equal(err.message, "--event: at most 16 events at a time");
}

static struct as_region *add_region(void)
{
    struct as_region *region = as_regions_add(&regions);
    region->start = as_regions_symbol(&regions, "main");
    options.engine.regions = &regions;
    return region;
}

static void native_regions(void **state)
{
    add_region();
    check(false, NULL);
    assert_ptr_equal(plan.options.regions, &regions);
    assert_non_null(plan.options.resolve);
    options.delay = 1; /* they begin by the clock then */
    check(false, NULL);
    assert_null(plan.options.regions);
    options.delay = 0;
    options.pid = 7;
    options.processors = true;
    check(false, "cannot be used with --processors and --pid");
    struct as_region *region = add_region();
    region->max = 100;
    check(false, "counts of instructions or cycles need --source=model");
    region = add_region();
    region->weight = 2;
    check(false, "weight, warm, settle and mode");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rates, begin, end),
        cmocka_unit_test_setup_teardown(what_does_not_go_together, begin, end),
        cmocka_unit_test_setup_teardown(all_processes, begin, end),
#ifdef __x86_64__
        cmocka_unit_test_setup_teardown(call_chains, begin, end),
        cmocka_unit_test_setup_teardown(accesses, begin, end),
#endif
        cmocka_unit_test_setup_teardown(named_events, begin, end),
        cmocka_unit_test_setup_teardown(native_regions, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
