/* Experiments on samplers whose mistakes are known: runs are played here, in place of trust_run.c, and rows, verdicts and the
 * search for the shadow are held against numbers worked out by hand. */
#include "unit.h"

#include "base/alloc.h"
#include "trust/trust.h"

#include <math.h>

typedef void as_play(const struct as_trust_probe *probe, struct as_trust_result *result);
static as_play *play;
static const struct as_trust_subject *played_on;

bool as_trust_run(struct as_trust_subject *subject, const struct as_trust_probe *probe, struct as_trust_result *result,
                  struct as_error *err)
{
    *result = (struct as_trust_result){.code.bytes = as_alloc(AS_KERNEL_BYTES)};
    assert_true(as_kernel_build(probe->kernel, &probe->options, &result->code));
    free(result->code.bytes);
    result->code.bytes = NULL;
    subject->runs++;
    played_on = subject;
    play(probe, result);
    return true;
}

bool as_trust_has_event(const struct as_trust_subject *subject, const char *event)
{
    return true;
}

static const struct as_trust_options options = {.scale = 100, .runs = 3};

static struct as_trust_subject subject_of(enum as_pmu_kind kind)
{
    return (struct as_trust_subject){
        .options = &options,
        .pmu = {.kind = kind, .counters = 4, .multiplex = 4000, .least_interval = 1024, .counts_ops = true}};
}

static const struct as_trust_experiment *find(const char *name)
{
    for (size_t i = 0; i < as_trust_experiments_count; i++)
        if (strcmp(as_trust_experiments[i].name, name) == 0)
            return &as_trust_experiments[i];
    fail_msg("no experiment is called %s", name);
    return NULL;
}

static struct as_trust_report run(struct as_trust_subject *subject, const char *name, as_play *how)
{
    struct as_trust_report report = {0};
    struct as_error err = AS_ERROR_INIT;
    play = how;
    assert_true(find(name)->run(subject, &report, &err));
    for (size_t i = 0; i < report.rows.len; i++)
        assert_string_equal(report.rows.data[i].experiment, name);
    return report;
}

static void check_row(const struct as_trust_report *report, size_t number, const char *what, const char *setting,
                      double expected, double got, double error)
{
    assert_true(number < report->rows.len);
    const struct as_trust_row *row = &report->rows.data[number];
    assert_string_equal(row->what, what);
    assert_string_equal(row->setting, setting);
    if (fabs(row->expected - expected) > 0.001 || fabs(row->got - got) > 0.001 || fabs(row->error - error) > 0.001)
        fail_msg("%s, %s: %g expected, %g, error %g", what, setting, row->expected, row->got, row->error);
}

static void check_verdict(const struct as_trust_report *report, size_t number, const char *text)
{
    assert_true(number < report->verdicts.len);
    assert_string_equal(report->verdicts.data[number], text);
}

/* ---- numbers of samples ---- */

/* How often a kernel with its usual options counts an event in an iteration: from the listings. */
static double per_iteration(const char *kernel, const char *event)
{
    static const struct {
        const char *kernel, *event;
        double count;
    } known[] = {
        {"accuracy", "instructions", 20},   {"load-ratio", "loads", 1},        {"accuracy", "l1-miss", 1},
        {"locked-load", "locked-loads", 1}, {"locked-load", "loads", 1},       {"locked-load", "stores", 1},
        {"multi-event", "loads", 4},        {"multi-event", "stores", 3},      {"multi-event", "branches", 4},
        {"multi-event", "taken", 3},        {"multi-event", "returns", 1},     {"multi-event", "locked-loads", 2},
        {"multi-event", "calls", 1},        {"multi-event", "conditional", 2}, {"exec-mode", "far", 2},
        {"snippet3", "l3-miss", 4}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].kernel, kernel) == 0 && strcmp(known[i].event, event) == 0)
            return known[i].count;
    fail_msg("%s of %s is not known", event, kernel);
    return 0;
}

static uint64_t right_number(const struct as_trust_probe *probe, const char *event, double factor)
{
    return (uint64_t)(factor * per_iteration(probe->kernel->name, event) * (double)probe->options.iterations *
                      probe->threads / (double)probe->period);
}

/* What the model counts is said to be 211 samples' worth of events; and so many there are. */
static bool is_counted(const char *kernel, const char *event)
{
    return strcmp(kernel, "misses") == 0 || strcmp(kernel, "mispredict") == 0 || strcmp(event, "l1-hit") == 0 ||
           strcmp(event, "cycles") == 0;
}

static void stores_too_often(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    bool stores = strcmp(probe->events[0], "stores") == 0;
    if (is_counted(probe->kernel->name, probe->events[0])) {
        result->counts[0].happened = 211 * probe->period;
        result->counts[0].samples = 211;
        return;
    }
    assert_true(probe->period == 1009 || probe->period == 101 || probe->period == 97);
    result->counts[0].samples = right_number(probe, probe->events[0], stores ? 1.1 : 1);
}

