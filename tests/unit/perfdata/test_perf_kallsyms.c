/* Names of the running kernel: which symbol an address has, and when they fit a recording. */
#include "perfdata/perf_kallsyms.h"
#include "unit.h"

#include <stdio.h>
#include <unistd.h>

static char symbols_path[64], notes_path[64];

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static int make_files(void **state)
{
    static const char symbols[] = "ffffffff81000000 T _stext\n"
                                  "ffffffff81000000 T _text\n"
                                  "ffffffff81000100 t __local_alias\n"
                                  "ffffffff81000100 W weak_alias\n"
                                  "ffffffff81000100 T global\n"
                                  "ffffffff81000080 t static_one\n"
                                  "ffffffff81000200 d data\n"
                                  "nonsense\n"
                                  "ffffffff81000300t no_blank\n"
                                  "ffffffff81000310 t\n"
                                  "ffffffff81000320 \n"
                                  "ffffffff81000330 t \n"
                                  " ffffffff81000340 t indented\n"
                                  "ffffffff81000400 t x\n"
                                  "ffffffffc0000010 t in_module\t[fuse]\n";
    /* A note of another kind, then the build-id. */
    static const uint8_t notes[] = "\4\0\0\0\4\0\0\0\1\0\0\0GNU\0abcd"
                                   "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0\1\2\3\4";
    snprintf(symbols_path, sizeof symbols_path, "/tmp/assay-kallsyms-%d", getpid());
    snprintf(notes_path, sizeof notes_path, "/tmp/assay-notes-%d", getpid());
    write_file(symbols_path, symbols, sizeof symbols - 1);
    write_file(notes_path, notes, sizeof notes - 1);
    return 0;
}

static int remove_files(void **state)
{
    unlink(symbols_path);
    unlink(notes_path);
    return 0;
}

static void assert_name(const struct as_perf_kallsyms *table, uint64_t address, const char *expected)
{
    const struct as_perf_kallsym *symbol = as_perf_kallsyms_find(table, address);
    if (!expected) {
        assert_null(symbol);
        return;
    }
    assert_non_null(symbol);
    assert_string_equal(as_perf_kallsyms_name(table, symbol), expected);
}

static void addresses_have_names(void **state)
{
    struct as_perf_kallsyms table;
    assert_true(as_perf_kallsyms_load(&table, symbols_path, notes_path));
    assert_name(&table, UINT64_C(0xffffffff80ffffff), NULL);
    assert_name(&table, UINT64_C(0xffffffff81000080), "static_one");
    assert_name(&table, UINT64_C(0xffffffff810000ff), "static_one");
    assert_name(&table, UINT64_C(0xffffffff81000100), "global");
    assert_name(&table, UINT64_C(0xffffffff81000300), "global"); /* data are not functions */
    assert_name(&table, UINT64_C(0xffffffff81000350), "global"); /* nor are lines without a name */
    assert_name(&table, UINT64_C(0xffffffff81000400), "x");
    assert_name(&table, UINT64_C(0xffffffffc0000010), "in_module");
    assert_name(&table, UINT64_C(0xffffffffc0001000), NULL); /* behind its page */
    as_perf_kallsyms_free(&table);
}

static void they_fit_the_same_kernel_alone(void **state)
{
    struct as_perf_kallsyms table;
    uint64_t text = UINT64_C(0xffffffff81000000);
    struct as_perf_kernel same = {.build_id = {4, {1, 2, 3, 4}}, .reference = text}, moved = same, other = same;
    moved.reference += 0x200000;
    other.build_id.bytes[3] = 5;
    other.release = "6.1"; /* the build-id knows better */
    assert_true(as_perf_kallsyms_load(&table, symbols_path, notes_path));
    assert_true(as_perf_kallsyms_fits(&table, &same, "6.1", false));
    assert_false(as_perf_kallsyms_fits(&table, &moved, "6.1", true)); /* loaded elsewhere */
    assert_false(as_perf_kallsyms_fits(&table, &other, "6.1", true));
    assert_true(as_perf_kallsyms_could_fit(notes_path, &same, "6.1", false));
    assert_true(as_perf_kallsyms_could_fit(notes_path, &moved, "6.1", false)); /* only the symbols show it */
    assert_false(as_perf_kallsyms_could_fit(notes_path, &other, "6.1", true));
    assert_false(as_perf_kallsyms_could_fit("/nonexistent", &same, "6.1", true));
    as_perf_kallsyms_free(&table);
    assert_true(as_perf_kallsyms_load(&table, symbols_path, "/nonexistent"));
    assert_false(as_perf_kallsyms_fits(&table, &same, "6.1", true));
    as_perf_kallsyms_free(&table);
}

static void without_a_build_id_the_release_tells(void **state)
{
    struct as_perf_kallsyms table;
    uint64_t text = UINT64_C(0xffffffff81000000);
    struct as_perf_kernel released = {.release = "6.1", .reference = text}, unplaced = {.release = "6.1"};
    struct as_perf_kernel placed = {.reference = text}, moved = {.release = "6.1", .reference = text + 4096};
    assert_true(as_perf_kallsyms_load(&table, symbols_path, notes_path));
    assert_true(as_perf_kallsyms_fits(&table, &released, "6.1", false));
    assert_true(as_perf_kallsyms_could_fit(notes_path, &released, "6.1", false));
    assert_false(as_perf_kallsyms_could_fit(notes_path, &released, "6.2", true));
    assert_false(as_perf_kallsyms_could_fit(notes_path, &placed, "6.1", false));
    assert_true(as_perf_kallsyms_could_fit(notes_path, &placed, "6.1", true));
    assert_false(as_perf_kallsyms_fits(&table, &released, "6.2", true));
    assert_false(as_perf_kallsyms_fits(&table, &moved, "6.1", true));
    assert_false(as_perf_kallsyms_fits(&table, &unplaced, "6.1", false));
    assert_true(as_perf_kallsyms_fits(&table, &unplaced, "6.1", true));
    assert_false(as_perf_kallsyms_fits(&table, &placed, "6.1", false));
    assert_true(as_perf_kallsyms_fits(&table, &placed, "6.1", true));
    as_perf_kallsyms_free(&table);
}

static void hidden_addresses_are_none(void **state)
{
    struct as_perf_kallsyms table;
    write_file(symbols_path, "0000000000000000 T _text\n0000000000000000 T f\n", 46);
    assert_false(as_perf_kallsyms_load(&table, symbols_path, notes_path));
    assert_false(as_perf_kallsyms_load(&table, "/nonexistent", notes_path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_have_names),
        cmocka_unit_test(they_fit_the_same_kernel_alone),
        cmocka_unit_test(without_a_build_id_the_release_tells),
        cmocka_unit_test(hidden_addresses_are_none),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
