/* Which names are names of one file, before and after it exists; what a new file takes over from an old one. */
#include "base/alloc.h"
#include "base/path.h"

#include "unit.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

static char folder[] = "/tmp/assay-names-XXXXXX", before[PATH_MAX];

static int set_up(void **state)
{
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    assert_non_null(getcwd(before, sizeof before));
    return !mkdtemp(folder) || chdir(folder) != 0 || mkdir("in", 0700) != 0;
}

static int tear_down(void **state)
{
    static const char *const made[] = {"file",   "hard",  "soft",  "later", "first",
                                       "second", "round", "short", "in/up", "in/file"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        unlink(made[i]);
    return rmdir("in") != 0 || chdir(before) != 0 || rmdir(folder) != 0;
}

static void make(const char *path, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void expect_text(char *text, const char *wanted)
{
    assert_string_equal(text, wanted);
    free(text);
}

static void parts(void **state)
{
    assert_string_equal(as_path_base("a/b/c"), "c");
    assert_string_equal(as_path_base("c"), "c");
    assert_string_equal(as_path_base("a/"), "");
    assert_string_equal(as_path_shown("a/b/c"), "c");
    assert_string_equal(as_path_shown("c"), "c");
    assert_string_equal(as_path_shown("a/"), "a/");
    assert_string_equal(as_path_shown("[a/b]"), "[a/b]");
    expect_text(as_path_directory("a/b/c"), "a/b/");
    expect_text(as_path_directory("/c"), "/");
    expect_text(as_path_directory("c"), ".");
}

static void links(void **state)
{
    assert_int_equal(symlink("in/later", "soft"), 0);
    assert_int_equal(symlink("../file", "in/up"), 0);
    assert_int_equal(symlink("second", "first"), 0);
    assert_int_equal(symlink("/no/such/file", "second"), 0);
    assert_int_equal(symlink("round", "round"), 0);
    assert_int_equal(symlink("x", "short"), 0);
    expect_text(as_path_follow("none"), "none");
    expect_text(as_path_follow("soft"), "./in/later");
    expect_text(as_path_follow("in/up"), "in//../file");
    expect_text(as_path_follow("first"), "/no/such/file");
    expect_text(as_path_follow("short"), "./x");
    free(as_path_follow("round")); /* ends */
}

static void descriptors(void **state)
{
    assert_int_equal(symlink("/proc/self/fd/7", "seven"), 0);
    assert_int_equal(symlink("seven", "to-seven"), 0);
    assert_int_equal(symlink("circle", "circle"), 0);
    static const struct {
        const char *path;
        int number;
    } cases[] = {{"/dev/fd/0", 0},
                 {"/proc/self/fd/12", 12},
                 {"/proc/thread-self/fd/3", 3},
                 {"seven", 7},
                 {"to-seven", 7},
                 {"/dev/stdout", 1},
                 {"/dev/fd/", -1},
                 {"/dev/fd/1x", -1},
                 {"/dev/fd/-1", -1},
                 {"/dev/fd/2147483647", INT_MAX},
                 {"/dev/fd/2147483648", -1},
                 {"/dev/fd/:", -1},
                 {"/proc/self/fd/", -1},
                 {"circle", -1},
                 {"none", -1},
                 {"/dev/null", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (as_path_descriptor(cases[i].path) != cases[i].number)
            fail_msg("%s", cases[i].path);
    unlink("seven");
    unlink("to-seven");
    unlink("circle");
}

/* The last link of the longest chain that Linux follows. */
static void many_links(void **state)
{
    enum { MOST = 40 };
    char name[16], next[16];
    for (int i = 0; i < MOST; i++) {
        snprintf(name, sizeof name, "in/%d", i);
        snprintf(next, sizeof next, i + 1 < MOST ? "%d" : "end", i + 1);
        assert_int_equal(symlink(next, name), 0);
    }
    make("in/end", 0600);
    assert_int_equal(access("in/0", R_OK), 0);
    char *followed = as_path_follow("in/0");
    assert_string_equal(as_path_base(followed), "end");
    free(followed);
    for (int i = 0; i < MOST; i++) {
        snprintf(name, sizeof name, "in/%d", i);
        unlink(name);
    }
    unlink("in/end");
}

static void same_files(void **state)
{
    make("file", 0600);
    make("in/file", 0600);
    assert_int_equal(link("file", "hard"), 0);
    assert_int_equal(symlink("file", "soft"), 0);
    assert_true(as_path_is_same("file", "in/../file"));
    assert_true(as_path_is_same("file", "hard"));
    assert_true(as_path_is_same("soft", "file"));
    assert_false(as_path_is_same("file", "in/file"));
    assert_false(as_path_is_same("file", "none"));
    assert_false(as_path_is_same("none", "file"));
    assert_false(as_path_is_same("/dev/null", "/dev/null"));
    assert_false(as_path_is_same("in", "in"));
}

static void same_files_later(void **state)
{
    assert_int_equal(symlink("in/later", "soft"), 0);
    assert_true(as_path_is_same("later", "later"));
    assert_true(as_path_is_same("later", "./later"));
    assert_true(as_path_is_same("later", "in/../later"));
    assert_true(as_path_is_same("soft", "in/later"));
    assert_true(as_path_is_same("in/later", "soft"));
    assert_false(as_path_is_same("later", "in/later"));
    assert_false(as_path_is_same("later", "other"));
    assert_true(as_path_is_same("no/later", "no/later")); /* of one name, though nothing can be written there */
    assert_false(as_path_is_same("no/later", "no/./later"));
    assert_false(as_path_is_same("no/later", "later"));
    assert_false(as_path_is_same("later", "no/later"));
}

static mode_t mode_of(int fd)
{
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    return info.st_mode & 07777;
}

static void modes(void **state)
{
    make("file", 0640);
    int fd = open("later", O_WRONLY | O_CREAT, 0600);
    assert_int_equal(fchmod(fd, 0600), 0);
    assert_true(as_path_keep_mode(fd, "none"));
    assert_int_equal(mode_of(fd), 0600);
    assert_true(as_path_keep_mode(fd, "file"));
    assert_int_equal(mode_of(fd), 0640);
    assert_true(as_path_keep_mode(fd, "file"));
    assert_int_equal(mode_of(fd), 0640);
    close(fd);
    assert_false(as_path_keep_mode(fd, "file"));
}

static void programs(void **state)
{
    make("file", 0600);
    make("later", 0700);
    assert_true(as_path_is_program("./later"));
    assert_false(as_path_is_program("./file"));
    assert_false(as_path_is_program("in"));
    assert_false(as_path_is_program("none"));
}

/* Memory that was used before is zeroed again, and no other object is on the same lines of the host. */
static void memory_apart(void **state)
{
    enum { LINES = 128, BYTES = 1000 };
    for (int round = 0; round < 3; round++) {
        unsigned char *memory = as_alloc_apart(BYTES / 10, 10);
        assert_int_equal((uintptr_t)memory % LINES, 0);
        for (int i = 0; i < BYTES; i++)
            assert_int_equal(memory[i], 0);
        memset(memory, 0xff, BYTES);
        free(memory);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(parts),      TEST(links),      TEST(descriptors),
        TEST(many_links), TEST(same_files), TEST(same_files_later),
        TEST(modes),      TEST(programs),   cmocka_unit_test(memory_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
