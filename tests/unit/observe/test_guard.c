/* Guarded calls: a crash ends the call and is named, calls before and behind it work, other handlers stay in force for what is not
 * guarded, and code that sets handlers of its own has them until the guard looks again. */
#include "unit.h"

#include "observe/guard.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

static int *volatile nowhere = (int *)16;

static void work(void *argument)
{
    ++*(int *)argument;
}

static void touch_nothing(void *argument)
{
    *nowhere = 1;
}

static void give_up(void *argument)
{
    abort();
}

/* Until the stack is used up. */
static __attribute__((noinline)) int sink_deeper(volatile char *above)
{
    volatile char room[4096];
    room[0] = above[0];
    return above[0] == 1 ? 0 : sink_deeper(room) + room[0];
}

static void overflow(void *argument)
{
    volatile char top = 0;
    sink_deeper(&top);
}

static bool does_work(void)
{
    int done = 0;
    return !as_guard_call(work, &done) && done == 1;
}

static bool names(void (*call)(void *), const char *signal)
{
    const char *crash = as_guard_call(call, NULL);
    return crash && strcmp(crash, signal) == 0;
}

static void *crash_and_go_on(void *argument)
{
    bool right = !*(bool *)argument || as_guard_begin_thread();
    for (int i = 0; i < 2; i++)
        right = right && does_work() && names(touch_nothing, "SIGSEGV") && names(give_up, "SIGABRT") &&
                names(overflow, "SIGSEGV");
    right = right && does_work();
    as_guard_end_thread();
    return right ? argument : NULL;
}

static void end_if(bool right)
{
    _exit(right ? 0 : 1);
}

static void crashes(void *argument)
{
    pthread_t thread;
    void *right = NULL;
    end_if(pthread_create(&thread, NULL, crash_and_go_on, argument) == 0 && pthread_join(thread, &right) == 0 && right);
}

static void crashes_are_named(void **state)
{
    for (int keeps = 0; keeps < 2; keeps++) {
        bool argument = keeps;
        char text[1024];
        assert_int_equal(unit_run_child(crashes, &argument, text, sizeof text), 0);
    }
}

/* ---- other handlers ---- */

static void on_theirs(int signal)
{
    _exit(7);
}

static void set_theirs(void *argument)
{
    signal(SIGSEGV, on_theirs);
}

static bool is_theirs(void)
{
    struct sigaction now;
    return sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_handler == on_theirs;
}

/* A call sets a handler; every call takes it back, or the AS_GUARD_LOOKS-th where the thread has said that it calls often. */
static void take_back(void *argument)
{
    bool keeps = *(bool *)argument, right = !keeps || as_guard_begin_thread();
    right = right && !as_guard_call(set_theirs, NULL) && is_theirs();
    for (int i = 1; keeps && i < AS_GUARD_LOOKS; i++)
        right = right && does_work() && is_theirs();
    end_if(right && does_work() && !is_theirs() && names(touch_nothing, "SIGSEGV"));
}

static void handlers_are_taken_back(void **state)
{
    for (int keeps = 0; keeps < 2; keeps++) {
        bool argument = keeps;
        char text[1024];
        assert_int_equal(unit_run_child(take_back, &argument, text, sizeof text), 0);
    }
}

static void crash_outside(void *argument)
{
    signal(SIGSEGV, on_theirs);
    if (!does_work() || is_theirs())
        _exit(1);
    touch_nothing(NULL);
}

static void what_is_not_guarded_has_its_own_handler(void **state)
{
    char text[1024];
    int status = unit_run_child(crash_outside, NULL, text, sizeof text);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* ---- the thread's signal stack ---- */

static void stays_as_it_was(void *argument)
{
    static char own[64 * 1024];
    stack_t now, ours = {.ss_sp = own, .ss_size = sizeof own};
    bool right = sigaltstack(&ours, NULL) == 0 && does_work();
    right = right && sigaltstack(NULL, &now) == 0 && now.ss_sp == own;
    right = right && as_guard_begin_thread() && as_guard_begin_thread() && does_work() &&
            sigaltstack(NULL, &now) == 0 && now.ss_sp != own;
    as_guard_end_thread();
    end_if(right && sigaltstack(NULL, &now) == 0 && now.ss_sp == own);
}

/* Where there is no memory for one, the thread does without until there is. */
static void does_without(void *argument)
{
    struct rlimit usual, none = {0};
    bool right = getrlimit(RLIMIT_AS, &usual) == 0;
    none.rlim_max = usual.rlim_max;
    right = right && setrlimit(RLIMIT_AS, &none) == 0 && !as_guard_begin_thread() && does_work();
    end_if(setrlimit(RLIMIT_AS, &usual) == 0 && right && as_guard_begin_thread() && names(overflow, "SIGSEGV"));
}

static void signal_stacks(void **state)
{
    char text[1024];
    assert_int_equal(unit_run_child(stays_as_it_was, NULL, text, sizeof text), 0);
    assert_int_equal(unit_run_child(does_without, NULL, text, sizeof text), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crashes_are_named),
        cmocka_unit_test(handlers_are_taken_back),
        cmocka_unit_test(what_is_not_guarded_has_its_own_handler),
        cmocka_unit_test(signal_stacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
