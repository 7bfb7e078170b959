/* What is said of a long run while it goes on, in a log and on a terminal. The clock and the terminals are the test's. */
#include "unit.h"

#include "base/log.h"
#include "base/str.h"
#include "cmd/progress.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now;
static bool terminals[3];
static FILE *captured;

int clock_gettime(clockid_t clock, struct timespec *time)
{
    *time = (struct timespec){.tv_sec = (time_t)now, .tv_nsec = (long)((now - (double)(time_t)now) * 1e9 + 0.5)};
    return 0;
}

int isatty(int fd)
{
    return fd >= 0 && fd < 3 && terminals[fd];
}

bool as_modelled_run(struct as_modelled *modelled, struct as_engine_options engine, struct as_error *err)
{
    assert_ptr_equal(modelled->meter, &as_progress_meter);
    return engine.observed;
}

/* What was written since the last time; static. */
static const char *said(void)
{
    static char text[1024];
    static off_t at;
    fflush(stderr);
    ssize_t n = pread(fileno(captured), text, sizeof text - 1, at);
    text[n > 0 ? n : 0] = '\0';
    at += n;
    return text;
}

static void check_said(double at, uint64_t instructions, const char *text, struct as_progress *progress)
{
    now = at;
    as_progress_update(progress, instructions, instructions);
    assert_string_equal(said(), text);
}

/* After 10 seconds, 20 more, 40 more, then each minute. */
static void in_a_log(void **state)
{
    struct as_progress progress;
    now = 100;
    as_progress_start(&progress, 0);
    check_said(109.9, 1000000, "", &progress);
    check_said(110, 25000000, "assay: running for 10 s: 25 M instructions, 2.5 MIPS\n", &progress);
    check_said(129.9, 50000000, "", &progress);
    check_said(130, 600000000, "assay: running for 30 s: 600 M instructions, 20 MIPS\n", &progress);
    check_said(169.9, 600000000, "", &progress);
    check_said(170, 700000000, "assay: running for 70 s: 700 M instructions, 10 MIPS\n", &progress);
    check_said(229.9, 700000000, "", &progress);
    check_said(230, 650000000, "assay: running for 130 s: 650 M instructions, 5.0 MIPS\n", &progress);
    check_said(289.9, 700000000, "", &progress);
    check_said(290, 950000000, "assay: running for 190 s: 950 M instructions, 5.0 MIPS\n", &progress);
    as_progress_end(&progress);
    assert_string_equal(said(), "");
    check_said(1000, 950000000, "", &progress); /* it is over */
}

static void with_a_goal(void **state)
{
    struct as_progress progress;
    now = 0;
    as_progress_start(&progress, 4000000);
    now = 10;
    as_progress_update(&progress, 5000000, 0); /* nothing of it has been measured */
    assert_string_equal(said(), "assay: running for 10 s: 5 M instructions, 0.5 MIPS\n");
    now = 30;
    as_progress_update(&progress, 6000000, 1000000);
    assert_string_equal(said(), "assay: running for 30 s: 6 M instructions, 0.2 MIPS, 90 s to go\n");
    now = 100;
    as_progress_update(&progress, 9000000, 4000000);
    assert_string_equal(said(), "assay: running for 100 s: 9 M instructions, 0.1 MIPS\n");
}

static void on_a_terminal(void **state)
{
    struct as_progress progress;
    terminals[2] = true;
    now = 0;
    as_progress_start(&progress, 0);
    check_said(1.9, 1000000, "", &progress);
    check_said(2, 4000000, "\r\033[Kassay: 4 M instructions, 2.0 MIPS", &progress);
    check_said(2.4, 4000000, "", &progress);
    check_said(2.5, 5000000, "\r\033[Kassay: 5 M instructions, 2.0 MIPS", &progress);
    as_progress_write(&progress, 1); /* begins anew */
    assert_string_equal(said(), "");
    now = 4.5;
    as_progress_write(&progress, 2340000);
    assert_string_equal(said(), "\r\033[Kassay: writing the profile: 2.3 M rows");
    as_progress_end(&progress);
    assert_string_equal(said(), "\r\033[K");
    as_progress_end(&progress);
    assert_string_equal(said(), "");
    terminals[1] = true; /* the program writes there: lines as in a log */
    as_progress_start(&progress, 0);
    check_said(14.5, 20000000, "assay: running for 10 s: 20 M instructions, 2.0 MIPS\n", &progress);
    terminals[1] = terminals[2] = false;
}

static void what_comes_behind(void **state)
{
    struct as_progress progress = {0};
    now = 50;
    as_progress_meter.tried(&progress, 1, 8);
    now = 60;
    as_progress_meter.tried(&progress, 3, 8);
    assert_string_equal(said(), "assay: choosing points for 10 s: 3 of 8 ways\n");
    as_progress_meter.end(&progress);
    as_progress_meter.write(&progress, 100);
    now = 70;
    as_progress_meter.write(&progress, 1250000);
    assert_string_equal(said(), "assay: writing the profile for 10 s: 1.2 M rows\n");
    as_progress_meter.end(&progress);
    as_progress_meter.start(&progress, 0);
    now = 80;
    as_progress_meter.update(&progress, 10000000, 0);
    assert_string_equal(said(), "assay: running for 10 s: 10 M instructions, 1.0 MIPS\n");
}

/* Seconds to the first line, as a person wishes. */
static void as_wished(void **state)
{
    static const struct {
        const char *wish;
        double first;
    } cases[] = {{"0.5", 0.5}, {"30", 30}, {"0", 0}, {"-1", 10}, {"", 10}, {"5x", 10}, {"nan", 10}};
    struct as_progress progress;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("ASSAY_PROGRESS", cases[i].wish, 1);
        now = 0;
        as_progress_start(&progress, 0);
        assert_int_equal(progress.on, cases[i].first > 0);
        assert_true(progress.gap == cases[i].first);
    }
    unsetenv("ASSAY_PROGRESS");
    as_log_set_level(AS_LOG_WARN); /* --quiet */
    as_progress_start(&progress, 0);
    assert_false(progress.on);
    as_log_set_level(AS_LOG_NOTE);
}

static void of_a_meter(void **state)
{
    struct as_progress progress = {0};
    struct as_modelled modelled = {0};
    struct as_error err = AS_ERROR_INIT;
    now = 0;
    as_progress_meter.start(&progress, 0);
    now = 10;
    as_progress_meter.update(&progress, 30000000, 30000000);
    assert_string_equal(said(), "assay: running for 10 s: 30 M instructions, 3.0 MIPS\n");
    for (int ok = 0; ok < 2; ok++)
        assert_int_equal(as_progress_run(&modelled, (struct as_engine_options){.observed = ok}, &err), ok);
    assert_null(modelled.meter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_a_log),      cmocka_unit_test(with_a_goal),
                                       cmocka_unit_test(on_a_terminal), cmocka_unit_test(what_comes_behind),
                                       cmocka_unit_test(as_wished),     cmocka_unit_test(of_a_meter)};
    unsetenv("ASSAY_PROGRESS");
    captured = tmpfile();
    if (!captured || dup2(fileno(captured), STDERR_FILENO) < 0)
        return 2;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rewind(captured);
    for (int c; failed && (c = getc(captured)) != EOF;) /* what has failed was said there */
        putchar(c);
    return failed;
}
