/* What simulation points predict, which choices of them are good, and what a point is blamed on: arithmetic over numbers that are known. */
#include "predict/sweep.h"

#include "unit.h"

#include <math.h>

/* ---- the prediction ---- */

static void add_point(struct as_predict *predict, struct as_chosen_point point, struct as_point_result result)
{
    *as_vec_push(&predict->choice.points) = point;
    *as_vec_push(&predict->results) = result;
}

static void a_weighted_mean(void **state)
{
    const struct as_predict_request request = {.interval = 1000};
    struct as_predict predict = {.request = &request};
    double part = -1;
    assert_true(isnan(as_predict_cpi(&predict)));
    assert_null(as_predict_worst(&predict, &part));
    assert_float_equal(part, 0, 0);
    add_point(&predict, (struct as_chosen_point){.interval = 2, .weight = 0.5},
              (struct as_point_result){.instructions = 1000, .cycles = 2000, .differs = NAN});
    add_point(&predict, (struct as_chosen_point){.interval = 7, .weight = 0.25},
              (struct as_point_result){.instructions = 500, .cycles = 250, .differs = 0.125});
    assert_float_equal(as_predict_cpi(&predict), (0.5 * 2 + 0.25 * 0.5) / 0.75, 1e-12);
    add_point(&predict, (struct as_chosen_point){.interval = 9, .weight = 0.25},
              (struct as_point_result){.differs = 0.0625}); /* never reached: the others stand for it */
    assert_float_equal(as_predict_cpi(&predict), (0.5 * 2 + 0.25 * 0.5) / 0.75, 1e-12);
    predict.results.data[2].instructions = 1000;
    predict.results.data[2].cycles = 4000;
    assert_float_equal(as_predict_cpi(&predict), 0.5 * 2 + 0.25 * 0.5 + 0.25 * 4, 1e-12);
    assert_ptr_equal(as_predict_worst(&predict, &part), &predict.choice.points.data[1]);
    assert_float_equal(part, 0.125, 0);
    as_predict_free(&predict);
}

static void add_interval(struct as_vectors *vectors, uint32_t block, uint64_t instructions)
{
    as_vectors_add(vectors, block, instructions);
    as_vectors_end(vectors);
}

/* Intervals that end at a loop are not all as long as was asked for. */
static void where_a_point_starts(void **state)
{
    struct as_predict_request request = {.interval = 1000};
    struct as_predict predict = {.request = &request};
    const struct as_chosen_point point = {.interval = 2};
    add_interval(&predict.read, 1, 1100);
    add_interval(&predict.read, 1, 1300);
    add_interval(&predict.read, 1, 1700);
    struct as_vectors of_run = predict.read;
    predict.vectors = &of_run;
    assert_int_equal(as_predict_start(&predict, &point), 2000);
    predict.vectors = &predict.read; /* of a file */
    assert_int_equal(as_predict_start(&predict, &point), 2400);
    predict.vectors = &of_run;
    request.loop = "main+8";
    assert_int_equal(as_predict_start(&predict, &point), 2400);
    as_predict_free(&predict);
}

/* ---- good choices ---- */

struct bed {
    struct as_predict_request request;
    struct as_predict predict;
    struct as_sweep sweep;
};

static void set_up(struct bed *bed, uint32_t max_k)
{
    *bed = (struct bed){.request = {.choose = {.max_k = max_k, .seed = 1}}};
    bed->predict.request = &bed->request;
    bed->sweep.predict = &bed->predict;
}

static struct as_sweep_trial *add_trial(struct bed *bed, uint64_t simulated, double error)
{
    struct as_sweep_trial *trial = as_vec_push(&bed->sweep.trials);
    *trial = (struct as_sweep_trial){
        .sweep = "interval", .simulated = simulated, .error = error, .coverage = 1, .joined = 1, .seed = 1, .max_k = 1};
    return trial;
}

