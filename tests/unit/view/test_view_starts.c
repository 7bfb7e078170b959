/* Functions that threads began with, functions that only one of two builds inlines, and which events follow executions. */
#include "unit.h"

#include "view/block_counts.h"
#include "view/diff.h"
#include "view/rows.h"
#include "view/thread_starts.h"
#include "view_bed.h"

#define NONE AS_STORE_NONE

/* ---- threads ---- */

enum { START_THREAD, WORKER, HELPER, POLL, FUNCTIONS };
enum { LATER, OTHER, LEADER, SECOND, LOWEST, NAMED, BELOW, UNNAMED, THREADS };

/* The first thread of process 100 comes behind two others and has not the lowest number; process 200 has none whose number is
 * the process's own. */
static const struct as_store_thread threads[THREADS] = {
    [LATER] = {101, 100, "prog", 0, 0, 0},  [OTHER] = {102, 100, "prog", 0, 0, 0},
    [LEADER] = {100, 100, "prog", 0, 0, 0}, [SECOND] = {9, 200, NULL, 0, 0, 0},
    [LOWEST] = {7, 200, NULL, 0, 0, 0},     [NAMED] = {103, 100, "own", 0, 0, 0},
    [BELOW] = {50, 100, "prog", 0, 0, 0},   [UNNAMED] = {104, 100, "", 0, 0, 0},
};

static const struct as_store_path paths[] = {
    {NONE, START_THREAD, NONE, 0x1000, 0, false}, /* 0 */
    {0, WORKER, NONE, 0x1100, 0, false},          /* 1: a start */
    {1, HELPER, NONE, 0x1200, 0, false},          /* 2: begins with worker */
    {NONE, POLL, NONE, 0x1300, 0, false},         /* 3: in samples, not known to be where a thread began */
    {3, WORKER, NONE, 0x1100, 0, false},          /* 4: nor is this */
    {0, POLL, NONE, 0x1300, 0, false},            /* 5: a start */
    {5, HELPER, NONE, 0x1200, 0, false},          /* 6: begins with poll */
    {NONE, NONE, NONE, 0x2000, 0, false},         /* 7: the C library without names */
    {7, HELPER, NONE, 0x1200, 0, false},          /* 8: a start */
};

/* Thread, path, units. LATER: poll by 110, worker by 100, helper by 30. */
static const uint32_t times[][3] = {{LATER, 2, 100}, {LATER, 5, 60},  {LATER, 8, 30}, {LATER, 6, 50},
                                    {OTHER, 2, 100}, {OTHER, 4, 500}, {LEADER, 2, 9}, {SECOND, 2, 9},
                                    {LOWEST, 2, 9},  {NAMED, 2, 9},   {BELOW, 2, 9},  {UNNAMED, 8, 9}};

static void write_threads(const char *path, const char *source)
{
    static const char *const names[FUNCTIONS] = {"start_thread", "worker", "helper", "poll"};
    struct as_store_writer *writer = bed_writer(path);
    as_store_add_meta(writer, AS_META_SOURCE, source);
    as_store_add_module(writer, &(struct as_store_module){.path = "/opt/prog"});
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        as_store_add_function(writer, &(struct as_store_function){names[i], NULL, 0, NONE, 0, 0x1000 + 0x100 * i, 16});
        as_store_add_instruction(
            writer, &(struct as_store_insn){{0x1000 + 0x100 * i, 0, i, NONE, NONE, 0, NONE}, 0, "nop", "nop", NULL, 0});
    }
    for (size_t i = 0; i < THREADS; i++)
        as_store_add_thread(writer, &threads[i]);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        as_store_add_path(writer, &paths[i]);
    uint32_t series = as_store_add_series(
        writer,
        &(struct as_store_series){.name = "cycles", .unit = "cycles", .scale = 1, .precise = -1, .samples = 12});
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        as_store_add_path_time(writer,
                               &(struct as_store_path_time){series, times[i][0], times[i][1], NONE, times[i][2], 1});
    bed_commit(writer);
}

static void check_starts(const char *path, const char *const wanted[THREADS])
{
    struct as_error err = AS_ERROR_INIT;
    struct as_view view = view_bed_open(path, NULL);
    const char **starts = as_thread_starts(&view, &err);
    assert_non_null(starts);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(starts[i] != NULL, wanted[i] != NULL);
        if (wanted[i])
            assert_string_equal(starts[i], wanted[i]);
    }
    free(starts);
    as_view_free(&view);
}

