/* Where results go: files that appear whole or not at all, in the place of older ones, and what is written to directly. */
#include "unit.h"

#include "cmd/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct as_error err;

static struct as_output opened(const char *path)
{
    struct as_output output;
    err = (struct as_error)AS_ERROR_INIT;
    if (!as_output_open(&output, path, &err))
        fail_msg("%s", err.message);
    return output;
}

static void check_refused(const char *path, const char *why, int status)
{
    struct as_output output;
    err = (struct as_error)AS_ERROR_INIT;
    assert_false(as_output_open(&output, path, &err));
    assert_non_null(strstr(err.message, why));
    assert_int_equal(err.status, status);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void check_file(const char *path, const char *text, mode_t mode)
{
    char found[64] = "";
    struct stat info;
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0 && fstat(fd, &info) == 0 && read(fd, found, sizeof found - 1) >= 0);
    close(fd);
    assert_string_equal(found, text);
    assert_int_equal(info.st_mode & 0777, mode);
}

static void check_files(size_t n)
{
    DIR *folder = opendir(".");
    size_t found = 0;
    for (const struct dirent *entry; (entry = readdir(folder));)
        found += entry->d_name[0] != '.';
    closedir(folder);
    assert_int_equal(found, n);
}

static void a_new_file(void **state)
{
    size_t descriptors = unit_count_descriptors();
    struct as_output output = opened("new");
    fputs("whole", output.file);
    fflush(output.file);
    check_files(0); /* it has no name yet */
    assert_true(as_output_finish(&output, &err));
    check_file("new", "whole", 0644);
    assert_true(!output.file && !output.path && !output.temporary && !output.target);
    output = opened("other");
    fputs("part", output.file);
    as_output_drop(&output);
    as_output_drop(&output); /* it is gone */
    check_files(1);
    assert_int_equal(unit_count_descriptors(), descriptors);
    unlink("new");
}

static void in_the_place_of_another(void **state)
{
    write_file("old", "before");
    chmod("old", 0640);
    assert_int_equal(symlink("old", "link"), 0);
    struct as_output output = opened("link");
    fputs("after", output.file);
    fflush(output.file);
    check_file("old", "before", 0640);
    assert_true(as_output_finish(&output, &err));
    check_file("old", "after", 0640);
    struct stat info;
    assert_true(lstat("link", &info) == 0 && S_ISLNK(info.st_mode));
    output = opened("old");
    as_output_drop(&output);
    check_file("old", "after", 0640);
    unlink("link");
    unlink("old");
    check_files(0);
}

static void not_to_be_written(void **state)
{
    size_t descriptors = unit_count_descriptors();
    assert_int_equal(mkdir("folder", 0755), 0);
    check_refused("folder", "cannot write folder: Is a directory", AS_EXIT_FAILURE);
    check_refused("nowhere/file", "cannot write nowhere/file: No such file", AS_EXIT_FAILURE);
    check_refused("/dev/null/file", "cannot write /dev/null/file: Not a directory", AS_EXIT_FAILURE);
    assert_int_equal(rmdir("folder"), 0);
    write_file("text", "SQLite format 3");
    struct as_output output = opened("text"); /* which only begins like a profile */
    as_output_drop(&output);
    unlink("text");
    assert_int_equal(unit_count_descriptors(), descriptors);
}

static void written_directly(void **state)
{
    char path[32], text[16] = "";
    int ends[2];
    assert_null(as_output_name("-"));
    assert_null(as_output_name(NULL));
    assert_string_equal(as_output_name("--"), "--");
    for (int i = 0; i < 2; i++) {
        struct as_output output = opened(i ? "-" : NULL);
        assert_ptr_equal(output.file, stdout);
        assert_true(as_output_finish(&output, &err));
        as_output_drop(&output); /* it stays open */
        assert_true(fcntl(STDOUT_FILENO, F_GETFD) >= 0);
    }
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    struct as_output output = opened(path);
    fputs("direct", output.file);
    fflush(output.file);
    assert_int_equal(read(ends[0], text, sizeof text), 6); /* at once */
    assert_string_equal(text, "direct");
    assert_true(as_output_finish(&output, &err));
    assert_true(fcntl(ends[1], F_GETFD) >= 0); /* the descriptor is its owner's */
    close(ends[0]);
    close(ends[1]);
    output = opened("/dev/null");
    assert_true(as_output_finish(&output, &err));
    check_files(0);
}

/* Earlier errors are known in the end, and why. */
static void that_is_full(void **state)
{
    size_t descriptors = unit_count_descriptors();
    for (int early = 0; early < 2; early++) {
        struct as_output output = opened("/dev/full");
        fputs("much", output.file);
        if (early) {
            assert_int_equal(fflush(output.file), EOF);
            errno = ENOENT;
        }
        assert_false(as_output_finish(&output, &err));
        assert_string_equal(err.message, "cannot write /dev/full: No space left on device");
        assert_null(output.file);
    }
    assert_int_equal(unit_count_descriptors(), descriptors);
}

/* What failed before and would not fail now has no reason any more, and is an error still. */
static void that_was_full(void **state)
{
    static char much[1 << 20];
    char path[32];
    int ends[2];
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    struct as_output output = opened(path);
    (void)fwrite(much, 1, sizeof much, output.file);
    assert_true(ferror(output.file));
    while (read(ends[0], much, sizeof much) > 0)
        ;
    errno = ENOENT;
    assert_false(as_output_finish(&output, &err));
    assert_non_null(strstr(err.message, "Input/output error"));
    close(ends[0]);
    close(ends[1]);
}

static int enter(void **state)
{
    static char folder[] = "/tmp/assay-output-XXXXXX";
    *state = folder;
    umask(022);
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave(void **state)
{
    return chdir("/") || rmdir(*state) ? -1 : 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_new_file),        cmocka_unit_test(in_the_place_of_another),
                                       cmocka_unit_test(not_to_be_written), cmocka_unit_test(written_directly),
                                       cmocka_unit_test(that_is_full),      cmocka_unit_test(that_was_full)};
    return cmocka_run_group_tests(tests, enter, leave);
}