/* What lies behind the end of the list is no trial, however good and cheap it was. */
static void behind_the_end(struct bed *bed)
{
    add_trial(bed, 1, 0)->front = true;
    bed->sweep.trials.len--;
}

static void on_the_front(void **state)
{
    struct bed bed;
    as_sweep_trials front = {0};
    set_up(&bed, 3);
    add_trial(&bed, 300, 0.02);
    add_trial(&bed, 100, 0.10);
    add_trial(&bed, 200, 0.10); /* dearer and no better */
    add_trial(&bed, 200, 0.05);
    add_trial(&bed, 200, 0.05);          /* its equal is on the front, too, and is shown once */
    add_trial(&bed, 50, 0.01)->seed = 2; /* of another seed: lucky, not good */
    add_trial(&bed, 400, 0.03);
    add_trial(&bed, 350, 0.02);                 /* as good as one that costs less */
    add_trial(&bed, 90, 0.001)->coverage = 0.9; /* of a part of the run */
    add_trial(&bed, 300, 0.04);                 /* worse than the first one, which costs the same */
    behind_the_end(&bed);
    as_sweep_find_front(&bed.sweep);
    static const bool expected[] = {true, true, false, true, true, false, false, false, false, false};
    for (size_t i = 0; i < bed.sweep.trials.len; i++)
        assert_int_equal(bed.sweep.trials.data[i].front, expected[i]);
    as_sweep_front(&bed.sweep, &front);
    assert_int_equal(front.len, 3);
    assert_int_equal(front.data[0]->simulated, 100);
    assert_int_equal(front.data[1]->simulated, 200);
    assert_float_equal(front.data[1]->error, 0.05, 0);
    assert_int_equal(front.data[2]->simulated, 300);
    as_vec_free(&front);
    as_sweep_free(&bed.sweep);
}

static void the_cheapest_within(void **state)
{
    struct bed bed;
    set_up(&bed, 3);
    add_trial(&bed, 300, 0.01);
    add_trial(&bed, 200, 0.04);
    add_trial(&bed, 200, 0.03);
    add_trial(&bed, 100, 0.01)->coverage = 0.5; /* of a part of the run: no choice for all of it */
    add_trial(&bed, 100, 0.01)->seed = 2;
    behind_the_end(&bed);
    assert_ptr_equal(as_sweep_cheapest(&bed.sweep, 0.05), &bed.sweep.trials.data[2]);
    assert_ptr_equal(as_sweep_cheapest(&bed.sweep, 0.01), &bed.sweep.trials.data[0]);
    assert_null(as_sweep_cheapest(&bed.sweep, 0.005));
    as_sweep_free(&bed.sweep);
}

static void add_phases(struct bed *bed, uint32_t max_k, uint64_t simulated, double one, double other)
{
    add_trial(bed, simulated, one)->max_k = max_k;
    add_trial(bed, simulated, other)->max_k = max_k;
}

