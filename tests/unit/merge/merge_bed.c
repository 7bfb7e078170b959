/* See merge_bed.h. */
#include "unit.h"

#include "base/str.h"
#include "merge_bed.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>

enum { THREADS = 2, FUNCTIONS = 3, INSTRUCTIONS = 6 };

/* Numbers in the file of what is number i here. */
static uint32_t at(const struct run *run, uint32_t i, uint32_t n)
{
    return run->backwards ? n - 1 - i : i;
}

static void add_about(struct as_store_writer *writer, const struct run *run)
{
    as_store_add_meta(writer, AS_META_PROGRAM, run->program);
    as_store_add_meta(writer, AS_META_SOURCE, run->source);
    as_store_add_meta(writer, AS_META_CORE, run->core);
    as_store_add_meta(writer, AS_META_SERIES, "golden");
    as_store_add_meta(writer, AS_META_DATE, run->backwards ? "2026-01-01T00:00:00Z" : "2026-02-01T00:00:00Z");
    as_store_add_meta(writer, "host", run->backwards ? "one" : "two");
    as_store_add_meta_u64(writer, AS_META_CYCLES, 210 * run->times);
    as_store_add_meta_double(writer, AS_META_SECONDS, 0.5 * (double)run->times);
    as_store_add_machine(writer, "rob", "192");
    as_store_add_machine(writer, "kernel", run->backwards ? "6.1" : "6.2");
    as_store_add_argument(writer, "demo");
    as_store_add_argument(writer, run->backwards ? "-b" : "-f");
    as_store_add_environment(writer, "LANG=C");
    as_store_add_environment(writer, run->backwards ? "TZ=a" : "TZ=b");
    as_store_add_counter(writer, "branches", 7 * run->times);
    as_store_add_quality(writer, "data_exact", (double)(4 * run->times), "samples");
    as_store_add_quality(writer, "lone_chains", run->backwards ? 0.5 : 0.25, "part of the chains");
    as_store_add_quality(writer, "call_paths", 0.21, "of the time is in them"); /* 10 * 0.21 / 10 is another number */
    as_store_add_quality(writer, "advice", NAN, "more samples");
    as_store_add_quality(writer, "nameless_1", 0.5,
                         run->backwards ? "part of the time is in liba.so" : "part of the time is in libb.so");
    as_store_add_run(writer, &(struct as_store_run){1, 210 * run->times, 90, 10 * run->times, 0.5, 3});
    for (uint32_t i = 0; i < THREADS; i++)
        as_store_add_thread(writer, &(struct as_store_thread){at(run, i, THREADS) + 1, run->process,
                                                              at(run, i, THREADS) ? "worker" : "main", 100 * run->times,
                                                              45 * run->times, 5 * run->times});
}

static void add_functions(struct as_store_writer *writer, const struct run *run, uint32_t demo, uint32_t file)
{
    static const char *const names[FUNCTIONS] = {"main", "f", "g"};
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        uint32_t k = at(run, i, FUNCTIONS);
        as_store_add_function(writer, &(struct as_store_function){.name = names[k],
                                                                  .module = demo,
                                                                  .file = file,
                                                                  .line = 10 * k + 10,
                                                                  .address = run->base + 0x100 * k,
                                                                  .size = 8});
        as_store_add_block(writer, &(struct as_store_block){i, run->base + 0x100 * k, 8});
    }
}

