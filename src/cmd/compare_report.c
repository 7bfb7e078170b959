/* See compare.h. */
#include "cmd/compare.h"

#include "base/ratio.h"
#include "base/show.h"
#include "base/vec.h"
#include "cmd/compare_events.h"
#include "cmd/compare_pics.h"
#include "cmd/regions_shown.h"
#include "record/modelled.h"
#include "score/confidence.h"
#include "score/errors.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double error_of(const struct as_compare *compare, const struct as_sampling_result *result, enum as_level level)
{
    return as_profile_error(&result->profile, &compare->truth, compare->levels.grouping[level]);
}

static double systematic_of(const struct as_compare *compare, const struct as_sampling_result *result,
                            enum as_level level)
{
    return as_systematic_error(&result->confusion, compare->levels.grouping[level]);
}

/* The truth at all levels but that of the program, whose profiles are all alike. */
static void open_truths(struct as_truth truths[AS_LEVEL_PROGRAM], const struct as_compare *compare)
{
    for (int level = 0; level < AS_LEVEL_PROGRAM; level++)
        as_truth_open(&truths[level], &compare->truth, compare->levels.grouping[level]);
}

static void close_truths(struct as_truth truths[AS_LEVEL_PROGRAM])
{
    for (int level = 0; level < AS_LEVEL_PROGRAM; level++)
        as_truth_close(&truths[level]);
}

static struct as_agreement agreement_of(struct as_truth *truth, const struct as_sampling_result *result)
{
    return as_truth_agreement(truth, &result->profile, result->samples, AS_Z_5_SIGMA);
}

static void pics_errors_of(const struct as_compare *compare, const struct as_sampling *sampling, size_t index,
                           double errors[AS_LEVELS])
{
    size_t n;
    struct as_pics said = as_sampling_pics(sampling, index);
    as_pics_errors(&said, &compare->golden, as_sampling_results(sampling, &n)[index].events, &compare->levels, errors);
    as_pics_free(&said);
}

/* ---- the instructions with the most time ---- */

struct row {
    uint32_t id;
    uint64_t units;
};

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->units != y->units)
        return x->units < y->units ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

/* The instructions with the most time according to the Oracle. The caller frees. */
static struct row *top_rows(const struct as_compare *compare, size_t *n)
{
    struct row *rows = as_alloc_array(compare->truth.n ? compare->truth.n : 1, sizeof *rows);
    size_t used = 0;
    for (size_t id = 0; id < compare->truth.n; id++)
        if (compare->truth.units[id])
            rows[used++] = (struct row){.id = (uint32_t)id, .units = compare->truth.units[id]};
    qsort(rows, used, sizeof *rows, compare_rows);
    *n = used < compare->top ? used : (size_t)compare->top;
    return rows;
}

/* ---- JSON ---- */

static void json_errors(struct as_json *json, const char *name, const double errors[AS_LEVEL_PROGRAM])
{
    as_json_object(json, name);
    for (int level = 0; level < AS_LEVEL_PROGRAM; level++)
        as_json_double(json, as_level_names[level], errors[level]);
    as_json_end(json);
}

/* Whether chance explains the error; null if there are too few samples. */
static void json_agrees(struct as_json *json, const struct as_agreement agreements[AS_LEVEL_PROGRAM])
{
    as_json_object(json, "agrees");
    for (int level = 0; level < AS_LEVEL_PROGRAM; level++) {
        enum as_agreement_verdict verdict = agreements[level].verdict;
        if (verdict == AS_PROFILES_TOO_FEW)
            as_json_null(json, as_level_names[level]);
        else
            as_json_bool(json, as_level_names[level], verdict == AS_PROFILES_AGREE);
    }
    as_json_end(json);
}

static void json_all_errors(struct as_json *json, const struct as_compare *compare,
                            struct as_truth truths[AS_LEVEL_PROGRAM], const struct as_sampling_result *result)
{
    struct as_agreement agreements[AS_LEVEL_PROGRAM];
    double error[AS_LEVEL_PROGRAM], systematic[AS_LEVEL_PROGRAM], chance[AS_LEVEL_PROGRAM];
    for (int level = 0; level < AS_LEVEL_PROGRAM; level++) {
        agreements[level] = agreement_of(&truths[level], result);
        error[level] = agreements[level].distance;
        systematic[level] = systematic_of(compare, result, level);
        chance[level] = agreements[level].expected;
    }
    json_errors(json, "error", error);
    json_errors(json, "systematic", systematic);
    json_errors(json, "chance", chance);
    json_agrees(json, agreements);
}

