/* Source files as lines: endings of all kinds, where moved ones are looked for, and what is said of those that have none. */
#include "base/alloc.h"
#include "unit.h"
#include "view/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/assay-sources.XXXXXX";

static char *path_of(const char *name)
{
    return as_format("%s/%s", directory, name);
}

static void write_file(const char *name, const char *text)
{
    char *path = path_of(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    free(path);
}

static int set_up(void **state)
{
    if (!mkdtemp(directory))
        return -1;
    char *inner = path_of("deep");
    int made = mkdir(inner, 0700);
    free(inner);
    write_file("file.c", "outer");
    write_file("deep/file.c", "one\ntwo\r\n\nfour");
    write_file("none.c", "");
    return made;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"file.c", "deep/file.c", "none.c", "deep", ""};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = path_of(names[i]);
        (void)remove(path);
        free(path);
    }
    return 0;
}

static void check_lines(const struct as_source *source)
{
    assert_null(source->problem);
    assert_int_equal(source->n_lines, 4);
    assert_string_equal(as_source_line(source, 1), "one");
    assert_string_equal(as_source_line(source, 2), "two");
    assert_string_equal(as_source_line(source, 3), "");
    assert_string_equal(as_source_line(source, 4), "four");
    assert_null(as_source_line(source, 0));
    assert_null(as_source_line(source, 5));
}

static void lines(void **state)
{
    struct as_sources *sources = as_sources_new(NULL);
    char *path = path_of("deep/file.c"), *empty = path_of("none.c");
    const struct as_source *source = as_sources_get(sources, path);
    check_lines(source);
    assert_string_equal(source->path, path);
    assert_string_equal(source->found, path);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_true(source->time == status.st_mtim.tv_sec * INT64_C(1000000000) + status.st_mtim.tv_nsec);
    assert_ptr_equal(as_sources_get(sources, path), source); /* read once */
    const struct as_source *none = as_sources_get(sources, empty);
    assert_null(none->problem);
    assert_int_equal(none->n_lines, 0);
    assert_null(as_source_line(none, 1));
    as_sources_free(sources);
    free(path);
    free(empty);
}

/* By as much of its path as leads to a file: not by its name alone, where there is more. */
static void moved_files(void **state)
{
    struct as_sources *sources = as_sources_new(directory);
    char *path = path_of("deep/file.c"), *outer = path_of("file.c");
    const struct as_source *source = as_sources_get(sources, "/elsewhere/deep/file.c");
    check_lines(source);
    assert_string_equal(source->path, "/elsewhere/deep/file.c");
    assert_string_equal(source->found, path);
    source = as_sources_get(sources, "deep/file.c");
    check_lines(source);
    source = as_sources_get(sources, "/else/where/file.c");
    assert_string_equal(source->found, outer);
    assert_int_equal(source->n_lines, 1);
    assert_string_equal(as_source_line(source, 1), "outer");
    as_sources_free(sources);
    free(path);
    free(outer);
}

static void what_is_no_file(void **state)
{
    struct as_sources *sources = as_sources_new(NULL);
    assert_string_equal(as_sources_get(sources, "/elsewhere/deep/file.c")->problem, "it does not exist");
    assert_string_equal(as_sources_get(sources, "file.c")->problem, "its directory is unknown");
    assert_string_equal(as_sources_get(sources, directory)->problem, "it is not a regular file");
    assert_null(as_sources_get(sources, directory)->found);
    assert_null(as_source_line(as_sources_get(sources, directory), 1));
    as_sources_free(sources);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines),
        cmocka_unit_test(moved_files),
        cmocka_unit_test(what_is_no_file),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
