/* Summaries: which run, which series, how wrong it may be, the spread of several runs; whether files are what they were.
 * The numbers are those of view_bed.h. */
#include "unit.h"

#include "symbol/elffile.h"
#include "view/module_check.h"
#include "view_bed.h"

#include <math.h>
#include <sys/stat.h>

static void the_run(void **state)
{
    struct as_view view = view_bed_open("shop.db", NULL);
    const struct as_summary *summary = &view.summary;
    assert_string_equal(summary->program, "shop");
    assert_string_equal(summary->source, "model");
    assert_string_equal(summary->source_why, "asked for");
    assert_string_equal(summary->core, "boom");
    assert_string_equal(summary->sampler, "golden");
    assert_string_equal(summary->description, "every cycle");
    assert_string_equal(summary->unit, "cycles");
    assert_string_equal(summary->region, "from main");
    assert_null(summary->partial);
    assert_true(summary->exact && summary->has_events && !summary->contradicts && !summary->counted);
    assert_int_equal(summary->precise, -1);
    assert_true(summary->scale == 4 && summary->seconds == 0.25 && summary->error == 0);
    assert_int_equal(summary->instructions, 1250);
    assert_int_equal(summary->cycles, 1000);
    assert_int_equal(summary->samples, 1000);
    for (size_t i = 0; i < AS_SUMMARY_LEVELS; i++)
        assert_true(summary->error_by[i] == 0);
    assert_non_null(strstr(summary->error_how, "every cycle of the run"));
    assert_int_equal(as_summary_stack_total(summary, "states"), 4000);
    assert_int_equal(as_summary_stack_total(summary, "none"), 0);
    as_view_free(&view);
}

static void several_runs(void **state)
{
    struct as_view view = view_bed_open("shop.db", NULL);
    const struct as_spread *cycles = &view.summary.run_cycles, *seconds = &view.summary.run_seconds;
    assert_int_equal(view.summary.n_runs, 3);
    assert_true(cycles->n == 3 && seconds->n == 3);
    assert_true(cycles->mean == 1020 && cycles->deviation == 51 && cycles->least == 1000 && cycles->most == 1060);
    assert_true(seconds->mean == 0.26 && seconds->deviation == 0.013);
    assert_true(seconds->least == 0.25 && seconds->most == 0.28);
    as_view_free(&view);
    view = view_bed_open("old.db", NULL);
    assert_int_equal(view.summary.n_runs, 0);
    assert_int_equal(view.summary.run_cycles.n, 0);
    assert_true(isnan(view.summary.run_cycles.mean));
    as_view_free(&view);
}

/* Clocks count no cycles: the mean of none is no mean. A part that is missing, or makes no sense, is none either. */
static void spreads_that_are_not_there(void **state)
{
    static const struct {
        const char *key;
        double value;
    } parts[] = {{"cycles_mean", 0},  {"cycles_deviation", 0},     {"cycles_least", 0},  {"cycles_most", 0},
                 {"seconds_mean", 2}, {"seconds_deviation", -0.5}, {"seconds_least", 1}, {"seconds_most", 3}};
    struct as_store_writer *writer = bed_writer("clock.db");
    as_store_add_series(writer, &(struct as_store_series){.name = "clock", .unit = "ns", .scale = 1, .precise = -1});
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        as_store_add_meta_double(writer, parts[i].key, parts[i].value);
    as_store_add_run(writer, &(struct as_store_run){1, 0, 0, 1, 1, 0});
    as_store_add_run(writer, &(struct as_store_run){2, 0, 0, 1, 3, 0});
    bed_commit(writer);
    struct as_view view = view_bed_open("clock.db", NULL);
    assert_int_equal(view.summary.n_runs, 2);
    assert_int_equal(view.summary.run_cycles.n, 0);
    assert_int_equal(view.summary.run_seconds.n, 0);
    assert_true(view.summary.run_seconds.mean == 2);
    as_view_free(&view);
}

