/* This machine's PMU as a subject: which unit it is taken for, what its events are called, and the way from a program to counts,
 * with the task clock in place of every event, because the machines that this is developed on have no PMU. */
#include "unit.h"

#include "native/probe.h"
#include "trust/trust.h"
#include "trust/trust_parts.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct as_trust_options options = {.scale = 100, .runs = 1, .machine = true};

static struct as_trust_subject open_on(const char *vendor, int precise)
{
    struct as_probe probe = {.precise = precise};
    struct as_trust_subject subject = {.options = &options};
    struct as_error err = AS_ERROR_INIT;
    snprintf(probe.vendor, sizeof probe.vendor, "%s", vendor);
    snprintf(probe.model, sizeof probe.model, "a processor");
    if (!as_trust_open_machine(&subject, "", &probe, &err))
        fail_msg("%s", err.message);
    assert_true(subject.machine && !subject.timer);
    assert_string_equal(subject.pmu.description, "a processor");
    return subject;
}

static void units(void **state)
{
    struct as_trust_subject intel = open_on("GenuineIntel", 3), old = open_on("GenuineIntel", 2),
                            amd = open_on("AuthenticAMD", 2);
    assert_true(intel.pmu.kind == AS_PMU_PEBS && intel.pmu.pdir && !old.pmu.pdir);
    assert_true(amd.pmu.kind == AS_PMU_IBS && amd.pmu.counts_ops);
    assert_string_equal(intel.pmu.name, "PEBS of this machine");
    assert_string_equal(as_trust_usual_event(&intel), "instructions:ppp");
    assert_string_equal(as_trust_usual_event(&old), "instructions");
    assert_string_equal(as_trust_usual_event(&amd), "ops");
    /* What the kernel stub or a signal handler is needed for cannot be tried. */
    for (size_t i = 0; i < as_trust_experiments_count; i++) {
        const char *name = as_trust_experiments[i].name;
        bool modelled = strcmp(name, "mode") == 0 || strcmp(name, "handler") == 0 || strcmp(name, "clock") == 0;
        assert_int_equal(as_trust_supports(&intel, &as_trust_experiments[i]), !modelled);
    }
}

static void no_pmu(void **state)
{
    struct as_probe nothing = {.precise = -1, .virtual_machine = true}, skid = {.precise = 0};
    struct as_trust_subject subject = {.options = &options};
    struct as_error err = AS_ERROR_INIT;
    assert_false(as_trust_open_machine(&subject, "", &nothing, &err));
    assert_non_null(strstr(err.message, "no hardware PMU"));
    assert_false(as_trust_open_machine(&subject, "", &skid, &err));
    assert_non_null(strstr(err.message, "can qualify PEBS and IBS"));
    assert_false(subject.machine);
}

static void names_of_events(void **state)
{
    static const char *const pairs[][2] = {{"instructions:ppp", "instructions:ppp"},
                                           {"instructions", "instructions:pp"},
                                           {"loads", "loads:pp"},
                                           {"branches", "branches:pp"},
                                           {"l1-miss", "mem_load_retired:l1_miss:pp"},
                                           {"locked-loads", "mem_inst_retired:lock_loads:pp"}};
    struct as_trust_subject intel = open_on("GenuineIntel", 3), amd = open_on("AuthenticAMD", 2);
    char text[96];
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_string_equal(as_trust_native_event(&intel, pairs[i][0], text, sizeof text), pairs[i][1]);
    assert_string_equal(as_trust_native_event(&amd, "ops", text, sizeof text), "ibs_op/cnt_ctl=1/");
    assert_string_equal(as_trust_native_event(&amd, "cycles", text, sizeof text), "ibs_op//");
    intel.timer = true;
    assert_string_equal(as_trust_native_event(&intel, "cpu-clock", text, sizeof text), "cpu-clock");
}

/* Intervals that the kernel keeps up with, in runs that are longer by as much; of IBS multiples of 16. */
static void intervals(void **state)
{
    struct as_trust_subject intel = open_on("GenuineIntel", 3), amd = open_on("AuthenticAMD", 2);
    struct as_trust_probe probe = as_trust_probe(&intel, "bias", "loads", 991);
    assert_int_equal(probe.period, 10007);
    assert_int_equal(probe.options.iterations, 500000 * 20 * (10007 / 991));
    assert_int_equal(as_trust_probe(&intel, "bias", "loads", 100003).period, 100003);
    assert_int_equal(as_trust_probe(&amd, "bias", "ops", 100003).period, 100000);
}

