/* Where the files of an installation are looked for, by the path of the program. */
#include "base/install.h"
#include "base/named_file.h"
#include "base/path.h"
#include "base/str.h"

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

static struct as_install_folders folders;

static void expect(const char *program, const char *beside, const char *installed, const char *const wanted[4])
{
    as_install_folders_of(&folders, program, beside, installed);
    for (int i = 0; i < AS_INSTALL_FOLDERS; i++)
        assert_string_equal(folders.path[i], wanted[i]);
}

/* The prefix that this very build was configured with is the last resort. */
static const char *configured(const char *installed)
{
    static char path[PATH_MAX];
    as_install_folders_of(&folders, "/a/assay", "", installed);
    snprintf(path, sizeof path, "%s", folders.path[3]);
    assert_int_equal(path[0], '/');
    size_t tail = strlen(installed), length = strlen(path);
    assert_true(length > tail && strcmp(path + length - tail, installed) == 0 && path[length - tail - 1] == '/');
    return path;
}

static void beside_the_program(void **state)
{
    const char *last = configured("lib/assay");
    expect("/home/a b/build/assay", "", "lib/assay", (const char *[]){"/home/a b/build", "", "", last});
    expect("/home/a b/build/assay", "machines", "lib/assay",
           (const char *[]){"/home/a b/build/machines", "", "", last});
}

/* A prefix that was moved as a whole, also the root directory. */
static void installed(void **state)
{
    const char *last = configured("share/assay");
    expect("/opt/x/bin/assay", "", "share/assay", (const char *[]){"/opt/x/bin", "", "/opt/x/share/assay", last});
    expect("/bin/assay", "", "share/assay", (const char *[]){"/bin", "", "/share/assay", last});
    expect("/opt/sbin/assay", "", "share/assay", (const char *[]){"/opt/sbin", "", "", last});
    expect("/opt/bin/assay", "", "/etc/assay", (const char *[]){"/opt/bin", "", "", "/etc/assay"});
}

/* Test programs find the top of their build tree, wherever the tree itself lies. */
static void deep_in_the_build_tree(void **state)
{
    const char *last = configured("lib/assay");
    expect("/tests/b/assay", "m", "lib/assay", (const char *[]){"/tests/b/m", "/m", "", last});
    expect("/x/tests/b/tests/unit/core/test_a", "m", "lib/assay",
           (const char *[]){"/x/tests/b/tests/unit/core/m", "/x/tests/b/m", "", last});
    expect("/x/b/bench/bare", "m", "lib/assay", (const char *[]){"/x/b/bench/m", "/x/b/m", "", last});
}

static void paths_that_are_no_help(void **state)
{
    static char longest[PATH_MAX + 10];
    memset(longest, 'a', PATH_MAX - 8);
    longest[0] = '/';
    strcpy(longest + PATH_MAX - 8, "/assay");
    const char *last = configured("lib/assay");
    expect("", "m", "lib/assay", (const char *[]){"", "", "", last});
    expect(longest, "machines", "lib/assay", (const char *[]){"", "", "", last});
}

static void finds_files(void **state)
{
    char path[PATH_MAX];
    assert_true(as_install_find("boom-tip.machine", "machines", "no/such/directory", path));
    assert_int_equal(access(path, R_OK), 0);
    assert_false(as_install_find("no-such.machine", "machines", "no/such/directory", path));
}

static void make_file(const char *directory, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

static void remove_file(const char *directory, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    unlink(path);
}

static void finds_by_name(void **state)
{
    char directory[] = "/tmp/assay-install-XXXXXX", path[PATH_MAX], wanted[PATH_MAX], name[8];
    struct as_error err = AS_ERROR_INIT;
    struct as_str list = {0};
    assert_non_null(mkdtemp(directory));
    static const char *const files[] = {"two.kind", "one.kind", "three.other", ".kind"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        make_file(directory, files[i]);
    const struct as_named_files kinds = {"kind", ".kind", "no-such-folder", directory};
    as_named_files_add(&kinds, &list);
    assert_string_equal(as_str_get(&list), "one, two");
    snprintf(wanted, sizeof wanted, "%s/one.kind", directory);
    assert_true(as_named_files_find(&kinds, "one", path, &err));
    assert_string_equal(path, wanted);
    assert_true(as_named_files_find(&kinds, "./any/path", path, &err));
    assert_string_equal(path, "./any/path");
    assert_false(as_named_files_find(&kinds, "four", path, &err));
    assert_string_equal(err.message, "no kind 'four'; there are: one, two; or give the path of a file");
    as_named_files_name(&kinds, "some/where/mine.kind", name, sizeof name);
    assert_string_equal(name, "mine");
    as_named_files_name(&kinds, "mine", name, sizeof name);
    assert_string_equal(name, "mine");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        remove_file(directory, files[i]);
    rmdir(directory);
    as_str_free(&list);
}

static void note_own(void *context, const char *name)
{
    *(bool *)context |= strcmp(name, "test_install") == 0;
}

/* This program's own folder is the first: Meson's objects of it lie there, in test_install.p. */
static void lists_what_is_beside(void **state)
{
    bool found = false;
    as_named_files_list(&(struct as_named_files){"object", ".p", "", "no/such/directory"}, note_own, &found);
    assert_true(found);
}

static void searches_the_path(void **state)
{
    char found[PATH_MAX], *before = getenv("PATH") ? strdup(getenv("PATH")) : NULL;
    setenv("PATH", "/no/such/folder:/dev:/bin", 1);
    assert_true(as_path_search("sh", found));
    assert_string_equal(found, "/bin/sh");
    assert_false(as_path_search("no-such-program", found));
    assert_false(as_path_search("null", found)); /* in /dev, and no program */
    setenv("PATH", "/bin:/no/such/folder", 1);
    assert_true(as_path_search("sh", found));
    setenv("PATH", "", 1);
    assert_false(as_path_search("sh", found));
    unsetenv("PATH");
    assert_true(as_path_search("sh", found));
    if (before)
        setenv("PATH", before, 1);
    free(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beside_the_program),
        cmocka_unit_test(installed),
        cmocka_unit_test(deep_in_the_build_tree),
        cmocka_unit_test(paths_that_are_no_help),
        cmocka_unit_test(finds_files),
        cmocka_unit_test(finds_by_name),
        cmocka_unit_test(lists_what_is_beside),
        cmocka_unit_test(searches_the_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
