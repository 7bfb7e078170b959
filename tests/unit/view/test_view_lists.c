/* Data, branches, and two profiles side by side. The numbers are those of view_bed.h. */
#include "unit.h"

#include <math.h>

#include "base/map.h"
#include "view/branches.h"
#include "view/data.h"
#include "view/gate.h"
#include "view/rows.h"
#include "view_bed.h"

#define NONE AS_STORE_NONE

/* ---- data ---- */

static struct as_data make_data(const struct as_view *view, enum as_data_level level)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_data data;
    if (!as_data_make(&data, view, level, &err))
        fail_msg("%s", err.message);
    return data;
}

struct wanted_data {
    uint32_t object, instruction;
    uint64_t units, samples, loads, stores, bytes, lines;
    size_t n_instructions;
};

static void check_data(const struct as_data *data, const struct wanted_data *wanted, size_t n)
{
    assert_int_equal(data->n, n);
    for (size_t i = 0; i < n; i++) {
        const struct as_data_row *row = &data->rows[i];
        assert_int_equal(row->object, wanted[i].object);
        assert_int_equal(row->instruction, wanted[i].instruction);
        assert_int_equal(row->units, wanted[i].units);
        assert_int_equal(row->samples, wanted[i].samples);
        assert_int_equal(row->load_units, wanted[i].loads);
        assert_int_equal(row->store_units, wanted[i].stores);
        assert_int_equal(row->bytes, wanted[i].bytes);
        assert_int_equal(row->lines, wanted[i].lines);
        assert_int_equal(row->n_instructions, wanted[i].n_instructions);
    }
}

/* The bytes of the table: 12 of two accesses that overlap, 4 of one that another repeats in part, 4. */
static void data_by_object(void **state)
{
    static const struct wanted_data wanted[] = {{0, 0, 584, 8, 434, 150, 20, 2, 4},
                                                {1, 7, 300, 4, 300, 300, 1, 1, 1},
                                                {2, 6, 90, 1, 0, 90, 8, 2, 1},
                                                {NONE, 4, 50, 1, 50, 0, 4, 1, 1}};
    struct as_view view = view_bed_open("shop.db", "tea");
    struct as_data data = make_data(&view, AS_DATA_BY_OBJECT);
    check_data(&data, wanted, 4);
    assert_int_equal(data.units, 1024);
    assert_int_equal(data.samples, 14);
    assert_int_equal(data.n_accesses, 8);
    const struct as_data_row *table = &data.rows[0];
    static const uint64_t top[][2] = {{4, 404}, {0, 150}, {1, 20}};
    assert_int_equal(table->n_top, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(table->top[i].instruction, top[i][0]);
        assert_int_equal(table->top[i].units, top[i][1]);
    }
    assert_int_equal(data.rows[1].n_top, 1);
    as_data_free(&data);
    as_view_free(&view);
}

static void data_by_line_and_instruction(void **state)
{
    static const struct wanted_data lines[] = {{0, 4, 404, 4, 404, 0, 12, 1, 1}, {1, 7, 300, 4, 300, 300, 1, 1, 1},
                                               {0, 0, 150, 2, 0, 150, 4, 1, 1},  {2, 6, 90, 1, 0, 90, 8, 2, 1},
                                               {NONE, 4, 50, 1, 50, 0, 4, 1, 1}, {0, 1, 20, 1, 20, 0, 4, 1, 1},
                                               {0, 2, 10, 1, 10, 0, 2, 1, 1}};
    struct as_view view = view_bed_open("shop.db", "tea");
    struct as_data data = make_data(&view, AS_DATA_BY_LINE);
    check_data(&data, lines, 7);
    as_data_free(&data);
    data = make_data(&view, AS_DATA_BY_INSTRUCTION);
    check_data(&data, lines, 7);
    as_data_free(&data);
    as_view_free(&view);
}

static void data_of_a_function(void **state)
{
    static const struct wanted_data wanted[] = {
        {0, 4, 404, 4, 404, 0, 12, 1, 1}, {2, 6, 90, 1, 0, 90, 8, 2, 1}, {NONE, 4, 50, 1, 50, 0, 4, 1, 1}};
    struct as_view view = view_bed_open_with(
        &(struct as_view_options){.file = "shop.db", .series = "tea", .symbols = VIEW_BED_WORDS("sell")});
    struct as_data data = make_data(&view, AS_DATA_BY_OBJECT);
    check_data(&data, wanted, 3);
    assert_int_equal(data.units, 544);
    as_data_free(&data);
    as_view_free(&view);
}

static void origins_of_addresses(void **state)
{
    static const char *const keys[] = {"data_hardware", "data_exact", "data_next", "data_watched", "data_none"},
                             *const texts[] = {"recorded by the processor", "exact", "next", "watched", "none"};
    static const double samples[] = {3, 1, 2, 4, 2};
    struct as_view view = view_bed_open("shop.db", "tea");
    struct as_data data = make_data(&view, AS_DATA_BY_OBJECT);
    for (size_t i = 0; i < AS_DATA_ORIGINS; i++) {
        assert_string_equal(data.origins[i].key, keys[i]);
        assert_string_equal(data.origins[i].text, texts[i]);
        assert_true(data.origins[i].samples == samples[i]);
    }
    assert_true(data.watch_hits == 2);
    size_t at = 0;
    const char *reason;
    double of;
    assert_true(as_data_next_reason(&data, &at, &reason, &of));
    assert_string_equal(reason, "kernel");
    assert_true(of == 1);
    assert_true(as_data_next_reason(&data, &at, &reason, &of));
    assert_string_equal(reason, "late");
    assert_true(of == 0.5);
    assert_false(as_data_next_reason(&data, &at, &reason, &of));
    as_data_free(&data);
    as_view_free(&view);
}