/* null for samplers that record no events: there is nothing to compare. */
static void json_pics_error(struct as_json *json, const struct as_compare *compare, const struct as_sampling *sampling,
                            size_t index)
{
    size_t n;
    const struct as_sampling_result *result = &as_sampling_results(sampling, &n)[index];
    double errors[AS_LEVELS];
    if (!result->sampler->events) {
        as_json_null(json, "pics_error");
        return;
    }
    as_compare_event_names_json(json, "events", result->events & (compare->events | result->sampler->events));
    pics_errors_of(compare, sampling, index, errors);
    as_json_object(json, "pics_error");
    for (int level = 0; level < AS_LEVELS; level++)
        as_json_double(json, as_level_names[level], errors[level]);
    as_json_end(json);
}

static void json_samplers(struct as_json *json, const struct as_compare *compare, const struct as_sampling *sampling)
{
    struct as_truth truths[AS_LEVEL_PROGRAM];
    open_truths(truths, compare);
    size_t n;
    const struct as_sampling_result *results = as_sampling_results(sampling, &n);
    as_json_array(json, "samplers");
    for (size_t i = 0; i < n; i++) {
        as_json_object(json, NULL);
        as_json_string(json, "name", results[i].sampler->name);
        as_json_string(json, "stands_for", results[i].sampler->stands_for);
        as_json_u64(json, "samples", results[i].samples);
        as_json_u64(json, "dropped", results[i].dropped);
        json_all_errors(json, compare, truths, &results[i]);
        json_pics_error(json, compare, sampling, i);
        as_json_end(json);
    }
    as_json_end(json);
    close_truths(truths);
}

/* {event: count}: golden, of executions. */
static void json_met(struct as_json *json, const struct as_compare *compare, const struct as_pics_entry *entries,
                     size_t n)
{
    if (compare->pics_of)
        return;
    as_json_object(json, "met");
    for (int event = 0; event < AS_EVENT_COUNT; event++) {
        uint64_t count = 0;
        for (size_t i = 0; i < n; i++)
            count += entries[i].events & as_events[event].bit ? entries[i].count : 0;
        if (count)
            as_json_u64(json, as_events[event].name, count);
    }
    as_json_end(json);
}

/* Code without symbols is named like the functions of `error.function`: "mawk+0xa480". */
static void json_function(struct as_json *json, const struct as_compare *compare, uint32_t id,
                          const struct as_location *location)
{
    const char *name = location->function;
    char *own = NULL;
    if (!name) {
        const char *group = as_groups_function(&compare->groups, compare->groups.function_of[id]);
        name = own = as_strndup(group, strcspn(group, " "));
    }
    as_json_string(json, "function", name && name[0] != '?' ? name : NULL);
    free(own);
}

/* One instruction: its location and its stack. */
static void json_row(struct as_json *json, const struct as_compare *compare, uint32_t id)
{
    const struct as_engine *engine = as_model_engine(compare->model);
    const struct as_insn *insn = as_engine_insn(engine, id);
    struct as_location location = {0};
    struct as_line line = {0};
    char text[160];
    size_t n;
    const struct as_pics_entry *entries = as_pics_find(&compare->shown, id, &n);
    uint64_t units = 0, count = 0;
    for (size_t i = 0; i < n; i++) {
        units += entries[i].units;
        count += entries[i].count;
    }
    as_model_locate(compare->model, id, &location);
    bool known = as_space_line(as_engine_image(engine, as_engine_insn_image(engine, id))->space, insn->address, &line);
    as_json_string(json, "module", location.module);
    json_function(json, compare, id, &location);
    as_json_string(json, "file", known ? line.file : NULL);
    if (known && line.line > 0)
        as_json_i64(json, "line", line.line);
    else
        as_json_null(json, "line");
    as_json_address(json, "address", insn->address);
    as_json_string(json, "text", as_insn_text(insn, text, sizeof text));
    size_t n_rows;
    const struct as_oracle_row *oracle = as_oracle_rows(compare->oracle, &n_rows);
    if (compare->pics_of)
        as_json_u64(json, "samples", count);
    else
        as_json_u64(json, "executions", id < n_rows ? oracle[id].executions : 0);
    as_json_double(json, "cycles", (double)units / (double)AS_CYCLE_UNITS);
    as_json_double(json, "share", as_ratio(units, compare->shown_total));
    as_compare_components_json(json, "components", entries, n);
    json_met(json, compare, entries, n);
}