/* The whole way, with a clock in place of the PMU's events. */
static void a_run(void **state)
{
    struct as_trust_subject subject = open_on("GenuineIntel", 3);
    struct as_trust_options clock = options;
    struct as_trust_result result;
    struct as_error err = AS_ERROR_INIT;
    clock.stand_in = "task-clock";
    clock.program = QUALIFY;
    subject.options = &clock;
    if (access(QUALIFY, X_OK) != 0)
        unit_skip("the programs are built on x86-64 only");
    snprintf(subject.program, sizeof subject.program, "%s", QUALIFY);
    struct as_trust_probe probe = as_trust_probe(&subject, "bias", "loads", 100003);
    probe.timed = true;
    if (!as_trust_run(&subject, &probe, &result, &err))
        unit_skip("%s", err.message);
    assert_int_equal(subject.runs, 1);
    assert_int_equal(result.code.n_labels, 7);
    assert_true(result.seconds > 0 && result.cycles > 0 && result.bytes > 0);
    assert_false(isnan(result.overhead[AS_HANDLER_NONE]));
    assert_true(isnan(result.overhead[AS_HANDLER_SIGNAL]));
    uint64_t at = 0;
    for (size_t i = 0; i < result.code.n_labels; i++)
        at += result.counts[0].at[i];
    assert_true(at <= result.counts[0].samples);
    assert_true(as_trust_has_event(&subject, "anything")); /* the clock */
}

/* An event that the machine does not have, and a program that is not there, are errors, not runs of nothing. */
static void nothing_to_run(void **state)
{
    struct as_trust_subject subject = open_on("GenuineIntel", 3);
    struct as_trust_options unknown = options;
    struct as_trust_result result;
    struct as_error err = AS_ERROR_INIT;
    unknown.stand_in = "no-such-event";
    subject.options = &unknown;
    snprintf(subject.program, sizeof subject.program, "/bin/true");
    struct as_trust_probe probe = as_trust_probe(&subject, "bias", "loads", 100003);
    assert_false(as_trust_run(&subject, &probe, &result, &err));
    assert_non_null(strstr(err.message, "no-such-event"));
    unknown.stand_in = "task-clock";
    snprintf(subject.program, sizeof subject.program, "/nothing/here");
    assert_false(as_trust_run(&subject, &probe, &result, &err));
}

/* The error of a count, also where less than one is expected; of nothing there is none. */
static void errors_of_counts(void **state)
{
    struct as_trust_row row = {0};
    struct as_trust_several several = {.mean = 0.6, .spread = 0.25};
    as_trust_set_counts(&row, 0.5, &several, 2);
    assert_float_equal(row.error, 0.2, 1e-9);
    assert_float_equal(row.chance, 2, 0);
    assert_true(row.expected == 0.5 && row.got == 0.6 && row.spread == 0.25);
    as_trust_set_counts(&row, 0, &several, NAN);
    assert_true(isnan(row.error));
}

/* A program that interrupts Assay: one line, and the status of an interrupt. */
static void interrupts(void **state)
{
    struct as_trust_subject subject = {.options = &options, .timer = true};
    struct as_trust_result result;
    struct as_error err = AS_ERROR_INIT;
    static const char text[] = "#!/bin/sh\nkill -INT $PPID\nexec sleep 60\n";
    snprintf(subject.program, sizeof subject.program, "/tmp/assay-interrupts.XXXXXX");
    int file = mkstemp(subject.program);
    assert_true(file >= 0 && write(file, text, sizeof text - 1) == sizeof text - 1 && fchmod(file, 0700) == 0);
    close(file);
    struct as_trust_probe probe = as_trust_probe(&subject, "bias", "task-clock", 100003);
    bool ok = as_trust_run(&subject, &probe, &result, &err);
    unlink(subject.program);
    if (!ok && err.status != 130)
        unit_skip("%s", err.message);
    assert_false(ok);
    assert_string_equal(err.message, "interrupted: the experiments are not complete");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units),
        cmocka_unit_test(no_pmu),
        cmocka_unit_test(names_of_events),
        cmocka_unit_test(intervals),
        cmocka_unit_test(a_run),
        cmocka_unit_test(nothing_to_run),
        cmocka_unit_test(errors_of_counts),
        cmocka_unit_test(interrupts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