static void add_code(struct as_store_writer *writer, const struct run *run)
{
    uint32_t demo = 0, other;
    struct as_store_module program = {.path = run->program, .build_id = run->build_id, .base = run->base},
                           vdso = {.path = "[vdso]", .base = run->base + 0x100000};
    if (run->backwards)
        as_store_add_module(writer, &vdso);
    demo = as_store_add_module(writer, &program);
    other = run->backwards ? 0 : as_store_add_module(writer, &vdso);
    if (run->backwards)
        as_store_add_file(writer, "other.c");
    uint32_t file = as_store_add_file(writer, "demo.c");
    add_functions(writer, run, demo, file);
    as_store_add_inline(writer, &(struct as_store_inline){AS_STORE_NONE, "outer", file, 11});
    as_store_add_inline(writer, &(struct as_store_inline){0, "inner", file, 12});
    for (uint32_t i = 0; i < INSTRUCTIONS; i++) {
        uint32_t k = at(run, i, INSTRUCTIONS), function = at(run, k / 2, FUNCTIONS);
        uint8_t bytes[2] = {0x90, (uint8_t)(k + run->rewritten)};
        as_store_add_instruction(
            writer, &(struct as_store_insn){.location = {.address = run->base + 0x100 * (k / 2) + 4 * (k % 2),
                                                         .module = demo,
                                                         .function = function,
                                                         .block = function,
                                                         .file = file,
                                                         .line = 10 + k,
                                                         .inlined = k == 1 ? 1 : AS_STORE_NONE},
                                            .target = k == 1 ? run->base + 0x100 : 0,
                                            .text = "nop",
                                            .class_ = "nop",
                                            .bytes = bytes,
                                            .n_bytes = 2});
    }
    as_store_add_instruction(writer, &(struct as_store_insn){.location = {.address = run->base + 0x100010,
                                                                          .module = other,
                                                                          .function = AS_STORE_NONE,
                                                                          .block = AS_STORE_NONE,
                                                                          .file = AS_STORE_NONE,
                                                                          .inlined = AS_STORE_NONE}});
}

static void add_series(struct as_store_writer *writer, const struct run *run)
{
    as_store_add_series(
        writer,
        &(struct as_store_series){
            .name = "golden", .exact = true, .unit = run->unit, .scale = run->scale, .precise = -1, .events = 3});
    if (!run->lacks_sampler)
        as_store_add_series(writer, &(struct as_store_series){.name = "tea",
                                                              .unit = "cycles",
                                                              .scale = 1,
                                                              .precise = 3,
                                                              .period = 20 + run->times,
                                                              .rate = 4000,
                                                              .samples = 10 * run->times,
                                                              .lost = run->times,
                                                              .throttled = 2 * run->times,
                                                              .dropped = 3 * run->times,
                                                              .events = run->events});
    as_store_add_event(writer, &(struct as_store_event){0, run->first_event, "missed", AS_STORE_NONE, "stalled"});
    as_store_add_event(writer, &(struct as_store_event){1, "FL-MB", NULL, 0, NULL});
    as_store_add_state(writer, &(struct as_store_state){run->backwards ? "stalled" : "computing", NULL});
    as_store_add_state(writer, &(struct as_store_state){run->backwards ? "computing" : "stalled", NULL});
    as_store_add_stack(writer, &(struct as_store_stack){0, "states", "computing", 70 * run->scale * run->times});
    as_store_add_stack(writer, &(struct as_store_stack){0, "states", "stalled", 30 * run->scale * run->times});
}

/* Of instruction k: 10 (k + 1) cycles, a third of them with events; all of them stalled. */
static void add_times(struct as_store_writer *writer, const struct run *run)
{
    for (uint32_t k = 0; k < INSTRUCTIONS; k++) {
        uint32_t insn = at(run, k, INSTRUCTIONS), thread = at(run, k % 2, THREADS), stalled = run->backwards ? 0 : 1;
        uint64_t units = 10 * (k + 1) * run->scale * run->times, samples = (k % 2 + 1) * run->times;
        as_store_add_time(writer, &(struct as_store_time){0, thread, insn, units, 0, 3 * (k + 1) * run->times});
        as_store_add_component(writer, &(struct as_store_component){0, thread, insn, 0, units - units / 5, 2});
        as_store_add_component(writer, &(struct as_store_component){0, thread, insn, 2, units / 5, 1});
        as_store_add_state_time(writer, &(struct as_store_state_time){0, thread, insn, stalled, units});
        if (run->lacks_sampler)
            continue;
        as_store_add_time(writer, &(struct as_store_time){1, thread, insn, 21 * samples, samples, 0});
        if (run->events)
            as_store_add_component(writer, &(struct as_store_component){1, thread, insn, 1, 21 * samples, samples});
    }
}

