/* What goes into a profile comes out of it, bit by bit. */
#include "unit.h"

#include "store_bed.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>

static void about_the_run(void **state)
{
    size_t n;
    uint64_t number;
    bed_write_small(bed_path("small.db"));
    struct as_store *store = bed_open(bed_path("small.db"));
    assert_string_equal(as_store_meta(store, AS_META_PROGRAM), "/bin/demo");
    assert_null(as_store_meta(store, "nothing"));
    assert_true(as_store_meta_u64(store, AS_META_CYCLES, &number) && number == 1000);
    assert_false(as_store_meta_u64(store, AS_META_PROGRAM, &number));
    assert_true(as_store_meta_double(store, AS_META_SECONDS) == 0.1);
    assert_true(isnan(as_store_meta_double(store, AS_META_PROGRAM)));
    assert_int_equal((as_store_meta_all(store, &n), n), 5);
    assert_string_equal(as_store_machine(store, &n)[0].value, "192");
    assert_string_equal(as_store_arguments(store, &n)[1], "-n 3");
    assert_int_equal(n, 2);
    assert_string_equal(as_store_environment(store, &n)[0], "LANG=C");
    const struct as_store_counter *counters = as_store_counters(store, &n);
    assert_int_equal(counters[0].value, 77);
    const struct as_store_quality *quality = as_store_quality(store, &n);
    assert_int_equal(n, 2);
    assert_true(quality[0].value == 0.25 && isnan(quality[1].value));
    assert_string_equal(quality[1].text, "more samples");
    const struct as_store_run *runs = as_store_runs(store, &n);
    assert_int_equal(n, 2);
    assert_true(runs[1].number == 2 && runs[1].cycles == 1100 && runs[1].seconds == 0.6 && runs[1].status == 3);
    assert_int_equal(strlen(as_store_recordings(store, &n)[0]), 32);
    assert_int_equal(n, 1);
    const struct as_store_thread *threads = as_store_threads(store, &n);
    assert_int_equal(n, 2);
    assert_true(threads[0].number == 1 && threads[0].process == 4711 && threads[1].name == NULL);
    assert_string_equal(threads[0].name, "main");
    assert_int_equal(as_store_version(store), AS_STORE_VERSION);
    as_store_close(store);
}

static void series_and_events(void **state)
{
    size_t n;
    char text[64];
    bed_write_small(bed_path("small.db"));
    struct as_store *store = bed_open(bed_path("small.db"));
    const struct as_store_series *series = as_store_series(store, &n);
    assert_int_equal(n, 2);
    assert_true(series[0].exact && !series[1].exact && series[0].scale == 10 && series[0].precise == -1);
    assert_true(series[1].precise == 3 && series[1].period == 101 && series[1].rate == 4000 && series[1].samples == 10);
    assert_true(series[1].lost == 1 && series[1].throttled == 2 && series[1].dropped == 3);
    assert_true(series[1].events == (UINT64_C(1) << 63 | 1));
    assert_int_equal(as_store_find_series(store, NULL), 1);
    assert_int_equal(as_store_find_series(store, "golden"), 0);
    assert_int_equal(as_store_find_series(store, "GOLDEN"), AS_STORE_NONE);
    assert_true(as_store_estimate_of(store, 1, "error", "function") == 0.02);
    assert_true(isnan(as_store_estimate_of(store, 0, "error", "function")));
    assert_string_equal(as_store_events_name(store, 0, text, sizeof text), "base");
    assert_string_equal(as_store_events_name(store, UINT64_C(1) << 63 | 5, text, sizeof text), "ST-L1+bit 2+LAST");
    assert_string_equal(as_store_events_name(store, UINT64_C(1) << 63 | 5, text, 6), "ST-L1");
    assert_string_equal(as_store_states(store, &n)[1].name, "stalled");
    assert_int_equal(as_store_stacks(store, &n)[1].units, 30);
    as_store_close(store);
}

/* Facts about a part of the time are told as one: known by their keys, or by how their texts begin. */
static void parts(void **state)
{
    assert_true(as_store_is_part(&(struct as_store_quality){.key = "sampled", .text = "of all"}));
    assert_true(as_store_is_part(&(struct as_store_quality){.key = "warming"}));
    assert_true(as_store_is_part(&(struct as_store_quality){.key = "elapsed", .text = "of the elapsed time"}));
    assert_true(as_store_is_part(&(struct as_store_quality){.key = "other", .text = "part of the time in code"}));
    assert_true(as_store_is_part(&(struct as_store_quality){.text = "part of it"}));
    assert_false(as_store_is_part(&(struct as_store_quality){.key = "other", .text = "apart of it"}));
    assert_false(as_store_is_part(&(struct as_store_quality){.key = "timer"}));
}