static void json_rows(struct as_json *json, const struct as_compare *compare)
{
    size_t n, n_results;
    struct row *rows = top_rows(compare, &n);
    const struct as_sampling_result *results = as_sampling_results(compare->samplings[0], &n_results);
    n = compare->listing ? compare->listing->n : n;
    as_json_array(json, "rows");
    for (size_t i = 0; i < n; i++) {
        uint32_t id = compare->listing ? compare->listing->ids[i] : rows[i].id;
        as_json_object(json, NULL);
        json_row(json, compare, id);
        as_json_object(json, "samplers");
        for (size_t s = 0; s < n_results; s++)
            as_json_double(json, results[s].sampler->name,
                           as_ratio(as_profile_get(&results[s].profile, id), results[s].profile.total));
        as_json_end(json);
        as_json_end(json);
    }
    as_json_end(json);
    free(rows);
}

static void json_stack(struct as_json *json, const struct as_compare *compare)
{
    struct as_stack stack = as_stack_of(compare->oracle, as_model_run_info(compare->model));
    uint64_t total = as_stack_total(&stack);
    as_json_object(json, "stack");
    for (int i = 0; i < AS_STACK_COUNT; i++)
        as_json_double(json, as_stack_part_name((enum as_stack_part)i), as_ratio(stack.units[i], total));
    as_json_end(json);
    if (total)
        as_json_string(json, "class", as_intensity_name(as_stack_intensity(&stack)));
    else
        as_json_null(json, "class");
    as_json_object(json, "states");
    for (int i = 0; i < AS_STATE_COUNT; i++)
        as_json_double(json, as_state_name((enum as_state)i),
                       as_ratio(as_oracle_total(compare->oracle).units[i], compare->truth.total));
    as_json_end(json);
}

static void json_counters(struct as_json *json, const struct as_counters *counters)
{
    as_json_object(json, "counters");
    for (size_t i = 0; i < as_counter_count; i++)
        as_json_u64(json, as_counter_table[i].name, as_counter_value(counters, &as_counter_table[i]));
    as_json_end(json);
}

static void json_sweep(struct as_json *json, const struct as_compare *compare)
{
    if (compare->n_samplings < 2)
        return;
    as_json_array(json, "sweep");
    for (size_t i = 1; i < compare->n_samplings; i++) {
        as_json_object(json, NULL);
        as_json_u64(json, "period", as_sampling_schedule(compare->samplings[i])->period);
        json_samplers(json, compare, compare->samplings[i]);
        as_json_end(json);
    }
    as_json_end(json);
}

static void json_cores(struct as_json *json, const struct as_compare *const *compares, size_t n)
{
    if (n + compares[0]->n_missing < 2)
        return;
    as_json_array(json, "cores");
    for (size_t i = 0; i < n; i++) {
        const struct as_compare *compare = compares[i];
        as_json_object(json, NULL);
        as_json_string(json, "core", compare->machine->name);
        as_json_double(json, "frequency", compare->machine->frequency);
        as_json_u64(json, "instructions", compare->result.instructions);
        as_json_u64(json, "cycles", compare->result.cycles);
        as_json_double(json, "ipc", as_ratio(compare->result.instructions, compare->result.cycles));
        as_json_u64(json, "period", as_sampling_schedule(compare->samplings[0])->period);
        json_stack(json, compare);
        json_samplers(json, compare, compare->samplings[0]);
        json_sweep(json, compare);
        as_json_end(json);
    }
    as_json_end(json);
}

static void json_missing(struct as_json *json, const struct as_compare *compare)
{
    if (compare->n_missing == 0)
        return;
    as_json_array(json, "missing_cores");
    for (size_t i = 0; i < compare->n_missing; i++)
        as_json_string(json, NULL, compare->missing[i]);
    as_json_end(json);
}

/* Million instructions a second, while it measured. */
static double mips_of(const struct as_model_result *result)
{
    return result->measuring > 0 ? (double)result->instructions / result->measuring / 1e6 : 0;
}

