/* Times by function, line, block …, split and filtered; and what follows from call paths. The numbers are those of
 * store_bed.h: instruction i has 100 * (i + 1) units in thread 0, and one more in thread 1 where i is odd. */
#include "unit.h"

#include "store_bed.h"

#include <math.h>

static struct as_store *store;

static int open_small(void **state)
{
    bed_write_small(bed_path("small.db"));
    store = bed_open(bed_path("small.db"));
    return 0;
}

static int close_small(void **state)
{
    as_store_close(store);
    return 0;
}

static struct as_store_rows ask(struct as_store_query query)
{
    struct as_store_rows rows;
    struct as_error err = AS_ERROR_INIT;
    if (!as_store_query(store, &query, &rows, &err))
        fail_msg("%s", err.message);
    uint64_t units = 0;
    for (size_t i = 0; i < rows.n; i++) {
        units += rows.rows[i].units;
        assert_true(i == 0 || rows.rows[i - 1].units >= rows.rows[i].units);
    }
    assert_int_equal(units, rows.units);
    return rows;
}

static struct as_store_query by(enum as_store_level level)
{
    struct as_store_query query = AS_STORE_QUERY_INIT;
    query.level = level;
    return query;
}

static void assert_units(const struct as_store_rows *rows, const uint64_t *units, size_t n)
{
    assert_int_equal(rows->n, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(rows->rows[i].units, units[i]);
}

static void levels(void **state)
{
    static const struct {
        enum as_store_level level;
        size_t n;
        uint64_t units[6];
    } cases[] = {
        {AS_STORE_BY_PROGRAM, 1, {2103}},
        {AS_STORE_BY_THREAD, 2, {2100, 3}},
        {AS_STORE_BY_PROCESS, 1, {2103}},
        {AS_STORE_BY_COMMAND, 2, {2100, 3}},
        {AS_STORE_BY_MODULE, 2, {1502, 601}},
        {AS_STORE_BY_FUNCTION, 4, {701, 601, 500, 301}},
        {AS_STORE_BY_FILE, 3, {1002, 601, 500}},
        {AS_STORE_BY_LINE, 5, {701, 601, 500, 201, 100}},
        {AS_STORE_BY_BLOCK, 4, {701, 601, 500, 301}},
        {AS_STORE_BY_INSTRUCTION, 6, {601, 500, 401, 300, 201, 100}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_store_rows rows = ask(by(cases[i].level));
        assert_units(&rows, cases[i].units, cases[i].n);
        assert_int_equal(rows.total, 2103);
        as_store_rows_free(&rows);
    }
}

/* A row of threads has the number of the one that stands for it. */
static void leaders(void **state)
{
    static const enum as_store_level levels[] = {AS_STORE_BY_THREAD, AS_STORE_BY_COMMAND, AS_STORE_BY_PROCESS};
    for (size_t i = 0; i < 3; i++) {
        struct as_store_rows rows = ask(by(levels[i]));
        assert_int_equal(rows.rows[0].id, 0);
        if (rows.n > 1)
            assert_int_equal(rows.rows[1].id, 1);
        as_store_rows_free(&rows);
    }
}

/* Equal times at equal addresses (of two modules) come by number, then by line, whichever was met first. */
static void rows_that_are_equal(void **state)
{
    struct as_store_writer *writer = bed_writer(bed_path("equal.db"));
    struct as_error err = AS_ERROR_INIT;
    struct as_store_rows rows;
    uint32_t file = as_store_add_file(writer, "equal.c");
    as_store_add_series(writer, &(struct as_store_series){.name = "golden", .unit = "cycles", .scale = 1});
    for (uint32_t i = 0; i < 2; i++)
        as_store_add_thread(writer, &(struct as_store_thread){.number = i + 1, .process = 1});
    for (uint32_t i = 0; i < 2; i++) {
        const struct as_store_location location = {0x10, i, AS_STORE_NONE, AS_STORE_NONE, file, 20 - i, AS_STORE_NONE};
        as_store_add_module(writer, &(struct as_store_module){.path = i ? "b" : "a"});
        as_store_add_instruction(writer, &(struct as_store_insn){.location = location});
        as_store_add_time(writer, &(struct as_store_time){0, 1 - i, i, 10, 0, 1});
    }
    bed_commit(writer);
    struct as_store *equal = bed_open(bed_path("equal.db"));
    struct as_store_query query = by(AS_STORE_BY_THREAD);
    assert_true(as_store_query(equal, &query, &rows, &err) && rows.n == 2);
    assert_true(rows.rows[0].id == 0 && rows.rows[1].id == 1);
    as_store_rows_free(&rows);
    query.level = AS_STORE_BY_LINE;
    assert_true(as_store_query(equal, &query, &rows, &err) && rows.n == 2);
    assert_true(rows.rows[0].line == 19 && rows.rows[1].line == 20);
    as_store_rows_free(&rows);
    as_store_close(equal);
}

static void what_rows_have_in_common(void **state)
{
    const uint32_t none = AS_STORE_NONE;
    struct as_store_rows rows = ask(by(AS_STORE_BY_FUNCTION));
    const struct as_store_row *f = &rows.rows[0], *kernel = &rows.rows[1], *nowhere = &rows.rows[2],
                              *start = &rows.rows[3];
    assert_true(f->id == 1 && f->module == 0 && f->line == 20 && f->address == 0x1200 && f->executions == 2 + 3 + 1);
    assert_true(kernel->id == 2 && kernel->module == 1 && kernel->file == none);
    assert_true(nowhere->id == none && nowhere->function == none && nowhere->module == 0 && nowhere->address == 0x9000);
    assert_true(start->id == 0 && start->file == 0 && start->line == 0 && start->address == 0x1100);
    as_store_rows_free(&rows);
    rows = ask(by(AS_STORE_BY_PROGRAM));
    assert_true(rows.rows[0].module == none && rows.rows[0].function == none && rows.rows[0].file == none);
    as_store_rows_free(&rows);
}

static void filters(void **state)
{
    const bool second[] = {false, true}, kernel[] = {false, true}, f[] = {false, true, false};
    struct as_store_query query = by(AS_STORE_BY_FUNCTION);
    query.threads = second;
    struct as_store_rows rows = ask(query);
    assert_units(&rows, (const uint64_t[]){1, 1, 1}, 3);
    assert_int_equal(rows.total, 3);
    as_store_rows_free(&rows);

    query = by(AS_STORE_BY_FUNCTION);
    query.modules = kernel;
    rows = ask(query);
    assert_units(&rows, (const uint64_t[]){601}, 1);
    assert_int_equal(rows.total, 2103);
    as_store_rows_free(&rows);

    query = by(AS_STORE_BY_INSTRUCTION);
    query.functions = f;
    rows = ask(query);
    assert_units(&rows, (const uint64_t[]){401, 300}, 2);
    as_store_rows_free(&rows);

    query = by(AS_STORE_BY_INSTRUCTION);
    query.function = 1;
    query.split = AS_STORE_BY_EVENTS;
    rows = ask(query);
    assert_units(&rows, (const uint64_t[]){401, 300}, 2);
    assert_int_equal(rows.rows[1].n_parts, 2);
    assert_int_equal(rows.total, 2103);
    as_store_rows_free(&rows);
}

static void parts(void **state)
{
    struct as_store_query query = by(AS_STORE_BY_FUNCTION);
    query.split = AS_STORE_BY_EVENTS;
    struct as_store_rows rows = ask(query);
    const struct as_store_row *f = &rows.rows[0];
    assert_int_equal(f->n_parts, 2);
    assert_true(f->parts[0].key == 0 && f->parts[0].units == 60 * 7);
    assert_true(f->parts[1].key == 5 && f->parts[1].units == 40 * 7);
    as_store_rows_free(&rows);

    query.split = AS_STORE_BY_STATE;
    rows = ask(query);
    assert_true(rows.rows[0].n_parts == 1 && rows.rows[0].parts[0].key == 1 && rows.rows[0].parts[0].units == 700);
    as_store_rows_free(&rows);

    query.split = AS_STORE_BY_EVENTS;
    query.events = 4;
    rows = ask(query);
    assert_units(&rows, (const uint64_t[]){40 * 7, 40 * 6, 40 * 5, 40 * 3}, 4);
    assert_int_equal(rows.rows[0].n_parts, 1);
    assert_int_equal(rows.total, 2103);
    as_store_rows_free(&rows);

    query.events = 2;
    rows = ask(query);
    assert_int_equal(rows.n, 0);
    as_store_rows_free(&rows);
}

/* Of each row the largest part comes first, and of equal ones that of the lower key, in whatever order they are written. */
static void parts_in_order(void **state)
{
    struct as_store_writer *writer = bed_writer(bed_path("parts.db"));
    struct as_error err = AS_ERROR_INIT;
    struct as_store_rows rows;
    as_store_add_series(writer, &(struct as_store_series){.name = "golden", .unit = "cycles", .scale = 1});
    as_store_add_thread(writer, &(struct as_store_thread){.number = 1, .process = 1});
    as_store_add_module(writer, &(struct as_store_module){.path = "a"});
    for (uint32_t i = 0; i < 3; i++)
        as_store_add_event(writer, &(struct as_store_event){i, (const char *const[]){"A", "B", "C"}[i], NULL,
                                                            AS_STORE_NONE, "stalled"});
    for (uint32_t i = 0; i < 2; i++) {
        static const struct {
            uint64_t key, units;
        } parts[2][4] = {{{0, 1}, {1, 30}, {2, 5}, {4, 64}}, {{1, 20}, {2, 20}, {4, 2}, {7, 70}}};
        as_store_add_instruction(writer,
                                 &(struct as_store_insn){.location = {0x10 + 4 * i, 0, AS_STORE_NONE, AS_STORE_NONE,
                                                                      AS_STORE_NONE, 0, AS_STORE_NONE}});
        as_store_add_time(writer, &(struct as_store_time){0, 0, i, i ? 112 : 100, 0, 1});
        for (size_t k = 0; k < 4; k++)
            as_store_add_component(writer,
                                   &(struct as_store_component){0, 0, i, parts[i][k].key, parts[i][k].units, 0});
    }
    bed_commit(writer);
    struct as_store *opened = bed_open(bed_path("parts.db"));
    struct as_store_query query = by(AS_STORE_BY_INSTRUCTION);
    query.split = AS_STORE_BY_EVENTS;
    assert_true(as_store_query(opened, &query, &rows, &err) && rows.n == 2);
    static const uint64_t keys[2][4] = {{7, 1, 2, 4}, {4, 1, 2, 0}}, units[2][4] = {{70, 20, 20, 2}, {64, 30, 5, 1}};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(rows.rows[i].n_parts, 4);
        for (size_t k = 0; k < 4; k++) {
            assert_int_equal(rows.rows[i].parts[k].key, keys[i][k]);
            assert_int_equal(rows.rows[i].parts[k].units, units[i][k]);
        }
    }
    as_store_rows_free(&rows);
    as_store_close(opened);
}

/* Times and components that come twice are added up when they are written; bit 63 is a bit like others. */
static void samples_add_up(void **state)
{
    struct as_store_query query = by(AS_STORE_BY_INSTRUCTION);
    query.series = 1;
    query.split = AS_STORE_BY_EVENTS;
    struct as_store_rows rows = ask(query);
    assert_units(&rows, (const uint64_t[]){202}, 1);
    assert_true(rows.rows[0].samples == 2 && rows.samples == 2);
    assert_true(rows.rows[0].parts[0].key == UINT64_C(1) << 63 && rows.rows[0].parts[0].samples == 2);
    as_store_rows_free(&rows);
}

static void path_times(void **state)
{
    const bool first[] = {true, false};
    size_t n;
    struct as_error err = AS_ERROR_INIT;
    struct as_store_path_time *times = as_store_path_times(store, 0, NULL, &n, &err);
    assert_int_equal(n, 7);
    assert_true(times[0].units == 1001 && times[0].samples == 5 && times[0].thread == AS_STORE_NONE);
    assert_true(times[2].instruction == 0 && times[3].instruction == AS_STORE_NONE && times[3].thread == 0);
    free(times);
    times = as_store_path_times(store, 0, first, &n, &err);
    assert_true(n == 7 && times[0].units == 1);
    free(times);
    times = as_store_path_times(store, 1, NULL, &n, &err);
    assert_true(times && n == 0);
    free(times);
}

/* main(0) > f(1) > main(2) > f(3) > kernel(4); root(5); main(0) > f(6). Path i has 2^i units. */
static void totals(void **state)
{
    const bool first[] = {true, false};
    struct as_store_totals totals;
    struct as_error err = AS_ERROR_INIT;
    assert_true(as_store_totals(store, 0, first, &totals, &err));
    static const uint64_t path_total[] = {1 + 2 + 4 + 8 + 16 + 64, 2 + 4 + 8 + 16, 4 + 8 + 16, 8 + 16, 16, 32, 64};
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(totals.path_self[i], UINT64_C(1) << i);
        assert_int_equal(totals.path_total[i], path_total[i]);
    }
    assert_true(totals.function_self[0] == 1 + 4 && totals.function_self[1] == 2 + 8 + 64);
    assert_int_equal(totals.function_total[0], 1 + 2 + 4 + 8 + 16 + 64);
    assert_int_equal(totals.function_total[1], 2 + 4 + 8 + 16 + 64);
    assert_int_equal(totals.function_total[2], 16);
    as_store_totals_free(&totals);
}