/* main > f > g; and what has no name, called from g. */
static void add_paths(struct as_store_writer *writer, const struct run *run)
{
    const uint32_t none = AS_STORE_NONE;
    const struct as_store_path paths[] = {
        {none, at(run, 0, FUNCTIONS), none, run->base, 0, false},
        {0, at(run, 1, FUNCTIONS), at(run, 1, INSTRUCTIONS), run->base + 0x100, run->base + 4, false},
        {1, at(run, 2, FUNCTIONS), at(run, 3, INSTRUCTIONS), run->base + 0x200, run->base + 0x104, false},
        {2, none, none, run->base + 0x200, run->base + 0x204, true},
    };
    for (uint32_t i = 0; i < 4; i++) {
        as_store_add_path(writer, &paths[i]);
        as_store_add_path_time(writer, &(struct as_store_path_time){0, at(run, 0, THREADS), i,
                                                                    i == 2 ? at(run, 4, INSTRUCTIONS) : none,
                                                                    (i + 1) * run->scale * run->times, run->times});
        as_store_add_path_component(writer,
                                    &(struct as_store_path_component){0, at(run, 0, THREADS), i, 2,
                                                                      (i + 1) * run->scale * run->times, run->times});
    }
    const struct as_store_path nameless[] = {{2, none, none, run->base, run->base + 0x204, true},
                                             {2, none, none, run->base + 0x100010, run->base + 0x204, true}};
    for (uint32_t i = 0; run->nameless && i < 2; i++)
        as_store_add_path(writer, &nameless[i]);
}

static void add_data(struct as_store_writer *writer, const struct run *run)
{
    uint32_t table =
        as_store_add_object(writer, &(struct as_store_object){run->backwards ? 1 : 0, "table", run->base + 0x4000, 64});
    uint32_t heap = as_store_add_object(writer, &(struct as_store_object){AS_STORE_NONE, "[heap]", 9 * run->base, 0});
    as_store_add_access(writer, &(struct as_store_access){0, at(run, 1, THREADS), at(run, 2, INSTRUCTIONS),
                                                          run->base + 0x4008, 8, AS_STORE_LOAD, AS_STORE_HOW_EXACT,
                                                          table, 20 * run->scale * run->times, run->times});
    as_store_add_access(writer, &(struct as_store_access){0, at(run, 1, THREADS), at(run, 2, INSTRUCTIONS),
                                                          9 * run->base + 16, 8, AS_STORE_STORE, AS_STORE_HOW_NEXT,
                                                          heap, 10 * run->scale * run->times, run->times});
    as_store_add_branch(writer, &(struct as_store_branch){0, at(run, 1, INSTRUCTIONS), at(run, 2, INSTRUCTIONS),
                                                          9 * run->times, 3 * run->times, 90 * run->times});
    as_store_add_access_component(writer, &(struct as_store_access_component){
                                              0, at(run, 1, THREADS), at(run, 2, INSTRUCTIONS), run->base + 0x4008,
                                              AS_STORE_LOAD, table, 1, 20 * run->scale * run->times, run->times});
    as_store_add_wait(writer, &(struct as_store_wait){.thread = at(run, 1, THREADS),
                                                      .instruction = at(run, 2, INSTRUCTIONS),
                                                      .other = at(run, 0, THREADS),
                                                      .culprit = at(run, 1, INSTRUCTIONS),
                                                      .line = run->base + 0x4000,
                                                      .object = table,
                                                      .place = AS_STORE_NONE,
                                                      .units = 20 * run->scale * run->times,
                                                      .transfers = run->times});
    as_store_add_moment(writer, &(struct as_store_moment){.thread = at(run, 1, THREADS),
                                                          .instruction = at(run, 2, INSTRUCTIONS),
                                                          .time = 5,
                                                          .processor = AS_STORE_NONE,
                                                          .path = AS_STORE_NONE,
                                                          .units = 20 * run->scale * run->times});
}