static void starts_of_threads(void **state)
{
    static const char *const sampled[THREADS] = {
        [LATER] = "poll", [OTHER] = "worker", [SECOND] = "worker", [BELOW] = "worker", [UNNAMED] = "helper"};
    static const char *const modelled[THREADS] = {
        [LATER] = "poll", [OTHER] = "poll", [SECOND] = "worker", [BELOW] = "worker", [UNNAMED] = "helper"};
    write_threads("sampled.db", "timer");
    write_threads("modelled.db", "model");
    check_starts("sampled.db", sampled);
    check_starts("modelled.db", modelled); /* its paths are whole, so poll is where they began */
}

/* ---- functions that one build inlines ---- */

struct piece {
    const char *function; /* the one that it lies in */
    uint32_t inlined;     /* of calls[] */
    uint64_t units, executions;
};
/* Helper, within itself, and the caller in itself. */
static const struct as_store_inline calls[] = {
    {NONE, "helper", NONE, 1}, {0, "helper", NONE, 2}, {NONE, "caller", NONE, 3}};

static void write_build(const char *path, const struct piece *pieces, size_t n)
{
    static const char *const names[] = {"caller", "helper"};
    struct as_store_writer *writer = bed_writer(path);
    as_store_add_meta(writer, AS_META_PROGRAM, "/opt/prog");
    as_store_add_meta(writer, AS_META_SOURCE, "model");
    as_store_add_module(writer, &(struct as_store_module){.path = "/opt/prog"});
    as_store_add_thread(writer, &(struct as_store_thread){1, 100, NULL, 0, 0, 0});
    for (uint32_t i = 0; i < 2; i++)
        as_store_add_function(writer, &(struct as_store_function){names[i], NULL, 0, NONE, 0, 0x1000 + 0x100 * i, 64});
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        as_store_add_inline(writer, &calls[i]);
    uint32_t series = as_store_add_series(
        writer,
        &(struct as_store_series){.name = "golden", .exact = true, .unit = "cycles", .scale = 2, .precise = -1});
    for (uint32_t i = 0; i < n; i++) {
        uint32_t function = strcmp(pieces[i].function, names[1]) == 0;
        as_store_add_instruction(writer, &(struct as_store_insn){{0x1000 + 0x100 * function + i, 0, function, NONE,
                                                                  NONE, 0, pieces[i].inlined},
                                                                 0,
                                                                 "nop",
                                                                 "nop",
                                                                 NULL,
                                                                 0});
        as_store_add_time(writer, &(struct as_store_time){series, 0, i, pieces[i].units, 0, pieces[i].executions});
    }
    bed_commit(writer);
}
#define WRITE_BUILD(path, ...)                                                                                         \
    write_build(path, (const struct piece[]){__VA_ARGS__},                                                             \
                sizeof((const struct piece[]){__VA_ARGS__}) / sizeof(struct piece))

/* Cycles and executions of helper and caller on both sides, and the side that inlines helper. */
static void check_builds(const char *before, const char *after, const double helper[4], const double caller[4],
                         int inlined)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_view views[] = {view_bed_open(before, NULL), view_bed_open(after, NULL)};
    struct as_diff *diff = as_diff_new(&views[0], &views[1], AS_STORE_BY_FUNCTION, &err);
    assert_non_null(diff);
    const struct as_diff_row *rows[] = {view_bed_diff_row(diff, "helper"), view_bed_diff_row(diff, "caller")};
    const double *wanted[] = {helper, caller};
    for (int i = 0; i < 2; i++)
        for (int side = 0; side < AS_DIFF_SIDES; side++) {
            assert_true(rows[i]->cycles[side] == wanted[i][side]);
            assert_true(rows[i]->executions[side] == wanted[i][2 + side]);
        }
    assert_int_equal(rows[0]->inlined, inlined);
    assert_int_equal(rows[1]->inlined, AS_DIFF_SIDES);
    assert_int_equal(diff->inlined, inlined != AS_DIFF_SIDES);
    as_diff_free(diff);
    as_view_free(&views[0]);
    as_view_free(&views[1]);
}

