/* Which files cost a profile names: the three with most of the time, from five per cent on, and what is said of each. */
#include "import/import_internal.h"
#include "store/store_read.h"
#include "unit.h"
#include "unit_profile.h"

#include <math.h>
#include <stdio.h>

#define NONE AS_STORE_NONE

struct module {
    const char *path;
    uint64_t units; /* of an instruction without a function */
};

/* Each module has such an instruction; the first has functions with and without a symbol, too, of 10 and 20 units. */
static struct as_store *write_profile(const struct module *modules, uint32_t n, const struct as_import *import)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_store_writer *writer = as_store_writer_open(unit_profile, &err);
    assert_non_null(writer);
    as_store_add_thread(writer, &(struct as_store_thread){1, 100, NULL, 0, 0, 0});
    uint32_t series = as_store_add_series(
        writer, &(struct as_store_series){.name = "s", .unit = "cycles", .scale = 1, .precise = -1, .samples = 1});
    for (uint32_t i = 0; i < n; i++)
        as_store_add_module(writer, &(struct as_store_module){.path = modules[i].path});
    as_store_add_function(writer, &(struct as_store_function){"named", "named", 0, NONE, 0, 0x10, 16});
    as_store_add_function(writer, &(struct as_store_function){"0x20", NULL, 0, NONE, 0, 0x20, 16});
    for (uint32_t i = 0; i < n + 2; i++) {
        uint32_t module = i < n ? i : 0, function = i < n ? NONE : i - n;
        as_store_add_instruction(
            writer, &(struct as_store_insn){.location = {0x1000 * (i + 1), module, function, NONE, NONE, 0, NONE}});
        uint64_t units = i < n ? modules[i].units : i == n ? 10 : 20;
        if (units)
            as_store_add_time(writer, &(struct as_store_time){series, 0, i, units, 1, 0});
    }
    as_import_hint_names(writer, series, import);
    if (!as_store_writer_commit(writer, &err))
        fail_msg("%s", err.message);
    struct as_store *store = as_store_open(unit_profile, &err);
    assert_non_null(store);
    return store;
}

/* NULL: there is none. */
static const struct as_store_quality *hint(const struct as_store *store, int number)
{
    char key[32];
    size_t n;
    const struct as_store_quality *quality = as_store_quality(store, &n);
    snprintf(key, sizeof key, "nameless_%d", number);
    for (size_t i = 0; i < n; i++)
        if (strcmp(quality[i].key, key) == 0)
            return &quality[i];
    return NULL;
}

static void check_hint(const struct as_store *store, int number, double part, const char *file, const char *words)
{
    const struct as_store_quality *found = hint(store, number);
    assert_non_null(found);
    assert_true(fabs(found->value - part) < 1e-9);
    assert_non_null(strstr(found->text, file));
    assert_non_null(strstr(found->text, words));
}

/* 1000 units, of which "/none/first" has 100 and a function without a symbol. */
static const struct module five[] = {
    {"/none/first", 100}, {"/none/second", 300}, {"[anon]", 200}, {"[vdso]", 270}, {"/none/fourth", 100}};

static void the_three_largest(void **state)
{
    struct as_store *store = write_profile(five, 5, NULL);
    check_hint(store, 1, 0.3, "/none/second", "the file is in no installed Debian package");
    check_hint(store, 2, 0.2, "[anon]", "code that the program made while it ran");
    check_hint(store, 3, 0.12, "/none/first", "that have no names");
    assert_null(hint(store, 4));
    as_store_close(store);
}

static void five_per_cent(void **state)
{
    struct as_store *store = write_profile((const struct module[]){{"/none/first", 30}, {"[vdso]", 940}}, 2, NULL);
    check_hint(store, 1, 0.05, "/none/first", "no names");
    as_store_close(store);
    store = write_profile((const struct module[]){{"/none/first", 29}, {"[vdso]", 941}}, 2, NULL);
    assert_null(hint(store, 1));
    as_store_close(store);
}

/* Each of the names that code has which the program made, and what only looks like one. */
static void made_code(void **state)
{
    static const struct {
        const char *path;
        bool made;
    } cases[] = {{"[anon]", true},          {"//anon", true},         {"[anon:jit]", true},   {"[anon:]", true},
                 {"/tmp/perf-7.map", true}, {"/tmp/perf-", true},     {"[anon", false},       {"//anonymous", false},
                 {"/tmp/perf", false},      {"/tmp/perf.map", false}, {"[anonymous]", false}, {"[vdso]", false},
                 {"/tmp/own-7.map", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct module one = {cases[i].path, 970};
        assert_int_equal(as_import_is_made(cases[i].path), cases[i].made);
        struct as_store *store = write_profile(&one, 1, NULL);
        const struct as_store_quality *found = hint(store, 1);
        assert_int_equal(found != NULL, cases[i].made || cases[i].path[0] == '/');
        if (found)
            assert_int_equal(strstr(found->text, "code that the program made") != NULL, cases[i].made);
        as_store_close(store);
    }
}

/* Names that perf script printed are looked up nowhere; of a recording, files that are not here have another note. */
static void of_an_import(void **state)
{
    struct as_import *import = as_alloc(sizeof *import);
    struct as_store *store = write_profile(five, 5, import);
    check_hint(store, 1, 0.3, "/none/second", "perf script did not print");
    as_store_close(store);
    import->unmatched = 1;
    for (int i = 0; i < 5; i++)
        *as_vec_push(&import->code.modules) = (struct as_import_module){.matched = i == 4};
    store = write_profile(five, 5, import);
    check_hint(store, 1, 0.2, "[anon]", "code that the program made");
    check_hint(store, 2, 0.1, "/none/fourth", "the file is in no installed Debian package");
    assert_null(hint(store, 3));
    as_store_close(store);
    as_vec_free(&import->code.modules);
    free(import);
}

/* Options may stand together, take their value in the same word or the next, and end where the program begins. */
static void commands_for_all_processes(void **state)
{
    static const char *const wide[] = {"perf record -a",          "perf record -ag",
                                       "perf record -ga -o x",    "perf record -C 0",
                                       "perf record -gC1",        "perf record --all-cpus",
                                       "perf record --cpu=1",     "perf record -e cycles -a sleep 1",
                                       "perf record -ecycles -a", "perf record --event cycles -a",
                                       "perf mem record -a",      "perf record --call-graph dwarf -a"};
    static const char *const narrow[] = {"perf record ls -a",
                                         "perf record -g -- ls -a",
                                         "perf record -e a",
                                         "perf record -ea",
                                         "perf record -o a ls",
                                         "perf record --output -a ls",
                                         "perf record -g",
                                         "perf record",
                                         "perf -a",
                                         "",
                                         "perf record -p 12 -o -a",

                                         "perf recorder -a"};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (!as_import_is_wide_command(wide[i]))
            fail_msg("'%s' does not ask for all", wide[i]);
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        if (as_import_is_wide_command(narrow[i]))
            fail_msg("'%s' asks for all", narrow[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_three_largest), cmocka_unit_test(five_per_cent),
                                       cmocka_unit_test(made_code), cmocka_unit_test(of_an_import),
                                       cmocka_unit_test(commands_for_all_processes)};
    return cmocka_run_group_tests(tests, unit_profile_make, unit_profile_remove);
}
