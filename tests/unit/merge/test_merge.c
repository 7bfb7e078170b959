/* Merged profiles: what is the same is found, wherever it lies and whatever its number; numbers add up to the unit. */
#include "unit.h"

#include "merge/merge_internal.h"
#include "merge_bed.h"

#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

static struct run plain = RUN_INIT;

/* Says the first line that differs. */
static void assert_same(char *a, char *b)
{
    size_t same = 0, start = 0;
    for (; a[same] && a[same] == b[same]; same++)
        start = a[same] == '\n' ? same + 1 : start;
    if (a[same] != b[same])
        fail_msg("\"%.*s\" is not \"%.*s\"", (int)strcspn(a + start, "\n"), a + start, (int)strcspn(b + start, "\n"),
                 b + start);
    free(a);
    free(b);
}

static void assert_number(const char *path, const char *sql, int64_t wanted)
{
    int64_t found = merge_bed_number(path, sql);
    if (found != wanted)
        fail_msg("%s: %lld, not %lld", sql, (long long)found, (long long)wanted);
}

/* ---- algebra ---- */

static void one_is_itself(void **state)
{
    merge_bed_write(bed_path("a.db"), &plain);
    const char *const paths[] = {bed_path("a.db")};
    merge_bed_merge(bed_path("out.db"), 1, paths, NULL);
    assert_same(merge_bed_dump(bed_path("out.db")), merge_bed_dump(bed_path("a.db")));
    assert_number(bed_path("out.db"), "SELECT value = 0.21 FROM quality WHERE key = 'call_paths'", 1);
    bed_write_small(bed_path("small.db"));
    const char *const small[] = {bed_path("small.db")};
    merge_bed_merge(bed_path("out.db"), 1, small, NULL);
    char *dump = merge_bed_dump(bed_path("out.db"));
    assert_non_null(strstr(dump, "\npath_times|0|0|-1|1|1000|5\n"));
    free(dump);
    assert_number(bed_path("out.db"), "SELECT count(*) FROM instructions", 6);
}

/* Runs at another place, with other numbers: the same code, twice the time. */
static void runs_elsewhere(void **state)
{
    struct run other = RUN_INIT;
    other.base = 0x7f0000001000;
    other.backwards = true;
    other.process = 200;
    merge_bed_write(bed_path("a.db"), &plain);
    merge_bed_write(bed_path("b.db"), &other);
    const char *const paths[] = {bed_path("a.db"), bed_path("b.db")};
    merge_bed_merge(bed_path("out.db"), 2, paths, NULL);
    const char *out = bed_path("out.db");
    assert_number(out, "SELECT count(*) FROM modules", 2);
    assert_number(out, "SELECT base FROM modules WHERE path = '/bin/demo'", 0x1000);
    assert_number(out, "SELECT count(*) FROM instructions", 7);
    assert_number(out, "SELECT count(*) FROM functions", 3);
    assert_number(out, "SELECT count(*) FROM blocks", 3);
    assert_number(out, "SELECT count(*) FROM inlines", 2);
    assert_number(out, "SELECT count(*) FROM files", 2);
    assert_number(out, "SELECT count(*) FROM paths", 4);
    assert_number(out, "SELECT count(*) FROM objects", 2);
    assert_number(out, "SELECT count(*) FROM threads", 2);
    assert_number(out, "SELECT count(*) FROM states", 2);
    assert_number(out, "SELECT count(*) FROM times", 12);
    assert_number(out, "SELECT count(*) FROM accesses", 2);
    assert_number(out, "SELECT count(*) FROM branches", 1);
    assert_number(out,
                  "SELECT units FROM times x JOIN instructions i ON i.id = x.instruction"
                  " WHERE hex(bytes) = '9004' AND series = 0",
                  2 * 500);
    assert_number(out, "SELECT max(units) FROM state_times", 2 * 600);
    assert_number(out, "SELECT target FROM instructions WHERE hex(bytes) = '9001'", 0x1100);
    assert_number(out, "SELECT count(*) FROM runs", 2);
    assert_number(out, "SELECT number FROM runs ORDER BY number DESC", 2);
    assert_number(out, "SELECT count(DISTINCT identity) FROM recordings", 2);
    assert_number(out, "SELECT value FROM meta WHERE key = 'merged'", 2);
    assert_number(out, "SELECT value = '2026-01-01T00:00:00Z' FROM meta WHERE key = 'date'", 1);
    assert_number(out, "SELECT count(*) FROM meta WHERE key = 'host'", 0);
    assert_number(out, "SELECT value FROM meta WHERE key = 'cycles_mean'", 210);
    assert_number(out, "SELECT count(*) FROM machine", 1);
    assert_number(out, "SELECT count(*) FROM arguments", 1);
    assert_number(out, "SELECT count(*) FROM environment", 1);
    assert_number(out, "SELECT value FROM counters", 14);
    assert_number(out, "SELECT value FROM quality WHERE key = 'data_exact'", 8);
    assert_number(out, "SELECT 1000 * value FROM quality WHERE key = 'lone_chains'", 375);
    assert_number(out, "SELECT count(*) FROM quality WHERE key LIKE 'nameless__'", 2);
    assert_number(out, "SELECT 1000 * sum(value) FROM quality WHERE text LIKE 'part of the time is in %'", 500);
    assert_number(out, "SELECT value IS NULL FROM quality WHERE key = 'advice'", 1);
}

