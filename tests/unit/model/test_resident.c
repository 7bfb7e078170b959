/* Pages of a process that are in memory: those that were touched, as runs, and nothing of QEMU's own. */
#include "model/resident.h"

#include "unit.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 5000, RUNS = 8 };
static const uint64_t low = UINT64_C(0x3100000000);

struct found {
    uint64_t base, end;
    struct {
        uint64_t first, end;
    } runs[RUNS];
    size_t n;
    bool high;
};

static void note(void *context, uint64_t start, uint64_t end)
{
    struct found *found = context;
    found->high |= end > UINT64_C(0x550000000000);
    if (start < found->base || start >= found->end || found->n == RUNS)
        return;
    found->runs[found->n].first = (start - found->base) / PAGE;
    found->runs[found->n++].end = (end - found->base) / PAGE;
}

static char *map(void)
{
    char *memory = mmap((void *)(uintptr_t)low, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, // NOLINT
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void finds_what_was_touched(void **state)
{
    struct found found = {.base = low, .end = low + (uint64_t)PAGES * PAGE};
    char *memory = map();
    if (!memory)
        unit_skip("no room at a low address");
    madvise(memory, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE);
    memory[3 * PAGE] = memory[4 * PAGE + 1] = memory[4095 * (size_t)PAGE] = memory[4096 * (size_t)PAGE] = 1;
    as_resident_pages(getpid(), note, &found);
    munmap(memory, (size_t)PAGES * PAGE);
    assert_int_equal(found.n, 2);
    assert_int_equal(found.runs[0].first, 3);
    assert_int_equal(found.runs[0].end, 5);
    assert_int_equal(found.runs[1].first, 4095); /* across two reads */
    assert_int_equal(found.runs[1].end, 4097);
    assert_false(found.high);
}

static void ignores_processes_that_are_gone(void **state)
{
    struct found found = {.end = UINT64_MAX};
    as_resident_pages(0x7ffffff0, note, &found);
    assert_int_equal(found.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_touched),
        cmocka_unit_test(ignores_processes_that_are_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
