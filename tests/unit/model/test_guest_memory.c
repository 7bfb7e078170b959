/* What memory a program has, from system calls made up by hand. */
#include "model/guest_memory.h"

#include "unit.h"

static void call(struct as_guest_memory *memory, struct as_thread *thread, uint32_t number, const uint64_t args[6],
                 int64_t result)
{
    as_guest_memory_sink.syscall(memory, thread, number, args);
    as_guest_memory_sink.syscall_return(memory, thread, number, result);
}

static void take(struct as_guest_memory *memory, struct as_thread *thread, uint64_t start, uint64_t bytes,
                 uint64_t from)
{
    call(memory, thread, AS_GUEST_BLOCK_CALL, (uint64_t[6]){0, start, bytes, from}, -38);
}

/* A block belongs to its site until another has its place; what the later one does not cover stays. */
static void the_last_block_counts(void **state)
{
    struct as_guest_memory *memory = as_guest_memory_new();
    struct as_thread thread = {.number = 1, .process = 1}, other = {.number = 2, .process = 2};
    size_t n;
    take(memory, &thread, 0x1000, 0x1000, 0x42);
    take(memory, &thread, 0x1800, 0x100, 0x43);
    take(memory, &thread, 0x3000, 16, 0x42);
    take(memory, &other, 0x1000, 16, 0x42);
    const struct as_guest_site *sites = as_guest_memory_sites(memory, &n);
    assert_int_equal(n, 3);
    assert_true(sites[0].frames[0] == 0x42 && sites[0].blocks == 2 && sites[0].bytes == 0x1010);
    assert_int_equal(as_guest_memory_site_at(memory, 1, 0x1000), 0);
    assert_int_equal(as_guest_memory_site_at(memory, 1, 0x17ff), 0);
    assert_int_equal(as_guest_memory_site_at(memory, 1, 0x1800), 1);
    assert_int_equal(as_guest_memory_site_at(memory, 1, 0x1900), 0);
    assert_int_equal(as_guest_memory_site_at(memory, 1, 0x2000), UINT32_MAX);
    assert_int_equal(as_guest_memory_site_at(memory, 1, 0x300f), 0);
    assert_int_equal(as_guest_memory_site_at(memory, 2, 0x1000), 2);
    assert_int_equal(as_guest_memory_site_at(memory, 2, 0x3000), UINT32_MAX);
    as_guest_memory_add(memory, &(struct as_guest_site){.process = 2, .frames = {0x44}}, 0x2ff0,
                        32); /* behind a look */
    const struct as_guest_block *block = as_guest_memory_block_at(memory, 2, 0x3000);
    assert_true(block && block->start == 0x2ff0 && block->end == 0x3010 && block->site == 3);
    assert_null(as_guest_memory_block_at(memory, 2, 0x3010));
    take(memory, &thread, UINT64_MAX - 15, 32, 0x45); /* no memory is there */
    assert_null(as_guest_memory_block_at(memory, 1, UINT64_MAX - 15));
    assert_null(as_guest_memory_block_at(memory, 1, 8));
    as_guest_memory_sites(memory, &n);
    assert_int_equal(n, 4);
    as_guest_memory_free(memory);
}

static void regions_and_stacks(void **state)
{
    enum { MAP = 9, BREAK = 12, ANONYMOUS = 0x22, STACK = 0x20022 };
    struct as_guest_memory *memory = as_guest_memory_new();
    struct as_thread thread = {.number = 1, .process = 1};
    uint64_t start, end;
    call(memory, &thread, BREAK, (uint64_t[6]){0}, 0x10000);
    call(memory, &thread, BREAK, (uint64_t[6]){0x20000}, 0x20000);
    call(memory, &thread, MAP, (uint64_t[6]){0, 0x4000, 3, ANONYMOUS}, 0x70000);
    call(memory, &thread, MAP, (uint64_t[6]){0, 0x4000, 3, ANONYMOUS}, -12);
    call(memory, &thread, MAP, (uint64_t[6]){0, 0x4000, 3, 2}, 0x90000); /* of a file */
    call(memory, &thread, MAP, (uint64_t[6]){0, 0x8000, 3, STACK}, 0x80000);
    assert_true(as_guest_memory_region(memory, 1, 0x1ffff)->is_heap);
    assert_int_equal(as_guest_memory_region(memory, 1, 0x73fff)->start, 0x70000);
    assert_null(as_guest_memory_region(memory, 1, 0x90000));
    assert_null(as_guest_memory_region(memory, 2, 0x70000));
    as_guest_memory_stack(memory, 1, 0x87f00, &start, &end);
    assert_true(start == 0x80000 && end == 0x88000);
    as_guest_memory_stack(memory, 1, 0x7ffffff123, &start, &end); /* the kernel's */
    assert_true(start < 0x7ffffff123 && end > 0x7ffffff123 && end - start > 1 << 20);
    as_guest_memory_stack(memory, 1, 0, &start, &end);
    assert_true(start == 0 && end == 0);
    as_guest_memory_free(memory);
}

/* A forked process has what its parent had then; what is shared has a name. */
static void children_have_their_parents_regions(void **state)
{
    struct as_guest_memory *memory = as_guest_memory_new();
    struct as_thread parent = {.number = 1, .process = 1}, child = {.number = 2, .process = 2, .parent = 1};
    struct as_mapping mapping = {.start = 0x50000, .bytes = 0x1000, .object = 9, .name = "/dev/zero (deleted)"};
    as_guest_memory_sink.thread_start(memory, &parent);
    call(memory, &parent, 9, (uint64_t[6]){0, 0x1000, 3, 0x22}, 0x10000);
    as_guest_memory_sink.mapping(memory, &parent, &mapping);
    as_guest_memory_sink.thread_start(memory, &child);
    call(memory, &parent, 9, (uint64_t[6]){0, 0x1000, 3, 0x22}, 0x30000);
    assert_non_null(as_guest_memory_region(memory, 2, 0x10800));
    assert_string_equal(as_guest_memory_region(memory, 2, 0x50000)->shared, "[shared]");
    assert_null(as_guest_memory_region(memory, 2, 0x30000));
    assert_non_null(as_guest_memory_region(memory, 1, 0x30000));
    mapping.start = 0x60000;
    mapping.name = "/dev/shm/queue (deleted)";
    as_guest_memory_sink.mapping(memory, &child, &mapping);
    assert_string_equal(as_guest_memory_region(memory, 2, 0x60000)->shared, "/dev/shm/queue");
    as_guest_memory_free(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_have_their_parents_regions),
        cmocka_unit_test(the_last_block_counts),
        cmocka_unit_test(regions_and_stacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
