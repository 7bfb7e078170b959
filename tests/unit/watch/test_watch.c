/* Watchpoints as their user sees them, on the debug registers of this machine: skipped where the kernel refuses them to
 * everybody (perf_here.h). */
#include "watch/watch_internal.h"

#include "perf_here.h"
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static struct as_watch *watch;
static struct as_watch_trap last;
static _Atomic unsigned traps;
static _Alignas(64) volatile uint64_t words[8];
static uintptr_t handler_stack;
static volatile pid_t other_thread;

static void remember(void *context, const struct as_watch_trap *trap)
{
    last = *trap;
    handler_stack = (uintptr_t)__builtin_frame_address(0);
    traps++;
}

static int start(int signal_number)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_watch_options options = {.decode = true, .on_trap = remember, .signal = signal_number};
    watch = as_watch_new(&options, &err);
    if (!watch) {
        print_message("%s\n", err.message);
        return unit_no_watchpoints() ? 0 : -1;
    }
    traps = 0;
    memset(&last, 0, sizeof last);
    return as_watch_thread_enter(watch) == AS_WATCH_OK ? 0 : -1;
}

static int set_up(void **state)
{
    return start(0);
}

static int set_up_descriptor(void **state)
{
    return start(SIGRTMIN + 3);
}

static int tear_down(void **state)
{
    if (watch)
        as_watch_thread_leave(watch);
    as_watch_free(watch);
    watch = NULL;
    return 0;
}

static void need_watch(void)
{
    if (!watch)
        unit_skip("no hardware watchpoints here: %s", unit_no_watchpoints());
}

static pid_t self(void)
{
    return (pid_t)syscall(SYS_gettid);
}

static struct as_watch_ref arm(const volatile void *address, uint8_t length, enum as_watch_access access)
{
    struct as_watch_ref ref = {0};
    struct as_watch_request request = {
        .address = (uintptr_t)address, .length = length, .access = (uint8_t)access, .data = 42};
    assert_int_equal(as_watch_arm(watch, self(), &request, &ref), AS_WATCH_OK);
    return ref;
}

static void store_traps_once_each(void **state)
{
    need_watch();
    struct as_watch_ref ref = arm(&words[1], 8, AS_WATCH_STORE);
    for (uint64_t i = 0; i < 100; i++)
        words[1] = i;
    assert_int_equal(traps, 100);
    assert_true(last.exact);
    assert_int_equal(last.hits, 1);
    assert_int_equal(last.data, 42);
    assert_int_equal(last.address, (uintptr_t)&words[1]);
    assert_int_equal(last.ref.generation, ref.generation);
    uint64_t value = words[1];
    words[0] = words[2] = value;
    assert_int_equal(traps, 100);
    assert_int_equal(as_watch_disarm(watch, &ref), AS_WATCH_OK);
    words[1] = 5;
    assert_int_equal(traps, 100);
    assert_int_equal(as_watch_disarm(watch, &ref), AS_WATCH_STALE);
}

/* The instruction is one of ours, between two labels, so its address is known. */
#define CAUSED(instruction, operands...)                                                                               \
    ({                                                                                                                 \
        uint64_t at;                                                                                                   \
        __asm__ volatile("lea 1f(%%rip), %0\n\t1: " instruction "\n\t"                                                 \
                         : "=&r"(at)                                                                                   \
                         : operands                                                                                    \
                         : "memory", "rax", "rcx", "rsi", "rdi", "cc");                                                \
        at;                                                                                                            \
    })

static void check_cause(uint64_t at, uint8_t access, uint16_t size)
{
    assert_true(last.cause.how != AS_CAUSE_NONE);
    assert_int_equal(last.cause.ip, at);
    assert_int_equal(last.cause.access, access);
    assert_int_equal(last.cause.size, size);
}