/* An address without a name moves with the module that it lies in, from the first address of that module on. */
static void nameless_code_moves(void **state)
{
    struct run here = RUN_INIT, there = RUN_INIT;
    here.nameless = there.nameless = true;
    there.base = 0x7f0000001000;
    merge_bed_write(bed_path("a.db"), &here);
    merge_bed_write(bed_path("b.db"), &there);
    const char *const paths[] = {bed_path("a.db"), bed_path("b.db")};
    merge_bed_merge(bed_path("out.db"), 2, paths, NULL);
    assert_number(bed_path("out.db"), "SELECT count(*) FROM paths", 6);
    assert_number(bed_path("out.db"), "SELECT count(*) FROM paths WHERE function IS NULL AND address = 0x1000", 1);
    assert_number(bed_path("out.db"), "SELECT count(*) FROM paths WHERE function IS NULL AND address = 0x101010", 1);
}

/* Nobody knows whether it moved: the address stays. */
static void data_of_no_object_stays(void **state)
{
    struct run here = RUN_INIT, there = RUN_INIT;
    here.loose = there.loose = true;
    there.base = 0x7f0000001000;
    merge_bed_write(bed_path("a.db"), &here);
    merge_bed_write(bed_path("b.db"), &there);
    const char *const paths[] = {bed_path("a.db"), bed_path("b.db")};
    merge_bed_merge(bed_path("out.db"), 2, paths, NULL);
    const char *out = bed_path("out.db");
    assert_number(out, "SELECT samples FROM accesses WHERE object IS NULL AND address = 0x5000", 2);
    assert_number(out, "SELECT samples FROM access_components WHERE object IS NULL AND address = 0x5000", 2);
    assert_number(out, "SELECT transfers FROM waits WHERE object IS NULL AND line = 0x5000", 2);
}

/* Other bytes at the same address are another instruction. */
static void rewritten_code_stays_apart(void **state)
{
    struct run other = RUN_INIT;
    other.rewritten = 0x40;
    merge_bed_write(bed_path("a.db"), &plain);
    merge_bed_write(bed_path("b.db"), &other);
    const char *const paths[] = {bed_path("a.db"), bed_path("b.db")};
    merge_bed_merge(bed_path("out.db"), 2, paths, NULL);
    assert_number(bed_path("out.db"), "SELECT count(*) FROM instructions", 7 + 6);
    assert_number(bed_path("out.db"),
                  "SELECT units FROM times x JOIN instructions i ON i.id = x.instruction"
                  " WHERE hex(bytes) = '9044' AND series = 0",
                  500);
}