static void accuracy(void **state)
{
    struct as_trust_subject subject = subject_of(AS_PMU_PEBS);
    struct as_trust_report report = run(&subject, "accuracy", stores_too_often);
    assert_int_equal(report.rows.len, 20);
    assert_int_equal(subject.runs, 60);
    check_row(&report, 0, "instructions", "interval 1,009", 100000.0 * 20 / 1009, 1982, 0);
    check_row(&report, 1, "loads", "interval 1,009", 500000.0 / 1009, 495, -0.001);
    check_row(&report, 4, "stores", "interval 1,009", 201801.0 / 1009, 220, 0.1);
    check_row(&report, 5, "branches", "interval 1,009", 4 * 201801.0 / 1009, 800, 0);
    check_row(&report, 10, "far", "interval 101", 2 * 20201.0 / 101, 400, 0);
    check_row(&report, 11, "mispredicted", "interval 211", 211, 211, 0);
    check_row(&report, 18, "l3-miss", "interval 97", 4 * 19401.0 / 97, 800, 0);
    assert_float_equal(report.rows.data[4].spread, 0, 1e-5);
    assert_int_equal(report.rows.data[4].unit, AS_TRUST_SAMPLES);
    check_verdict(&report, 0, "counts: right to 10.0 % (worst: stores) at intervals of 1,009");
    as_trust_report_free(&report);
}

/* Misses are said to be one in ten too few where one of 60 instructions is one. */
static void sixty_is_wrong(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    bool misses = strcmp(probe->events[0], "l1-miss") == 0;
    double events = (double)probe->options.iterations * (misses ? 1 : probe->options.ratio);
    assert_string_equal(probe->kernel->name, "accuracy");
    result->counts[0].samples =
        (uint64_t)(events / (double)probe->period * (misses && probe->options.ratio == 60 ? 0.9 : 1));
}

static void ratios(void **state)
{
    struct as_trust_subject subject = subject_of(AS_PMU_PEBS);
    struct as_trust_report report = run(&subject, "ratio", sixty_is_wrong);
    assert_int_equal(report.rows.len, 10);
    check_row(&report, 0, "instructions", "one of 20, interval 10,007", 20.0 * 100071 / 10007, 200, 0);
    check_row(&report, 7, "l1-miss", "one of 60, interval 211", 42201.0 / 211, 180, -0.1);
    assert_non_null(strstr(report.verdicts.data[0], "l1-miss are right to 10.0 %"));
    as_trust_report_free(&report);
    struct as_trust_subject ibs = subject_of(AS_PMU_IBS);
    report = run(&ibs, "ratio", sixty_is_wrong);
    assert_int_equal(report.rows.len, 15);
    assert_string_equal(report.rows.data[14].what, "fetches");
    as_trust_report_free(&report);
}

static void only_divisions(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    assert_string_equal(probe->events[0], "instructions");
    result->counts[0].at[0] = 750;
    result->counts[0].samples = 1000;
}

static void latency(void **state)
{
    struct as_trust_subject subject = subject_of(AS_PMU_PEBS);
    struct as_trust_report report = run(&subject, "latency", only_divisions);
    assert_int_equal(report.rows.len, 3);
    check_row(&report, 0, "divide", "every second time", 2.5 / 8, 0.75, 0.4375);
    check_row(&report, 1, "sum", "every second time", 0.5 / 8, 0, -0.0625);
    check_row(&report, 2, "other instructions", "the loop around them", 5.0 / 8, 0.25, -0.375);
    check_verdict(
        &report, 0,
        "latency: a division and what follows it get 2.4 times the samples that they should, a sum 0.0 times");
    as_trust_report_free(&report);
}

/* A unit that tags operations: one of ten is lost, and of L1 misses half. */
static void tags(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    struct as_trust_counts *counts = &result->counts[0];
    const char *kernel = probe->kernel->name;
    assert_string_equal(probe->events[0], "ops");
    counts->happened = 10 * probe->period * 100;
    counts->samples = 900;
    counts->loads = strcmp(kernel, "load-ratio") == 0 ? right_number(probe, "loads", 1) : 0;
    counts->l1_misses = strcmp(kernel, "accuracy") == 0 ? right_number(probe, "l1-miss", 0.5) : 0;
    counts->locked = strcmp(kernel, "locked-load") == 0 ? right_number(probe, "locked-loads", 1) : 0;
}

static void accuracy_of_operations(void **state)
{
    struct as_trust_subject subject = subject_of(AS_PMU_IBS);
    struct as_trust_report report = run(&subject, "accuracy", tags);
    assert_int_equal(report.rows.len, 4);
    check_row(&report, 0, "operations", "interval 1,009", 1000, 900, -0.1);
    check_row(&report, 2, "l1-miss", "interval 1,009", 201801.0 / 1009, 100, -0.5);
    check_verdict(
        &report, 0,
        "counts: operations are off by -10.0 % at intervals of 1,009; of what they are, l1-miss are off by -50 %");
    as_trust_report_free(&report);
}

static void half_too_many_at_101(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    result->counts[0].samples = right_number(probe, "l1-miss", probe->period == 101 ? 1.5 : 1);
}

static void nothing_wrong(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    result->counts[0].samples = right_number(probe, probe->events[0], 1);
}

static void intervals(void **state)
{
    struct as_trust_subject subject = subject_of(AS_PMU_PEBS);
    struct as_trust_report report = run(&subject, "interval", half_too_many_at_101);
    assert_int_equal(report.rows.len, 5);
    check_row(&report, 0, "l1-miss", "interval 101", 100000.0 / 101, 1485, 0.5);
    check_row(&report, 1, "l1-miss", "interval 1,009", 201801.0 / 1009, 200, 0);
    check_row(&report, 2, "l1-miss", "interval 10,007", 500351.0 / 10007, 50, 0);
    check_row(&report, 3, "l1-miss", "interval 100,003", 1000031.0 / 100003, 10, 0);
    check_row(&report, 4, "l1-miss", "interval 1,000,003", 3000010.0 / 1000003, 3, 0);
    check_verdict(&report, 0,
                  "intervals: short ones are wrong: l1-miss are off by +50.0 % at interval 101, and right as far as "
                  "samples tell, to 10 %, at interval 100,003");
    as_trust_report_free(&report);
    report = run(&subject, "interval", nothing_wrong);
    check_verdict(
        &report, 0,
        "intervals: l1-miss are counted right at all of them as far as samples tell, to 0.1 % at interval 101 and "
        "10 % at interval 100,003");
    as_trust_report_free(&report);
}

