/* Queries of the tables that are in memory. */
#include "store/store_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define GETTER(function, type, table)                                                                                  \
    const type *function(const struct as_store *store, size_t *n)                                                      \
    {                                                                                                                  \
        *n = store->counts[AS_TABLE_##table];                                                                          \
        return store->rows[AS_TABLE_##table];                                                                          \
    }

GETTER(as_store_meta_all, struct as_store_pair, META)
GETTER(as_store_machine, struct as_store_pair, MACHINE)
GETTER(as_store_arguments, char *const, ARGUMENTS)
GETTER(as_store_environment, char *const, ENVIRONMENT)
GETTER(as_store_recordings, char *const, RECORDINGS)
GETTER(as_store_threads, struct as_store_thread, THREADS)
GETTER(as_store_series, struct as_store_series, SERIES)
GETTER(as_store_events, struct as_store_event, EVENTS)
GETTER(as_store_states, struct as_store_state, STATES)
GETTER(as_store_stacks, struct as_store_stack, STACKS)
GETTER(as_store_estimates, struct as_store_estimate, ESTIMATES)
GETTER(as_store_counters, struct as_store_counter, COUNTERS)
GETTER(as_store_quality, struct as_store_quality, QUALITY)
GETTER(as_store_runs, struct as_store_run, RUNS)
GETTER(as_store_modules, struct as_store_module, MODULES)
GETTER(as_store_files, char *const, FILES)
GETTER(as_store_functions, struct as_store_function, FUNCTIONS)
GETTER(as_store_blocks, struct as_store_block, BLOCKS)
GETTER(as_store_inlines, struct as_store_inline, INLINES)
GETTER(as_store_locations, struct as_store_location, INSTRUCTIONS)
GETTER(as_store_paths, struct as_store_path, PATHS)
GETTER(as_store_objects, struct as_store_object, OBJECTS)

const char *as_store_meta(const struct as_store *store, const char *key)
{
    size_t n;
    const struct as_store_pair *meta = as_store_meta_all(store, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(meta[i].key, key) == 0)
            return meta[i].value;
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
    size_t n;
    const struct as_store_series *series = as_store_series(store, &n);
    for (size_t i = 0; wanted && i < n; i++)
        if (strcmp(series[i].name, wanted) == 0)
            return (uint32_t)i;
    return name || n == 0 ? AS_STORE_NONE : 0;
}

double as_store_estimate_of(const struct as_store *store, uint32_t series, const char *measure, const char *granularity)
{
    size_t n;
    const struct as_store_estimate *estimates = as_store_estimates(store, &n);
    for (size_t i = 0; i < n; i++) {
        const struct as_store_estimate *estimate = &estimates[i];
        if (estimate->series == series && strcmp(estimate->measure, measure) == 0 &&
            strcmp(estimate->granularity, granularity) == 0)
            return estimate->value;
    }
    return NAN;
}

static const char *event_name(const struct as_store *store, uint32_t bit)
{
    size_t n;
    const struct as_store_event *events = as_store_events(store, &n);
    for (size_t i = 0; i < n; i++)
        if (events[i].bit == bit)
            return events[i].name;
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

/* The list is for texts that need no "part of", and for profiles that were recorded before texts of fractions began with
 * it. */
bool as_store_is_part(const struct as_store_quality *quality)
{
    static const char *const keys[] = {"unmatched_files", "not_sampled", "not_unwound", "start_up",
                                       "call_paths",      "agent_peak",  "cut_chains",  "lone_chains",
                                       "sampled",         "warming",     "elapsed"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (quality->key && strcmp(quality->key, keys[i]) == 0)
            return true;
    return quality->text && strncmp(quality->text, "part of ", 8) == 0;
}