static void finds_the_instruction(void **state)
{
    need_watch();
    arm(&words[1], 8, AS_WATCH_BOTH);
    volatile uint64_t *p = &words[1];
    check_cause(CAUSED("movq $7, (%1)", "r"(p)), AS_ACCESS_STORE, 8);
    assert_int_equal(last.cause.how, AS_CAUSE_VERIFIED);
    assert_int_equal(last.cause.address, (uintptr_t)p);
    check_cause(CAUSED("movb $7, 3(%1)", "r"(p)), AS_ACCESS_STORE, 1);
    assert_int_equal(last.cause.address, (uintptr_t)p + 3);
    check_cause(CAUSED("movl (%1), %%eax", "r"(p)), AS_ACCESS_LOAD, 4);
    check_cause(CAUSED("movq (%1), %%rax", "r"(p)), AS_ACCESS_LOAD, 8);
    check_cause(CAUSED("lock incl 4(%1)", "r"(p)), AS_ACCESS_LOAD | AS_ACCESS_STORE, 4);
    check_cause(CAUSED("movdqu -8(%1), %%xmm0", "r"(p)), AS_ACCESS_LOAD, 16);
    assert_int_equal(traps, 6);
}

static void knows_overwritten_addresses(void **state)
{
    need_watch();
    arm(&words[1], 8, AS_WATCH_BOTH);
    uint64_t begin = CAUSED("mov %1, %%rax; mov (%%rax), %%rax", "r"(&words[1]));
    assert_int_equal(last.cause.how, AS_CAUSE_PLAUSIBLE);
    assert_true(last.cause.ip > begin && last.cause.ip - begin <= 3);
    assert_int_equal(last.cause.access, AS_ACCESS_LOAD);
    unsigned before = traps;
    CAUSED("mov %1, %%rsi; cld; lodsq", "r"(&words[1]));
    assert_int_equal(traps, before + 1);
    assert_int_equal(last.cause.how, AS_CAUSE_VERIFIED);
    assert_int_equal(last.cause.address, (uintptr_t)&words[1]);
}

static void finds_repeated_strings(void **state)
{
    need_watch();
    static _Alignas(64) char target[4096];
    arm(target + 1024, 8, AS_WATCH_STORE);
    uint64_t begin = CAUSED("mov %1, %%rdi; mov $4096, %%ecx; xor %%eax, %%eax; cld; rep stosb", "r"(target));
    assert_true(traps >= 1);
    assert_true(last.cause.how == AS_CAUSE_VERIFIED && last.cause.ip > begin && last.cause.ip < begin + 16);
    assert_int_equal(last.cause.access, AS_ACCESS_STORE);
}

__attribute__((noinline)) static void callee(void)
{
    __asm__ volatile("");
}

/* A call's push traps at the callee's entry; the call itself is the cause. The stack below is watched, so the handler
 * must run on another. */