static void a_sampled_series(void **state)
{
    struct as_view view = view_bed_open("shop.db", "tea");
    const struct as_summary *summary = &view.summary;
    assert_false(summary->exact);
    assert_int_equal(summary->precise, 2);
    assert_int_equal(summary->period, 1101);
    assert_int_equal(summary->samples, 10);
    assert_int_equal(summary->lost, 1);
    assert_int_equal(summary->throttled, 2);
    assert_int_equal(summary->dropped, 3);
    assert_true(summary->error == 0.125);
    assert_non_null(strstr(summary->error_how, "golden reference"));
    as_view_free(&view);
}

/* Of a run that was measured in regions: its time has the interval of the cycles, or one of its own, where there are threads. */
static double seconds_error(uint32_t threads, double elapsed)
{
    struct as_store_writer *writer = bed_writer("regions.db");
    as_store_add_meta(writer, AS_META_SOURCE, "model");
    for (uint32_t i = 1; i <= threads; i++)
        as_store_add_thread(writer, &(struct as_store_thread){i, 7, NULL, 0, 0, 0});
    as_store_add_series(
        writer,
        &(struct as_store_series){.name = AS_STORE_SAMPLED, .unit = "cycles", .scale = 1, .precise = -1, .samples = 9});
    as_store_add_estimate(writer, &(struct as_store_estimate){0, "interval", "program", 0.25});
    if (elapsed > 0)
        as_store_add_quality(writer, "elapsed", elapsed, "of the elapsed time");
    bed_commit(writer);
    struct as_view view = view_bed_open("regions.db", NULL);
    double error = view.summary.seconds_error;
    as_view_free(&view);
    return error;
}

static void interval_of_the_time(void **state)
{
    assert_true(seconds_error(1, 0) == 0.25);
    assert_true(seconds_error(2, 0.5) == 0.5);
    assert_true(isnan(seconds_error(2, 0)));
    struct as_view view = view_bed_open("shop.db", "tea");
    assert_true(isnan(view.summary.seconds_error)); /* not of samples */
    as_view_free(&view);
}

/* A modelled unit is compared with what happened, not with a golden series. */
static void error_of_a_unit(void **state)
{
    struct as_store_writer *writer = bed_writer("unit.db");
    as_store_add_meta(writer, AS_META_SOURCE, "pmu:zen4");
    as_store_add_series(
        writer, &(struct as_store_series){.name = "ibs", .unit = "cycles", .scale = 1, .precise = -1, .samples = 9});
    as_store_add_estimate(writer, &(struct as_store_estimate){0, "error", "instruction", 0.5});
    bed_commit(writer);
    struct as_view view = view_bed_open("unit.db", NULL);
    assert_string_equal(view.summary.error_how, "compared with everything that happened in this run");
    as_view_free(&view);
}

static void errors_of_other_series(void **state)
{
    struct as_view clock = view_bed_open("shop.db", "clock"), bytes = view_bed_open("shop.db", "bytes");
    assert_true(clock.summary.too_few && isnan(clock.summary.error)); /* one sample */
    assert_string_equal(clock.summary.error_how, "too few samples to tell");
    assert_false(clock.summary.has_events || clock.summary.counted || clock.has_events || clock.has_calls);
    assert_true(bytes.summary.counted);
    assert_true(bytes.summary.error == 0);
    assert_non_null(strstr(bytes.summary.error_how, "every call was counted"));
    as_view_free(&clock);
    as_view_free(&bytes);
}

static double by_line = 0.1; /* what chance does, by line */

/* So many samples of a clock, which are worth `effective` of that. */
static struct as_view view_of_event(const char *source, const char *event, uint64_t samples, double effective,
                                    double guessed)
{
    struct as_store_writer *writer = bed_writer("taken.db");
    const struct as_store_estimate chances[] = {
        {0, "estimate", "instruction", 0.2}, {0, "estimate", "line", by_line}, {0, "estimate", "function", 0.05}};
    as_store_add_meta(writer, AS_META_SOURCE, source);
    as_store_add_thread(writer, &(struct as_store_thread){1, 7, NULL, 0, 0, 0});
    as_store_add_instruction(writer,
                             &(struct as_store_insn){.location = {16, AS_STORE_NONE, AS_STORE_NONE, AS_STORE_NONE,
                                                                  AS_STORE_NONE, 0, AS_STORE_NONE}});
    as_store_add_series(
        writer,
        &(struct as_store_series){
            .name = event, .event = event, .unit = "nanoseconds", .scale = 1, .precise = -1, .samples = samples});
    as_store_add_time(writer, &(struct as_store_time){0, 0, 0, 1000000 * samples, samples, 0});
    for (size_t i = 0; i < sizeof chances / sizeof *chances; i++)
        as_store_add_estimate(writer, &chances[i]);
    as_store_add_estimate(writer, &(struct as_store_estimate){0, "effective", "sample", effective});
    if (guessed > 0)
        as_store_add_quality(writer, "guessed_names", guessed, "part of the samples");
    bed_commit(writer);
    return view_bed_open("taken.db", NULL);
}

