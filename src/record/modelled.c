/* See modelled.h. */
#include "record/modelled.h"

#include "base/log.h"
#include "base/ratio.h"
#include "base/show.h"
#include "base/split.h"
#include "base/str.h"
#include "model/machine_events.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

bool as_modelled_machine(struct as_machine *machine, const char *core, const struct as_strlist *set,
                         struct as_error *err)
{
    if (!as_machine_load(core, machine, err))
        return false;
    for (size_t i = 0; set && i < set->len; i++)
        if (!as_machine_set(machine, set->data[i], err)) {
            err->status = AS_EXIT_USAGE;
            return false;
        }
    return true;
}

bool as_modelled_open(struct as_modelled *modelled, const char *core, const struct as_strlist *set,
                      struct as_error *err)
{
    struct as_fanout_options fanout = AS_FANOUT_DEFAULTS;
    fanout.batch = AS_MODEL_BATCH;
    if (!as_modelled_machine(&modelled->machine, core, set, err))
        return false;
    modelled->model = as_model_new(&modelled->machine);
    modelled->fanout = as_fanout_new(&fanout);
    return true;
}

bool as_modelled_watch(struct as_modelled *modelled, struct as_error *err)
{
    modelled->oracle = as_oracle_new(as_model_run_info(modelled->model), err);
    if (!modelled->oracle)
        return false;
    as_fanout_add(modelled->fanout, &as_oracle_observer, modelled->oracle, false);
    return true;
}

bool as_modelled_sample(struct as_modelled *modelled, const struct as_schedule *schedule,
                        const struct as_sampler *const *samplers, size_t n, struct as_error *err)
{
    struct as_sampling *sampling = as_sampling_new(as_model_run_info(modelled->model), schedule, samplers, n, err);
    if (!sampling)
        return false;
    *as_vec_push(&modelled->samplings) = sampling;
    as_fanout_add(modelled->fanout, &as_sampling_observer, sampling, false);
    return true;
}

bool as_modelled_schedule(const struct as_modelled *modelled, uint64_t period, double rate,
                          struct as_schedule *schedule, struct as_error *err)
{
    double cycles = modelled->machine.frequency / rate;
    schedule->period = period ? period : AS_SAMPLE_PERIOD;
    if (isnan(rate))
        return true;
    if (period)
        return as_error_set_status(err, AS_EXIT_USAGE, "give either --rate or --period, not both");
    if (!(rate > 0) || cycles > 1e18)
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "--rate=%g: the rate must be above 0 and high enough to give samples", rate);
    schedule->period = cycles >= 1 ? (uint64_t)cycles : 1;
    return true;
}

bool as_modelled_events(const struct as_modelled *modelled, const char *list, uint32_t usual, uint32_t *events,
                        struct as_error *err)
{
    uint32_t possible = as_machine_events(&modelled->machine);
    *events = usual & possible;
    return !list || as_events_parse(list, usual, possible, events, err);
}

void as_modelled_set_events(struct as_modelled *modelled, uint32_t events)
{
    uint32_t kept = events;
    for (size_t i = 0; i < modelled->samplings.len; i++) {
        size_t n;
        as_sampling_set_events(modelled->samplings.data[i], events);
        const struct as_sampling_result *results = as_sampling_results(modelled->samplings.data[i], &n);
        for (size_t j = 0; j < n; j++)
            kept |= results[j].events;
    }
    if (modelled->oracle)
        as_oracle_set_events(modelled->oracle, kept, events);
}

static void tick(void *context)
{
    struct as_modelled *modelled = context;
    modelled->meter->update(modelled->meter_context, as_engine_progress(as_model_engine(modelled->model)),
                            as_model_progress(modelled->model));
}

static void tell_memo(const struct as_model *model)
{
    struct as_memo_counters memo;
    if (!as_model_count_memo(model, &memo) || !memo.blocks)
        return;
    as_log_debug("memo: %.2f %% of %" PRIu64 " blocks, %.2f %% of the instructions known; %" PRIu64
                 " nodes and %" PRIu64 " edges in %.1f MiB; %" PRIu64 " nodes and %" PRIu64 " edges made, %" PRIu64
                 " times back to the pipeline, dropped %" PRIu64 " times",
                 100.0 * (double)memo.known_blocks / (double)memo.blocks, memo.blocks,
                 100.0 * (double)memo.known_instructions / (double)memo.instructions, memo.nodes, memo.edges,
                 (double)memo.bytes / (1 << 20), memo.made_nodes, memo.made_edges, memo.restored, memo.drops);
}

