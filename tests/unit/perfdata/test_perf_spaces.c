/* Address spaces: ranges against a plain array, processes that fork and exec, and names for addresses of this very
 * program. */
#include "apart.h"
#include "base/alloc.h"
#include "perfdata/perf_ranges.h"
#include "perfdata/perf_spaces.h"
#include "symbol/elffile.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* ---- ranges ---- */

enum { WORLD = 500, WORLDS = 4 };

struct plain {
    uintptr_t value[WORLD];
    uint64_t offset[WORLD];
};

static uint32_t draw(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static void change(struct as_perf_ranges *ranges, struct plain *plain, uint32_t *seed, uintptr_t value)
{
    uint64_t start = draw(seed) % WORLD, end = start + draw(seed) % 60;
    end = end > WORLD ? WORLD : end;
    bool remove = draw(seed) % 4 == 0;
    uint64_t offset = draw(seed) % 1000;
    if (remove)
        as_perf_ranges_remove(ranges, start, end);
    else
        as_perf_ranges_put(ranges, &(struct as_perf_range){start, end, offset, (void *)value});
    for (uint64_t at = start; at < end; at++) {
        plain->value[at] = remove ? 0 : value;
        plain->offset[at] = offset + (at - start);
    }
}

static void compare(const struct as_perf_ranges *ranges, const struct plain *plain)
{
    for (uint64_t at = 0; at < WORLD; at++) {
        const struct as_perf_range *range = as_perf_ranges_find(ranges, at);
        assert_int_equal((uintptr_t)(range != NULL ? range->value : NULL), plain->value[at]);
        if (range != NULL)
            assert_int_equal(range->offset + (at - range->start), plain->offset[at]);
    }
}

static void test_ranges(void **state)
{
    static struct plain plains[WORLDS];
    struct as_perf_ranges ranges[WORLDS] = {0};
    uint32_t seed = 1;
    for (unsigned i = 1; i <= 4000; i++) {
        unsigned which = draw(&seed) % WORLDS, other = draw(&seed) % WORLDS;
        if (draw(&seed) % 20 == 0 && which != other) {
            as_perf_ranges_free(&ranges[other]);
            ranges[other] = as_perf_ranges_copy(&ranges[which]);
            plains[other] = plains[which];
        } else
            change(&ranges[which], &plains[which], &seed, i);
        if (i % 50 == 0)
            for (unsigned k = 0; k < WORLDS; k++)
                compare(&ranges[k], &plains[k]);
    }
    for (unsigned k = 0; k < WORLDS; k++)
        as_perf_ranges_free(&ranges[k]);
}

/* Many mappings, each in a process of its own that has all of those before: seconds if it were quadratic. */
static void test_many_forks(void **state)
{
    enum { COUNT = 50000 };
    struct as_perf_ranges *ranges = as_alloc_array(COUNT, sizeof *ranges);
    for (uint64_t i = 0; i < COUNT; i++) {
        if (i > 0)
            ranges[i] = as_perf_ranges_copy(&ranges[i - 1]);
        as_perf_ranges_put(&ranges[i], &(struct as_perf_range){i * 16, i * 16 + 8, 0, (void *)(uintptr_t)(i + 1)});
    }
    assert_null(as_perf_ranges_find(&ranges[100], 101 * 16));
    assert_int_equal((uintptr_t)as_perf_ranges_find(&ranges[COUNT - 1], 101 * 16)->value, 102);
    for (uint64_t i = 0; i < COUNT; i++)
        as_perf_ranges_free(&ranges[i]);
    free(ranges);
}

/* ---- processes ---- */

static void map(struct as_perf_spaces *spaces, uint32_t pid, uint64_t start, uint64_t length, const char *name)
{
    struct as_perf_process process = {.kind = AS_PERF_MAP,
                                      .pid = pid,
                                      .tid = pid,
                                      .mode = AS_PERF_USER,
                                      .start = start,
                                      .length = length,
                                      .offset = 0x1000,
                                      .name = name};
    as_perf_spaces_process(spaces, &process, NULL);
}

static void expect_name(struct as_perf_spaces *spaces, uint32_t pid, enum as_perf_mode mode, uint64_t address,
                        const char *wanted)
{
    assert_string_equal(as_perf_spaces_name(spaces, pid, mode, address), wanted);
}

static void test_processes(void **state)
{
    struct as_perf_spaces *spaces = as_perf_spaces_new(NULL);
    map(spaces, 1, 0x10000, 0x4000, "/nowhere/a");
    struct as_perf_process comm = {.kind = AS_PERF_COMM, .pid = 1, .tid = 1, .name = "first"};
    as_perf_spaces_process(spaces, &comm, NULL);
    struct as_perf_process fork = {.kind = AS_PERF_FORK, .pid = 2, .tid = 2, .parent_pid = 1, .parent_tid = 1};
    as_perf_spaces_process(spaces, &fork, NULL);
    map(spaces, 1, 0x11000, 0x1000, "/nowhere/b");
    expect_name(spaces, 1, AS_PERF_USER, 0x10010, "a+0x1010");
    expect_name(spaces, 1, AS_PERF_USER, 0x11010, "b+0x1010");
    expect_name(spaces, 1, AS_PERF_USER, 0x12010, "a+0x3010");
    expect_name(spaces, 2, AS_PERF_USER, 0x11010, "a+0x2010"); /* the child has what was there before */
    expect_name(spaces, 3, AS_PERF_USER, 0x11010, "[unknown]+0x11010");
    expect_name(spaces, 1, AS_PERF_USER, 0x14000, "[unknown]+0x14000");
    assert_string_equal(as_perf_spaces_comm(spaces, 2, 2), "first");
    assert_null(as_perf_spaces_comm(spaces, 3, 3));
    /* A thread is no new process; perf's own fork records bring no mappings; exec takes them away. */
    struct as_perf_process thread = {.kind = AS_PERF_FORK, .pid = 1, .tid = 5, .parent_pid = 1, .parent_tid = 1};
    as_perf_spaces_process(spaces, &thread, NULL);
    expect_name(spaces, 1, AS_PERF_USER, 0x11010, "b+0x1010");
    fork = (struct as_perf_process){.kind = AS_PERF_FORK, .pid = 4, .tid = 4, .parent_pid = 1, .exec = true};
    as_perf_spaces_process(spaces, &fork, NULL);
    expect_name(spaces, 4, AS_PERF_USER, 0x11010, "[unknown]+0x11010");
    comm = (struct as_perf_process){.kind = AS_PERF_COMM, .pid = 2, .tid = 2, .name = "second", .exec = true};
    as_perf_spaces_process(spaces, &comm, NULL);
    assert_string_equal(as_perf_spaces_comm(spaces, 2, 2), "second");
    expect_name(spaces, 2, AS_PERF_USER, 0x11010, "[unknown]+0x11010");
    map(spaces, 2, 0x20000, 0x1000, "//anon");
    map(spaces, 2, 0x30000, 0x1000, "[vdso]");
    expect_name(spaces, 2, AS_PERF_USER, 0x20010, "[anon]+0x20010");
    expect_name(spaces, 2, AS_PERF_USER, 0x30010, "[vdso]+0x1010");
    map(spaces, 2, UINT64_MAX - 10, 100, "/nowhere/end");
    expect_name(spaces, 2, AS_PERF_USER, UINT64_MAX - 1, "end+0x1009");
    as_perf_spaces_free(spaces);
}

static void test_kernel(void **state)
{
    struct as_perf_spaces *spaces = as_perf_spaces_new(NULL);
    struct as_perf_process kernel = {.kind = AS_PERF_MAP,
                                     .pid = UINT32_MAX,
                                     .mode = AS_PERF_KERNEL,
                                     .start = 0xffffffff81000000,
                                     .length = 0x1000000,
                                     .name = "[kernel.kallsyms]_text"};
    as_perf_spaces_process(spaces, &kernel, NULL);
    kernel.start = 0xffffffffc0000000;
    kernel.length = 0x1000;
    kernel.name = "[nf_tables]";
    as_perf_spaces_process(spaces, &kernel, NULL);
    struct as_perf_ksymbol symbol = {.address = 0xffffffffc0100000, .length = 0x40, .name = "bpf_prog_x"};
    as_perf_spaces_ksymbol(spaces, &symbol, NULL);
    expect_name(spaces, 1, AS_PERF_KERNEL, 0xffffffff81000010, "[kernel]");
    expect_name(spaces, 1, AS_PERF_KERNEL, 0xffffffffc0000010, "[nf_tables]");
    expect_name(spaces, 1, AS_PERF_KERNEL, 0xffffffffc0100010, "bpf_prog_x");
    expect_name(spaces, 1, AS_PERF_KERNEL, 0xffffffffd0000000, "[kernel]");
    symbol.gone = true;
    as_perf_spaces_ksymbol(spaces, &symbol, NULL);
    expect_name(spaces, 1, AS_PERF_KERNEL, 0xffffffffc0100010, "[kernel]");
    as_perf_spaces_free(spaces);
}

/* ---- where files may be ---- */

static void test_search(void **state)
{
    struct as_perf_search search = {0};
    char found[PATH_MAX];
    assert_true(as_perf_search_path(&search, AS_PERF_CANDIDATE_PATH, "/bin/a", NULL, found));
    assert_string_equal(found, "/bin/a");
    assert_false(as_perf_search_path(&search, AS_PERF_CANDIDATE_CACHE, "/bin/a", "abcdef", found));
    search = (struct as_perf_search){.symfs = "/root2", .cache = "/cache"};
    assert_true(as_perf_search_path(&search, AS_PERF_CANDIDATE_PATH, "/bin/a", NULL, found));
    assert_string_equal(found, "/root2/bin/a");
    assert_false(as_perf_search_path(&search, AS_PERF_CANDIDATE_CACHE, "/bin/a", NULL, found));
    assert_true(as_perf_search_path(&search, AS_PERF_CANDIDATE_CACHE, "/bin/a", "abcdef", found));
    assert_string_equal(found, "/cache/.build-id/ab/cdef/elf");
    assert_true(as_perf_search_path(&search, AS_PERF_CANDIDATE_OLD_CACHE, "/bin/a", "abcdef", found));
    assert_string_equal(found, "/cache/.build-id/ab/cdef");
    assert_false(as_perf_search_path(&search, AS_PERF_CANDIDATE_PATH, "[vdso]", "abcdef", found));
    assert_true(as_perf_search_path(&search, AS_PERF_CANDIDATE_CACHE, "[vdso]", "abcdef", found));
    assert_string_equal(found, "/cache/.build-id/ab/cdef/vdso");
    assert_true(as_perf_search_kallsyms(&search, "abcdef", found));
    assert_string_equal(found, "/cache/.build-id/ab/cdef/kallsyms");
    char *deep = as_alloc(PATH_MAX + 1);
    memset(deep, 'x', PATH_MAX);
    assert_false(as_perf_search_path(&search, AS_PERF_CANDIDATE_PATH, deep, NULL, found));
    free(deep);
}

/* ---- this program ---- */

UNIT_APART void as_perf_test_function(void);
void as_perf_test_function(void)
{
    __asm__ volatile("nop\n nop\n nop");
}

/* The mapping that holds the function, as MMAP2 would tell it. */
static struct as_perf_process own_mapping(char *path, size_t size)
{
    struct as_perf_process map = {.kind = AS_PERF_MAP, .pid = 1, .tid = 1, .mode = AS_PERF_USER, .name = path};
    uint64_t wanted = (uintptr_t)&as_perf_test_function, start, end, offset;
    FILE *file = fopen("/proc/self/maps", "r");
    char line[4096];
    while (fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %4000[^\n]", &start, &end, &offset, path) == 4 && start <= wanted &&
            wanted < end) {
            map.start = start;
            map.length = end - start;
            map.offset = offset;
            break;
        }
    fclose(file);
    assert_int_not_equal(map.start, 0);
    struct stat stat_;
    assert_int_equal(stat(path, &stat_), 0);
    map.inode = stat_.st_ino;
    map.major = major(stat_.st_dev);
    map.minor = minor(stat_.st_dev);
    return map;
}

static enum as_perf_match find_own(const struct as_perf_process *map, bool trust, const struct as_perf_build_id *table)
{
    struct as_perf_spaces_options options = {.trust_paths = trust};
    struct as_perf_spaces *spaces = as_perf_spaces_new(&options);
    struct as_perf_location location;
    if (table != NULL)
        as_perf_spaces_build_id(spaces, map->name, AS_PERF_USER, table, NULL);
    as_perf_spaces_process(spaces, map, NULL);
    uint64_t address = (uintptr_t)&as_perf_test_function + 1;
    as_perf_spaces_find(spaces, 1, AS_PERF_USER, address, &location);
    bool named = location.match == AS_PERF_MATCHED || location.match == AS_PERF_TRUSTED;
    assert_string_equal(location.module, map->name);
    assert_int_equal(location.file_offset, address - map->start + map->offset);
    if (named) {
        assert_string_equal(location.function, "as_perf_test_function");
        assert_int_equal(location.module_offset - location.function_start, 1);
        struct as_line line;
        assert_true(as_perf_spaces_line(spaces, &location, &line));
        assert_non_null(strstr(line.file, "test_perf_spaces.c"));
        struct as_inline_frame frames[4];
        assert_int_equal(as_perf_spaces_inline(spaces, &location, frames, 4), 1);
        assert_string_equal(frames[0].function, "as_perf_test_function");
        as_perf_spaces_done_with(spaces, &location);
        assert_true(as_perf_spaces_line(spaces, &location, &line)); /* read again */
    } else
        assert_null(location.function);
    enum as_perf_match match = location.match;
    as_perf_spaces_free(spaces);
    return match;
}

static void test_own_file(void **state)
{
    char path[4096];
    struct as_perf_process map = own_mapping(path, sizeof path);
    assert_int_equal(find_own(&map, false, NULL), AS_PERF_MATCHED);
    struct as_perf_process other = map;
    other.inode++;
    assert_int_equal(find_own(&other, false, NULL), AS_PERF_OTHER);
    other.inode = 0;
    assert_int_equal(find_own(&other, false, NULL), AS_PERF_OTHER);
    assert_int_equal(find_own(&other, true, NULL), AS_PERF_TRUSTED);
    other.name = "/nowhere/at/all";
    assert_int_equal(find_own(&other, true, NULL), AS_PERF_MISSING);
}

static void test_own_build_id(void **state)
{
    char path[4096];
    struct as_perf_process map = own_mapping(path, sizeof path);
    struct as_error err = AS_ERROR_INIT;
    struct as_elf *elf = as_elf_open(path, &err);
    assert_non_null(elf);
    struct as_build_id own;
    as_elf_build_id(elf, &own);
    as_elf_close(elf);
    if (own.len == 0)
        unit_skip("this program has no build-id");
    struct as_perf_build_id id = {.size = AS_PERF_BUILD_ID_MAX};
    memcpy(id.bytes, own.bytes, own.len);
    map.inode = 0;
    assert_int_equal(find_own(&map, false, &id), AS_PERF_MATCHED);
    struct as_perf_process with_id = map;
    with_id.build_id = id;
    assert_int_equal(find_own(&with_id, false, NULL), AS_PERF_MATCHED);
    with_id.build_id.bytes[3] ^= 1;
    assert_int_equal(find_own(&with_id, true, NULL), AS_PERF_OTHER); /* trust does not go that far */
    id.bytes[0] ^= 1;
    assert_int_equal(find_own(&map, true, &id), AS_PERF_OTHER);
}

/* ---- the kernel's file, for which this program stands ---- */

enum { KERNEL_SIZE = 1 << 30 };
static const uint64_t kernel_start = 0xffffffff81000000;

/* Where the program's ELF file has a byte that is mapped. */
static uint64_t address_in_file(const struct as_elf *elf, uint64_t offset)
{
    for (size_t i = 0; i < elf->segments.len; i++)
        if (offset - elf->segments.data[i].offset < elf->segments.data[i].file_size)
            return offset - elf->segments.data[i].offset + elf->segments.data[i].address;
    return 0;
}

static uint64_t text_of(const struct as_elf *elf)
{
    for (size_t i = 0; i < elf->segments.len; i++)
        if (elf->segments.data[i].executable)
            return elf->segments.data[i].address;
    return 0;
}

/* A kernel is moved as a whole, by a multiple of 2 MiB, which the recorded address of its text shows. */
static struct as_perf_spaces *kernel_of(const char *path, uint64_t text, const struct as_perf_build_id *id)
{
    struct as_perf_spaces *spaces = as_perf_spaces_new(&(struct as_perf_spaces_options){.vmlinux = path});
    if (id)
        as_perf_spaces_build_id(spaces, "[kernel.kallsyms]", AS_PERF_KERNEL, id, NULL);
    as_perf_spaces_process(spaces,
                           &(struct as_perf_process){.kind = AS_PERF_MAP,
                                                     .pid = UINT32_MAX,
                                                     .mode = AS_PERF_KERNEL,
                                                     .start = kernel_start,
                                                     .length = KERNEL_SIZE,
                                                     .offset = kernel_start + text,
                                                     .name = "[kernel.kallsyms]_text"},
                           NULL);
    return spaces;
}

static void test_kernel_file(void **state)
{
    char path[4096];
    struct as_perf_process map = own_mapping(path, sizeof path);
    struct as_error err = AS_ERROR_INIT;
    struct as_elf *elf = as_elf_open(path, &err);
    assert_non_null(elf);
    uint64_t offset = (uintptr_t)&as_perf_test_function - map.start + map.offset, own = address_in_file(elf, offset);
    struct as_perf_spaces *spaces = kernel_of(path, text_of(elf), NULL);
    struct as_perf_location location;
    as_perf_spaces_find(spaces, 1, AS_PERF_KERNEL, kernel_start + own + 1, &location);
    assert_int_equal(location.match, AS_PERF_MATCHED);
    assert_string_equal(location.function, "as_perf_test_function");
    assert_int_equal(location.module_offset, own + 1);
    assert_int_equal(location.file_offset, offset + 1);
    assert_string_equal(location.disk_path, path);
    expect_name(spaces, 1, AS_PERF_KERNEL, kernel_start + KERNEL_SIZE - 1, "[kernel]"); /* beyond the file */
    as_perf_spaces_free(spaces);
    struct as_perf_build_id other = {.size = 20, .bytes = {1, 2, 3}};
    spaces = kernel_of(path, text_of(elf), &other);
    expect_name(spaces, 1, AS_PERF_KERNEL, kernel_start + own + 1, "[kernel]"); /* it is another kernel's */
    as_perf_spaces_free(spaces);
    as_elf_close(elf);
}

/* Code that processes made, by the files that their runtimes wrote: beside the recording, as it is of another machine. */
static void test_generated(void **state)
{
    char directory[] = "/tmp/assay-generated-XXXXXX", path[2][128];
    assert_non_null(mkdtemp(directory));
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s/perf-%d.map", directory, 101 + i);
        FILE *file = fopen(path[i], "w");
        assert_non_null(file);
        fprintf(file, "10010 20 Interpreter:%d\n", i);
        fclose(file);
    }
    struct as_perf_spaces *spaces = as_perf_spaces_new(&(struct as_perf_spaces_options){.search.beside = directory});
    map(spaces, 101, 0x10000, 0x1000, "//anon");
    map(spaces, 102, 0x10000, 0x1000, "/memfd:doublemapper (deleted)");
    map(spaces, 103, 0x10000, 0x1000, "//anon");
    map(spaces, 101, 0x20000, 0x1000, "/nowhere/a");
    expect_name(spaces, 101, AS_PERF_USER, 0x1002f, "Interpreter:0");
    expect_name(spaces, 101, AS_PERF_USER, 0x10030, "[anon]+0x10030");
    expect_name(spaces, 101, AS_PERF_USER, 0x20010, "a+0x1010");
    expect_name(spaces, 102, AS_PERF_USER, 0x10010, "Interpreter:1");
    expect_name(spaces, 103, AS_PERF_USER, 0x10010, "[anon]+0x10010");
    struct as_perf_location location;
    as_perf_spaces_find(spaces, 101, AS_PERF_USER, 0x10010, &location);
    assert_string_equal(location.module, "[perf-101.map]");
    assert_true(location.generated);
    as_perf_spaces_free(spaces);
    for (int i = 0; i < 2; i++)
        unlink(path[i]);
    rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),       cmocka_unit_test(test_many_forks), cmocka_unit_test(test_processes),
        cmocka_unit_test(test_kernel),       cmocka_unit_test(test_search),     cmocka_unit_test(test_own_file),
        cmocka_unit_test(test_own_build_id), cmocka_unit_test(test_generated),  cmocka_unit_test(test_kernel_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
