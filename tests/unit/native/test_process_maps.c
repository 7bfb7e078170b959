/* What a process has mapped, and what is at addresses of its data: its own, where all of it is known. */
#include "native/process_maps.h"

#include "perfdata/perf_spaces.h"

#include "unit.h"

#include <fcntl.h>
#include <sys/mman.h>

uint64_t as_test_initialised[32] = {1};
uint64_t as_test_zeros[1 << 14];
static const char constants[] = "this text is in the file, and read-only";

static void use_map(void *context, struct as_perf_process *map)
{
    struct as_error err = AS_ERROR_INIT;
    assert_true(as_perf_spaces_process(context, map, &err));
}

static struct as_perf_data at(struct as_perf_spaces *spaces, const void *address)
{
    struct as_perf_data data;
    as_perf_spaces_data(spaces, (uint32_t)getpid(), (uintptr_t)address, &data);
    return data;
}

static void data_has_names(void **state)
{
    struct as_perf_spaces_options options = {.live = true};
    struct as_perf_spaces *spaces = as_perf_spaces_new(&options);
    void *anonymous = mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int fd = open("/proc/self/exe", O_RDONLY);
    void *file = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    assert_true(anonymous != MAP_FAILED && file != MAP_FAILED);
    as_process_maps(getpid(), true, use_map, spaces);
    struct as_perf_data found = at(spaces, &as_test_initialised[3]);
    assert_string_equal(found.variable, "as_test_initialised");
    assert_int_equal(found.size, sizeof as_test_initialised);
    assert_int_equal(found.file.module_offset, found.start + 3 * sizeof *as_test_initialised);
    assert_string_equal(found.file.module_name, "test_process_maps");
    found = at(spaces, &as_test_zeros[9000]); /* .bss, far behind what the file holds */
    assert_string_equal(found.variable, "as_test_zeros");
    assert_int_equal(found.file.module_offset, found.start + 9000 * sizeof *as_test_zeros);
    found = at(spaces, constants);
    assert_string_equal(found.variable, "constants");
    /* a sanitizer may keep variables elsewhere */
    assert_string_equal(at(spaces, __builtin_frame_address(0)).file.module, "[stack]");
    assert_string_equal(at(spaces, anonymous).file.module, "[anon]");
    assert_true(at(spaces, anonymous).region_end > at(spaces, anonymous).region_start);
    assert_null(at(spaces, anonymous).variable);
    assert_string_equal(at(spaces, (void *)UINT64_C(0xffffffff81000000)).file.module, "[kernel]");
    assert_string_equal(at(spaces, (void *)16).file.module, "[unknown]");
    assert_int_equal(at(spaces, (void *)16).region_end, 0);
    munmap(anonymous, 1 << 20);
    munmap(file, 4096);
    close(fd);
    as_perf_spaces_free(spaces);
}

static void count_map(void *context, struct as_perf_process *map)
{
    unsigned *counts = context;
    counts[map->data]++;
    counts[2] += map->start <= (uintptr_t)count_map && (uintptr_t)count_map < map->start + map->length && !map->data;
}

static void code_alone_where_asked_for(void **state)
{
    unsigned code[3] = {0}, all[3] = {0}, none[3] = {0};
    as_process_maps(getpid(), false, count_map, code);
    as_process_maps(getpid(), true, count_map, all);
    as_process_maps(INT32_MAX, true, count_map, none);
    assert_true(code[0] > 0 && code[1] == 0 && code[2] == 1);
    assert_true(all[0] == code[0] && all[1] > 0 && all[2] == 1);
    assert_int_equal(none[0] + none[1], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_has_names),
        cmocka_unit_test(code_alone_where_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