static struct as_view view_of_guesses(uint64_t samples, double effective, double guessed)
{
    return view_of_event("timer", "task-clock", samples, effective, guessed);
}

static struct as_view view_of_samples(uint64_t samples, double effective)
{
    return view_of_guesses(samples, effective, 0);
}

/* Where most names are guesses, nothing is said of errors by function. */
static void guesses_have_no_error(void **state)
{
    struct as_view few = view_of_guesses(100, 1, 0.02), some = view_of_guesses(100, 1, 0.3),
                   most = view_of_guesses(100, 1, 0.6);
    assert_true(few.summary.guessed == 0 && some.summary.guessed == 0.3 && most.summary.guessed == 0.6);
    assert_true(some.summary.error_by[0] > 0 && some.summary.runs_apart > 0);
    assert_true(isnan(most.summary.error_by[0]) && isnan(most.summary.runs_apart));
    assert_true(most.summary.error_by[3] == few.summary.error_by[3]);
    as_view_free(&few);
    as_view_free(&some);
    as_view_free(&most);
    (void)state;
}

/* Chance from their number, bias from how they were taken, the line's chance in place of the block's. */
static void error_to_expect(void **state)
{
    struct as_view view = view_of_samples(100, 1);
    const struct as_summary *summary = &view.summary;
    const struct as_bias *bias = as_bias_named("interrupt");
    assert_true(summary->clocked == 0.1); /* seconds of processor time */
    static const double chance[AS_BIAS_LEVELS] = {0.05, 0.1, 0.2};
    assert_ptr_equal(summary->bias, bias);
    for (int i = 0; i < AS_BIAS_LEVELS; i++) {
        assert_true(summary->trust[i].chance == chance[i]);
        assert_true(summary->trust[i].expected.median == as_bias_with_chance(bias->levels[i].median, chance[i]));
        assert_true(summary->trust[i].expected.high >= summary->trust[i].expected.low);
    }
    assert_true(summary->error == summary->trust[AS_BIAS_INSTRUCTION].expected.median);
    assert_true(summary->error_by[0] == summary->trust[AS_BIAS_FUNCTION].expected.median);
    /* The bias of blocks stands for that of lines; the chance by block is not known. */
    assert_true(summary->error_by[1] == as_bias_with_chance(bias->levels[AS_BIAS_BLOCK].median, chance[1]));
    assert_true(isnan(summary->error_by[2]));
    assert_true(summary->error_by[3] == summary->error);
    assert_string_equal(summary->error_level, "instruction");
    assert_non_null(strstr(summary->error_how, "the bias of the sampler"));
    assert_true(summary->runs_apart < summary->error_by[0] * 1.5 && summary->runs_apart > 0.05);
    assert_true(summary->expected && !summary->too_few);
    as_view_free(&view);
}

/* A line that is inlined in several functions is no part of one: blocks are. */
static void blocks_lie_in_functions(void **state)
{
    by_line = 0.01;
    struct as_view view = view_of_samples(100, 1);
    by_line = 0.1;
    assert_true(view.summary.trust[AS_BIAS_BLOCK].chance == 0.05);
    as_view_free(&view);
}

/* Of samples whose bias was never measured, chance alone is known. */
static void error_by_chance_alone(void **state)
{
    struct as_view view = view_of_event("import", "page-faults", 100, 1, 0);
    const struct as_summary *summary = &view.summary;
    assert_null(summary->bias);
    assert_true(summary->expected && !summary->too_few && summary->error == 0.2);
    assert_true(summary->error_by[0] == 0.05 && summary->error_by[1] == 0.1 && summary->error_by[3] == 0.2);
    assert_true(isnan(summary->error_by[2]));
    assert_non_null(strstr(summary->error_how, "from the number of samples alone"));
    as_view_free(&view);
}