static void finds_calls_on_the_stack(void **state)
{
    need_watch();
    uint64_t at, stack;
    struct as_watch_ref ref;
    struct as_watch_request request = {.length = 8, .access = AS_WATCH_STORE, .data = 1};
    __asm__ volatile("mov %%rsp, %0" : "=r"(stack));
    request.address = ((stack - 8192) & ~UINT64_C(63)) - 8;
    assert_int_equal(as_watch_arm(watch, self(), &request, &ref), AS_WATCH_OK);
    __asm__ volatile("mov %%rsp, %%rbx\n\tmov %1, %%rsp\n\tlea 1f(%%rip), %0\n\t1: call *%2\n\tmov %%rbx, %%rsp"
                     : "=&r"(at)
                     : "r"(request.address + 8), "r"(callee)
                     : "rbx", "memory", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc");
    assert_int_equal(traps, 1);
    assert_int_equal(last.ip, (uintptr_t)callee);
    check_cause(at, AS_ACCESS_STORE, 8);
    assert_true(handler_stack < request.address - 4096 || handler_stack > stack + 65536);
}

static void loads_alone_are_filtered(void **state)
{
    need_watch();
    struct as_watch_counts counts;
    arm(&words[1], 8, AS_WATCH_LOAD);
    words[1] = 1;
    assert_int_equal(traps, 0);
    uint64_t value = words[1];
    (void)value;
    assert_int_equal(traps, 1);
    as_watch_counts(watch, &counts);
    assert_int_equal(counts.filtered, 1);
    assert_int_equal(counts.delivered, 1);
}

static void lengths_are_exact(void **state)
{
    need_watch();
    volatile uint8_t *bytes = (volatile uint8_t *)&words[2];
    for (uint8_t length = 1; length <= 8; length *= 2) {
        struct as_watch_ref ref = arm(bytes + 8, length, AS_WATCH_STORE);
        traps = 0;
        for (int i = 0; i < 24; i++)
            bytes[i] = 1;
        assert_int_equal(traps, length);
        assert_int_equal(as_watch_disarm(watch, &ref), AS_WATCH_OK);
    }
}

static void bad_requests_are_refused(void **state)
{
    need_watch();
    struct as_watch_ref ref;
    const struct as_watch_request bad[] = {
        {.address = (uintptr_t)words + 1, .length = 8, .access = AS_WATCH_STORE},
        {.address = (uintptr_t)words, .length = 3, .access = AS_WATCH_STORE},
        {.address = (uintptr_t)words, .length = 16, .access = AS_WATCH_STORE},
        {.address = (uintptr_t)words, .length = 8, .access = 0},
        {.address = UINT64_C(0xffffffff81000000), .length = 8, .access = AS_WATCH_STORE},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(as_watch_arm(watch, self(), &bad[i], &ref), AS_WATCH_REFUSED);
    assert_int_equal(as_watch_free_slots(watch, self()), AS_WATCH_SLOTS);
    assert_int_equal(as_watch_arm(watch, 1, &bad[0], &ref), AS_WATCH_REFUSED);
    struct as_watch_request good = {.address = (uintptr_t)words, .length = 8, .access = AS_WATCH_STORE};
    assert_int_equal(as_watch_arm(watch, 1, &good, &ref), AS_WATCH_GONE); /* not a thread of ours */
    arm(words, 8, AS_WATCH_STORE);
    words[0] = 1;
    assert_int_equal(traps, 1);
}

static void four_slots_then_full(void **state)
{
    need_watch();
    struct as_watch_ref refs[AS_WATCH_SLOTS], more;
    for (int i = 0; i < AS_WATCH_SLOTS; i++)
        refs[i] = arm(&words[i], 8, AS_WATCH_STORE);
    struct as_watch_request request = {.address = (uintptr_t)&words[5], .length = 8, .access = AS_WATCH_STORE};
    assert_int_equal(as_watch_arm(watch, self(), &request, &more), AS_WATCH_FULL);
    for (int i = 0; i < 6; i++)
        words[i] = 1;
    assert_int_equal(traps, 4);
    assert_int_equal(as_watch_move(watch, &refs[2], &request), AS_WATCH_OK);
    for (int i = 0; i < 6; i++)
        words[i] = 1;
    assert_int_equal(traps, 8);
    assert_int_equal(last.address, (uintptr_t)&words[5]);
    assert_int_equal(last.ref.generation, refs[2].generation);
}

/* One SIGTRAP comes for both; both are delivered. */
static void one_instruction_hits_two(void **state)
{
    need_watch();
    arm(&words[2], 8, AS_WATCH_STORE);
    arm(&words[3], 8, AS_WATCH_STORE);
    __asm__ volatile("pxor %%xmm0, %%xmm0; movdqa %%xmm0, (%0)" : : "r"(&words[2]) : "xmm0", "memory");
    assert_int_equal(traps, 2);
}

static void once_fires_once(void **state)
{
    need_watch();
    struct as_watch_ref ref;
    struct as_watch_request request = {
        .address = (uintptr_t)&words[1], .length = 8, .access = AS_WATCH_STORE, .once = true};
    for (int i = 0; i < 10; i++) {
        assert_int_equal(as_watch_arm(watch, self(), &request, &ref), AS_WATCH_OK);
        words[1] = 1;
        words[1] = 2;
        assert_int_equal(traps, i + 1);
        assert_int_equal(as_watch_disarm(watch, &ref), AS_WATCH_STALE);
    }
}

static void move_on_trap(void *context, const struct as_watch_trap *trap)
{
    struct as_watch_ref ref = trap->ref;
    struct as_watch_request request = {
        .address = trap->address + 8, .length = 8, .access = AS_WATCH_STORE, .data = trap->data + 1};
    traps++;
    if (trap->data < 49)
        assert_int_equal(as_watch_move(watch, &ref, &request), AS_WATCH_OK);
    else
        assert_int_equal(as_watch_disarm(watch, &ref), AS_WATCH_OK);
}

static void handler_may_move_its_own(void **state)
{
    need_watch();
    tear_down(state);
    struct as_error err = AS_ERROR_INIT;
    struct as_watch_options options = {.on_trap = move_on_trap};
    watch = as_watch_new(&options, &err);
    assert_non_null(watch);
    arm(&words[0], 8, AS_WATCH_STORE);
    traps = 0;
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 8; i++)
            words[i] = 1;
    assert_int_equal(traps, 8);
    struct as_watch_counts counts;
    as_watch_counts(watch, &counts);
    assert_int_equal(counts.armed, 1);
    assert_int_equal(counts.moved, 7);
    assert_int_equal(counts.disarmed, 1);
    assert_int_equal(counts.delivered, 8);
}

static _Thread_local volatile uint64_t of_the_thread;

/* The operand of a variable of the thread has a segment, whose address the kernel tells. */
static void finds_variables_of_the_thread(void **state)
{
    need_watch();
    arm(&of_the_thread, 8, AS_WATCH_STORE);
    of_the_thread = 7;
    assert_int_equal(traps, 1);
    assert_int_equal(last.cause.how, AS_CAUSE_VERIFIED);
    assert_int_equal(last.cause.address, (uintptr_t)&of_the_thread);
    assert_int_equal(last.cause.size, 8);
}

/* Blocked at the time of the access: it comes late, and says so. */
static void blocked_signals_come_late(void **state)
{
    need_watch();
    sigset_t set, old;
    sigfillset(&set);
    arm(&words[1], 8, AS_WATCH_STORE);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    words[1] = 1;
    words[1] = 2;
    words[1] = 3;
    assert_int_equal(traps, 0);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    assert_int_equal(traps, 1);
    assert_int_equal(last.hits, 3);
    assert_false(last.exact);
}

static void *enter_and_store(void *argument)
{
    pthread_barrier_t *barrier = argument;
    assert_int_equal(as_watch_thread_enter(watch), AS_WATCH_OK);
    other_thread = self();
    pthread_barrier_wait(barrier);
    pthread_barrier_wait(barrier);
    words[1] = 1;
    pthread_barrier_wait(barrier);
    as_watch_thread_leave(watch);
    return NULL;
}

static void arms_other_threads(void **state)
{
    need_watch();
    pthread_t thread;
    pthread_barrier_t barrier;
    struct as_watch_ref ref;
    struct as_watch_request request = {.address = (uintptr_t)&words[1], .length = 8, .access = AS_WATCH_STORE};
    pthread_barrier_init(&barrier, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, enter_and_store, &barrier), 0);
    pthread_barrier_wait(&barrier);
    pid_t other = other_thread;
    assert_int_equal(as_watch_arm(watch, other, &request, &ref), AS_WATCH_OK);
    words[1] = 9; /* not watched in this thread */
    assert_int_equal(traps, 0);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    assert_int_equal(traps, 1);
    pthread_join(thread, NULL);
    assert_int_equal(as_watch_disarm(watch, &ref), AS_WATCH_STALE);
    assert_int_equal(as_watch_arm(watch, other, &request, &ref), AS_WATCH_GONE);
    pthread_barrier_destroy(&barrier);
}

