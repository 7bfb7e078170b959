/* `assay blocks --methods`: one run in the model, sampled in every way at once; how wrong each is about the blocks, and
 * which one to believe. */
#include "base/json.h"
#include "base/show.h"
#include "blocks/trial.h"
#include "cmd/blocks_options.h"
#include "cmd/commands.h"
#include "cmd/progress.h"
#include "engine/sink_tee.h"

#include <inttypes.h>
#include <stdlib.h>

struct session {
    const struct as_blocks_options *options;
    char **argv;
    struct as_pmu pmu;
    struct as_modelled modelled;
    struct as_trial trial;
};

/* ---- the run ---- */

static bool set_up(struct session *session, struct as_error *err)
{
    const struct as_blocks_options *options = session->options;
    struct as_trial *trial = &session->trial;
    if (!as_pmu_load(options->pmu, &session->pmu, err) ||
        !as_modelled_open(&session->modelled, options->core, &options->set, err))
        return false;
    as_trial_open(
        trial, as_model_run_info(session->modelled.model),
        &(struct as_units_options){
            .pmu = &session->pmu, .period = options->period, .skid = (uint32_t)options->skid, .seed = options->seed});
    as_fanout_add(session->modelled.fanout, &as_units_observer, trial->units, false);
    void *context;
    const struct as_sink *sink = as_sink_tee_sink(trial->counters.tee, &context);
    as_model_add_also(session->modelled.model, sink, context);
    return true;
}

/* ---- what it says ---- */

/* "N times less error with B than with A": one sentence where that is worth one. */
static void compare(const struct as_trial *trial, const char *a, const char *b, const char *why, struct as_str *text)
{
    const struct as_trial_result *x = as_trial_find(trial, a), *y = as_trial_find(trial, b);
    if (!x || !y || y->plain.block <= 0)
        return;
    double times = x->plain.block / y->plain.block;
    if (times >= 1.2 || times <= 1 / 1.2)
        as_str_addf(text, " %s has %.1f times %s error than %s: %s.", b, times >= 1 ? times : 1 / times,
                    times >= 1 ? "less" : "more", a, why);
}

static void advise(const struct as_trial *trial, struct as_str *text)
{
    enum { ENOUGH = 100 };
    const struct as_trial_result *best = as_trial_best(trial);
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
                best->balanced.block < best->plain.block ? ", balanced" : "", 100 * as_trial_misplaced(best));
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
static const char *part_of(const struct session *session, char text[AS_ENGINE_PART])
{
    const struct as_model_result *result = &session->modelled.result;
    return as_engine_part(&result->engine, result->instructions, text, AS_ENGINE_PART) ? text : NULL;
}

