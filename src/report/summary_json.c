/* The member "summary" of JSON reports. See report_json.h. */
#include "report/report_json.h"

#include <math.h>
#include <string.h>

static void json_spread(struct as_json *json, const char *name, const struct as_spread *spread)
{
    struct as_interval interval = as_mean_interval(spread, AS_Z_95);
    as_json_object(json, name);
    as_json_double(json, "mean", spread->mean);
    as_json_double(json, "deviation", spread->deviation);
    as_json_double(json, "least", spread->least);
    as_json_double(json, "most", spread->most);
    as_json_double(json, "low", interval.low);
    as_json_double(json, "high", interval.high);
    as_json_end(json);
}

static void json_runs(const struct as_summary *summary, struct as_json *json)
{
    if (summary->n_runs < 2)
        return;
    as_json_object(json, "runs");
    as_json_u64(json, "count", summary->n_runs);
    as_json_bool(json, "merged", summary->merged);
    json_spread(json, "cycles", &summary->run_cycles);
    json_spread(json, "seconds", &summary->run_seconds);
    as_json_end(json);
}

void as_summary_error_json(const struct as_summary *summary, struct as_json *json)
{
    as_json_double(json, "error_estimate", summary->error);
    as_json_string(json, "error_how", summary->error_how);
    as_json_string(json, "error_level", summary->error_level);
    as_json_object(json, "error_by");
    for (size_t i = 0; i < AS_SUMMARY_LEVELS; i++)
        as_json_double(json, as_summary_levels[i], summary->error_by[i]);
    as_json_end(json);
    if (summary->sampled)
        as_json_double(json, "seconds_error", summary->seconds_error);
    as_json_double(json, "runs_apart", summary->runs_apart);
    as_json_double(json, "unnamed", summary->expected ? summary->unnamed : NAN);
    as_json_double(json, "guessed", summary->expected ? summary->guessed : NAN);
}

/* {name: share} of one bar of the program, if the profile has it. */
static void json_stack(const struct as_summary *summary, struct as_json *json, const char *stack)
{
    size_t n;
    const struct as_store_stack *parts = as_store_stacks(summary->store, &n);
    uint64_t total = as_summary_stack_total(summary, stack);
    if (!total)
        return;
    as_json_object(json, stack);
    for (size_t i = 0; i < n; i++)
        if (as_summary_is_of_stack(summary, &parts[i], stack))
            as_json_double(json, parts[i].name, (double)parts[i].units / (double)total);
    as_json_end(json);
}

/* The same with half the 95 % intervals of the shares. */
static void json_stack_errors(const struct as_summary *summary, struct as_json *json, const char *stack,
                              const char *name)
{
    size_t n;
    const struct as_store_stack *parts = as_store_stacks(summary->store, &n);
    if (!summary->stack_errors || !as_summary_stack_total(summary, stack))
        return;
    as_json_object(json, name);
    for (size_t i = 0; i < n; i++)
        if (parts[i].series == summary->series && strcmp(parts[i].stack, stack) == 0)
            as_json_double(json, parts[i].name, summary->stack_errors[i]);
    as_json_end(json);
}

/* Of the counters of a sampled run, as parts of them. */
static void json_counter_errors(const struct as_summary *summary, struct as_json *json)
{
    size_t n, n_counters, shown = 0;
    const struct as_store_estimate *estimates = as_store_estimates(summary->store, &n);
    const struct as_store_counter *counters = as_store_counters(summary->store, &n_counters);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n_counters; k++) {
            if (estimates[i].series != summary->series || strcmp(estimates[i].measure, AS_STORE_COUNTER_ERROR) != 0 ||
                strcmp(estimates[i].granularity, counters[k].name) != 0)
                continue;
            if (shown++ == 0)
                as_json_object(json, "counters");
            as_json_object(json, counters[k].name);
            as_json_u64(json, "value", counters[k].value);
            as_json_double(json, "error", estimates[i].value);
            as_json_end(json);
        }
    if (shown)
        as_json_end(json);
}