static void *tell_and_end(void *argument)
{
    *(pid_t *)argument = self();
    return NULL;
}

static void *tell_and_wait(void *argument)
{
    *(volatile pid_t *)argument = self();
    while (words[6] == 0)
        sched_yield();
    return NULL;
}

/* Starts a thread that waits for words[6]. Returns its number. */
static pid_t start_waiting(pthread_t *thread)
{
    volatile pid_t tid = 0;
    words[6] = 0;
    assert_int_equal(pthread_create(thread, NULL, tell_and_wait, (void *)&tid), 0);
    while (!tid)
        sched_yield();
    return tid;
}

static enum as_watch_result arm_thread(pid_t tid, struct as_watch_ref *ref)
{
    struct as_watch_request request = {.address = (uintptr_t)&words[1], .length = 8, .access = AS_WATCH_STORE};
    return as_watch_arm(watch, tid, &request, ref);
}

/* … and arms a watchpoint on it. */
static pid_t start_armed(pthread_t *thread, struct as_watch_ref *ref)
{
    pid_t tid = start_waiting(thread);
    assert_int_equal(arm_thread(tid, ref), AS_WATCH_OK);
    return tid;
}

static void join_and_wait(pthread_t thread, pid_t tid)
{
    words[6] = 1;
    pthread_join(thread, NULL);
    while (syscall(SYS_tgkill, getpid(), tid, 0) == 0)
        sched_yield();
}

