/* Execution watchpoints on another process, with real debug registers: one hit each, the registers at it, expiry, the
 * bounds of rate and thread, and debug registers that somebody else has taken. */
#include "native/breakpoint.h"
#include "native/code_watch.h"
#include "native/reconstruct.h"

#include "apart.h"
#include "perf_here.h"
#include "unit.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __x86_64__
enum { RSP = 4, RSI = 6, RDI = 7, MAGIC = 0x5a5a };

UNIT_APART static uint64_t often(uint64_t count, uint64_t magic)
{
    __asm__ volatile("" : "+r"(count)); /* an effect: a compiler may leave calls out whose result is not used */
    return count ^ magic;
}

UNIT_APART static uint64_t never(uint64_t count)
{
    return count + 1;
}

static pid_t start_child(void)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* where a test fails nobody else ends it */
    for (uint64_t count = 1;; count++)
        often(count, MAGIC);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void end_child(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

struct seen {
    unsigned hits, expired;
    uint64_t tag, expired_tag, ip, count[64];
    bool registers, returns;
    struct as_code_watch *again; /* arm from inside */
};

static bool arm(struct as_code_watch *watch, pid_t tid, uintptr_t ip, uint64_t tag)
{
    return as_code_watch_arm(watch, &(struct as_code_watch_order){.tid = (uint32_t)tid, .ip = ip, .tag = tag});
}

static void take(void *context, uint64_t tag, const struct as_perf_sample *sample)
{
    struct seen *seen = context;
    struct as_machine_state state;
    if (!sample) {
        seen->expired++;
        seen->expired_tag = tag;
        return;
    }
    seen->tag = tag;
    seen->registers = as_sample_registers(sample, &state) && state.value[RSI] == MAGIC;
    seen->ip = state.ip;
    seen->count[seen->hits++ % 64] = state.value[RDI];
    uint64_t back = 0;
    memcpy(&back, sample->stack, sample->stack_valid >= sizeof back ? sizeof back : 0);
    seen->returns = back - (uintptr_t)often + (1 << 20) < 2 << 20; /* into the code around it */
    if (seen->again && seen->hits < 3)
        assert_true(arm(seen->again, (pid_t)sample->tid, (uintptr_t)often, tag + 1));
}

/* Until `hits` and `expired` are reached, or half a minute is over: a busy machine may not run the child for long. */
static void wait_for(struct as_code_watch *watch, struct seen *seen, unsigned hits, unsigned expired)
{
    for (int i = 0; i < 30000 && (seen->hits < hits || seen->expired < expired); i++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        as_code_watch_poll(watch, take, seen);
    }
}

static void need_watchpoints(pid_t pid)
{
    const char *refusal = unit_no_watchpoints();
    if (refusal)
        end_child(pid);
    if (refusal)
        unit_skip("no hardware breakpoints here: %s", refusal);
}

static struct as_code_watch *watch_or_skip(pid_t pid, double seconds)
{
    need_watchpoints(pid);
    struct as_code_watch *watch = as_code_watch_new(&(struct as_code_watch_options){.rate = 1000, .seconds = seconds});
    if (!arm(watch, pid, (uintptr_t)often, 7))
        fail_msg("%s", as_code_watch_counts(watch)->note);
    return watch;
}

static void one_hit_with_registers(void **state)
{
    pid_t pid = start_child();
    struct as_code_watch *watch = watch_or_skip(pid, 60);
    struct seen seen = {0};
    assert_true(arm(watch, pid, (uintptr_t)never, 8));
    assert_false(arm(watch, pid, (uintptr_t)often, 8));       /* it has two */
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); /* millions of calls */
    wait_for(watch, &seen, 1, 0);
    assert_int_equal(seen.hits, 1);
    assert_int_equal(seen.tag, 7);
    assert_true(seen.registers && seen.returns);
    assert_int_equal(seen.ip, (uintptr_t)often);
    as_code_watch_poll(watch, take, &seen);
    assert_int_equal(seen.hits, 1);
    seen.again = watch;
    assert_true(arm(watch, pid, (uintptr_t)often, 10));
    wait_for(watch, &seen, 3, 0);
    assert_int_equal(seen.hits, 3);
    assert_int_equal(seen.tag, 11);
    assert_true(seen.count[0] < seen.count[1] && seen.count[1] < seen.count[2]);
    assert_int_equal(as_code_watch_counts(watch)->armed, 4);
    assert_int_equal(as_code_watch_counts(watch)->hit, 3);
    print_message("%lu further traps\n", as_code_watch_counts(watch)->extra);
    assert_in_range(as_code_watch_counts(watch)->extra, 0, 6); /* of millions */
    as_code_watch_free(watch);
    end_child(pid);
}

