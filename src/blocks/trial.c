/* See trial.h. */
#include "blocks/trial.h"

#include "blocks/balance.h"
#include "engine/engine.h"

#include <math.h>
#include <string.h>

void as_trial_open(struct as_trial *trial, const struct as_run_info *run, const struct as_units_options *options)
{
    trial->units = as_units_new(run, options);
    as_exact_counters_open(&trial->counters, true);
}

void as_trial_close(struct as_trial *trial)
{
    struct as_cfg *cfg = trial->truth ? trial->truth->cfg : NULL;
    as_flow_free(trial->truth);
    as_cfg_free(cfg);
    as_exact_counters_close(&trial->counters);
}

/* ---- behind the run ---- */

/* Addresses in the samples are static instructions + 1. */
static bool place(void *context, uint64_t address, struct as_cfg *cfg, uint32_t *module, uint64_t *offset)
{
    const struct as_engine *engine = context;
    const struct as_insn *insn = as_engine_insn(engine, (uint32_t)address - 1);
    const struct as_image *image =
        insn ? as_engine_image(engine, as_engine_insn_image(engine, (uint32_t)address - 1)) : NULL;
    struct as_location location;
    if (!image)
        return false;
    as_space_find(image->space, insn->address, &location);
    *module = as_cfg_module_of(cfg, location.module, image->arch);
    *offset = location.module_offset;
    return true;
}

static void judge_way(struct as_trial *trial, size_t number, struct as_samples *samples)
{
    const struct as_way *way = &as_ways[number];
    struct as_trial_result *result = &trial->results[trial->n++];
    *result = (struct as_trial_result){
        .way = way, .period = as_units_period(trial->units, number), .samples = as_samples_counted(samples)->samples};
    struct as_flow *flow = as_estimate(samples, trial->truth->cfg, way->method, NULL);
    result->plain = as_accuracy_of(flow, trial->truth);
    if (!as_estimate_has_edges(samples, way->method))
        as_flow_guess_jumps(flow);
    as_flow_balance(flow, way->method == AS_METHOD_LBR);
    result->balanced = as_accuracy_of(flow, trial->truth);
    as_flow_free(flow);
}

void as_trial_judge(struct as_trial *trial, const struct as_engine *engine)
{
    trial->truth = as_exact_flow(engine, trial->counters.counter, trial->counters.jumps,
                                 &(struct as_exact_options){.whole = true});
    for (size_t i = 0; i < as_ways_count && trial->n < AS_TRIAL_WAYS; i++) {
        struct as_samples *samples = as_units_samples(trial->units, i);
        if (!samples)
            continue;
        if (!as_ways[i].same_samples)
            as_samples_settle(samples, trial->truth->cfg, place, (void *)engine);
        judge_way(trial, i, samples);
    }
}

/* ---- which one to believe ---- */

static double least(const struct as_trial_result *result)
{
    return result->plain.block < result->balanced.block ? result->plain.block : result->balanced.block;
}

const struct as_trial_result *as_trial_find(const struct as_trial *trial, const char *way)
{
    for (size_t i = 0; i < trial->n; i++)
        if (strcmp(trial->results[i].way->name, way) == 0)
            return &trial->results[i];
    return NULL;
}

const struct as_trial_result *as_trial_best(const struct as_trial *trial)
{
    const struct as_trial_result *best = NULL;
    for (size_t i = 0; i < trial->n; i++)
        if (!best || least(&trial->results[i]) < least(best))
            best = &trial->results[i];
    return best;
}

/* An instruction in the wrong block is missing in one and too many in another, so it is twice in the error. */
double as_trial_misplaced(const struct as_trial_result *result)
{
    return fmin(least(result) / 2, 1);
}
