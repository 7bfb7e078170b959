/* Error bars of rows of a run that was measured in regions, with all that a profile can say of them: times that all
 * replicates share, times that a factor of each multiplies, and what regions of other programs differ by.
 *
 *   cycles of 20,000       first   second   third
 *   measured once           4000        0       0
 *   no region has them         0     2000       0   times 0.9, 1.1 and 1 in the replicates
 *   in the regions          1000     5000    8000   1000, 1030 and 980; 5000, 5100 and 4800; 8000 in all
 *
 * In the tests of components, `first` misses caches for 200 of its 4000 and for 600 of its 1000 (600, 690 and 560 in the replicates), `second`
 * for 2500 of its 5000 (2500, 2400 and 2600), and `third` never. Two threads have the instructions: the first one `first` alone.
 */
#include "score/confidence.h"
#include "unit.h"
#include "view/bars.h"
#include "view/diff.h"
#include "view/rows.h"
#include "view_bed.h"

#include <math.h>
#include <stdio.h>

#define NONE AS_STORE_NONE

enum { ROWS = 3, REPLICATES = 3, TOTAL = 20000, REGIONS = 40 };
static const uint64_t once[ROWS] = {4000, 0, 0}, alike[ROWS] = {0, 2000, 0}, seen[ROWS] = {1000, 5000, 8000};
static const uint64_t replicates[REPLICATES][ROWS] = {{1000, 5000, 8000}, {1030, 5100, 8000}, {980, 4800, 8000}};
static const double factors[REPLICATES] = {0.9, 1.1, 1};

enum { MISS = 1 };
static const uint64_t once_missed[ROWS] = {200, 0, 0}, missed[ROWS] = {600, 2500, 0};
static const uint64_t replicates_missed[REPLICATES][ROWS] = {{600, 2500, 0}, {690, 2400, 0}, {560, 2600, 0}};

/* Adds a series with components and threads. */
static uint32_t add_parts(struct as_store_writer *writer, const char *name, const uint64_t units[ROWS],
                          const uint64_t misses[ROWS])
{
    uint32_t series = as_store_add_series(
        writer, &(struct as_store_series){
                    .name = name, .unit = "cycles", .scale = 1, .precise = -1, .samples = REGIONS, .events = MISS});
    uint64_t all = 0, stalled = 0;
    for (uint32_t i = 0; i < ROWS; i++) {
        uint32_t thread = i > 0;
        uint64_t rest = units[i] - misses[i];
        if (units[i])
            as_store_add_time(writer, &(struct as_store_time){series, thread, i, units[i], 0, 0});
        if (rest)
            as_store_add_component(writer, &(struct as_store_component){series, thread, i, 0, rest, 0});
        if (misses[i])
            as_store_add_component(writer, &(struct as_store_component){series, thread, i, MISS, misses[i], 0});
        all += units[i];
        stalled += misses[i];
    }
    as_store_add_stack(writer, &(struct as_store_stack){series, "states", "computing", all - stalled});
    as_store_add_stack(writer, &(struct as_store_stack){series, "states", "stalled", stalled});
    return series;
}

static uint32_t add_series(struct as_store_writer *writer, const char *name, uint64_t samples,
                           const uint64_t units[ROWS])
{
    uint32_t series = as_store_add_series(
        writer,
        &(struct as_store_series){.name = name, .unit = "cycles", .scale = 1, .precise = -1, .samples = samples});
    for (uint32_t i = 0; i < ROWS; i++)
        if (units[i])
            as_store_add_time(writer, &(struct as_store_time){series, 0, i, units[i], 0, 0});
    return series;
}

/* With threads: two of them, and the whole known to a hundredth; half of the run was measured in regions. */
enum { REGION = TOTAL / 2 / REGIONS };
static void add_threads(struct as_store_writer *writer, uint32_t series)
{
    as_store_add_thread(writer, &(struct as_store_thread){2, 100, NULL, 0, 0, 0});
    as_store_add_meta_u64(writer, AS_META_CYCLES, TOTAL);
    as_store_add_quality(writer, "sampled", 0.5, "was measured in regions");
    as_store_add_estimate(writer, &(struct as_store_estimate){series, "interval", "program", 0.01 * AS_Z_95});
}

