/* Budgets of threads (pace.h), by where the threads are. */
#include "reader_fixture.h"

static uint64_t clock_of(void *context, const struct as_thread *thread)
{
    return 1000;
}

static int set_up(void **state)
{
    set_up_reader(state);
    reader_sink.clock = clock_of;
    reader.gear.state = AS_GEAR_RECORD;
    child.wire->quantum = options.quantum;
    as_pace_init(&reader);
    return 0;
}

/* A child that has to stop before its first block, while its parent waits for it in a system call: nobody else can let it go. */
static void test_only_thread_begins(void **state)
{
    const struct as_wire_lane *parent = add_thread(1, 1), *begins = add_thread(2, 2);
    atomic_store(&child.wire->lanes[0].activity, AS_WIRE_IN_SYSCALL);
    uint32_t rung = atomic_load(&child.wire->gate);
    assert_true(as_pace_turn(&reader, true));
    assert_true(atomic_load(&begins->stop_at) > 0);
    assert_int_equal(atomic_load(&child.wire->gate), rung + 1);
    assert_true(atomic_load(&parent->stop_at) > 0); /* it comes back some time */
    assert_false(as_pace_turn(&reader, true));      /* it need not be told twice */
}

/* Two that run: neither gets more than takes it a quantum beyond the other. */
static void test_two_threads(void **state)
{
    const struct as_wire_lane *one = add_thread(1, 1), *other = add_thread(2, 1);
    assert_true(as_pace_turn(&reader, true));
    assert_int_equal(atomic_load(&one->stop_at), options.quantum);
    assert_int_equal(atomic_load(&other->stop_at), options.quantum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_only_thread_begins, set_up, tear_down_reader),
        cmocka_unit_test_setup_teardown(test_two_threads, set_up, tear_down_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