static void names_of_objects(void **state)
{
    struct as_view view = view_bed_open("shop.db", "tea");
    struct as_data data = make_data(&view, AS_DATA_BY_OBJECT);
    char name[AS_SHOW_MAX];
    assert_string_equal(as_view_object_name(data.objects, data.n_objects, 0, name), "table");
    assert_string_equal(as_view_object_name(data.objects, data.n_objects, 1, name), "[heap] 0x900000");
    assert_string_equal(as_view_object_name(data.objects, data.n_objects, 2, name), "[stack]");
    assert_string_equal(as_view_object_name(data.objects, data.n_objects, NONE, name), "[unknown]");
    as_data_free(&data);
    as_view_free(&view);
}

/* The profile says of "tea" that samples were asked for addresses; "old.db" says nothing. */
static void no_data(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_view view = view_bed_open("shop.db", "clock"), old = view_bed_open("old.db", NULL);
    struct as_data data;
    assert_false(as_data_make(&data, &view, AS_DATA_BY_OBJECT, &err));
    assert_non_null(strstr(err.message, "none of the 2 samples has a data address"));
    as_data_free(&data);
    assert_false(as_data_make(&data, &old, AS_DATA_BY_OBJECT, &err));
    assert_non_null(strstr(err.message, "no data addresses in series golden"));
    as_data_free(&data);
    assert_true(as_data_read(&data, &old, AS_DATA_BY_OBJECT, &err));
    assert_int_equal(data.n, 0);
    as_data_free(&data);
    struct as_store_writer *writer = bed_writer("one.db"); /* a single sample is enough to say so */
    as_store_add_series(writer, &(struct as_store_series){.name = "clock", .unit = "nanoseconds", .scale = 1});
    as_store_add_quality(writer, "data_none", 1, "without an address");
    bed_commit(writer);
    struct as_view one = view_bed_open("one.db", NULL);
    assert_false(as_data_make(&data, &one, AS_DATA_BY_OBJECT, &err));
    assert_non_null(strstr(err.message, "none of the 1 samples has a data address"));
    as_data_free(&data);
    as_view_free(&one);
    as_view_free(&view);
    as_view_free(&old);
}

/* ---- branches ---- */

static void branches_by_how_often(void **state)
{
    static const uint64_t wanted[][5] = {/* source, target, taken, mispredicted, cycles */
                                         {3, 0, 40, 4, 200},
                                         {1, 4, 30, 0, 90},
                                         {6, 2, 30, 1, 60},
                                         {5, 7, 10, 5, 0}};
    struct as_error err = AS_ERROR_INIT;
    struct as_view view = view_bed_open("shop.db", "tea");
    struct as_branches branches;
    assert_true(as_branches_make(&branches, &view, &err));
    assert_int_equal(branches.n, 4);
    assert_int_equal(branches.n_all, 4);
    assert_int_equal(branches.taken, 110);
    assert_int_equal(branches.mispredicted, 10);
    assert_true(branches.has_cycles);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(branches.rows[i].source, wanted[i][0]);
        assert_int_equal(branches.rows[i].target, wanted[i][1]);
        assert_int_equal(branches.rows[i].taken, wanted[i][2]);
        assert_int_equal(branches.rows[i].mispredicted, wanted[i][3]);
        assert_int_equal(branches.rows[i].cycles, wanted[i][4]);
    }
    as_branches_free(&branches);
    as_view_free(&view);
}

static void branches_of_a_function(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_view view = view_bed_open_with(
        &(struct as_view_options){.file = "shop.db", .series = "tea", .symbols = VIEW_BED_WORDS("sell")});
    struct as_branches branches;
    assert_true(as_branches_make(&branches, &view, &err));
    assert_int_equal(branches.n, 2);
    assert_int_equal(branches.n_all, 4);
    assert_int_equal(branches.rows[0].source, 6);
    assert_int_equal(branches.taken, 40);
    assert_int_equal(branches.mispredicted, 6);
    as_branches_free(&branches);
    as_view_free(&view);
}

static void no_branches(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_view view = view_bed_open("shop.db", "clock");
    struct as_branches branches;
    assert_false(as_branches_make(&branches, &view, &err));
    assert_non_null(strstr(err.message, "the series clock has no branches"));
    as_branches_free(&branches);
    assert_true(as_branches_read(&branches, &view, &err));
    assert_int_equal(branches.n, 0);
    assert_false(branches.has_cycles);
    as_branches_free(&branches);
    as_view_free(&view);
}

/* Equal branches come by source, then target. */
static void branches_that_are_equal(void **state)
{
    struct as_store_writer *writer = bed_writer("equal.db");
    uint32_t series = as_store_add_series(
        writer, &(struct as_store_series){.name = "golden", .unit = "cycles", .scale = 1, .precise = -1});
    for (uint32_t i = 0; i < 3; i++)
        as_store_add_instruction(
            writer, &(struct as_store_insn){{16 * (i + 1), NONE, NONE, NONE, NONE, 0, NONE}, 0, "jmp", NULL, NULL, 0});
    static const uint32_t ends[][2] = {{2, 0}, {0, 2}, {1, 1}, {0, 1}};
    for (size_t i = 0; i < 4; i++)
        as_store_add_branch(writer, &(struct as_store_branch){series, ends[i][0], ends[i][1], 5, 0, 0});
    bed_commit(writer);
    static const uint32_t wanted[][2] = {{0, 1}, {0, 2}, {1, 1}, {2, 0}};
    struct as_error err = AS_ERROR_INIT;
    struct as_view view = view_bed_open("equal.db", NULL);
    struct as_branches branches;
    assert_true(as_branches_make(&branches, &view, &err));
    assert_false(branches.has_cycles);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(branches.rows[i].source, wanted[i][0]);
        assert_int_equal(branches.rows[i].target, wanted[i][1]);
    }
    as_branches_free(&branches);
    as_view_free(&view);
}

