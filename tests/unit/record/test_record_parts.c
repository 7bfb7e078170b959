/* Recordings of parts of a program that stand for more: simulation points, as they are chosen and as they are measured, and regions with
 * weights. Numbers are in tests/golden/record_parts.txt; what must hold of them is said here.
 *
 * usage: test_record_parts VICTIM MACHINE PLUGIN */
#include "record_bed.h"
#include "unit_golden.h"

#include "record/choose_points.h"

#include <math.h>

/* ---- simulation points ---- */

enum { INTERVAL = 4000, INSTRUCTIONS = 95988 }; /* of one thread; 23 whole intervals and a part */

static struct as_record_points_options choice_for(const struct as_record_options *record)
{
    struct as_record_points_options options = AS_RECORD_POINTS_DEFAULT;
    static const struct as_strlist set;
    options.points = "auto";
    options.interval = INTERVAL;
    options.warm = 2000;
    options.max_k = 6;
    options.seed = 1;
    options.jobs = 1;
    options.core = record->core;
    options.set = &set;
    options.engine = record->engine;
    options.engine.argv = record->argv;
    options.notices = record->notices;
    return options;
}

static void choose(const struct as_record_points_options *options, struct as_record_points *points)
{
    struct as_error err = AS_ERROR_INIT;
    *points = (struct as_record_points){0};
    if (!as_record_points_choose(options, points, &err))
        fail_msg("%s", err.message);
    assert_ptr_equal(points->plan.points, points->points.data);
    assert_int_equal(points->plan.n, points->points.len);
    assert_int_equal(points->plan.interval, options->interval);
    assert_int_equal(points->plan.warm, options->warm);
    assert_int_equal(points->plan.jobs, options->jobs);
}

/* What holds of every plan that a run made: points by their starts, whose weights are one; of each phase as many as it says, numbered,
 * and not more than it has intervals. Returns the number of phases. */
static uint32_t check_plan(const struct as_points_plan *plan)
{
    uint32_t phases = 0;
    double sum = 0;
    for (size_t i = 0; i < plan->n; i++) {
        const struct as_plan_point *point = &plan->points[i];
        uint32_t same = 0, numbers = 0;
        for (size_t j = 0; j < plan->n; j++)
            if (plan->points[j].phase == point->phase) {
                same++;
                numbers |= 1u << plan->points[j].number;
                assert_float_equal(plan->points[j].weight, point->weight, 1e-9);
            }
        assert_int_equal(same, point->chosen);
        assert_int_equal(numbers, (1u << point->chosen) - 1);
        assert_true(!point->of || point->chosen <= point->of);
        assert_true(i == 0 || point[-1].start < point->start);
        assert_int_equal(point->start % plan->interval, 0);
        assert_true(point->lines.len > 0);
        sum += point->weight;
        phases = point->phase >= phases ? point->phase + 1 : phases;
    }
    assert_float_equal(sum, 1, 1e-9);
    return phases;
}

static void show_plan(FILE *out, const char *title, const struct as_points_plan *plan)
{
    unit_golden_section(out, "%s", title);
    for (size_t i = 0; i < plan->n; i++)
        fprintf(out, "%llu: phase %u, %u of %u chosen of %u, weight %.5f\n", (unsigned long long)plan->points[i].start,
                plan->points[i].phase, plan->points[i].number, plan->points[i].chosen, plan->points[i].of,
                plan->points[i].weight);
}

static void one_thread(FILE *out)
{
    struct as_record_options record = record_options("model", out);
    struct as_record_points_options options = choice_for(&record);
    struct as_record_points points;
    for (options.per_phase = 1; options.per_phase <= 4; options.per_phase++) {
        char title[64];
        choose(&options, &points);
        assert_int_equal(points.plan.instructions, INSTRUCTIONS);
        assert_false(points.plan.again);
        uint32_t phases = check_plan(&points.plan);
        for (size_t i = 0; i < points.plan.n; i++) {
            assert_true(points.plan.points[i].chosen >= (options.per_phase > 1) + 1 ||
                        points.plan.points[i].chosen == points.plan.points[i].of);
            assert_true(options.per_phase > 1 || points.plan.points[i].chosen == 1);
        }
        assert_in_range(phases, 1, options.max_k);
        snprintf(title, sizeof title, "points, %u of each phase", (unsigned)options.per_phase);
        show_plan(out, title, &points.plan);
        if (options.per_phase <= 2) {
            record.points = &points.plan;
            record_show(out, "… measured", &record);
        }
        as_record_points_free(&points);
    }
}

