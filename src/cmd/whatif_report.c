/* What `assay whatif` prints. See whatif_shown.h. */
#include "cmd/whatif_shown.h"

#include "base/show.h"
#include "cmd/regions_shown.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static double ipc(const struct as_model_result *result)
{
    return result->cycles ? (double)result->instructions / (double)result->cycles : NAN;
}

static size_t made(const struct as_whatif *whatif)
{
    return whatif->experiments.len - whatif->missing;
}

/* "ST-L1@f + FL-MB": all causes of an experiment. The caller frees. */
static char *name_of(const struct as_experiment *experiment)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (size_t i = 0; i < experiment->n; i++)
        fprintf(out, "%s%s", i ? " and " : "", experiment->causes[i]->text);
    fclose(out);
    return text;
}

/* The location and text of the instruction that an experiment affects. */
struct subject {
    struct as_location location;
    const struct as_insn *insn;
    char text[160];
};

static bool subject_of(const struct as_whatif *whatif, const struct as_experiment *experiment, struct subject *subject)
{
    *subject = (struct subject){0};
    if (!experiment->about_one)
        return false;
    subject->insn = as_engine_insn(as_model_engine(whatif->as_is.model), experiment->insn);
    as_model_locate(whatif->as_is.model, experiment->insn, &subject->location);
    as_insn_text(subject->insn, subject->text, sizeof subject->text);
    return true;
}

/* ---- JSON ---- */

static void json_run(struct as_json *json, const struct as_model_result *result)
{
    as_json_u64(json, "instructions", result->instructions);
    as_json_u64(json, "cycles", result->cycles);
    as_json_u64(json, "elapsed_cycles", result->elapsed);
    as_json_double(json, "ipc", ipc(result));
}

static void json_causes(struct as_json *json, const struct as_experiment *experiment)
{
    as_json_array(json, "causes");
    for (size_t i = 0; i < experiment->n; i++) {
        const struct as_cause *cause = experiment->causes[i];
        as_json_object(json, NULL);
        as_json_string(json, "cause", cause->text);
        as_json_array(json, "events");
        for (size_t e = 0; e < AS_EVENT_COUNT; e++)
            if (as_events[e].bit & cause->events)
                as_json_string(json, NULL, as_events[e].name);
        as_json_end(json);
        as_json_string(json, "place", cause->place.text);
        as_json_string(json, "set", cause->set);
        as_json_string(json, "separate", cause->separate);
        as_json_end(json);
    }
    as_json_end(json);
}

static void json_experiment(struct as_json *json, const struct as_whatif *whatif,
                            const struct as_experiment *experiment)
{
    struct subject subject;
    char *name = name_of(experiment);
    double cycles = (double)whatif->as_is.result.cycles, promise = as_experiment_promise(whatif, experiment);
    as_json_object(json, NULL);
    as_json_string(json, "name", name);
    json_causes(json, experiment);
    if (subject_of(whatif, experiment, &subject)) {
        as_json_string(json, "module", subject.location.module);
        as_json_string(json, "function", subject.location.function);
        as_json_address(json, "address", subject.insn->address);
        as_json_string(json, "text", subject.text);
    }
    as_json_u64(json, "met", experiment->met);
    as_json_double(json, "promised_cycles", experiment->promised);
    as_json_double(json, "promised_share", experiment->promised / cycles);
    as_json_double(json, "promised_speedup", promise);
    as_json_bool(json, "happened", !experiment->skipped);
    as_json_bool(json, "same_work",
                 experiment->skipped || experiment->result.instructions == whatif->as_is.result.instructions);
    json_run(json, experiment->skipped ? &whatif->as_is.result : &experiment->result);
    as_json_double(json, "speedup", as_experiment_speedup(whatif, experiment));
    as_json_end(json);
    free(name);
}

void as_whatif_json(const struct as_whatif *whatif, struct as_json *json)
{
    as_json_object(json, NULL);
    as_json_array(json, "program");
    for (char *const *word = whatif->request->engine.argv; *word; word++)
        as_json_string(json, NULL, *word);
    as_json_end(json);
    as_json_string(json, "source", "model");
    as_json_string(json, "core", whatif->as_is.machine.name);
    as_json_u64(json, "threads", whatif->as_is.result.engine.threads);
    json_run(json, &whatif->as_is.result);
    const struct as_model *model = whatif->as_is.model;
    as_regions_json(json, &(struct as_regions_shown){.engine = as_model_engine(model), .model = model});
    as_json_bool(json, "complete", whatif->missing == 0);
    as_json_array(json, "experiments");
    for (size_t i = 0; i < made(whatif); i++)
        json_experiment(json, whatif, &whatif->experiments.data[i]);
    as_json_end(json);
    as_json_end(json);
}

/* ---- text ---- */

static void text_times(FILE *out, double times)
{
    if (isnan(times))
        fprintf(out, "%10s", "-");
    else
        fprintf(out, "%9.3fx", times);
}

static void text_experiment(FILE *out, const struct as_whatif *whatif, const struct as_experiment *experiment)
{
    struct subject subject;
    char *name = name_of(experiment);
    if (isnan(experiment->promised))
        fprintf(out, "%12s %9s", "-", "-");
    else
        fprintf(out, "%12s %7.2f %%", AS_COUNT(experiment->met),
                100 * experiment->promised / (double)whatif->as_is.result.cycles);
    text_times(out, as_experiment_promise(whatif, experiment));
    text_times(out, as_experiment_speedup(whatif, experiment));
    fprintf(out, "  %s%s", isnan(experiment->promised) ? "with " : "", name);
    if (subject_of(whatif, experiment, &subject)) {
        if (subject.location.function && !strstr(name, subject.location.function))
            fprintf(out, " in %.40s+0x%" PRIx64, subject.location.function,
                    subject.insn->address - subject.location.function_start);
        fprintf(out, "  %s", subject.text);
    }
    fprintf(out, "%s\n",
            !experiment->skipped                                ? ""
            : experiment->causes[0]->events == AS_IDEAL_REMOVED ? " (nothing to remove)"
                                                                : " (never happened)");
    free(name);
}

void as_whatif_text(const struct as_whatif *whatif, FILE *out)
{
    const struct as_model_result *result = &whatif->as_is.result;
    char part[AS_ENGINE_PART];
    if (!as_engine_part(&result->engine, result->instructions, part, sizeof part))
        snprintf(part, sizeof part, "%s instructions", AS_COUNT(result->instructions));
    fprintf(out, "'%s' on %s: %s, %s cycles, IPC %.2f\n\n", whatif->request->engine.argv[0], whatif->as_is.machine.name,
            part, AS_COUNT(result->cycles), ipc(result));
    if (whatif->experiments.len == 0) {
        fprintf(out, "No instruction met an event: there is nothing to remove.\n");
        return;
    }
    fprintf(out, "%12s %9s %9s %9s\n", "", "of all", "promised", "real");
    fprintf(out, "%12s %9s %9s %9s  %s\n", "met", "cycles", "speed-up", "speed-up", "without");
    for (size_t i = 0; i < made(whatif); i++)
        text_experiment(out, whatif, &whatif->experiments.data[i]);
    if (whatif->missing)
        fprintf(out, "\nInterrupted: %zu of %zu experiments are missing.\n", whatif->missing, whatif->experiments.len);
}