bool as_modelled_run(struct as_modelled *modelled, struct as_engine_options engine, struct as_error *err)
{
    const struct as_meter *meter = modelled->meter;
    engine.tick = meter ? tick : NULL;
    engine.tick_context = modelled;
    engine.handovers = engine.quantum && !engine.deterministic;
    if (meter)
        meter->start(modelled->meter_context, as_regions_length(engine.regions));
    bool ok = as_model_run(modelled->model, &engine, modelled->fanout, &modelled->result, err);
    if (meter)
        meter->end(modelled->meter_context);
    tell_memo(modelled->model);
    return ok;
}

size_t as_modelled_free(struct as_modelled *modelled)
{
    size_t crashed = as_fanout_free(modelled->fanout); /* frees the observers */
    as_vec_free(&modelled->samplings);
    as_model_free(modelled->model);
    return crashed;
}

/* ---- start-up ---- */

static bool is_linker(const char *module)
{
    static const char *const patterns[] = {"ld-*.so*", "ld.so*", "ld64.so*"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (fnmatch(patterns[i], module, 0) == 0)
            return true;
    return false;
}

struct as_modelled_start as_modelled_start_of(const struct as_model *model, const struct as_oracle *oracle)
{
    size_t n = 0;
    const struct as_oracle_row *rows = oracle ? as_oracle_rows(oracle, &n) : NULL;
    return as_modelled_start_of_rows(model, rows, n);
}

struct as_modelled_start as_modelled_start_of_rows(const struct as_model *model, const struct as_oracle_row *rows,
                                                   size_t n)
{
    struct as_modelled_start start = {0};
    uint64_t all = 0, repeated = 0, guessed = 0;
    for (uint32_t id = 0; id < n; id++) {
        struct as_location location;
        const struct as_insn *insn = as_engine_insn(as_model_engine(model), id);
        uint64_t units = as_oracle_row_units(&rows[id]);
        all += units;
        repeated += insn && insn->flags & AS_INSN_REP ? units : 0;
        if (!rows[id].executions || !as_model_locate(model, id, &location))
            continue;
        guessed += location.guessed ? units : 0;
        if (!is_linker(location.module_name))
            continue;
        start.instructions += rows[id].executions;
        snprintf(start.linker, sizeof start.linker, "%s", location.module_name);
    }
    start.repeated = as_model_machine(model)->back.string_bytes ? 0 : as_ratio(repeated, all);
    start.guessed = as_ratio(guessed, all);
    return start;
}

char *as_modelled_part(const struct as_engine_result *engine, uint64_t instructions,
                       const struct as_modelled_start *start)
{
    char part[AS_ENGINE_PART];
    double share = as_ratio(start->instructions, instructions);
    if (!as_engine_part(engine, instructions, part, sizeof part))
        return NULL;
    return share >= 0.01 ? as_format("%s, %.0f %% of them in %s", part, 100 * share, start->linker) : as_strdup(part);
}

char *as_modelled_start_up(const struct as_engine_result *engine, uint64_t instructions,
                           const struct as_modelled_start *start)
{
    /* The share that is worth a remark: lower if the run was cut, because everything that was left out belongs to the program. */
    static const double most_of_cut = 0.25, most_of_whole = 0.5;
    char part[AS_ENGINE_PART];
    bool cut = as_engine_part(engine, instructions, part, sizeof part);
    double share = as_ratio(start->instructions, instructions);
    if (share < (cut ? most_of_cut : most_of_whole) || (instructions < engine->executed && !engine->from_start))
        return NULL;
    return as_format(
        "the instructions (%s) are in the dynamic linker: start-up %s; --from main or --skip leaves them out",
        AS_COUNT(start->instructions), share < most_of_whole ? "is much of it" : "dominates");
}

static bool choose(const char *name, const struct as_sampler **samplers, size_t *n, struct as_error *err)
{
    const struct as_sampler *sampler = as_sampler_find(name);
    if (!sampler) {
        struct as_str known = {0};
        as_samplers_name(&known);
        as_error_set_status(err, AS_EXIT_USAGE, "unknown sampler '%s'; the samplers are %s", name, as_str_get(&known));
        as_str_free(&known);
        return false;
    }
    for (size_t i = 0; i < *n; i++)
        if (samplers[i] == sampler)
            return as_error_set_status(err, AS_EXIT_USAGE, "the sampler '%s' is named twice", name);
    samplers[(*n)++] = sampler;
    return true;
}

bool as_samplers_choose(const char *list, const struct as_sampler **samplers, size_t *n, struct as_error *err)
{
    size_t n_names;
    char **names = as_split(list, ",", &n_names);
    bool ok = n_names > 0 || as_error_set_status(err, AS_EXIT_USAGE, "--samplers names no sampler");
    *n = 0;
    for (size_t i = 0; i < n_names && ok; i++)
        ok = choose(names[i], samplers, n, err);
    as_split_free(names);
    return ok;
}
