/* Builds of one program that differ only in how their DWARF is kept must give the same answers: DWARF 4 and 5, packed,
 * in a separate file found by link or by build-id. Each is mapped at another address. Arguments: two programs, and
 * optionally the root of separate debug files. */
#include "sample_tools.h"
#include "unit.h"

#include <libgen.h>
#include <stdio.h>

static const char *first, *second, *root;

static const char *last_part(const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    return slash != NULL ? slash + 1 : path != NULL ? path : "??";
}

static void expect_same_line(const struct as_line *a, const struct as_line *b)
{
    assert_string_equal(last_part(a->file), last_part(b->file));
    assert_int_equal(a->line, b->line);
    assert_int_equal(a->column, b->column);
}

static void test_same(void **state)
{
    const uint64_t bias_a = 0x555555554000, bias_b = 0x7f1234567000;
    struct as_space_options options = {.debug_path = root};
    struct as_space *a = as_space_new(&options), *b = as_space_new(&options);
    sample_map(a, first, bias_a);
    sample_map(b, second, bias_b);
    struct sample_section text = sample_section(first, ".text");
    size_t inlined = 0, lines = 0;
    for (uint64_t at = text.address; at < text.address + text.size; at++) {
        struct as_inline_frame fa[16], fb[16];
        struct as_line la, lb;
        size_t na = as_space_inline(a, bias_a + at, fa, 16), nb = as_space_inline(b, bias_b + at, fb, 16);
        bool known = as_space_line(a, bias_a + at, &la);
        assert_int_equal(na, nb);
        assert_int_equal(known, as_space_line(b, bias_b + at, &lb));
        expect_same_line(&la, &lb);
        for (size_t i = 0; i < na; i++) {
            assert_string_equal(fa[i].function, fb[i].function);
            expect_same_line(&fa[i].call, &fb[i].call);
        }
        struct as_location pa, pb;
        as_space_find(a, bias_a + at, &pa);
        as_space_find(b, bias_b + at, &pb);
        assert_int_equal(pa.module_offset, at);
        assert_int_equal(pa.module_offset, pb.module_offset);
        assert_int_equal(pa.function_size, pb.function_size);
        inlined += na > 1;
        lines += known;
    }
    assert_true(inlined > 100);
    assert_true(lines > inlined);
    struct as_space_quality quality;
    as_space_quality(b, &quality);
    assert_int_equal(quality.modules, 1);
    assert_int_equal(quality.with_symbols, 1);
    assert_int_equal(quality.with_debug, 1);
    assert_int_equal(quality.unreadable, 0);
    assert_null(quality.first_problem);
    as_space_free(a);
    as_space_free(b);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same)};
    if (argc < 3)
        return 2;
    first = argv[1];
    second = argv[2];
    root = argc > 3 ? argv[3] : NULL;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
