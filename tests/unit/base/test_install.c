/* Where the files of an installation are looked for, by the path of the program. */
#include "base/install.h"

#include "unit.h"

#include <stdio.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beside_the_program),
        cmocka_unit_test(installed),
        cmocka_unit_test(deep_in_the_build_tree),
        cmocka_unit_test(paths_that_are_no_help),
        cmocka_unit_test(finds_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
