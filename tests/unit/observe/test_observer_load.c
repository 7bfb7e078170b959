/* Observers from shared objects: what is loaded, what is refused and in which words, and crashes in each of their
 * functions. The arguments: the directory with the shared objects, and the example of doc/examples/observer. */
#include "unit.h"

#include "observe/bundled.h"
#include "observe/observer_load.h"
#include "observe/pipe_buffer.h"

#include <stdio.h>

static const char *directory, *example;

static const struct as_insn *insn_at(void *context, uint32_t id)
{
    static const struct as_insn insn = {.address = 0x1234};
    return &insn;
}

static const char *function_at(void *context, uint32_t id)
{
    return "main";
}

static const struct as_run_info info = {
    .size = sizeof info, .machine = "toy", .commit_width = 4, .rob = 128, .insn = insn_at, .function = function_at};

static char *path_of(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/observer_%s.so", directory, name);
    return path;
}

/* Loads it, shows it five records, and leaves what it reports in `text`. Returns how many crashed. */
static size_t use(const char *spec, bool inline_, char **text)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_loaded_observer loaded;
    void *self = NULL;
    if (!as_observer_load(spec, &info, &loaded, &err) || !as_observer_create(&loaded, &self, 1, &err))
        fail_msg("%s", err.message);
    assert_true(loaded.foreign);
    struct as_fanout *fanout =
        as_fanout_new(&(struct as_fanout_options){.inline_ = inline_, .batch = 8, .in_flight = 2});
    as_fanout_add(fanout, loaded.ops, self, true);
    assert_true(as_fanout_start(fanout, &err));
    struct as_pipe_buffer *buffer = as_pipe_buffer_take(fanout);
    memset(buffer->pipes, 0, 5 * sizeof *buffer->pipes);
    as_pipe_buffer_publish(fanout, buffer, 0, 5, false);
    as_fanout_finish(fanout);
    size_t size;
    FILE *out = open_memstream(text, &size);
    size_t crashed = as_fanout_report(fanout, out);
    fclose(out);
    as_fanout_free(fanout);
    if (crashed == 0)
        as_observer_unload(&loaded);
    return crashed;
}

static void loads_and_reports(void **state)
{
    char *text, spec[5000];
    assert_int_equal(use(path_of("good"), false, &text), 0);
    assert_string_equal(text, "toy 5 \n");
    free(text);
    snprintf(spec, sizeof spec, "%s,a=1,b=2", path_of("good"));
    assert_int_equal(use(spec, true, &text), 0);
    assert_string_equal(text, "toy 5 a=1,b=2\n");
    free(text);
}

static void in_the_current_directory(void **state)
{
    char *text, *before = getcwd(NULL, 0);
    assert_int_equal(chdir(directory), 0);
    assert_int_equal(use("observer_good.so", true, &text), 0);
    free(text);
    assert_int_equal(chdir(before), 0);
    free(before);
}

/* The documented example: a thousand records of one instruction, each ten cycles in the ROB, and one of another. */
static void the_example(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_loaded_observer loaded;
    char *text;
    size_t size;
    struct as_pipe pipes[1001] = {{.insn = 5, .dispatch = 1, .commit = 2000}};
    for (size_t i = 1; i <= 1000; i++)
        pipes[i] = (struct as_pipe){.insn = 77, .dispatch = i, .commit = i + 10};
    void *self = NULL;
    assert_true(as_observer_load(example, &info, &loaded, &err) && as_observer_create(&loaded, &self, 1, &err));
    loaded.ops->batch(self, &(struct as_pipe_batch){.size = sizeof(struct as_pipe_batch), .n = 1001, .pipes = pipes});
    FILE *out = open_memstream(&text, &size);
    loaded.ops->finish(self, out);
    fclose(out);
    assert_non_null(strstr(text, "reorder buffer of 128 (toy)\n        10.0       1000  0x1234 in main\n"));
    free(text);
    loaded.ops->free(self);
    as_observer_unload(&loaded);
}