/* 100, 200 and 300 samples: a mean of 200 and a standard deviation of 100. */
static void more_each_time(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    assert_int_equal(probe->handler, AS_HANDLER_IOCTL);
    result->counts[0].samples = 100 * probe->seed;
}

static void spread(void **state)
{
    struct as_trust_subject subject = subject_of(AS_PMU_PEBS);
    struct as_trust_report report = run(&subject, "handler", more_each_time);
    assert_int_equal(report.rows.len, 2);
    check_row(&report, 0, "loads", "a handler that stops and restarts it", 200000.0 / 1009, 200, 0.009);
    check_row(&report, 1, "locked-loads", "a handler that stops and restarts it", 200000.0 / 1009, 200, 0.009);
    assert_float_equal(report.rows.data[0].spread, 0.5, 1e-5);
    check_verdict(&report, 0,
                  "handler: one that stops and restarts the event adds +1 % of loads of its own at intervals of 1,009, "
                  "and +1 % of locked loads");
    as_trust_report_free(&report);
}

static void eight_are_wrong(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    result->counts[0].samples = right_number(probe, "l1-miss", probe->threads == 8 ? 1.1 : 1);
}

static void threads(void **state)
{
    struct as_trust_subject subject = subject_of(AS_PMU_PEBS);
    struct as_trust_report report = run(&subject, "threads", eight_are_wrong);
    assert_int_equal(report.rows.len, 6);
    check_row(&report, 0, "1 thread", "L1 misses, all threads together", 30701.0 / 307, 100, 0);
    check_row(&report, 3, "8 threads", "L1 misses, all threads together", 8 * 30701.0 / 307, 880, 0.1);
    check_row(&report, 5, "32 threads", "L1 misses, all threads together", 32 * 30701.0 / 307, 3200, 0);
    check_verdict(&report, 0, "threads: 1 to 32 of them, the sum is right to 10.0 %");
    as_trust_report_free(&report);
}

static void five_take_turns(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    assert_int_equal(played_on->pmu.multiplex, 20);
    for (size_t i = 0; i < probe->n_events; i++)
        result->counts[i].samples = right_number(probe, probe->events[i], probe->n_events > 4 ? 0.8 : 1);
}

static void one_fits(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    for (size_t i = 0; i < probe->n_events; i++)
        result->counts[i].samples = right_number(probe, probe->events[i], probe->n_events > 1 ? 0.25 : 1);
}

static void several_events(void **state)
{
    struct as_trust_subject subject = subject_of(AS_PMU_PEBS);
    struct as_trust_report report = run(&subject, "multi-event", five_take_turns);
    assert_int_equal(report.rows.len, 1 + 4 + 5 + 6);
    assert_int_equal(subject.pmu.multiplex, 4000);
    check_row(&report, 0, "loads", "1 event at once", 800000.0 / 503, 1590, 0);
    check_row(&report, 2, "stores", "4 events at once", 600000.0 / 503, 1192, -0.0007);
    check_row(&report, 9, "locked-loads", "5 events at once", 400000.0 / 503, 636, -0.2);
    check_row(&report, 15, "returns", "6 events at once", 200000.0 / 503, 318, -0.2);
    check_verdict(&report, 0,
                  "several events: up to 4 at once are right as far as samples tell, to 0.1 %, 5 and 6 lose up to 20 % "
                  "of their samples (4 counters)");
    as_trust_report_free(&report);
    subject.pmu.counters = 1;
    report = run(&subject, "multi-event", one_fits);
    check_verdict(&report, 0,
                  "several events: up to 1 at once is right as far as samples tell, to 0.1 %, 4 to 6 lose up to 75 % "
                  "of their samples (1 counter)");
    as_trust_report_free(&report);
    subject.pmu.counters = 8;
    report = run(&subject, "multi-event", five_take_turns);
    check_verdict(&report, 0, "several events: up to 6 at once are off by up to 20.0 %");
    as_trust_report_free(&report);
}

/* Three more on fixed counters; of those that lack a number in the listings there are 100 samples of 100. */
static void seven_fit(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    for (size_t i = 0; i < probe->n_events; i++) {
        result->counts[i].samples = 100;
        result->counts[i].happened = 100 * probe->period;
    }
    if (probe->n_events == 7)
        assert_string_equal(probe->events[6], "ref-cycles");
}

static void fixed_counters(void **state)
{
    struct as_trust_subject subject = subject_of(AS_PMU_PEBS);
    subject.pmu.fixed = 3;
    struct as_trust_report report = run(&subject, "multi-event", seven_fit);
    assert_int_equal(report.rows.len, 16 + 7);
    check_row(&report, 22, "ref-cycles", "7 events, 3 on fixed counters", 100, 100, 0);
    check_verdict(&report, 0,
                  "fixed counters: with 3 of them 7 events at once are right as far as samples tell, to 1.0 %");
    as_trust_report_free(&report);
}

/* Of operations, half of the stores are missed. */
static void kinds_of_operations(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    struct as_trust_counts *counts = &result->counts[0];
    assert_string_equal(probe->events[0], "ops");
    counts->loads = right_number(probe, "loads", 1);
    counts->stores = right_number(probe, "stores", 0.5);
    counts->branches = right_number(probe, "branches", 1);
    counts->taken = right_number(probe, "taken", 1);
    counts->locked = right_number(probe, "locked-loads", 1);
    counts->returns = right_number(probe, "returns", 1);
}