/* What is expected of few samples depends on which they are, so nothing is: at no level, and the same in every run. */
static void error_of_few_samples(void **state)
{
    struct as_view few = view_of_samples(AS_SUMMARY_LEAST_SAMPLES - 1, 1);
    assert_true(few.summary.too_few && isnan(few.summary.error) && isnan(few.summary.runs_apart));
    for (int i = 0; i < AS_SUMMARY_LEVELS; i++)
        assert_true(isnan(few.summary.error_by[i]));
    as_view_free(&few);
    struct as_view enough = view_of_samples(AS_SUMMARY_LEAST_SAMPLES, 1);
    assert_false(enough.summary.too_few);
    as_view_free(&enough);
    struct as_view unequal = view_of_samples(1000, 0.04); /* worth 40 */
    assert_true(unequal.summary.too_few);
    as_view_free(&unequal);
}

/* One instruction with so many units of a cycle's half, in a run of ten cycles. */
static void write_claim(const char *path, uint64_t units)
{
    struct as_store_writer *writer = bed_writer(path);
    uint32_t series = as_store_add_series(
        writer,
        &(struct as_store_series){.name = "golden", .exact = true, .unit = "cycles", .scale = 2, .precise = -1});
    as_store_add_meta_u64(writer, AS_META_CYCLES, 10);
    as_store_add_thread(writer, &(struct as_store_thread){1, 7, NULL, 0, 0, 0});
    as_store_add_instruction(writer, &(struct as_store_insn){{16, AS_STORE_NONE, AS_STORE_NONE, AS_STORE_NONE,
                                                              AS_STORE_NONE, 0, AS_STORE_NONE},
                                                             0,
                                                             "nop",
                                                             NULL,
                                                             NULL,
                                                             0});
    as_store_add_time(writer, &(struct as_store_time){series, 0, 0, units, 0, 1});
    bed_commit(writer);
}

static void claims_to_be_exact(void **state)
{
    write_claim("true.db", 20);
    write_claim("false.db", 19);
    struct as_view right = view_bed_open("true.db", NULL), wrong = view_bed_open("false.db", NULL);
    assert_true(right.summary.exact && !right.summary.contradicts);
    assert_true(!wrong.summary.exact && wrong.summary.contradicts);
    assert_int_equal(wrong.summary.samples, 0);
    assert_true(isnan(wrong.summary.error));
    assert_non_null(strstr(wrong.summary.error_how, "do not add up"));
    as_view_free(&right);
    as_view_free(&wrong);
}

/* What error is stated of an exact profile that has `key` in its quality or its facts. */
static void check_exact_of(const char *key, const char *partial, const char *wanted)
{
    struct as_store_writer *writer = bed_writer("traced.db");
    as_store_add_series(writer, &(struct as_store_series){
                                    .name = "golden", .exact = true, .unit = "cycles", .scale = 1, .precise = -1});
    if (key)
        as_store_add_quality(writer, key, 2, "processes");
    if (partial)
        as_store_add_meta(writer, AS_META_PARTIAL, partial);
    bed_commit(writer);
    struct as_view view = view_bed_open("traced.db", NULL);
    assert_true(view.summary.error == 0);
    assert_int_equal(view.summary.left_running, key ? 2 : 0);
    if (!strstr(view.summary.error_how, wanted))
        fail_msg("%s", view.summary.error_how);
    as_view_free(&view);
}

static void exact_as_far_as_traced(void **state)
{
    check_exact_of(NULL, NULL, "every cycle of the run is");
    check_exact_of("left_running", NULL, "of what was traced is accounted for; processes that went on");
    check_exact_of(NULL, "killed", "of what was traced is accounted for, and that is not the whole run");
}

