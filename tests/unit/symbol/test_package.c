/* Packages of files, from lists as dpkg writes them. */
#include "unit.h"

#include "symbol/package.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/assay-package-XXXXXX";

static void write_list(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int set_up(void **state)
{
    if (!mkdtemp(directory))
        return -1;
    write_list("libfoo1:amd64.list", "/.\n/usr\n/usr/lib/nowhere/libfoo.so.1.2\n");
    write_list("foo-tools.list", "/usr/bin/nowhere-foo\n/usr/lib/nowhere/libfoo.so.1.2.old");
    write_list("broken.conffiles", "/usr/bin/other\n");
    return 0;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"libfoo1:amd64.list", "foo-tools.list", "broken.conffiles"};
    char path[256];
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        unlink(path);
    }
    return rmdir(directory);
}

static void assert_package(const char *path, const char *wanted)
{
    char *package = as_package_of(directory, path);
    if (wanted)
        assert_string_equal(package, wanted);
    else
        assert_null(package);
    free(package);
}

static void packages(void **state)
{
    assert_package("/usr/lib/nowhere/libfoo.so.1.2", "libfoo1");
    assert_package("/lib/nowhere/libfoo.so.1.2", "libfoo1"); /* before the directories were merged */
    assert_package("/usr/bin/nowhere-foo", "foo-tools");
    assert_package("/bin/nowhere-foo", "foo-tools");
    assert_package("/usr/lib/nowhere/libfoo.so.1", NULL);       /* whole lines only */
    assert_package("/usr/lib/nowhere/libfoo.so.1.2.old", NULL); /* dpkg ends every line */
    assert_package("/usr/bin/other", NULL);
    assert_null(as_package_of("/nowhere/at/all", "/usr/bin/nowhere-foo"));
}

static void debug_packages(void **state)
{
    char *foo = as_package_debug("libfoo1"), *libc = as_package_debug("libc6");
    assert_string_equal(foo, "libfoo1-dbgsym");
    assert_string_equal(libc, "libc6-dbg");
    free(foo);
    free(libc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(packages), cmocka_unit_test(debug_packages)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