static void several_kinds(void **state)
{
    struct as_trust_subject subject = subject_of(AS_PMU_IBS);
    struct as_trust_report report = run(&subject, "multi-event", kinds_of_operations);
    assert_int_equal(report.rows.len, 6);
    check_row(&report, 1, "stores", "all at once, by kind of operation", 600000.0 / 503, 596, -0.5);
    check_verdict(&report, 0, "several events: of one run, kinds of operations are off by up to 50.0 %");
    as_trust_report_free(&report);
}

/* ---- shares ---- */

static void first_load_is_preferred(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    static const uint64_t at[] = {400, 200, 200, 100};
    memcpy(result->counts[0].at, at, sizeof at);
    result->counts[0].samples = 1000;
}

static void all_alike(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    for (size_t i = 0; i < result->code.n_labels; i++)
        result->counts[0].at[i] = 250;
    result->counts[0].samples = strcmp(probe->kernel->name, "snippet2") == 0 ? 750 : 1000;
}

static void bias(void **state)
{
    struct as_trust_subject subject = subject_of(AS_PMU_PEBS);
    struct as_trust_report report = run(&subject, "bias", first_load_is_preferred);
    assert_int_equal(report.rows.len, 5);
    check_row(&report, 0, "load 1", "four equal loads", 0.25, 0.4, 0.15);
    check_row(&report, 3, "load 4", "four equal loads", 0.25, 0.1, -0.15);
    check_row(&report, 4, "other instructions", "four equal loads", 0, 0.1, 0.1);
    assert_true(report.rows.data[0].unit == AS_TRUST_SHARE && report.rows.data[4].unit == AS_TRUST_SHARE);
    assert_int_equal(report.verdicts.len, 2);
    check_verdict(
        &report, 0,
        "bias: 40 % of the load samples land on one of four equal loads (load 1); they get between 10 and 40 % each");
    check_verdict(&report, 1, "attribution: 10 % of the load samples are put on instructions that do not load");
    as_trust_report_free(&report);
    report = run(&subject, "bias", all_alike);
    assert_int_equal(report.rows.len, 4);
    assert_int_equal(report.verdicts.len, 1);
    check_verdict(
        &report, 0,
        "bias: four equal loads get equal numbers of samples, as far as 1,000 samples tell: 25 % each, to within 4.5");
    as_trust_report_free(&report);
}

/* Chi-square of three degrees of freedom exceeds 16.3 once in a thousand times. */
static uint64_t played_at[4];

static void as_told(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    memcpy(result->counts[0].at, played_at, sizeof played_at);
    result->counts[0].samples = played_at[0] + played_at[1] + played_at[2] + played_at[3];
}

