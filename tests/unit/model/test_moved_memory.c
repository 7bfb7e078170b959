/* Memory that is moved and unmapped, from system calls made up by hand: names stay with pages, and new pages have new ones. */
#include "model/moved_memory.h"

#include "unit.h"

enum { PAGE = 4096, MAP = 9, UNMAP = 11, REMAP = 25, BREAK = 12, ADVISE = 28, MAY_MOVE = 1, STAYS_MAPPED = 4 };
enum { OF_FILE = 2, SHARED = 0x21, ANONYMOUS = 0x22, FIXED = 0x10, NOT_NEEDED = 4, WILL_NEED = 3 };

static struct as_image image = {.arch = AS_ARCH_X86_64}, other_image = {.arch = AS_ARCH_X86_64};

static void call(struct as_moved_memory *moved, uint32_t number, const uint64_t args[6], int64_t result)
{
    struct as_thread thread = {.number = 3, .process = 1, .image = &image};
    as_moved_memory_sink.syscall(moved, &thread, number, args);
    as_moved_memory_sink.syscall_return(moved, &thread, number, result);
}

static void map(struct as_moved_memory *moved, uint64_t start, uint64_t bytes)
{
    call(moved, MAP, (uint64_t[6]){0, bytes}, (int64_t)start);
}

static void unmap(struct as_moved_memory *moved, uint64_t start, uint64_t bytes)
{
    call(moved, UNMAP, (uint64_t[6]){start, bytes}, 0);
}

static void remap(struct as_moved_memory *moved, uint64_t from, uint64_t before, uint64_t after, uint64_t to)
{
    call(moved, REMAP, (uint64_t[6]){from, before, after, MAY_MOVE}, (int64_t)to);
}

static uint64_t name(struct as_moved_memory *moved, uint64_t address)
{
    return as_shared_physical(as_moved_memory_of(moved, 1), address);
}

static struct as_moved_memory *begin(void)
{
    struct as_moved_memory *moved = as_moved_memory_new();
    struct as_thread thread = {.number = 3, .process = 1, .image = &image};
    as_moved_memory_sink.thread_start(moved, &thread);
    return moved;
}

static void moved_pages_keep_their_names(void **state)
{
    struct as_moved_memory *moved = begin();
    map(moved, 0x10000, 2 * PAGE);
    remap(moved, 0x10000, 2 * PAGE, 3 * PAGE - 1, 0x50000);
    assert_int_equal(name(moved, 0x50008), 0x10008);
    assert_int_equal(name(moved, 0x51fff), 0x11fff);
    assert_int_equal(name(moved, 0x52000), 0x52000); /* what it grew by */
    remap(moved, 0x50000, 3 * PAGE, 3 * PAGE, 0x90000);
    assert_int_equal(name(moved, 0x91000), 0x11000);
    assert_int_equal(name(moved, 0x92010), 0x52010);
    assert_int_equal(as_moved_memory_home(moved, 1, 0x11008), 0x91008);
    assert_int_equal(as_moved_memory_home(moved, 1, 0x52010), 0x92010);
    remap(moved, 0x90000, 2 * PAGE, 2 * PAGE, 0x10000); /* back */
    assert_int_equal(name(moved, 0x10008), 0x10008);
    assert_int_equal(as_moved_memory_of(moved, 1)->n, 1); /* the third page is where it was */
    assert_int_equal(name(moved, 0x92010), 0x52010);
    as_moved_memory_free(moved);
}

static void new_pages_have_new_names(void **state)
{
    struct as_moved_memory *moved = begin();
    map(moved, 0x10000, 4 * PAGE);
    unmap(moved, 0x11000, PAGE);
    unmap(moved, 0x12000, PAGE);
    map(moved, 0x11000, 2 * PAGE);
    uint64_t first = name(moved, 0x11008), second = name(moved, 0x12008);
    assert_true(as_shared_is(first) && second == first + PAGE);
    assert_int_equal(name(moved, 0x10008), 0x10008);
    assert_int_equal(name(moved, 0x13008), 0x13008);
    assert_int_equal(as_moved_memory_home(moved, 1, first), 0x11008);
    map(moved, 0x11000, PAGE); /* over it */
    assert_true(as_shared_is(name(moved, 0x11008)) && name(moved, 0x11008) != first);
    unmap(moved, 0x12000, PAGE);
    assert_int_equal(as_moved_memory_home(moved, 1, second), 0x12008); /* where it was */
    as_moved_memory_free(moved);
}

