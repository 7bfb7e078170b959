/* The tables that are read when a profile is opened, and what can be asked of them. */
#include "store/store_internal.h"
#include "store/store_sql.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool get_pair(struct as_store *store, sqlite3_stmt *row, struct as_store_pair *pair)
{
    return as_store_get(row, "ss", &pair->key, &pair->value) && pair->key && pair->value &&
           as_store_keep(store, &pair->key) && as_store_keep(store, &pair->value);
}

static bool meta_row(struct as_store *store, sqlite3_stmt *row)
{
    return get_pair(store, row, as_vec_push(&store->meta));
}

static bool machine_row(struct as_store *store, sqlite3_stmt *row)
{
    return get_pair(store, row, as_vec_push(&store->machine));
}

static bool argument_row(struct as_store *store, sqlite3_stmt *row)
{
    const char **text = as_vec_push(&store->arguments);
    return as_store_get(row, "s", text) && *text && as_store_keep(store, text);
}

static bool environment_row(struct as_store *store, sqlite3_stmt *row)
{
    const char **text = as_vec_push(&store->environment);
    return as_store_get(row, "s", text) && *text && as_store_keep(store, text);
}

static bool counter_row(struct as_store *store, sqlite3_stmt *row)
{
    struct as_store_counter *counter = as_vec_push(&store->counters);
    return as_store_get(row, "su", &counter->name, &counter->value) && counter->name &&
           as_store_keep(store, &counter->name);
}

static bool quality_row(struct as_store *store, sqlite3_stmt *row)
{
    struct as_store_quality *quality = as_vec_push(&store->quality);
    return as_store_get(row, "sds", &quality->key, &quality->value, &quality->text) && quality->key &&
           as_store_keep(store, &quality->key) && as_store_keep(store, &quality->text);
}

static bool run_row(struct as_store *store, sqlite3_stmt *row)
{
    struct as_store_run *run = as_vec_push(&store->runs);
    int64_t status;
    if (!as_store_get(row, "wcccdi", &run->number, &run->cycles, &run->instructions, &run->samples, &run->seconds,
                      &status))
        return false;
    run->status = (int32_t)status;
    return run->status == status;
}

static bool thread_row(struct as_store *store, sqlite3_stmt *row)
{
    struct as_store_thread *thread = as_vec_push(&store->threads);
    uint32_t id;
    return as_store_get(row, "wwisccc", &id, &thread->number, &thread->process, &thread->name, &thread->cycles,
                        &thread->instructions, &thread->samples) &&
           id == store->threads.len - 1 && as_store_keep(store, &thread->name);
}

static bool keep_series(struct as_store *store, struct as_store_series *series)
{
    return series->name && as_store_keep(store, &series->name) && as_store_keep(store, &series->description) &&
           as_store_keep(store, &series->unit) && as_store_keep(store, &series->event);
}

static bool series_row(struct as_store *store, sqlite3_stmt *row)
{
    struct as_store_series *series = as_vec_push(&store->series);
    uint32_t id, exact;
    int64_t precise;
    if (!as_store_get(row, "wsswsusicdccccu", &id, &series->name, &series->description, &exact, &series->unit,
                      &series->scale, &series->event, &precise, &series->period, &series->rate, &series->samples,
                      &series->lost, &series->throttled, &series->dropped, &series->events))
        return false;
    series->exact = exact != 0;
    series->precise = (int32_t)precise;
    return id == store->series.len - 1 && series->scale > 0 && series->scale <= INT64_MAX &&
           series->precise == precise && !isnan(series->rate) && keep_series(store, series);
}

static bool estimate_row(struct as_store *store, sqlite3_stmt *row)
{
    struct as_store_estimate *estimate = as_vec_push(&store->estimates);
    return as_store_get(row, "wssd", &estimate->series, &estimate->measure, &estimate->granularity, &estimate->value) &&
           estimate->series < store->series.len && estimate->measure && estimate->granularity &&
           as_store_keep(store, &estimate->measure) && as_store_keep(store, &estimate->granularity);
}

static bool event_row(struct as_store *store, sqlite3_stmt *row)
{
    struct as_store_event *event = as_vec_push(&store->events);
    return as_store_get(row, "wssns", &event->bit, &event->name, &event->description, &event->parent, &event->state) &&
           event->bit < 64 && as_store_valid(event->parent, 64) && event->name && as_store_keep(store, &event->name) &&
           as_store_keep(store, &event->description) && as_store_keep(store, &event->state);
}

static bool state_row(struct as_store *store, sqlite3_stmt *row)
{
    struct as_store_state *state = as_vec_push(&store->states);
    uint32_t id;
    return as_store_get(row, "wss", &id, &state->name, &state->description) && id == store->states.len - 1 &&
           state->name && as_store_keep(store, &state->name) && as_store_keep(store, &state->description);
}

static bool stack_row(struct as_store *store, sqlite3_stmt *row)
{
    struct as_store_stack *stack = as_vec_push(&store->stacks);
    return as_store_get(row, "wssc", &stack->series, &stack->stack, &stack->name, &stack->units) &&
           stack->series < store->series.len && stack->stack && stack->name &&
           as_store_add_up(&store->stack_sums, stack->units, 0, 0) && as_store_keep(store, &stack->stack) &&
           as_store_keep(store, &stack->name);
}

