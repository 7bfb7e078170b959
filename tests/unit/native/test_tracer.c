/* Threads under ptrace: which come and go, who is stopped and who goes on, traps and counts of watched words, signals, and a
 * process that goes on as if nothing had been. The program is this one's child; it tells in shared memory how far it is. */
#include "native/tracer.h"
#include "native/trap_signal.h"

#include "base/clock.h"
#include "base/thread_state.h"
#include "perf_here.h"
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#ifdef __x86_64__
enum { PATIENCE = 20, NAME = 0x1234567, THREADS = 2 }; /* seconds */

static struct shared {
    _Atomic uint64_t rounds[THREADS];   /* of threads that spin */
    _Atomic uint64_t go, done, signals; /* what the test asks for, what it got */
    _Atomic int tids[THREADS];          /* of the threads that spin */
    _Alignas(8) volatile uint64_t word; /* is watched */
} * shared;

/* ---- what the child does ---- */

static void on_signal(int number)
{
    shared->signals += (uint64_t)number;
}

static void *spin(void *which)
{
    size_t i = (size_t)(uintptr_t)which;
    shared->tids[i] = gettid();
    for (;;)
        shared->rounds[i]++;
    return NULL;
}

static void spin_alone(void)
{
    spin(NULL);
}

/* Two threads spin, the first one waits. */
static void spin_in_threads(void)
{
    for (size_t i = 0; i < THREADS; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, spin, (void *)(uintptr_t)i);
    }
    for (;;)
        pause();
}

/* For each that is asked for: a load and a store of the word. */
static void touch(void)
{
    for (shared->tids[0] = gettid();; shared->done++) {
        while (shared->done == shared->go)
            ;
        shared->word = shared->word + 1;
    }
}

/* For each that is asked for: a load. */
static void look(void)
{
    for (shared->tids[0] = gettid();; shared->done++) {
        while (shared->done == shared->go)
            ;
        (void)shared->word;
    }
}

/* Registers that hold known values, but for the stack's. */
static void hold_registers(void)
{
    __asm__ volatile("mov $0x1001, %%eax; mov $0x1002, %%ecx; mov $0x1003, %%edx; mov $0x1004, %%ebx\n"
                     "mov $0x1007, %%esi; mov $0x1008, %%edi; mov $0x1009, %%r8d; mov $0x100a, %%r9d\n"
                     "mov $0x100b, %%r10d; mov $0x100c, %%r11d; mov $0x100d, %%r12d; mov $0x100e, %%r13d\n"
                     "mov $0x100f, %%r14d; mov $0x1010, %%r15d\n1: jmp 1b" ::
                         : "memory");
}

static void await(uint64_t step)
{
    while (shared->go < step)
        ;
}

static void fork_once(void)
{
    await(1);
    pid_t pid = fork();
    if (pid == 0) {
        await(2);
        _exit(3);
    }
    waitpid(pid, NULL, 0);
    await(3);
    _exit(4);
}

static void *become_true(void *unused)
{
    await(1);
    execlp("true", "true", NULL);
    _exit(1);
}

/* A thread that is not the first executes another program. */
static void exec_in_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, become_true, NULL);
    for (;;)
        pause();
}

/* ---- the test's side ---- */