/* ---- two profiles ---- */

static void check_part(const struct as_diff *diff, const struct as_diff_row *row, size_t i, const char *name,
                       double before, double after)
{
    assert_true(i < row->parts.len);
    assert_string_equal(as_strings_get(diff->names, row->parts.data[i].name), name);
    assert_true(row->parts.data[i].cycles[AS_DIFF_BEFORE] == before);
    assert_true(row->parts.data[i].cycles[AS_DIFF_AFTER] == after);
}

static void differences_by_function(void **state)
{
    static const struct {
        const char *name;
        double before, after, executions_before, executions_after;
    } wanted[] = {{"count", 0, 190, 0, 33},
                  {"give", 150, 0, 50, 0},
                  {"sell", 600, 500, 120, 98},
                  {"[shop]", 0, 60, 0, 3},
                  {"main", 250, 250, 38, 38}};
    struct as_error err = AS_ERROR_INIT;
    struct as_view before = view_bed_open("old.db", NULL), after = view_bed_open("shop.db", NULL);
    struct as_diff *diff = as_diff_new(&before, &after, AS_STORE_BY_FUNCTION, &err);
    assert_non_null(diff);
    assert_int_equal(diff->rows.len, 5);
    for (size_t i = 0; i < 5; i++) {
        const struct as_diff_row *row = &diff->rows.data[i];
        assert_string_equal(row->name, wanted[i].name);
        assert_true(row->cycles[AS_DIFF_BEFORE] == wanted[i].before);
        assert_true(row->cycles[AS_DIFF_AFTER] == wanted[i].after);
        assert_true(row->executions[AS_DIFF_BEFORE] == wanted[i].executions_before);
        assert_true(row->executions[AS_DIFF_AFTER] == wanted[i].executions_after);
    }
    for (int side = 0; side < AS_DIFF_SIDES; side++) {
        assert_true(diff->cycles[side] == 1000);
        assert_true(diff->total[side] == 1000);
    }
    assert_string_equal(diff->differences, "core, arguments");
    const struct as_diff_row *sell = &diff->rows.data[2];
    assert_int_equal(sell->parts.len, 3);
    check_part(diff, sell, 0, "ST-L1", 500, 100);
    check_part(diff, sell, 1, "ST-L1+ST-LLC", 0, 250);
    check_part(diff, sell, 2, "Base", 100, 150);
    assert_string_equal(sell->module, "shop");
    assert_string_equal(sell->function, "sell");
    as_diff_free(diff);
    as_view_free(&before);
    as_view_free(&after);
}

/* A profile with functions of these names, of which each has one instruction and 10 cycles. */
static void write_functions(const char *file, const char *const *names, uint32_t n)
{
    struct as_store_writer *writer = bed_writer(file);
    uint32_t series = as_store_add_series(
        writer, &(struct as_store_series){.name = "golden", .unit = "cycles", .scale = 1, .precise = -1});
    as_store_add_thread(writer, &(struct as_store_thread){1, 1, "prog", 0, 0, 0});
    as_store_add_module(writer, &(struct as_store_module){.path = "/bin/prog"});
    for (uint32_t i = 0; i < n; i++) {
        as_store_add_function(
            writer, &(struct as_store_function){.name = names[i], .file = NONE, .address = 16 * i, .size = 16});
        as_store_add_instruction(writer, &(struct as_store_insn){.location = {16 * i, 0, i, NONE, NONE, 0, NONE}});
        as_store_add_time(writer, &(struct as_store_time){series, 0, i, 10, 0, 1});
    }
    bed_commit(writer);
}

static void differences_of_clones(void **state)
{
    static const char *const old[] = {"step", "leap(int) [clone .isra.0]"}, *const new[] = {"step.constprop.0",
                                                                                            "step.part.0", "leap(int)",
                                                                                            "step.cold"};
    struct as_error err = AS_ERROR_INIT;
    write_functions("clones_old.db", old, 2);
    write_functions("clones_new.db", new, 4);
    struct as_view before = view_bed_open("clones_old.db", NULL), after = view_bed_open("clones_new.db", NULL);
    struct as_diff *diff = as_diff_new(&before, &after, AS_STORE_BY_FUNCTION, &err);
    assert_non_null(diff);
    assert_int_equal(diff->rows.len, 2);
    assert_string_equal(diff->rows.data[0].name, "step");
    assert_true(diff->rows.data[0].cycles[AS_DIFF_AFTER] == 30);
    assert_string_equal(diff->rows.data[1].name, "leap(int)");
    assert_string_equal(diff->rows.data[1].function, "leap(int)");
    assert_true(diff->rows.data[1].cycles[AS_DIFF_BEFORE] == diff->rows.data[1].cycles[AS_DIFF_AFTER]);
    as_diff_free(diff);
    as_view_free(&before);
    as_view_free(&after);
}

/* Matched by names: files by their last component, instructions by their offset. */
static void differences_at_other_levels(void **state)
{
    static const struct {
        enum as_store_level level;
        size_t n;
        const char *name; /* one that is in both */
        double before, after;
    } wanted[] = {{AS_STORE_BY_THREAD, 2, "1", 1000, 835},      {AS_STORE_BY_MODULE, 2, "shop", 1000, 810},
                  {AS_STORE_BY_FILE, 4, "shop.c", 1000, 675},   {AS_STORE_BY_LINE, 10, "shop.c:11", 250, 100},
                  {AS_STORE_BY_BLOCK, 8, "sell+0x0", 600, 400}, {AS_STORE_BY_INSTRUCTION, 10, "sell+0x0", 600, 400}};
    struct as_error err = AS_ERROR_INIT;
    struct as_view before = view_bed_open("old.db", NULL), after = view_bed_open("shop.db", NULL);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct as_diff *diff = as_diff_new(&before, &after, wanted[i].level, &err);
        assert_non_null(diff);
        assert_int_equal(diff->level, wanted[i].level);
        assert_int_equal(diff->rows.len, wanted[i].n);
        bool found = wanted[i].before == 0;
        for (size_t k = 0; k < diff->rows.len; k++)
            if (strcmp(diff->rows.data[k].name, wanted[i].name) == 0) {
                assert_true(diff->rows.data[k].cycles[AS_DIFF_BEFORE] == wanted[i].before);
                assert_true(diff->rows.data[k].cycles[AS_DIFF_AFTER] == wanted[i].after);
                found = true;
            }
        assert_true(found);
        as_diff_free(diff);
    }
    as_view_free(&before);
    as_view_free(&after);
}