static void json_errors(const struct as_summary *summary, struct as_json *json)
{
    size_t n;
    const struct as_store_estimate *estimates = as_store_estimates(summary->store, &n);
    as_json_array(json, "errors");
    for (size_t i = 0; i < n; i++) {
        if (estimates[i].series != summary->series || strcmp(estimates[i].measure, AS_STORE_COUNTER_ERROR) == 0)
            continue;
        as_json_object(json, NULL);
        as_json_string(json, "measure", estimates[i].measure);
        as_json_string(json, "granularity", estimates[i].granularity);
        as_json_double(json, "value",
                       summary->too_few && strcmp(estimates[i].measure, "estimate") == 0 ? NAN : estimates[i].value);
        as_json_end(json);
    }
    as_json_end(json);
}

static void json_range(struct as_json *json, const char *name, struct as_bias_range range)
{
    as_json_object(json, name);
    as_json_double(json, "low", range.low);
    as_json_double(json, "median", range.median);
    as_json_double(json, "high", range.high);
    as_json_end(json);
}

void as_summary_trust_json(const struct as_summary *summary, struct as_json *json)
{
    if (!summary->bias)
        return;
    as_json_object(json, "trust");
    as_json_string(json, "way", summary->bias->way);
    as_json_string(json, "about", summary->bias->about);
    as_json_string(json, "from", summary->bias_from);
    as_json_u64(json, "programs", summary->bias->programs);
    as_json_array(json, "levels");
    for (size_t i = 0; i < AS_BIAS_LEVELS; i++) {
        as_json_object(json, NULL);
        as_json_string(json, "by", as_bias_levels[i]);
        as_json_double(json, "chance", summary->trust[i].chance);
        json_range(json, "bias", summary->trust[i].bias);
        json_range(json, "expected", summary->trust[i].expected);
        as_json_end(json);
    }
    as_json_end(json);
    as_json_end(json);
}

static void json_quality(const struct as_summary *summary, struct as_json *json)
{
    size_t n;
    const struct as_store_quality *rows = as_store_quality(summary->store, &n);
    as_json_array(json, "quality");
    for (size_t i = 0; i < n; i++) {
        as_json_object(json, NULL);
        as_json_string(json, "key", rows[i].key);
        as_json_double(json, "value", rows[i].value);
        as_json_string(json, "text", rows[i].text);
        as_json_end(json);
    }
    as_json_end(json);
}

/* A count of 0 is written as null: it was not measured, since no program executes nothing. */
static void json_count(struct as_json *json, const char *name, uint64_t count)
{
    if (count)
        as_json_u64(json, name, count);
    else
        as_json_null(json, name);
}

void as_summary_json(const struct as_summary *summary, struct as_json *json, const char *name)
{
    as_json_object(json, name);
    as_json_string(json, "file", as_store_file_name(summary->store));
    as_json_string(json, "program", as_store_meta(summary->store, AS_META_PROGRAM));
    as_json_string(json, "title", summary->program);
    as_json_string(json, "source", summary->source);
    as_json_string(json, "source_why", summary->source_why);
    as_json_string(json, "sampler", summary->sampler);
    as_json_string(json, "description", summary->description);
    as_json_bool(json, "exact", summary->exact);
    if (summary->precise >= 0)
        as_json_i64(json, "precise", summary->precise);
    as_json_string(json, "core", summary->core);
    if (summary->core_why)
        as_json_string(json, "core_why", summary->core_why);
    json_count(json, "instructions", summary->instructions);
    json_count(json, "cycles", summary->cycles);
    if (summary->cycles && summary->instructions)
        as_json_double(json, "ipc", (double)summary->instructions / (double)summary->cycles);
    as_json_double(json, "seconds", summary->seconds);
    as_json_u64(json, "period", summary->period);
    as_json_u64(json, "samples", summary->samples);
    as_json_u64(json, "lost", summary->lost);
    as_json_u64(json, "throttled", summary->throttled);
    as_json_u64(json, "dropped", summary->dropped);
    as_summary_error_json(summary, json);
    if (!summary->too_few)
        as_summary_trust_json(summary, json);
    as_json_bool(json, "cycle_stacks", summary->has_events);
    json_errors(summary, json);
    as_json_string(json, "part", summary->part);
    as_json_string(json, "region", summary->region);
    as_json_string(json, "partial", summary->partial);
    json_stack(summary, json, "states");
    json_stack_errors(summary, json, "states", "state_errors");
    json_stack(summary, json, "stack");
    json_stack_errors(summary, json, "stack", "stack_errors");
    json_counter_errors(summary, json);
    json_runs(summary, json);
    json_quality(summary, json);
    as_json_end(json);
}