static void bias_follows_from_the_counts(void **state)
{
    static const struct {
        uint64_t at[4];
        const char *verdict;
    } cases[] = {
        {{258, 277, 292, 173},
         "bias: four equal loads get between 17 and 29 % of the load samples, not 25 % each (most: load 3)"},
        {{26, 28, 29, 17},
         "bias: 100 samples are too few to tell a difference between four equal loads: they get between 17 and 29 %, "
         "which chance can explain"},
        {{245000, 255000, 250000, 250000},
         "bias: four equal loads get nearly equal numbers of samples: between 24.5 and 25.5 %"},
        {{5, 5, 5, 4}, "bias: 19 samples: too few to tell"},
        {{0, 0, 1, 0}, "bias: 1 sample: too few to tell"},
        {{0, 9, 0, 0},
         "bias: of four equal loads, the samples land on load 2, and on loads 1, 3 and 4 none: they get between 0 and "
         "100 %"},
        {{4975, 1, 5023, 1},
         "bias: of four equal loads, the samples land on loads 1 and 3, and on loads 2 and 4 hardly any: they get "
         "between 0 and 50 %"},
        {{0}, "bias: no samples: nothing can be said"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_trust_subject subject = subject_of(AS_PMU_PEBS);
        memcpy(played_at, cases[i].at, sizeof played_at);
        struct as_trust_report report = run(&subject, "bias", as_told);
        assert_int_equal(report.verdicts.len, 1);
        check_verdict(&report, 0, cases[i].verdict);
        as_trust_report_free(&report);
    }
}

static void nothing_at_all(const struct as_trust_probe *probe, struct as_trust_result *result)
{
}

/* Of no experiment anything is said without samples. */
static void no_samples_no_verdict(void **state)
{
    static const enum as_pmu_kind kinds[] = {AS_PMU_PEBS, AS_PMU_IBS, AS_PMU_SPE, AS_PMU_TIP};
    for (size_t i = 0; i < as_trust_experiments_count; i++)
        for (size_t j = 0; j <= sizeof kinds / sizeof *kinds; j++) {
            struct as_trust_subject subject = subject_of(kinds[j % 4]);
            subject.timer = j == 4;
            subject.pmu.fixed = 3;
            if (!as_trust_supports(&subject, &as_trust_experiments[i]))
                continue;
            struct as_trust_report report = run(&subject, as_trust_experiments[i].name, nothing_at_all);
            assert_true(report.verdicts.len > 0);
            for (size_t k = 0; k < report.verdicts.len; k++)
                if (!strstr(report.verdicts.data[k], ": nothing can be said"))
                    fail_msg("%s without samples: %s", as_trust_experiments[i].name, report.verdicts.data[k]);
            as_trust_report_free(&report);
        }
}

/* Behind a fence, the first of four reads gets seven tenths. */
static void fence_prefers_the_first(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    all_alike(probe, result);
    if (!probe->options.fence)
        return;
    for (size_t i = 0; i < 4; i++)
        result->counts[0].at[i] = i == 0 ? 700 : 100;
}

static void shadows(void **state)
{
    struct as_trust_subject subject = subject_of(AS_PMU_PEBS);
    struct as_trust_report report = run(&subject, "shadow", fence_prefers_the_first);
    assert_int_equal(report.rows.len, 3 * (4 + 4 + 3) + 2 * 4);
    check_row(&report, 0, "R1", "four reads behind a fence, interval 991", 0.25, 0.7, 0.45);
    check_row(&report, 7, "R4", "four reads behind a fence, interval 2,347", 0.25, 0.1, -0.15);
    check_row(&report, 20, "R1", "four reads, interval 10,007", 0.25, 0.25, 0);
    check_row(&report, 24, "Br2", "three branches, interval 991", 1.0 / 3, 1.0 / 3, 0);
    check_row(&report, 40, "R4", "four reads from memory, interval 211", 0.25, 0.25, 0);
    assert_int_equal(report.verdicts.len, 1);
    check_verdict(&report, 0,
                  "shadow: of four reads behind a fence, R1 gets 70 % of the samples of loads in place of 25 %");
    as_trust_report_free(&report);
}

static void third_is_twice(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    for (size_t i = 0; i < result->code.n_labels; i++) {
        const char *name = result->code.labels[i].name;
        result->counts[0].at[i] = strcmp(name, "f3") == 0 ? 200 : name[0] == 'f' ? 100 : 5000;
    }
}

static void functions(void **state)
{
    struct as_trust_subject subject = subject_of(AS_PMU_TIP);
    struct as_trust_report report = run(&subject, "functions", third_is_twice);
    assert_int_equal(report.rows.len, 10);
    check_row(&report, 0, "f10", "ten functions of equal work", 0.1, 1.0 / 11, 1.0 / 11 - 0.1);
    check_row(&report, 7, "f3", "ten functions of equal work", 0.1, 2.0 / 11, 2.0 / 11 - 0.1);
    check_verdict(
        &report, 0,
        "functions: ten that do equal work get between 9.1 and 18.2 % of the samples (most: f3), and chance does not "
        "explain that");
    as_trust_report_free(&report);
}

static void blind_for_20_nops(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    uint32_t nops = probe->options.nops;
    assert_string_equal(probe->kernel->name, "distance");
    result->counts[0].at[1] = nops < 20 ? 0 : nops < 40 ? 300 : 500;
    result->counts[0].at[0] = 1000 - result->counts[0].at[1];
}

static void always_rare(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    result->counts[0].at[0] = 700;
    result->counts[0].at[1] = 300;
}

static void always_half(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    result->counts[0].at[0] = result->counts[0].at[1] = 50;
}

static void distance(void **state)
{
    struct as_trust_subject subject = subject_of(AS_PMU_PEBS);
    struct as_trust_report report = run(&subject, "distance", blind_for_20_nops);
    assert_int_equal(report.rows.len, 21);
    check_row(&report, 0, "second of two loads", "0 nops apart", 0.5, 0, -0.5);
    check_row(&report, 5, "second of two loads", "20 nops apart", 0.5, 0.3, -0.2);
    check_row(&report, 20, "second of two loads", "80 nops apart", 0.5, 0.5, 0);
    check_verdict(&report, 0,
                  "distance: a load is never sampled within 16 nops of the one before, and as often as it should be "
                  "from 40 on");
    as_trust_report_free(&report);
    report = run(&subject, "distance", always_rare);
    check_verdict(&report, 0, "distance: within 80 nops of the one before a load is sampled too rarely");
    as_trust_report_free(&report);
    report = run(&subject, "distance", always_half);
    check_verdict(&report, 0, "distance: a load is sampled as often as it should be, however near to the one before");
    as_trust_report_free(&report);
}

/* ---- cost, modes, clocks ---- */

/* A run begins with a million cycles that fill the caches. */
static void each_costs_more(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    bool pebs = played_on->pmu.kind == AS_PMU_PEBS;
    uint64_t warm = 10 * probe->options.iterations;
    result->cycles = 1000000 + warm;
    assert_int_equal(probe->period, pebs ? 1009 : 100003);
    for (int i = 0; i < AS_HANDLER_COUNT; i++)
        result->overhead[i] = (0.05 + 0.1 * i) * (pebs ? 100003.0 / 1009 : 1) * (double)probe->n_events * (double)warm /
                              (double)result->cycles;
    result->bytes = 65536;
    result->counts[0].samples = 40;
}

static void cost(void **state)
{
    struct as_trust_subject subject = subject_of(AS_PMU_SPE);
    struct as_trust_report report = run(&subject, "cost", each_costs_more);
    assert_int_equal(report.rows.len, 2 * 3 + 6);
    check_row(&report, 0, "operations", "one of 20, kept by the kernel", 0, 0.05, 0.05);
    check_row(&report, 5, "operations", "one of 100, signal and ioctl", 0, 0.25, 0.25);
    assert_string_equal(report.rows.data[11].setting, "32 threads");
    assert_int_equal(report.rows.data[11].unit, AS_TRUST_BYTES);
    assert_float_equal(report.rows.data[11].got, 32 * 65536, 0);
    check_verdict(&report, 0, "cost: 5 % of the time at intervals of 100,003, 15 % with a signal for each sample");
    as_trust_report_free(&report);
}

static void cost_of_events(void **state)
{
    struct as_trust_subject subject = subject_of(AS_PMU_PEBS);
    struct as_trust_report report = run(&subject, "cost", each_costs_more);
    assert_int_equal(report.rows.len, 4 * 3 + 5 * 3 + 6);
    assert_int_equal(subject.pmu.multiplex, 4000);
    check_row(&report, 6, "l1-miss", "one of 20, kept by the kernel", 0, 0.05, 0.05);
    check_row(&report, 12, "1 event at once", "kept by the kernel", 0, 0.05, 0.05);
    check_row(&report, 25, "16 events at once", "a signal each", 0, 16 * 0.15, 16 * 0.15);
    as_trust_report_free(&report);
}

/* On this machine a run is timed, without a signal; the buffers are the processors'. */
static void timed(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    assert_true(probe->timed && probe->period == 100003);
    assert_string_equal(probe->events[0], "task-clock");
    result->overhead[AS_HANDLER_NONE] = 0.01 * (double)((played_on->runs - 1) % 3 + 1); /* 1, 2 and 3 % */
    result->overhead[AS_HANDLER_SIGNAL] = result->overhead[AS_HANDLER_IOCTL] = NAN;
    result->bytes = 1 << 20;
    result->counts[0].samples = 40;
}

static void cost_of_clocks(void **state)
{
    struct as_trust_subject subject = {.options = &options, .timer = true};
    struct as_trust_report report = run(&subject, "cost", timed);
    assert_int_equal(report.rows.len, 3);
    check_row(&report, 1, "task-clock", "one of 100, kept by the kernel", 0, 0.02, 0.02);
    assert_float_equal(report.rows.data[1].spread, 0.01, 1e-5);
    assert_float_equal(report.rows.data[2].got, 1048576, 0);
    check_verdict(&report, 0,
                  "cost: 2 % of the time at intervals of 100,003 nanoseconds, give or take 1 from run to run");
    as_trust_report_free(&report);
}

static void three_of_200(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    assert_int_equal(probe->period, played_on->pmu.kind == AS_PMU_SPE ? 1024 : 11);
    result->counts[0].locked = 200;
    result->counts[0].locked_in_user = played_on->pmu.kind == AS_PMU_SPE ? 0 : 3;
}

static void modes(void **state)
{
    struct as_trust_subject subject = subject_of(AS_PMU_PEBS), exact = subject_of(AS_PMU_SPE);
    struct as_trust_report report = run(&subject, "mode", three_of_200);
    check_row(&report, 0, "locked loads of the kernel", "said to be user mode's", 0, 0.015, 0.015);
    check_verdict(&report, 0, "mode: 1.50 % of the samples of the kernel (3 of 200) are taken for user mode");
    as_trust_report_free(&report);
    report = run(&exact, "mode", three_of_200);
    check_verdict(&report, 0, "mode: user and kernel are told apart, in 600 of 600 samples of the kernel");
    as_trust_report_free(&report);
}

/* In three runs 80, 100 and 120 % of the time. */
static void uneven_clock(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    result->counts[0].happened = 1000000000;
    result->counts[0].nanoseconds = 1e9 * (0.8 + 0.2 * (double)((played_on->runs - 1) % 3));
    result->counts[0].samples = 100;
    result->counts[0].at[2] = 50;
}

static void clocks(void **state)
{
    struct as_trust_subject subject = {.options = &options, .timer = true};
    struct as_trust_report report = run(&subject, "clock", uneven_clock);
    assert_int_equal(report.rows.len, 4);
    check_row(&report, 0, "task-clock", "time that samples stand for", 1, 1, 0);
    assert_float_equal(report.rows.data[0].spread, 0.2, 1e-5);
    check_row(&report, 1, "task-clock", "most of seven instructions of a loop", 1.0 / 7, 0.5, 0.5 - 1.0 / 7);
    check_row(&report, 2, "cpu-clock", "time that samples stand for", 1, 1, 0);
    check_verdict(&report, 0,
                  "task-clock: samples stand for 100.0 % of the time; one of seven instructions gets 50 % of them");
    as_trust_report_free(&report);
}

static void who_supports_what(void **state)
{
    struct as_trust_subject pebs = subject_of(AS_PMU_PEBS), tip = subject_of(AS_PMU_TIP);
    struct as_trust_subject timer = {.options = &options, .timer = true};
    assert_true(as_trust_supports(&pebs, find("shadow")) && !as_trust_supports(&tip, find("shadow")));
    assert_true(as_trust_supports(&tip, find("functions")) && as_trust_supports(&timer, find("functions")));
    assert_true(as_trust_supports(&timer, find("clock")) && !as_trust_supports(&pebs, find("clock")));
    assert_false(as_trust_supports(&timer, find("accuracy")));
}

/* ---- the shadow ---- */

static uint32_t even_from;   /* nops */
static uint32_t by_accident; /* … and here, too; 0: nowhere */

static void even_beyond(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    uint32_t nops = probe->options.nops;
    bool even = nops >= even_from || (by_accident && nops == by_accident);
    if (probe->options.iterations > 1000 || (nops != 400 && nops != 800)) /* and there, 500 and 1,000 time the nops */
        assert_int_equal(probe->options.iterations, 300000 / 10 + 1);
    assert_int_equal(probe->period, 31);
    assert_true(probe->options.fence);
    for (size_t i = 0; i < 4; i++)
        result->counts[0].at[i] = even ? 250 : i == 0 ? 700 : 100;
    result->counts[0].samples = 1000;
    result->cycles = 70 + probe->options.iterations * (40 + nops);
}

static struct as_trust_shadow find_shadow(uint32_t from, uint32_t accident)
{
    struct as_trust_subject subject = subject_of(AS_PMU_PEBS);
    struct as_trust_shadow shadow;
    struct as_error err = AS_ERROR_INIT;
    play = even_beyond;
    even_from = from;
    by_accident = accident;
    assert_true(as_trust_find_shadow(&subject, 0, &shadow, &err));
    return shadow;
}

static void the_shadow_is_found(void **state)
{
    static const uint32_t sizes[] = {1, 8, 9, 37, 64, 65, 400};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct as_trust_shadow shadow = find_shadow(sizes[i], 0);
        assert_true(shadow.even);
        assert_int_equal(shadow.nops, sizes[i]);
        assert_float_equal(shadow.before, 0.7, 1e-5);
        assert_float_equal(shadow.after, 0.25, 1e-5);
        assert_float_equal(shadow.fair, 0.25, 1e-5);
        assert_float_equal(shadow.cycles, (sizes[i] + 1) / 4.0, 1e-5); /* a nop takes a cycle of four events */
        assert_float_equal(shadow.cost, sizes[i] / 40.0, 1e-3);
    }
    assert_int_equal(find_shadow(37, 16).nops, 37);
    assert_int_equal(find_shadow(37, 32).nops, 37);
    assert_string_equal(find_shadow(1, 0).event, "loads");
    assert_string_equal(find_shadow(1, 0).kernel, "snippet1");
}