/* ---- the code ---- */

struct seen {
    uint32_t ids[8];
    size_t n, stop_at;
};

static bool see(void *context, uint32_t id, const struct as_store_insn *insn)
{
    struct seen *seen = context;
    seen->ids[seen->n++] = id;
    assert_int_equal(insn->n_bytes, id % 4);
    assert_memory_equal(insn->bytes ? insn->bytes : (const uint8_t *)"", "\x90\0\x91", insn->n_bytes);
    assert_int_equal(insn->text == NULL, id == 4);
    return seen->n != seen->stop_at;
}

static void the_code(void **state)
{
    size_t n;
    struct as_error err = AS_ERROR_INIT;
    bed_write_small(bed_path("small.db"));
    struct as_store *store = bed_open(bed_path("small.db"));
    assert_true(as_store_load(store, AS_STORE_CALLS, &err));
    assert_true(as_store_load(store, AS_STORE_CALLS | AS_STORE_CODE, &err));
    assert_true(as_store_modules(store, &n)[1].base == UINT64_C(0xffffffff81000000) && n == 2);
    assert_string_equal(as_store_files(store, &n)[0], "demo.c");
    const struct as_store_function *functions = as_store_functions(store, &n);
    assert_int_equal(n, 3);
    assert_string_equal(functions[1].linkage_name, "_Z1fi");
    assert_true(functions[2].name == NULL && functions[2].file == AS_STORE_NONE && functions[1].line == 20);
    assert_true(as_store_blocks(store, &n)[1].function == 1 && n == 2);
    assert_true(as_store_inlines(store, &n)[1].parent == 0 && n == 2);
    const struct as_store_location *locations = as_store_locations(store, &n);
    assert_int_equal(n, 6);
    assert_true(locations[5].address == UINT64_C(0xffffffff81000010) && locations[4].function == AS_STORE_NONE);
    assert_true(locations[1].inlined == 1 && locations[1].line == 11);
    const struct as_store_path *paths = as_store_paths(store, &n);
    assert_int_equal(n, 7);
    assert_true(paths[4].signal && paths[1].call_site == 1 && paths[5].function == AS_STORE_NONE);

    struct seen all = {0}, one = {0}, stopped = {.stop_at = 2};
    assert_true(as_store_instructions(store, AS_STORE_NONE, see, &all, &err) && all.n == 6);
    assert_true(as_store_instructions(store, 1, see, &one, &err) && one.n == 2 && one.ids[0] == 2 && one.ids[1] == 3);
    assert_true(as_store_instructions(store, AS_STORE_NONE, see, &stopped, &err) && stopped.n == 2);
    assert_int_equal(as_store_instruction(store, 1, &err)->target, 0x1100);
    assert_null(as_store_instruction(store, 6, &err));
    bed_assert_line(&err, "no instruction 6");
    assert_string_equal(as_store_instruction(store, 5, &err)->text, "nop");
    as_store_close(store);
}

/* ---- strings ---- */

static void any_bytes_in_names(void **state)
{
    size_t n, size = 3 << 20;
    struct as_error err = AS_ERROR_INIT;
    char *huge = malloc(size + 1), every[256];
    for (size_t i = 0; i < size; i++)
        huge[i] = (char)(1 + i * 7 % 255);
    huge[size] = '\0';
    for (int i = 0; i < 255; i++)
        every[i] = (char)(255 - i);
    every[255] = '\0';
    const char *const names[] = {"'; DROP TABLE meta; --",
                                 "<script>\"&'</script>",
                                 "a\nb\r\tc",
                                 "\xff\xfe\xc0\x80",
                                 "\xed\xa0\x80",
                                 "",
                                 every,
                                 huge};
    const size_t count = sizeof names / sizeof *names;
    struct as_store_writer *writer = bed_writer(bed_path("names.db"));
    for (size_t i = 0; i < count; i++) {
        as_store_add_function(writer, &(struct as_store_function){names[i], names[i], AS_STORE_NONE, AS_STORE_NONE});
        as_store_add_meta(writer, names[i], names[i]);
        as_store_add_file(writer, names[i]);
    }
    bed_commit(writer);
    struct as_store *store = bed_open(bed_path("names.db"));
    assert_true(as_store_load(store, AS_STORE_CODE, &err));
    const struct as_store_function *functions = as_store_functions(store, &n);
    assert_int_equal(n, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(functions[i].name, names[i]);
        assert_string_equal(functions[i].linkage_name, names[i]);
        assert_string_equal(as_store_meta(store, names[i]), names[i]);
        assert_string_equal(as_store_files(store, &n)[i], names[i]);
    }
    as_store_close(store);
    free(huge);
}