bool as_store_read_short(struct as_store *store, struct as_error *err)
{
    static const struct as_store_table tables[] = {
        {"meta", "SELECT key, value FROM meta ORDER BY key", meta_row},
        {"machine", "SELECT key, value FROM machine ORDER BY key", machine_row},
        {"arguments", "SELECT value FROM arguments ORDER BY id", argument_row},
        {"environment", "SELECT value FROM environment ORDER BY id", environment_row},
        {"counters", "SELECT name, value FROM counters ORDER BY name", counter_row},
        {"quality", "SELECT key, value, text FROM quality ORDER BY id", quality_row},
        {"runs", "SELECT number, cycles, instructions, samples, seconds, status FROM runs ORDER BY number", run_row},
        {"threads", "SELECT id, number, process, name, cycles, instructions, samples FROM threads ORDER BY id",
         thread_row},
        {"series",
         "SELECT id, name, description, exact, unit, scale, event, precise, period, rate, samples, lost, throttled,"
         " dropped, events FROM series ORDER BY id",
         series_row},
        {"estimates", "SELECT series, measure, granularity, value FROM estimates ORDER BY series, measure, granularity",
         estimate_row},
        {"events", "SELECT bit, name, description, parent, state FROM events ORDER BY bit", event_row},
        {"states", "SELECT id, name, description FROM states ORDER BY id", state_row},
        {"stacks", "SELECT series, stack, name, units FROM stacks ORDER BY id", stack_row},
    };
    return as_store_read_tables(store, tables, sizeof tables / sizeof *tables, err);
}

/* ---- answers ---- */

const char *as_store_meta(const struct as_store *store, const char *key)
{
    for (size_t i = 0; i < store->meta.len; i++)
        if (strcmp(store->meta.data[i].key, key) == 0)
            return store->meta.data[i].value;
    return NULL;
}

bool as_store_meta_u64(const struct as_store *store, const char *key, uint64_t *value)
{
    const char *text = as_store_meta(store, key);
    char *end;
    if (!text || *text < '0' || *text > '9')
        return false;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

double as_store_meta_double(const struct as_store *store, const char *key)
{
    const char *text = as_store_meta(store, key);
    char *end;
    if (!text || *text == '\0')
        return NAN;
    double value = strtod(text, &end);
    return *end == '\0' ? value : NAN;
}

uint32_t as_store_find_series(const struct as_store *store, const char *name)
{
    const char *wanted = name ? name : as_store_meta(store, AS_META_SERIES);
    for (size_t i = 0; wanted && i < store->series.len; i++)
        if (strcmp(store->series.data[i].name, wanted) == 0)
            return (uint32_t)i;
    return name || store->series.len == 0 ? AS_STORE_NONE : 0;
}

double as_store_estimate_of(const struct as_store *store, uint32_t series, const char *measure, const char *granularity)
{
    for (size_t i = 0; i < store->estimates.len; i++) {
        const struct as_store_estimate *estimate = &store->estimates.data[i];
        if (estimate->series == series && strcmp(estimate->measure, measure) == 0 &&
            strcmp(estimate->granularity, granularity) == 0)
            return estimate->value;
    }
    return NAN;
}

static const char *event_name(const struct as_store *store, uint32_t bit)
{
    for (size_t i = 0; i < store->events.len; i++)
        if (store->events.data[i].bit == bit)
            return store->events.data[i].name;
    return NULL;
}

const char *as_store_events_name(const struct as_store *store, uint64_t events, char *text, size_t size)
{
    size_t used = 0;
    if (events == 0)
        snprintf(text, size, "base");
    for (uint32_t bit = 0; bit < 64 && used < size; bit++) {
        if (!(events >> bit & 1))
            continue;
        const char *name = event_name(store, bit), *plus = used ? "+" : "";
        used += (size_t)(name ? snprintf(text + used, size - used, "%s%s", plus, name)
                              : snprintf(text + used, size - used, "%sbit %" PRIu32, plus, bit));
    }
    return text;
}

#define GETTER(function, type, array)                                                                                  \
    const type *function(const struct as_store *store, size_t *n)                                                      \
    {                                                                                                                  \
        *n = store->array.len;                                                                                         \
        return store->array.data;                                                                                      \
    }

GETTER(as_store_meta_all, struct as_store_pair, meta)
GETTER(as_store_machine, struct as_store_pair, machine)
GETTER(as_store_arguments, char *const, arguments)
GETTER(as_store_environment, char *const, environment)
GETTER(as_store_threads, struct as_store_thread, threads)
GETTER(as_store_series, struct as_store_series, series)
GETTER(as_store_events, struct as_store_event, events)
GETTER(as_store_states, struct as_store_state, states)
GETTER(as_store_stacks, struct as_store_stack, stacks)
GETTER(as_store_estimates, struct as_store_estimate, estimates)
GETTER(as_store_counters, struct as_store_counter, counters)
GETTER(as_store_quality, struct as_store_quality, quality)
GETTER(as_store_runs, struct as_store_run, runs)
GETTER(as_store_modules, struct as_store_module, modules)
GETTER(as_store_files, char *const, files)
GETTER(as_store_functions, struct as_store_function, functions)
GETTER(as_store_blocks, struct as_store_block, blocks)
GETTER(as_store_inlines, struct as_store_inline, inlines)
GETTER(as_store_places, struct as_store_place, places)
GETTER(as_store_paths, struct as_store_path, paths)
GETTER(as_store_objects, struct as_store_object, objects)
