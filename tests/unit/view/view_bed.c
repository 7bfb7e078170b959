/* See view_bed.h. */
#include "unit.h"

#include "view_bed.h"

#include <math.h>
#include <stdio.h>

#define NONE AS_STORE_NONE

/* ---- a directory ---- */

void view_bed_enter(void)
{
    assert_int_equal(chdir(bed_path("")), 0);
}

int view_bed_set_up(void **state)
{
    view_bed_enter();
    view_bed_shop("shop.db");
    view_bed_old("old.db");
    return 0;
}

void view_bed_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

struct as_view view_bed_open_with(const struct as_view_options *options)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_view view;
    if (!as_view_open(&view, options, &err))
        fail_msg("%s", err.message);
    return view;
}

struct as_view view_bed_open(const char *path, const char *series)
{
    return view_bed_open_with(&(struct as_view_options){.file = path, .series = series});
}

/* ---- the run ---- */

static void add_meta(struct as_store_writer *writer)
{
    static const char *const pairs[][2] = {{AS_META_PROGRAM, "/opt/shop/bin/shop"},
                                           {AS_META_SOURCE, "model"},
                                           {AS_META_SOURCE_WHY, "asked for"},
                                           {AS_META_CORE, "boom"},
                                           {AS_META_SERIES, "golden"},
                                           {AS_META_GOLDEN, "golden"},
                                           {AS_META_DATE, "2026-01-02T03:04:05Z"},
                                           {AS_META_MACHINE, "[back]\nrob = 192\n"},
                                           {"region", "from main"},
                                           {"class", "stall"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        as_store_add_meta(writer, pairs[i][0], pairs[i][1]);
    as_store_add_meta_u64(writer, AS_META_CYCLES, 1000);
    as_store_add_meta_u64(writer, AS_META_INSTRUCTIONS, 1250);
    as_store_add_meta_double(writer, AS_META_SECONDS, 0.25);
}

static void add_runs(struct as_store_writer *writer)
{
    static const struct {
        const char *key;
        double value;
    } spreads[] = {{"cycles_mean", 1020},   {"cycles_deviation", 51}, {"cycles_least", 1000},
                   {"cycles_most", 1060},   {"seconds_mean", 0.26},   {"seconds_deviation", 0.013},
                   {"seconds_least", 0.25}, {"seconds_most", 0.28}};
    for (size_t i = 0; i < sizeof spreads / sizeof *spreads; i++)
        as_store_add_meta_double(writer, spreads[i].key, spreads[i].value);
    as_store_add_run(writer, &(struct as_store_run){1, 1000, 1250, 10, 0.25, 0});
    as_store_add_run(writer, &(struct as_store_run){2, 1060, 1250, 11, 0.28, 0});
    as_store_add_run(writer, &(struct as_store_run){3, 1000, 1250, 10, 0.25, 0});
}

static void add_surroundings(struct as_store_writer *writer)
{
    as_store_add_argument(writer, "shop");
    as_store_add_argument(writer, "-n");
    as_store_add_argument(writer, "3");
    as_store_add_environment(writer, "LANG=C");
    as_store_add_machine(writer, "back.rob", "192");
    as_store_add_machine(writer, "back.width", "4");
    as_store_add_machine(writer, "clock", "3.2");
    as_store_add_machine(writer, "front.fetch", "8");
    as_store_add_counter(writer, "branches", 77);
    as_store_add_counter(writer, "own", 5);
    as_store_add_thread(writer, &(struct as_store_thread){1, 100, NULL, 810, 1100, 7});
    as_store_add_thread(writer, &(struct as_store_thread){2, 100, "worker", 165, 150, 3});
    as_store_add_event(writer, &(struct as_store_event){0, "ST-L1", "it missed the first cache", NONE, "stalled"});
    as_store_add_event(writer, &(struct as_store_event){1, "ST-LLC", "it missed all caches", 0, "stalled"});
    as_store_add_event(writer, &(struct as_store_event){4, "FL-MB", NULL, NONE, "flushed"});
}

/* Samples by origin, reasons, and what reports show as notes. */
static void add_quality(struct as_store_writer *writer)
{
    static const struct {
        const char *key;
        double value;
        const char *text;
    } rows[] = {{"data_hardware", 3, "with the sample"},
                {"data_exact", 1, "from registers"},
                {"data_next", 2, "the next access"},
                {"data_watched", 4, "by a watchpoint"},
                {"data_none", 2, "without an address"},
                {"data_none_kernel", 1, "in the kernel"},
                {"data_none_late", 0.5, "too late"},
                {"watch_hit", 2, "watchpoints that were met"},
                {"agent_full", 6, "calls that did not fit"},
                {"agent_gone", 0, "calls that were lost"},
                {"agent_odd", 7, "odd calls"},
                {"cut_chains", 0.0099, "chains are cut"},
                {"not_sampled", 0.2, "time has no sample"},
                {"lone_chains", 0.49, "chains have no caller"},
                {"advice", NAN, "use it well"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        as_store_add_quality(writer, rows[i].key, rows[i].value, rows[i].text);
}

/* ---- the code ---- */

static const struct as_store_function functions[] = {{"main", "main", 0, 0, 10, 0x1000, 0x10},
                                                     {"sell", "_Z4sellv", 0, 0, 20, 0x1100, 0x10},
                                                     {"count", NULL, 1, NONE, 0, 0x7000, 0x10}};

struct code {
    struct as_store_location location; /* address, module, function, block, file, line, inlined */
    const char *text, *class_;
    uint64_t target;
    size_t n_bytes;
};
static const struct code code[] = {
    {{0x1000, 0, 0, 0, 0, 11, NONE}, "mov eax, 1", "int", 0, 4},
    {{0x1004, 0, 0, 0, 0, 12, NONE}, "call 0x1100", "call", 0x1100, 5},
    {{0x1009, 0, 0, 1, 1, 5, 1}, "add eax, ebx", "int", 0, 3},
    {{0x100c, 0, 0, 1, 0, 14, NONE}, "jne 0x1000", "branch", 0x1000, 4},
    {{0x1100, 0, 1, NONE, 0, 21, NONE}, "mov rax, qword ptr [rdi]", "load", 0, 4},
    {{0x1104, 0, 1, NONE, 0, 22, NONE}, "call 0x7000", "call_indirect", 0x7000, 5},
    {{0x1109, 0, 1, NONE, 0, 23, NONE}, "ret", "return", 0, 1},
    {{0x7000, 1, 2, NONE, NONE, 0, NONE}, "ret", "return", 0, 1},
    {{0x2000, 0, NONE, NONE, NONE, 0, NONE}, "nop", "nop", 0, 1},
    {{0x2040, 0, NONE, NONE, NONE, 0, NONE}, NULL, NULL, 0, 1},
    {{0x2100, 0, NONE, NONE, NONE, 0, NONE}, "pause", "nop", 0, 2},
};

static const struct as_store_path paths[] = {
    {NONE, 0, NONE, 0x1000, 0, false},    /* 0: main */
    {0, 1, 1, 0x1100, 0x1004, false},     /* 1: main > sell */
    {1, 2, 5, 0x7000, 0x1104, false},     /* 2: main > sell > count */
    {1, 1, 5, 0x1100, 0x1104, false},     /* 3: main > sell > sell */
    {3, 2, 5, 0x7000, 0x1104, false},     /* 4: main > sell > sell > count */
    {0, 1, NONE, 0x1100, 0x1009, true},   /* 5: main > (signal) sell */
    {NONE, 2, NONE, 0x7000, 0, false},    /* 6: count */
    {NONE, 1, NONE, 0x1100, 0, false},    /* 7: sell */
    {NONE, NONE, NONE, 0x2000, 0, false}, /* 8: no function */
};

static void add_code(struct as_store_writer *writer)
{
    as_store_add_module(writer, &(struct as_store_module){.path = "/opt/shop/bin/shop", .build_id = "0123abcd"});
    as_store_add_module(writer, &(struct as_store_module){.path = "/opt/shop/lib/libshop.so.1", .base = 0x6000});
    as_store_add_file(writer, "/opt/src/shop.c");
    as_store_add_file(writer, "/opt/src/till.h");
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        as_store_add_function(writer, &functions[i]);
    as_store_add_block(writer, &(struct as_store_block){0, 0x1000, 9});
    as_store_add_block(writer, &(struct as_store_block){0, 0x1009, 7});
    as_store_add_inline(writer, &(struct as_store_inline){NONE, "outer", 0, 13});
    as_store_add_inline(writer, &(struct as_store_inline){0, "inner", 1, 4});
    for (size_t i = 0; i < sizeof code / sizeof *code; i++)
        as_store_add_instruction(writer,
                                 &(struct as_store_insn){code[i].location, code[i].target, code[i].text, code[i].class_,
                                                         (const uint8_t *)"\x90\x90\x90\x90\x90", code[i].n_bytes});
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        as_store_add_path(writer, &paths[i]);
}

/* ---- the series ---- */

enum { L1 = 1, LLC = 2, MB = 16 };

static void add_golden_times(struct as_store_writer *writer, uint32_t series)
{
    static const uint64_t times[][4] = {/* thread, instruction, units, executions */
                                        {0, 0, 400, 10},  {0, 1, 200, 11}, {0, 2, 300, 9},  {0, 3, 100, 8},
                                        {0, 4, 1200, 30}, {1, 4, 400, 5},  {0, 5, 250, 31}, {0, 6, 150, 32},
                                        {0, 7, 500, 20},  {1, 7, 260, 13}, {0, 8, 240, 3}};
    static const uint64_t components[][5] = {
        /* thread, instruction, events, units, samples */
        {0, 0, 0, 400, 10}, {0, 1, 0, 150, 9},  {0, 1, MB, 50, 2},  {0, 2, 0, 300, 9},        {0, 3, 0, 60, 7},
        {0, 3, MB, 40, 1},  {0, 4, 0, 200, 17}, {0, 4, L1, 400, 7}, {0, 4, L1 | LLC, 600, 6}, {1, 4, L1 | LLC, 400, 5},
        {0, 5, 0, 250, 31}, {0, 6, 0, 150, 32}, {0, 7, 0, 500, 20}, {1, 7, LLC, 260, 13},     {0, 8, 0, 240, 3}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const uint64_t *row = times[i];
        as_store_add_time(writer,
                          &(struct as_store_time){series, (uint32_t)row[0], (uint32_t)row[1], row[2], 0, row[3]});
    }
    for (size_t i = 0; i < sizeof components / sizeof *components; i++) {
        const uint64_t *row = components[i];
        as_store_add_component(
            writer, &(struct as_store_component){series, (uint32_t)row[0], (uint32_t)row[1], row[2], row[3], row[4]});
    }
}

static void add_golden_paths(struct as_store_writer *writer, uint32_t series)
{
    static const uint64_t times[][3] = {/* thread, path, units */
                                        {0, 0, 1000}, {0, 1, 1100}, {0, 2, 350}, {0, 3, 300}, {0, 4, 150},
                                        {0, 5, 200},  {1, 6, 260},  {1, 7, 400}, {0, 8, 240}};
    static const uint64_t components[][4] = {
        /* thread, path, events, units */
        {0, 0, 0, 910},        {0, 0, MB, 90},   {0, 1, 0, 500},        {0, 1, L1, 200}, {0, 1, L1 | LLC, 400},
        {0, 2, 0, 350},        {0, 3, L1, 200},  {0, 3, L1 | LLC, 100}, {0, 4, 0, 150},  {0, 5, 0, 100},
        {0, 5, L1 | LLC, 100}, {1, 6, LLC, 260}, {1, 7, L1 | LLC, 400}, {0, 8, 0, 240}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        as_store_add_path_time(writer, &(struct as_store_path_time){series, (uint32_t)times[i][0],
                                                                    (uint32_t)times[i][1], NONE, times[i][2], 0});
    for (size_t i = 0; i < sizeof components / sizeof *components; i++)
        as_store_add_path_component(writer, &(struct as_store_path_component){series, (uint32_t)components[i][0],
                                                                              (uint32_t)components[i][1],
                                                                              components[i][2], components[i][3], 0});
}

static void add_golden(struct as_store_writer *writer)
{
    uint32_t series = as_store_add_series(writer, &(struct as_store_series){.name = "golden",
                                                                            .description = "every cycle",
                                                                            .exact = true,
                                                                            .unit = "cycles",
                                                                            .scale = 4,
                                                                            .precise = -1,
                                                                            .events = L1 | LLC | MB});
    add_golden_times(writer, series);
    add_golden_paths(writer, series);
    as_store_add_stack(writer, &(struct as_store_stack){series, "states", "computing", 2250});
    as_store_add_stack(writer, &(struct as_store_stack){series, "states", "stalled", 1660});
    as_store_add_stack(writer, &(struct as_store_stack){series, "states", "flushed", 90});
    as_store_add_stack(writer, &(struct as_store_stack){series, "stack", "base", 3000});
    as_store_add_stack(writer, &(struct as_store_stack){series, "stack", "memory", 1000});
}

static void add_accesses(struct as_store_writer *writer, uint32_t series)
{
    enum { LOAD = AS_STORE_LOAD, STORE = AS_STORE_STORE };
    uint32_t table = as_store_add_object(writer, &(struct as_store_object){0, "table", 0x404000, 4096});
    uint32_t heap = as_store_add_object(writer, &(struct as_store_object){NONE, "[heap]", 0x900000, 0});
    uint32_t stack = as_store_add_object(writer, &(struct as_store_object){NONE, "[stack]", 0, 0});
    const struct as_store_access accesses[] = {
        {series, 0, 4, 0x404000, 8, LOAD, AS_STORE_HOW_HARDWARE, table, 303, 3},
        {series, 0, 4, 0x404004, 8, LOAD, AS_STORE_HOW_EXACT, table, 101, 1}, /* four bytes are those of the first */
        {series, 0, 0, 0x404040, 4, STORE, AS_STORE_HOW_NEXT, table, 150, 2},
        {series, 0, 1, 0x404048, 4, LOAD, AS_STORE_HOW_NEXT, table, 20, 1},
        {series, 0, 2, 0x404040, 2, LOAD, AS_STORE_HOW_NEXT, table, 10, 1},
        {series, 1, 7, 0x900010, 0, LOAD | STORE, AS_STORE_HOW_WATCHED, heap, 300, 4},
        {series, 0, 6, 0x7ffe003c, 8, STORE, AS_STORE_HOW_EXACT, stack, 90, 1}, /* in two lines */
        {series, 0, 4, 0x5000, 4, LOAD, AS_STORE_HOW_EXACT, NONE, 50, 1},
    };
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++)
        as_store_add_access(writer, &accesses[i]);
}

static void add_tea(struct as_store_writer *writer)
{
    uint32_t series = as_store_add_series(writer, &(struct as_store_series){.name = "tea",
                                                                            .description = "sampled",
                                                                            .unit = "cycles",
                                                                            .scale = 1,
                                                                            .event = "cycles",
                                                                            .precise = 2,
                                                                            .period = 1101,
                                                                            .samples = 10,
                                                                            .lost = 1,
                                                                            .throttled = 2,
                                                                            .dropped = 3,
                                                                            .events = L1 | LLC | MB});
    const struct as_store_time times[] = {
        {series, 0, 0, 202, 2, 0}, {series, 0, 4, 505, 5, 0}, {series, 1, 7, 303, 3, 0}};
    const struct as_store_component components[] = {{series, 0, 0, 0, 202, 2},
                                                    {series, 0, 4, 0, 205, 2},
                                                    {series, 0, 4, L1, 300, 3},
                                                    {series, 1, 7, LLC | MB, 303, 3}};
    const struct as_store_path_time path_times[] = {
        {series, 0, 0, 0, 202, 2}, {series, 0, 1, 4, 505, 5}, {series, 1, 6, 7, 303, 3}};
    const struct as_store_branch branches[] = {
        {series, 3, 0, 40, 4, 200}, {series, 1, 4, 30, 0, 90}, {series, 5, 7, 10, 5, 0}, {series, 6, 2, 30, 1, 60}};
    for (size_t i = 0; i < 3; i++)
        as_store_add_time(writer, &times[i]);
    for (size_t i = 0; i < 4; i++)
        as_store_add_component(writer, &components[i]);
    for (size_t i = 0; i < 3; i++)
        as_store_add_path_time(writer, &path_times[i]);
    for (size_t i = 0; i < 4; i++)
        as_store_add_branch(writer, &branches[i]);
    add_accesses(writer, series);
    as_store_add_estimate(writer, &(struct as_store_estimate){series, "error", "instruction", 0.125});
    as_store_add_estimate(writer, &(struct as_store_estimate){series, "error", "function", 0.0625});
    as_store_add_estimate(writer, &(struct as_store_estimate){series, "pics", "instruction", 0.25});
}

static void add_others(struct as_store_writer *writer)
{
    uint32_t bytes = as_store_add_series(
        writer, &(struct as_store_series){.name = "bytes", .unit = "bytes", .scale = 1, .precise = -1, .samples = 9});
    uint32_t clock = as_store_add_series(
        writer, &(struct as_store_series){
                    .name = "clock", .unit = "nanoseconds", .scale = 1, .precise = -1, .period = 1000, .samples = 1});
    as_store_add_time(writer, &(struct as_store_time){bytes, 0, 1, 64, 9, 0});
    as_store_add_time(writer, &(struct as_store_time){clock, 0, 6, 700, 1, 0});
    as_store_add_moment(writer, &(struct as_store_moment){clock, 0, 6, 1500000000, 2, AS_STORE_NONE, 0, 700, 1});
    as_store_add_estimate(writer, &(struct as_store_estimate){clock, "estimate", "instruction", 0.5});
}

void view_bed_shop(const char *path)
{
    struct as_store_writer *writer = bed_writer(path);
    add_meta(writer);
    add_runs(writer);
    add_surroundings(writer);
    add_quality(writer);
    add_code(writer);
    add_golden(writer);
    add_tea(writer);
    add_others(writer);
    bed_commit(writer);
}

void view_bed_old(const char *path)
{
    static const struct as_store_function old[] = {{"main", "main", 0, 0, 10, 0x1000, 0x10},
                                                   {"sell", "_Z4sellv", 0, 0, 20, 0x1080, 0x10},
                                                   {"give", NULL, 0, NONE, 0, 0x1200, 0x10}};
    static const uint64_t units[] = {1000, 2400, 600}, executions[] = {38, 120, 50};
    struct as_store_writer *writer = bed_writer(path);
    as_store_add_meta(writer, AS_META_PROGRAM, "/home/me/old/shop");
    as_store_add_meta(writer, "region", "from main");
    as_store_add_meta(writer, AS_META_SOURCE, "model");
    as_store_add_meta(writer, AS_META_CORE, "boom");
    as_store_add_meta_u64(writer, AS_META_CYCLES, 1000);
    as_store_add_argument(writer, "/home/me/old/shop");
    as_store_add_argument(writer, "-n");
    as_store_add_argument(writer, "4");
    as_store_add_thread(writer, &(struct as_store_thread){1, 100, NULL, 1000, 100, 0});
    as_store_add_event(writer, &(struct as_store_event){5, "ST-L1", NULL, NONE, NULL}); /* another bit than later */
    as_store_add_module(writer, &(struct as_store_module){.path = "/home/me/old/shop"});
    as_store_add_file(writer, "/home/me/shop.c");
    uint32_t series = as_store_add_series(
        writer, &(struct as_store_series){
                    .name = "golden", .exact = true, .unit = "cycles", .scale = 4, .precise = -1, .events = 32});
    for (uint32_t i = 0; i < 3; i++) {
        as_store_add_function(writer, &old[i]);
        as_store_add_instruction(
            writer,
            &(struct as_store_insn){{old[i].address, 0, i, NONE, 0, 11 + 10 * i, NONE}, 0, "nop", "nop", NULL, 0});
        as_store_add_time(writer, &(struct as_store_time){series, 0, i, units[i], 0, executions[i]});
        as_store_add_component(writer, &(struct as_store_component){series, 0, i, 0, i == 1 ? 400 : units[i], 0});
    }
    as_store_add_component(writer, &(struct as_store_component){series, 0, 1, 32, 2000, 0});
    bed_commit(writer);
}

const struct as_diff_row *view_bed_diff_row(const struct as_diff *diff, const char *name)
{
    for (size_t i = 0; i < diff->rows.len; i++)
        if (strcmp(diff->rows.data[i].name, name) == 0)
            return &diff->rows.data[i];
    fail_msg("no row %s", name);
    return NULL;
}
