/* Signals to a program that watches another, how a run ended, and notices. Each case runs in a child: signal handlers
 * belong to the process. */
#include "base/notice.h"
#include "base/run_end.h"
#include "base/signals.h"

#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>

/* A child that runs `body`, which returns its exit status. */
static int status_of(int (*body)(void))
{
    int status;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        signal(SIGHUP, SIG_DFL); /* it is ignored below nohup, and what is ignored stays so */
        signal(SIGINT, SIG_DFL);
        _exit(body());
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* A program that waits to be killed. It has no handlers, as after exec, before the first signal can reach it. */
static pid_t start_program(void)
{
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGTERM, SIG_DFL);
        signal(SIGHUP, SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    while (pid == 0)
        pause();
    return pid;
}

static int end_of(pid_t pid)
{
    int status;
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static int pass_on(void)
{
    pid_t program = start_program();
    as_signals_catch(&(struct as_signals){0});
    as_signals_pass_to(program);
    kill(getpid(), SIGTERM); /* from a process, so it is passed on */
    return end_of(program) == SIGTERM && as_signals_interrupts() == 1 ? 0 : 1;
}

static int pass_on_early(void)
{
    as_signals_catch(&(struct as_signals){0});
    kill(getpid(), SIGHUP);
    pid_t program = start_program();
    as_signals_pass_to(program);
    return end_of(program) == SIGHUP && as_signals_interrupts() == 0 ? 0 : 1;
}

static int leave_attached_alone(void)
{
    pid_t program = start_program();
    as_signals_catch(&(struct as_signals){.attached = true});
    as_signals_pass_to(program);
    kill(getpid(), SIGTERM);
    kill(program, SIGKILL); /* had SIGTERM been passed on, that would have ended it */
    return end_of(program) == SIGKILL ? 0 : 1;
}

static volatile sig_atomic_t stops;

static void count_stop(void *context)
{
    stops++;
}

static int stop_at_the_second(void)
{
    as_signals_catch(&(struct as_signals){.attached = true, .stop = count_stop, .patience = 2});
    raise(SIGINT);
    int after_one = stops;
    raise(SIGQUIT); /* no interrupt */
    raise(SIGINT);
    return after_one == 0 && stops == 1 && as_signals_interrupts() == 2 ? 0 : 1;
}

static bool insisted_after(int signal)
{
    raise(signal);
    return as_signals_insisted();
}

/* Without a function to call: two interrupts, or one where SIGINT was ignored. */
static int insist_in_both_ways(void)
{
    as_signals_catch(&(struct as_signals){.attached = true});
    bool one = insisted_after(SIGINT), two = insisted_after(SIGTERM);
    as_signals_restore();
    signal(SIGINT, SIG_IGN);
    as_signals_catch(&(struct as_signals){.attached = true});
    bool foreign = insisted_after(SIGTERM), background = insisted_after(SIGINT);
    return !one && two && !foreign && background ? 0 : 1;
}

static int stop_by_alarm(void)
{
    struct timespec nap = {.tv_sec = 10};
    as_signals_catch(&(struct as_signals){.stop = count_stop, .patience = 2});
    as_signals_alarm(0.01);
    while (!stops && nanosleep(&nap, &nap) != 0) {
    }
    return stops == 1 && as_signals_interrupts() == 0 ? 0 : 1;
}

static int restore(void)
{
    as_signals_catch(&(struct as_signals){0});
    as_signals_restore();
    raise(SIGTERM);
    return 1;
}

static int keep_ignored(void)
{
    struct sigaction now;
    signal(SIGHUP, SIG_IGN); /* nohup */
    as_signals_catch(&(struct as_signals){0});
    sigaction(SIGHUP, NULL, &now);
    return now.sa_handler == SIG_IGN ? 0 : 1;
}

static int shield_what_is_saved(void)
{
    as_signals_catch(&(struct as_signals){.attached = true});
    raise(SIGINT);
    as_signals_shield();
    raise(SIGINT);
    raise(SIGTERM);
    as_signals_restore(); /* changes nothing */
    raise(SIGINT);
    as_signals_catch(&(struct as_signals){.attached = true}); /* the next run */
    raise(SIGINT);
    return as_signals_interrupts() == 1 ? 0 : 1;
}

static int shield_once_if_not_interrupted(void)
{
    as_signals_catch(&(struct as_signals){.attached = true});
    as_signals_shield();
    fclose(stderr);
    close(STDERR_FILENO); /* what it says there is nobody's */
    raise(SIGINT);
    raise(SIGTERM);
    raise(SIGTERM);
    return 1;
}

static void test_signals(void **state)
{
    assert_int_equal(status_of(pass_on), 0);
    assert_int_equal(status_of(pass_on_early), 0);
    assert_int_equal(status_of(leave_attached_alone), 0);
    assert_int_equal(status_of(stop_at_the_second), 0);
    assert_int_equal(status_of(insist_in_both_ways), 0);
    assert_int_equal(status_of(stop_by_alarm), 0);
    assert_int_equal(status_of(restore), 128 + SIGTERM);
    assert_int_equal(status_of(keep_ignored), 0);
    assert_int_equal(status_of(shield_what_is_saved), 0);
    assert_int_equal(status_of(shield_once_if_not_interrupted), 128 + SIGTERM);
}

static void test_run_end(void **state)
{
    struct as_run_end end = {0};
    as_run_end_take(&end, W_EXITCODE(7, 0));
    assert_int_equal(end.exit_status, 7);
    assert_int_equal(end.signal, 0);
    assert_true(as_run_end_complete(&end));
    as_run_end_take(&end, W_EXITCODE(0, SIGSEGV));
    assert_int_equal(end.exit_status, 128 + SIGSEGV);
    assert_int_equal(end.signal, SIGSEGV);
    assert_false(as_run_end_complete(&end));
    assert_false(as_run_end_complete(&(struct as_run_end){.stopped = true}));
    assert_false(as_run_end_complete(&(struct as_run_end){.interrupted = true}));
}

static void keep_notice(void *context, enum as_log_level level, const char *text)
{
    snprintf(context, 64, "%d %s", level, text);
}

static void test_notice(void **state)
{
    char kept[64] = "";
    as_notice(&(struct as_notices){keep_notice, kept}, AS_LOG_WARN, "%d of %s", 3, "four");
    assert_string_equal(kept, "1 3 of four");
    as_notice(NULL, AS_LOG_WARN, "nobody hears this");
    as_notice(&(struct as_notices){0}, AS_LOG_WARN, "nor this");
    assert_string_equal(kept, "1 3 of four");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_signals), cmocka_unit_test(test_run_end),
                                       cmocka_unit_test(test_notice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
