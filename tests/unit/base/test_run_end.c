/* How runs end, and what is said of that. */
#include "base/ratio.h"
#include "base/run_end.h"
#include "base/thread_state.h"

#include "unit.h"

#include <signal.h>

static void statuses(void **state)
{
    struct as_run_end end = {.exit_status = 77, .signal = 99};
    as_run_end_take(&end, 3 << 8);
    assert_int_equal(end.exit_status, 3);
    assert_int_equal(end.signal, 0);
    as_run_end_take(&end, SIGSEGV | 0x80); /* with a core file */
    assert_int_equal(end.exit_status, 128 + SIGSEGV);
    assert_int_equal(end.signal, SIGSEGV);
}

static void words(void **state)
{
    static const struct {
        struct as_run_end end;
        bool complete;
        int cut; /* by this signal */
        const char *until;
    } cases[] = {
        {{0}, true, 0, NULL},
        {{.exit_status = 1}, true, 0, NULL},
        {{.stopped = true, .signal = SIGKILL}, false, 0, NULL},
        {{.stopped = true, .asked_by = SIGINT}, false, 0, NULL},
        {{.interrupted = true}, false, SIGINT, "until it was interrupted"},
        {{.interrupted = true, .signal = SIGINT}, false, SIGINT, "until it was interrupted"},
        {{.asked = true}, false, SIGINT, "until it ended after an interrupt"},
        {{.asked = true, .asked_by = SIGTERM}, false, SIGTERM, "until it ended after an interrupt"},
        {{.signal = SIGSEGV}, false, 0, "until it was killed"},
        {{.signal = SIGINT}, false, SIGINT, "until it was killed"},
        {{.signal = SIGTERM}, false, SIGTERM, "until it was killed"},
        {{.signal = SIGTERM, .asked = true}, false, SIGTERM, "until it was killed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *until = as_run_end_until(&cases[i].end);
        assert_int_equal(as_run_end_complete(&cases[i].end), cases[i].complete);
        assert_int_equal(as_run_end_is_cut(&cases[i].end), cases[i].cut != 0);
        assert_int_equal(as_run_end_cut_by(&cases[i].end), cases[i].cut);
        assert_string_equal(until ? until : "", cases[i].until ? cases[i].until : "");
        assert_int_equal(until != NULL, cases[i].until != NULL);
    }
}

static void shares(void **state)
{
    assert_float_equal(as_ratio(1, 4), 0.25, 0);
    assert_float_equal(as_ratio(4, 1), 4, 0);
    assert_float_equal(as_ratio(4, 0), 0, 0);
    assert_float_equal(as_part(0.5, 2), 0.25, 0);
    assert_float_equal(as_part(1, 0), 0, 0);
    assert_float_equal(as_part(1, -1), 0, 0);
}

static void states(void **state)
{
    assert_int_equal(as_thread_state(getpid(), getpid()), 'R');
    assert_int_equal(as_thread_state(0, getpid()), 'R');
    assert_int_equal(as_thread_state(getpid(), getppid()), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(as_thread_state(child, child), 'Z');
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(as_thread_state(child, child), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(statuses), cmocka_unit_test(words), cmocka_unit_test(shares),
                                       cmocka_unit_test(states)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