/* Rows that are alike come by name, parts by when they were first seen. */
static void differences_that_are_equal(void **state)
{
    static const char *const names[] = {"b", "c", "a"}, *const wanted[] = {"a", "b", "c"};
    struct as_store_writer *writer = bed_writer("alike.db");
    uint32_t series = as_store_add_series(
        writer, &(struct as_store_series){.name = "golden", .unit = "cycles", .scale = 1, .precise = -1, .events = 3});
    as_store_add_thread(writer, &(struct as_store_thread){1, 7, NULL, 0, 0, 0});
    as_store_add_event(writer, &(struct as_store_event){0, "X", NULL, NONE, NULL});
    as_store_add_event(writer, &(struct as_store_event){1, "Y", NULL, NONE, NULL});
    for (uint32_t i = 0; i < 3; i++) {
        as_store_add_function(writer, &(struct as_store_function){names[i], NULL, NONE, NONE, 0, 16 * (i + 1), 4});
        as_store_add_instruction(
            writer, &(struct as_store_insn){{16 * (i + 1), NONE, i, NONE, NONE, 0, NONE}, 0, "nop", NULL, NULL, 0});
        as_store_add_time(writer, &(struct as_store_time){series, 0, i, 30, 1, 0});
        as_store_add_component(writer, &(struct as_store_component){series, 0, i, 1, 10, 1});
        as_store_add_component(writer, &(struct as_store_component){series, 0, i, 2, 20, 0});
    }
    bed_commit(writer);
    struct as_error err = AS_ERROR_INIT;
    struct as_view one = view_bed_open("alike.db", NULL), two = view_bed_open("alike.db", NULL);
    struct as_diff *diff = as_diff_new(&one, &two, AS_STORE_BY_FUNCTION, &err);
    assert_non_null(diff);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(diff->rows.data[i].name, wanted[i]);
        check_part(diff, &diff->rows.data[i], 0, "Y", 20, 20);
        check_part(diff, &diff->rows.data[i], 1, "X", 10, 10);
    }
    as_diff_free(diff);
    as_view_free(&one);
    as_view_free(&two);
}

/* A build of main, step and get; `inlined`: step is part of main. get is inlined into step in both builds. */
static void write_build(const char *path, bool inlined, const uint64_t units[3])
{
    enum { MAIN, STEP };
    struct as_store_writer *writer = bed_writer(path);
    uint32_t series = as_store_add_series(
        writer, &(struct as_store_series){.name = "golden", .unit = "cycles", .scale = 1, .precise = -1, .events = 1});
    as_store_add_thread(writer, &(struct as_store_thread){1, 7, NULL, 0, 0, 0});
    as_store_add_event(writer, &(struct as_store_event){0, "X", NULL, NONE, NULL});
    as_store_add_function(writer, &(struct as_store_function){"main", NULL, NONE, NONE, 0, 16, 12});
    if (!inlined)
        as_store_add_function(writer, &(struct as_store_function){"step", NULL, NONE, NONE, 0, 32, 8});
    uint32_t step = inlined ? as_store_add_inline(writer, &(struct as_store_inline){NONE, "step", NONE, 1}) : NONE;
    uint32_t get = as_store_add_inline(writer, &(struct as_store_inline){step, "get", NONE, 2});
    const uint32_t calls[3] = {NONE, step, get};
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t function = i && !inlined ? STEP : MAIN;
        as_store_add_instruction(
            writer,
            &(struct as_store_insn){
                {16 * (function + 1) + 4 * i, NONE, function, NONE, NONE, 0, calls[i]}, 0, "nop", NULL, NULL, 0});
        as_store_add_time(writer, &(struct as_store_time){series, 0, i, units[i], 1, 10});
        as_store_add_component(writer, &(struct as_store_component){series, 0, i, 1, units[i], 1});
    }
    bed_commit(writer);
}

static void check_build(bool inlined_before, bool inlined_after, int marked, double main_after, double step_after)
{
    struct as_error err = AS_ERROR_INIT;
    write_build("before.db", inlined_before, (const uint64_t[]){100, 200, 100});
    write_build("after.db", inlined_after, (const uint64_t[]){100, 200, 110});
    struct as_view before = view_bed_open("before.db", NULL), after = view_bed_open("after.db", NULL);
    struct as_diff *diff = as_diff_new(&before, &after, AS_STORE_BY_FUNCTION, &err);
    assert_non_null(diff);
    assert_int_equal(diff->inlined, marked < AS_DIFF_SIDES);
    for (size_t i = 0; i < diff->rows.len; i++) {
        const struct as_diff_row *row = &diff->rows.data[i];
        bool is_step = strcmp(row->name, "step") == 0;
        assert_int_equal(row->inlined, is_step ? marked : AS_DIFF_SIDES);
        assert_true(row->cycles[AS_DIFF_AFTER] == (is_step ? step_after : main_after));
        check_part(diff, row, 0, "X", row->cycles[AS_DIFF_BEFORE], row->cycles[AS_DIFF_AFTER]);
        assert_true(row->executions[AS_DIFF_BEFORE] == row->executions[AS_DIFF_AFTER]);
        assert_true(row->samples[AS_DIFF_BEFORE] == row->samples[AS_DIFF_AFTER]);
    }
    as_diff_free(diff);
    as_view_free(&before);
    as_view_free(&after);
}

