/* What is said about a run when it is over, and the exit status, against tests/golden/run_report.txt. The runs are made up. */
#include "cmd/run_options.h"

#include "base/log.h"
#include "unit.h"
#include "unit_golden.h"

#include <math.h>
#include <signal.h>
#include <unistd.h>

static const struct {
    const char *title;
    struct as_engine_result result;
} runs[] = {
    {"nothing to say", {.end.exit_status = 3}},
    {"interrupted", {.end = {.interrupted = true, .exit_status = 7}}},
    {"interrupted, the program goes on", {.end = {.interrupted = true, .running = true}}},
    {"killed", {.end = {.signal = SIGSEGV, .exit_status = 139}}},
    {"an instruction that QEMU does not have", {.end = {.signal = SIGILL, .exit_status = 132}}},
    {"stopped behind the region", {.end = {.stopped = true, .signal = SIGILL, .exit_status = 132}}},
    {"handled the interrupt", {.end = {.asked = true, .asked_by = SIGINT, .exit_status = 4}}},
    {"a region that never came", {.region_troubles = 1, .region_trouble = "the region never began"}},
    {"two", {.region_troubles = 2, .region_trouble = "the first never began"}},
    {"three", {.region_troubles = 3, .region_trouble = "the first never began"}},
    {"three, interrupted", {.region_troubles = 3, .region_trouble = "not said", .end.interrupted = true}},
    {"blind", {.blind = 12345}},
    {"one program untraced", {.untraced = 1, .first_untraced = "/bin/one"}},
    {"two programs untraced", {.untraced = 2, .first_untraced = "/bin/one"}},
    {"one process left", {.left_running = 1}},
    {"two processes left", {.left_running = 2}},
    {"disagreements", {.disagreements = 5}},
};

static void what_is_said(void **state)
{
    FILE *out = unit_golden_begin(), *captured = tmpfile();
    int before = dup(STDERR_FILENO);
    struct as_run_options options = AS_RUN_OPTIONS_DEFAULT;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char text[1024] = "";
        assert_int_equal(ftruncate(fileno(captured), 0), 0);
        rewind(captured);
        dup2(fileno(captured), STDERR_FILENO);
        as_log_set_level(AS_LOG_DEBUG);
        int status = as_run_report(&runs[i].result, &options);
        fflush(stderr);
        dup2(before, STDERR_FILENO);
        assert_true(pread(fileno(captured), text, sizeof text - 1, 0) >= 0);
        unit_golden_section(out, "%s", runs[i].title);
        fprintf(out, "%s(%d)\n", text, status);
    }
    fclose(captured);
    close(before);
    unit_golden_check(out, "run_report.txt");
}

/* Which of them was given, the first where there are several. */
static void what_is_given(void **state)
{
    const struct as_run_options usual = AS_RUN_OPTIONS_DEFAULT;
    static const char *regions[] = {"1..2"};
    const struct {
        const char *name;
        struct as_run_options options;
    } cases[] = {{NULL, AS_RUN_OPTIONS_DEFAULT},
                 {"skip", {.skip = 1, .window = usual.window, .delay = NAN}},
                 {"max", {.max = 1, .window = usual.window, .delay = NAN}},
                 {"from", {.from = "f", .window = usual.window, .delay = NAN}},
                 {"to", {.to = "f", .window = usual.window, .delay = NAN}},
                 {"region", {.region = {regions, 1}, .window = usual.window, .delay = NAN}},
                 {"regions", {.region_file = "f", .window = usual.window, .delay = NAN}},
                 {"warm", {.warm = "all", .window = usual.window, .delay = NAN}},
                 {"delay", {.window = usual.window, .delay = 0}},
                 {"switch-signal", {.switch_signal = "USR1", .window = usual.window, .delay = NAN}},
                 {"window", {.window = usual.window + 1, .delay = NAN}},
                 {"no-follow", {.no_follow = true, .window = usual.window, .delay = NAN}},
                 {"qemu", {.qemu = "q", .window = usual.window, .delay = NAN}},
                 {"max", {.max = 2, .no_follow = true, .window = usual.window, .delay = NAN}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *given = as_run_options_given(&cases[i].options);
        if (cases[i].name)
            assert_string_equal(given, cases[i].name);
        else
            assert_null(given);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_said), cmocka_unit_test(what_is_given)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