static void where_errors_saturate(void **state)
{
    struct bed bed;
    double least;
    set_up(&bed, 4);
    add_phases(&bed, 1, 100, 0.20, 0.10);
    add_phases(&bed, 2, 200, 0.05, 0.01);
    add_phases(&bed, 3, 300, 0.024, 0.02); /* within a percentage point of the least, and no cheaper one is better */
    add_phases(&bed, 4, 400, 0.02, 0.01);
    add_trial(&bed, 150, 9)->coverage = 0.5; /* neither counts */
    add_trial(&bed, 150, 9)->joined = 2;
    struct as_saturation at = as_sweep_saturation(&bed.sweep, 1);
    assert_int_equal(at.trials, 2);
    assert_float_equal(at.average, 0.15, 1e-12);
    assert_float_equal(at.most, 0.20, 0);
    assert_float_equal(at.simulated, 100, 0);
    assert_int_equal(as_sweep_saturates_at(&bed.sweep, &least), 3);
    assert_float_equal(least, 0.015, 1e-12);
    bed.sweep.trials.data[2].error = 0.02; /* two phases are now within a point, and better than three in both errors */
    assert_int_equal(as_sweep_saturates_at(&bed.sweep, &least), 2);
    bed.sweep.trials.data[2].error = 0.024; /* two are as good as three, with the same errors: cheaper is better */
    bed.sweep.trials.data[3].error = 0.02;
    bed.sweep.trials.data[0].error = bed.sweep.trials.data[1].error = 9;
    assert_int_equal(as_sweep_saturates_at(&bed.sweep, &least), 2);
    bed.sweep.trials.data[2].error = 9;
    assert_int_equal(as_sweep_saturates_at(&bed.sweep, &least), 3);
    for (size_t i = 0; i < 8; i++) /* a percentage point worse than the best, which is right */
        bed.sweep.trials.data[i].error = i < 2 ? 0.02 : i < 4 ? 0.01 : 0;
    assert_int_equal(as_sweep_saturates_at(&bed.sweep, &least), 2);
    struct as_saturation none = as_sweep_saturation(&bed.sweep, 9);
    assert_int_equal(none.trials, 0);
    assert_float_equal(none.average, 0, 0);
    assert_float_equal(none.simulated, 0, 0);
    bed.request.choose.max_k = 0;
    assert_int_equal(as_sweep_saturates_at(&bed.sweep, &least), 0);
    as_sweep_free(&bed.sweep);
}

static void add_seeds(struct bed *bed, uint32_t joined, uint32_t max_k, uint64_t simulated, double own, double other)
{
    struct as_sweep_trial *trial = add_trial(bed, simulated, own);
    trial->joined = joined;
    trial->max_k = max_k;
    trial = add_trial(bed, simulated, other);
    trial->joined = joined;
    trial->max_k = max_k;
    trial->sweep = "seed";
    trial->seed = 6;
}

static void recommended_over_all_seeds(void **state)
{
    struct bed bed;
    set_up(&bed, 2);
    add_seeds(&bed, 1, 1, 100, 0.00, 0.10); /* lucky once */
    add_seeds(&bed, 1, 2, 200, 0.03, 0.03);
    add_trial(&bed, 50, 0)->sweep = "dims"; /* of other dimensions: not asked for */
    struct as_steadiness at = as_sweep_steadiness(&bed.sweep, 1, 1);
    assert_int_equal(at.seeds, 2);
    assert_float_equal(at.average, 0.05, 1e-12);
    assert_float_equal(at.most, 0.10, 0);
    struct as_steadiness none = as_sweep_steadiness(&bed.sweep, 4, 1);
    assert_int_equal(none.seeds, 0);
    assert_true(none.average == 0 && none.most == 0 && none.simulated == 0);
    assert_int_equal(as_sweep_recommend(&bed.sweep).max_k, 2); /* none is within 1 %: the best */
    add_seeds(&bed, 2, 1, 400, 0.009, 0.009);
    add_seeds(&bed, 2, 2, 800, 0.001, 0.001);
    at = as_sweep_recommend(&bed.sweep);
    assert_int_equal(at.joined, 2); /* the cheapest that is, and not the best */
    assert_int_equal(at.max_k, 1);
    assert_float_equal(at.simulated, 400, 0);
    as_sweep_free(&bed.sweep);
}

/* ---- blame ---- */

/* Two phases: intervals 0, 1 and 3 with point 1, and interval 2, whose point is itself. */
static void make_phases(struct as_choice *choice, struct as_vectors *vectors)
{
    static const uint32_t groups[] = {0, 0, 1, 0};
    static const uint64_t lengths[] = {1000, 500, 1000, 500};
    for (size_t i = 0; i < 4; i++) {
        *as_vec_push(&choice->groups) = groups[i];
        add_interval(vectors, 1, lengths[i]);
    }
    *as_vec_push(&choice->groups) = 0; /* what lies behind the end is no interval */
    choice->groups.len--;
    add_interval(vectors, 1, 900);
    vectors->list.len--;
    *as_vec_push(&choice->points) = (struct as_chosen_point){.interval = 1, .group = 0, .weight = 2.0 / 3};
    *as_vec_push(&choice->points) = (struct as_chosen_point){.interval = 2, .group = 1, .weight = 1.0 / 3};
}

