/* Points of a small program that does the same in every run: its intervals, the model's time of each, and what a sweep makes of
 * them add up to what the whole run is. */
#include "predict/sweep.h"

#include "base/str.h"
#include "engine/find_qemu.h"
#include "unit.h"
#include "unit_golden.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { EXECUTED = 95988, INTERVAL = 8000, INTERVALS = 12 }; /* tests/unit/record/record_victim.S */

static char **arguments, *plugin, *program[2], *none[1];
static struct as_predict_request request;
static struct as_predict predict;
static unsigned warned;
static struct as_str heard;

static void hear(void *context, enum as_log_level level, const char *text)
{
    warned++;
    as_str_addf(&heard, "%s\n", text);
}

static int set_up(void **state)
{
    program[0] = arguments[1];
    request = (struct as_predict_request){.interval = INTERVAL,
                                          .core = arguments[2],
                                          .warm = AS_REGION_ALL,
                                          .engine = AS_ENGINE_OPTIONS_DEFAULT,
                                          .choose = AS_CHOOSE_DEFAULT,
                                          .notices = {hear, NULL}};
    request.engine.argv = program;
    request.engine.environment = none; /* the stack begins behind it */
    request.engine.plugin = plugin;
    request.choose.max_k = 3;
    predict = (struct as_predict){.request = &request};
    warned = 0;
    return 0;
}

static int tear_down(void **state)
{
    as_predict_free(&predict);
    as_str_free(&heard);
    return 0;
}

static void need_qemu(void)
{
    struct as_qemu qemu;
    struct as_error err = AS_ERROR_INIT;
    if (!as_qemu_find(AS_ARCH_X86_64, NULL, &qemu, &err))
        unit_skip("%s", err.message);
}

/* ---- standard input, which every run reads from where it was ---- */

enum { INPUT_AT = 5 };

static void give_input(void)
{
    int file = memfd_create("input", MFD_CLOEXEC);
    assert_true(file >= 0 && ftruncate(file, 100) == 0 && lseek(file, INPUT_AT, SEEK_SET) == INPUT_AT);
    assert_int_equal(dup2(file, STDIN_FILENO), STDIN_FILENO);
    close(file);
}

/* In place of the program, which reads nothing. */
static void read_input(void)
{
    assert_int_equal(lseek(STDIN_FILENO, 0, SEEK_END), 100);
}

static void check_input(void)
{
    assert_int_equal(lseek(STDIN_FILENO, 0, SEEK_CUR), INPUT_AT);
}

/* ---- */

static void choose_points(void)
{
    struct as_error err = AS_ERROR_INIT;
    need_qemu();
    give_input();
    assert_true(as_input_keep(&predict.input, NULL, &err));
    if (!as_predict_vectors(&predict, &err))
        fail_msg("%s", err.message);
    read_input();
    as_predict_choose(&predict);
}

static void vectors_are_the_run(void **state)
{
    double weights = 0;
    choose_points();
    assert_int_equal(as_vectors_instructions(predict.vectors), EXECUTED);
    assert_int_equal(predict.vectors->list.len, INTERVALS);
    for (size_t i = 0; i < INTERVALS; i++)
        assert_int_equal(predict.vectors->list.data[i].instructions,
                         i + 1 < INTERVALS ? INTERVAL : EXECUTED - (INTERVALS - 1) * INTERVAL);
    for (size_t i = 0; i < predict.choice.points.len; i++) {
        weights += predict.choice.points.data[i].weight;
        assert_string_equal(as_predict_function(&predict, &predict.choice.points.data[i]), "leaf");
    }
    assert_float_equal(weights, 1, 1e-9);
}

/* Each point is measured where it lies, for as long as it is, and executes what its vector has. */
static void points_are_measured(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    double cpi = 0;
    choose_points();
    if (!as_predict_run(&predict, &err))
        fail_msg("%s", err.message);
    check_input();
    assert_int_equal(predict.results.len, predict.choice.points.len);
    for (size_t i = 0; i < predict.results.len; i++) {
        const struct as_point_result *result = &predict.results.data[i];
        const struct as_chosen_point *point = &predict.choice.points.data[i];
        assert_int_equal(result->instructions, predict.vectors->list.data[point->interval].instructions);
        assert_true(result->cycles > result->instructions / 8 && result->cycles < 8 * result->instructions);
        assert_true(result->differs >= 0 && result->differs < 0.01);
        cpi += point->weight * (double)result->cycles / (double)result->instructions;
    }
    assert_float_equal(as_predict_cpi(&predict), cpi, 1e-9);
}