static void no_measurements(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_view view;
    struct as_store_writer *writer = bed_writer("empty.db");
    as_store_add_meta(writer, AS_META_PROGRAM, "nothing");
    bed_commit(writer);
    assert_false(as_view_open(&view, &(struct as_view_options){.file = "empty.db"}, &err));
    assert_string_equal(err.message, "empty.db: the profile has no measurements");
    as_view_free(&view);
    struct as_summary summary;
    struct as_store *store = bed_open("empty.db");
    assert_false(as_summary_read(store, 0, &summary, &err));
    as_store_close(store);
}

/* ---- files ---- */

static void files_change(void **state)
{
    char path[256];
    struct stat status;
    view_bed_file("module", "1234");
    assert_non_null(realpath("module", path));
    assert_int_equal(stat(path, &status), 0);
    int64_t time = status.st_mtim.tv_sec * INT64_C(1000000000) + status.st_mtim.tv_nsec;
    struct as_store_module module = {.path = path, .file_size = 4, .file_time = time};
    const char *changed = "it has changed since the recording";
    assert_null(as_module_check(NULL, &module));
    module.file_time++;
    assert_string_equal(as_module_check(NULL, &module), changed);
    module.file_time = time;
    module.file_size = 5;
    assert_string_equal(as_module_check(NULL, &module), changed);
    module.file_size = 0; /* unknown */
    assert_null(as_module_check(NULL, &module));
    module.build_id = "0123"; /* it has none */
    assert_string_equal(as_module_check(NULL, &module), changed);
    assert_string_equal(as_module_check(NULL, &(struct as_store_module){.path = "/nowhere/at/all"}),
                        "it no longer exists");
    assert_null(as_module_check(NULL, &(struct as_store_module){.path = "[vdso]"}));
    assert_null(as_module_check(NULL, &(struct as_store_module){.path = NULL}));
}

/* The program itself, by its build-id. */
static void build_ids(void **state)
{
    static const char digits[] = "0123456789abcdef";
    struct as_error err = AS_ERROR_INIT;
    struct as_elf *elf = as_elf_open("/proc/self/exe", &err);
    struct as_build_id id;
    char text[2 * AS_BUILD_ID_MAX + 1] = "";
    assert_non_null(elf);
    as_elf_build_id(elf, &id);
    as_elf_close(elf);
    if (!id.len)
        unit_skip("the linker gave this program no build-id");
    for (size_t i = 0; i < id.len; i++) {
        text[2 * i] = digits[id.bytes[i] >> 4];
        text[2 * i + 1] = digits[id.bytes[i] & 15];
    }
    struct as_store_module module = {.path = "/proc/self/exe", .build_id = text, .file_size = 1};
    assert_null(as_module_check(NULL, &module)); /* whatever size and time are */
    text[0] = text[0] == '0' ? '1' : '0';
    assert_string_equal(as_module_check(NULL, &module), "it has changed since the recording");
}

/* Cycles have several spellings; what is no time is named. */
static void what_is_shown_is_named(void **state)
{
    struct as_summary summary = {.unit = "cpu_clk_unhalted.thread"};
    assert_string_equal(as_summary_noun(&summary), "time");
    summary.unit = "page-faults";
    assert_string_equal(as_summary_noun(&summary), "page-faults");
    summary.sampled = true;
    assert_string_equal(as_summary_noun(&summary), "time");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_run),
        cmocka_unit_test(several_runs),
        cmocka_unit_test(spreads_that_are_not_there),
        cmocka_unit_test(a_sampled_series),
        cmocka_unit_test(interval_of_the_time),
        cmocka_unit_test(error_of_a_unit),
        cmocka_unit_test(errors_of_other_series),
        cmocka_unit_test(error_to_expect),
        cmocka_unit_test(blocks_lie_in_functions),
        cmocka_unit_test(error_by_chance_alone),
        cmocka_unit_test(guesses_have_no_error),
        cmocka_unit_test(error_of_few_samples),
        cmocka_unit_test(claims_to_be_exact),
        cmocka_unit_test(exact_as_far_as_traced),
        cmocka_unit_test(no_measurements),
        cmocka_unit_test(files_change),
        cmocka_unit_test(build_ids),
        cmocka_unit_test(what_is_shown_is_named),
    };
    return cmocka_run_group_tests(tests, view_bed_set_up, NULL);
}
