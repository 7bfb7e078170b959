/* Frames as compilers' sample profiles want them say the same as those that people read, address by address. Argument: a program with
 * DWARF. */
#include "sample_tools.h"
#include "unit.h"

#include "base/map.h"
#include "symbol/debuginfo.h"

enum { MOST = 16 };

static const char *program;

/* The functions of sample.c by the line of their names. */
static const struct {
    const char *name;
    uint32_t declared;
} functions[] = {{"innermost", 11}, {"middle", 17}, {"hidden", 25}, {"visible", 30}, {"specialised", 42}, {"main", 59}};

static size_t seen[sizeof functions / sizeof *functions], inlined;

static void check_function(const struct as_source_frame *frame)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (frame->linkage && strcmp(frame->linkage, functions[i].name) == 0) {
            assert_int_equal(frame->declared, functions[i].declared);
            seen[i]++;
        }
}

static void check_address(struct as_debug *debug, uint64_t address)
{
    struct as_source_frame frames[MOST], one[1];
    struct as_inline_frame shown[MOST];
    struct as_line line;
    size_t n = as_debug_frames(debug, address, frames, MOST), n_shown = as_debug_inline(debug, address, shown, MOST);
    assert_int_equal(n, n_shown);
    if (!n)
        return;
    assert_int_equal(as_debug_frames(debug, address, one, 1), 1); /* of more than fit the innermost */
    assert_int_equal(one[0].line, frames[0].line);
    if (!as_debug_line(debug, address, &line))
        line = (struct as_line){0};
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(frames[i].line, line.line);
        assert_int_equal(frames[i].inlined, i + 1 < n);
        assert_true(!frames[i].linkage || strcmp(frames[i].linkage, shown[i].function) == 0);
        check_function(&frames[i]);
        inlined += frames[i].inlined;
        line = shown[i].call;
    }
}

static void same_as_shown(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_elf *elf = as_elf_open(program, &err);
    struct as_strings *strings = as_strings_new();
    struct as_symtab code = {0};
    struct sample_section text = sample_section(program, ".text");
    assert_non_null(elf);
    as_symtab_set_code(&code, elf);
    struct as_debug *debug = as_debug_new(elf, program, NULL, &code, strings, &err);
    assert_non_null(debug);
    for (uint64_t i = 0; i < text.size; i++)
        check_address(debug, text.address + i);
    struct as_source_frame frames[MOST];
    assert_int_equal(as_debug_frames(debug, 1, frames, MOST), 0);
    assert_true(inlined > 20);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        assert_true(seen[i] > 0);
    as_debug_free(debug);
    as_symtab_free(&code);
    as_strings_free(strings);
    as_elf_close(elf);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_shown)};
    program = argc == 2 ? argv[1] : NULL;
    return program ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
}