static void assert_refused(const char *spec, const char *message)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_loaded_observer loaded;
    void *self = NULL;
    bool found = as_observer_load(spec, &info, &loaded, &err);
    assert_false(found && as_observer_create(&loaded, &self, 1, &err));
    if (!strstr(err.message, message))
        fail_msg("'%s' does not say '%s'", err.message, message);
    assert_null(strchr(err.message, '\n'));
    if (!found)
        assert_null(loaded.handle);
    if (strstr(err.message, "crashed")) { /* its code must not run again, so the object stays loaded */
        free(loaded.path);
        free(loaded.argument);
    } else
        as_observer_unload(&loaded);
}

static void refusals(void **state)
{
    assert_refused("/nonexistent/observer.so", "cannot load the observer /nonexistent/observer.so: No such file");
    assert_refused("no-such.so,argument", "cannot load the observer no-such.so: No such file");
    assert_refused(directory, "not a file");
    assert_refused("nobody", "neither a shared object nor one of konata, ");
    assert_refused("/proc/self/exe", "cannot load the observer"); /* a program, or one without the symbol */
    assert_refused("/proc/self/maps", "cannot load the observer");
    assert_refused(path_of("nothing"), "does not export 'assay_observer'");
    assert_refused(path_of("wrong_version"),
                   "was built for version 77 of assay/observer.h, this is version 2: build it again");
    assert_refused(path_of("version_1"),
                   "was built for version 1 of assay/observer.h, this is version 2: build it again");
    assert_refused(path_of("no_merge"), "supports workers but lacks a merge function");
    assert_refused(path_of("wrong_record"), "was built for records of 48 bytes, this Assay's have 64");
    assert_refused(path_of("no_name"), "lacks a name");
    assert_refused(path_of("no_create"), "lacks a create function");
    assert_refused(path_of("no_batch"), "lacks a batch function");
    assert_refused(path_of("declines"), "the observer 'counter' (");
}

/* Bundled ones need no file, and no guard. */
static void by_name(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_loaded_observer loaded;
    void *selves[3];
    assert_true(as_observer_load("timeline,40", &info, &loaded, &err));
    assert_ptr_equal(loaded.ops, as_bundled_find("timeline"));
    assert_string_equal(loaded.argument, "40");
    assert_false(loaded.foreign);
    assert_true(as_observer_create(&loaded, selves, 3, &err));
    for (int i = 0; i < 3; i++)
        loaded.ops->free(selves[i]);
    as_observer_unload(&loaded);
    assert_null(as_bundled_find("timelines"));
    assert_null(as_bundled_find(""));
    for (size_t i = 0; as_bundled_at(i); i++) {
        assert_ptr_equal(as_bundled_find(as_bundled_at(i)->name), as_bundled_at(i));
        assert_int_equal(as_bundled_at(i)->version, AS_OBSERVER_VERSION);
        assert_true(as_bundled_at(i)->create && (as_bundled_at(i)->batch || as_bundled_at(i)->accesses));
    }
}

static void crash_in_create(void **state)
{
    assert_refused(path_of("crashes_in_create"), "crashed when it was created (SIGSEGV)");
}

struct crash {
    const char *name;
    bool inline_;
    size_t crashed;
};

static void use_in_child(void *argument)
{
    const struct crash *crash = argument;
    char *text;
    _exit(use(path_of(crash->name), crash->inline_, &text) == crash->crashed ? 0 : 1);
}

static void crashes(void **state)
{
    static const struct {
        const char *name, *signal;
        size_t crashed; /* known at the time of the report */
    } cases[] = {
        {"aborts_in_batch", "SIGABRT", 1},
        {"overflows_in_batch", "SIGSEGV", 1},
        {"divides_in_finish", "SIGFPE", 1},
        {"crashes_in_free", "SIGSEGV", 0},
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        struct crash crash = {cases[i / 2].name, i % 2, cases[i / 2].crashed};
        char text[4096], want[256];
        snprintf(want, sizeof want,
                 "assay: the observer 'counter' crashed (%s): the run continues, and its result is missing\n",
                 cases[i / 2].signal);
        assert_int_equal(unit_run_child(use_in_child, &crash, text, sizeof text), 0);
        assert_string_equal(text, want);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    directory = argv[1];
    example = argv[2];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_and_reports), cmocka_unit_test(in_the_current_directory),
        cmocka_unit_test(the_example),       cmocka_unit_test(refusals),
        cmocka_unit_test(by_name),           cmocka_unit_test(crash_in_create),
        cmocka_unit_test(crashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