static pid_t start(void (*work)(void))
{
    memset((void *)shared, 0, sizeof *shared);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    signal(SIGUSR1, on_signal);
    work();
    _exit(0);
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static struct as_tracer *attach(pid_t pid)
{
    struct as_error err = {0};
    struct as_tracer *tracer = as_tracer_attach(pid, &err);
    if (!tracer)
        fail_msg("%s", err.message);
    assert_int_equal(as_tracer_pid(tracer), pid);
    return tracer;
}

static double soon(void)
{
    return as_clock_seconds() + PATIENCE;
}

static struct as_tracer_event next(struct as_tracer *tracer)
{
    return as_tracer_next(tracer, soon());
}

/* Until a number of the child is that large; events that come meanwhile are none. */
static void wait_for(struct as_tracer *tracer, const _Atomic uint64_t *number, uint64_t least)
{
    for (double until = soon(); *number < least;) {
        assert_true(as_clock_seconds() < until);
        if (tracer)
            assert_int_equal(as_tracer_next(tracer, as_clock_seconds() + 0.001).kind, AS_TRACER_TIME);
    }
}

static void wait_for_tid(const _Atomic int *tid)
{
    for (double until = soon(); !*tid;)
        assert_true(as_clock_seconds() < until);
}

static void let_time_pass(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

static int set_up(void **state)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED;
}

static int tear_down(void **state)
{
    return munmap(shared, sizeof *shared);
}

/* ---- tests ---- */

/* A launched program has one thread from its exec on; its end has its status. */
static void launches(void **state)
{
    char *argv[] = {"sh", "-c", "exit 7", NULL};
    struct as_error err = {0};
    struct as_tracer *tracer = as_tracer_launch(argv, false, &err);
    assert_non_null(tracer);
    static const enum as_tracer_kind kinds[] = {AS_TRACER_GONE, AS_TRACER_EXEC, AS_TRACER_START, AS_TRACER_GONE,
                                                AS_TRACER_END};
    struct as_tracer_event event = {0};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        event = next(tracer);
        assert_int_equal(event.kind, kinds[i]);
        assert_int_equal(event.tid, as_tracer_pid(tracer));
    }
    assert_true(WIFEXITED(event.status));
    assert_int_equal(WEXITSTATUS(event.status), 7);
    assert_int_equal(next(tracer).kind, AS_TRACER_END); /* and so it stays */
    assert_int_equal(next(tracer).status, event.status);
    as_tracer_close(tracer);
}