/* Where moved memory was, new memory is other memory, although its name would be free otherwise. */
static void a_place_that_was_left(void **state)
{
    struct as_moved_memory *moved = begin();
    map(moved, 0x10000, PAGE);
    remap(moved, 0x10000, PAGE, PAGE, 0x50000);
    map(moved, 0x10000, PAGE);
    assert_int_equal(name(moved, 0x50000), 0x10000);
    assert_true(as_shared_is(name(moved, 0x10000)));
    call(moved, REMAP, (uint64_t[6]){0x50000, PAGE, PAGE, MAY_MOVE | STAYS_MAPPED}, 0x60000);
    assert_int_equal(name(moved, 0x60000), 0x10000);
    assert_true(as_shared_is(name(moved, 0x50000)));
    remap(moved, 0x60000, PAGE, 2 * PAGE, 0x60000); /* grows in its place */
    assert_int_equal(name(moved, 0x61000), 0x61000);
    remap(moved, 0x60000, 2 * PAGE, PAGE, 0x60000); /* shrinks, and what comes there is new */
    map(moved, 0x61000, PAGE);
    assert_true(as_shared_is(name(moved, 0x61000)));
    as_moved_memory_free(moved);
}

static void what_changes_nothing(void **state)
{
    struct as_moved_memory *moved = begin();
    map(moved, 0x10000, PAGE);
    call(moved, REMAP, (uint64_t[6]){0x10000, PAGE, PAGE, MAY_MOVE}, -12);
    call(moved, REMAP, (uint64_t[6]){0x10000, 0, PAGE, MAY_MOVE}, 0x50000); /* a second place for the same memory */
    call(moved, UNMAP, (uint64_t[6]){0x10000, UINT64_MAX}, 0);
    call(moved, UNMAP, (uint64_t[6]){UINT64_MAX - PAGE, PAGE}, 0);
    call(moved, REMAP, (uint64_t[6]){0x10000, PAGE, UINT64_MAX, MAY_MOVE}, 0x50000);
    assert_int_equal(as_moved_memory_of(moved, 1)->n, 0);
    assert_int_equal(as_moved_memory_home(moved, 1, 0x10000), 0x10000);
    assert_int_equal(as_moved_memory_home(moved, 2, 0x10000), 0x10000);
    remap(moved, 0x10000, PAGE, PAGE, 0x50000);
    assert_int_equal(as_shared_physical(as_moved_memory_of(moved, 2), 0x50000), 0x50000); /* another process */
    struct as_thread thread = {.number = 3, .process = 1, .image = &other_image};
    as_moved_memory_sink.thread_start(moved, &thread); /* another program */
    assert_int_equal(name(moved, 0x50000), 0x50000);
    as_moved_memory_free(moved);
}

static void map_as(struct as_moved_memory *moved, uint64_t start, uint64_t bytes, uint64_t flags)
{
    call(moved, MAP, (uint64_t[6]){flags & FIXED ? start : 0, bytes, 3, flags}, (int64_t)start);
}