/* A run in two halves is the whole. */
static void halves_are_the_whole(void **state)
{
    struct run half = RUN_INIT, whole = RUN_INIT;
    whole.times = 2;
    half.base = 0x9000;
    merge_bed_write(bed_path("a.db"), &plain);
    merge_bed_write(bed_path("b.db"), &half);
    const char *const paths[] = {bed_path("a.db"), bed_path("b.db")};
    merge_bed_merge(bed_path("out.db"), 2, paths, NULL);
    merge_bed_write(bed_path("whole.db"), &whole);
    static const char *const tables[] = {"times",    "state_times", "path_times", "path_components", "accesses",
                                         "branches", "stacks",      "threads",    "counters"};
    char sql[80];
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", tables[i]);
        assert_number(bed_path("out.db"), sql, merge_bed_number(bed_path("whole.db"), sql));
    }
    static const char *const sums[] = {"SELECT sum(units * (series + 1) * (instruction + 3)) FROM times",
                                       "SELECT sum(executions * (instruction + 3)) FROM times",
                                       "SELECT sum(samples * (instruction + 3)) FROM times",
                                       "SELECT sum(units * (events + 1) * (instruction + 3)) FROM components",
                                       "SELECT sum(units * (path + 1)) FROM path_times",
                                       "SELECT sum(units * address) FROM accesses",
                                       "SELECT taken + cycles + mispredicted FROM branches",
                                       "SELECT sum(cycles + samples + instructions) FROM threads",
                                       "SELECT value FROM meta WHERE key = 'cycles'"};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        assert_number(bed_path("out.db"), sums[i], merge_bed_number(bed_path("whole.db"), sums[i]));
}

/* A table that was added needs rows in merge_bed.c, and a way through a merge. */
static void every_table_is_merged(void **state)
{
    struct run other = RUN_INIT;
    other.base = 0x9000;
    merge_bed_write(bed_path("a.db"), &plain);
    merge_bed_write(bed_path("b.db"), &other);
    const char *const paths[] = {bed_path("a.db"), bed_path("b.db")};
    merge_bed_merge(bed_path("out.db"), 2, paths, NULL);
    for (size_t i = 0; i < AS_TABLE_COUNT; i++) {
        const struct as_store_table *table = &as_store_tables[i];
        char sql[80];
        snprintf(sql, sizeof sql, "SELECT count(*) > 0 FROM %s", table->name);
        assert_number(bed_path("a.db"), sql, 1);
        assert_number(bed_path("out.db"), sql, 1);
        assert_int_not_equal(table->merging, 0);
        assert_true(table->merging != AS_MERGING_OF_SERIES || as_store_table_of_series(table));
        assert_true(table->merging != AS_MERGING_THINGS || table->columns[0].type == AS_COLUMN_ROW);
    }
}

static void order_does_not_matter(void **state)
{
    struct run b = RUN_INIT, c = RUN_INIT;
    b.base = 0x5000, b.backwards = true, b.times = 3, b.process = 7;
    c.base = 0x88000, c.times = 5, c.process = 9;
    merge_bed_write(bed_path("a.db"), &plain);
    merge_bed_write(bed_path("b.db"), &b);
    merge_bed_write(bed_path("c.db"), &c);
    static char path[8][256];
    static const char *const names[] = {"a.db", "b.db", "c.db", "ab.db", "bc.db", "1.db", "2.db", "3.db"};
    for (size_t i = 0; i < 8; i++)
        snprintf(path[i], sizeof path[i], "%s", bed_path(names[i]));
    merge_bed_merge(path[3], 2, (const char *const[]){path[0], path[1]}, NULL);
    merge_bed_merge(path[4], 2, (const char *const[]){path[1], path[2]}, NULL);
    merge_bed_merge(path[5], 2, (const char *const[]){path[3], path[2]}, NULL);
    merge_bed_merge(path[6], 2, (const char *const[]){path[0], path[4]}, NULL);
    merge_bed_merge(path[7], 3, (const char *const[]){path[0], path[1], path[2]}, NULL);
    assert_same(merge_bed_dump(path[5]), merge_bed_dump(path[7]));
    assert_same(merge_bed_canonical(path[6]), merge_bed_canonical(path[7]));
    merge_bed_merge(path[5], 3, (const char *const[]){path[2], path[1], path[0]}, NULL);
    assert_same(merge_bed_canonical(path[5]), merge_bed_canonical(path[7]));
}