static void print_text(const struct session *session, FILE *out)
{
    struct as_str advice = {0};
    char text[AS_ENGINE_PART];
    if (!part_of(session, text))
        snprintf(text, sizeof text, "%s instructions", AS_COUNT((uint64_t)as_flow_total(session->trial.truth)));
    fprintf(out, "\nCounts of blocks of '%s' by ways of sampling, against the exact ones:\n\n",
            AS_SHOW(session->argv[0]));
    fprintf(out, "  %s, %s; %s; errors in %%\n\n", session->modelled.machine.name, session->pmu.name, text);
    fprintf(out, "%-12s %9s %9s %8s %9s %9s %9s  %s\n", "way", "period", "samples", "blocks", "balanced", "functions",
            "covered", "top ten");
    for (size_t i = 0; i < session->trial.n; i++) {
        const struct as_trial_result *r = &session->trial.results[i];
        fprintf(out, "%-12s %9" PRIu64 " %9" PRIu64 " %8.2f %9.2f %9.2f %9.1f  %u found, %u in order   %s\n",
                r->way->name, r->period, r->samples, 100 * r->plain.block, 100 * r->balanced.block,
                100 * r->plain.function, 100 * r->plain.covered, r->plain.top_found, r->plain.top_ordered,
                r->way->meaning);
    }
    advise(&session->trial, &advice);
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

static bool print_json(const struct session *session, FILE *out)
{
    struct as_json *json = as_json_new(out);
    struct as_str advice = {0};
    as_json_object(json, NULL);
    as_json_string(json, "of", session->argv[0]);
    as_json_string(json, "machine", session->modelled.machine.name);
    as_json_string(json, "pmu", session->pmu.name);
    as_json_u64(json, "instructions", (uint64_t)as_flow_total(session->trial.truth));
    char text[AS_ENGINE_PART];
    if (part_of(session, text))
        as_json_string(json, "part", text);
    as_json_u64(json, "skid", session->options->skid);
    as_json_array(json, "ways");
    for (size_t i = 0; i < session->trial.n; i++) {
        const struct as_trial_result *r = &session->trial.results[i];
        as_json_object(json, NULL);
        as_json_string(json, "way", r->way->name);
        as_json_u64(json, "period", r->period);
        as_json_u64(json, "samples", r->samples);
        json_accuracy(json, "plain", &r->plain);
        json_accuracy(json, "balanced", &r->balanced);
        as_json_end(json);
    }
    as_json_end(json);
    advise(&session->trial, &advice);
    as_json_string(json, "advice", as_str_get(&advice));
    as_str_free(&advice);
    as_json_end(json);
    return as_json_finish(json);
}

static void print_csv(const struct session *session, FILE *out)
{
    fputs("way,period,samples,block,balanced,function,covered,balanced_covered,top,top_found,top_ordered\n", out);
    for (size_t i = 0; i < session->trial.n; i++) {
        const struct as_trial_result *r = &session->trial.results[i];
        fprintf(out, "%s,%" PRIu64 ",%" PRIu64 ",%.6f,%.6f,%.6f,%.6f,%.6f,%u,%u,%u\n", r->way->name, r->period,
                r->samples, r->plain.block, r->balanced.block, r->plain.function, r->plain.covered, r->balanced.covered,
                r->plain.top, r->plain.top_found, r->plain.top_ordered);
    }
}

static int print_result(const struct session *session, struct as_output *output)
{
    struct as_error err = AS_ERROR_INIT;
    if (session->options->json && !print_json(session, output->file) && !output->path)
        return as_cli_stdout_failed();
    if (session->options->csv)
        print_csv(session, output->file);
    else if (!session->options->json)
        print_text(session, output->file);
    return as_output_finish(output, &err) ? AS_EXIT_OK : as_cli_fail(&as_command_blocks, &err);
}

static bool run(struct session *session, struct as_error *err)
{
    const struct as_blocks_options *options = session->options;
    const struct as_engine_result *ended = &session->modelled.result.engine;
    struct as_engine_options engine = as_run_engine_options(&options->run, session->argv);
    engine.stdout_to_stderr = (options->json || options->csv) && !options->output;
    if (!set_up(session, err) || !as_progress_run(&session->modelled, engine, err))
        return false;
    as_trial_judge(&session->trial, as_model_engine(session->modelled.model));
    as_blocks_warn_of_code(session->trial.truth, NULL);
    return as_engine_check_measured(ended, as_flow_total(session->trial.truth) > 0, err);
}

int as_blocks_methods(const struct as_blocks_options *options, char **argv)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_output output = {0};
    struct session *session = as_alloc(sizeof *session);
    *session = (struct session){.options = options, .argv = argv};
    bool ok = as_output_open(&output, options->output, &err) && run(session, &err);
    int status = ok ? as_run_report(&session->modelled.result.engine, &options->run) : AS_EXIT_OK;
    if (ok) {
        int failed = print_result(session, &output);
        status = failed ? failed : status;
    } else {
        as_output_drop(&output);
        status = as_cli_fail(&as_command_blocks, &err);
    }
    as_trial_close(&session->trial);
    as_modelled_free(&session->modelled);
    free(session);
    return status;
}