/* A thread that never entered and ends armed. */
/* What names no thread of the table, or no slot, names nothing that is armed; a move that is refused leaves it armed. */
static void unknown_refs_are_stale(void **state)
{
    need_watch();
    struct as_watch_ref ref = arm(&words[1], 8, AS_WATCH_STORE), wrong = ref;
    wrong.thread = UINT32_MAX;
    assert_int_equal(as_watch_disarm(watch, &wrong), AS_WATCH_STALE);
    wrong = ref;
    wrong.slot = AS_WATCH_SLOTS;
    assert_int_equal(as_watch_disarm(watch, &wrong), AS_WATCH_STALE);
    struct as_watch_request crooked = {.address = (uintptr_t)&words[2] + 1, .length = 8, .access = AS_WATCH_STORE};
    assert_int_equal(as_watch_move(watch, &ref, &crooked), AS_WATCH_REFUSED);
    assert_int_equal(as_watch_errno(watch), EINVAL);
    words[1] = 1;
    assert_int_equal(traps, 1);
    assert_int_equal(as_watch_disarm(watch, &ref), AS_WATCH_OK);
}

static void ended_threads_are_swept(void **state)
{
    need_watch();
    pthread_t thread;
    struct as_watch_ref ref;
    volatile pid_t tid = start_armed(&thread, &ref);
    assert_int_equal(as_watch_sweep(watch), 0);
    join_and_wait(thread, tid);
    assert_int_equal(as_watch_sweep(watch), 1);
    assert_int_equal(as_watch_disarm(watch, &ref), AS_WATCH_STALE);
    assert_int_equal(pthread_create(&thread, NULL, tell_and_end, (void *)&tid), 0);
    pthread_join(thread, NULL);
}

/* Room for two threads whose numbers lead to the same place of the table (two of three do): both are found again, and a third has no
 * room. */
static void small_table(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_watch_options options = {.max_threads = 2, .on_trap = remember};
    struct as_watch_ref ref;
    pthread_t threads[3];
    pid_t tids[3];
    watch = unit_no_watchpoints() ? NULL : as_watch_new(&options, &err);
    need_watch();
    for (size_t i = 0; i < 3; i++)
        tids[i] = start_waiting(&threads[i]);
    size_t a = (tids[0] - tids[1]) % 2 && (tids[0] - tids[2]) % 2 ? 1 : 0;
    size_t b = (tids[a] - tids[a + 1]) % 2 ? 2 : a + 1;
    assert_int_equal(arm_thread(tids[a], &ref), AS_WATCH_OK);
    assert_int_equal(arm_thread(tids[b], &ref), AS_WATCH_OK);
    assert_int_equal(arm_thread(tids[3 - a - b], &ref), AS_WATCH_FULL);
    assert_int_equal(arm_thread(tids[b], &ref), AS_WATCH_OK);
    assert_int_equal(as_watch_free_slots(watch, tids[a]), AS_WATCH_SLOTS - 1);
    assert_int_equal(as_watch_free_slots(watch, tids[b]), AS_WATCH_SLOTS - 2);
    for (size_t i = 0; i < 3; i++)
        join_and_wait(threads[i], tids[i]);
    assert_int_equal(as_watch_sweep(watch), 2);
}

static void too_large_a_table(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_watch_options options = {.max_threads = 65537, .on_trap = remember};
    assert_null(as_watch_new(&options, &err));
    assert_string_equal(err.message, "watchpoints for 65537 threads were asked for; the most is 65536");
}