static void cannot_launch(const char *name, int status, const char *reason)
{
    char *argv[] = {(char *)name, NULL};
    struct as_error err = {0};
    assert_null(as_tracer_launch(argv, false, &err));
    assert_int_equal(err.status, status);
    assert_non_null(strstr(err.message, name));
    assert_non_null(strstr(err.message, reason));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

static void says_what_cannot_be_run(void **state)
{
    sigset_t before, after;
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    cannot_launch("/there/is/none", AS_EXIT_NOT_FOUND, "No such file");
    cannot_launch("/", AS_EXIT_CANNOT_RUN, "ermission denied");
    struct as_error err = {0};
    assert_null(as_tracer_attach(INT32_MAX, &err));
    assert_string_equal(err.message, "cannot trace process 2147483647: No such process");
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    assert_int_equal(sigismember(&before, SIGCHLD), sigismember(&after, SIGCHLD));
}

/* All threads are there from the beginning; those that run are stopped, one that waits is left alone; then they go on, and
 * go on without a tracer. */
static void stops_what_runs(void **state)
{
    pid_t pid = start(spin_in_threads), parent;
    for (size_t i = 0; i < THREADS; i++)
        wait_for(NULL, &shared->rounds[i], 1000);
    struct as_tracer *tracer = attach(pid);
    for (size_t i = 0; i < 1 + THREADS; i++) {
        struct as_tracer_event event = next(tracer);
        assert_int_equal(event.kind, AS_TRACER_START);
        assert_int_equal(as_tracer_process(tracer, event.tid, &parent), pid);
        assert_int_equal(parent, getpid());
        assert_true(event.tid == pid || event.tid == shared->tids[0] || event.tid == shared->tids[1]);
    }
    assert_int_equal(as_tracer_process(tracer, getpid(), &parent), 0);
    assert_int_equal(parent, 0);
    assert_int_equal(as_tracer_stop_all(tracer), THREADS);
    pid_t first = as_tracer_stopped(tracer, 0), second = as_tracer_stopped(tracer, 1);
    assert_true(first == shared->tids[0] || first == shared->tids[1]);
    assert_int_equal(first + second, shared->tids[0] + shared->tids[1]);
    uint64_t stood[THREADS] = {shared->rounds[0], shared->rounds[1]};
    let_time_pass();
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(shared->rounds[i], stood[i]);
    as_tracer_resume(tracer, shared->tids[1]); /* one alone */
    wait_for(tracer, &shared->rounds[1], stood[1] + 1000);
    assert_int_equal(shared->rounds[0], stood[0]);
    as_tracer_resume_all(tracer);
    for (size_t i = 0; i < THREADS; i++)
        wait_for(tracer, &shared->rounds[i], stood[i] + 2000);
    as_tracer_close(tracer);
    for (size_t i = 0; i < THREADS; i++)
        wait_for(NULL, &shared->rounds[i], shared->rounds[i] + 1000);
    end(pid);
}

/* A thread that is stopped when the tracer leaves goes on, too. */
static void leaves_none_stopped(void **state)
{
    pid_t pid = start(spin_alone);
    wait_for(NULL, &shared->rounds[0], 1);
    struct as_tracer *tracer = attach(pid);
    assert_int_equal(as_tracer_stop_all(tracer), 1);
    as_tracer_close(tracer);
    wait_for(NULL, &shared->rounds[0], shared->rounds[0] + 1000);
    end(pid);
}

static double own_processor_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* A deadline, until which it sleeps, and a request to stop: the process runs on, so it has no status. */
static void waits_no_longer(void **state)
{
    pid_t pid = start(spin_alone);
    struct as_tracer *tracer = attach(pid);
    assert_int_equal(next(tracer).kind, AS_TRACER_START);
    double begun = as_clock_seconds(), spent = own_processor_time();
    assert_int_equal(as_tracer_next(tracer, begun + 0.15).kind, AS_TRACER_TIME);
    assert_true(as_clock_seconds() >= begun + 0.15);
    assert_true(own_processor_time() < spent + 0.005);
    as_tracer_stop(tracer);
    struct as_tracer_event event = next(tracer);
    assert_int_equal(event.kind, AS_TRACER_END);
    assert_int_equal(event.status, -1);
    as_tracer_close(tracer);
    end(pid);
}

static int watch(struct as_tracer *tracer, pid_t tid, bool reads)
{
    struct as_tracer_watch watch = {.address = (uintptr_t)&shared->word, .length = 8, .reads = reads, .name = NAME};
    return as_tracer_watch(tracer, tid, &watch);
}

static void expect_trap(struct as_tracer *tracer, pid_t tid)
{
    struct as_tracer_event event = next(tracer);
    assert_int_equal(event.kind, AS_TRACER_TRAP);
    assert_int_equal(event.tid, tid);
    assert_int_equal(event.watch, NAME);
}

/* Each store of a watched word stops the thread behind it, until it is resumed. */
static void traps_at_stores(void **state)
{
    const char *refusal = unit_no_watchpoints();
    if (refusal)
        unit_skip("no watchpoints: %s", refusal);
    pid_t pid = start(touch);
    wait_for_tid(&shared->tids[0]);
    struct as_tracer *tracer = attach(pid);
    assert_int_equal(next(tracer).kind, AS_TRACER_START);
    int fd = watch(tracer, pid, false);
    assert_true(fd >= 0);
    shared->go = 2;
    for (uint64_t i = 1; i <= 2; i++) {
        expect_trap(tracer, pid);
        let_time_pass();
        assert_int_equal(shared->word, i);
        assert_int_equal(shared->done, i - 1);
        as_tracer_resume(tracer, pid);
    }
    wait_for(tracer, &shared->done, 2);
    close(fd);
    shared->go = 5;
    wait_for(tracer, &shared->done, 5); /* no more traps */
    as_tracer_close(tracer);
    end(pid);
}

/* Loads trap where they are asked for, and only there. */
static void traps_at_loads(void **state)
{
    const char *refusal = unit_no_watchpoints();
    if (refusal)
        unit_skip("no watchpoints: %s", refusal);
    pid_t pid = start(look);
    wait_for_tid(&shared->tids[0]);
    struct as_tracer *tracer = attach(pid);
    assert_int_equal(next(tracer).kind, AS_TRACER_START);
    int fd = watch(tracer, pid, false);
    assert_true(fd >= 0);
    shared->go = 3;
    wait_for(tracer, &shared->done, 3);
    close(fd);
    fd = watch(tracer, pid, true);
    assert_true(fd >= 0);
    shared->go = 4;
    expect_trap(tracer, pid);
    assert_int_equal(as_tracer_stop_all(tracer), 1); /* it is stopped already */
    as_tracer_resume_all(tracer);
    wait_for(tracer, &shared->done, 4);
    close(fd);
    as_tracer_close(tracer);
    end(pid);
}

/* Attaches, and never looks at the hit that stops the process. */
static void overlook_trap(pid_t pid)
{
    struct as_tracer *tracer = attach(pid);
    assert_true(watch(tracer, pid, false) >= 0);
    shared->go = 1;
    for (;;)
        pause();
}

/* A process goes on as it was where the tracer is killed before it has seen a hit. */
static void ends_nothing_when_killed(void **state)
{
    const char *refusal = unit_no_watchpoints();
    if (refusal)
        unit_skip("no watchpoints: %s", refusal);
    pid_t pid = start(touch);
    wait_for_tid(&shared->tids[0]);
    pid_t tracer = fork();
    if (tracer == 0)
        overlook_trap(pid);
    for (double until = soon(); !shared->go || as_thread_state(pid, pid) != 't';)
        assert_true(as_clock_seconds() < until);
    end(tracer);
    wait_for(NULL, &shared->done, 1);
    shared->go = 100;
    wait_for(NULL, &shared->done, 100);
    assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
    end(pid);
}

static void pass(int number)
{
}

static int signal_when(int blocked, int handled)
{
    sigset_t set, before;
    sigemptyset(&set);
    if (blocked)
        sigaddset(&set, blocked);
    sigprocmask(SIG_BLOCK, &set, &before);
    if (handled)
        signal(handled, pass);
    int chosen = as_trap_signal_for(getpid(), gettid());
    if (handled)
        signal(handled, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return chosen;
}

/* Hits send a signal that the thread does not block, and that nobody handles. */
static void chooses_a_signal(void **state)
{
    assert_int_equal(signal_when(0, 0), SIGURG);
    assert_int_equal(signal_when(SIGURG, 0), SIGWINCH);
    assert_int_equal(signal_when(SIGURG, SIGWINCH), SIGWINCH);
    assert_int_equal(signal_when(SIGWINCH, SIGURG), SIGURG);
    assert_int_equal(signal_when(0, SIGURG), SIGWINCH);
    assert_int_equal(signal_when(0, SIGWINCH), SIGURG);
}

static void block_urgent(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGURG);
    sigprocmask(SIG_BLOCK, &set, NULL);
    touch();
}

/* A blocked signal does not keep hits away. */
static void traps_where_a_signal_is_blocked(void **state)
{
    const char *refusal = unit_no_watchpoints();
    if (refusal)
        unit_skip("no watchpoints: %s", refusal);
    pid_t pid = start(block_urgent);
    wait_for_tid(&shared->tids[0]);
    struct as_tracer *tracer = attach(pid);
    assert_int_equal(next(tracer).kind, AS_TRACER_START);
    int fd = watch(tracer, pid, false);
    assert_true(fd >= 0);
    shared->go = 1;
    expect_trap(tracer, pid);
    as_tracer_resume(tracer, pid);
    wait_for(tracer, &shared->done, 1);
    close(fd);
    as_tracer_close(tracer);
    end(pid);
}

/* Counting stops nothing, and counts each access: here a load and a store at a time. */
static void counts_accesses(void **state)
{
    enum { TIMES = 50 };
    struct as_tracer_counted counted;
    const char *refusal = unit_no_watchpoints();
    if (refusal)
        unit_skip("no watchpoints: %s", refusal);
    pid_t pid = start(touch);
    wait_for_tid(&shared->tids[0]);
    int fd = as_tracer_count(pid, (uintptr_t)&shared->word);
    assert_true(fd >= 0);
    double begun = as_clock_seconds();
    shared->go = TIMES;
    wait_for(NULL, &shared->done, TIMES);
    assert_true(as_tracer_counted(fd, &counted));
    assert_int_equal(counted.hits, 2 * TIMES);
    assert_true(counted.nanoseconds > 0 && (double)counted.nanoseconds * 1e-9 <= as_clock_seconds() - begun + 0.01);
    close(fd);
    assert_false(as_tracer_counted(-1, &counted));
    end(pid);
}

/* Whether a stopped child of ours stands at a jump to itself: its code is the same as here. */
static bool stands_at_jump(struct as_tracer *tracer, pid_t pid, struct as_lookahead_thread *thread)
{
    uint16_t code;
    if (as_tracer_stop_all(tracer) == 0) /* it waits in the kernel for a page */
        return false;
    assert_true(as_tracer_registers(tracer, pid, thread));
    memcpy(&code, (const void *)thread->state.ip, sizeof code);
    return code == 0xfeeb;
}

static void reads_registers(void **state)
{
    static struct as_lookahead_thread thread;
    pid_t pid = start(hold_registers);
    struct as_tracer *tracer = attach(pid);
    for (double until = soon(); !stands_at_jump(tracer, pid, &thread); as_tracer_resume_all(tracer))
        assert_true(as_clock_seconds() < until);
    for (unsigned i = 0; i < 16; i++)
        if (i != 4 && i != 5)
            assert_int_equal(thread.state.value[i], 0x1001 + i);
    uintptr_t here = (uintptr_t)__builtin_frame_address(0); /* a variable may lie elsewhere under a sanitizer */
    assert_true(thread.state.value[4] - here + 0x10000 < 0x20000);
    assert_int_equal(thread.state.known, 0xffff);
    assert_true(thread.state.knows_flags && thread.state.knows_segments);
    uint64_t own_fs;
    __asm__("mov %%fs:0, %0" : "=r"(own_fs)); /* its first word is its own address, in the child as here */
    assert_int_equal(thread.state.segment[1], own_fs);
    assert_int_equal(thread.end, AS_LOOKAHEAD_GOES_ON);
    assert_false(as_tracer_registers(tracer, getpid(), &thread));
    as_tracer_close(tracer);
    end(pid);
}

/* Signals reach the process as without a tracer: a handler, a stop and a continuation, an end. */
static void passes_signals_on(void **state)
{
    pid_t pid = start(spin_alone);
    wait_for(NULL, &shared->rounds[0], 1);
    struct as_tracer *tracer = attach(pid);
    assert_int_equal(next(tracer).kind, AS_TRACER_START);
    kill(pid, SIGUSR1);
    wait_for(tracer, &shared->signals, SIGUSR1);
    assert_int_equal(shared->signals, SIGUSR1);
    kill(pid, SIGSTOP);
    uint64_t before;
    double until = soon();
    do { /* it stops when it gets a processor */
        before = shared->rounds[0];
        assert_int_equal(as_tracer_next(tracer, as_clock_seconds() + 0.05).kind, AS_TRACER_TIME);
        let_time_pass();
        assert_true(as_clock_seconds() < until);
    } while (shared->rounds[0] != before);
    kill(pid, SIGCONT);
    wait_for(tracer, &shared->rounds[0], before + 1000);
    kill(pid, SIGTERM);
    assert_int_equal(next(tracer).kind, AS_TRACER_GONE);
    struct as_tracer_event event = next(tracer);
    assert_int_equal(event.kind, AS_TRACER_END);
    assert_true(WIFSIGNALED(event.status));
    assert_int_equal(WTERMSIG(event.status), SIGTERM);
    as_tracer_close(tracer);
}

/* A process that is forked is traced, too; the end is that of the first. */
static void follows_forks(void **state)
{
    pid_t parent, pid = start(fork_once);
    struct as_tracer *tracer = attach(pid);
    struct as_tracer_event event = next(tracer);
    assert_int_equal(event.kind, AS_TRACER_START);
    assert_int_equal(event.tid, pid);
    shared->go = 1;
    event = next(tracer);
    assert_int_equal(event.kind, AS_TRACER_START);
    assert_int_equal(as_tracer_process(tracer, event.tid, &parent), event.tid);
    assert_int_equal(parent, pid);
    shared->go = 2;
    pid_t forked = event.tid;
    event = next(tracer);
    assert_int_equal(event.kind, AS_TRACER_GONE);
    assert_int_equal(event.tid, forked);
    shared->go = 3;
    assert_int_equal(next(tracer).kind, AS_TRACER_GONE);
    event = next(tracer);
    assert_int_equal(event.kind, AS_TRACER_END);
    assert_int_equal(WEXITSTATUS(event.status), 4);
    as_tracer_close(tracer);
}

/* Of a process that executes another program one thread is left, with the number of the process. */
static void follows_exec_of_a_thread(void **state)
{
    pid_t pid = start(exec_in_thread);
    struct as_tracer *tracer = attach(pid);
    unsigned started = 0, gone = 0, execs = 0;
    struct as_tracer_event event;
    while ((event = next(tracer)).kind != AS_TRACER_END) {
        assert_int_not_equal(event.kind, AS_TRACER_TIME);
        started += event.kind == AS_TRACER_START;
        gone += event.kind == AS_TRACER_GONE;
        execs += event.kind == AS_TRACER_EXEC;
        if (event.kind == AS_TRACER_EXEC) {
            assert_int_equal(event.tid, pid);
            assert_int_equal(gone, started); /* all of them, before that */
        }
        if (started == 2)
            shared->go = 1;
    }
    assert_int_equal(execs, 1);
    assert_int_equal(started, 3);
    assert_int_equal(gone, 3);
    assert_int_equal(event.status, 0);
    as_tracer_close(tracer);
}

/* Processor time grows while a thread runs and not while it stands still, and its last is told with its end. */
static void reads_processor_time(void **state)
{
    const char *refusal = unit_no_task_clock();
    if (refusal)
        unit_skip("no task clock: %s", refusal);
    double begun = as_clock_seconds();
    pid_t pid = start(spin_alone);
    wait_for(NULL, &shared->rounds[0], 1);
    struct as_tracer *tracer = attach(pid);
    assert_int_equal(next(tracer).kind, AS_TRACER_START);
    as_tracer_clock_exactly(tracer, pid);
    as_tracer_clock_exactly(tracer, pid); /* once is enough */
    wait_for(tracer, &shared->rounds[0], shared->rounds[0] + 100000);
    assert_int_equal(as_tracer_stop_all(tracer), 1);
    uint64_t first = as_tracer_processor_time(tracer, pid);
    let_time_pass();
    assert_int_equal(as_tracer_processor_time(tracer, pid), first);
    assert_true(first > 0 && (double)first * 1e-9 < as_clock_seconds() - begun);
    as_tracer_resume_all(tracer);
    wait_for(tracer, &shared->rounds[0], shared->rounds[0] + 1000000);
    uint64_t second = as_tracer_processor_time(tracer, pid);
    assert_true(second > first && (double)second * 1e-9 < as_clock_seconds() - begun);
    assert_int_equal(as_tracer_processor_time(tracer, getpid()), 0);
    kill(pid, SIGTERM);
    struct as_tracer_event event = next(tracer);
    assert_int_equal(event.kind, AS_TRACER_GONE);
    assert_true(event.spent >= second && (double)event.spent * 1e-9 < as_clock_seconds() - begun);
    assert_int_equal(next(tracer).kind, AS_TRACER_END);
    as_tracer_close(tracer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(launches),
        TEST(says_what_cannot_be_run),
        TEST(stops_what_runs),
        TEST(leaves_none_stopped),
        TEST(waits_no_longer),
        TEST(traps_at_stores),
        TEST(traps_at_loads),
        TEST(ends_nothing_when_killed),
        TEST(chooses_a_signal),
        TEST(traps_where_a_signal_is_blocked),
        TEST(counts_accesses),
        TEST(reads_registers),
        TEST(passes_signals_on),
        TEST(follows_forks),
        TEST(follows_exec_of_a_thread),
        TEST(reads_processor_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0;
}
#endif
