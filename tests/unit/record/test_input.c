/* Standard input for several runs: each reads the same. */
#include "record/input.h"

#include "unit.h"

#include <fcntl.h>

static void read_all(char *text, size_t size)
{
    size_t used = 0;
    for (ssize_t n; used < size - 1 && (n = read(STDIN_FILENO, text + used, size - 1 - used)) > 0;)
        used += (size_t)n;
    text[used] = '\0';
}

static void keep(struct as_input *input)
{
    struct as_error err = AS_ERROR_INIT;
    if (!as_input_keep(input, NULL, &err))
        fail_msg("%s", err.message);
}

static void check_twice(const struct as_input *input, const char *expected)
{
    char text[64];
    read_all(text, sizeof text);
    assert_string_equal(text, expected);
    as_input_rewind(input);
    read_all(text, sizeof text);
    assert_string_equal(text, expected);
}

static void test_pipe(void **state)
{
    struct as_input input;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "from a pipe", 11), 11);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    keep(&input);
    check_twice(&input, "from a pipe");
}

/* A file is read from where it stood: a script may have read its head. */
static void test_file(void **state)
{
    struct as_input input;
    char path[] = "/tmp/assay-test-input-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    assert_int_equal(write(fd, "head, rest", 10), 10);
    lseek(fd, 6, SEEK_SET);
    dup2(fd, STDIN_FILENO);
    close(fd);
    keep(&input);
    check_twice(&input, "rest");
}

/* What can be read only once, and is no pipe, is left to the program. */
static void test_device(void **state)
{
    struct as_input input;
    int fd = open("/dev/null", O_RDONLY);
    dup2(fd, STDIN_FILENO);
    close(fd);
    keep(&input);
    check_twice(&input, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pipe), cmocka_unit_test(test_file),
                                       cmocka_unit_test(test_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