static void write_profile(const char *path, double prior, uint64_t merged, bool threads)
{
    static const char *const names[ROWS] = {"first", "second", "third"};
    struct as_store_writer *writer = bed_writer(path);
    as_store_add_thread(writer, &(struct as_store_thread){1, 100, NULL, TOTAL, 0, 0});
    as_store_add_module(writer, &(struct as_store_module){.path = "/opt/shop"});
    as_store_add_file(writer, "/src/shop.c");
    if (merged)
        as_store_add_meta_u64(writer, AS_META_MERGED, merged);
    uint64_t whole[ROWS];
    for (uint32_t i = 0; i < ROWS; i++) {
        as_store_add_function(writer, &(struct as_store_function){names[i], NULL, 0, NONE, 0, 16 * (i + 1), 16});
        as_store_add_instruction(
            writer, &(struct as_store_insn){{16 * (i + 1), 0, i, NONE, 0, 1 + i, NONE}, 0, "nop", "nop", NULL, 0});
        whole[i] = once[i] + alike[i] + seen[i];
    }
    uint32_t all = add_series(writer, AS_STORE_SAMPLED, REGIONS, whole);
    if (threads)
        add_threads(writer, all);
    add_series(writer, AS_STORE_REPLICATE_COMMON, 0, once);
    uint32_t same = add_series(writer, AS_STORE_REPLICATE_ALIKE, 0, alike);
    for (uint32_t i = 0; i < REPLICATES; i++) {
        char name[32];
        snprintf(name, sizeof name, AS_STORE_REPLICATE "%u", i + 1);
        add_series(writer, name, 0, replicates[i]);
        as_store_add_estimate(writer, &(struct as_store_estimate){same, AS_STORE_FACTOR, name, factors[i]});
    }
    if (prior >= 0)
        as_store_add_estimate(writer, &(struct as_store_estimate){all, AS_STORE_PRIOR, "program", prior});
    bed_commit(writer);
}

/* The share of a row in a replicate. */
static double share_in(size_t replicate, size_t row)
{
    double own = 0, total = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double units = (double)once[i] + (double)alike[i] * factors[replicate] + (double)replicates[replicate][i];
        own = i == row ? units : own;
        total += units;
    }
    return own / total;
}

static double wanted(size_t row, const struct as_region_prior *prior)
{
    double shares[REPLICATES], share = (double)(once[row] + alike[row] + seen[row]) / TOTAL;
    for (size_t i = 0; i < REPLICATES; i++)
        shares[i] = share_in(i, row);
    double deviation = as_jackknife_deviation(shares, REPLICATES);
    if (prior)
        deviation = as_guessed_share_deviation(
            share, (double)alike[row] / TOTAL,
            as_region_share_deviation(prior, share, (double)(alike[row] + seen[row]) / (TOTAL - 4000), deviation));
    return as_jackknife_quantile(REPLICATES) * deviation;
}

/* A function has a line of its own. */
static void check_level(const struct as_view *view, enum as_store_level level, const struct as_region_prior *prior)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_rows list;
    assert_true(as_rows_make(&list, view, level, NULL, &err));
    assert_int_equal(list.rows.n, ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        size_t row = level == AS_STORE_BY_LINE ? list.rows.rows[i].line - 1 : list.rows.rows[i].id;
        assert_true(fabs(list.errors[i] - wanted(row, prior)) < 1e-12);
        assert_int_equal(list.once[i], once[row]);
    }
    as_rows_free(&list);
}

static void check(double deviation, uint64_t merged, const struct as_region_prior *prior)
{
    write_profile("errors.db", deviation, merged, false);
    struct as_view view = view_bed_open("errors.db", NULL);
    check_level(&view, AS_STORE_BY_FUNCTION, prior);
    check_level(&view, AS_STORE_BY_LINE, prior);
    as_view_free(&view);
}

static void replicates_alone(void **state)
{
    check(-1, 0, NULL);
    check(1, 0, NULL); /* a deviation of the whole says nothing */
}