static void raw_rows_are_those_of_the_file(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_store_raw raw;
    const bool second[] = {false, true};
    assert_true(as_store_raw(store, 0, NULL, &raw, &err));
    assert_int_equal(raw.n_times, 9);
    assert_int_equal(raw.n_components, 12);
    assert_int_equal(raw.n_states, 6);
    assert_int_equal(raw.n_paths, 8);
    assert_int_equal(raw.times[1].units, 200); /* instruction 1, thread 0 */
    assert_int_equal(raw.times[2].thread, 1);
    assert_int_equal(raw.components[3].events, 5);
    assert_int_equal(raw.paths[1].units, 1000);
    assert_int_equal(raw.paths[1].instruction, AS_STORE_NONE);
    assert_int_equal(raw.paths[3].instruction, 0);
    as_store_raw_free(&raw);
    assert_true(as_store_raw(store, 0, second, &raw, &err));
    assert_int_equal(raw.n_times, 3);
    assert_int_equal(raw.n_components, 0);
    assert_int_equal(raw.n_paths, 1);
    as_store_raw_free(&raw);
    assert_false(as_store_raw(store, 2, NULL, &raw, &err));
    bed_assert_line(&err, "has no series 2");
}

static void components_of_paths(void **state)
{
    const bool second[] = {false, true};
    struct as_error err = AS_ERROR_INIT;
    size_t n;
    struct as_store_path_component *parts = as_store_path_components(store, 0, NULL, &n, &err);
    assert_true(parts && n == 3);
    assert_true(parts[0].path == 0 && parts[0].events == 1 && parts[0].units == 1000);
    assert_true(parts[1].path == 1 && parts[1].events == 0 && parts[1].units == 1);
    assert_true(parts[2].path == 1 && parts[2].events == 5 && parts[2].units == 8 && parts[2].samples == 5);
    free(parts);
    parts = as_store_path_components(store, 0, second, &n, &err);
    assert_true(parts && n == 2 && parts[1].units == 7);
    free(parts);
    parts = as_store_path_components(store, 1, NULL, &n, &err);
    assert_true(parts && n == 0);
    free(parts);
    assert_null(as_store_path_components(store, 2, NULL, &n, &err));
}