static void no_shadow_and_no_end_of_it(void **state)
{
    struct as_trust_shadow shadow = find_shadow(0, 0);
    assert_true(shadow.even && shadow.nops == 0);
    assert_float_equal(shadow.cost, 0, 1e-5);
    shadow = find_shadow(100000, 0);
    assert_true(!shadow.even && shadow.nops == 512);
    assert_float_equal(shadow.after, 0.7, 1e-5);
}

/* Even: within five standard deviations, or a twentieth of the share. Only the first trial matters here. */
static uint64_t first_gets, of_samples;

static void first_gets_so_many(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    uint64_t first = probe->options.nops ? of_samples / 4 : first_gets;
    for (size_t i = 0; i < 4; i++)
        result->counts[0].at[i] = i == 0 ? first : (of_samples - first) / 3;
    result->counts[0].samples = of_samples;
    result->cycles = probe->options.iterations;
}

static void what_is_even(void **state)
{
    static const struct {
        uint64_t first, samples;
        bool even;
    } cases[] = {{318, 1000, true},         {319, 1000, false},        {182, 1000, true},
                 {181, 1000, false},        {2624000, 10000000, true}, {2626000, 10000000, false},
                 {2376000, 10000000, true}, {2374000, 10000000, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_trust_subject subject = subject_of(AS_PMU_PEBS);
        struct as_trust_shadow shadow;
        struct as_error err = AS_ERROR_INIT;
        play = first_gets_so_many;
        first_gets = cases[i].first;
        of_samples = cases[i].samples;
        assert_true(as_trust_find_shadow(&subject, 1, &shadow, &err));
        assert_int_equal(subject.runs == 1, cases[i].even);
    }
}

/* So few samples that an instruction with half of its share would pass for even: of four, 300. */
static void too_few_for_a_shadow(void **state)
{
    static const uint64_t samples[] = {0, 1, 40, 300, 301};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct as_trust_subject subject = subject_of(AS_PMU_PEBS);
        struct as_trust_shadow shadow;
        struct as_error err = AS_ERROR_INIT;
        play = first_gets_so_many;
        of_samples = samples[i];
        first_gets = samples[i] / 4;
        assert_true(as_trust_find_shadow(&subject, 1, &shadow, &err));
        assert_int_equal(shadow.even, samples[i] > 300);
        assert_int_equal(shadow.few, samples[i] <= 300);
        assert_true(shadow.samples == samples[i] && shadow.nops == 0 && subject.runs == 1);
    }
}