static void over_anonymous_memory(void **state)
{
    struct as_moved_memory *moved = begin();
    map_as(moved, 0x10000, 4 * PAGE, ANONYMOUS);
    map_as(moved, 0x11000, PAGE, ANONYMOUS | FIXED);
    uint64_t first = name(moved, 0x11008);
    assert_true(as_shared_is(first));
    map_as(moved, 0x11000, PAGE, OF_FILE | FIXED); /* over what is new itself */
    assert_true(as_shared_is(name(moved, 0x11008)) && name(moved, 0x11008) != first);
    assert_int_equal(name(moved, 0x10008), 0x10008);
    assert_int_equal(name(moved, 0x12008), 0x12008);
    remap(moved, 0x12000, PAGE, PAGE, 0x50000);
    map_as(moved, 0x50000, PAGE, ANONYMOUS | FIXED); /* over what was moved there */
    assert_true(as_shared_is(name(moved, 0x50008)));
    map_as(moved, 0x80000, 4 * PAGE, OF_FILE);
    map_as(moved, 0x81000, PAGE, OF_FILE | FIXED); /* a loader */
    map_as(moved, 0x82000, PAGE, ANONYMOUS | FIXED);
    assert_int_equal(name(moved, 0x81008), 0x81008);
    assert_int_equal(name(moved, 0x82008), 0x82008);
    as_moved_memory_free(moved);
}

static void memory_not_needed(void **state)
{
    struct as_moved_memory *moved = begin();
    map_as(moved, 0x10000, 2 * PAGE, ANONYMOUS);
    map_as(moved, 0x12000, PAGE, SHARED);
    call(moved, ADVISE, (uint64_t[6]){0x11000, 2 * PAGE, WILL_NEED}, 0);
    assert_int_equal(name(moved, 0x11008), 0x11008);
    call(moved, ADVISE, (uint64_t[6]){0x11000, 2 * PAGE, NOT_NEEDED}, 0);
    uint64_t first = name(moved, 0x11008);
    assert_true(as_shared_is(first));
    assert_int_equal(name(moved, 0x10008), 0x10008);
    assert_int_equal(name(moved, 0x12008), 0x12008); /* shared memory stays */
    call(moved, ADVISE, (uint64_t[6]){0x11000, PAGE, NOT_NEEDED}, 0);
    assert_true(as_shared_is(name(moved, 0x11008)) && name(moved, 0x11008) != first);
    assert_int_equal(as_moved_memory_home(moved, 1, first), 0x11008);
    as_moved_memory_free(moved);
}

static void break_down_and_up(void **state)
{
    struct as_moved_memory *moved = begin();
    call(moved, BREAK, (uint64_t[6]){0}, 0x10000);
    call(moved, BREAK, (uint64_t[6]){0x14000}, 0x14000);
    call(moved, BREAK, (uint64_t[6]){0x12800}, 0x12800);
    assert_int_equal(name(moved, 0x12008), 0x12008); /* part of the page is left */
    call(moved, BREAK, (uint64_t[6]){0x15000}, 0x15000);
    assert_int_equal(name(moved, 0x12008), 0x12008);
    assert_true(as_shared_is(name(moved, 0x13008)));
    assert_int_equal(name(moved, 0x14008), 0x14008); /* nothing was there before */
    call(moved, ADVISE, (uint64_t[6]){0x14000, PAGE, NOT_NEEDED}, 0);
    assert_true(as_shared_is(name(moved, 0x14008)));
    as_moved_memory_free(moved);
}

/* Many ranges, all unmapped before the first is mapped again: each is new, and has its home. */
static void many(void **state)
{
    enum { RANGES = UNIT_SANITIZED ? 4000 : 20000 };
    struct as_moved_memory *moved = begin();
    for (uint64_t i = 0; i < RANGES; i++)
        unmap(moved, 0x100000 + 2 * i * PAGE, PAGE);
    for (uint64_t i = 0; i < RANGES; i++)
        map(moved, 0x100000 + 2 * i * PAGE, PAGE);
    for (uint64_t i = 0; i < RANGES; i++) {
        uint64_t address = 0x100008 + 2 * i * PAGE;
        assert_int_equal(name(moved, address), AS_SHARED_BIT + i * PAGE + 8);
        assert_int_equal(as_moved_memory_home(moved, 1, name(moved, address)), address);
    }
    as_moved_memory_free(moved);
}

