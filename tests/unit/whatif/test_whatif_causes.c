/* Causes of time as they are typed, where what is put apart lies, and what an experiment promises. */
#include "model/guest_memory.h"
#include "own_space.h"
#include "whatif/whatif.h"

#include "unit.h"

static void events_and_places(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_cause cause;
    assert_true(as_cause_parse("ST-L1+FL-MB@main+0x1c", &cause, &err));
    assert_int_equal(cause.events, AS_EVENT_ST_L1 | AS_EVENT_FL_MB);
    assert_string_equal(cause.place.function, "main");
    assert_int_equal(cause.place.offset, 0x1c);
    as_cause_free(&cause);
    assert_true(as_cause_parse("ST-L1", &cause, &err));
    assert_null(cause.place.text);
    as_cause_free(&cause);
    assert_false(as_cause_parse("@main", &cause, &err));
    assert_non_null(strstr(err.message, "does not name an event"));
    assert_false(as_cause_parse("ST-CO", &cause, &err));
    assert_non_null(strstr(err.message, "--separate"));
    assert_false(as_cause_parse("nonsense", &cause, &err));
    assert_non_null(strstr(err.message, "no event 'nonsense'"));
}

static void rules_of_the_heap(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_heap_rule rule = {0};
    assert_false(as_heap_is_rule("counters"));
    assert_true(as_heap_is_rule("heap:make"));
    assert_true(as_heap_parse("heap:make", &rule, &err));
    assert_string_equal(rule.function, "make");
    assert_int_equal(rule.part, 0);
    free(rule.function);
    assert_true(as_heap_parse("heap:make/24", &rule, &err));
    assert_int_equal(rule.part, 24);
    free(rule.function);
    assert_false(as_heap_parse("heap:", &rule, &err));
    assert_false(as_heap_parse("heap:make/0", &rule, &err));
    assert_false(as_heap_parse("heap:make/24x", &rule, &err));
    assert_false(as_heap_parse("heap:make/99999999", &rule, &err));
}

static void parts_of_a_variable(void **state)
{
    const struct as_apart apart = {.start = 0x1000, .size = 48, .part = 24, .to = 0x8000};
    assert_int_equal(as_apart_move(&apart, 0xfff), 0xfff);
    assert_int_equal(as_apart_move(&apart, 0x1000), 0x8000);
    assert_int_equal(as_apart_move(&apart, 0x1000 + 23), 0x8000 + 23);
    assert_int_equal(as_apart_move(&apart, 0x1000 + 24), 0x8000 + 64);
    assert_int_equal(as_apart_move(&apart, 0x1000 + 48), 0x1000 + 48);
    const struct as_apart large = {.start = 0x1000, .size = 200, .part = 100, .to = 0x8000};
    assert_int_equal(as_apart_move(&large, 0x1000 + 101), 0x8000 + 128 + 1);
}

/* The block of a call whose caller is this very function. */
static void allocate(struct as_heap *heap, struct as_thread *thread, uint64_t start, uint64_t size)
{
    uint64_t args[6] = {0, start, size, (uint64_t)(uintptr_t)allocate + 8, 0, 0};
    as_heap_sink.syscall(heap, thread, AS_GUEST_BLOCK_CALL, args);
}

static void blocks_of_the_heap(void **state)
{
    struct as_image image = {.space = own_space()};
    struct as_thread thread = {.process = 1, .image = &image};
    const struct as_heap_rule rule = {.function = "allocate", .part = 24}, other = {.function = "nobody"};
    struct as_heap heap = {0};
    as_heap_add_rule(&heap, &other);
    as_heap_add_rule(&heap, &rule);
    allocate(&heap, &thread, 0x10010, 72);
    assert_int_equal(heap.found.data[0], 0);
    assert_int_equal(heap.found.data[1], 1);
    uint64_t first = as_heap_move(&heap, 0x10010);
    assert_int_not_equal(first, 0x10010);
    assert_int_equal(as_heap_move(&heap, 0x10010 + 24), first + 64);
    assert_int_equal(as_heap_move(&heap, 0x10010 + 71), first + 128 + 23);
    assert_int_equal(as_heap_move(&heap, 0x10010 + 72), 0x10010 + 72);
    allocate(&heap, &thread, 0x20000, 8);
    assert_int_equal(as_heap_move(&heap, 0x20000), first + 3 * 64);
    thread.process = 2; /* a child's are not told apart */
    allocate(&heap, &thread, 0x30000, 8);
    assert_int_equal(as_heap_move(&heap, 0x30000), 0x30000);
    as_heap_free(&heap);
    as_space_free(image.space);
}

/* Blocks beside each other, the larger one behind; two rules for one function, of which the first holds and both are met. */
static void neighbours_on_the_heap(void **state)
{
    struct as_image image = {.space = own_space()};
    struct as_thread thread = {.process = 1, .image = &image};
    const struct as_heap_rule first = {.function = "allocate"}, second = {.function = "allocate", .part = 8};
    struct as_heap heap = {0};
    as_heap_add_rule(&heap, &first);
    as_heap_add_rule(&heap, &second);
    allocate(&heap, &thread, 0x20000, 8);
    allocate(&heap, &thread, 0x20010, 72);
    assert_true(heap.found.data[0] == 2 && heap.found.data[1] == 2);
    uint64_t small = as_heap_move(&heap, 0x20000), large = as_heap_move(&heap, 0x20010);
    assert_int_equal(large, small + 64);
    assert_int_equal(as_heap_move(&heap, 0x20010 + 71), large + 71);
    assert_int_equal(as_heap_move(&heap, 0x20010 + 72), 0x20010 + 72);
    as_heap_free(&heap);
    as_space_free(image.space);
}

static void lines_that_moved(void **state)
{
    struct as_moved moved = {0};
    as_moved_take(&moved, &(struct as_transfer){.line = 0x40, .offset = 8, .cycles = 10, .overlaps = true});
    as_moved_take(&moved, &(struct as_transfer){.line = 0x40, .offset = 8, .cycles = 5});
    as_moved_take(&moved, &(struct as_transfer){.line = 0x40, .offset = 16, .cycles = 1});
    assert_int_equal(moved.addresses.len, 2);
    assert_int_equal(moved.addresses.data[0].address, 0x48);
    assert_int_equal(moved.addresses.data[0].cycles, 15);
    assert_int_equal(moved.addresses.data[0].false_cycles, 5);
    as_moved_free(&moved);
}

static void promises_and_speed_ups(void **state)
{
    struct as_whatif whatif = {.as_is.result = {.cycles = 1000, .elapsed = 900}};
    struct as_experiment experiment = {.promised = 200, .result.elapsed = 600};
    assert_float_equal(as_experiment_promise(&whatif, &experiment), 1.25, 1e-9);
    assert_float_equal(as_experiment_speedup(&whatif, &experiment), 1.5, 1e-9);
    experiment.skipped = true;
    assert_float_equal(as_experiment_speedup(&whatif, &experiment), 1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_and_places),      cmocka_unit_test(rules_of_the_heap),
        cmocka_unit_test(parts_of_a_variable),    cmocka_unit_test(blocks_of_the_heap),
        cmocka_unit_test(neighbours_on_the_heap), cmocka_unit_test(lines_that_moved),
        cmocka_unit_test(promises_and_speed_ups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
