/* See choose_points.h. In the first run the program is counted in intervals, whose vectors are grouped into phases as 'assay
 * points' does it. The interval that represents a phase is measured, and others of the phase, chosen at random: how much
 * they differ is the error bar.
 *
 * With --deterministic the first run goes through the model, which only warms: threads are kept in their order by simulated time. */
#include "record/choose_points.h"

#include "base/random.h"
#include "base/show.h"
#include "base/signals.h"
#include "points/collect.h"
#include "points/simpoints.h"
#include "record/modelled.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- from files ---- */

static bool read_files(const struct as_record_points_options *options, struct as_choice *choice, struct as_error *err)
{
    FILE *points = fopen(options->points, "re");
    if (!points)
        return as_error_set(err, "%s: %s", options->points, strerror(errno));
    FILE *weights = fopen(options->weights, "re");
    bool ok = weights ? as_choice_read(choice, points, options->points, weights, options->weights, err)
                      : as_error_set(err, "%s: %s", options->weights, strerror(errno));
    if (weights)
        fclose(weights);
    fclose(points);
    return ok;
}

static void plan_files(const struct as_record_points_options *options, const struct as_choice *choice,
                       struct as_record_points *points)
{
    for (uint32_t i = 0; i < choice->points.len; i++)
        *as_vec_push(&points->points) =
            (struct as_plan_point){.start = choice->points.data[i].interval * options->interval,
                                   .phase = i,
                                   .chosen = 1,
                                   .weight = choice->points.data[i].weight};
}

/* ---- from a first run ---- */

static bool check_run(const struct as_record_points_options *options, const struct as_vectors *vectors,
                      const struct as_engine_result *result, bool in_turn, struct as_error *err)
{
    uint64_t instructions = as_vectors_instructions(vectors);
    int signal = as_signals_between(); /* from here on, one ends Assay: choosing takes its time */
    if (signal || as_run_end_is_cut(&result->end))
        return as_error_set_status(err, 128 + (signal ? signal : as_run_end_cut_by(&result->end)),
                                   "interrupted before the simulation points were chosen");
    if (in_turn && result->processes > 1)
        return as_error_set(err,
                            "the program has several processes, whose order nothing fixes: --sampled measures them");
    if (vectors->list.len < 2)
        return as_error_set(err,
                            "the program executed %s instructions, less than one interval of %s"
                            ": choose a shorter --point-interval, or leave out --points",
                            AS_COUNT(instructions), AS_COUNT(options->interval));
    return true;
}

static bool is_in_turn(const struct as_record_points_options *options)
{
    return options->engine.deterministic && options->engine.quantum;
}

/* The first run. The code of the vectors' blocks is there as long as this is. */
struct first_run {
    struct as_regions regions;
    struct as_collect *collect;
    struct as_engine_options options;
    struct as_engine *engine;    /* one of the two */
    struct as_modelled modelled; /* … is used */
    struct as_engine_result result;
};

static void free_first(struct first_run *first)
{
    as_collect_free(first->collect);
    as_engine_free(first->engine);
    if (first->modelled.model)
        as_modelled_free(&first->modelled);
    as_regions_free(&first->regions);
}

static bool count_intervals(const struct as_record_points_options *options, struct first_run *first,
                            struct as_error *err)
{
    struct as_metered program = {.sink = &as_collect_sink, .context = first->collect};
    first->options.blocks_only = true;
    return as_meter_run(options->meter, options->meter_context, first->options, &program, &first->engine,
                        &first->result, err);
}

static bool warm_intervals(const struct as_record_points_options *options, struct first_run *first,
                           struct as_error *err)
{
    if (!as_modelled_open(&first->modelled, options->core, options->set, err))
        return false;
    as_model_add_also(first->modelled.model, &as_collect_warm_sink, first->collect);
    first->modelled.meter = options->meter;
    first->modelled.meter_context = options->meter_context;
    bool ok = as_modelled_run(&first->modelled, first->options, err);
    first->result = first->modelled.result.engine;
    return ok;
}

static bool run_first(const struct as_record_points_options *options, struct first_run *first, struct as_error *err)
{
    first->collect = as_collect_new(false);
    first->options = options->engine;
    as_collect_region(&first->regions, options->interval);
    if (is_in_turn(options))
        first->regions.list.data[0].mode = AS_MODE_WARM;
    first->options.regions = &first->regions;
    first->options.discard_stdout = true; /* the second run shows it */
    return is_in_turn(options) ? warm_intervals(options, first, err) : count_intervals(options, first, err);
}

/* The intervals of a phase besides the one that represents it, in a random order. */
typedef AS_VEC(uint32_t) intervals;

