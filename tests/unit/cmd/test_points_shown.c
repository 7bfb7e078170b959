/* What assay points and assay points sweep print, as text, JSON and CSV, against golden files: phases, points and trials made by hand. */
#include "unit.h"

#include "cmd/points_shown.h"
#include "unit_golden.h"

#include <math.h>

/* ---- in place of the time that functions took (point_blame.c) ---- */

struct as_point_blame *as_point_blame_new(struct as_modelled *modelled, const struct as_collect *collect,
                                          const struct as_vectors *vectors)
{
    return NULL;
}

void as_point_blame_free(struct as_point_blame *blame)
{
}

void as_point_blame_end(struct as_point_blame *blame, size_t intervals)
{
}

struct as_interval_apart as_point_blame_apart(const struct as_point_blame *blame)
{
    return (struct as_interval_apart){0};
}

struct as_blamed as_point_blame_find(const struct as_point_blame *blame, const struct as_choice *choice, uint32_t phase,
                                     const struct as_vectors *vectors)
{
    return (struct as_blamed){.function = phase == 1 ? NULL : phase ? "last" : "first<1>", .cpi = 0.03 * (phase + 1.0)};
}

/* ---- what is shown ---- */

static char *words[] = {"./prog", "x", NULL};

/* Eight intervals of two phases, and a third of one. */
static const uint32_t groups[] = {0, 0, 1, 1, 0, 2, 1, 1};
enum { INTERVALS = sizeof groups / sizeof *groups, LENGTH = 1000000 };

static struct as_vectors make_vectors(void)
{
    struct as_vectors vectors = {0};
    for (uint32_t i = 0; i < INTERVALS; i++) {
        as_vectors_add(&vectors, 1 + groups[i], LENGTH - 10 * i);
        as_vectors_add(&vectors, 5, 10 * i + 1);
        as_vectors_end(&vectors);
    }
    return vectors;
}

static void choose(struct as_choice *choice)
{
    static const struct as_chosen_point points[] = {{1, 0, 0.375}, {3, 1, 0.5}, {5, 2, 0.125}};
    static const struct as_tried tried[] = {{1, -1234567.4, 9}, {3, 4321.5, 2}, {4, 1e19, 1}};
    choice->k = 3;
    choice->bic = 4321.5;
    for (size_t i = 0; i < 3; i++) {
        *as_vec_push(&choice->points) = points[i];
        *as_vec_push(&choice->tried) = tried[i];
    }
    for (size_t i = 0; i < INTERVALS; i++)
        *as_vec_push(&choice->groups) = groups[i];
}

static void free_predict(struct as_predict *predict, struct as_vectors *vectors)
{
    as_choice_free(&predict->choice);
    as_vec_free(&predict->results);
    as_vectors_free(vectors);
}

static void show_all(const struct as_points_shown *shown, const char *what, FILE *out)
{
    unit_golden_section(out, "%s: text", what);
    as_points_text(shown, out);
    unit_golden_section(out, "%s: JSON", what);
    assert_true(as_points_json(shown, out));
    unit_golden_section(out, "%s: CSV", what);
    as_points_csv(shown, out);
}

static void test_points(void **state)
{
    static const struct as_point_result results[] = {
        {LENGTH, 1500000, 0}, {LENGTH, 800000, 0.002}, {500000, 2000000, NAN}};
    struct as_points_options options = {.interval = LENGTH,
                                        .dims = 15,
                                        .tries = 5,
                                        .threshold = 0.9,
                                        .rule = AS_BIC_RANGE,
                                        .warm = "100k",
                                        .from_bb = "vectors.bb"};
    struct as_vectors vectors = make_vectors();
    struct as_predict_request request = {.interval = LENGTH};
    struct as_predict predict = {.request = &request, .vectors = &vectors, .seconds = 1.25};
    struct as_points_shown shown = {.options = &options, .predict = &predict};
    FILE *out = unit_golden_begin();
    choose(&predict.choice);
    show_all(&shown, "vectors of a file", out);
    for (size_t i = 0; i < 3; i++)
        *as_vec_push(&predict.results) = results[i];
    shown.argv = words;
    options.rule = AS_BIC_BEST;
    show_all(&shown, "a program", out);
    predict.results.len = 2; /* interrupted */
    as_vec_clear(&predict.choice.groups);
    as_vec_clear(&predict.choice.tried);
    predict.choice.k = 1;
    predict.vectors = NULL;
    show_all(&shown, "points of a file", out);
    unit_golden_check(out, "points_shown.txt");
    free_predict(&predict, &vectors);
}

static void add_trial(struct as_sweep *sweep, uint32_t max_k, uint32_t joined, uint64_t seed, double coverage,
                      double cpi, uint64_t simulated)
{
    *as_vec_push(&sweep->trials) = (struct as_sweep_trial){.sweep = coverage < 1 ? "coverage"
                                                                    : joined > 1 ? "interval"
                                                                                 : "seed",
                                                           .max_k = max_k,
                                                           .dims = 15,
                                                           .phases = max_k / 2 + 1,
                                                           .joined = joined,
                                                           .seed = seed,
                                                           .threshold = 0.9,
                                                           .coverage = coverage,
                                                           .cpi = cpi,
                                                           .error = fabs(cpi / sweep->truth - 1),
                                                           .simulated = simulated};
}

/* The last two are what was asked for, and one long point. */
static void add_trials(struct as_sweep *sweep)
{
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (uint32_t k = 1; k <= 4; k++) {
            add_trial(sweep, k, 1, seed, 1, 1.2 + 0.3 / (k * k) + 0.001 * (double)seed, k * LENGTH);
            add_trial(sweep, k, 2, seed, 1, 1.2 - 0.1 / k - 0.002 * (double)seed, 2 * k * LENGTH);
        }
    add_trial(sweep, 4, 1, 1, 0.9, 1.15, 2 * LENGTH);
    add_trial(sweep, 3, 1, 1, 1, 1.234, 3 * LENGTH);
    add_trial(sweep, 1, 3, 1, 1, 1.5, 3 * LENGTH);
    as_sweep_find_front(sweep);
}

static void test_sweep(void **state)
{
    static const double cpi[INTERVALS] = {1.5, 1.6, 0.75, 0.8, 1.4, 2.5, 0.9, 0.85};
    struct as_vectors vectors = make_vectors();
    struct as_predict_request request = {
        .interval = LENGTH, .choose = {.dims = 15, .max_k = 3, .seed = 1, .threshold = 0.9}, .engine = {.argv = words}};
    struct as_predict predict = {.request = &request, .vectors = &vectors};
    struct as_sweep sweep = {.predict = &predict, .truth = 1.2, .differs = 0.0001};
    FILE *out = unit_golden_begin();
    choose(&predict.choice);
    for (size_t i = 0; i < INTERVALS; i++)
        *as_vec_push(&sweep.cpi) = cpi[i];
    add_trials(&sweep);
    unit_golden_section(out, "text");
    as_sweep_text(&sweep, out);
    unit_golden_section(out, "JSON");
    assert_true(as_sweep_json(&sweep, out));
    unit_golden_section(out, "CSV");
    as_sweep_csv(&sweep, out);
    unit_golden_section(out, "intervals");
    as_sweep_intervals(&sweep, out);
    unit_golden_check(out, "points_sweep.txt");
    as_vec_free(&sweep.cpi);
    as_vec_free(&sweep.trials);
    free_predict(&predict, &vectors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_points), cmocka_unit_test(test_sweep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