static void an_empty_profile(void **state)
{
    size_t n;
    struct as_error err = AS_ERROR_INIT;
    bed_commit(bed_writer(bed_path("empty.db")));
    struct as_store *store = bed_open(bed_path("empty.db"));
    assert_true(as_store_load(store, AS_STORE_CALLS, &err));
    assert_int_equal((as_store_series(store, &n), n), 0);
    assert_int_equal(as_store_find_series(store, NULL), AS_STORE_NONE);
    struct as_store_rows rows;
    assert_false(as_store_query(store, &(struct as_store_query)AS_STORE_QUERY_INIT, &rows, &err));
    bed_assert_line(&err, "no series");
    as_store_close(store);
}

/* ---- the format ---- */

static const char *golden_path, *manual_path;

/* What was written once is read for ever. */
static void golden_version_1(void **state)
{
    size_t n;
    struct as_error err = AS_ERROR_INIT;
    struct as_store_rows rows;
    sqlite3 *db = NULL;
    char *sql = (char *)bed_read(golden_path, &n);
    sql[n] = '\0';
    unlink(bed_path("golden.db"));
    assert_int_equal(sqlite3_open(bed_path("golden.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA application_id = 1098077049; PRAGMA user_version = 1", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    free(sql);
    struct as_store *store = bed_open(bed_path("golden.db"));
    assert_int_equal(as_store_version(store), 1);
    assert_string_equal(as_store_meta(store, AS_META_PROGRAM), "/bin/demo");
    assert_true(as_store_query(store, &(struct as_store_query)AS_STORE_QUERY_INIT, &rows, &err));
    assert_true(rows.n == 4 && rows.rows[0].units == 701);
    as_store_rows_free(&rows);
    struct as_store_totals totals;
    assert_true(as_store_totals(store, 0, NULL, &totals, &err));
    assert_int_equal(totals.function_total[2], 16);
    as_store_totals_free(&totals);
    /* What a version 1 did not have yet is there, and empty. */
    struct as_store_path_component *parts = as_store_path_components(store, 0, NULL, &n, &err);
    assert_true(parts && n == 0);
    struct as_store_access *accesses = as_store_accesses(store, 0, NULL, &n, &err);
    assert_true(accesses && n == 0);
    struct as_store_branch *branches = as_store_branches(store, 0, &n, &err);
    assert_true(branches && n == 0);
    free(branches);
    free(parts);
    free(accesses);
    as_store_close(store);
}

/* Whether a line of the manual's tables that begins with `table` has `column` in it. */
static bool is_documented(const char *manual, const char *table, const char *column)
{
    char start[80], quoted[80], line[2048];
    snprintf(start, sizeof start, "\n| `%s` |", table);
    snprintf(quoted, sizeof quoted, "`%s`", column);
    for (const char *at = manual; (at = strstr(at, start)) != NULL;) {
        at += strlen(start);
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        if (strstr(line, quoted))
            return true;
    }
    return false;
}

static void format_is_documented(void **state)
{
    size_t n;
    int columns = 0;
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    char *manual = (char *)bed_read(manual_path, &n);
    manual[n] = '\0';
    bed_write_small(bed_path("small.db"));
    assert_int_equal(sqlite3_open(bed_path("small.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT s.name, c.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c"
                                        " WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite_%'",
                                        -1, &row, NULL),
                     SQLITE_OK);
    for (; sqlite3_step(row) == SQLITE_ROW; columns++) {
        const char *table = (const char *)sqlite3_column_text(row, 0);
        const char *column = (const char *)sqlite3_column_text(row, 1);
        if (!is_documented(manual, table, column))
            fail_msg("%s says nothing of %s of %s", manual_path, column, table);
    }
    assert_true(columns > 100);
    sqlite3_finalize(row);
    sqlite3_close(db);
    free(manual);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    golden_path = argv[1];
    manual_path = argv[2];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(about_the_run),
        cmocka_unit_test(series_and_events),
        cmocka_unit_test(the_code),
        cmocka_unit_test(any_bytes_in_names),
        cmocka_unit_test(an_empty_profile),
        cmocka_unit_test(golden_version_1),
        cmocka_unit_test(format_is_documented),
        cmocka_unit_test(parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