/* What the phases of a choice add to its error, each by its point, is that error; and functions are blamed for some of it. */
static void check_phases(struct as_sweep *sweep)
{
    double adds = 0, mean = 0, asked = as_sweep_asked(sweep)->cpi;
    for (uint32_t i = 0; i < predict.choice.points.len; i++) {
        struct as_swept_phase phase = as_sweep_phase(sweep, i);
        uint32_t interval = predict.choice.points.data[i].interval;
        assert_float_equal(phase.point, sweep->cpi.data[interval], 1e-12);
        assert_true(phase.least <= phase.point && phase.point <= phase.most);
        assert_true(phase.least <= phase.mean + 1e-9 && phase.mean <= phase.most + 1e-9);
        assert_true(fabs(phase.adds) < 1e-9 || (phase.function && fabs(phase.blamed) > fabs(phase.adds) / 8));
        adds += phase.adds;
        mean += phase.weight * phase.mean;
    }
    assert_float_equal(mean, sweep->truth, 0.001);
    assert_float_equal(adds, asked / sweep->truth - 1, 0.001);
}

/* The intervals together are the run, in cycles, too; and in another run of the model they do the same. */
static void sweeps(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    double cycles = 0;
    choose_points();
    struct as_sweep sweep = {.predict = &predict};
    if (!as_sweep_run(&sweep, &err))
        fail_msg("%s", err.message);
    check_input();
    assert_int_equal(sweep.cpi.len, INTERVALS);
    for (size_t i = 0; i < INTERVALS; i++)
        cycles += sweep.cpi.data[i] * (double)predict.vectors->list.data[i].instructions;
    assert_float_equal(sweep.truth, cycles / EXECUTED, 1e-9);
    assert_true(sweep.differs < 0.01);
    assert_int_equal(warned, 0);
    struct as_interval_apart apart = as_point_blame_apart(sweep.blame);
    assert_true(apart.part < 0.01 && apart.interval < INTERVALS);
    check_phases(&sweep);
    as_sweep_free(&sweep);
}

/* Intervals that end at a place of the program: each begins and ends there, in the run that measures it, too. */
static void intervals_of_a_loop(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    request.loop = "work";
    points_are_measured(state);
    assert_true(predict.vectors->list.len > INTERVALS / 2);
    for (size_t i = 0; i + 1 < predict.vectors->list.len; i++)
        assert_in_range(predict.vectors->list.data[i].instructions, i ? INTERVAL : 1,
                        INTERVAL + 100); /* a turn is 48 */
    as_predict_free(&predict);
    predict = (struct as_predict){.request = &request};
    request.loop = "_start"; /* executed once: no interval ends there */
    assert_false(as_predict_vectors(&predict, &err));
    if (!strstr(err.message, "no interval ends: '_start' was not executed after the first"))
        fail_msg("%s", err.message);
}

struct metered {
    unsigned started, ended;
    uint64_t executed;
};

static void meter_start(void *context, uint64_t goal)
{
    ((struct metered *)context)->started++;
}

static void meter_update(void *context, uint64_t executed, uint64_t measured)
{
    ((struct metered *)context)->executed = executed;
}

static void meter_write(void *context, uint64_t rows)
{
}

static void meter_end(void *context)
{
    ((struct metered *)context)->ended++;
}

/* Progress is shown of both runs. */
static void both_runs_are_metered(void **state)
{
    static const struct as_meter meter = {
        .start = meter_start, .update = meter_update, .write = meter_write, .end = meter_end};
    struct metered metered = {0};
    struct as_error err = AS_ERROR_INIT;
    request.meter = &meter;
    request.meter_context = &metered;
    choose_points();
    assert_int_equal(metered.started, 1);
    assert_int_equal(metered.ended, 1);
    if (!as_predict_run(&predict, &err))
        fail_msg("%s", err.message);
    assert_int_equal(metered.started, 2);
    assert_int_equal(metered.ended, 2);
}

/* A program that is shorter than one interval has no points. */
static void too_short(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    need_qemu();
    request.interval = EXECUTED + 1;
    assert_false(as_predict_vectors(&predict, &err));
    assert_non_null(strstr(err.message, "executed 95,988 instructions, less than one interval of 95,989"));
}

/* ---- another run than the first ---- */

static void check_failure(bool ok, const struct as_error *err, const char *part)
{
    assert_false(ok);
    if (!strstr(err->message, part))
        fail_msg("%s", err->message);
}

