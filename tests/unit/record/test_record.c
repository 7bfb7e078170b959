/* Recordings as a caller of the library makes them: what is refused, what one and several runs write, how they end.
 *
 * usage: test_record VICTIM MACHINE PLUGIN (VICTIM: tests/unit/model/model_victim.c) */
#include "base/str.h"
#include "engine/find_qemu.h"
#include "native/choose.h"
#include "record/record.h"
#include "record/record_native.h"
#include "record/sampling_plan.h"
#include "store/store_read.h"

#include "unit.h"
#include "unit_profile.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

static char **arguments, *plugin;
static struct as_str heard; /* notices, a line each */

static void hear(void *context, enum as_log_level level, const char *text)
{
    as_str_addf(&heard, "%s\n", text);
}

struct metered {
    unsigned started, ended;
    uint64_t instructions, rows;
};

static void meter_start(void *context, uint64_t goal)
{
    ((struct metered *)context)->started++;
}

static void meter_update(void *context, uint64_t executed, uint64_t measured)
{
    ((struct metered *)context)->instructions = measured;
}

static void meter_write(void *context, uint64_t rows)
{
    ((struct metered *)context)->rows = rows;
}

static void meter_end(void *context)
{
    ((struct metered *)context)->ended++;
}

static const struct as_meter meter = {
    .start = meter_start, .update = meter_update, .write = meter_write, .end = meter_end};

static struct as_record_options options_for(const char *source, char *const *argv)
{
    struct as_record_options options = as_record_defaults;
    options.source = source;
    options.argv = argv;
    options.environment = environ;
    options.output = unit_profile;
    options.core = arguments[2];
    options.engine.plugin = plugin;
    options.notices = (struct as_notices){hear, NULL};
    as_str_free(&heard);
    unlink(unit_profile);
    return options;
}

static char *const *victim(void)
{
    static char *argv[2];
    argv[0] = arguments[1];
    return argv;
}

static void need_qemu(void)
{
    struct as_qemu qemu;
    struct as_error err = AS_ERROR_INIT;
    if (!as_qemu_find(AS_ARCH_X86_64, NULL, &qemu, &err))
        unit_skip("%s", err.message);
}

/* Millions of instructions, which the plain build models in a sixth of the time. */
static void need_speed(void)
{
    if (UNIT_SANITIZED)
        unit_skip("long runs: cli/sanitized has such ones, but shorter");
}

/* The task clock can be sampled here. */
static void need_clock(void)
{
    struct as_probe probe = {.precise = -1};
    struct as_native_choice choice;
    struct as_error err = AS_ERROR_INIT;
    as_probe_machine("", &probe);
    if (!as_native_choose("", &probe, AS_NATIVE_TIMER, AS_NATIVE_TIME, &choice, &err))
        unit_skip("%s", err.message);
}

static struct as_store *record(const struct as_record_options *options, struct as_record_result *result)
{
    struct as_error err = AS_ERROR_INIT;
    if (!as_record_run(options, result, &err))
        fail_msg("%s", err.message);
    struct as_store *store = as_store_open(unit_profile, &err);
    if (!store)
        fail_msg("%s", err.message);
    return store;
}

static void check_refused(const struct as_record_options *options, const char *why)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_record_result result;
    assert_false(as_record_run(options, &result, &err));
    if (!strstr(err.message, why))
        fail_msg("'%s' is not about %s", err.message, why);
    assert_int_equal(access(unit_profile, F_OK), -1);
}

static void test_refused(void **state)
{
    struct as_record_options options = options_for("guess", victim());
    check_refused(&options, "--source=guess");
    options = options_for("timer", victim());
    options.model_wish = "core";
    check_refused(&options, "--core needs --source=model");
    options = options_for("model", victim());
    options.native_wish = "pid";
    check_refused(&options, "--pid needs the pmu or timer");
    options = options_for("auto", victim());
    options.model_wish = "core";
    options.native_wish = "pid";
    check_refused(&options, "--core needs --source=model, but --pid");
    options = options_for("timer", victim());
    options.rate = 1e9;
    check_refused(&options, "--rate");
    options = options_for("timer", NULL);
    options.pid = INT32_MAX;
    check_refused(&options, "there is no process");
}