/* Where only one of the builds inlines a function, it has its time in both; otherwise callers keep what they inlined. */
static void differences_of_inlining(void **state)
{
    check_build(false, true, AS_DIFF_AFTER, 100, 310);
    check_build(true, false, AS_DIFF_BEFORE, 100, 310);
    check_build(false, false, AS_DIFF_SIDES, 100, 310);
    check_build(true, true, AS_DIFF_SIDES, 410, 0);
}

static void profiles_that_cannot_be_compared(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_view before = view_bed_open("shop.db", "clock"), after = view_bed_open("shop.db", NULL);
    assert_null(as_diff_new(&before, &after, AS_STORE_BY_FUNCTION, &err));
    assert_non_null(strstr(err.message, "one profile counts nanoseconds, the other cycles"));
    as_view_free(&before);
    as_view_free(&after);
    as_diff_free(NULL);
}

/* The same profile twice: nothing differs, and the most time comes first. Series differ alone. */
static void profiles_that_are_the_same(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_view one = view_bed_open("shop.db", NULL), two = view_bed_open("shop.db", NULL),
                   tea = view_bed_open("shop.db", "tea");
    struct as_diff *diff = as_diff_new(&one, &two, AS_STORE_BY_FUNCTION, &err);
    assert_non_null(diff);
    assert_string_equal(diff->differences, "");
    static const char *const names[] = {"sell", "main", "count", "[shop]"};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(diff->rows.data[i].name, names[i]);
        assert_true(as_diff_change(diff->rows.data[i].cycles) == 0);
    }
    as_diff_free(diff);
    diff = as_diff_new(&one, &tea, AS_STORE_BY_FUNCTION, &err);
    assert_non_null(diff);
    assert_string_equal(diff->differences, "series");
    as_diff_free(diff);
    as_view_free(&one);
    as_view_free(&two);
    as_view_free(&tea);
}

/* 1,000 cycles before and after: sell 600 to 500, main the same, count new with 190, give gone. */
static void gate_of_exact_profiles(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_view before = view_bed_open("old.db", NULL), after = view_bed_open("shop.db", NULL);
    struct as_diff *diff = as_diff_new(&before, &after, AS_STORE_BY_FUNCTION, &err);
    struct as_gate_result result;
    assert_non_null(diff);
    as_gate_judge(&result, (struct as_gate){.program = 0, .row = NAN}, diff);
    assert_int_equal(result.findings.len, 1);
    assert_null(result.findings.data[0].row);
    assert_int_equal(result.verdict, AS_GATE_PASSED); /* not slower */
    assert_true(result.findings.data[0].least == 0);
    as_gate_free(&result);
    as_gate_judge(&result, (struct as_gate){.program = NAN, .row = 0.5}, diff);
    assert_int_equal(result.rows, 5);
    assert_int_equal(result.failed_rows, 2); /* what is new */
    assert_int_equal(result.verdict, AS_GATE_FAILED);
    assert_string_equal(result.findings.data[0].row->name, "count");
    assert_true(isinf(result.findings.data[0].growth));
    as_gate_free(&result);
    as_diff_free(diff);
    diff = as_diff_new(&after, &before, AS_STORE_BY_FUNCTION, &err); /* the other way round: sell 500 to 600 */
    assert_non_null(diff);
    as_gate_judge(&result, (struct as_gate){.program = NAN, .row = 0.1999}, diff);
    assert_int_equal(result.failed_rows, 2); /* give, which is new then, and sell */
    as_gate_free(&result);
    as_gate_judge(&result, (struct as_gate){.program = NAN, .row = 0.2}, diff);
    assert_int_equal(result.failed_rows, 1); /* 20 % are not more than 20 % */
    as_gate_free(&result);
    as_diff_free(diff);
    as_view_free(&before);
    as_view_free(&after);
}

/* Ten samples against eight: chance. */
static void sampled_differences_are_noise(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_view before = view_bed_open("shop.db", NULL), after = view_bed_open("shop.db", "tea");
    struct as_diff *diff = as_diff_new(&before, &after, AS_STORE_BY_FUNCTION, &err);
    struct as_gate_result result;
    assert_non_null(diff);
    for (size_t i = 0; i < diff->rows.len; i++) {
        assert_false(diff->rows.data[i].significant);
        assert_true(diff->rows.data[i].deviation > 0 || diff->rows.data[i].cycles[AS_DIFF_AFTER] == 0);
    }
    as_gate_judge(&result, (struct as_gate){.program = 0, .row = 0}, diff);
    assert_int_equal(result.verdict, AS_GATE_INCONCLUSIVE);
    assert_int_equal(result.findings.len, 1);
    assert_true(isinf(result.findings.data[0].needed)); /* no number of samples shows that there is no growth */
    assert_false(as_gate_fails(&result, result.verdict));
    as_gate_free(&result);
    as_gate_judge(&result, (struct as_gate){.program = NAN, .row = 0}, diff);
    assert_true(result.noisy_rows > 0 && result.failed_rows == 0 && result.findings.len == 0);
    assert_int_equal(result.verdict, AS_GATE_INCONCLUSIVE);
    as_gate_free(&result);
    as_gate_judge(&result, (struct as_gate){.program = 0.02, .row = NAN, .strict = true}, diff);
    assert_true(as_gate_fails(&result, result.verdict));
    double needed = 25 / (0.02 * 0.02) / after.summary.effective; /* five deviations; the times before are exact */
    assert_true(fabs(result.findings.data[0].needed - needed) < 1e-6 * needed);
    assert_true(fabs(result.findings.data[0].least - 5 * diff->deviation / 1000) < 1e-9);
    as_gate_free(&result);
    as_gate_judge(&result, (struct as_gate){.program = 10, .row = NAN}, diff); /* these samples can show that much */
    assert_int_equal(result.verdict, AS_GATE_PASSED);
    as_gate_free(&result);
    as_diff_free(diff);
    as_view_free(&before);
    as_view_free(&after);
}