/* ---- what does not fit together ---- */

static void what_is_refused(void **state)
{
    char first[256], second[256];
    snprintf(first, sizeof first, "%s", bed_path("a.db"));
    snprintf(second, sizeof second, "%s", bed_path("b.db"));
    merge_bed_write(first, &plain);
    struct run other = RUN_INIT;
    other.build_id = "ef01";
    merge_bed_write(second, &other);
    merge_bed_refuse("different builds of one program (build-id abcd, ef01)", first, second);
    other = plain, other.program = "/bin/other";
    merge_bed_write(second, &other);
    merge_bed_refuse("different programs (demo, other)", first, second);
    other = plain, other.core = "rocket";
    merge_bed_write(second, &other);
    merge_bed_refuse("different cores (boom, rocket)", first, second);
    other = plain, other.unit = "nanoseconds";
    merge_bed_write(second, &other);
    merge_bed_refuse("series golden differs in its unit", first, second);
    other = plain, other.first_event = "DR-L1";
    merge_bed_write(second, &other);
    merge_bed_refuse("event 0 is ST-L1 in one and DR-L1 in the other", first, second);
    other = plain, other.lacks_sampler = true;
    merge_bed_write(second, &other);
    merge_bed_refuse("1 of 2 have the series tea", first, second);
    merge_bed_refuse("is given twice", first, first);
    merge_bed_write(second, &plain);
    const char *const both[] = {first, second}, *merged = bed_path("ab.db");
    merge_bed_merge(merged, 2, both, NULL);
    merge_bed_refuse("have a recording in common", merged, second);
    bed_write(second, "SQLite format 3", 15);
    merge_bed_refuse("b.db", first, second);
    unlink(second);
    merge_bed_refuse("there is no", first, second);
}

static void force_leaves_out(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct run other = RUN_INIT;
    other.lacks_sampler = true, other.core = "rocket", other.build_id = "ef01";
    merge_bed_write(bed_path("a.db"), &plain);
    merge_bed_write(bed_path("b.db"), &other);
    struct as_merge_input inputs[] = {{.path = bed_path("a.db"), .weight = {1, 1}},
                                      {.path = bed_path("b.db"), .weight = {1, 1}}};
    assert_true(as_merge(inputs, 2, bed_path("out.db"), &(struct as_merge_options){.force = true}, &err));
    assert_number(bed_path("out.db"), "SELECT count(*) FROM series", 1);
    assert_number(bed_path("out.db"), "SELECT sum(units) FROM times", 4200);
    assert_number(bed_path("out.db"), "SELECT count(*) FROM modules", 3);
    assert_number(bed_path("out.db"), "SELECT count(*) FROM instructions", 13);
    assert_number(bed_path("out.db"), "SELECT count(*) FROM meta WHERE key = 'title'", 0); /* the program is the same */
    as_store_close(bed_open(bed_path("out.db")));
}

