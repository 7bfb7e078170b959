/* Memory that processes share, from mappings made up by hand: one physical address for what is the same. */
#include "model/shared_memory.h"

#include "unit.h"

enum { PAGE = 4096 };

static void map(struct as_shared_memory *shared, uint32_t process, uint64_t start, uint64_t bytes, uint64_t object,
                uint64_t offset)
{
    struct as_thread thread = {.number = process, .process = process};
    struct as_mapping mapping = {.start = start, .bytes = bytes, .object = object, .offset = offset, .name = ""};
    as_shared_memory_sink.mapping(shared, &thread, &mapping);
}

static uint64_t physical(struct as_shared_memory *shared, uint32_t process, uint64_t address)
{
    return as_shared_physical(as_shared_memory_of(shared, process), address);
}

static void same_memory_has_one_address(void **state)
{
    struct as_shared_memory *shared = as_shared_memory_new();
    map(shared, 1, 0x10000, 2 * PAGE, 7, PAGE);
    map(shared, 2, 0x50000, 3 * PAGE, 7, 0);
    map(shared, 2, 0x90000, PAGE, 8, PAGE);
    uint64_t here = physical(shared, 1, 0x10008);
    assert_true(as_shared_is(here));
    assert_int_equal(physical(shared, 2, 0x51008), here);
    assert_int_not_equal(physical(shared, 2, 0x50008), here);
    assert_int_not_equal(physical(shared, 2, 0x90008), here); /* another object */
    assert_int_equal(physical(shared, 1, 0x12000), 0x12000);  /* behind it */
    assert_int_equal(physical(shared, 1, 0xffff), 0xffff);
    assert_int_equal(physical(shared, 3, 0x10008), 0x10008); /* a process that maps nothing */
    uint32_t process = 0;
    assert_true(as_shared_memory_home(shared, &process, &here));
    assert_true(process == 1 && here == 0x10008);
    uint64_t own = 0x12000;
    assert_false(as_shared_memory_home(shared, &process, &own));
    own = AS_SHARED_BIT | UINT64_C(1) << 46;
    assert_false(as_shared_memory_home(shared, &process, &own));
    as_shared_memory_free(shared);
}

static void unmapping_cuts_it(void **state)
{
    struct as_shared_memory *shared = as_shared_memory_new();
    map(shared, 1, 0x10000, 4 * PAGE, 7, 0);
    uint64_t last = physical(shared, 1, 0x13000);
    map(shared, 1, 0x11000, PAGE, 0, 0);
    assert_true(as_shared_is(physical(shared, 1, 0x10fff)));
    assert_int_equal(physical(shared, 1, 0x11000), 0x11000);
    assert_int_equal(physical(shared, 1, 0x13000), last);
    map(shared, 1, 0x13000, PAGE, 9, 0); /* something else over a part of it */
    assert_int_not_equal(physical(shared, 1, 0x13000), last);
    assert_true(as_shared_is(physical(shared, 1, 0x13000)));
    map(shared, 1, 0, 0x100000, 0, 0);
    assert_int_equal(as_shared_memory_of(shared, 1)->n, 0);
    assert_int_equal(physical(shared, 1, 0x10000), 0x10000);
    as_shared_memory_free(shared);
}

/* Objects above 1 GiB lie in pieces; what another program of the process maps is its own. */
static void large_objects_and_other_programs(void **state)
{
    struct as_shared_memory *shared = as_shared_memory_new();
    const uint64_t gib = UINT64_C(1) << 30;
    struct as_image first = {.number = 1}, second = {.number = 2};
    struct as_thread thread = {.number = 1, .process = 1, .image = &first};
    as_shared_memory_sink.thread_start(shared, &thread);
    map(shared, 1, 0x100000000, 3 * gib, 7, 0);
    map(shared, 2, 0x700000000, gib, 7, gib / 2);
    for (uint64_t at = 0; at < gib; at += gib / 8)
        assert_int_equal(physical(shared, 2, 0x700000000 + at), physical(shared, 1, 0x100000000 + gib / 2 + at));
    as_shared_memory_sink.thread_start(shared, &thread); /* a second thread of it */
    assert_true(as_shared_is(physical(shared, 1, 0x100000000)));
    thread.image = &second;
    as_shared_memory_sink.thread_start(shared, &thread);
    assert_int_equal(physical(shared, 1, 0x100000000), 0x100000000);
    map(shared, 1, AS_SHARED_BIT - PAGE, 2 * PAGE, 7, 0); /* what no program can have */
    assert_int_equal(as_shared_memory_of(shared, 1)->n, 0);
    as_shared_memory_free(shared);
}

/* A child has what its parent has, and nothing that another process of its number had. */
static void children_have_the_same(void **state)
{
    struct as_shared_memory *shared = as_shared_memory_new();
    map(shared, 1, 0x10000, PAGE, 7, 0);
    map(shared, 1, 0x50000, PAGE, 8, PAGE);
    map(shared, 2, 0x10000, PAGE, 9, 0);
    map(shared, 2, 0x90000, PAGE, 9, PAGE);
    as_shared_memory_fork(shared, 1, 2);
    assert_int_equal(as_shared_memory_of(shared, 2)->n, 2);
    assert_int_equal(physical(shared, 2, 0x10008), physical(shared, 1, 0x10008));
    assert_int_equal(physical(shared, 2, 0x50ff8), physical(shared, 1, 0x50ff8));
    assert_int_equal(physical(shared, 2, 0x90000), 0x90000);
    map(shared, 2, 0x10000, PAGE, 0, 0); /* what one of them unmaps, the other still has */
    assert_int_equal(physical(shared, 2, 0x10008), 0x10008);
    assert_true(as_shared_is(physical(shared, 1, 0x10008)));
    as_shared_memory_free(shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_memory_has_one_address),
        cmocka_unit_test(unmapping_cuts_it),
        cmocka_unit_test(large_objects_and_other_programs),
        cmocka_unit_test(children_have_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