/* A function of one instruction, the number-th of both. */
static void add_function(struct as_store_writer *writer, uint32_t number, const char *name)
{
    uint64_t start = 16 * (number + 1);
    as_store_add_function(writer, &(struct as_store_function){name, NULL, 0, AS_STORE_NONE, 0, start, 16});
    as_store_add_instruction(
        writer, &(struct as_store_insn){
                    {start, 0, number, AS_STORE_NONE, AS_STORE_NONE, 0, AS_STORE_NONE}, 0, "nop", "nop", NULL, 0});
}

/* A run of 10,000 cycles that was measured in 400 regions, with an interval of 2 % and replicates in which the first function
 * has a share that varies by +-10 cycles; the second one has what is left. */
static void write_regions(const char *path, uint64_t first, bool known)
{
    struct as_store_writer *writer = bed_writer(path);
    as_store_add_meta(writer, AS_META_PROGRAM, "/opt/shop");
    as_store_add_meta_u64(writer, AS_META_CYCLES, 10000);
    as_store_add_thread(writer, &(struct as_store_thread){1, 100, NULL, 10000, 0, 0});
    as_store_add_module(writer, &(struct as_store_module){.path = "/opt/shop"});
    static const char *const names[] = {"first", "second"};
    for (uint32_t i = 0; i < 2; i++)
        add_function(writer, i, names[i]);
    for (uint32_t group = 0; group < 11; group++) {
        char name[32];
        snprintf(name, sizeof name, AS_STORE_REPLICATE "%u", group);
        struct as_store_series series = {.name = group ? name : AS_STORE_SAMPLED,
                                         .unit = "cycles",
                                         .scale = 1,
                                         .precise = -1,
                                         .samples = group ? 0 : 400};
        uint32_t number = as_store_add_series(writer, &series);
        uint64_t own = first + (group == 0 ? 0 : group % 2 ? 10 : -10);
        as_store_add_time(writer, &(struct as_store_time){number, 0, 0, own, 0, 0});
        as_store_add_time(writer, &(struct as_store_time){number, 0, 1, 10000 - own, 0, 0});
    }
    if (known)
        as_store_add_estimate(writer, &(struct as_store_estimate){0, "interval", "program", 0.02});
    bed_commit(writer);
}

/* Three functions in three replicates, of which the second varies in proportion to its mean: written as it is, or with
 * its mean and factors. */
static void write_alike(const char *path, bool alike)
{
    static const char *const names[] = {"first", "second", "third"};
    static const uint64_t seconds[] = {1800, 2200, 2000}, firsts[] = {1000, 1030, 980};
    struct as_store_writer *writer = bed_writer(path);
    as_store_add_meta(writer, AS_META_PROGRAM, "/opt/shop");
    as_store_add_thread(writer, &(struct as_store_thread){1, 100, NULL, 10000, 0, 0});
    as_store_add_module(writer, &(struct as_store_module){.path = "/opt/shop"});
    for (uint32_t i = 0; i < 3; i++)
        add_function(writer, i, names[i]);
    struct as_store_series series = {.name = AS_STORE_SAMPLED, .unit = "cycles", .scale = 1, .precise = -1};
    as_store_add_series(writer, &series);
    for (uint32_t i = 0; i < 3; i++)
        as_store_add_time(writer, &(struct as_store_time){0, 0, i, (uint64_t[]){1000, 2000, 3000}[i], 0, 0});
    series.name = AS_STORE_REPLICATE_ALIKE;
    if (alike)
        as_store_add_time(writer, &(struct as_store_time){as_store_add_series(writer, &series), 0, 1, 2000, 0, 0});
    for (uint32_t group = 0; group < 3; group++) {
        char name[32];
        snprintf(name, sizeof name, AS_STORE_REPLICATE "%u", group + 1);
        series.name = name;
        uint32_t number = as_store_add_series(writer, &series);
        as_store_add_time(writer, &(struct as_store_time){number, 0, 0, firsts[group], 0, 0});
        if (alike)
            as_store_add_estimate(writer,
                                  &(struct as_store_estimate){1, AS_STORE_FACTOR, name, (double)seconds[group] / 2000});
        else
            as_store_add_time(writer, &(struct as_store_time){number, 0, 1, seconds[group], 0, 0});
        as_store_add_time(writer, &(struct as_store_time){number, 0, 2, 3000, 0, 0});
    }
    bed_commit(writer);
}

static void factors_stand_for_times(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    write_alike("apart.db", false);
    write_alike("alike.db", true);
    struct as_view apart = view_bed_open("apart.db", NULL), alike = view_bed_open("alike.db", NULL);
    struct as_rows plain, brief;
    assert_true(as_rows_make(&plain, &apart, AS_STORE_BY_FUNCTION, NULL, &err));
    assert_true(as_rows_make(&brief, &alike, AS_STORE_BY_FUNCTION, NULL, &err));
    assert_int_equal(plain.rows.n, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(plain.errors[i] > 0);
        assert_true(fabs(plain.errors[i] - brief.errors[i]) < 1e-12);
    }
    as_rows_free(&plain);
    as_rows_free(&brief);
    as_view_free(&apart);
    as_view_free(&alike);
    (void)state;
}