/* How much of the run was remembered, and its cost. */
static void json_memo(struct as_json *json, const struct as_model *model)
{
    struct as_memo_counters memo;
    if (!as_model_count_memo(model, &memo)) {
        as_json_null(json, "memo");
        return;
    }
    as_json_object(json, "memo");
    as_json_u64(json, "blocks", memo.blocks);
    as_json_u64(json, "known_blocks", memo.known_blocks);
    as_json_double(json, "known", as_ratio(memo.known_blocks, memo.blocks));
    as_json_u64(json, "instructions", memo.instructions);
    as_json_u64(json, "known_instructions", memo.known_instructions);
    as_json_u64(json, "nodes", memo.made_nodes);
    as_json_u64(json, "edges", memo.made_edges);
    as_json_u64(json, "bytes", memo.bytes);
    as_json_u64(json, "restored", memo.restored);
    as_json_u64(json, "drops", memo.drops);
    as_json_end(json);
}

void as_compare_json(const struct as_compare *const *compares, size_t n, struct as_json *json)
{
    const struct as_compare *compare = compares[0];
    const struct as_model_result *result = &compare->result;
    const struct as_schedule *schedule = as_sampling_schedule(compare->samplings[0]);
    as_json_object(json, NULL);
    as_json_array(json, "program");
    for (char **word = compare->argv; *word; word++)
        as_json_string(json, NULL, *word);
    as_json_end(json);
    as_json_string(json, "source", "model");
    as_json_string(json, "core", compare->machine->name);
    as_json_double(json, "frequency", compare->machine->frequency);
    as_json_u64(json, "instructions", result->instructions);
    as_json_u64(json, "cycles", result->cycles);
    as_json_double(json, "ipc", as_ratio(result->instructions, result->cycles));
    as_json_u64(json, "elapsed_cycles", result->elapsed);
    as_json_u64(json, "kernel_cycles", result->kernel_cycles);
    as_regions_json(json,
                    &(struct as_regions_shown){.engine = as_model_engine(compare->model), .model = compare->model});
    as_json_u64(json, "threads", result->engine.threads);
    if (as_compare_folded_calls(compare))
        as_json_u64(json, "folded_calls", as_compare_folded_calls(compare));
    as_json_double(json, "seconds", result->engine.seconds);
    as_json_double(json, "mips", mips_of(result));
    json_memo(json, compare->model);
    as_json_bool(json, "complete", as_run_end_complete(&result->engine.end) && compare->n_missing == 0);
    json_missing(json, compare);
    as_json_i64(json, "exit_status", result->engine.end.exit_status);
    if (result->engine.end.signal && !result->engine.end.stopped)
        as_json_i64(json, "signal", result->engine.end.signal);
    else
        as_json_null(json, "signal");
    as_json_u64(json, "period", schedule->period);
    as_json_bool(json, "random", schedule->random);
    json_stack(json, compare);
    as_compare_events_json(compare, json);
    json_samplers(json, compare, compare->samplings[0]);
    json_sweep(json, compare);
    json_cores(json, compares, n);
    json_counters(json, &result->counters);
    if (compare->listing)
        as_listing_json(compare, json);
    json_rows(json, compare);
    as_json_end(json);
}

/* ---- text ---- */

static void text_percent(FILE *out, double fraction)
{
    if (isnan(fraction))
        fprintf(out, "       -  ");
    else
        fprintf(out, " %6.2f %% ", 100 * fraction);
}

/* The error that an unbiased sampler would have, and the samplers whose error is no larger. */
static void text_chance(FILE *out, const struct as_compare *compare, const struct as_sampling_result *results, size_t n)
{
    const struct as_sampling_result *most = NULL;
    const char *separator = "; no larger: ";
    for (size_t i = 0; i < n; i++)
        most = !most || results[i].samples > most->samples ? &results[i] : most;
    if (!most || most->samples == 0)
        return;
    struct as_truth truths[AS_LEVEL_PROGRAM];
    open_truths(truths, compare);
    fprintf(out, "%-10s %10s  ", "(chance)", AS_COUNT(most->samples));
    for (int level = 0; level < AS_LEVEL_PROGRAM; level++)
        text_percent(out, agreement_of(&truths[level], most).expected);
    fprintf(out, "  what sampling alone explains");
    for (size_t i = 0; i < n; i++)
        if (agreement_of(&truths[AS_LEVEL_INSTRUCTION], &results[i]).verdict == AS_PROFILES_AGREE) {
            fprintf(out, "%s%s", separator, results[i].sampler->name);
            separator = ", ";
        }
    close_truths(truths);
    fputc('\n', out);
}