static void add_loose(struct as_store_writer *writer, const struct run *run)
{
    const uint32_t thread = at(run, 1, THREADS), instruction = at(run, 2, INSTRUCTIONS), none = AS_STORE_NONE;
    as_store_add_access(writer, &(struct as_store_access){0, thread, instruction, 0x5000, 4, AS_STORE_LOAD,
                                                          AS_STORE_HOW_EXACT, none, 7, 1});
    as_store_add_access_component(
        writer, &(struct as_store_access_component){0, thread, instruction, 0x5000, AS_STORE_LOAD, none, 1, 7, 1});
    as_store_add_wait(writer, &(struct as_store_wait){.thread = thread,
                                                      .instruction = instruction,
                                                      .culprit = none,
                                                      .line = 0x5000,
                                                      .object = none,
                                                      .place = none,
                                                      .units = 7,
                                                      .transfers = 1});
}

void merge_bed_write(const char *path, const struct run *run)
{
    struct as_store_writer *writer = bed_writer(path);
    add_about(writer, run);
    add_series(writer, run);
    add_code(writer, run);
    add_times(writer, run);
    add_paths(writer, run);
    add_data(writer, run);
    if (run->loose)
        add_loose(writer, run);
    if (!run->lacks_sampler) {
        as_store_add_estimate(writer, &(struct as_store_estimate){1, "estimate", "function", 0.5});
        as_store_add_estimate(writer, &(struct as_store_estimate){1, "error", "instruction", 0.5});
        as_store_add_estimate(writer,
                              &(struct as_store_estimate){1, "systematic", "function", 0.1 * (double)run->times});
        as_store_add_estimate(writer, &(struct as_store_estimate){1, "pics", "function", 0.5});
    }
    bed_commit(writer);
}

/* ---- merging ---- */

static bool merge(const char *output, size_t n, const char *const *paths, const char *const *weights, bool force,
                  struct as_error *err)
{
    struct as_merge_input inputs[8] = {0};
    for (size_t i = 0; i < n; i++) {
        inputs[i] = (struct as_merge_input){.path = paths[i], .weight = {1, 1}};
        assert_true(!weights || as_weight_read(weights[i], &inputs[i].weight));
    }
    return as_merge(inputs, n, output, &(struct as_merge_options){.force = force}, err);
}

void merge_bed_merge(const char *output, size_t n, const char *const *paths, const char *const *weights)
{
    struct as_error err = AS_ERROR_INIT;
    if (!merge(output, n, paths, weights, false, &err))
        fail_msg("%s", err.message);
}

void merge_bed_refuse(const char *part, const char *first, const char *second)
{
    struct as_error err = AS_ERROR_INIT;
    const char *const paths[] = {first, second};
    unlink(bed_path("refused.db"));
    assert_false(merge(bed_path("refused.db"), 2, paths, NULL, false, &err));
    if (!strstr(err.message, part))
        fail_msg("\"%s\" has no \"%s\"", err.message, part);
    assert_int_equal(access(bed_path("refused.db"), F_OK), -1);
}

/* ---- looking ---- */

static char *run_sql(const char *path, const char *const *statements, size_t n)
{
    struct as_str text = {0};
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    for (size_t i = 0; i < n; i++) {
        if (sqlite3_prepare_v2(db, statements[i], -1, &row, NULL) != SQLITE_OK)
            fail_msg("%s: %s", statements[i], sqlite3_errmsg(db));
        while (sqlite3_step(row) == SQLITE_ROW)
            for (int k = 0; k < sqlite3_column_count(row); k++) {
                const char *value = (const char *)sqlite3_column_text(row, k);
                as_str_addf(&text, "%s%s", value ? value : "NULL", k + 1 < sqlite3_column_count(row) ? "|" : "\n");
            }
        sqlite3_finalize(row);
    }
    sqlite3_close(db);
    return as_str_take(&text);
}

