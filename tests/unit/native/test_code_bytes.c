/* Bytes of code by process and address: of files that processes map, by what the kernel tells of the mappings, and of the memory of
 * this test. */
#include "native/code_bytes.h"

#include "unit.h"

#include <sys/auxv.h>
#include <unistd.h>

enum { PAGE = 4096, FILE_SIZE = 4 * PAGE, START = 0x10000, NUMBER = 50, OTHER = 51, NEW = 52 };

static struct as_code *code;
static char path[] = "/tmp/assay-code-bytes.XXXXXX", missing[] = "/nowhere/program";

static uint8_t byte_at(uint64_t offset)
{
    return (uint8_t)(offset * 7 + offset / 256);
}

static int write_file(void **state)
{
    static uint8_t bytes[FILE_SIZE];
    int fd = mkstemp(path);
    for (size_t i = 0; i < FILE_SIZE; i++)
        bytes[i] = byte_at(i);
    bool written = fd >= 0 && write(fd, bytes, sizeof bytes) == sizeof bytes;
    return close(fd) == 0 && written ? 0 : -1;
}

static int remove_file(void **state)
{
    return unlink(path);
}

static int begin(void **state)
{
    code = as_code_new(false);
    return 0;
}

static int begin_live(void **state)
{
    code = as_code_new(true);
    return 0;
}

static int end(void **state)
{
    as_code_free(code);
    return 0;
}

static void tell(const struct as_perf_process *process)
{
    struct as_error err = AS_ERROR_INIT;
    assert_true(as_code_process(code, process, &err));
}

static struct as_perf_process mapping(uint32_t pid, uint64_t start, uint64_t length, uint64_t offset, const char *name)
{
    return (struct as_perf_process){.kind = AS_PERF_MAP,
                                    .pid = pid,
                                    .tid = pid,
                                    .mode = AS_PERF_USER,
                                    .start = start,
                                    .length = length,
                                    .offset = offset,
                                    .name = name};
}

static void map(uint32_t pid, uint64_t start, uint64_t length, uint64_t offset, const char *name)
{
    struct as_perf_process process = mapping(pid, start, length, offset, name);
    tell(&process);
}

/* `want` bytes are there of `size`, those of the file at `offset`. */
static void check(uint32_t pid, uint64_t address, size_t size, size_t want, uint64_t offset)
{
    uint8_t bytes[32] = {0};
    assert_true(size <= sizeof bytes);
    assert_int_equal(as_code_read(code, pid, address, bytes, size), want);
    for (size_t i = 0; i < want; i++)
        assert_int_equal(bytes[i], byte_at(offset + i));
}

static void of_a_file(void **state)
{
    map(NUMBER, START, 2 * PAGE, PAGE, path);
    for (int again = 0; again < 2; again++) { /* from the file, from the page that is kept */
        check(NUMBER, START, 16, 16, PAGE);
        check(NUMBER, START + 0x123, 16, 16, PAGE + 0x123);
    }
    check(NUMBER, START + PAGE - 16, 16, 16, 2 * PAGE - 16);
    check(NUMBER, START + PAGE - 8, 16, 16, 2 * PAGE - 8); /* of two pages */
    check(NUMBER, START + 2 * PAGE - 8, 16, 8, 3 * PAGE - 8);
    check(NUMBER, START + 2 * PAGE - 1, 1, 1, 3 * PAGE - 1);
    check(NUMBER, START + 2 * PAGE, 1, 0, 0);
    check(NUMBER, START - 1, 1, 0, 0);
    check(OTHER, START, 1, 0, 0);
}

/* Mappings need not begin where pages do, and files may end within them. */
static void of_parts_of_pages(void **state)
{
    map(NUMBER, START + 0x10, 0x20, 0x30, path);
    check(NUMBER, START + 0x18, 8, 8, 0x38);
    check(NUMBER, START + 0x28, 16, 8, 0x48);
    check(NUMBER, START + 0xf, 1, 0, 0);
    map(OTHER, START, PAGE, FILE_SIZE - 8, path);
    check(OTHER, START, 16, 8, FILE_SIZE - 8);
    check(OTHER, START + 8, 8, 0, 0);
}

/* The last mapping of an address counts, also for what was read before it. */
static void of_what_was_mapped_last(void **state)
{
    map(NUMBER, START, 2 * PAGE, 0, path);
    check(NUMBER, START + 4, 8, 8, 4);
    map(NUMBER, START, PAGE, 2 * PAGE, path);
    check(NUMBER, START + 4, 8, 8, 2 * PAGE + 4);
    check(NUMBER, START + PAGE + 4, 8, 8, PAGE + 4);
    map(NUMBER, START + PAGE, PAGE, 0, missing);
    check(NUMBER, START + PAGE + 4, 8, 0, 0);
    map(NUMBER, START + 8, 0, 3 * PAGE, path); /* nothing */
    check(NUMBER, START + 8, 8, 8, 2 * PAGE + 8);
}

/* Processes with the same addresses have pages of their own. */
static void of_two_processes(void **state)
{
    map(NUMBER, START, PAGE, 0, path);
    map(OTHER, START, PAGE, PAGE, path);
    check(NUMBER, START, 8, 8, 0);
    check(OTHER, START, 8, 8, PAGE);
    check(NUMBER, START, 8, 8, 0);
}