static void spend(struct as_time_spent *spent, uint32_t interval, double slow, double steady)
{
    as_time_spent_add(spent, as_time_spent_function(spent, "steady"), steady);
    as_time_spent_add(spent, as_time_spent_function(spent, "slow"), slow);
    as_time_spent_end(spent, interval);
}

static void the_function_that_differs(void **state)
{
    struct as_choice choice = {0};
    struct as_vectors vectors = {0};
    struct as_time_spent spent;
    make_phases(&choice, &vectors);
    as_time_spent_init(&spent);
    spend(&spent, 0, 1000, 1000);
    spend(&spent, 1, 1500, 400); /* the point: 3 and 0.8 cycles an instruction; on average 1.75 and 0.95 */
    spend(&spent, 3, 1000, 500); /* interval 2 did not end by itself: it has nothing */
    struct as_blamed blamed = as_time_spent_blame(&spent, &choice, 0, &vectors);
    assert_string_equal(blamed.function, "slow");
    assert_float_equal(blamed.cpi, 3 - 3500.0 / 2000, 1e-12);
    blamed = as_time_spent_blame(&spent, &choice, 1, &vectors); /* a phase of one interval differs from nothing */
    assert_null(blamed.function);
    assert_float_equal(blamed.cpi, 0, 0);
    choice.points.data[0].interval = 0; /* 1 and 1: less than on average in all, so a function that has less */
    blamed = as_time_spent_blame(&spent, &choice, 0, &vectors);
    assert_string_equal(blamed.function, "slow");
    assert_float_equal(blamed.cpi, 1 - 3500.0 / 2000, 1e-12);
    as_time_spent_free(&spent);
    as_choice_free(&choice);
    as_vectors_free(&vectors);
}

/* Any of the functions may be the one, the first that was met, too. */
static void any_function(void **state)
{
    for (int which = 0; which < 3; which++)
        for (int more = 0; more < 2; more++) {
            static const char *const names[] = {"first", "second", "third"};
            struct as_choice choice = {0};
            struct as_vectors vectors = {0};
            struct as_time_spent spent;
            make_phases(&choice, &vectors);
            as_time_spent_init(&spent);
            for (uint32_t interval = 0; interval < 4; interval++) {
                for (int i = 0; i < 3; i++)
                    as_time_spent_add(&spent, as_time_spent_function(&spent, names[i]),
                                      interval == 1 ? (i == which ? (more ? 1500 : 100) : 500 + 10 * i) : 1000);
                as_time_spent_end(&spent, interval);
            }
            struct as_blamed blamed = as_time_spent_blame(&spent, &choice, 0, &vectors);
            assert_string_equal(blamed.function, names[which]);
            assert_float_equal(blamed.cpi, (more ? 1500 : 100) / 500.0 - (2000 + (more ? 1500 : 100)) / 2000.0, 1e-12);
            as_time_spent_free(&spent);
            as_choice_free(&choice);
            as_vectors_free(&vectors);
        }
}

/* A function that takes less than a cycle of an interval counts as well. */
static void parts_of_a_cycle(void **state)
{
    struct as_choice choice = {0};
    struct as_vectors vectors = {0};
    struct as_time_spent spent;
    make_phases(&choice, &vectors);
    as_time_spent_init(&spent);
    spend(&spent, 0, 0, 1000);
    spend(&spent, 1, 0.5, 500);
    spend(&spent, 3, 0, 500);
    struct as_blamed blamed = as_time_spent_blame(&spent, &choice, 0, &vectors);
    assert_string_equal(blamed.function, "slow");
    assert_float_equal(blamed.cpi, 0.5 / 500 - 0.5 / 2000, 1e-12);
    as_time_spent_free(&spent);
    as_choice_free(&choice);
    as_vectors_free(&vectors);
}

