/* What system calls tell of threads: which make one and where its end is stored, which come back at once, and which did not wait
 * after all. Numbers are the kernel's (asm/unistd.h of either architecture). */
#include "engine/brief_calls.h"
#include "engine/thread_exits.h"

#include "unit.h"

#include <sched.h>
#include <signal.h>

static const enum as_arch X86 = AS_ARCH_X86_64, RV = AS_ARCH_RISCV64;
enum { X86_CLONE = 56, X86_EXIT = 60, X86_FUTEX = 202, RV_CLONE = 220, RV_EXIT = 93, RV_FUTEX = 98 };
enum { THREAD_FLAGS = CLONE_VM | CLONE_FS | CLONE_THREAD | CLONE_CHILD_CLEARTID };

/* The fourth argument on x86-64, the fifth on RISC-V; of clone alone, and of one that shares memory and wants its end told. */
static void word_of_clone(void **state)
{
    const uint64_t args[6] = {THREAD_FLAGS, 0x1000, 0x2000, 0x3000, 0x4000, 0x5000};
    const uint64_t forks[6] = {CLONE_CHILD_CLEARTID | SIGCHLD, 0x1000, 0x2000, 0x3000, 0x4000};
    const uint64_t untold[6] = {CLONE_VM | CLONE_THREAD, 0x1000, 0x2000, 0x3000, 0x4000};
    assert_int_equal(as_exits_word_of(X86, X86_CLONE, args), 0x3000);
    assert_int_equal(as_exits_word_of(RV, RV_CLONE, args), 0x4000);
    assert_int_equal(as_exits_word_of(X86, RV_CLONE, args), 0);
    assert_int_equal(as_exits_word_of(RV, X86_CLONE, args), 0);
    assert_int_equal(as_exits_word_of(X86, X86_CLONE, forks), 0);
    assert_int_equal(as_exits_word_of(X86, X86_CLONE, untold), 0);
    assert_true(as_exits_is_exit(X86, X86_EXIT) && as_exits_is_exit(RV, RV_EXIT));
    assert_false(as_exits_is_exit(X86, RV_EXIT) || as_exits_is_exit(RV, X86_EXIT));
}

/* Threads of one number in two processes are two; what was taken is forgotten. */
static void words_of_threads(void **state)
{
    struct as_thread_exits exits = {0};
    struct as_thread first = {.process = 1, .tid = 70}, second = {.process = 2, .tid = 70},
                     other = {.process = 1, .tid = 71};
    as_exits_add(&exits, 1, 70, 0x3000);
    as_exits_add(&exits, 2, 70, 0x4000);
    assert_int_equal(as_exits_take(&exits, &other), 0);
    assert_int_equal(as_exits_take(&exits, &second), 0x4000);
    assert_int_equal(as_exits_take(&exits, &second), 0);
    assert_int_equal(as_exits_take(&exits, &first), 0x3000);
    as_exits_add(&exits, 1, 70, 0x5000);
    as_exits_add(&exits, 1, 70, 0x6000); /* the number came again */
    assert_int_equal(as_exits_take(&exits, &first), 0x6000);
    as_exits_free(&exits);
}

/* A futex that wakes comes back at once, one that waits does not: unless its value was another. */
static void futexes(void **state)
{
    static const struct {
        uint64_t call;
        bool brief;
    } calls[] = {{FUTEX_WAKE, true},         {FUTEX_WAKE_PRIVATE, true},
                 {FUTEX_WAKE_BITSET, true},  {FUTEX_WAKE_OP, true},
                 {FUTEX_WAIT, false},        {FUTEX_WAIT_PRIVATE, false},
                 {FUTEX_WAIT_BITSET, false}, {FUTEX_WAKE | FUTEX_CLOCK_REALTIME, true},
                 {FUTEX_LOCK_PI, false}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const uint64_t args[6] = {0x1000, calls[i].call};
        assert_int_equal(as_call_is_brief(X86, X86_FUTEX, args), calls[i].brief);
        assert_int_equal(as_call_is_brief(RV, RV_FUTEX, args), calls[i].brief);
    }
    assert_true(as_call_did_not_wait(X86, X86_FUTEX, -EAGAIN) && as_call_did_not_wait(RV, RV_FUTEX, -EAGAIN));
    assert_false(as_call_did_not_wait(X86, X86_FUTEX, 0) || as_call_did_not_wait(X86, RV_FUTEX, -EAGAIN));
}

/* Memory, signals, clocks and clone are brief; files, sleeping, waiting for children and the end are not. */
static void other_calls(void **state)
{
    static const uint32_t x86_brief[] = {9, 11, 12, 13, 14, 24, 39, 56, 186, 228, 318, 334},
                          x86_long[] = {0, 1, 7, 34, 35, 60, 61, 230, 231},
                          rv_brief[] = {96, 113, 124, 134, 135, 172, 178, 214, 215, 220, 222, 278},
                          rv_long[] = {57, 63, 64, 73, 93, 94, 101, 115, 260};
    const uint64_t args[6] = {0};
    for (size_t i = 0; i < 12; i++)
        assert_true(as_call_is_brief(X86, x86_brief[i], args) && as_call_is_brief(RV, rv_brief[i], args));
    for (size_t i = 0; i < 9; i++)
        assert_false(as_call_is_brief(X86, x86_long[i], args) || as_call_is_brief(RV, rv_long[i], args));
    assert_true(as_call_makes_thread(X86, X86_CLONE) && as_call_makes_thread(RV, RV_CLONE));
    assert_false(as_call_makes_thread(X86, X86_EXIT) || as_call_makes_thread(RV, RV_EXIT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(word_of_clone),
        cmocka_unit_test(words_of_threads),
        cmocka_unit_test(futexes),
        cmocka_unit_test(other_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