/* Threads in a fixed order: each point is measured by a run of its own, and then the elapsed time. */
static void two_threads(FILE *out)
{
    record_threads = true;
    struct as_record_options record = record_options("model", out);
    record.engine.deterministic = true;
    record.engine.quantum = 10000;
    struct as_record_points_options options = choice_for(&record);
    struct as_record_points points;
    options.interval = 10000;
    choose(&options, &points);
    assert_true(points.plan.again);
    check_plan(&points.plan);
    show_plan(out, "points of two threads", &points.plan);
    record.points = &points.plan;
    record_show(out, "… measured", &record);
    as_record_points_free(&points);
    record_threads = false;
}

/* … and how many at a time makes no difference. */
static void several_at_a_time(void **state)
{
    record_need_qemu();
    char *texts[2];
    size_t sizes[2];
    for (unsigned i = 0; i < 2; i++) {
        FILE *out = open_memstream(&texts[i], &sizes[i]);
        struct as_record_options record = record_options("model", out);
        struct as_record_points_options options = choice_for(&record);
        struct as_record_points points;
        options.jobs = i ? 0 : 1; /* 0: as there are processors */
        choose(&options, &points);
        record.points = &points.plan;
        record_show(out, "points", &record);
        as_record_points_free(&points);
        fclose(out);
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_string_equal(texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
}

/* ---- points from files ---- */

static char points_file[] = "/tmp/assay-points-XXXXXX", weights_file[] = "/tmp/assay-weights-XXXXXX";

static void write_file(char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void from_files(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_record_points points;
    record_need_qemu();
    close(mkstemp(points_file));
    close(mkstemp(weights_file));
    write_file(points_file, "3 0\n17 1\n");
    write_file(weights_file, "0.25 0\n0.75 1\n");
    struct as_record_options record = record_options("model", stdout);
    struct as_record_points_options options = choice_for(&record);
    options.points = points_file;
    options.weights = weights_file;
    choose(&options, &points);
    assert_int_equal(points.plan.n, 2);
    assert_false(points.plan.again);
    assert_int_equal(points.plan.instructions, 0); /* not known */
    for (uint32_t i = 0; i < 2; i++) {
        const struct as_plan_point *point = &points.plan.points[i];
        assert_int_equal(point->start, (i ? 17 : 3) * INTERVAL);
        assert_int_equal(point->phase, i);
        assert_int_equal(point->chosen, 1);
        assert_int_equal(point->of, 0);
        assert_float_equal(point->weight, i ? 0.75 : 0.25, 1e-9);
        assert_int_equal(point->lines.len, 0);
    }
    as_record_points_free(&points);
    options.engine.deterministic = true;
    options.engine.quantum = 1000;
    choose(&options, &points);
    assert_true(points.plan.again); /* it may have threads */
    as_record_points_free(&points);
    points = (struct as_record_points){0};
    unlink(weights_file);
    assert_false(as_record_points_choose(&options, &points, &err));
    assert_non_null(strstr(err.message, weights_file));
    unlink(points_file);
    assert_false(as_record_points_choose(&options, &points, &err));
    assert_non_null(strstr(err.message, points_file));
    as_record_points_free(&points);
}

static void no_points(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_record_points points = {0};
    record_need_qemu();
    struct as_record_options record = record_options("model", stdout);
    struct as_record_points_options options = choice_for(&record);
    options.interval = 10 * INSTRUCTIONS;
    assert_false(as_record_points_choose(&options, &points, &err));
    assert_string_equal(err.message,
                        "the program executed 95,988 instructions, less than one interval of 959,880: choose a shorter "
                        "--point-interval, or leave out --points");
    options.core = "no-such-core";
    options.interval = INTERVAL;
    assert_false(as_record_points_choose(&options, &points, &err));
    assert_non_null(strstr(err.message, "no-such-core"));
    as_record_points_free(&points);
}

/* ---- regions with weights ---- */

static void parse(struct as_regions *regions, const char *const *texts)
{
    struct as_error err = AS_ERROR_INIT;
    *regions = (struct as_regions){0};
    for (; *texts; texts++)
        if (!as_regions_parse(regions, *texts, &err))
            fail_msg("%s", err.message);
    if (!as_regions_check(regions, &err))
        fail_msg("%s", err.message);
}

static void weights(FILE *out)
{
    static const char *const cases[][6] = {
        {"1000..5000,weight=3", "20000..30000"},
        {"1000..5000,weight=3", "5000..6000,mode=settle", "20000..30000,weight=0.5", "40000..50000,weight=3"},
        {"1000..5000,weight=2", "1G..,weight=3"}};
    for (size_t i = 0; i < 3; i++) {
        struct as_regions regions;
        struct as_record_options record = record_options("model", out);
        parse(&regions, cases[i]);
        record.engine.regions = &regions;
        record.samplers = "tea";
        record.period = 300;
        record_show(out, "weights", &record);
        as_regions_free(&regions);
    }
}

static void check_weights(const char *const *texts, bool perf_data, const char *why)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_record_result result;
    struct as_regions regions;
    struct as_record_options record = record_options(perf_data ? "pmu:skylake" : "model", stdout);
    parse(&regions, texts);
    record.engine.regions = &regions;
    record.perf_data = perf_data ? "/tmp/assay-never.data" : NULL;
    assert_false(as_record_run(&record, &result, &err));
    if (!strstr(err.message, why))
        fail_msg("'%s' is not about '%s'", err.message, why);
    assert_int_equal(err.status, AS_EXIT_USAGE);
    as_regions_free(&regions);
}

static void refused_weights(void **state)
{
    record_need_qemu();
    check_weights((const char *const[]){"10..20,weight=2", "delay:0..+50", NULL}, false, "a signal or a delay");
    check_weights((const char *const[]){"10..20,weight=2", "30..delay:0.5", NULL}, false, "a signal or a delay");
    check_weights((const char *const[]){"10..20,weight=2e9", NULL}, false, "weights from 0.000001 to 1000000000");
    check_weights((const char *const[]){"10..20,weight=0.0000001", NULL}, false, "weights from 0.000001 to 1000000000");
    check_weights((const char *const[]){"10..20,weight=2,mode=warm", "30..40,mode=settle", NULL}, false,
                  "no region has mode=detail");
    check_weights((const char *const[]){"10..20,weight=2", "30..40", NULL}, true, "leave out --perf-data");
}

/* 64 different weights are 64 runs; one more is refused before the first. */
static void too_many_weights(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_record_result result;
    struct as_regions regions = {0};
    struct as_record_options record = record_options("model", stdout);
    record_need_qemu();
    for (int i = 0; i < 65; i++) {
        char text[64];
        snprintf(text, sizeof text, "%d..%d,weight=%d", 100 * i, 100 * i + 50, i + 2);
        assert_true(as_regions_parse(&regions, text, &err));
    }
    assert_true(as_regions_check(&regions, &err));
    record.engine.regions = &regions;
    assert_false(as_record_run(&record, &result, &err));
    assert_non_null(strstr(err.message, "more than 64 different weights"));
    as_regions_free(&regions);
}

static void parts(void **state)
{
    record_need_qemu();
    FILE *out = unit_golden_begin();
    one_thread(out);
    two_threads(out);
    weights(out);
    unit_golden_check(out, "record_parts.txt");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts),           cmocka_unit_test(several_at_a_time),
                                       cmocka_unit_test(from_files),      cmocka_unit_test(no_points),
                                       cmocka_unit_test(refused_weights), cmocka_unit_test(too_many_weights)};
    return record_run_tests(argc, argv, tests, sizeof tests / sizeof *tests);
}