/* ---- all choices ---- */

enum { INTERVALS = 18, LENGTH = 1000, MAX_K = 3, SEEDS = 10, LENGTHS = 3 };

/* Two kinds of intervals in turn, a pair of each, that take 1 and 3 cycles an instruction. */
static void make_run(struct bed *bed)
{
    set_up(bed, MAX_K);
    bed->request.choose =
        (struct as_choose_options){.max_k = MAX_K, .dims = 4, .tries = 2, .seed = 7, .threshold = 0.9};
    for (uint32_t i = 0; i < INTERVALS; i++) {
        bool slow = i / 2 % 2;
        add_interval(&bed->predict.read, slow ? 5 : 2, LENGTH);
        *as_vec_push(&bed->sweep.cpi) = slow ? 3 : 1;
    }
    bed->predict.vectors = &bed->predict.read;
    bed->sweep.truth = (10 * 1 + 8 * 3) / 18.0;
    as_sweep_try(&bed->sweep);
}

static size_t count(const struct as_sweep *sweep, const char *name, uint32_t joined)
{
    size_t n = 0;
    for (size_t i = 0; i < sweep->trials.len; i++)
        n += strcmp(sweep->trials.data[i].sweep, name) == 0 && sweep->trials.data[i].joined == joined;
    return n;
}

/* What each choice says of the run follows from its points: their cost, and the mean that they predict. */
static void check_trial(const struct as_sweep *sweep, const struct as_sweep_trial *trial)
{
    assert_true(trial->phases >= 1 && trial->phases <= trial->max_k);
    assert_float_equal(trial->error, fabs(trial->cpi / sweep->truth - 1), 1e-12);
    assert_true(trial->cpi >= 1 - 1e-9 && trial->cpi <= 3 + 1e-9);
    assert_true(trial->simulated <= (uint64_t)trial->phases * trial->joined * LENGTH && trial->simulated >= LENGTH);
    assert_true(trial->seed == 7 || strcmp(trial->sweep, "seed") == 0);
    assert_true(trial->dims == 4 || strcmp(trial->sweep, "dims") == 0);
    assert_true(trial->threshold == 0.9 || strcmp(trial->sweep, "threshold") == 0);
    assert_true(trial->coverage == 1 || strcmp(trial->sweep, "coverage") == 0);
}

/* Each parameter is varied with each number of phases, for each length of which there are four intervals at least. */
static void tries_all(void **state)
{
    struct bed bed;
    make_run(&bed);
    const struct as_sweep *sweep = &bed.sweep;
    static const uint32_t joined[LENGTHS] = {1, 2, 4};
    for (size_t i = 0; i < LENGTHS; i++) {
        assert_int_equal(count(sweep, "dims", joined[i]), AS_POINTS_DIMS_MOST * MAX_K);
        assert_int_equal(count(sweep, "interval", joined[i]), MAX_K);
        assert_int_equal(count(sweep, "threshold", joined[i]), 21 * MAX_K);
        assert_int_equal(count(sweep, "coverage", joined[i]), 10 * MAX_K);
        assert_int_equal(count(sweep, "seed", joined[i]), SEEDS * MAX_K);
    }
    assert_int_equal(sweep->trials.len, LENGTHS * (AS_POINTS_DIMS_MOST + 1 + 21 + 10 + SEEDS) * MAX_K + 2);
    for (size_t i = 0; i < sweep->trials.len; i++)
        check_trial(sweep, &sweep->trials.data[i]);
    as_sweep_free(&bed.sweep);
    as_predict_free(&bed.predict);
}