static void what_is_not_met_expires(void **state)
{
    pid_t pid = start_child();
    struct as_code_watch *watch = watch_or_skip(pid, 0.2);
    struct seen seen = {0};
    wait_for(watch, &seen, 1, 0);
    unsigned before = seen.expired; /* a busy machine may not have run the child in time */
    double begun = seconds_now();
    assert_true(arm(watch, pid, (uintptr_t)never, 9));
    as_code_watch_poll(watch, take, &seen);
    assert_true(seen.expired == before || seconds_now() - begun >= 0.2);
    wait_for(watch, &seen, 1, before + 1);
    assert_true(seconds_now() - begun >= 0.2);
    assert_int_equal(seen.expired, before + 1);
    assert_int_equal(seen.expired_tag, 9);
    assert_int_equal(as_code_watch_counts(watch)->expired, seen.expired);
    end_child(pid);
    assert_false(arm(watch, pid, (uintptr_t)often, 1)); /* it has ended: no refusal */
    assert_int_equal(as_code_watch_counts(watch)->refused, 0);
    as_code_watch_free(watch);
}

static void rate_is_bounded(void **state)
{
    pid_t pid = start_child();
    need_watchpoints(pid);
    struct as_code_watch *watch = as_code_watch_new(&(struct as_code_watch_options){.rate = 10});
    struct seen seen = {0};
    double begun = seconds_now(), seconds = 0;
    while (seconds < 0.5 || (seen.hits < 2 && seconds < 30)) {
        (void)arm(watch, pid, (uintptr_t)often, 1);
        as_code_watch_poll(watch, take, &seen);
        seconds = seconds_now() - begun;
    }
    print_message("%u hits in %.2f s\n", seen.hits, seconds);
    assert_true(seen.hits >= 2 && seen.hits <= 5 + 10 * seconds + 1); /* a burst of five, then ten a second */
    as_code_watch_free(watch);
    end_child(pid);
}

/* The child calls it when it is told to, so which call is met is known. */
static void the_nth_time_is_met(void **state)
{
    for (unsigned nth = 1; nth <= 7; nth += 3) {
        int ends[2];
        char byte;
        assert_int_equal(pipe(ends), 0);
        pid_t pid = fork();
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            ssize_t told = read(ends[0], &byte, 1);
            for (uint64_t count = 1; told == 1 && count <= 100; count++)
                often(count, MAGIC);
            for (;;)
                pause();
        }
        need_watchpoints(pid);
        struct as_code_watch *watch = as_code_watch_new(&(struct as_code_watch_options){.seconds = 60});
        struct seen seen = {0};
        struct as_code_watch_order order = {(uint32_t)pid, (uintptr_t)often, 1, nth, false};
        assert_true(as_code_watch_arm(watch, &order));
        assert_int_equal(write(ends[1], "", 1), 1);
        wait_for(watch, &seen, 1, 0);
        assert_int_equal(seen.hits, 1);
        assert_int_equal(seen.count[0], nth);
        as_code_watch_free(watch);
        end_child(pid);
        close(ends[0]);
        close(ends[1]);
    }
}

/* x86 has four; they can be had by anyone who may trace the process. */
static void taken_debug_registers_are_said(void **state)
{
    int fds[4];
    pid_t pid = start_child();
    need_watchpoints(pid);
    for (int i = 0; i < 4; i++) {
        struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
                                       .size = sizeof attr,
                                       .bp_type = HW_BREAKPOINT_X,
                                       .bp_addr = (uintptr_t)never,
                                       .bp_len = sizeof(long),
                                       .exclude_kernel = 1};
        fds[i] = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, 0);
        assert_true(fds[i] >= 0);
    }
    struct as_code_watch *watch = as_code_watch_new(NULL);
    assert_false(arm(watch, pid, (uintptr_t)often, 1));
    assert_int_equal(as_code_watch_counts(watch)->refused, 1);
    assert_non_null(strstr(as_code_watch_counts(watch)->note, "debug registers are in use"));
    for (int i = 0; i < 4; i++)
        close(fds[i]);
    assert_true(arm(watch, pid, (uintptr_t)often, 1)); /* it goes on */
    as_code_watch_free(watch);
    end_child(pid);
}
#endif

static void refusals_have_reasons(void **state)
{
    assert_string_equal(as_breakpoint_refusal(EOPNOTSUPP), "this machine has no debug registers");
    assert_string_equal(as_breakpoint_refusal(ENOENT), "this machine has no debug registers");
    assert_non_null(strstr(as_breakpoint_refusal(ENOSPC), "in use by another program"));
    assert_string_equal(as_breakpoint_refusal(EINVAL), strerror(EINVAL));
}

int main(void)
{
#ifdef __x86_64__
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_hit_with_registers),
        cmocka_unit_test(what_is_not_met_expires),
        cmocka_unit_test(rate_is_bounded),
        cmocka_unit_test(the_nth_time_is_met),
        cmocka_unit_test(taken_debug_registers_are_said),
        cmocka_unit_test(refusals_have_reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
#else
    return 0;
#endif
}