static void text_samplers(FILE *out, const struct as_compare *compare, const struct as_sampling *sampling)
{
    size_t n;
    const struct as_sampling_result *results = as_sampling_results(sampling, &n);
    if (n == 0)
        return;
    fprintf(out, "\n%-10s %10s   %-29s   %-29s\n", "", "", "error against the Oracle", "systematic");
    fprintf(out, "%-10s %10s   %9s %9s %9s   %9s %9s %9s\n", "sampler", "samples", "instr.", "block", "function",
            "instr.", "block", "function");
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "%-10s %10s  ", results[i].sampler->name, AS_COUNT(results[i].samples));
        for (int level = 0; level < AS_LEVEL_PROGRAM; level++)
            text_percent(out, error_of(compare, &results[i], level));
        fprintf(out, "  ");
        for (int level = 0; level < AS_LEVEL_PROGRAM; level++)
            text_percent(out, systematic_of(compare, &results[i], level));
        fputc('\n', out);
    }
    text_chance(out, compare, results, n);
}

static void text_pics_errors(FILE *out, const struct as_compare *compare, const struct as_sampling *sampling)
{
    size_t n;
    const struct as_sampling_result *results = as_sampling_results(sampling, &n);
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        double errors[AS_LEVELS];
        if (!results[i].sampler->events)
            continue;
        if (!any)
            fprintf(out, "\n%-10s %10s   error of cycle stacks\n%-10s %10s   %9s %9s %9s %9s\n", "", "", "sampler",
                    "samples", "instr.", "block", "function", "program");
        any = true;
        pics_errors_of(compare, sampling, i, errors);
        fprintf(out, "%-10s %10s  ", results[i].sampler->name, AS_COUNT(results[i].samples));
        for (int level = 0; level < AS_LEVELS; level++)
            text_percent(out, errors[level]);
        fputc('\n', out);
    }
}

static void text_stack(FILE *out, const struct as_compare *compare)
{
    struct as_stack stack = as_stack_of(compare->oracle, as_model_run_info(compare->model));
    if (as_stack_total(&stack) == 0)
        return;
    fprintf(out, "\nWhere the cycles went (%s-intensive):\n", as_intensity_name(as_stack_intensity(&stack)));
    for (int i = 0; i < AS_STACK_COUNT; i++)
        fprintf(out, "  %-14s %6.2f %%\n", as_stack_part_name((enum as_stack_part)i),
                100 * as_ratio(stack.units[i], as_stack_total(&stack)));
}

static void text_rows(FILE *out, const struct as_compare *compare)
{
    size_t n, n_results;
    struct row *rows = top_rows(compare, &n);
    const struct as_sampling_result *results = as_sampling_results(compare->samplings[0], &n_results);
    if (n)
        fprintf(
            out,
            "\nThe instructions with the most time, and the samplers' shares for them (%% of all cycles):\n  oracle");
    for (size_t s = 0; n && s < n_results; s++)
        fprintf(out, " %8s", results[s].sampler->name);
    for (size_t i = 0; i < n; i++) {
        const struct as_insn *insn = as_engine_insn(as_model_engine(compare->model), rows[i].id);
        struct as_location location = {0};
        char text[160];
        as_model_locate(compare->model, rows[i].id, &location);
        fprintf(out, "\n%8.2f", 100 * as_ratio(rows[i].units, compare->truth.total));
        for (size_t s = 0; s < n_results; s++)
            fprintf(out, " %8.2f",
                    100 * as_ratio(as_profile_get(&results[s].profile, rows[i].id), results[s].profile.total));
        fprintf(out, "  %.40s+0x%" PRIx64 "  %s", location.function ? location.function : location.module_name,
                location.function ? insn->address - location.function_start : location.module_offset,
                as_insn_text(insn, text, sizeof text));
    }
    if (n)
        fputc('\n', out);
    free(rows);
}