static void forks(void **state)
{
    struct as_perf_process fork = {
        .kind = AS_PERF_FORK, .pid = OTHER, .tid = OTHER, .parent_pid = NUMBER, .parent_tid = NUMBER};
    map(NUMBER, START, PAGE, 0, path);
    map(OTHER, START + PAGE, PAGE, 0, path); /* of a process before, with this number */
    tell(&fork);
    check(OTHER, START, 8, 8, 0);
    check(OTHER, START + PAGE, 8, 0, 0);
    map(NUMBER, START, PAGE, PAGE, path);
    check(OTHER, START, 8, 8, 0);
    fork.pid = NUMBER; /* a thread */
    tell(&fork);
    check(NUMBER, START, 8, 8, PAGE);
    fork.pid = NEW;
    fork.parent_pid = NEW + 1; /* of which nothing is known */
    tell(&fork);
    check(NEW, START, 8, 0, 0);
}

static void ends(void **state)
{
    bool live = *state != NULL;
    struct as_perf_process comm = {.kind = AS_PERF_COMM, .pid = NUMBER, .tid = NUMBER, .name = "new"},
                           exit = {.kind = AS_PERF_EXIT, .pid = OTHER, .tid = OTHER + 1};
    map(NUMBER, START, PAGE, 0, path);
    map(OTHER, START, PAGE, 0, path);
    tell(&comm);
    check(NUMBER, START, 8, 8, 0);
    comm.exec = true;
    tell(&comm);
    check(NUMBER, START, 8, 0, 0);
    tell(&exit);
    check(OTHER, START, 8, 8, 0);
    exit.tid = OTHER;
    tell(&exit); /* samples of a process that runs here may be read after its end */
    check(OTHER, START, 8, live ? 8 : 0, 0);
}

static void ends_of_recorded_processes(void **state)
{
    *state = NULL;
    ends(state);
}

static void ends_of_processes_here(void **state)
{
    bool live = true;
    void *here = &live;
    ends(&here);
}

/* Data, the kernel and what has no name are no code of the process. */
static void what_is_not_mapped(void **state)
{
    struct as_perf_process data = mapping(NUMBER, START, PAGE, 0, path), kernel = data, nameless = data;
    data.data = true;
    kernel.mode = AS_PERF_KERNEL;
    nameless.name = NULL;
    tell(&data);
    tell(&kernel);
    tell(&nameless);
    check(NUMBER, START, 8, 0, 0);
}

/* ---- memory ---- */

static uint8_t made[2 * PAGE];

static void fill_made(void)
{
    for (size_t i = 0; i < sizeof made; i++)
        made[i] = byte_at(i);
}

/* What is in no file, or in one that is not there, is read from the process. */
static void of_memory(void **state)
{
    static const char *const names[] = {"//anon", "[heap]", missing};
    uint32_t own = (uint32_t)getpid();
    uint64_t start = (uintptr_t)made;
    fill_made();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        map(own, start, sizeof made, 0, names[i]);
        check(own, start + 0x321, 16, 16, 0x321);
        check(own, start + sizeof made - 4, 8, 4, sizeof made - 4);
        check(own + 1, start, 8, 0, 0);
    }
    uint8_t bytes[8];
    assert_int_equal(as_code_memory(code, own, start + 1, bytes, 8), 8);
    assert_int_equal(bytes[0], byte_at(1));
    assert_int_equal(as_code_memory(code, own, 16, bytes, 8), 0);
}

static void of_memory_that_is_gone(void **state)
{
    uint8_t bytes[8];
    fill_made();
    map((uint32_t)getpid(), (uintptr_t)made, sizeof made, 0, "//anon");
    check((uint32_t)getpid(), (uintptr_t)made, 8, 0, 0);
    assert_int_equal(as_code_memory(code, (uint32_t)getpid(), (uintptr_t)made, bytes, 8), 0);
}

/* The vdso of every process is this one, wherever it lies. */
static void of_the_vdso(void **state)
{
    const uint8_t *own = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
    uint8_t bytes[16];
    if (!own)
        unit_skip("there is no vdso");
    map(NUMBER, START, PAGE, 0, "[vdso]");
    assert_int_equal(as_code_read(code, NUMBER, START + 0x18, bytes, 16), 16);
    assert_memory_equal(bytes, own + 0x18, 16);
    assert_int_equal(as_code_read(code, NUMBER, START + PAGE - 8, bytes, 16), 8);
    assert_memory_equal(bytes, own + PAGE - 8, 8);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
#define LIVE(name) cmocka_unit_test_setup_teardown(name, begin_live, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(of_a_file),
        TEST(of_parts_of_pages),
        TEST(of_what_was_mapped_last),
        TEST(of_two_processes),
        TEST(forks),
        TEST(ends_of_recorded_processes),
        LIVE(ends_of_processes_here),
        TEST(what_is_not_mapped),
        LIVE(of_memory),
        TEST(of_memory_that_is_gone),
        TEST(of_the_vdso),
    };
    return cmocka_run_group_tests(tests, write_file, remove_file);
}
