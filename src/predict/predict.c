/* See predict.h. */
#include "predict/predict.h"

#include "base/clock.h"
#include "base/show.h"
#include "base/signals.h"

#include <inttypes.h>
#include <stdlib.h>

static bool check_run(const struct as_predict *predict, struct as_error *err)
{
    const struct as_vectors *vectors = predict->vectors;
    uint64_t instructions = as_vectors_instructions(vectors);
    if (instructions == 0)
        return as_error_set(err, "the program executed no instruction");
    bool is_long = instructions > predict->request->interval;
    if (vectors->list.len == 1 && !as_run_end_is_cut(&predict->run.end) && predict->request->loop && is_long)
        return as_error_set(err, "no interval ends: '%s' was not executed after the first %" PRIu64 " instructions",
                            predict->request->loop, predict->request->interval);
    if (vectors->list.len == 1 && !as_run_end_is_cut(&predict->run.end))
        return as_error_set(err,
                            "the program executed %s instructions, less than one interval of %s"
                            ": choose a shorter --interval, or 'assay record' it whole",
                            AS_COUNT(instructions), AS_COUNT(predict->request->interval));
    return true;
}

bool as_predict_vectors(struct as_predict *predict, struct as_error *err)
{
    const struct as_predict_request *request = predict->request;
    struct as_regions regions = {0};
    struct as_engine_options engine = request->engine;
    predict->collect = as_collect_new(request->by_thread);
    bool ok = !request->loop || as_collect_by_loop(predict->collect, &regions, request->loop, request->interval, err);
    if (!request->loop)
        as_collect_region(&regions, request->interval);
    engine.regions = &regions;
    engine.blocks_only = true;
    struct as_metered program = {.sink = &as_collect_sink, .context = predict->collect};
    ok = ok &&
         as_meter_run(request->meter, request->meter_context, engine, &program, &predict->engine, &predict->run, err);
    as_regions_free(&regions);
    if (!ok)
        return false;
    int signal = as_signals_between(); /* from here on, one ends Assay: choosing takes its time */
    if (signal && !as_run_end_is_cut(&predict->run.end))
        return as_error_set_status(err, 128 + signal, "interrupted before the simulation points were chosen");
    predict->vectors = as_collect_finish(predict->collect);
    return check_run(predict, err);
}

void as_predict_choose(struct as_predict *predict)
{
    double before = as_clock_seconds();
    as_choose(predict->vectors, &predict->request->choose, &predict->choice);
    predict->seconds = as_clock_seconds() - before;
}

const char *as_predict_function(const struct as_predict *predict, const struct as_chosen_point *point)
{
    size_t n;
    if (!predict->collect)
        return NULL;
    const struct as_collect_block *blocks = as_collect_blocks(predict->collect, &n);
    const struct as_vector *vector = &predict->vectors->list.data[point->interval];
    struct as_map sums = {0};
    const char *best = NULL;
    uint64_t most = 0;
    for (size_t i = vector->first; i < vector->end; i++) {
        const struct as_vector_entry *entry = &predict->vectors->entries.data[i];
        const struct as_block *block = blocks[entry->block - 1].block;
        const struct as_image *image = as_engine_image(predict->engine, block->image);
        struct as_location location;
        as_space_find(image->space, block->address, &location);
        const char *name = location.function ? location.function : as_space_name(image->space, block->address);
        uint64_t *sum = as_map_put(&sums, (uint64_t)(uintptr_t)name);
        *sum += entry->count;
        if (*sum > most) {
            most = *sum;
            best = name;
        }
    }
    as_map_free(&sums);
    return best;
}

const struct as_chosen_point *as_predict_worst(const struct as_predict *predict, double *part)
{
    const struct as_chosen_point *worst = NULL;
    *part = 0;
    for (size_t i = 0; i < predict->results.len; i++)
        if (predict->results.data[i].differs > *part) {
            worst = &predict->choice.points.data[i];
            *part = predict->results.data[i].differs;
        }
    return worst;
}

void as_predict_free(struct as_predict *predict)
{
    as_choice_free(&predict->choice);
    as_collect_free(predict->collect);
    as_engine_free(predict->engine);
    as_vectors_free(&predict->read);
    as_vec_free(&predict->results);
}
