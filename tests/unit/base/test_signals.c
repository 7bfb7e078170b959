/* Signals to a program that watches another, how a run ended, and notices. Each case runs in a child: signal handlers
 * belong to the process. */
#include "base/notice.h"
#include "base/run_end.h"
#include "base/signals.h"

#include "unit.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
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
    if (as_signals_last() != 0 || as_signals_interrupts() != 0)
        return 2;
    as_signals_pass_to(program);
    kill(getpid(), SIGTERM); /* from a process, so it is passed on */
    return end_of(program) == SIGTERM && as_signals_interrupts() == 1 && as_signals_last() == SIGTERM ? 0 : 1;
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

/* A program that counts how often it gets SIGINT, and ends with that number at SIGTERM, which it lets come last. */
static pid_t start_counter(void)
{
    sigset_t both;
    int signal, count = 0;
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    sigprocmask(SIG_BLOCK, &both, NULL);
    pid_t pid = fork();
    while (pid == 0) {
        sigwait(&both, &signal);
        if (signal == SIGTERM)
            _exit(count);
        count++;
    }
    sigprocmask(SIG_UNBLOCK, &both, NULL);
    return pid;
}

static bool has_pending(pid_t pid)
{
    char path[64], line[256];
    unsigned long mask = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *status = fopen(path, "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "ShdPnd: %lx", &mask) == 1)
            break;
    if (status)
        fclose(status);
    return mask != 0;
}

static bool any_child_has_pending(void)
{
    char path[64];
    int pid;
    bool any = false;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *children = fopen(path, "r");
    while (children && fscanf(children, "%d", &pid) == 1)
        any |= has_pending(pid);
    if (children)
        fclose(children);
    return any;
}

/* Each signal is sent when the one before was taken by all: two that are pending are one. */
static void send_and_wait(pid_t to, unsigned interrupts)
{
    kill(to, SIGINT);
    while (as_signals_interrupts() < interrupts || any_child_has_pending())
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* One signal to the group, one to Assay alone, one more to the group: the program gets each once. */
static int pass_on_what_it_lacks(void)
{
    int status;
    setpgid(0, 0);
    pid_t program = start_counter();
    as_signals_catch(&(struct as_signals){0});
    as_signals_pass_to(program);
    send_and_wait(0, 1);
    send_and_wait(getpid(), 2);
    send_and_wait(0, 3);
    kill(program, SIGTERM);
    waitpid(program, &status, 0);
    as_signals_restore();
    bool alone = waitpid(-1, NULL, 0) < 0; /* nothing of Assay's is left */
    return WIFEXITED(status) && WEXITSTATUS(status) == 3 && alone ? 0 : 1;
}

/* A program in a group of its own has not got what was sent to Assay's. */
static int pass_on_to_another_group(void)
{
    int status;
    setpgid(0, 0);
    pid_t program = start_counter();
    setpgid(program, program);
    as_signals_catch(&(struct as_signals){0});
    as_signals_pass_to(program);
    send_and_wait(0, 1);
    kill(program, SIGTERM);
    waitpid(program, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 1 ? 0 : 1;
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

/* A session of several runs: the signal is known behind its run, and the next one ends Assay. */
static int end_between_runs(void)
{
    as_signals_catch(&(struct as_signals){.attached = true});
    if (as_signals_between() != 0)
        return 1;
    as_signals_catch(&(struct as_signals){.attached = true});
    raise(SIGINT);
    if (as_signals_between() != SIGINT || as_signals_between() != SIGINT)
        return 2;
    raise(SIGTERM);
    return 3;
}

/* What comes while a whole run is being saved is for the runs behind it. */
static int know_what_came_while_saving(void)
{
    as_signals_catch(&(struct as_signals){.attached = true});
    as_signals_shield();
    if (as_signals_between() != 0)
        return 1;
    fclose(stderr);
    close(STDERR_FILENO); /* what it says there is nobody's */
    raise(SIGTERM);
    return as_signals_between() == SIGTERM && as_signals_interrupts() == 1 ? 0 : 2;
}

/* Something hangs: in the run, and while it is being saved. */
static int die_in_the_end(void)
{
    as_signals_catch(&(struct as_signals){.attached = true});
    for (unsigned i = 0; i < 4; i++)
        raise(SIGTERM);
    if (as_signals_interrupts() != 4)
        return 1;
    raise(SIGTERM);
    return 2;
}

static int die_while_saving(void)
{
    as_signals_catch(&(struct as_signals){.attached = true});
    raise(SIGINT);
    as_signals_shield();
    for (unsigned i = 0; i < 3; i++)
        raise(SIGINT);
    if (as_signals_last() != SIGINT)
        return 1;
    raise(SIGTERM);
    return 2;
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

/* The whole seconds and the rest. */
static int alarm_in_time(void)
{
    const double wanted = 1000.25, tick = 0.02; /* the kernel rounds up to a tick */
    struct itimerval left;
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    as_signals_alarm(wanted);
    if (getitimer(ITIMER_REAL, &left) != 0)
        return 1;
    clock_gettime(CLOCK_MONOTONIC, &after);
    double seconds = (double)left.it_value.tv_sec + (double)left.it_value.tv_usec / 1e6;
    double passed = (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec) / 1e9;
    return seconds <= wanted + tick && seconds + passed >= wanted - tick ? 0 : 2;
}

/* At once, not never. */
static int alarm_at_once(void)
{
    signal(SIGALRM, SIG_DFL);
    as_signals_alarm(0);
    pause();
    return 0;
}

/* What stands by meanwhile holds no end of a pipe. */
static int leave_pipes_alone(void)
{
    enum { LONG = 60000 };
    int ends[2];
    if (pipe(ends) != 0)
        return 1;
    as_signals_catch(&(struct as_signals){0});
    close(ends[1]);
    struct pollfd wait = {.fd = ends[0], .events = POLLIN};
    int status = poll(&wait, 1, LONG) == 1 && wait.revents & POLLHUP ? 0 : 2;
    as_signals_restore();
    return status;
}

static void test_signals(void **state)
{
    assert_int_equal(status_of(leave_pipes_alone), 0);
    assert_int_equal(status_of(alarm_in_time), 0);
    assert_int_equal(status_of(alarm_at_once), 128 + SIGALRM);
    assert_int_equal(status_of(pass_on), 0);
    assert_int_equal(status_of(pass_on_early), 0);
    assert_int_equal(status_of(pass_on_what_it_lacks), 0);
    assert_int_equal(status_of(pass_on_to_another_group), 0);
    assert_int_equal(status_of(leave_attached_alone), 0);
    assert_int_equal(status_of(stop_at_the_second), 0);
    assert_int_equal(status_of(insist_in_both_ways), 0);
    assert_int_equal(status_of(stop_by_alarm), 0);
    assert_int_equal(status_of(restore), 128 + SIGTERM);
    assert_int_equal(status_of(keep_ignored), 0);
    assert_int_equal(status_of(shield_what_is_saved), 0);
    assert_int_equal(status_of(shield_once_if_not_interrupted), 128 + SIGTERM);
    assert_int_equal(status_of(end_between_runs), 128 + SIGTERM);
    assert_int_equal(status_of(know_what_came_while_saving), 0);
    assert_int_equal(status_of(die_in_the_end), 128 + SIGTERM);
    assert_int_equal(status_of(die_while_saving), 128 + SIGTERM);
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
