/* Lines of a file that may come from anyone: with and without an end, too long, with a NUL. */
#include "unit.h"

#include "base/text_lines.h"

static struct as_lines lines_of(const char *bytes, size_t size, size_t most)
{
    FILE *in = fmemopen((void *)(uintptr_t)bytes, size, "r");
    assert_non_null(in);
    return (struct as_lines){.in = in, .name = "x", .most = most};
}

static void expect_end(struct as_lines *lines, const char *message)
{
    struct as_error err = AS_ERROR_INIT;
    assert_null(as_lines_next(lines));
    assert_int_equal(as_lines_end(lines, true, &err), message == NULL);
    if (message)
        assert_string_equal(err.message, message);
    fclose(lines->in);
}

static void expect_line(struct as_lines *lines, size_t number, const char *text)
{
    assert_string_equal(as_lines_next(lines), text);
    assert_int_equal(lines->number, number);
}

static void every_line(void **state)
{
    struct as_lines lines = lines_of("one\n\nthree\nfour", 15, 100);
    expect_line(&lines, 1, "one");
    expect_line(&lines, 2, "");
    expect_line(&lines, 3, "three");
    expect_line(&lines, 4, "four");
    expect_end(&lines, NULL);
}

static void longer_than_the_first_buffer(void **state)
{
    char bytes[1201];
    memset(bytes, 'a', 1200);
    bytes[1200] = '\n';
    struct as_lines lines = lines_of(bytes, sizeof bytes, 1200);
    assert_int_equal(strlen(as_lines_next(&lines)), 1200);
    expect_end(&lines, NULL);
}

static void too_long(void **state)
{
    struct as_lines lines = lines_of("abc\nabcd\n", 9, 3);
    expect_line(&lines, 1, "abc");
    expect_end(&lines, "x:2: this line is too long");
}

/* What comes behind the line that is wrong is not read. */
static void not_text(void **state)
{
    struct as_lines lines = lines_of("a\nb\0c\nd\n", 8, 100);
    expect_line(&lines, 1, "a");
    assert_null(as_lines_next(&lines));
    expect_end(&lines, "x:2: not text");
}

/* What the caller found to be wrong stands. */
static void keeps_the_first_error(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_lines lines = lines_of("\0\n", 2, 100);
    assert_null(as_lines_next(&lines));
    as_error_set(&err, "before");
    assert_false(as_lines_end(&lines, false, &err));
    assert_string_equal(err.message, "before");
    fclose(lines.in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line), cmocka_unit_test(longer_than_the_first_buffer), cmocka_unit_test(too_long),
        cmocka_unit_test(not_text),   cmocka_unit_test(keeps_the_first_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