/* A run of 10,000 cycles with two threads, in 100 regions: `start` of it was measured once, and is the same in all replicates. */
static void write_started(const char *path, uint64_t start, bool deterministic)
{
    static const char *const names[] = {"start", "work"};
    struct as_store_writer *writer = bed_writer(path);
    struct as_store_series series = {
        .name = AS_STORE_SAMPLED, .unit = "cycles", .scale = 1, .precise = -1, .samples = 100};
    as_store_add_meta(writer, AS_META_PROGRAM, "/opt/shop");
    as_store_add_meta_u64(writer, AS_META_CYCLES, 10000);
    if (deterministic)
        as_store_add_meta_u64(writer, AS_META_DETERMINISTIC, 1);
    for (uint32_t i = 1; i <= 2; i++)
        as_store_add_thread(writer, &(struct as_store_thread){i, 100, NULL, 5000, 0, 0});
    as_store_add_module(writer, &(struct as_store_module){.path = "/opt/shop"});
    for (uint32_t i = 0; i < 2; i++)
        add_function(writer, i, names[i]);
    as_store_add_series(writer, &series);
    as_store_add_time(writer, &(struct as_store_time){0, 0, 0, start, 0, 0});
    as_store_add_time(writer, &(struct as_store_time){0, 0, 1, 10000 - start, 0, 0});
    series.name = AS_STORE_REPLICATE_COMMON;
    series.samples = 0;
    as_store_add_time(writer, &(struct as_store_time){as_store_add_series(writer, &series), 0, 0, start, 0, 0});
    for (uint32_t group = 0; group < 10; group++) {
        char name[32];
        snprintf(name, sizeof name, AS_STORE_REPLICATE "%u", group + 1);
        series.name = name;
        as_store_add_time(writer, &(struct as_store_time){as_store_add_series(writer, &series), 0, 1,
                                                          10000 - start + group % 2, 0, 0});
    }
    as_store_add_estimate(writer, &(struct as_store_estimate){0, "interval", "program", 0.0001});
    bed_commit(writer);
}

static void check_started(bool deterministic)
{
    struct as_error err = AS_ERROR_INIT;
    write_started("slow.db", 300, deterministic);
    write_started("quick.db", 100, deterministic);
    struct as_view before = view_bed_open("slow.db", NULL), after = view_bed_open("quick.db", NULL);
    struct as_diff *diff = as_diff_new(&before, &after, AS_STORE_BY_FUNCTION, &err);
    assert_non_null(diff);
    assert_int_equal(diff->threads_vary, !deterministic);
    assert_int_equal(as_diff_threads_note(diff) != NULL, !deterministic);
    assert_int_equal(view_bed_diff_row(diff, "start")->significant, deterministic);
    assert_true(view_bed_diff_row(diff, "work")->significant);
    as_diff_free(diff);
    as_view_free(&before);
    as_view_free(&after);
}

/* What was measured once is another time with threads in another order, and no change of the program. */
static void threads_in_another_order(void **state)
{
    check_started(false);
    check_started(true);
    (void)state;
}

/* Their deviations are those of the replicates and of the interval, however many regions there are. */
static void regions_have_deviations(void **state)
{
    write_regions("regions.db", 1000, true);
    write_regions("more.db", 3000, true);
    write_regions("unknown.db", 3000, false);
    struct as_error err = AS_ERROR_INIT;
    struct as_view before = view_bed_open("regions.db", NULL), after = view_bed_open("more.db", NULL),
                   unknown = view_bed_open("unknown.db", NULL);
    struct as_diff *diff = as_diff_new(&before, &after, AS_STORE_BY_FUNCTION, &err);
    struct as_gate_result result;
    assert_non_null(diff);
    double whole = 10000 * 0.02 / 1.959964;
    assert_true(fabs(diff->deviation - whole * sqrt(2)) < 1e-6 * whole);
    assert_false(diff->significant);
    assert_string_equal(diff->rows.data[1].name, "first"); /* equal changes: the longest time is first */
    /* 0.1 and 0.3 of the whole, and the replicates: t(9) / z(95 %) = 1.154 jackknife deviations of 10 * 9 / sqrt(10). */
    double own = 1.154 * 10 * sqrt(10. / 9) * 9 / sqrt(10), expected = sqrt(0.1 * whole * whole + 2 * own * own);
    assert_true(fabs(diff->rows.data[1].deviation - expected) < 0.02 * expected);
    assert_true(diff->rows.data[1].significant);
    as_gate_judge(&result, (struct as_gate){.program = 0.02, .row = 0.5}, diff);
    assert_int_equal(result.failed_rows, 1);
    assert_true(fabs(result.findings.data[0].least - 5 * diff->deviation / 10000) < 1e-9);
    double ratio = result.findings.data[0].least / 0.02;
    assert_true(fabs(result.findings.data[0].needed - 400 * ratio * ratio) < 1e-3);
    as_gate_free(&result);
    as_diff_free(diff);
    diff = as_diff_new(&before, &unknown, AS_STORE_BY_FUNCTION, &err);
    assert_non_null(diff);
    as_gate_judge(&result, (struct as_gate){.program = 0.02, .row = 0.5}, diff); /* one point of each phase */
    assert_int_equal(result.verdict, AS_GATE_INCONCLUSIVE);
    assert_int_equal(result.failed_rows, 0);
    as_gate_free(&result);
    as_diff_free(diff);
    as_view_free(&before);
    as_view_free(&after);
    as_view_free(&unknown);
}

static void check_obstacle(const char *before, const char *after, const char *why)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_view views[] = {view_bed_open(before, NULL), view_bed_open(after, NULL)};
    struct as_diff *diff = as_diff_new(&views[0], &views[1], AS_STORE_BY_FUNCTION, &err);
    struct as_gate_result result;
    assert_non_null(diff);
    as_gate_judge(&result, (struct as_gate){.program = 10, .row = 10}, diff);
    assert_int_equal(result.obstacles.len, why != NULL);
    assert_int_equal(result.findings.len, why ? 0 : 1);
    assert_int_equal(result.verdict, why ? AS_GATE_FAILED : AS_GATE_PASSED);
    if (why)
        assert_string_equal(result.obstacles.data[0], why);
    as_gate_free(&result);
    as_diff_free(diff);
    as_view_free(&views[0]);
    as_view_free(&views[1]);
}