static void with_what_others_differ_by(void **state)
{
    check(0.05, 0, &(struct as_region_prior){0.05, REGIONS});
}

/* Merged runs may have the same regions. */
static void merged_runs(void **state)
{
    check(0.05, 4, &(struct as_region_prior){0.05, REGIONS / 4});
    check(0.05, 1000, &(struct as_region_prior){0.05, 1});
}

/* The variance of a row: of its share, and of the whole; and where threads ran in an order of chance, of what was measured once, unless
 * the row is new or gone. */
static void check_diff(const struct as_diff *diff, double deviation[ROWS])
{
    for (size_t i = 0; i < diff->rows.len; i++) {
        const struct as_diff_row *row = &diff->rows.data[i];
        size_t place = row->name[0] == 'f' ? 0 : row->name[0] == 's' ? 1 : 2;
        double own = (double)(once[place] + alike[place] + seen[place]), share = wanted(place, NULL) / AS_Z_95 * TOTAL,
               time = (double)once[place], varies = time * as_region_prior_of(1, time / REGION).deviation;
        assert_true(row->cycles[AS_DIFF_BEFORE] == own);
        assert_true(fabs(row->variance[AS_DIFF_BEFORE] - (own * own * 1e-4 + share * share)) < 1e-6 * own * own);
        assert_true(fabs(row->once[AS_DIFF_BEFORE] - varies * varies) <= 1e-6 * varies * varies);
        deviation[place] = row->deviation;
    }
}

static void differences(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    double same[ROWS] = {0}, gone[ROWS] = {0};
    write_profile("before.db", -1, 0, true);
    write_profile("after.db", -1, 0, true);
    struct as_view before = view_bed_open("before.db", NULL), after = view_bed_open("after.db", NULL);
    struct as_diff *diff = as_diff_new(&before, &after, AS_STORE_BY_FUNCTION, &err);
    assert_true(diff && diff->rows.len == ROWS && as_diff_threads_note(diff));
    check_diff(diff, same);
    as_diff_free(diff);
    as_view_free(&after);
    bed_sql("after.db", "DELETE FROM times WHERE instruction = 0");
    after = view_bed_open("after.db", NULL);
    diff = as_diff_new(&before, &after, AS_STORE_BY_FUNCTION, &err);
    assert_non_null(diff);
    check_diff(diff, gone);
    double of_start = 4000 * as_region_prior_of(1, 4000.0 / REGION).deviation, own = 5000 * 0.01,
           share = wanted(0, NULL) / AS_Z_95 * TOTAL, sampled = own * own + share * share;
    assert_true(fabs(same[0] - sqrt(2 * (sampled + of_start * of_start))) < 1e-3 * same[0]);
    assert_true(fabs(gone[0] - sqrt(sampled)) < 1e-3 * gone[0]);
    as_diff_free(diff);
    as_view_free(&before);
    as_view_free(&after);
}

static void one_replicate_is_none(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_rows list;
    struct as_store_writer *writer = bed_writer("one.db");
    as_store_add_thread(writer, &(struct as_store_thread){1, 100, NULL, TOTAL, 0, 0});
    for (uint32_t i = 0; i < ROWS; i++)
        as_store_add_instruction(
            writer, &(struct as_store_insn){{16 * (i + 1), NONE, NONE, NONE, NONE, 0, NONE}, 0, "nop", "nop", NULL, 0});
    add_series(writer, AS_STORE_SAMPLED, REGIONS, seen);
    add_series(writer, AS_STORE_REPLICATE "1", 0, seen);
    bed_commit(writer);
    struct as_view view = view_bed_open("one.db", NULL);
    assert_true(as_rows_make(&list, &view, AS_STORE_BY_INSTRUCTION, NULL, &err));
    assert_true(!list.errors && !list.once);
    as_rows_free(&list);
    as_view_free(&view);
}

/* ---- components, states, threads ---- */