static void test_model(void **state)
{
    struct metered metered = {0};
    struct as_record_result result;
    size_t n;
    need_qemu();
    struct as_record_options options = options_for("model", victim());
    options.repeat = 3;
    options.region = "all of it";
    options.meter = &meter;
    options.meter_context = &metered;
    struct as_store *store = record(&options, &result);
    assert_true(result.in_engine);
    assert_int_equal(result.end.exit_status, 3);
    assert_int_equal(result.engine.end.exit_status, 3);
    assert_int_equal(metered.started, 3);
    assert_int_equal(metered.ended, 3 + 3 + 1); /* the runs, their profiles, the merged one */
    const struct as_store_run *runs = as_store_runs(store, &n);
    assert_int_equal(n, 3);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(runs[i].number, i + 1);
        assert_int_equal(runs[i].status, 3);
        assert_int_equal(runs[i].cycles, runs[0].cycles);
    }
    assert_null(as_store_meta(store, "region")); /* it cuts nothing */
    assert_string_equal(as_store_meta(store, AS_META_SOURCE), "model");
    assert_null(as_store_meta(store, AS_META_PARTIAL));
    as_store_close(store);
}

static void test_native(void **state)
{
    struct as_record_result result;
    size_t n;
    need_clock();
    struct as_record_options options = options_for("timer", victim());
    options.repeat = 2;
    struct as_store *store = record(&options, &result);
    assert_false(result.in_engine);
    assert_int_equal(result.end.exit_status, 3);
    assert_true(as_run_end_complete(&result.end));
    const struct as_store_run *runs = as_store_runs(store, &n);
    assert_int_equal(n, 2);
    assert_int_equal(runs[1].status, 3);
    assert_string_equal(as_store_meta(store, AS_META_SOURCE), "timer");
    as_store_close(store);
}

/* A process that runs already: its words are the profile's, and the recording ends before it does. */
static void test_attached(void **state)
{
    struct as_record_result result;
    struct as_error err = AS_ERROR_INIT;
    size_t n;
    need_clock();
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/sh", "/bin/sh", "-c", "while :; do :; done", "word", NULL);
        _exit(127);
    }
    struct as_record_options options = options_for("timer", NULL);
    options.pid = (uint64_t)pid;
    options.duration = 0.1;
    bool ok = false;
    for (int i = 0; i < 100 && !ok; i++) { /* until it has been executed */
        usleep(10000);
        ok = as_record_run(&options, &result, &err);
        struct as_store *store = ok ? as_store_open(unit_profile, &err) : NULL;
        const char *const *words = store ? as_store_arguments(store, &n) : NULL;
        ok = words && n == 4 && strcmp(words[3], "word") == 0;
        as_store_close(store);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    if (!ok)
        fail_msg("%s", err.message);
    assert_true(result.end.running || !result.end.signal);
}

static const char *quality_text(struct as_store *store, const char *key)
{
    size_t n;
    const struct as_store_quality *rows = as_store_quality(store, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(rows[i].key, key) == 0)
            return rows[i].text;
    return NULL;
}

static void check_why(const struct as_record_options *options, const char *source, const char *why)
{
    struct as_record_result result;
    struct as_store *store = record(options, &result);
    assert_string_equal(as_store_meta(store, AS_META_SOURCE), source);
    if (!strstr(as_store_meta(store, AS_META_SOURCE_WHY), why))
        fail_msg("'%s' does not say '%s'", as_store_meta(store, AS_META_SOURCE_WHY), why);
    as_store_close(store);
}

/* What decides where nobody says which source: an option that only one of them has, else what this machine can. */
static void test_auto(void **state)
{
    char *nobody[] = {"/none/such", NULL};
    struct as_native_outlook outlook;
    need_qemu();
    need_clock();
    as_native_look(&outlook);
    struct as_record_options options = options_for("auto", victim());
    options.model_wish = "core";
    check_why(&options, "model", "auto: --core needs the model");
    options = options_for("auto", victim());
    options.native_wish = "duration";
    check_why(&options, outlook.precise || outlook.skid ? "pmu" : "timer", "--duration measures the real machine");
    options = options_for("auto", victim());
    check_why(&options, outlook.precise ? "pmu" : "model", outlook.why);
    options = options_for("auto", nobody);
    if (!outlook.precise)
        check_refused(&options, "/none/such");
    assert_true(outlook.why[0] != '\0');
}

static void test_source_names(void **state)
{
    static const char *const known[] = {"model", "pmu", "timer"};
    size_t n = 0, found = 0;
    for (; as_record_source_name(n); n++)
        for (size_t i = 0; i < 3; i++)
            found += strcmp(as_record_source_name(n), known[i]) == 0;
    assert_int_equal(n, 3);
    assert_int_equal(found, 3);
    assert_null(as_record_source_name(n + 1));
    assert_string_equal(as_record_unit_name("pmu:skylake"), "skylake");
    assert_null(as_record_unit_name("pmu"));
}

