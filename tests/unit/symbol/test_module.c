/* One file of a process: what is read of it, where it lies, and what is found in programs without symbols.
 *
 * usage: test_module SAMPLE STRIPPED (one program, with its symbols and without any) */
#include "symbol/module.h"
#include "symbol/space.h"

#include "unit.h"

#include <elf.h>

static char **arguments;

/* What was read of a module can be forgotten, and is read again when it is asked for. */
static void debug_is_forgotten(void **state)
{
    struct as_module module = {.path = "/proc/self/exe", .name = "exe", .has_file = true};
    struct as_module_options options = {.strings = as_strings_new()};
    module.identity = as_file_identity_of(module.path);
    as_module_load(&module, &options);
    for (int i = 0; i < 2; i++) {
        assert_non_null(as_module_debug(&module, &options));
        as_module_forget_debug(&module);
        assert_null(module.debug);
    }
    as_module_free(&module);
    as_strings_free(options.strings);
}

/* Code and data share a page of the file: a mapping of it is taken for code, unless a neighbour, the length or the place say otherwise. */
static void bias_of_a_mapping(void **state)
{
    static const struct as_elf_segment segments[] = {
        {.offset = 0x1800, .address = 0x3800, .file_size = 0x900, .memory_size = 0x900},
        {.offset = 0x1000, .address = 0x1000, .file_size = 0x900, .memory_size = 0x900, .executable = true}};
    struct as_module module = {.type = ET_DYN};
    for (size_t i = 0; i < 2; i++)
        *as_vec_push(&module.segments) = segments[i];
    const uint64_t start = 0x700000, code = start - 0x1000, data = start - 0x3000;
    assert_int_equal(as_module_bias(&module, start, start + 0x5000, 0x1000, NULL), code);
    assert_int_equal(as_module_bias(&module, start, start + 0x5000, 0x1000, &data), data); /* as the neighbour has it */
    assert_int_equal(as_module_bias(&module, start, start + 0x2000, 0x1000, NULL), data);  /* as long as the data */
    assert_int_equal(as_module_bias(&module, start, start + 0x1000, 0x1000, NULL), code);
    assert_int_equal(as_module_bias(&module, start, start + 0x1000, 0x2000, NULL), start - 0x4000); /* data alone */
    assert_int_equal(as_module_bias(&module, start, start + 0x1000, 0x9000, NULL), start - 0x9000); /* neither */
    module.type = ET_EXEC;
    assert_int_equal(as_module_bias(&module, 0x3000, 0x5000, 0x1000, NULL), 0); /* where it was linked to */
    as_vec_free(&module.segments);
}

/* The entry of a stripped program gives its main away. */
static void main_without_symbols(void **state)
{
    enum { START = 0x10000000, SIZE = 0x100000 };
    uint64_t found[2];
    for (int i = 0; i < 2; i++) {
        struct as_space *space = as_space_new(NULL);
        as_space_map(space, START - SIZE, START, 0, "[anon]"); /* has no main */
        as_space_map(space, START, START + SIZE, 0, arguments[1 + i]);
        found[i] = as_space_resolve(space, "main");
        assert_int_equal(as_space_resolve(space, "no_such_function"), 0);
        as_space_free(space);
    }
    assert_true(found[0] > START && found[0] < START + SIZE);
    assert_int_equal(found[1], found[0]);
}

static void code_of_no_file(void **state)
{
    struct as_location location;
    struct as_space *space = as_space_new(NULL);
    as_space_map(space, 0x10000000, 0x10100000, 0, arguments[1]);
    as_space_find(space, 0x10001000, &location);
    assert_false(as_space_has_anonymous(space));
    as_space_map(space, 0x20000000, 0x20001000, 0, "[anon]");
    assert_true(as_space_has_anonymous(space));
    as_space_free(space);
}

int main(int argc, char **argv)
{
    arguments = argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(debug_is_forgotten), cmocka_unit_test(bias_of_a_mapping),
                                       cmocka_unit_test(main_without_symbols), cmocka_unit_test(code_of_no_file)};
    return argc == 3 ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
}