char *merge_bed_dump(const char *path)
{
    char sql[AS_TABLE_COUNT][64];
    const char *statements[AS_TABLE_COUNT];
    for (int i = 0; i < AS_TABLE_COUNT; i++) {
        snprintf(sql[i], sizeof sql[i], "SELECT '%s', * FROM %s", as_store_tables[i].name, as_store_tables[i].name);
        statements[i] = sql[i];
    }
    return run_sql(path, statements, AS_TABLE_COUNT);
}

#define INSN(alias) "(" alias ".address - m.base), hex(" alias ".bytes)"

char *merge_bed_canonical(const char *path)
{
    static const char *const statements[] = {
        "SELECT key, value FROM meta WHERE key != 'merged_inputs' ORDER BY key",
        "SELECT name, value FROM counters ORDER BY name",
        "SELECT key, value, text FROM quality ORDER BY key, text",
        "SELECT name, cycles, instructions, samples FROM threads ORDER BY name",
        "SELECT name, unit, scale, period, samples, lost, throttled, dropped, events FROM series ORDER BY name",
        "SELECT s.name, measure, granularity, round(value, 12) FROM estimates e JOIN series s ON s.id = e.series"
        " ORDER BY 1, 2, 3",
        "SELECT s.name, k.stack, k.name, k.units FROM stacks k JOIN series s ON s.id = k.series ORDER BY 1, 2, 3",
        "SELECT s.name, " INSN("i") ", f.name, b.size, l.path, i.line, y.function, t.name, x.units, x.samples,"
                                    " x.executions FROM times x JOIN series s ON s.id = x.series JOIN instructions i "
                                    "ON i.id = x.instruction"
                                    " JOIN modules m ON m.id = i.module JOIN threads t ON t.id = x.thread JOIN "
                                    "functions f ON f.id = i.function"
                                    " JOIN blocks b ON b.id = i.block JOIN files l ON l.id = i.file LEFT JOIN inlines "
                                    "y ON y.id = i.inlined"
                                    " ORDER BY 1, 2, 8",
        "SELECT s.name, " INSN(
            "i") ", t.name, x.events, x.units, x.samples FROM components x"
                 " JOIN series s ON s.id = x.series JOIN instructions i ON i.id = x.instruction"
                 " JOIN modules m ON m.id = i.module JOIN threads t ON t.id = x.thread ORDER BY 1, 2, 4, 5",
        "SELECT s.name, " INSN("i") ", z.name, x.units FROM state_times x JOIN series s ON s.id = x.series"
                                    " JOIN instructions i ON i.id = x.instruction JOIN modules m ON m.id = i.module"
                                    " JOIN states z ON z.id = x.state ORDER BY 1, 2, 4",
        "SELECT p.id, p.parent, f.name, (c.address - m.base), (p.address - m.base), (nullif(p.call_address, 0) - "
        "m.base), "
        "p.signal,"
        " x.units, x.samples, k.events, k.units FROM paths p JOIN modules m ON m.path = '/bin/demo'"
        " LEFT JOIN functions f ON f.id = p.function LEFT JOIN instructions c ON c.id = p.call_site"
        " JOIN path_times x ON x.path = p.id JOIN path_components k ON k.path = p.id ORDER BY 1",
        "SELECT o.name, x.address - o.address, x.size, x.kind, x.how, x.units, x.samples FROM accesses x"
        " JOIN objects o ON o.id = x.object ORDER BY 1, 2",
        "SELECT " INSN("i") ", (j.address - m.base), x.taken, x.mispredicted, x.cycles FROM branches x"
                            " JOIN instructions i ON i.id = x.source JOIN instructions j ON j.id = x.target"
                            " JOIN modules m ON m.id = i.module ORDER BY 1",
    };
    return run_sql(path, statements, sizeof statements / sizeof *statements);
}

int64_t merge_bed_number(const char *path, const char *sql)
{
    char *text = run_sql(path, &sql, 1);
    int64_t number = strtoll(text ? text : "", NULL, 10);
    free(text);
    return number;
}