static void inlined_by_one_build(void **state)
{
    WRITE_BUILD("apart.db", {"caller", NONE, 400, 10}, {"helper", NONE, 600, 20});
    WRITE_BUILD("inlined.db", {"caller", NONE, 390, 11}, {"caller", 0, 200, 21}, {"caller", 1, 410, 22},
                {"helper", NONE, 2, 1});
    check_builds("apart.db", "inlined.db", (const double[]){300, 306, 20, 44}, (const double[]){200, 195, 10, 11},
                 AS_DIFF_AFTER);
    check_builds("inlined.db", "apart.db", (const double[]){306, 300, 44, 20}, (const double[]){195, 200, 11, 10},
                 AS_DIFF_BEFORE);
}

/* What is inlined within itself counts once: less than half of helper's time. */
static void inlined_here_and_there(void **state)
{
    WRITE_BUILD("rarely.db", {"caller", NONE, 400, 10}, {"caller", 1, 500, 20}, {"caller", 2, 100, 5},
                {"helper", NONE, 600, 30});
    check_builds("apart.db", "rarely.db", (const double[]){300, 300, 20, 30}, (const double[]){200, 500, 10, 35},
                 AS_DIFF_SIDES);
    /* Half of it is enough. */
    WRITE_BUILD("often.db", {"caller", NONE, 400, 10}, {"caller", 1, 600, 20}, {"helper", NONE, 600, 30});
    check_builds("apart.db", "often.db", (const double[]){300, 600, 20, 50}, (const double[]){200, 200, 10, 10},
                 AS_DIFF_AFTER);
}

/* ---- events ---- */

static void events_that_follow_executions(void **state)
{
    static const struct {
        const char *event, *unit;
        bool executions;
    } cases[] = {{"instructions:u", "events", true},
                 {"INST_RETIRED.PREC_DIST", "events", true},
                 {"br_inst_retired.near_taken", "events", true},
                 {"br_misp_retired.near_taken", "events", false},
                 {"mem_inst_retired.all_loads", "events", false},
                 {"ibs_op/cnt_ctl=1/", "events", true},
                 {"arm_spe_0//", "operations", true},
                 {"ibs_op//", "events", false},
                 {"cycles", "events", false},
                 {NULL, "events", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_store_writer *writer = bed_writer("event.db");
        as_store_add_series(
            writer, &(struct as_store_series){
                        .name = "s", .unit = cases[i].unit, .scale = 1, .precise = -1, .event = cases[i].event});
        bed_commit(writer);
        struct as_view view = view_bed_open("event.db", NULL);
        struct as_samples *samples = as_samples_new(NULL);
        struct as_block_counts counts = {.view = &view, .samples = samples, .method = AS_METHOD_IP};
        assert_int_equal(as_block_counts_are_executions(&counts), cases[i].executions);
        counts.method = AS_METHOD_FLOW; /* by branches, whatever the event */
        assert_true(as_block_counts_are_executions(&counts));
        counts = (struct as_block_counts){.view = &view, .method = AS_METHOD_IP};
        assert_true(as_block_counts_are_executions(&counts)); /* no samples: counted */
        as_samples_free(samples);
        as_view_free(&view);
    }
}

/* ---- orders of a run that was measured in regions ---- */

static void orders_of_regions(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_rows list;
    struct as_store_writer *writer = bed_writer("regions.db");
    as_store_add_thread(writer, &(struct as_store_thread){1, 100, NULL, 0, 0, 0});
    as_store_add_instruction(
        writer, &(struct as_store_insn){{0x1000, NONE, NONE, NONE, NONE, 0, NONE}, 0, "nop", "nop", NULL, 0});
    uint32_t series = as_store_add_series(
        writer,
        &(struct as_store_series){.name = AS_STORE_SAMPLED, .unit = "cycles", .scale = 1, .precise = -1, .samples = 5});
    as_store_add_time(writer, &(struct as_store_time){series, 0, 0, 100, 0, 7});
    bed_commit(writer);
    struct as_view view = view_bed_open("regions.db", NULL);
    assert_false(as_rows_make(&list, &view, AS_STORE_BY_INSTRUCTION, "samples", &err));
    assert_non_null(strstr(err.message, "has regions, not samples"));
    as_rows_free(&list);
    assert_true(as_rows_make(&list, &view, AS_STORE_BY_INSTRUCTION, "executions", &err));
    as_rows_free(&list);
    as_view_free(&view);
}

static int enter(void **state)
{
    view_bed_enter();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_of_threads),      cmocka_unit_test(inlined_by_one_build),
        cmocka_unit_test(inlined_here_and_there), cmocka_unit_test(events_that_follow_executions),
        cmocka_unit_test(orders_of_regions),
    };
    return cmocka_run_group_tests(tests, enter, NULL);
}