static void data_accesses(void **state)
{
    const bool second[] = {false, true};
    struct as_error err = AS_ERROR_INIT;
    size_t n, objects;
    struct as_store_access *accesses = as_store_accesses(store, 1, NULL, &n, &err);
    const struct as_store_object *all = as_store_objects(store, &objects);
    assert_true(accesses && n == 3 && objects == 2);
    assert_string_equal(all[accesses[0].object].name, "table");
    assert_true(accesses[0].address == 0x4008 && accesses[0].how == AS_STORE_HOW_EXACT && accesses[0].units == 101);
    assert_true(accesses[1].address == 0x5010 && accesses[1].kind == 3 && accesses[1].samples == 2);
    assert_true(accesses[1].units == 101 && all[accesses[1].object].module == AS_STORE_NONE);
    assert_true(accesses[2].address == UINT64_MAX - 7 && accesses[2].object == AS_STORE_NONE);
    free(accesses);
    accesses = as_store_accesses(store, 1, second, &n, &err);
    assert_true(accesses && n == 2);
    free(accesses);
    struct as_store_access_component *components = as_store_access_components(store, 1, NULL, &n, &err);
    assert_true(components && n == 2);
    assert_true(components[0].events == 1 && components[0].samples == 1 && components[0].address == 0x5010);
    assert_true(components[1].events == 5 && components[1].samples == 2 && components[1].units == 100);
    free(components);
}