/* Parameters go in equal steps, each as often as there are numbers of phases; seeds are as far apart as the tries of k-means. */
static void in_equal_steps(void **state)
{
    struct bed bed;
    make_run(&bed);
    size_t dims = 0, thresholds = 0, coverages = 0, seeds = 0;
    for (size_t i = 0; i < bed.sweep.trials.len; i++) {
        const struct as_sweep_trial *trial = &bed.sweep.trials.data[i];
        if (strcmp(trial->sweep, "dims") == 0)
            assert_int_equal(trial->dims, 1 + dims++ / MAX_K % AS_POINTS_DIMS_MOST);
        if (strcmp(trial->sweep, "threshold") == 0)
            assert_float_equal(trial->threshold, 0.05 * (double)(thresholds++ / MAX_K % 21), 1e-12);
        if (strcmp(trial->sweep, "coverage") == 0)
            assert_float_equal(trial->coverage, 0.1 * (double)(1 + coverages++ / MAX_K % 10), 1e-12);
        if (strcmp(trial->sweep, "seed") == 0)
            assert_int_equal(trial->seed, 7 + 2 * (1 + seeds++ / MAX_K % SEEDS));
        if (i + 2 < bed.sweep.trials.len)
            assert_int_equal(trial->max_k, 1 + i % MAX_K);
    }
    as_sweep_free(&bed.sweep);
    as_predict_free(&bed.predict);
}

/* Two points are exact, one is not; a tenth of the run is one kind alone. Intervals of four of the run are half of each kind. */
static void known_predictions(void **state)
{
    struct bed bed;
    make_run(&bed);
    const struct as_sweep_trial *asked = as_sweep_asked(&bed.sweep), *one = as_sweep_long(&bed.sweep);
    assert_string_equal(asked->sweep, "default");
    assert_int_equal(asked->phases, 2);
    assert_int_equal(asked->simulated, 2 * LENGTH);
    assert_float_equal(asked->cpi, bed.sweep.truth, 1e-9);
    assert_string_equal(one->sweep, "long");
    assert_int_equal(one->joined, 2);
    assert_int_equal(one->max_k, 1);
    assert_int_equal(one->simulated, 2 * LENGTH);
    assert_true(fabs(one->cpi - 1) < 1e-9 || fabs(one->cpi - 3) < 1e-9);
    for (size_t i = 0; i < bed.sweep.trials.len; i++) {
        const struct as_sweep_trial *trial = &bed.sweep.trials.data[i];
        if (strcmp(trial->sweep, "coverage") == 0 && trial->coverage < 0.11 && trial->joined < 4)
            assert_float_equal(trial->cpi, 1, 1e-9);
        if (strcmp(trial->sweep, "interval") == 0 && trial->joined == 4 && trial->max_k == 1 &&
            trial->simulated == 4 * LENGTH)
            assert_float_equal(trial->cpi, 2, 1e-9);
    }
    as_sweep_free(&bed.sweep);
    as_predict_free(&bed.predict);
}

/* Intervals of the given mixtures of two blocks, in tenths; the CPI follows from them. */
static void make_mixed(struct bed *bed, const char *tenths, uint32_t max_k)
{
    double cycles = 0;
    size_t n = strlen(tenths);
    set_up(bed, max_k);
    bed->request.choose =
        (struct as_choose_options){.max_k = max_k, .dims = 4, .tries = 5, .seed = 7, .threshold = 0.999};
    for (size_t i = 0; i < n; i++) {
        unsigned part = (unsigned)(tenths[i] - '0');
        if (part < 9)
            as_vectors_add(&bed->predict.read, 2, (9 - part) * LENGTH / 9);
        if (part > 0)
            as_vectors_add(&bed->predict.read, 5, part * LENGTH / 9);
        as_vectors_end(&bed->predict.read);
        *as_vec_push(&bed->sweep.cpi) = 1 + part;
        cycles += 1 + part;
    }
    bed->predict.vectors = &bed->predict.read;
    bed->sweep.truth = cycles / (double)n;
}