static void write_parts(bool by_threads)
{
    static const uint64_t none[ROWS] = {0};
    static const char *const names[ROWS] = {"first", "second", "third"};
    struct as_store_writer *writer = bed_writer("parts.db");
    as_store_add_thread(writer, &(struct as_store_thread){1, 100, NULL, TOTAL, 0, 0});
    as_store_add_thread(writer, &(struct as_store_thread){2, 100, NULL, 0, 0, 0});
    as_store_add_module(writer, &(struct as_store_module){.path = "/opt/shop"});
    as_store_add_event(writer, &(struct as_store_event){.bit = 0, .name = "MISS", .parent = NONE});
    uint64_t whole[ROWS], whole_missed[ROWS];
    for (uint32_t i = 0; i < ROWS; i++) {
        as_store_add_function(writer, &(struct as_store_function){names[i], NULL, 0, NONE, 0, 16 * (i + 1), 16});
        as_store_add_instruction(
            writer, &(struct as_store_insn){{16 * (i + 1), 0, i, NONE, NONE, 0, NONE}, 0, "nop", "nop", NULL, 0});
        whole[i] = once[i] + alike[i] + seen[i];
        whole_missed[i] = once_missed[i] + missed[i];
    }
    add_parts(writer, AS_STORE_SAMPLED, whole, whole_missed);
    uint32_t common = add_parts(writer, AS_STORE_REPLICATE_COMMON, once, once_missed);
    uint32_t same = add_parts(writer, AS_STORE_REPLICATE_ALIKE, alike, none);
    if (by_threads)
        as_store_add_estimate(writer, &(struct as_store_estimate){common, AS_STORE_BY_THREADS, "program", 1});
    for (uint32_t i = 0; i < REPLICATES; i++) {
        char name[32];
        snprintf(name, sizeof name, AS_STORE_REPLICATE "%u", i + 1);
        add_parts(writer, name, replicates[i], replicates_missed[i]);
        as_store_add_estimate(writer, &(struct as_store_estimate){same, AS_STORE_FACTOR, name, factors[i]});
    }
    bed_commit(writer);
}

/* All of a replicate's time, in the rows from `from` until before `until`. */
static double time_in(size_t replicate, size_t from, size_t until)
{
    double sum = 0;
    for (size_t i = from; i < until; i++)
        sum += (double)once[i] + (double)alike[i] * factors[replicate] + (double)replicates[replicate][i];
    return sum;
}

static double missed_in(size_t replicate, size_t from, size_t until)
{
    double sum = 0;
    for (size_t i = from; i < until; i++)
        sum += (double)once_missed[i] + (double)replicates_missed[replicate][i];
    return sum;
}

static double bar(const double shares[REPLICATES])
{
    return as_jackknife_quantile(REPLICATES) * as_jackknife_deviation(shares, REPLICATES);
}

/* The bar of what misses in some rows, as a share of all time, or of that of the rows `of` until before `end`. */
static double missed_bar(size_t from, size_t until, size_t of, size_t end)
{
    double shares[REPLICATES];
    for (size_t i = 0; i < REPLICATES; i++)
        shares[i] = missed_in(i, from, until) / time_in(i, of, end);
    return bar(shares);
}

/* A tenth of the time is of code that no region has: it may be any kind of time, and 3300 of all cycles miss. */
static double any_kind(void)
{
    return 0.1 * 2 * sqrt(3300.0 / TOTAL);
}

static bool is(double value, double wanted)
{
    return fabs(value - wanted) < 1e-12;
}

/* One by hand: `first` misses for 800, 890 and 760 cycles of 19800, 20330 and 19780. */
static void components(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_rows list;
    write_parts(false);
    struct as_view view = view_bed_open("parts.db", NULL);
    assert_true(as_rows_make(&list, &view, AS_STORE_BY_FUNCTION, "name", &err));
    const struct as_store_row *rows = list.rows.rows;
    double shares[] = {800.0 / 19800, 890.0 / 20330, 760.0 / 19780}, mean = (shares[0] + shares[1] + shares[2]) / 3;
    double squares = 0;
    for (int i = 0; i < 3; i++)
        squares += (shares[i] - mean) * (shares[i] - mean);
    double by_hand = 4.302653 * sqrt(squares * 2 / 3); /* Student's t of two degrees of freedom */
    assert_true(fabs(as_rows_part_error(&list, &rows[0], MISS) - by_hand) < 1e-6);
    assert_true(is(as_rows_part_error(&list, &rows[1], MISS), missed_bar(1, 2, 0, ROWS) + any_kind()));
    assert_true(as_rows_part_error(&list, &rows[2], MISS) == 0); /* it has none of them */
    assert_true(is(as_rows_part_error(&list, &rows[2], 0), wanted(2, NULL)));
    assert_true(list.legend.has_errors && is(list.legend.errors[1], missed_bar(0, ROWS, 0, ROWS) + any_kind()));
    assert_true(
        is(list.legend.errors[0], list.legend.errors[1])); /* of two components, what one has more the other has less */
    as_rows_free(&list);
    as_view_free(&view);
}