static void text_cores(FILE *out, const struct as_compare *const *compares, size_t n)
{
    size_t n_results;
    const struct as_sampling_result *results = as_sampling_results(compares[0]->samplings[0], &n_results);
    fprintf(out, "\nThe machines, and the samplers' errors by instruction on them:\n%-18s %12s %6s", "machine",
            "cycles", "IPC");
    for (size_t s = 0; s < n_results; s++)
        fprintf(out, " %9s", results[s].sampler->name);
    for (size_t i = 0; i < n; i++) {
        const struct as_compare *compare = compares[i];
        results = as_sampling_results(compare->samplings[0], &n_results);
        fprintf(out, "\n%-18s %12s %6.2f", compare->machine->name, AS_COUNT(compare->result.cycles),
                as_ratio(compare->result.instructions, compare->result.cycles));
        for (size_t s = 0; s < n_results; s++)
            text_percent(out, error_of(compare, &results[s], 0));
    }
    fputc('\n', out);
}

uint64_t as_compare_folded_calls(const struct as_compare *compare)
{
    const struct as_call_tracker *calls = as_model_calls(compare->model);
    uint64_t folded = 0;
    for (size_t i = 0; i < as_call_tracker_count_images(calls); i++)
        folded += as_call_tree_folded(as_call_tracker_tree(calls, i));
    return folded;
}

static void text_head(FILE *out, const struct as_compare *compare)
{
    const struct as_model_result *result = &compare->result;
    struct as_modelled_start start = as_modelled_start_of(compare->model, compare->oracle);
    char *part = as_modelled_part(&result->engine, result->instructions, &start);
    char *start_up = as_modelled_start_up(&result->engine, result->instructions, &start);
    if (!part)
        part = as_format("%s instructions", AS_COUNT(result->instructions));
    const char *until = as_run_end_until(&result->engine.end);
    fprintf(out, "\n'%s' on %s: %s, %s cycles, IPC %.2f%s%s%s\n", AS_SHOW(compare->argv[0]), compare->machine->name,
            part, AS_COUNT(result->cycles), as_ratio(result->instructions, result->cycles), until ? " (" : "",
            until ? until : "", until ? ")" : "");
    if (as_engine_clock_note(&result->engine))
        fprintf(out, "note: %s\n", as_engine_clock_note(&result->engine));
    if (start_up)
        fprintf(out, "note: %.0f %% of %s\n", 100 * as_ratio(start.instructions, result->instructions), start_up);
    if (as_compare_folded_calls(compare))
        fprintf(out, "note: %s calls are part of their callers in call paths\n",
                AS_COUNT(as_compare_folded_calls(compare)));
    free(part);
    free(start_up);
}

void as_compare_text(const struct as_compare *const *compares, size_t n, FILE *out)
{
    const struct as_compare *compare = compares[0];
    const struct as_model_result *result = &compare->result;
    const struct as_schedule *schedule = as_sampling_schedule(compare->samplings[0]);
    text_head(out, compare);
    as_regions_print(out,
                     &(struct as_regions_shown){.engine = as_model_engine(compare->model), .model = compare->model});
    text_stack(out, compare);
    as_compare_events_text(compare, out);
    fprintf(out, "\nSamplers, a sample %s%s cycles:\n", schedule->random ? "somewhere in every " : "every ",
            AS_COUNT(schedule->period));
    text_samplers(out, compare, compare->samplings[0]);
    text_pics_errors(out, compare, compare->samplings[0]);
    for (size_t i = 1; i < compare->n_samplings; i++) {
        fprintf(out, "\nEvery %s cycles:", AS_COUNT(as_sampling_schedule(compare->samplings[i])->period));
        text_samplers(out, compare, compare->samplings[i]);
        text_pics_errors(out, compare, compare->samplings[i]);
    }
    if (compare->listing)
        as_listing_text(compare, out, compare->colour);
    else
        text_rows(out, compare);
    if (n > 1)
        text_cores(out, compares, n);
    for (size_t i = 0; i < compare->n_missing; i++)
        fprintf(out, "%s%s%s", i ? ", " : "\nInterrupted: there is no whole run on ", compare->missing[i],
                i + 1 < compare->n_missing ? "" : "\n");
    fprintf(
        out,
        "\n%.3f seconds, %.1f MIPS while measuring (modelled core; every cycle and every instruction accounted for)\n",
        result->engine.seconds, mips_of(result));
}
