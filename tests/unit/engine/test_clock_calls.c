/* System calls that wait for the clock or read it, and what is said of them. */
#include "unit.h"

#include "engine/clock_calls.h"
#include "engine/engine.h"

#include <string.h>

static enum as_clock_call call(enum as_arch arch, uint32_t number, uint64_t third, uint64_t fourth, uint64_t fifth)
{
    return as_clock_call_of(arch, number, (const uint64_t[]){1, 1, third, fourth, fifth, 1});
}

static void calls_that_wait(void **state)
{
    assert_int_equal(call(AS_ARCH_X86_64, 35, 0, 0, 0), AS_CLOCK_WAIT);
    assert_int_equal(call(AS_ARCH_RISCV64, 115, 0, 0, 0), AS_CLOCK_WAIT);
    assert_int_equal(call(AS_ARCH_RISCV64, 35, 0, 0, 0), AS_CLOCK_NONE); /* x86-64's nanosleep */
    assert_int_equal(call(AS_ARCH_X86_64, 7, 10, 0, 0), AS_CLOCK_WAIT);
    assert_int_equal(call(AS_ARCH_X86_64, 7, 0, 1, 1), AS_CLOCK_NONE);          /* it returns at once */
    assert_int_equal(call(AS_ARCH_X86_64, 7, UINT32_MAX, 1, 1), AS_CLOCK_NONE); /* -1: for as long as it takes */
    assert_int_equal(call(AS_ARCH_X86_64, 23, 0, 0, 0x7ffe0000), AS_CLOCK_WAIT);
    assert_int_equal(call(AS_ARCH_X86_64, 23, 1, 1, 0), AS_CLOCK_NONE);
    assert_int_equal(call(AS_ARCH_X86_64, 232, 0, 5, 0), AS_CLOCK_WAIT);
    assert_int_equal(call(AS_ARCH_X86_64, 0, 5, 5, 5), AS_CLOCK_NONE); /* read */
}

static void calls_that_read(void **state)
{
    assert_int_equal(call(AS_ARCH_X86_64, 228, 0, 0, 0), AS_CLOCK_READ);
    assert_int_equal(call(AS_ARCH_RISCV64, 113, 0, 0, 0), AS_CLOCK_READ);
}

static void calls_that_set_timers(void **state)
{
    static const uint64_t none[6] = {0}, second[6] = {1}, pointers[6] = {0, 0x7ffe0000, 0x7ffe0000};
    assert_int_equal(as_clock_call_of(AS_ARCH_X86_64, 37, second), AS_CLOCK_TIMER);
    assert_int_equal(as_clock_call_of(AS_ARCH_X86_64, 37, none), AS_CLOCK_NONE); /* alarm(0) ends one */
    assert_int_equal(as_clock_call_of(AS_ARCH_X86_64, 38, pointers), AS_CLOCK_TIMER);
    assert_int_equal(as_clock_call_of(AS_ARCH_X86_64, 223, pointers), AS_CLOCK_TIMER);
    assert_int_equal(as_clock_call_of(AS_ARCH_X86_64, 286, pointers), AS_CLOCK_TIMER);
    assert_int_equal(as_clock_call_of(AS_ARCH_X86_64, 222, pointers), AS_CLOCK_NONE); /* timer_create: not set yet */
    assert_int_equal(as_clock_call_of(AS_ARCH_RISCV64, 103, pointers), AS_CLOCK_TIMER);
    assert_int_equal(as_clock_call_of(AS_ARCH_RISCV64, 110, none), AS_CLOCK_NONE);
}

static const char *timer_note(uint64_t waits, uint64_t readings)
{
    return as_engine_clock_note(&(struct as_engine_result){
        .executed = 1000, .clock_calls = {[AS_CLOCK_WAIT] = waits, [AS_CLOCK_READ] = readings, [AS_CLOCK_TIMER] = 1}});
}

static void notes_of_timers(void **state)
{
    assert_non_null(strstr(timer_note(0, 0), "the program sets timers"));
    assert_null(strstr(timer_note(0, 0), "sleeps"));
    assert_non_null(strstr(timer_note(1, 0), "not in the profile; the program sets timers"));
    assert_non_null(strstr(timer_note(1, 1000), "depends on this computer; the program reads the clock"));
}

static const char *note(uint64_t waits, uint64_t readings, uint64_t executed)
{
    return as_engine_clock_note(&(struct as_engine_result){
        .executed = executed, .clock_calls = {[AS_CLOCK_WAIT] = waits, [AS_CLOCK_READ] = readings}});
}

/* A program that times itself is not bound by the clock. */
static void notes(void **state)
{
    assert_null(note(0, 0, 1000));
    assert_null(note(0, 2, 1000));
    assert_null(note(0, 1000, 1000000000));
    assert_non_null(strstr(note(0, 1000, 300000), "reads the clock all the time"));
    assert_null(strstr(note(1, 2, 1000), "reads the clock"));
    assert_non_null(strstr(note(1, 2, 1000), "that waiting is not in the profile"));
    assert_non_null(strstr(note(1, 1000, 300000), "profile; the program reads the clock"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_that_wait), cmocka_unit_test(calls_that_read), cmocka_unit_test(calls_that_set_timers),
        cmocka_unit_test(notes),           cmocka_unit_test(notes_of_timers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
