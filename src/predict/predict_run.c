/* The CPI that simulation points predict: the program runs again, is only counted up to each point, warms caches and
 * predictors before it, and runs through the core in it.
 *
 * That run is the same as the first only if the program is deterministic. What each point executes is therefore held
 * against its vector, by lines of code: blocks can be cut in other places where accesses are recorded. */
#include "predict/predict.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

uint64_t as_predict_start(const struct as_predict *predict, const struct as_chosen_point *point)
{
    uint64_t start = 0;
    bool counted =
        predict->request->loop || predict->vectors == &predict->read; /* nobody says how long intervals are */
    if (!counted)
        return (uint64_t)point->interval * predict->request->interval;
    for (uint32_t i = 0; i < point->interval; i++)
        start += predict->vectors->list.data[i].instructions;
    return start;
}

/* ---- is it the same run? ---- */

struct check {
    struct as_predict *predict;
    struct as_map lines;
    uint32_t region; /* that is open */
};

static void close_check(struct check *check)
{
    struct as_predict *predict = check->predict;
    struct as_map first = {0};
    if (check->region == AS_REGION_NONE)
        return;
    as_collect_lines(predict->collect, predict->vectors, predict->choice.points.data[check->region].interval, &first);
    predict->results.data[check->region].differs = as_map_apart(&first, &check->lines);
    as_map_free(&first);
    as_map_free(&check->lines);
    check->lines = (struct as_map){0};
}

static void on_stretch(void *context, const struct as_stretch *stretch)
{
    struct check *check = context;
    close_check(check);
    check->region = stretch->region;
}

static void on_block(void *context, struct as_thread *thread, const struct as_block_exec *exec)
{
    struct check *check = context;
    for (uint32_t i = exec->first + exec->continues; i < exec->end; i++)
        ++*as_map_put(&check->lines, as_code_line(exec->block->image, exec->block->insns[i]->address));
}

static const struct as_sink check_sink = {.block = on_block, .stretch = on_stretch};

/* ---- the run ---- */

/* Instructions before a point that run through the pipeline unmeasured: what only timed execution teaches the core (which
 * loads wait for which stores) is known in the point then. */
enum { SETTLE = 100000 };

/* From one execution of the loop's head to another. What only timed execution teaches the core has to be learnt in the
 * interval: its start is not known in advance. */
static bool add_by_loop(const struct as_predict *predict, const struct as_chosen_point *point,
                        struct as_regions *regions, struct as_error *err)
{
    uint64_t from = as_collect_pass(predict->collect, point->interval);
    uint64_t to = as_collect_pass(predict->collect, point->interval + 1);
    char *start = from ? as_format("%s#%" PRIu64, predict->request->loop, from) : as_strdup("");
    char *stop = to ? as_format("%s#%" PRIu64, predict->request->loop, to) : as_strdup("");
    char *text = as_format("%s..%s,warm=all,weight=%.17g", start, stop, point->weight);
    bool ok = as_regions_parse(regions, text, err);
    free(start);
    free(stop);
    free(text);
    return ok;
}

static bool make_regions(const struct as_predict *predict, struct as_regions *regions, struct as_error *err)
{
    for (size_t i = 0; i < predict->choice.points.len; i++) {
        const struct as_chosen_point *point = &predict->choice.points.data[i];
        if (predict->request->loop) {
            if (!add_by_loop(predict, point, regions, err))
                return false;
            continue;
        }
        struct as_region *region = as_regions_add(regions);
        region->start = (struct as_point){.kind = AS_POINT_INSTRUCTION, .number = as_predict_start(predict, point)};
        region->max = predict->request->interval;
        region->warm = predict->request->warm;
        region->settle = predict->request->interval < SETTLE ? predict->request->interval : SETTLE;
        region->weight = point->weight;
        region->text = as_format("interval %" PRIu32, point->interval);
    }
    return as_regions_check(regions, err);
}

static bool run_model(struct as_predict *predict, const struct as_regions *regions, struct as_modelled *modelled,
                      struct as_error *err)
{
    const struct as_predict_request *request = predict->request;
    struct check check = {.predict = predict, .region = AS_REGION_NONE};
    if (!as_modelled_open(modelled, request->core, &request->set, err))
        return false;
    as_model_set_memo(modelled->model, &request->memo);
    if (predict->collect)
        as_model_add_also(modelled->model, &check_sink, &check);
    struct as_engine_options engine = request->engine;
    engine.regions = regions;
    engine.discard_stdout = predict->collect != NULL; /* the first run has shown it */
    modelled->meter = request->meter;
    modelled->meter_context = request->meter_context;
    bool ok = as_modelled_run(modelled, engine, err);
    close_check(&check);
    return ok;
}

static bool check_reached(const struct as_predict *predict, struct as_error *err)
{
    for (size_t i = 0; i < predict->results.len; i++)
        if (predict->results.data[i].instructions == 0)
            return as_error_set(err,
                                "interval %" PRIu32
                                " was never reached: the program ends before it, or does not do the "
                                "same in every run",
                                predict->choice.points.data[i].interval);
    return true;
}

bool as_predict_run(struct as_predict *predict, struct as_error *err)
{
    struct as_regions regions = {0};
    struct as_modelled modelled = {0};
    for (size_t i = 0; i < predict->choice.points.len; i++)
        *as_vec_push(&predict->results) = (struct as_point_result){.differs = NAN};
    as_input_rewind(&predict->input);
    bool ok = make_regions(predict, &regions, err) && run_model(predict, &regions, &modelled, err);
    for (uint32_t i = 0; ok && i < predict->results.len; i++) {
        const struct as_counters *counters = as_model_region(modelled.model, i);
        predict->results.data[i].instructions = counters->instructions;
        predict->results.data[i].cycles = counters->cycles;
    }
    predict->predicted = modelled.result.engine;
    as_modelled_free(&modelled);
    as_regions_free(&regions);
    if (as_run_end_is_cut(&predict->predicted.end)) /* a mean of some points says nothing about the others */
        as_vec_clear(&predict->results);
    return ok && check_reached(predict, err);
}

double as_predict_cpi(const struct as_predict *predict)
{
    double cpi = 0, weight = 0;
    for (size_t i = 0; i < predict->results.len; i++) {
        const struct as_point_result *result = &predict->results.data[i];
        if (result->instructions == 0)
            continue;
        cpi += predict->choice.points.data[i].weight * (double)result->cycles / (double)result->instructions;
        weight += predict->choice.points.data[i].weight;
    }
    return weight > 0 ? cpi / weight : NAN;
}