static void taken_branches(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    size_t n;
    struct as_store_branch *branches = as_store_branches(store, 1, &n, &err);
    assert_true(branches && n == 2);
    assert_true(branches[0].source == 0 && branches[0].target == 2 && branches[0].taken == 1);
    assert_true(branches[1].source == 1 && branches[1].taken == 15 && branches[1].mispredicted == 3);
    assert_int_equal(branches[1].cycles, 100);
    free(branches);
}

static void waits_for_lines(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    const bool none[] = {false, false};
    size_t n;
    struct as_store_wait *waits = as_store_waits(store, 1, NULL, &n, &err);
    assert_true(waits && n == 2);
    assert_true(waits[0].culprit == AS_STORE_NONE && waits[0].units == 300 && waits[0].sharing == 0);
    assert_true(waits[1].culprit == 0 && waits[1].units == 600 && waits[1].transfers == 6 && waits[1].object == 0);
    assert_true(waits[1].line == 0x4000 && waits[1].offset == 8 && waits[1].place == AS_STORE_NONE);
    free(waits);
    waits = as_store_waits(store, 1, none, &n, &err);
    assert_true(waits && n == 0);
    free(waits);
}

static struct as_store_query of_samples(enum as_store_level level)
{
    struct as_store_query query = by(level);
    query.series = 1;
    query.split = AS_STORE_BY_EVENTS;
    return query;
}

