/* What exports stand on: text that cannot break out, rounding that loses nothing, and time of paths shared out of time
 * of instructions so that every sum stays what it was. */
#include "unit.h"

#include "base/vec.h"
#include "export/export_text.h"
#include "export/export_view.h"
#include "store/store_write.h"

#include <stdio.h>
#include <unistd.h>

static void assert_clean(const char *expected, const char *text, const char *forbidden, size_t most)
{
    struct as_str out = {0};
    as_export_clean(&out, text, forbidden, '_', most);
    assert_string_equal(as_str_get(&out), expected);
    as_str_free(&out);
}

static void text_is_cleaned(void **state)
{
    assert_clean("plain <text> ü €", "plain <text> ü €", NULL, 0);
    assert_clean("a?b?c?",
                 "a\nb\x1b"
                 "c\x7f",
                 NULL, 0);
    assert_clean("a?b",
                 "a\xc2\x9b"
                 "b",
                 NULL, 0); /* C1 */
    assert_clean("\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd", "\xff|\xc0\x80|\xe2", NULL, 0);
    assert_clean("\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "\xed\xa0\x80", NULL, 0);                 /* a surrogate */
    assert_clean("\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "\xf4\x90\x80\x80", NULL, 0); /* above U+10FFFF */
    assert_clean("a_b_c", "a;b c", "; ", 0);
    assert_clean("abcdef…", "abcdefghijklmnop", NULL, 9);
    assert_clean("", "", NULL, 9);
}

static void rounding_keeps_the_sum(void **state)
{
    struct as_export_rounder rounder = {.scale = 720720, .parts = 1};
    uint64_t units = 0, told = 0;
    for (uint64_t i = 1; i < 10000; i++) {
        uint64_t value = i * 7919 % 1000003;
        uint64_t part = as_export_round(&rounder, value);
        assert_true(part <= value / 720720 + 1);
        units += value;
        told += part;
    }
    assert_int_equal(told, (units + 360360) / 720720);
}

/* ---- sharing ---- */

enum { FUNCTIONS = 5, CODE = 6, THREADS = 2, PATHS = 40, MASKS = 3 };

static uint32_t seed = 12345;

static uint32_t chance(uint32_t most)
{
    seed = seed * 1103515245 + 12345;
    return seed / 65536 % most;
}

/* Paths ask for less, as much, or more than there is. */
static void write_random(const char *path, uint32_t greed)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_store_writer *writer = as_store_writer_open(path, &err);
    assert_non_null(writer);
    for (uint32_t i = 0; i < THREADS; i++)
        as_store_add_thread(writer, &(struct as_store_thread){.number = i + 1});
    for (uint32_t i = 0; i < FUNCTIONS; i++)
        as_store_add_function(writer,
                              &(struct as_store_function){.name = "f", .module = AS_STORE_NONE, .file = AS_STORE_NONE});
    for (uint32_t i = 0; i < FUNCTIONS * CODE; i++) {
        const struct as_store_location location = {i, AS_STORE_NONE, i / CODE, AS_STORE_NONE, AS_STORE_NONE,
                                                   0, AS_STORE_NONE};
        as_store_add_instruction(writer, &(struct as_store_insn){.location = location});
    }
    for (uint32_t i = 0; i < PATHS; i++)
        as_store_add_path(writer, &(struct as_store_path){.parent = i ? chance(i) : AS_STORE_NONE,
                                                          .function = i % FUNCTIONS,
                                                          .call_site = AS_STORE_NONE});
    as_store_add_series(writer, &(struct as_store_series){.name = "s", .unit = "cycles", .scale = 7, .events = 3});
    for (uint32_t i = 0; i < FUNCTIONS * CODE; i++)
        for (uint32_t t = 0; t < THREADS; t++) {
            uint64_t rest = chance(1000), samples = chance(20);
            as_store_add_time(writer, &(struct as_store_time){0, t, i, rest, samples, 1});
            for (uint32_t m = 0; m < MASKS; m++) {
                uint64_t part = chance(400), count = chance(5);
                as_store_add_component(writer, &(struct as_store_component){0, t, i, m, part, count});
            }
        }
    for (uint32_t i = 0; i < PATHS; i++)
        for (uint32_t t = 0; t < THREADS; t++) {
            uint32_t at = chance(3) ? AS_STORE_NONE : i % FUNCTIONS * CODE + chance(CODE);
            as_store_add_path_time(writer,
                                   &(struct as_store_path_time){0, t, i, at, chance(greed), chance(greed / 50 + 1)});
        }
    assert_true(as_store_writer_commit(writer, &err));
}

/* Units of the cells that have this thread, and instruction, path, or none of them. */
static uint64_t sum_of(const struct as_export_view *view, uint32_t thread, uint32_t instruction, uint32_t path,
                       uint64_t *samples)
{
    uint64_t units = 0;
    *samples = 0;
    for (size_t i = 0; i < view->cells.len; i++) {
        const struct as_export_cell *cell = &view->cells.data[i];
        if (cell->thread != thread || (instruction != AS_STORE_NONE && cell->instruction != instruction) ||
            (path != AS_STORE_NONE && cell->path != path))
            continue;
        units += cell->units;
        *samples += cell->samples;
    }
    return units;
}

static void check_sums(const struct as_export_view *view)
{
    uint64_t total = 0, samples;
    for (size_t i = 0; i < view->raw.n_times; i++) {
        const struct as_store_time *time = &view->raw.times[i];
        assert_int_equal(sum_of(view, time->thread, time->instruction, AS_STORE_NONE, &samples), time->units);
        assert_int_equal(samples, time->samples);
        total += time->units;
    }
    assert_int_equal(view->units, total);
    for (size_t i = 0; i < view->raw.n_paths; i++) {
        uint64_t asked = 0;
        for (size_t k = 0; k < view->raw.n_paths; k++)
            if (view->raw.paths[k].path == view->raw.paths[i].path &&
                view->raw.paths[k].thread == view->raw.paths[i].thread)
                asked += view->raw.paths[k].units;
        assert_true(sum_of(view, view->raw.paths[i].thread, AS_STORE_NONE, view->raw.paths[i].path, &samples) <= asked);
    }
}

/* Where the paths ask for no more than there is, each gets all that it asked for. */
static void check_contented(const struct as_export_view *view)
{
    uint64_t samples;
    for (size_t i = 0; i < view->raw.n_paths; i++)
        if (view->raw.paths[i].instruction == AS_STORE_NONE)
            assert_int_equal(sum_of(view, view->raw.paths[i].thread, AS_STORE_NONE, view->raw.paths[i].path, &samples),
                             view->raw.paths[i].units);
}

static void shares_keep_every_sum(void **state)
{
    static const uint32_t greeds[] = {20, 150, 400, 2000};
    for (size_t i = 0; i < 4 * sizeof greeds / sizeof *greeds; i++) {
        struct as_error err = AS_ERROR_INIT;
        struct as_export_view view;
        uint32_t greed = greeds[i / 4];
        char path[64];
        snprintf(path, sizeof path, "/tmp/assay-export-%d.db", getpid());
        write_random(path, greed);
        struct as_store *store = as_store_open(path, &err);
        unlink(path);
        assert_non_null(store);
        assert_true(as_export_view_open(&view, store, &(struct as_export_options){0}, &err));
        check_sums(&view);
        if (greed == 20)
            check_contented(&view);
        as_export_view_free(&view);
        as_store_close(store);
    }
}

enum { PATH_SIZE = 64 };

/* A thread, the function "f", the series "s". */
static struct as_store_writer *begin_profile(char path[PATH_SIZE], uint32_t events)
{
    struct as_error err = AS_ERROR_INIT;
    snprintf(path, PATH_SIZE, "/tmp/assay-export-%d.db", getpid());
    struct as_store_writer *writer = as_store_writer_open(path, &err);
    assert_non_null(writer);
    as_store_add_thread(writer, &(struct as_store_thread){.number = 1});
    as_store_add_function(writer,
                          &(struct as_store_function){.name = "f", .module = AS_STORE_NONE, .file = AS_STORE_NONE});
    as_store_add_series(writer, &(struct as_store_series){.name = "s", .unit = "cycles", .scale = 1, .events = events});
    return writer;
}

static struct as_store *open_view(struct as_store_writer *writer, const char *path, struct as_export_view *view)
{
    struct as_error err = AS_ERROR_INIT;
    assert_true(as_store_writer_commit(writer, &err));
    struct as_store *store = as_store_open(path, &err);
    unlink(path);
    assert_non_null(store);
    assert_true(as_export_view_open(view, store, &(struct as_export_options){0}, &err));
    return store;
}

/* More paths of a function than shares are worked out for: the others take what is left in turn, to the last unit. */
static void many_paths_share_all_there_is(void **state)
{
    enum { INSNS = 600, CALLERS = 600, UNITS = 10 };
    struct as_export_view view;
    char path[PATH_SIZE];
    struct as_store_writer *writer = begin_profile(path, 0);
    for (uint32_t i = 0; i < INSNS; i++) {
        const struct as_store_location location = {i, AS_STORE_NONE, 0, AS_STORE_NONE, AS_STORE_NONE, 0, AS_STORE_NONE};
        as_store_add_instruction(writer, &(struct as_store_insn){.location = location});
        as_store_add_time(writer, &(struct as_store_time){0, 0, i, UNITS, 0, 1});
    }
    for (uint32_t i = 0; i < CALLERS; i++) {
        as_store_add_path(writer, &(struct as_store_path){
                                      .parent = i ? i - 1 : AS_STORE_NONE, .function = 0, .call_site = AS_STORE_NONE});
        as_store_add_path_time(writer, &(struct as_store_path_time){0, 0, i, AS_STORE_NONE, UNITS, 0});
    }
    struct as_store *store = open_view(writer, path, &view);
    assert_int_equal(view.units, INSNS * UNITS);
    uint64_t *given = calloc(CALLERS, sizeof *given), none = 0;
    for (size_t i = 0; i < view.cells.len; i++)
        *(view.cells.data[i].path < CALLERS ? &given[view.cells.data[i].path] : &none) += view.cells.data[i].units;
    assert_int_equal(none, 0);
    for (uint32_t i = 0; i < CALLERS; i++)
        assert_int_equal(given[i], UNITS);
    free(given);
    as_export_view_free(&view);
    as_store_close(store);
}

/* A series has components if it has one. */
static void components_are_known(void **state)
{
    for (uint32_t components = 0; components <= 1; components++) {
        const struct as_store_location location = {0, AS_STORE_NONE, 0, AS_STORE_NONE, AS_STORE_NONE, 0, AS_STORE_NONE};
        struct as_export_view view;
        char path[PATH_SIZE];
        struct as_store_writer *writer = begin_profile(path, 3);
        as_store_add_instruction(writer, &(struct as_store_insn){.location = location});
        as_store_add_time(writer, &(struct as_store_time){0, 0, 0, 10, 0, 1});
        if (components)
            as_store_add_component(writer, &(struct as_store_component){0, 0, 0, 1, 10, 0});
        struct as_store *store = open_view(writer, path, &view);
        assert_int_equal(view.has_components, components);
        as_export_view_free(&view);
        as_store_close(store);
    }
}

/* However short it is. */
static void units_have_names(void **state)
{
    static const char *const units[] = {NULL, "", "s", "ns", "cycles"}, *const names[] = {"units", "units", "s", "ns",
                                                                                          "cycles"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        assert_string_equal(as_export_unit(&(struct as_store_series){.unit = units[i]}), names[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_cleaned),       cmocka_unit_test(rounding_keeps_the_sum),
        cmocka_unit_test(shares_keep_every_sum), cmocka_unit_test(many_paths_share_all_there_is),
        cmocka_unit_test(components_are_known),  cmocka_unit_test(units_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
