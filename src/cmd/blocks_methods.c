/* `assay blocks --methods`: one run in the model, sampled in every way at once; how wrong each is about the blocks, and
 * which one to believe. */
#include "base/json.h"
#include "base/log.h"
#include "base/show.h"
#include "blocks/accuracy.h"
#include "blocks/balance.h"
#include "blocks/exact.h"
#include "blocks/units.h"
#include "cmd/blocks_options.h"
#include "cmd/commands.h"
#include "cmd/progress.h"
#include "engine/sink_tee.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct result {
    const struct as_way *way;
    uint64_t period, samples;
    struct as_accuracy plain, balanced;
    struct as_estimate_trouble trouble;
};

struct trial {
    const struct as_blocks_options *options;
    char **argv;
    struct as_pmu pmu;
    struct as_modelled modelled;
    struct as_units *units;
    struct as_blocks_counters counters;
    struct as_flow *truth;
    struct result results[32];
    size_t n;
};

/* ---- the run ---- */

static bool set_up(struct trial *trial, struct as_error *err)
{
    const struct as_blocks_options *options = trial->options;
    if (!as_pmu_load(options->pmu, &trial->pmu, err) ||
        !as_modelled_open(&trial->modelled, options->core, &options->set, err))
        return false;
    trial->units = as_units_new(
        as_model_run_info(trial->modelled.model),
        &(struct as_units_options){
            .pmu = &trial->pmu, .period = options->period, .skid = (uint32_t)options->skid, .seed = options->seed});
    as_fanout_add(trial->modelled.fanout, &as_units_observer, trial->units, false);
    as_blocks_counters_open(&trial->counters, true);
    void *context;
    const struct as_sink *sink = as_sink_tee_sink(trial->counters.tee, &context);
    as_model_add_also(trial->modelled.model, sink, context);
    return true;
}

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

static void judge(struct trial *trial)
{
    const struct as_engine *engine = as_model_engine(trial->modelled.model);
    trial->truth = as_exact_flow(engine, trial->counters.counter, trial->counters.jumps,
                                 &(struct as_exact_options){.whole = true});
    as_blocks_warn_of_code(trial->truth, NULL);
    struct as_cfg *cfg = trial->truth->cfg;
    for (size_t i = 0; i < as_ways_count && trial->n < 32; i++) {
        struct as_samples *samples = as_units_samples(trial->units, i);
        if (!samples)
            continue;
        if (!as_ways[i].same_samples)
            as_samples_settle(samples, cfg, place, (void *)engine);
        struct result *result = &trial->results[trial->n++];
        *result = (struct result){.way = &as_ways[i],
                                  .period = as_units_period(trial->units, i),
                                  .samples = as_samples_counted(samples)->samples};
        struct as_flow *flow = as_estimate(samples, cfg, as_ways[i].method, &result->trouble);
        result->plain = as_accuracy_of(flow, trial->truth);
        if (!as_estimate_has_edges(samples, as_ways[i].method))
            as_flow_guess_jumps(flow);
        as_flow_balance(flow, as_ways[i].method == AS_METHOD_LBR);
        result->balanced = as_accuracy_of(flow, trial->truth);
        as_flow_free(flow);
    }
}

/* ---- what it says ---- */

static double least(const struct result *result)
{
    return result->plain.block < result->balanced.block ? result->plain.block : result->balanced.block;
}

static const struct result *find(const struct trial *trial, const char *name)
{
    for (size_t i = 0; i < trial->n; i++)
        if (strcmp(trial->results[i].way->name, name) == 0)
            return &trial->results[i];
    return NULL;
}

static const struct result *best_of(const struct trial *trial)
{
    const struct result *best = NULL;
    for (size_t i = 0; i < trial->n; i++)
        if (!best || least(&trial->results[i]) < least(best))
            best = &trial->results[i];
    return best;
}