static void processors(void **state)
{
    struct as_store_rows rows = ask(of_samples(AS_STORE_BY_PROCESSOR));
    assert_int_equal(rows.n, 3);
    assert_int_equal(rows.rows[0].id, 0); /* both have 101 units; the addresses are the same */
    assert_int_equal(rows.rows[1].id, 3);
    assert_int_equal(rows.rows[2].id, AS_STORE_NONE);
    assert_units(&rows, (uint64_t[]){101, 101, 7}, 3);
    assert_int_equal(rows.rows[0].samples, 2);
    assert_int_equal(rows.rows[2].parts[0].key, 1);
    as_store_rows_free(&rows);
    struct as_store_query query = of_samples(AS_STORE_BY_PROCESSOR);
    query.events = 1;
    rows = ask(query);
    assert_units(&rows, (uint64_t[]){7}, 1);
    as_store_rows_free(&rows);
}

static void span_of_moments(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    uint64_t first, last;
    assert_int_equal(as_store_span(store, 1, &first, &last, &err), 1);
    assert_int_equal(first, 999);
    assert_int_equal(last, 5000000000);
    assert_int_equal(as_store_span(store, 0, &first, &last, &err), 0);
}

/* The last test: it leaves only a part of the profile. */
static void part_of_the_time(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    size_t n;
    assert_true(as_store_keep_time(store, 1, 1000, 5000000000, &err));
    struct as_store_rows rows = ask(of_samples(AS_STORE_BY_FUNCTION));
    assert_units(&rows, (uint64_t[]){101}, 1);
    assert_int_equal(rows.total, 101);
    assert_int_equal(rows.rows[0].samples, 2);
    assert_int_equal(rows.rows[0].n_parts, 1);
    assert_int_equal(rows.rows[0].parts[0].key, UINT64_C(1) << 63);
    as_store_rows_free(&rows);
    rows = ask(of_samples(AS_STORE_BY_PROCESSOR));
    assert_units(&rows, (uint64_t[]){101}, 1);
    as_store_rows_free(&rows);
    rows = ask(by(AS_STORE_BY_FUNCTION)); /* a series without moments has nothing left */
    assert_int_equal(rows.n, 0);
    as_store_rows_free(&rows);
    assert_int_equal(as_store_series(store, &n)[1].samples, 2);
    assert_int_equal(as_store_series(store, &n)[0].samples, 0);
    assert_int_equal(as_store_threads(store, &n)[0].samples, 0);
    assert_int_equal(as_store_threads(store, &n)[1].samples, 2);
    free(as_store_accesses(store, 1, NULL, &n, &err));
    assert_int_equal(n, 0);
    assert_true(isnan(as_store_estimate_of(store, 1, "error", "function")));
    as_store_put_estimate(store, &(struct as_store_estimate){1, "estimate", "line", 0.25});
    assert_true(as_store_estimate_of(store, 1, "estimate", "line") == 0.25);
}