static void kernels_of_shadows(void **state)
{
    struct as_trust_options riscv = {.scale = 100, .runs = 1, .riscv = true};
    struct as_trust_subject subject = subject_of(AS_PMU_PEBS), other = {.options = &riscv};
    static const char *const events[] = {"loads", "loads", "branches", "l3-miss", "stores", "l1-miss", "l2-miss"};
    for (size_t i = 0; i < AS_TRUST_SHADOWS; i++) {
        assert_string_equal(as_trust_shadow_event(i), events[i]);
        assert_true(as_trust_has_shadow(&subject, i));
        assert_int_equal(as_trust_has_shadow(&other, i), i != 3);
    }
}

/* ---- what samples can tell ---- */

static struct as_trust_report run_with(const struct as_trust_options *how, enum as_pmu_kind kind, const char *name,
                                       as_play *played)
{
    struct as_trust_subject subject = subject_of(kind);
    subject.options = how;
    return run(&subject, name, played);
}

/* Whole intervals only, of whatever is counted. */
static void rounded_down(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    bool counted = is_counted(probe->kernel->name, probe->events[0]);
    result->counts[0].happened = (uint64_t)(20.9 * (double)probe->period);
    result->counts[0].samples = counted ? 20 : right_number(probe, probe->events[0], 1);
}

