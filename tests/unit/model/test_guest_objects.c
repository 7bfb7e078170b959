/* What lies at an address, by name: blocks, stacks, regions, shared memory; in which order they are asked. */
#include "model/guest_objects.h"

#include "own_space.h"
#include "unit.h"

static void check(const struct as_guest_lookup *lookup, uint64_t address, enum as_guest_kind kind, const char *name,
                  uint64_t start, uint64_t end)
{
    struct as_guest_object object;
    as_guest_object_find(&object, lookup, NULL, 1, address);
    assert_string_equal(as_guest_kinds[object.kind], as_guest_kinds[kind]);
    assert_string_equal(object.name, name);
    assert_string_equal(object.module, "");
    assert_true(object.start == start && object.end == end && object.process == 1);
    as_guest_object_free(&object);
}

static void on_the_machine(void **state)
{
    const struct as_guest_region regions[] = {{.process = 1, .start = 0x1000, .end = 0x9000, .is_heap = true},
                                              {.process = 1, .start = 0x20000, .end = 0x21000},
                                              {.process = 1, .start = 0x30000, .end = 0x31000, .shared = "/dev/shm/q"},
                                              {.process = 2, .start = 0x40000, .end = 0x41000}};
    const struct as_guest_stack stacks[] = {{.thread = 3, .process = 2, .start = 0x20000, .end = 0x21000},
                                            {.thread = 4, .process = 1, .start = 0x20800, .end = 0x20900}};
    struct as_guest_memory *blocks = as_guest_memory_new();
    struct as_guest_lookup lookup = {
        .blocks = blocks, .regions = regions, .n_regions = 4, .stacks = stacks, .n_stacks = 2};
    as_guest_memory_add(blocks, &(struct as_guest_site){.process = 1, .frames = {0x42, 0x43}}, 0x2000, 16);
    as_guest_memory_add(blocks, &(struct as_guest_site){.process = 1, .frames = {0x44}}, 0x30000, 16);
    check(&lookup, 0x200f, AS_GUEST_BLOCKS, "blocks of 0x42 < 0x43", 0, 0);
    check(&lookup, 0x2010, AS_GUEST_HEAP, "heap", 0x1000, 0x9000);
    check(&lookup, 0x20000, AS_GUEST_MAPPING, "mapping at 0x20000", 0x20000, 0x21000);
    check(&lookup, 0x20800, AS_GUEST_STACK, "stack of thread 4", 0x20800, 0x20900);
    check(&lookup, 0x20900, AS_GUEST_MAPPING, "mapping at 0x20000", 0x20000, 0x21000);
    check(&lookup, 0x30008, AS_GUEST_SHARED, "/dev/shm/q", 0x30000, 0x31000); /* before blocks */
    check(&lookup, 0x40000, AS_GUEST_UNKNOWN, "unknown", 0, 0);
    as_guest_memory_free(blocks);
}

int guest_objects_variable[4];

/* Nothing is behind the call: an address that comes back from it is not in the function any more. */
static __attribute__((noinline, noreturn)) void last_words(void)
{
    abort();
}

/* Frames are addresses behind calls, and are named after the call. */
static void named_by_a_space(void **state)
{
    struct as_guest_memory *blocks = as_guest_memory_new();
    struct as_guest_lookup lookup = {.blocks = blocks};
    struct as_space *space = own_space();
    struct as_guest_object object;
    uint64_t start = (uint64_t)(uintptr_t)last_words, variable = (uint64_t)(uintptr_t)guest_objects_variable;
    as_guest_memory_add(blocks, &(struct as_guest_site){.process = 1, .frames = {start + 1}}, 0x2000, 16);
    as_guest_memory_add(blocks, &(struct as_guest_site){.process = 1, .frames = {start}}, 0x3000, 16);
    as_guest_object_find(&object, &lookup, space, 1, 0x2008);
    assert_non_null(strstr(object.name, "blocks of last_words at test_guest_objects.c:"));
    as_guest_object_free(&object);
    as_guest_object_find(&object, &lookup, space, 1, 0x3008);
    assert_null(strstr(object.name, "last_words"));
    as_guest_object_free(&object);
    as_guest_object_find(&object, &lookup, space, 1, variable + 7);
    assert_int_equal(object.kind, AS_GUEST_GLOBAL);
    assert_string_equal(object.name, "guest_objects_variable");
    assert_string_equal(object.module, "test_guest_objects");
    assert_true(object.start == variable && object.end == variable + sizeof guest_objects_variable);
    as_guest_object_free(&object);
    as_space_free(space);
    as_guest_memory_free(blocks);
}

static void keys(void **state)
{
    struct as_guest_object object = {.name = "a", .module = "m", .start = 0x10, .process = 2, .site = 5};
    char *key = as_guest_object_key(&object);
    assert_string_equal(key, "a m 10 2 5");
    free(key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(on_the_machine), cmocka_unit_test(named_by_a_space),
                                       cmocka_unit_test(keys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