static void write_gated(const char *path, const char *program, const char *key, const char *value)
{
    struct as_store_writer *writer = bed_writer(path);
    as_store_add_meta(writer, AS_META_PROGRAM, program);
    as_store_add_meta(writer, AS_META_STATUS, strcmp(path, "status.db") == 0 ? "1" : "0");
    as_store_add_meta(writer, key, value);
    as_store_add_series(
        writer,
        &(struct as_store_series){
            .name = "golden", .exact = strcmp(path, "empty.db") != 0, .unit = "cycles", .scale = 1, .precise = -1});
    bed_commit(writer);
}

/* However generous the limits: another piece of work is not a fast one. */
static void gate_of_different_work(void **state)
{
    write_gated("one.db", "/opt/shop", "note", "");
    write_gated("moved.db", "/home/me/shop", "note", "another build");
    write_gated("other.db", "/opt/shoes", "note", "");
    write_gated("killed.db", "/opt/shop", AS_META_PARTIAL, "the program was killed by signal 6 (Aborted)");
    write_gated("part.db", "/opt/shop", "region", "--max 1M");
    write_gated("part2.db", "/opt/shop", "region", "--max 1M");
    write_gated("status.db", "/opt/shop", "note", "");
    write_gated("empty.db", "/opt/shop", "note", "");
    write_gated("wide.db", "/opt/shop", AS_META_TITLE, "system-wide during sleep 1");
    write_gated("wide2.db", "/opt/shoes", AS_META_TITLE, "system-wide");
    check_obstacle("one.db", "moved.db", NULL);
    check_obstacle("part.db", "part2.db", NULL);
    check_obstacle("wide.db", "wide2.db", NULL);
    check_obstacle("one.db", "other.db", "other program: shop before, shoes after");
    check_obstacle("one.db", "wide.db", "other program: shop before, system-wide during sleep 1 after");
    check_obstacle("one.db", "killed.db", "the profile after is PARTIAL: the program was killed by signal 6 (Aborted)");
    check_obstacle("killed.db", "one.db",
                   "the profile before is PARTIAL: the program was killed by signal 6 (Aborted)");
    check_obstacle("one.db", "part.db", "other part of the run: all before, --max 1M after");
    check_obstacle("status.db", "one.db", "other exit status of the program: 1 before, 0 after");
    check_obstacle("one.db", "empty.db", "the profile after has no samples");
}

/* Times of two cores are not compared: by their names, or by a parameter that was changed. Its name and texts are none. */
static void gate_of_different_cores(void **state)
{
    static const char core[] = "name = one\nrob = 192\nl1.latency = 3\n";
    write_gated("core.db", "/opt/shop", AS_META_MACHINE, core);
    write_gated("alike.db", "/opt/shop", AS_META_MACHINE, "l1.latency = 3\nname = other\nrob = 192\n");
    write_gated("slow.db", "/opt/shop", AS_META_MACHINE, "name = one\nrob = 192\nl1.latency = 12\n");
    write_gated("less.db", "/opt/shop", AS_META_MACHINE, "name = one\nrob = 192\nl1.latency_of_all = 3\n");
    write_gated("boom.db", "/opt/shop", AS_META_CORE, "boom");
    write_gated("zen.db", "/opt/shop", AS_META_CORE, "zen");
    check_obstacle("core.db", "core.db", NULL);
    check_obstacle("core.db", "alike.db", NULL);
    check_obstacle("core.db", "slow.db", "other core: l1.latency is 3 before, 12 after");
    check_obstacle("core.db", "less.db", "other core: l1.latency is 3 before, none after");
    check_obstacle("boom.db", "boom.db", NULL);
    check_obstacle("boom.db", "zen.db", "other core: boom before, zen after (measure both on the same machine)");
    check_obstacle("boom.db", "core.db", "other core: boom before, a processor that is not known after");
}

static void percentages(void **state)
{
    static const char *const wrong[] = {"", "x", "2x", "-1%", "2%%", "nan", "%"};
    double fraction = 0;
    assert_true(as_gate_parse("2%", &fraction) && fraction == 0.02);
    assert_true(as_gate_parse("0.5 %", &fraction) && fraction == 0.005);
    assert_true(as_gate_parse("150", &fraction) && fraction == 1.5);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(as_gate_parse(wrong[i], &fraction));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_by_object),
        cmocka_unit_test(data_by_line_and_instruction),
        cmocka_unit_test(data_of_a_function),
        cmocka_unit_test(origins_of_addresses),
        cmocka_unit_test(names_of_objects),
        cmocka_unit_test(no_data),
        cmocka_unit_test(branches_by_how_often),
        cmocka_unit_test(branches_of_a_function),
        cmocka_unit_test(no_branches),
        cmocka_unit_test(branches_that_are_equal),
        cmocka_unit_test(differences_by_function),
        cmocka_unit_test(differences_of_clones),
        cmocka_unit_test(differences_at_other_levels),
        cmocka_unit_test(differences_that_are_equal),
        cmocka_unit_test(differences_of_inlining),
        cmocka_unit_test(profiles_that_cannot_be_compared),
        cmocka_unit_test(profiles_that_are_the_same),
        cmocka_unit_test(gate_of_exact_profiles),
        cmocka_unit_test(sampled_differences_are_noise),
        cmocka_unit_test(regions_have_deviations),
        cmocka_unit_test(threads_in_another_order),
        cmocka_unit_test(factors_stand_for_times),
        cmocka_unit_test(gate_of_different_work),
        cmocka_unit_test(gate_of_different_cores),
        cmocka_unit_test(percentages),
    };
    return cmocka_run_group_tests(tests, view_bed_set_up, NULL);
}