/* Vectors of more than the program executes: an interval behind its end. */
static void never_reached(void **state)
{
    struct as_error err = AS_ERROR_INIT;
    choose_points();
    struct as_vectors *vectors = (struct as_vectors *)predict.vectors;
    as_vectors_add(vectors, 1, INTERVAL);
    as_vectors_end(vectors);
    struct as_sweep sweep = {.predict = &predict};
    check_failure(as_sweep_run(&sweep, &err), &err, "interval 12 was never reached");
    as_sweep_free(&sweep);
    predict.choice.points.data[predict.choice.points.len - 1].interval = INTERVALS; /* they are in order */
    check_failure(as_predict_run(&predict, &err), &err, "interval 12 was never reached");
}

/* The intervals' instructions by block, so often. */
static void change_interval(size_t interval, uint64_t times, uint32_t further)
{
    struct as_vectors *vectors = (struct as_vectors *)predict.vectors;
    struct as_vector *vector = &vectors->list.data[interval];
    vector->instructions *= times;
    for (size_t i = vector->first; i < vector->end; i++) {
        vectors->entries.data[i].count *= times;
        vectors->entries.data[i].block += further;
    }
}

static double sweep_differs(void)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_sweep sweep = {.predict = &predict};
    if (!as_sweep_run(&sweep, &err))
        fail_msg("%s", err.message);
    double differs = sweep.differs;
    as_sweep_free(&sweep);
    return differs;
}

/* One interval executed more for its vector than in the model: the run was longer. */
static void a_longer_run(void **state)
{
    choose_points();
    change_interval(5, 2, 0);
    assert_float_equal(sweep_differs(), 0.25, 0.001); /* of the interval, which is more than that of the run */
    assert_string_equal(
        as_str_get(&heard),
        "the program does not do the same in every run: it executed 103,988 instructions for its "
        "vectors and 95,988 in the model, so the true CPI and all errors are those of other intervals\n");
}

/* As many instructions, but some of other code. */
static void other_code(void **state)
{
    choose_points();
    uint32_t blocks = predict.vectors->blocks;
    struct as_vectors *vectors = (struct as_vectors *)predict.vectors;
    const struct as_vector *vector = &vectors->list.data[7];
    size_t last = vector->end - 1;
    vectors->entries.data[last].block = vectors->entries.data[last].block == blocks ? 1 : blocks;
    double part = (double)vectors->entries.data[last].count / INTERVAL;
    assert_float_equal(sweep_differs(), part, 0.01);
    if (!strstr(as_str_get(&heard), "in the model interval 7 executed other code than for its vector, ") || warned != 1)
        fail_msg("%s", as_str_get(&heard));
}

static uint64_t address_of(size_t entry)
{
    size_t n;
    return as_collect_blocks(predict.collect, &n)[predict.vectors->entries.data[entry].block - 1].block->address;
}

/* Moves instructions of an interval from the block with most of them to the one that is furthest from it, and adds some to that. */
static void move_instructions(size_t interval, uint64_t moved, uint64_t added)
{
    struct as_vectors *vectors = (struct as_vectors *)predict.vectors;
    struct as_vector *vector = &vectors->list.data[interval];
    size_t from = vector->first, to = vector->first;
    for (size_t i = vector->first; i < vector->end; i++)
        from = vectors->entries.data[i].count > vectors->entries.data[from].count ? i : from;
    for (size_t i = vector->first; i < vector->end; i++)
        if (llabs((int64_t)(address_of(i) - address_of(from))) > llabs((int64_t)(address_of(to) - address_of(from))))
            to = i;
    assert_true(to != from && vectors->entries.data[from].count > moved);
    vectors->entries.data[from].count -= moved;
    vectors->entries.data[to].count += moved + added;
    vector->instructions += added;
}

/* Blocks at an interval's ends, up to a hundredth of it, say nothing, nor does a thousandth of the run. */
static void tolerable_differences(void **state)
{
    static const struct {
        uint64_t moved, added;
        const char *part; /* of the warning; NULL: there is none */
    } cases[] = {{40, 0, NULL},
                 {0, 60, NULL},
                 {0, 150, "executed 96,138 instructions for its vectors and 95,988 in the model"},
                 {600, 0, "in the model interval 6 executed other code than for its vector, "}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        choose_points();
        as_str_free(&heard);
        move_instructions(6, cases[i].moved, cases[i].added);
        sweep_differs();
        if (cases[i].part ? !strstr(as_str_get(&heard), cases[i].part) : heard.len > 0)
            fail_msg("%zu: %s", i, as_str_get(&heard));
        as_predict_free(&predict);
        predict = (struct as_predict){.request = &request};
    }
}

/* ---- the function of an interval ---- */

static const char *function_of_block(const struct as_block *block)
{
    const struct as_image *image = as_engine_image(predict.engine, block->image);
    struct as_location location;
    as_space_find(image->space, block->address, &location);
    return location.function;
}