/* How often samples were taken, as it was asked for. */
static void test_rates(void **state)
{
    struct as_record_result result;
    need_clock();
    struct as_record_options options = options_for("timer", victim());
    options.rate = 777;
    struct as_store *store = record(&options, &result);
    assert_string_equal(as_store_meta(store, AS_META_RATE), "777");
    assert_null(as_store_meta(store, AS_META_RANDOM));
    as_store_close(store);
    options = options_for("model", victim());
    options.rate = 1e6;
    options.random = true;
    store = record(&options, &result);
    uint64_t frequency = strtoull(as_store_meta(store, "frequency"), NULL, 10);
    assert_int_equal(strtoull(as_store_meta(store, AS_META_PERIOD), NULL, 10), frequency / 1000000);
    assert_string_equal(as_store_meta(store, AS_META_RANDOM), "1");
    as_store_close(store);
    options = options_for("model", victim());
    options.rate = 1e6;
    options.period = 1000;
    check_refused(&options, "either --rate or --period");
    options.period = 0;
    options.rate = 0;
    check_refused(&options, "--rate=0: the rate must be above 0");
    options = options_for("model", victim());
    options.samplers = "tip,tip";
    check_refused(&options, "'tip' is named twice");
    options.samplers = "tip,top";
    check_refused(&options, "unknown sampler 'top'; the samplers are");
}

static void expect_heard(const char *part)
{
    if (!heard.data || !strstr(heard.data, part))
        fail_msg("heard: %s, not '%s'", heard.data ? heard.data : "nothing", part);
}

/* Of a run whose parts do not come there is no sample, and the reason is said. */
static void test_parts_that_do_not_come(void **state)
{
    static const _Atomic uint32_t switches;
    struct as_record_result result;
    need_clock();
    struct as_record_options options = options_for("timer", victim());
    options.delay = 100;
    options.region = "after a delay";
    as_store_close(record(&options, &result));
    expect_heard("there are no samples: the program ended before --delay (100 s)");
    options = options_for("timer", victim());
    options.switches = &switches;
    options.region = "between signals";
    as_store_close(record(&options, &result));
    expect_heard("there are no samples: the program ended before a signal came");
}

/* A part by the clock, and a sentence about how much of the run it is. */
static void test_delayed(void **state)
{
    char *argv[] = {"/bin/sh", "-c", "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done", NULL};
    struct as_record_result result;
    need_clock();
    struct as_record_options options = options_for("timer", argv);
    options.delay = 0.02;
    options.region = "after 0.02 s";
    struct as_store *store = record(&options, &result);
    const char *text = quality_text(store, "measured");
    assert_non_null(text);
    assert_non_null(strstr(text, "after 0.02 s"));
    assert_string_equal(strrchr(text, '1'), "1 piece");
    as_store_close(store);
}

/* Regions between which the program calls the kernel and maps memory; how long to warm before each is found out on the way. The
 * estimate is near the whole. */
static void test_sampled_shell(void **state)
{
    char *argv[] = {"/bin/sh", "-c", "i=0; while [ $i -lt 150 ]; do i=$((i+1)); echo $i >/dev/null; done", NULL};
    static const struct as_sampled_options plan = {
        .head = 200000, .unit = 1000, .period = 8000, .warm = AS_SAMPLED_AUTO, .seed = 1};
    struct as_record_result result;
    double cycles[2];
    need_qemu();
    need_speed();
    for (int i = 0; i < 2; i++) {
        size_t n;
        struct as_record_options options = options_for("model", argv);
        options.sampled = i ? &plan : NULL;
        struct as_store *store = record(&options, &result);
        assert_int_equal(result.sampled, i);
        cycles[i] = (double)as_store_runs(store, &n)->cycles;
        as_store_close(store);
    }
    assert_float_equal(cycles[1] / cycles[0], 1, 0.2);
}

/* A signal that kills the program ends both kinds of runs alike. */
static void check_killed(const char *source)
{
    char *argv[] = {"/bin/sh", "-c", "kill -USR1 $$", NULL};
    struct as_record_result result;
    struct as_record_options options = options_for(source, argv);
    struct as_store *store = record(&options, &result);
    assert_int_equal(result.end.signal, SIGUSR1);
    assert_int_equal(result.end.exit_status, 128 + SIGUSR1);
    assert_non_null(strstr(as_store_meta(store, AS_META_PARTIAL), "killed by signal"));
    as_store_close(store);
}

static void test_killed_in_model(void **state)
{
    need_qemu();
    check_killed("model");
}

static void test_killed_natively(void **state)
{
    need_clock();
    check_killed("timer");
}