static void names_programs(void **state)
{
    static const char *const programs[] = {"/bin/demo", "/usr/bin/demo", "/bin/ls", "/bin/cat", "/bin/tac"};
    static const char *const titles[] = {"", "", "demo and ls", "demo, ls and cat", "demo, ls and 2 others"};
    struct as_merge_input inputs[5];
    struct as_error err = AS_ERROR_INIT;
    for (size_t i = 0; i < 5; i++) {
        struct run run = RUN_INIT;
        run.program = programs[i];
        char name[8] = {(char)('a' + i), '\0'};
        inputs[i] = (struct as_merge_input){.path = strdup(bed_path(name)), .weight = {1, 1}};
        merge_bed_write(inputs[i].path, &run);
    }
    for (size_t n = 2; n <= 5; n++) {
        assert_true(as_merge(inputs, n, bed_path("out.db"), &(struct as_merge_options){.force = true}, &err));
        struct as_store *store = bed_open(bed_path("out.db"));
        const char *title = as_store_meta(store, AS_META_TITLE);
        assert_string_equal(title ? title : "", titles[n - 1]);
        as_store_close(store);
    }
    for (size_t i = 0; i < 5; i++)
        free((char *)inputs[i].path);
}

/* Without samples, shares count by the cycles of their runs: 0.25 of 210, and 0.5 of 630. */
static void shares_count_by_cycles(void **state)
{
    struct run first = RUN_INIT, second = RUN_INIT;
    first.lacks_sampler = second.lacks_sampler = second.backwards = true, second.times = 3;
    merge_bed_write(bed_path("a.db"), &first);
    merge_bed_write(bed_path("b.db"), &second);
    const char *const paths[] = {bed_path("a.db"), bed_path("b.db")};
    merge_bed_merge(bed_path("out.db"), 2, paths, NULL);
    assert_number(bed_path("out.db"),
                  "SELECT CAST(round(10000 * value) AS INTEGER) FROM quality WHERE key = 'lone_chains'", 4375);
}

/* Shares of instructions: 0.25 of 300 and, of a run that was not sampled, all of 100; the start took 0.5 of the latter. */
static void shares_count_by_instructions(void **state)
{
    char *one = strdup(bed_path("a.db")), *other = strdup(bed_path("b.db"));
    const char *out = bed_path("out.db");
    merge_bed_write(one, &plain);
    merge_bed_write(other, &plain);
    bed_sql(one, "INSERT OR REPLACE INTO meta VALUES('instructions', '300');"
                 "INSERT INTO quality SELECT min(id) - 1, 'sampled', 0.25, 'SAMPLED: 300 instructions' FROM quality");
    bed_sql(
        other,
        "INSERT OR REPLACE INTO meta VALUES('instructions', '100');"
        "INSERT INTO quality SELECT max(id) + 1, 'start_up', 0.5, 'the start (50 instructions) is much' FROM quality");
    merge_bed_merge(out, 2, (const char *const[]){one, other}, NULL);
    assert_number(out, "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'instructions'", 400);
    assert_number(out, "SELECT CAST(round(10000 * value) AS INTEGER) FROM quality WHERE key = 'sampled'", 4375);
    assert_number(out,
                  "SELECT text = 'SAMPLED: an estimate for all 400 instructions of 2 merged profiles; 175 of them were"
                  " measured' FROM quality WHERE key = 'sampled'",
                  1);
    assert_number(out, "SELECT CAST(round(10000 * value) AS INTEGER) FROM quality WHERE key = 'start_up'", 1250);
    assert_number(out, "SELECT text = 'the start (at least 50) is much' FROM quality WHERE key = 'start_up'", 1);
    free(one);
    free(other);
}

