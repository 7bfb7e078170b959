/* Files as a whole: all bytes with NULs among them, nothing, one byte too many, and what cannot be read. */
#include "unit.h"

#include "base/whole_file.h"

#include <errno.h>

static char path[] = "/tmp/assay-whole-file-XXXXXX";

static void put(const void *bytes, size_t size)
{
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
}

static int drop(void **state)
{
    unlink(path);
    memcpy(path + strlen(path) - 6, "XXXXXX", 6);
    return 0;
}

static void all_bytes(void **state)
{
    size_t size = 9;
    put("a\0b\nc", 5);
    char *bytes = as_whole_file(path, 100, &size);
    assert_non_null(bytes);
    assert_int_equal(size, 5);
    assert_memory_equal(bytes, "a\0b\nc", 6);
    free(bytes);
}

static void nothing(void **state)
{
    size_t size = 9;
    put("", 0);
    char *bytes = as_whole_file(path, 100, &size);
    assert_non_null(bytes);
    assert_int_equal(size, 0);
    assert_string_equal(bytes, "");
    free(bytes);
}

/* Longer than a piece of the reader's, and its last byte is the last that is allowed, or one more. */
static void limits(void **state)
{
    enum { SIZE = 70001 };
    static const size_t most[] = {SIZE + 1, SIZE, SIZE - 1, 3}, sizes[] = {SIZE, SIZE, SIZE, 4};
    char *text = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++)
        text[i] = (char)('a' + i % 23);
    put(text, SIZE);
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        size_t size;
        char *bytes = as_whole_file(path, most[i], &size);
        assert_non_null(bytes);
        assert_int_equal(size, sizes[i]);
        assert_memory_equal(bytes, text, sizes[i]);
        assert_int_equal(bytes[size], 0);
        free(bytes);
    }
    free(text);
}

static void errors(void **state)
{
    size_t size;
    assert_null(as_whole_file("/nowhere/at all", 100, &size));
    assert_int_equal(errno, ENOENT);
    assert_null(as_whole_file("/tmp", 100, &size));
    assert_int_equal(errno, EISDIR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(all_bytes, drop),
                                       cmocka_unit_test_teardown(nothing, drop),
                                       cmocka_unit_test_teardown(limits, drop), cmocka_unit_test(errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