/* The long point is as long as the others together: a shorter stretch at the end is not one, though it be the most usual one, unless
 * there is no other. */
static void one_long_point(void **state)
{
    static const struct {
        const char *tenths;
        uint32_t max_k, joined;
        uint64_t simulated;
        double cpi; /* 0: either kind's */
    } cases[] = {
        {"00990099009900994", 2, 2, 2 * LENGTH, 0}, /* the last is half of each kind */
        {"0099009900994", 2, 2, 2 * LENGTH, 0},
        {"009900990099", 2, 2, 2 * LENGTH, 0},
        {"00000", 1, 1, LENGTH, 1},
        {"09", 2, 2, 2 * LENGTH, 5.5},
        {"090", 2, 2, 2 * LENGTH, 5.5},
        {"9", 1, 1, LENGTH, 10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bed bed;
        make_mixed(&bed, cases[i].tenths, cases[i].max_k);
        as_sweep_try(&bed.sweep);
        const struct as_sweep_trial *one = as_sweep_long(&bed.sweep);
        assert_int_equal(as_sweep_asked(&bed.sweep)->phases, cases[i].joined);
        assert_int_equal(one->joined, cases[i].joined);
        assert_int_equal(one->simulated, cases[i].simulated);
        assert_int_equal(one->phases, 1);
        if (cases[i].cpi > 0)
            assert_float_equal(one->cpi, cases[i].cpi, 1e-9);
        else
            assert_true(fabs(one->cpi - 1) < 1e-9 || fabs(one->cpi - 10) < 1e-9);
        as_sweep_free(&bed.sweep);
        as_predict_free(&bed.predict);
    }
}

struct tried {
    uint64_t n, last, all;
    unsigned ended;
};

static void on_tried(void *context, uint64_t done, uint64_t all)
{
    struct tried *tried = context;
    assert_int_equal(done, ++tried->last);
    assert_true(tried->n == 0 || all == tried->all);
    tried->n++;
    tried->all = all;
}

static void on_end(void *context)
{
    ((struct tried *)context)->ended++;
}

/* Progress is told after each trial, of as many as there will be: a length of at least four intervals doubles them. */
static void progress_of_trials(void **state)
{
    static const struct as_meter meter = {.tried = on_tried, .end = on_end};
    static const size_t intervals[] = {3, 7, 8, 9, 16, 17}, lengths[] = {1, 1, 2, 2, 3, 3};
    for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++) {
        struct bed bed;
        struct tried tried = {0};
        char tenths[] = "09090909090909090";
        tenths[intervals[i]] = 0;
        make_mixed(&bed, tenths, 2);
        bed.request.meter = &meter;
        bed.request.meter_context = &tried;
        as_sweep_try(&bed.sweep);
        assert_int_equal(tried.n, bed.sweep.trials.len);
        assert_int_equal(tried.all, bed.sweep.trials.len);
        assert_int_equal(tried.ended, 1);
        assert_int_equal(tried.all, lengths[i] * (AS_POINTS_DIMS_MOST + 1 + 21 + 10 + SEEDS) * 2 + 2);
        as_sweep_free(&bed.sweep);
        as_predict_free(&bed.predict);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_weighted_mean),
        cmocka_unit_test(where_a_point_starts),
        cmocka_unit_test(on_the_front),
        cmocka_unit_test(the_cheapest_within),
        cmocka_unit_test(where_errors_saturate),
        cmocka_unit_test(recommended_over_all_seeds),
        cmocka_unit_test(the_function_that_differs),
        cmocka_unit_test(parts_of_a_cycle),
        cmocka_unit_test(any_function),
        cmocka_unit_test(tries_all),
        cmocka_unit_test(in_equal_steps),
        cmocka_unit_test(known_predictions),
        cmocka_unit_test(one_long_point),
        cmocka_unit_test(progress_of_trials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
