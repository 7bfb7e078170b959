/* Numbers for call paths, and which events a machine can raise. */
#include "model/machine_events.h"
#include "model/paths.h"
#include "observe/events.h"

#include "unit.h"

static void test_numbers(void **state)
{
    struct as_paths paths = {0};
    struct as_path_book *first = as_paths_book(&paths, 1, 0), *second = as_paths_book(&paths, 2, 0);
    assert_ptr_equal(as_paths_book(&paths, 1, 0), first);
    assert_ptr_not_equal(first, second);
    assert_int_equal(as_paths_number(&paths, first, 5), 1);
    assert_int_equal(as_paths_number(&paths, second, 5), 2);
    assert_int_equal(as_paths_number(&paths, first, 0), 3);
    assert_int_equal(as_paths_number(&paths, first, 5), 1);
    assert_int_equal(paths.keys.len, 3);
    assert_int_equal(paths.keys.data[1].thread, 2);
    assert_int_equal(paths.keys.data[1].node, 5);
    struct as_path_book *other = as_paths_book(&paths, 1, 7);
    assert_ptr_not_equal(other, first);
    assert_ptr_equal(as_paths_book(&paths, 1, 7), other);
    assert_int_equal(as_paths_number(&paths, other, 5), 4);
    assert_true(paths.keys.data[3].tree == 7 && paths.keys.data[3].thread == 1 && paths.keys.data[0].tree == 0);
    as_paths_free(&paths);
}

/* Threads beyond the limit share their numbers, the last one within it does not. */
static void test_many_threads(void **state)
{
    struct as_paths paths = {0};
    struct as_path_book *last = as_paths_book(&paths, AS_PATHS_THREADS, 0);
    struct as_path_book *shared = as_paths_book(&paths, AS_PATHS_THREADS + 1, 0);
    assert_int_equal(last->thread, AS_PATHS_THREADS);
    assert_int_equal(shared->thread, AS_PATHS_SHARED);
    assert_ptr_equal(as_paths_book(&paths, 1000000, 0), shared);
    assert_ptr_not_equal(as_paths_book(&paths, 1000000, 1), shared); /* another tree */
    as_paths_free(&paths);
}

/* When there are no numbers left, new paths are unknown and old ones keep theirs. */
static void test_full(void **state)
{
    struct as_paths paths = {0};
    struct as_path_book *book = as_paths_book(&paths, 1, 0);
    for (uint32_t node = 0; node < AS_PATHS_MAX; node++)
        if (as_paths_number(&paths, book, node) != node + 1)
            fail_msg("node %u has another number", node);
    assert_int_equal(as_paths_number(&paths, book, AS_PATHS_MAX), 0);
    assert_int_equal(as_paths_number(&paths, book, 7), 8);
    as_paths_free(&paths);
}

static void check_event(struct as_machine *machine, uint32_t event, bool possible)
{
    assert_int_equal((as_machine_events(machine) & event) != 0, possible);
}

static void test_machine_events(void **state)
{
    struct as_machine machine = {0};
    check_event(&machine, AS_EVENT_L2_HIT | AS_EVENT_FL_MO | AS_EVENT_BANK | AS_EVENT_DIVIDE, false);
    machine.memory.l2.size = 1 << 20;
    check_event(&machine, AS_EVENT_L2_HIT, true);
    machine.back.memory_speculation = true;
    check_event(&machine, AS_EVENT_FL_MO, true);
    machine.memory.l1d.banks = 8;
    check_event(&machine, AS_EVENT_BANK, true);
    machine.units[0].interval = 1;
    check_event(&machine, AS_EVENT_DIVIDE, false);
    machine.units[AS_UNIT_COUNT - 1].interval = 2;
    check_event(&machine, AS_EVENT_DIVIDE, true);
    check_event(&machine, AS_EVENTS_TEA, true);
    check_event(&machine, AS_EVENT_COHERENCE, false);
    machine.coherence.protocol = AS_PROTOCOL_MESI;
    check_event(&machine, AS_EVENT_COHERENCE, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers), cmocka_unit_test(test_many_threads),
                                       cmocka_unit_test(test_full), cmocka_unit_test(test_machine_events)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