/* Parts of one run are that run: one profile was merged, and says which part of the run it has. Other runs are counted. */
static void parts_are_one_run(void **state)
{
    static const struct as_merge_parts parts = {.part = "the middle", .note = "of two weights"};
    struct as_error err = AS_ERROR_INIT;
    char *one = strdup(bed_path("a.db")), *other = strdup(bed_path("b.db")), *out = strdup(bed_path("out.db"));
    merge_bed_write(one, &plain);
    merge_bed_write(other, &plain);
    const struct as_merge_input inputs[] = {{.path = one, .weight = {1, 1}}, {.path = other, .weight = {1, 2}}};
    if (!as_merge(inputs, 2, out, &(struct as_merge_options){.parts = &parts, .runs = true}, &err))
        fail_msg("%s", err.message);
    assert_number(out, "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'merged'", 1);
    assert_number(out, "SELECT count(*) FROM meta WHERE key = 'part' AND value = 'the middle'", 1);
    assert_number(out, "SELECT count(*) FROM meta WHERE key = 'merged_inputs'", 0);
    if (!as_merge(inputs, 2, out, &(struct as_merge_options){0}, &err))
        fail_msg("%s", err.message);
    assert_number(out, "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'merged'", 2);
    assert_number(out, "SELECT count(*) FROM meta WHERE key = 'part'", 0);
    assert_number(out, "SELECT count(*) FROM meta WHERE key = 'merged_inputs'", 1);
    free(one);
    free(other);
    free(out);
}

/* Of arguments that are not the same, the program's name is left: also where one list is the beginning of the other. */
static void arguments_that_differ(void **state)
{
    char *one = strdup(bed_path("a.db")), *other = strdup(bed_path("b.db")), *out = strdup(bed_path("out.db"));
    merge_bed_write(one, &plain);
    merge_bed_write(other, &plain);
    merge_bed_merge(out, 2, (const char *const[]){one, other}, NULL);
    assert_number(out, "SELECT count(*) FROM arguments", 2);
    bed_sql(other, "INSERT INTO arguments SELECT max(id) + 1, 'more' FROM arguments");
    merge_bed_merge(out, 2, (const char *const[]){one, other}, NULL);
    assert_number(out, "SELECT count(*) FROM arguments", 1);
    merge_bed_merge(out, 2, (const char *const[]){other, one}, NULL);
    assert_number(out, "SELECT count(*) FROM arguments", 1);
    bed_sql(other, "UPDATE arguments SET value = 'another' WHERE id = 0");
    merge_bed_merge(out, 2, (const char *const[]){one, other}, NULL);
    assert_number(out, "SELECT count(*) FROM arguments", 0);
    free(one);
    free(other);
    free(out);
}

/* How many modules two runs of one program have together, once all modules of each are changed by an SQL text. */
static int64_t modules_of(const char *first, const char *second)
{
    char *one = strdup(bed_path("a.db")), *other = strdup(bed_path("b.db")), *out = strdup(bed_path("out.db"));
    merge_bed_write(one, &plain);
    merge_bed_write(other, &plain);
    bed_sql(one, first);
    bed_sql(other, second);
    merge_bed_merge(out, 2, (const char *const[]){one, other}, NULL);
    int64_t n = merge_bed_number(out, "SELECT count(*) FROM modules");
    free(one);
    free(other);
    free(out);
    return n;
}

/* Without a build-id a file is the same if its size and time are; memory without a file, if it lies at the same address. Of the
 * program itself there may be one build alone. */
static void files_without_a_build_id(void **state)
{
#define OTHERS " WHERE path NOT LIKE '%demo'"
    static const char same[] = "UPDATE modules SET build_id = NULL, file_size = 10, file_time = 20" OTHERS;
    static const char memory[] =
        "UPDATE modules SET build_id = NULL, path = '/memfd:' || id, base = base + 4096" OTHERS;
    int64_t n = modules_of(same, same);
    assert_true(n > 1);
    assert_int_equal(modules_of(same, "UPDATE modules SET build_id = NULL, file_size = 10, file_time = 21" OTHERS),
                     2 * n - 1);
    assert_int_equal(modules_of(same, "UPDATE modules SET build_id = NULL, file_size = 11, file_time = 20" OTHERS),
                     2 * n - 1);
    assert_int_equal(modules_of(memory, memory), n);
    assert_int_equal(modules_of(memory, "UPDATE modules SET build_id = NULL, path = '/memfd:' || id" OTHERS),
                     2 * n - 1);
}

