/* Error bars of rows of a run that was measured in regions, with all that a profile can say of them: times that all
 * replicates share, times that a factor of each multiplies, and what regions of other programs differ by.
 *
 *   cycles of 20,000       first   second   third
 *   measured once           4000        0       0
 *   no region has them         0     2000       0   times 0.9, 1.1 and 1 in the replicates
 *   in the regions          1000     5000    8000   1000, 1030 and 980; 5000, 5100 and 4800; 8000 in all
 */
#include "score/confidence.h"
#include "unit.h"
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

static int set_up(void **state)
{
    view_bed_enter();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replicates_alone), cmocka_unit_test(with_what_others_differ_by), cmocka_unit_test(merged_runs),
        cmocka_unit_test(differences),      cmocka_unit_test(one_replicate_is_none),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