/* A thread that still runs, armed, when the watch ends: it goes on as if nothing had been. */
static void living_threads_are_left_alone(void **state)
{
    need_watch();
    pthread_t thread;
    struct as_watch_ref ref;
    pid_t tid = start_armed(&thread, &ref);
    tear_down(state);
    assert_int_equal(syscall(SYS_tgkill, getpid(), tid, 0), 0);
    words[6] = 1;
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void child_after_fork_is_free(void **state)
{
    need_watch();
    struct as_watch_ref before = arm(&words[1], 8, AS_WATCH_STORE);
    pid_t child = fork();
    if (child == 0) {
        (void)atomic_flag_test_and_set(&watch->changing); /* a thread that is not in the child was adding another */
        as_watch_after_fork(watch);
        words[1] = 1;
        bool quiet = traps == 0 && as_watch_free_slots(watch, self()) == AS_WATCH_SLOTS &&
                     as_watch_disarm(watch, &before) == AS_WATCH_STALE;
        struct as_watch_request request = {.address = (uintptr_t)&words[1], .length = 8, .access = AS_WATCH_STORE};
        struct as_watch_ref ref;
        bool armed = as_watch_arm(watch, self(), &request, &ref) == AS_WATCH_OK;
        words[1] = 2;
        _exit(quiet && armed && traps == 1 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    words[1] = 3; /* the parent's is untouched */
    assert_int_equal(traps, 1);
}

static volatile sig_atomic_t breakpoints;
static void on_breakpoint(int number)
{
    breakpoints++;
}

static void programs_own_traps_are_passed_on(void **state)
{
    need_watch();
    if (as_watch_signal(watch) != SIGTRAP)
        unit_skip("the kernel has no sigtrap events");
    tear_down(state);
    struct sigaction mine = {.sa_handler = on_breakpoint}, old;
    sigaction(SIGTRAP, &mine, &old);
    start(0);
    __asm__ volatile("int3");
    assert_int_equal(breakpoints, 1);
    arm(&words[1], 8, AS_WATCH_STORE);
    words[1] = 1;
    assert_int_equal(traps, 1);
    assert_int_equal(breakpoints, 1);
    tear_down(state);
    __asm__ volatile("int3");
    assert_int_equal(breakpoints, 2);
    sigaction(SIGTRAP, &old, NULL);
}

/* What the program leaves to the kernel, or ignores, stays so. */
static void traps_without_a_handler(void **state)
{
    need_watch();
    if (as_watch_signal(watch) != SIGTRAP)
        unit_skip("the kernel has no sigtrap events");
    tear_down(state);
    for (int ignored = 0; ignored <= 1; ignored++) {
        pid_t child = fork();
        if (child == 0) {
            setrlimit(RLIMIT_CORE, &(struct rlimit){0});
            signal(SIGTRAP, ignored ? SIG_IGN : SIG_DFL);
            start(0);
            raise(SIGTRAP);
            _exit(7);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (ignored)
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
        else
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP);
    }
}

static void second_watch_is_refused(void **state)
{
    need_watch();
    struct as_error err = AS_ERROR_INIT;
    struct as_watch_options options = {.on_trap = remember};
    assert_null(as_watch_new(&options, &err));
    assert_non_null(strstr(err.message, "set of watchpoints"));
}

#define WITH(set, name)                                                                                                \
    {                                                                                                                  \
#name " (" #set ")", name, set, tear_down, NULL                                                                \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH(set_up, store_traps_once_each),
        WITH(set_up_descriptor, store_traps_once_each),
        WITH(set_up, finds_the_instruction),
        WITH(set_up, knows_overwritten_addresses),
        WITH(set_up, finds_repeated_strings),
        WITH(set_up, finds_calls_on_the_stack),
        WITH(set_up, loads_alone_are_filtered),
        WITH(set_up, lengths_are_exact),
        WITH(set_up, bad_requests_are_refused),
        WITH(set_up, four_slots_then_full),
        WITH(set_up_descriptor, four_slots_then_full),
        WITH(set_up, one_instruction_hits_two),
        WITH(set_up_descriptor, one_instruction_hits_two),
        WITH(set_up, once_fires_once),
        WITH(set_up, handler_may_move_its_own),
        WITH(set_up, finds_variables_of_the_thread),
        WITH(set_up, blocked_signals_come_late),
        WITH(set_up, arms_other_threads),
        WITH(set_up_descriptor, arms_other_threads),
        WITH(set_up, unknown_refs_are_stale),
        WITH(set_up, ended_threads_are_swept),
        {"small_table", small_table, NULL, tear_down, NULL},
        {"too_large_a_table", too_large_a_table, NULL, NULL, NULL},
        WITH(set_up, living_threads_are_left_alone),
        WITH(set_up, child_after_fork_is_free),
        WITH(set_up, programs_own_traps_are_passed_on),
        WITH(set_up, traps_without_a_handler),
        WITH(set_up, second_watch_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