static void shuffle_others(const struct as_choice *choice, uint32_t phase, uint64_t *seed, intervals *others)
{
    as_vec_clear(others);
    for (uint32_t i = 0; i < choice->groups.len; i++)
        if (choice->groups.data[i] == phase && i != choice->points.data[phase].interval)
            *as_vec_push(others) = i;
    for (size_t i = others->len; i > 1; i--) {
        size_t with = as_random_below(seed, i);
        uint32_t last = others->data[i - 1];
        others->data[i - 1] = others->data[with];
        others->data[with] = last;
    }
}

static int by_start(const void *a, const void *b)
{
    const struct as_plan_point *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* How many intervals of a phase are measured: its part of `per_phase` for each phase, so that large phases are known better than
 * small ones; two at least, by which the error is known. */
static uint32_t count_chosen(const struct as_record_points_options *options, const struct as_choice *choice,
                             uint32_t phase, uint32_t of)
{
    double part = choice->points.data[phase].weight * (double)choice->points.len * (double)options->per_phase;
    uint32_t chosen = options->per_phase < 2     ? 1
                      : part < 2                 ? 2
                      : part < AS_PLAN_PER_PHASE ? (uint32_t)(part + 0.5)
                                                 : AS_PLAN_PER_PHASE;
    return chosen < of ? chosen : of;
}

static void plan_phases(const struct as_record_points_options *options, const struct as_choice *choice,
                        struct as_record_points *points)
{
    uint64_t seed = options->seed;
    intervals others = {0};
    for (uint32_t phase = 0; phase < choice->points.len; phase++) {
        shuffle_others(choice, phase, &seed, &others);
        uint32_t of = (uint32_t)others.len + 1;
        uint32_t chosen = count_chosen(options, choice, phase, of);
        for (uint32_t i = 0; i < chosen; i++)
            *as_vec_push(&points->points) = (struct as_plan_point){
                .start = (i ? others.data[i - 1] : choice->points.data[phase].interval) * options->interval,
                .phase = phase,
                .number = i,
                .chosen = chosen,
                .of = options->per_phase > 1 || of == 1 ? of : 0,
                .weight = choice->points.data[phase].weight / chosen};
    }
    as_vec_free(&others);
    qsort(points->points.data, points->points.len, sizeof *points->points.data, by_start);
}

static bool choose(const struct as_record_points_options *options, struct as_record_points *points,
                   struct as_choice *choice, struct as_error *err)
{
    struct as_choose_options how = AS_CHOOSE_DEFAULT;
    struct first_run first = {0};
    how.max_k = (uint32_t)options->max_k;
    how.seed = options->seed;
    bool ok = run_first(options, &first, err);
    const struct as_vectors *vectors = ok ? as_collect_finish(first.collect) : NULL;
    ok = ok && check_run(options, vectors, &first.result, is_in_turn(options), err);
    if (ok) {
        as_choose(vectors, &how, choice);
        points->plan.instructions = as_vectors_instructions(vectors);
        points->plan.again = is_in_turn(options) && first.result.threads > 1;
        plan_phases(options, choice, points);
        for (size_t i = 0; i < points->points.len; i++)
            as_collect_lines(first.collect, vectors, (uint32_t)(points->points.data[i].start / options->interval),
                             &points->points.data[i].lines);
        as_input_rewind(&points->plan.input);
        as_notice(&options->notices, AS_LOG_DEBUG, "%zu simulation points of %" PRIu32 " phases", points->points.len,
                  choice->k);
    }
    free_first(&first);
    return ok;
}

bool as_record_points_choose(const struct as_record_points_options *options, struct as_record_points *points,
                             struct as_error *err)
{
    struct as_choice choice = {0};
    bool from_files = strcmp(options->points, "auto") != 0;
    points->plan.input.start = -1;
    points->plan.again = from_files && is_in_turn(options); /* whether it has threads is not known */
    points->plan.warm = options->warm;
    struct as_machine machine; /* that there is none is said before the first run, not after it */
    bool ok = as_modelled_machine(&machine, options->core, options->set, err) &&
              ((from_files && !points->plan.again) || as_input_keep(&points->plan.input, &options->notices, err)) &&
              (from_files ? read_files(options, &choice, err) : choose(options, points, &choice, err));
    if (ok && from_files)
        plan_files(options, &choice, points);
    points->plan.points = points->points.data;
    points->plan.n = points->points.len;
    points->plan.interval = options->interval;
    points->plan.jobs = (uint32_t)options->jobs;
    as_choice_free(&choice);
    return ok;
}

void as_record_points_free(struct as_record_points *points)
{
    for (size_t i = 0; i < points->points.len; i++)
        as_map_free(&points->points.data[i].lines);
    as_vec_free(&points->points);
}