/* What a mapping grows by is new where something was before, and is of its kind. */
static void growing(void **state)
{
    struct as_moved_memory *moved = begin();
    map_as(moved, 0x10000, 2 * PAGE, ANONYMOUS);
    unmap(moved, 0x11000, PAGE);
    remap(moved, 0x10000, PAGE, 3 * PAGE, 0x10000);
    uint64_t first = name(moved, 0x11008);
    assert_true(as_shared_is(first));
    assert_int_equal(name(moved, 0x10008), 0x10008);
    assert_int_equal(name(moved, 0x12008), 0x12008); /* nothing was there */
    call(moved, ADVISE, (uint64_t[6]){0x11000, 2 * PAGE, NOT_NEEDED}, 0);
    assert_true(as_shared_is(name(moved, 0x11008)) && name(moved, 0x11008) != first);
    assert_true(as_shared_is(name(moved, 0x12008)));
    remap(moved, 0x10000, 3 * PAGE, PAGE, 0x10000); /* smaller, and elsewhere */
    remap(moved, 0x10000, PAGE, 2 * PAGE, 0x11000);
    assert_int_equal(name(moved, 0x11008), 0x10008);
    assert_true(as_shared_is(name(moved, 0x12008)));
    as_moved_memory_free(moved);
}

/* RISC-V has other numbers for the same calls. */
static void other_numbers(void **state)
{
    struct as_image riscv = {.arch = AS_ARCH_RISCV64};
    struct as_thread thread = {.number = 3, .process = 1, .image = &riscv};
    const struct {
        uint32_t number;
        uint64_t args[6];
        int64_t result;
    } calls[] = {{222, {0, 4 * PAGE, 3, ANONYMOUS}, 0x10000}, /* mmap */
                 {215, {0x11000, PAGE}, 0},                   /* munmap */
                 {222, {0, PAGE, 3, ANONYMOUS}, 0x11000},
                 {216, {0x10000, PAGE, PAGE, MAY_MOVE}, 0x50000}, /* mremap */
                 {233, {0x12000, PAGE, NOT_NEEDED}, 0},           /* madvise */
                 {214, {0}, 0x80000},                             /* brk */
                 {214, {0x84000}, 0x84000},
                 {214, {0x80000}, 0x80000},
                 {214, {0x84000}, 0x84000}};
    struct as_moved_memory *moved = as_moved_memory_new();
    as_moved_memory_sink.thread_start(moved, &thread);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        as_moved_memory_sink.syscall(moved, &thread, calls[i].number, calls[i].args);
        as_moved_memory_sink.syscall_return(moved, &thread, calls[i].number, calls[i].result);
    }
    assert_int_equal(name(moved, 0x50008), 0x10008);
    assert_true(as_shared_is(name(moved, 0x11008)) && as_shared_is(name(moved, 0x12008)));
    assert_int_equal(name(moved, 0x13008), 0x13008);
    assert_true(as_shared_is(name(moved, 0x80008)) && as_shared_is(name(moved, 0x83ff8)));
    as_moved_memory_free(moved);
}

/* What fails changes nothing; an address is not an error. */
static void results(void **state)
{
    struct as_moved_memory *moved = begin();
    struct as_thread unknown = {.number = 90, .process = 1, .image = &image};
    map(moved, 0x10000, PAGE);
    call(moved, UNMAP, (uint64_t[6]){0x10000, PAGE}, -1);
    map(moved, 0x10000, PAGE);
    assert_int_equal(name(moved, 0x10008), 0x10008);
    call(moved, REMAP, (uint64_t[6]){0x10000, PAGE, PAGE, MAY_MOVE}, -4095);
    as_moved_memory_sink.syscall_return(moved, &unknown, UNMAP, 0); /* of a call that nobody has seen */
    assert_int_equal(name(moved, 0x10008), 0x10008);
    as_moved_memory_free(moved);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(moved_pages_keep_their_names),
                                       cmocka_unit_test(new_pages_have_new_names),
                                       cmocka_unit_test(a_place_that_was_left),
                                       cmocka_unit_test(what_changes_nothing),
                                       cmocka_unit_test(many),
                                       cmocka_unit_test(over_anonymous_memory),
                                       cmocka_unit_test(memory_not_needed),
                                       cmocka_unit_test(break_down_and_up),
                                       cmocka_unit_test(growing),
                                       cmocka_unit_test(other_numbers),
                                       cmocka_unit_test(results)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