/* The output is none of the inputs, by whatever name. */
static void inputs_are_never_replaced(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    merge_bed_write(bed_path("a.db"), &plain);
    unlink(bed_path("link.db"));
    assert_int_equal(symlink("a.db", bed_path("link.db")), 0);
    struct as_merge_input input = {.path = bed_path("a.db"), .weight = {1, 1}};
    char *before = merge_bed_dump(bed_path("a.db"));
    assert_false(as_merge(&input, 1, bed_path("link.db"), &(struct as_merge_options){0}, &err));
    assert_non_null(strstr(err.message, "give the output another name"));
    assert_same(before, merge_bed_dump(bed_path("a.db")));
}

/* ---- what is worked out anew ---- */

static void estimates_are_made_again(void **state)
{
    struct run other = RUN_INIT;
    other.times = 3;
    merge_bed_write(bed_path("a.db"), &plain);
    merge_bed_write(bed_path("b.db"), &other);
    merge_bed_merge(bed_path("out.db"), 2, (const char *const[]){bed_path("a.db"), bed_path("b.db")}, NULL);
    struct as_store *store = bed_open(bed_path("out.db"));
    /* golden: k + 1 of 21; tea: 1, 2, 1, 2, 1, 2 of 9. */
    double distance = 0;
    for (int k = 0; k < 6; k++)
        distance += fabs((k + 1) / 21.0 - (k % 2 + 1) / 9.0) / 2;
    assert_true(fabs(as_store_estimate_of(store, 1, "error", "instruction") - distance) < 1e-12);
    /* 40 samples on three functions with a third each: half the mean deviations, nothing unseen. */
    double expected = 3 * sqrt(2 * (1 / 3.0) * (2 / 3.0) / (M_PI * 40)) / 2;
    assert_true(fabs(as_store_estimate_of(store, 1, "estimate", "function") - expected) < 0.02);
    /* 0.1 over 189 units and 0.3 over 567. */
    assert_true(fabs(as_store_estimate_of(store, 1, "systematic", "function") - 0.25) < 1e-12);
    assert_true(isnan(as_store_estimate_of(store, 1, "pics", "function")));
    as_store_close(store);
}

/* A series that met no events: its time is the part without. */
/* A sampler that was told of fewer events in one run: the merged series may have those of both. */
static void events_of_both(void **state)
{
    struct run one = RUN_INIT, other = RUN_INIT;
    one.events = 3, other.events = 7;
    merge_bed_write(bed_path("a.db"), &one);
    merge_bed_write(bed_path("b.db"), &other);
    merge_bed_merge(bed_path("out.db"), 2, (const char *const[]){bed_path("a.db"), bed_path("b.db")}, NULL);
    assert_number(bed_path("out.db"), "SELECT max(events) FROM series", 7);
}

/* Of exact series nothing is to be expected, of sampled runs the mean is, and of what is not known nothing is said. */
static void estimates_that_are_not_made_again(void **state)
{
    char *paths[] = {strdup(bed_path("a.db")), strdup(bed_path("b.db"))};
    for (int i = 0; i < 2; i++) {
        merge_bed_write(paths[i], &plain);
        bed_sql(paths[i], "UPDATE series SET name = 'sampled' WHERE id = 1;"
                          "INSERT OR REPLACE INTO estimates VALUES(0, 'estimate', 'function', 0);"
                          "INSERT OR REPLACE INTO estimates VALUES(1, 'unheard of', 'function', 0.5)");
        bed_sql(paths[i], i ? "INSERT OR REPLACE INTO estimates VALUES(1, 'interval', 'program', 0.3)"
                            : "INSERT OR REPLACE INTO estimates VALUES(1, 'interval', 'program', 0.1)");
    }
    merge_bed_merge(bed_path("out.db"), 2, (const char *const *)paths, NULL);
    struct as_store *store = bed_open(bed_path("out.db"));
    assert_true(as_store_estimate_of(store, 0, "estimate", "function") == 0);
    assert_true(fabs(as_store_estimate_of(store, 1, "interval", "program") - 0.2) < 1e-12);
    assert_true(isnan(as_store_estimate_of(store, 1, "unheard of", "function")));
    as_store_close(store);
    free(paths[0]);
    free(paths[1]);
}

