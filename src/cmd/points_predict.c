/* The CPI that simulation points predict: the program runs again, is only counted up to each point, warms caches and
 * predictors before it, and runs through the core in it.
 *
 * That run is the same as the first only if the program is deterministic. What each point executes is therefore held
 * against its vector, by lines of code: blocks can be cut in other places where accesses are recorded. */
#include "base/log.h"
#include "base/number.h"
#include "cmd/points.h"
#include "cmd/progress.h"
#include "record/modelled.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

uint64_t as_points_start(const struct as_points_session *session, const struct as_chosen_point *point)
{
    uint64_t start = 0;
    if (!session->options->loop)
        return (uint64_t)point->interval * session->options->interval;
    for (uint32_t i = 0; i < point->interval; i++)
        start += session->vectors->list.data[i].instructions;
    return start;
}

/* ---- is it the same run? ---- */

struct check {
    struct as_points_session *session;
    struct as_map lines;
    uint32_t region; /* that is open */
};

static void close_check(struct check *check)
{
    struct as_points_session *session = check->session;
    struct as_map first = {0};
    if (check->region == AS_REGION_NONE)
        return;
    as_collect_lines(session->collect, session->vectors, session->choice.points.data[check->region].interval, &first);
    session->results.data[check->region].differs = as_map_apart(&first, &check->lines);
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
static bool add_by_loop(const struct as_points_session *session, const struct as_chosen_point *point,
                        struct as_regions *regions, struct as_error *err)
{
    uint64_t from = as_collect_pass(session->collect, point->interval);
    uint64_t to = as_collect_pass(session->collect, point->interval + 1);
    char *start = from ? as_format("%s#%" PRIu64, session->options->loop, from) : as_strdup("");
    char *stop = to ? as_format("%s#%" PRIu64, session->options->loop, to) : as_strdup("");
    char *text = as_format("%s..%s,warm=all,weight=%.17g", start, stop, point->weight);
    bool ok = as_regions_parse(regions, text, err);
    free(start);
    free(stop);
    free(text);
    return ok;
}

static bool make_regions(const struct as_points_session *session, struct as_regions *regions, struct as_error *err)
{
    uint64_t warm = 0;
    bool all = strcmp(session->options->warm, "all") == 0;
    if (!all && !as_number_read(session->options->warm, &warm))
        return as_error_set_status(err, AS_EXIT_USAGE, "--warm=%s: not 'all' and not a number like 1000, 10k or 5M",
                                   session->options->warm);
    for (size_t i = 0; i < session->choice.points.len; i++) {
        const struct as_chosen_point *point = &session->choice.points.data[i];
        if (session->options->loop) {
            if (!add_by_loop(session, point, regions, err))
                return false;
            continue;
        }
        struct as_region *region = as_regions_add(regions);
        region->start = (struct as_point){.kind = AS_POINT_INSTRUCTION, .number = as_points_start(session, point)};
        region->max = session->options->interval;
        region->warm = all ? AS_REGION_ALL : warm;
        region->settle = session->options->interval < SETTLE ? session->options->interval : SETTLE;
        region->weight = point->weight;
        region->text = as_format("interval %" PRIu32, point->interval);
    }
    return as_regions_check(regions, err);
}

static bool run_model(struct as_points_session *session, const struct as_regions *regions, struct as_modelled *modelled,
                      struct as_error *err)
{
    const struct as_points_options *options = session->options;
    struct as_memo_options memo = as_run_memo_options(&options->run);
    struct check check = {.session = session, .region = AS_REGION_NONE};
    if (!as_modelled_open(modelled, options->core, &options->set, err))
        return false;
    as_model_set_memo(modelled->model, &memo);
    if (session->collect)
        as_model_add_also(modelled->model, &check_sink, &check);
    struct as_engine_options engine = as_run_engine_options(&options->run, session->argv);
    engine.regions = regions;
    engine.discard_stdout = session->collect != NULL; /* the first run has shown it */
    engine.stdout_to_stderr = options->json || options->csv;
    bool ok = as_progress_run(modelled, engine, err);
    close_check(&check);
    return ok;
}

static bool check_reached(const struct as_points_session *session, struct as_error *err)
{
    for (size_t i = 0; i < session->results.len; i++)
        if (session->results.data[i].instructions == 0 && !session->predicted.end.interrupted)
            return as_error_set(err,
                                "interval %" PRIu32
                                " was never reached: the program ends before it, or does not do the "
                                "same in every run",
                                session->choice.points.data[i].interval);
    return true;
}

bool as_points_predict(struct as_points_session *session, struct as_error *err)
{
    struct as_regions regions = {0};
    struct as_modelled modelled = {0};
    for (size_t i = 0; i < session->choice.points.len; i++)
        *as_vec_push(&session->results) = (struct as_point_result){.differs = NAN};
    as_input_rewind(&session->input);
    bool ok = make_regions(session, &regions, err) && run_model(session, &regions, &modelled, err);
    for (uint32_t i = 0; ok && i < session->results.len; i++) {
        const struct as_counters *counters = as_model_region(modelled.model, i);
        session->results.data[i].instructions = counters->instructions;
        session->results.data[i].cycles = counters->cycles;
    }
    session->predicted = modelled.result.engine;
    as_modelled_free(&modelled);
    as_regions_free(&regions);
    return ok && check_reached(session, err);
}

double as_points_cpi(const struct as_points_session *session)
{
    double cpi = 0, weight = 0;
    for (size_t i = 0; i < session->results.len; i++) {
        const struct as_point_result *result = &session->results.data[i];
        if (result->instructions == 0)
            continue;
        cpi += session->choice.points.data[i].weight * (double)result->cycles / (double)result->instructions;
        weight += session->choice.points.data[i].weight;
    }
    return weight > 0 ? cpi / weight : NAN;
}