/* "N times less error with B than with A": one sentence where that is worth one. */
static void compare(const struct trial *trial, const char *a, const char *b, const char *why, struct as_str *text)
{
    const struct result *x = find(trial, a), *y = find(trial, b);
    if (!x || !y || y->plain.block <= 0)
        return;
    double times = x->plain.block / y->plain.block;
    if (times >= 1.2 || times <= 1 / 1.2)
        as_str_addf(text, " %s has %.1f times %s error than %s: %s.", b, times >= 1 ? times : 1 / times,
                    times >= 1 ? "less" : "more", a, why);
}

/* An instruction in the wrong block is missing in one and too many in another, so it is twice in the error. */
static double misplaced(const struct result *result)
{
    return fmin(least(result) / 2, 1);
}

static void advise(const struct trial *trial, struct as_str *text)
{
    enum { ENOUGH = 100 };
    const struct result *best = best_of(trial);
    if (!best)
        return;
    bool one = trial->n == 1;
    if (best->samples < ENOUGH) {
        as_str_addf(text, "%" PRIu64 " samples do not say %s: take more of them, with a smaller --period.",
                    best->samples, one ? "how far to believe the one way that this PMU has" : "which way to believe");
        return;
    }
    as_str_addf(text, "%s %s%s here (%.1f %% of the instructions are in the wrong block).",
                one ? "This PMU has one way of sampling only:" : "Believe", best->way->name,
                best->balanced.block < best->plain.block ? ", balanced" : "", 100 * misplaced(best));
    compare(trial, "classic", "precise", "late interrupts move samples into other blocks", text);
    compare(trial, "precise", "prime", "loops run in step with a round period", text);
    compare(trial, "prime", "random", "they run in step with a prime one too", text);
    compare(trial, "prime", "pdir", "what retires in the shadow of the counter is never sampled", text);
    compare(trial, "pdir", "pdir+fix", "the address is that of the next instruction, in another block behind a branch",
            text);
    compare(trial, "uops", "uops/uop", "instructions differ in their micro-operations", text);
    compare(trial, "uops", "uops-random", "the hardware makes the low bits of the period random", text);
    compare(trial, "classic", "lbr", "each stack counts many blocks and has no skid", text);
}

/* The part of the run that was seen, in words. Returns `text`; NULL: all of it. */
static const char *part_of(const struct trial *trial, char text[AS_ENGINE_PART])
{
    const struct as_model_result *result = &trial->modelled.result;
    return as_engine_part(&result->engine, result->instructions, text, AS_ENGINE_PART) ? text : NULL;
}

static void print_text(const struct trial *trial, FILE *out)
{
    struct as_str advice = {0};
    char text[AS_ENGINE_PART];
    if (!part_of(trial, text))
        snprintf(text, sizeof text, "%s instructions", AS_COUNT((uint64_t)as_flow_total(trial->truth)));
    fprintf(out, "\nCounts of blocks of '%s' by ways of sampling, against the exact ones:\n\n",
            AS_SHOW(trial->argv[0]));
    fprintf(out, "  %s, %s; %s; errors in %%\n\n", trial->modelled.machine.name, trial->pmu.name, text);
    fprintf(out, "%-12s %9s %9s %8s %9s %9s %9s  %s\n", "way", "period", "samples", "blocks", "balanced", "functions",
            "covered", "top ten");
    for (size_t i = 0; i < trial->n; i++) {
        const struct result *r = &trial->results[i];
        fprintf(out, "%-12s %9" PRIu64 " %9" PRIu64 " %8.2f %9.2f %9.2f %9.1f  %u found, %u in order   %s\n",
                r->way->name, r->period, r->samples, 100 * r->plain.block, 100 * r->balanced.block,
                100 * r->plain.function, 100 * r->plain.covered, r->plain.top_found, r->plain.top_ordered,
                r->way->meaning);
    }
    advise(trial, &advice);
    fprintf(out, "\n%s\n", as_str_get(&advice));
    as_str_free(&advice);
}

static void json_accuracy(struct as_json *json, const char *name, const struct as_accuracy *accuracy)
{
    as_json_object(json, name);
    as_json_double(json, "block", accuracy->block);
    as_json_double(json, "function", accuracy->function);
    as_json_double(json, "covered", accuracy->covered);
    as_json_u64(json, "top", accuracy->top);
    as_json_u64(json, "top_found", accuracy->top_found);
    as_json_u64(json, "top_ordered", accuracy->top_ordered);
    as_json_end(json);
}