/* A further run that fails leaves the profile of the first, and a notice. */
static void test_failed_repeat(void **state)
{
    char directory[] = "/tmp/assay-test-record-XXXXXX";
    struct as_record_result result;
    struct as_str program = {0};
    size_t n;
    need_clock();
    assert_non_null(mkdtemp(directory));
    as_str_addf(&program, "%s/once", directory);
    assert_int_equal(symlink("/bin/sh", as_str_get(&program)), 0);
    char *argv[] = {program.data, "-c", "rm \"$0\"", program.data, NULL};
    struct as_record_options options = options_for("timer", argv);
    options.repeat = 3;
    struct as_store *store = record(&options, &result);
    as_store_runs(store, &n);
    assert_int_equal(n, 1);
    if (!heard.data || !strstr(heard.data, "run 2 of 3: "))
        fail_msg("heard: %s", heard.data ? heard.data : "nothing");
    as_store_close(store);
    as_str_free(&program);
    rmdir(directory);
}

/* The user's first interrupt is the program's, and ends the repetition whatever the program makes of it. */
static void test_interrupted_repeat(void **state)
{
    char *argv[] = {"/bin/sh", "-c", "trap 'exit 5' INT; kill -INT $PPID; while :; do :; done", NULL};
    struct as_record_result result;
    size_t n;
    need_clock();
    struct as_record_options options = options_for("timer", argv);
    options.repeat = 3;
    struct as_store *store = record(&options, &result);
    as_store_runs(store, &n);
    assert_int_equal(n, 1);
    assert_int_equal(result.end.exit_status, 5);
    assert_true(result.end.asked);
    as_store_close(store);
}

/* Runs of which every second one goes on for long, the first one if the file is not empty; returns how many are in the profile.
 * Builtins of the shell alone: a run is 0.2 or 0.9 million instructions. */
static size_t record_in_turns(const char *file, bool long_first, const char *series)
{
    static const char script[] =
        "if [ -s \"$0\" ]; then : >\"$0\"; i=0; while [ $i -lt 60 ]; do i=$((i+1)); done; else echo >\"$0\"; fi";
    char *argv[] = {"/bin/sh", "-c", (char *)script, (char *)file, NULL};
    struct as_sampled_options sampled = {.head = 400000, .unit = 1000, .period = 50000, .warm = 10000, .seed = 1};
    struct as_record_result result;
    size_t n, n_series;
    struct as_record_options options = options_for("model", argv);
    options.repeat = 2;
    options.sampled = &sampled;
    FILE *there = long_first ? fopen(file, "w") : NULL;
    if (there) {
        fputs("\n", there);
        fclose(there);
    }
    struct as_store *store = record(&options, &result);
    unlink(file);
    assert_int_equal(result.sampled, long_first);
    as_store_runs(store, &n);
    const struct as_store_series *all = as_store_series(store, &n_series);
    bool found = false;
    for (size_t i = 0; i < n_series; i++)
        found |= strcmp(all[i].name, series) == 0;
    assert_true(found);
    as_store_close(store);
    return n;
}

/* All runs are measured as the first one is: what was sampled and what was measured completely cannot be merged. */
static void test_lengths_around_the_budget(void **state)
{
    char directory[] = "/tmp/assay-test-record-XXXXXX";
    struct as_str file = {0};
    need_qemu();
    need_speed();
    assert_non_null(mkdtemp(directory));
    as_str_addf(&file, "%s/turn", directory);
    assert_int_equal(record_in_turns(as_str_get(&file), false, "golden"), 2);
    assert_int_equal(record_in_turns(as_str_get(&file), true, AS_STORE_SAMPLED), 1);
    if (!heard.data || !strstr(heard.data, "run 2 of 2: it is too short to be sampled"))
        fail_msg("heard: %s", heard.data ? heard.data : "nothing");
    as_str_free(&file);
    rmdir(directory);
}

static int remove_profile(void **state)
{
    as_str_free(&heard);
    return unit_profile_remove(state);
}

int main(int argc, char **argv)
{
    arguments = argv;
    plugin = argc == 4 ? realpath(argv[3], NULL) : NULL;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_auto),
                                       cmocka_unit_test(test_source_names),
                                       cmocka_unit_test(test_rates),
                                       cmocka_unit_test(test_parts_that_do_not_come),
                                       cmocka_unit_test(test_delayed),
                                       cmocka_unit_test(test_sampled_shell),
                                       cmocka_unit_test(test_model),
                                       cmocka_unit_test(test_native),
                                       cmocka_unit_test(test_attached),
                                       cmocka_unit_test(test_killed_in_model),
                                       cmocka_unit_test(test_killed_natively),
                                       cmocka_unit_test(test_failed_repeat),
                                       cmocka_unit_test(test_interrupted_repeat),
                                       cmocka_unit_test(test_lengths_around_the_budget)};
    int failed = plugin ? cmocka_run_group_tests(tests, unit_profile_make, remove_profile) : 2;
    free(plugin);
    return failed;
}