/* It is the one with most of the instructions, in all of its blocks, wherever they stand. */
static void the_largest_function(void **state)
{
    size_t n, pairs = 0;
    choose_points();
    const struct as_collect_block *blocks = as_collect_blocks(predict.collect, &n);
    const struct as_vectors *whole = predict.vectors;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            const char *one = function_of_block(blocks[i].block), *other = function_of_block(blocks[j].block);
            struct as_vectors vectors = {0};
            if (strcmp(one, other) == 0)
                continue;
            as_vectors_add(&vectors, i + 1, 100);
            as_vectors_add(&vectors, j + 1, 60);
            for (uint32_t k = 0; k < n; k++) /* with its other blocks the second has more */
                if (k != j && strcmp(function_of_block(blocks[k].block), other) == 0)
                    as_vectors_add(&vectors, k + 1, 50);
            as_vectors_end(&vectors);
            predict.vectors = &vectors;
            bool joined = vectors.list.data[0].instructions > 160;
            assert_string_equal(as_predict_function(&predict, &(struct as_chosen_point){.interval = 0}),
                                joined ? other : one);
            predict.vectors = whole;
            as_vectors_free(&vectors);
            pairs++;
        }
    assert_true(pairs >= 6);
    struct as_predict of_file = {.vectors = whole};
    assert_null(as_predict_function(&of_file, &predict.choice.points.data[0]));
}

/* ---- number by number ---- */

static void show_points(FILE *out, const char *title)
{
    struct as_error err = AS_ERROR_INIT;
    choose_points();
    if (!as_predict_run(&predict, &err))
        fail_msg("%s", err.message);
    unit_golden_section(out, "%s", title);
    for (size_t i = 0; i < predict.results.len; i++) {
        const struct as_chosen_point *point = &predict.choice.points.data[i];
        const struct as_point_result *result = &predict.results.data[i];
        fprintf(out, "interval %u from %llu, weight %.6f: %llu instructions, %llu cycles, %.6f differ\n",
                point->interval, (unsigned long long)as_predict_start(&predict, point), point->weight,
                (unsigned long long)result->instructions, (unsigned long long)result->cycles, result->differs);
    }
    fprintf(out, "cpi %.6f\n", as_predict_cpi(&predict));
}

static void show_sweep(FILE *out)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_sweep sweep = {.predict = &predict};
    if (!as_sweep_run(&sweep, &err))
        fail_msg("%s", err.message);
    unit_golden_section(out, "a sweep");
    struct as_interval_apart apart = as_point_blame_apart(sweep.blame);
    fprintf(out, "cpi %.6f, differs %.6f, apart %u %.6f\n", sweep.truth, sweep.differs, apart.interval, apart.part);
    for (size_t i = 0; i < sweep.cpi.len; i++)
        fprintf(out, "interval %zu: cpi %.6f\n", i, sweep.cpi.data[i]);
    for (uint32_t i = 0; i < predict.choice.points.len; i++) {
        struct as_swept_phase phase = as_sweep_phase(&sweep, i);
        fprintf(out, "phase %u, weight %.6f: point %.6f, mean %.6f, %.6f to %.6f, adds %.6f, blamed %s %.6f\n", i,
                phase.weight, phase.point, phase.mean, phase.least, phase.most, phase.adds,
                phase.function ? phase.function : "-", phase.blamed);
    }
    as_sweep_free(&sweep);
}

/* The machine's numbers: a change of the core model changes them. */
static void numbers(void **state)
{
    need_qemu();
    FILE *out = unit_golden_begin();
    show_points(out, "points");
    show_sweep(out);
    as_predict_free(&predict);
    predict = (struct as_predict){.request = &request};
    request.warm = 1000;
    request.interval = 3000;
    request.choose.max_k = 5;
    show_points(out, "smaller points, warmed for less");
    show_sweep(out);
    as_predict_free(&predict);
    predict = (struct as_predict){.request = &request};
    request.loop = "work";
    show_points(out, "points of a loop");
    unit_golden_check(out, "predict_run.txt");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {TEST(vectors_are_the_run),
                                       TEST(points_are_measured),
                                       TEST(sweeps),
                                       TEST(too_short),
                                       TEST(intervals_of_a_loop),
                                       TEST(both_runs_are_metered),
                                       TEST(never_reached),
                                       TEST(a_longer_run),
                                       TEST(other_code),
                                       TEST(tolerable_differences),
                                       TEST(the_largest_function),
                                       TEST(numbers)};
    arguments = argv;
    plugin = argc == 4 ? realpath(argv[3], NULL) : NULL;
    int failed = plugin ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
    free(plugin);
    return failed;
}