static bool print_json(const struct trial *trial, FILE *out)
{
    struct as_json *json = as_json_new(out);
    struct as_str advice = {0};
    as_json_object(json, NULL);
    as_json_string(json, "of", trial->argv[0]);
    as_json_string(json, "machine", trial->modelled.machine.name);
    as_json_string(json, "pmu", trial->pmu.name);
    as_json_u64(json, "instructions", (uint64_t)as_flow_total(trial->truth));
    char text[AS_ENGINE_PART];
    if (part_of(trial, text))
        as_json_string(json, "part", text);
    as_json_u64(json, "skid", trial->options->skid);
    as_json_array(json, "ways");
    for (size_t i = 0; i < trial->n; i++) {
        const struct result *r = &trial->results[i];
        as_json_object(json, NULL);
        as_json_string(json, "way", r->way->name);
        as_json_u64(json, "period", r->period);
        as_json_u64(json, "samples", r->samples);
        json_accuracy(json, "plain", &r->plain);
        json_accuracy(json, "balanced", &r->balanced);
        as_json_end(json);
    }
    as_json_end(json);
    advise(trial, &advice);
    as_json_string(json, "advice", as_str_get(&advice));
    as_str_free(&advice);
    as_json_end(json);
    return as_json_finish(json);
}

static void print_csv(const struct trial *trial, FILE *out)
{
    fputs("way,period,samples,block,balanced,function,covered,balanced_covered,top,top_found,top_ordered\n", out);
    for (size_t i = 0; i < trial->n; i++) {
        const struct result *r = &trial->results[i];
        fprintf(out, "%s,%" PRIu64 ",%" PRIu64 ",%.6f,%.6f,%.6f,%.6f,%.6f,%u,%u,%u\n", r->way->name, r->period,
                r->samples, r->plain.block, r->balanced.block, r->plain.function, r->plain.covered, r->balanced.covered,
                r->plain.top, r->plain.top_found, r->plain.top_ordered);
    }
}

static int print_result(const struct trial *trial, struct as_output *output)
{
    struct as_error err = AS_ERROR_INIT;
    if (trial->options->json && !print_json(trial, output->file) && !output->path)
        return as_cli_stdout_failed();
    if (trial->options->csv)
        print_csv(trial, output->file);
    else if (!trial->options->json)
        print_text(trial, output->file);
    return as_output_finish(output, &err) ? AS_EXIT_OK : as_cli_fail(&as_command_blocks, &err);
}

static void end(struct trial *trial)
{
    struct as_cfg *cfg = trial->truth ? trial->truth->cfg : NULL;
    as_flow_free(trial->truth);
    as_cfg_free(cfg);
    as_modelled_free(&trial->modelled);
    if (trial->counters.tee)
        as_blocks_counters_close(&trial->counters);
}

int as_blocks_methods(const struct as_blocks_options *options, char **argv)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_output output = {0};
    struct trial *trial = as_alloc(sizeof *trial);
    trial->options = options;
    trial->argv = argv;
    struct as_engine_options engine = as_run_engine_options(&options->run, argv);
    engine.stdout_to_stderr = (options->json || options->csv) && !options->output;
    bool ok = as_output_open(&output, options->output, &err) && set_up(trial, &err) &&
              as_progress_run(&trial->modelled, engine, &err);
    if (ok) {
        judge(trial);
        ok = as_engine_check_measured(&trial->modelled.result.engine, as_flow_total(trial->truth) > 0, &err);
    }
    int status = ok ? as_run_report(&trial->modelled.result.engine, &options->run) : AS_EXIT_OK;
    if (ok) {
        int failed = print_result(trial, &output);
        status = failed ? failed : status;
    } else {
        as_output_drop(&output);
        status = as_cli_fail(&as_command_blocks, &err);
    }
    end(trial);
    free(trial);
    return status;
}