/* Paths of the moments that are left. */
static void paths_of_a_part(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    size_t n;
    struct as_store *all = store;
    store = bed_open(bed_path("small.db"));
    assert_true(as_store_keep_time(store, 1, 0, UINT64_MAX, &err));
    struct as_store_path_time *times = as_store_path_times(store, 1, NULL, &n, &err);
    assert_int_equal(n, 2);
    assert_int_equal(times[0].path, 0);
    assert_int_equal(times[0].units, 7);
    assert_int_equal(times[1].path, 1);
    assert_int_equal(times[1].units, 101);
    free(times);
    as_store_close(store);
    store = all;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_rows_are_those_of_the_file),
        cmocka_unit_test(levels),
        cmocka_unit_test(leaders),
        cmocka_unit_test(rows_that_are_equal),
        cmocka_unit_test(what_rows_have_in_common),
        cmocka_unit_test(filters),
        cmocka_unit_test(parts),
        cmocka_unit_test(parts_in_order),
        cmocka_unit_test(samples_add_up),
        cmocka_unit_test(path_times),
        cmocka_unit_test(totals),
        cmocka_unit_test(components_of_paths),
        cmocka_unit_test(data_accesses),
        cmocka_unit_test(taken_branches),
        cmocka_unit_test(waits_for_lines),
        cmocka_unit_test(processors),
        cmocka_unit_test(span_of_moments),
        cmocka_unit_test(paths_of_a_part),
        cmocka_unit_test(part_of_the_time),
    };
    return cmocka_run_group_tests(tests, open_small, close_small);
}