static void components_are_filled(void **state)
{
    struct run other = RUN_INIT;
    other.events = 0;
    merge_bed_write(bed_path("a.db"), &plain);
    merge_bed_write(bed_path("b.db"), &other);
    merge_bed_merge(bed_path("out.db"), 2, (const char *const[]){bed_path("a.db"), bed_path("b.db")}, NULL);
    assert_number(bed_path("out.db"), "SELECT sum(units) FROM times WHERE series = 1", 2 * 189);
    assert_number(bed_path("out.db"), "SELECT sum(units) FROM components WHERE series = 1", 2 * 189);
    assert_number(bed_path("out.db"), "SELECT sum(units) FROM components WHERE series = 1 AND events = 0", 189);
    plain.source = other.source = "model"; /* there it was asked for */
    merge_bed_write(bed_path("a.db"), &plain);
    merge_bed_write(bed_path("b.db"), &other);
    plain.source = "timer";
    char first[256];
    snprintf(first, sizeof first, "%s", bed_path("a.db"));
    merge_bed_refuse("series tea differs in its events", first, bed_path("b.db"));
}

/* More rows than wait at a time. */
static void many_rows(void **state)
{
    enum { N = 150000 };
    const char *const names[] = {"a.db", "b.db"};
    for (uint32_t run = 0; run < 2; run++) {
        struct as_store_writer *writer = bed_writer(bed_path(names[run]));
        as_store_add_thread(writer, &(struct as_store_thread){.number = 1});
        as_store_add_series(writer, &(struct as_store_series){.name = "s", .scale = 1, .exact = true});
        as_store_add_module(writer, &(struct as_store_module){.path = "/m", .build_id = "1", .base = run * 0x1000000});
        for (uint32_t i = 0; i < N; i++) {
            uint32_t k = run ? N - 1 - i : i;
            as_store_add_instruction(writer, &(struct as_store_insn){.location = {.address = run * 0x1000000 + 4 * k,
                                                                                  .function = AS_STORE_NONE,
                                                                                  .block = AS_STORE_NONE,
                                                                                  .file = AS_STORE_NONE,
                                                                                  .inlined = AS_STORE_NONE}});
            as_store_add_time(writer, &(struct as_store_time){.instruction = i, .units = k, .executions = 1});
        }
        bed_commit(writer);
    }
    merge_bed_merge(bed_path("out.db"), 2, (const char *const[]){bed_path("a.db"), bed_path("b.db")}, NULL);
    assert_number(bed_path("out.db"), "SELECT count(*) FROM times", N);
    assert_number(bed_path("out.db"), "SELECT count(*) FROM times WHERE units = 2 * instruction AND executions = 2", N);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_is_itself),
        cmocka_unit_test(runs_elsewhere),
        cmocka_unit_test(nameless_code_moves),
        cmocka_unit_test(data_of_no_object_stays),
        cmocka_unit_test(rewritten_code_stays_apart),
        cmocka_unit_test(halves_are_the_whole),
        cmocka_unit_test(every_table_is_merged),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(force_leaves_out),
        cmocka_unit_test(names_programs),
        cmocka_unit_test(shares_count_by_cycles),
        cmocka_unit_test(shares_count_by_instructions),
        cmocka_unit_test(parts_are_one_run),
        cmocka_unit_test(arguments_that_differ),
        cmocka_unit_test(inputs_are_never_replaced),
        cmocka_unit_test(files_without_a_build_id),
        cmocka_unit_test(estimates_are_made_again),
        cmocka_unit_test(estimates_that_are_not_made_again),
        cmocka_unit_test(events_of_both),
        cmocka_unit_test(components_are_filled),
        cmocka_unit_test(many_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