/* A part of an interval is no error of a counter, however large a part of few samples it is. */
static void rest_is_no_error(void **state)
{
    static const struct as_trust_options small = {.scale = 10, .runs = 1};
    struct as_trust_report report = run_with(&small, AS_PMU_PEBS, "accuracy", rounded_down);
    check_verdict(&report, 0,
                  "counts: right as far as samples tell, which is to 0.5 % of instructions and to 5.0 % of l1-miss");
    as_trust_report_free(&report);
    report = run_with(&small, AS_PMU_PEBS, "handler", rounded_down);
    check_verdict(&report, 0,
                  "handler: one that stops and restarts the event adds nothing that samples tell (to 5.0 %) of loads "
                  "of its own at intervals of 1,009, and nothing that samples tell (to 5.0 %) of locked loads");
    as_trust_report_free(&report);
}

static void few_misses(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    result->counts[0].samples = 900;
    result->counts[0].l1_misses = probe->threads;
}

/* Four and eight that are due and do not come tell nothing; 20 of 100 do. */
static void few_samples_tell_nothing(void **state)
{
    static const struct as_trust_options tiny = {.scale = 2, .runs = 1}, small = {.scale = 20, .runs = 1};
    struct as_trust_report report = run_with(&tiny, AS_PMU_IBS, "threads", few_misses);
    assert_float_equal(report.rows.data[0].expected, 2, 0.01);
    assert_true(report.rows.data[0].chance > 1 && report.rows.data[5].chance < 1);
    as_trust_report_free(&report);
    report = run_with(&small, AS_PMU_IBS, "threads", few_misses);
    check_verdict(&report, 0, "threads: 1 to 32 of them, the sum is off by up to 95.0 %");
    as_trust_report_free(&report);
}

static void thirteen_of_76(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    for (size_t i = 0; i < result->code.n_labels; i++)
        result->counts[0].at[i] = strcmp(result->code.labels[i].name, "f2") == 0 ? 13 : 7;
}

static void chance_explains_functions(void **state)
{
    static const struct as_trust_options once = {.scale = 1, .runs = 1};
    struct as_trust_report report = run_with(&once, AS_PMU_IBS, "functions", thirteen_of_76);
    check_verdict(&report, 0,
                  "functions: ten that do equal work get between 9.2 and 17.1 % of the samples, as chance makes them "
                  "with 76 samples");
    as_trust_report_free(&report);
}

/* 30, 40 and 50 % of the samples in three runs: 40 % with a deviation of 10. */
static void by_seed(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    struct as_trust_counts *counts = &result->counts[0];
    bool second = strcmp(probe->kernel->name, "bias") != 0;
    counts->samples = counts->loads = counts->locked = 100;
    counts->locked_in_user = counts->loads_at[0] = counts->at[second] = 20 + 10 * probe->seed;
    counts->loads_at[1] = counts->at[!second] = 80 - 10 * probe->seed;
}

static void units_that_choose_at_random_run_again(void **state)
{
    static const char *const names[] = {"bias", "mode"};
    for (size_t i = 0; i < 2; i++) {
        struct as_trust_subject ibs = subject_of(AS_PMU_IBS), pebs = subject_of(AS_PMU_PEBS);
        struct as_trust_report report = run(&ibs, names[i], by_seed);
        assert_int_equal(ibs.runs, 3);
        assert_float_equal(report.rows.data[0].got, 0.4, 1e-5);
        assert_float_equal(report.rows.data[0].spread, 0.1, 1e-5);
        as_trust_report_free(&report);
        report = run(&pebs, names[i], by_seed);
        assert_true(pebs.runs == 1 && isnan(report.rows.data[0].spread));
        as_trust_report_free(&report);
    }
}

static void probes_are_scaled(void **state)
{
    struct as_trust_options small = {.scale = 5, .riscv = true}, tiny = {.scale = 0};
    struct as_trust_subject subject = {.options = &small}, least = {.options = &tiny};
    struct as_trust_probe probe = as_trust_probe(&subject, "distance", "loads", 31);
    assert_true(probe.options.iterations == 1000 && probe.options.riscv);
    assert_true(probe.n_events == 1 && probe.threads == 1 && probe.period == 31 && probe.seed == 1);
    assert_string_equal(probe.events[0], "loads");
    assert_int_equal(as_trust_probe(&least, "distance", "loads", 31).options.iterations, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accuracy),
        cmocka_unit_test(accuracy_of_operations),
        cmocka_unit_test(intervals),
        cmocka_unit_test(ratios),
        cmocka_unit_test(latency),
        cmocka_unit_test(spread),
        cmocka_unit_test(threads),
        cmocka_unit_test(several_events),
        cmocka_unit_test(fixed_counters),
        cmocka_unit_test(several_kinds),
        cmocka_unit_test(bias),
        cmocka_unit_test(bias_follows_from_the_counts),
        cmocka_unit_test(no_samples_no_verdict),
        cmocka_unit_test(shadows),
        cmocka_unit_test(functions),
        cmocka_unit_test(distance),
        cmocka_unit_test(cost),
        cmocka_unit_test(cost_of_events),
        cmocka_unit_test(cost_of_clocks),
        cmocka_unit_test(modes),
        cmocka_unit_test(clocks),
        cmocka_unit_test(who_supports_what),
        cmocka_unit_test(the_shadow_is_found),
        cmocka_unit_test(no_shadow_and_no_end_of_it),
        cmocka_unit_test(what_is_even),
        cmocka_unit_test(too_few_for_a_shadow),
        cmocka_unit_test(kernels_of_shadows),
        cmocka_unit_test(probes_are_scaled),
        cmocka_unit_test(rest_is_no_error),
        cmocka_unit_test(few_samples_tell_nothing),
        cmocka_unit_test(chance_explains_functions),
        cmocka_unit_test(units_that_choose_at_random_run_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