static void states(void **state)
{
    size_t n, of_sampled = 0;
    write_parts(false);
    struct as_view view = view_bed_open("parts.db", NULL);
    const struct as_store_stack *stacks = as_store_stacks(view.store, &n);
    assert_non_null(view.summary.stack_errors);
    for (size_t i = 0; i < n; i++) {
        if (!as_summary_is_of_stack(&view.summary, &stacks[i], "states"))
            continue;
        assert_true(is(view.summary.stack_errors[i], missed_bar(0, ROWS, 0, ROWS) + any_kind()));
        of_sampled++;
    }
    assert_int_equal(of_sampled, 2);
    assert_int_equal(as_summary_stack_total(&view.summary, "states"), TOTAL);
    as_view_free(&view);
}

/* Only what replicates keep apart has bars. */
static void threads(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_rows list;
    double shares[REPLICATES];
    for (int by_threads = 0; by_threads < 2; by_threads++) {
        write_parts(by_threads);
        struct as_view view = view_bed_open("parts.db", NULL);
        assert_true(as_rows_make(&list, &view, AS_STORE_BY_THREAD, NULL, &err));
        assert_true(!list.errors == !by_threads);
        for (size_t i = 0; i < REPLICATES; i++)
            shares[i] = time_in(i, 1, ROWS) / time_in(i, 0, ROWS);
        assert_true(!by_threads || is(list.errors[0], bar(shares))); /* the larger one has the other two */
        as_rows_free(&list);
        as_view_free(&view);
    }
}

static void of_one_event(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_rows list;
    static const char *const words[] = {"MISS"};
    write_parts(false);
    struct as_view view;
    struct as_view_options options = {.file = "parts.db", .events = {words, 1}};
    assert_true(as_view_open(&view, &options, &err));
    assert_true(as_rows_make(&list, &view, AS_STORE_BY_FUNCTION, NULL, &err));
    assert_non_null(list.errors);
    size_t place = list.rows.rows[0].id; /* the one with most of it */
    assert_int_equal(place, 1);
    assert_true(is(list.errors[0], missed_bar(1, 2, 0, ROWS)));
    as_rows_free(&list);
    as_view_free(&view);
}

/* What all regions have in common may be of any kind, too: 0.8 % of a whole of half the time, a fifth of which is of this kind. */
static void in_common(void **state)
{
    struct as_bars bars = {.common = 0.008};
    struct as_bar_part part = {.found = 0.0012, .part = 0.2, .whole = 0.5, .usual = 0.2};
    assert_true(is(as_bar_of_part(&bars, &part), 0.002)); /* 0.8 % * 0.5 * 0.4 = 0.16 %, beside 0.12 % */
    part.guessed = 0.01;
    assert_true(is(as_bar_of_part(&bars, &part), 0.002 + 0.01 * 2 * sqrt(0.2)));
    part.plain = true; /* the kind that guessed time is taken for: what it may lack is all others */
    assert_true(is(as_bar_of_part(&bars, &part), 0.002 + 0.01));
}

static int set_up(void **state)
{
    view_bed_enter();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replicates_alone),
        cmocka_unit_test(with_what_others_differ_by),
        cmocka_unit_test(merged_runs),
        cmocka_unit_test(differences),
        cmocka_unit_test(one_replicate_is_none),
        cmocka_unit_test(components),
        cmocka_unit_test(states),
        cmocka_unit_test(threads),
        cmocka_unit_test(of_one_event),
        cmocka_unit_test(in_common),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
