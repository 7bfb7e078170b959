/* The first pass: what was run, and which series there are. These tables stay in memory. See merge_internal.h. */
#include "base/counters.h"
#include "merge/merge_internal.h"
#include "score/confidence.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static bool too_large(const struct as_merge *merge, struct as_error *err)
{
    return as_error_set(err, "%s: its numbers add up to more than 63 bits: give weights with fewer digits",
                        as_merge_name(merge, merge->at));
}

static bool add_to(uint64_t *sum, uint64_t value)
{
    return !__builtin_add_overflow(*sum, value, sum) && *sum <= INT64_MAX;
}

/* For a count on its own: rounded to the nearest integer. */
static bool add_weighted(const struct as_merge *merge, uint64_t *sum, uint64_t value)
{
    struct as_weight weight = merge->inputs[merge->at].weight;
    uint64_t carry = weight.whole / 2, scaled;
    return as_weight_times(weight, value, &carry, &scaled) && add_to(sum, scaled);
}

/* ---- counters, runs ---- */

/* Runs of a program with four threads have four of them, whatever the runs count. */
static bool add_counter(const struct as_merge *merge, struct as_store_counter *sum, uint64_t value)
{
    const struct as_counter_info *known = as_counter_find(sum->name);
    if (!known || known->adds != AS_COUNTER_MOST)
        return add_weighted(merge, &sum->value, value);
    sum->value = value > sum->value ? value : sum->value;
    return true;
}

static bool add_counters(struct as_merge *merge, const struct as_store *store, struct as_error *err)
{
    size_t n, k;
    const struct as_store_counter *counters = as_store_counters(store, &n);
    for (size_t i = 0; i < n; i++) {
        for (k = 0; k < merge->counters.len && strcmp(merge->counters.data[k].name, counters[i].name) != 0; k++)
            ;
        if (k == merge->counters.len)
            *as_vec_push(&merge->counters) = (struct as_store_counter){as_merge_keep(merge, counters[i].name), 0};
        if (!add_counter(merge, &merge->counters.data[k], counters[i].value))
            return too_large(merge, err);
    }
    return true;
}

/* Parts of one run are one row: what they count is added up. */
static bool add_part(struct as_merge *merge, const struct as_store_run *part)
{
    struct as_weight weight = merge->inputs[merge->at].weight;
    if (merge->runs.len == 0)
        *as_vec_push(&merge->runs) = (struct as_store_run){.number = 1, .status = part->status};
    struct as_store_run *sum = &merge->runs.data[0];
    sum->seconds += part->seconds * (double)weight.part / (double)weight.whole;
    return add_weighted(merge, &sum->cycles, part->cycles) &&
           add_weighted(merge, &sum->instructions, part->instructions) && add_to(&sum->samples, part->samples);
}

static bool add_runs(struct as_merge *merge, const struct as_store *store, struct as_error *err)
{
    size_t n;
    const struct as_store_run *runs = as_store_runs(store, &n);
    for (size_t i = 0; i < n; i++) {
        if (merge->options->parts && !add_part(merge, &runs[i]))
            return too_large(merge, err);
        if (merge->options->parts)
            continue;
        *as_vec_push(&merge->runs) = runs[i];
        merge->runs.data[merge->runs.len - 1].number = (uint32_t)merge->runs.len;
    }
    return true;
}

/* Refuses a recording that an input before this one has, too: a copy of its profile, or one that it was merged into. */
static bool add_recordings(struct as_merge *merge, const struct as_store *store, struct as_error *err)
{
    size_t n;
    bool is_new = true;
    struct as_str key = {0};
    const char *const *identities = as_store_recordings(store, &n);
    for (size_t i = 0; i < n && is_new; i++) {
        as_str_clear(&key);
        as_key_add_text(&key, identities[i]);
        uint32_t number = as_identities_find(&merge->identities[AS_TABLE_RECORDINGS], &key, &is_new);
        if (is_new)
            *as_vec_push(&merge->recordings) =
                (struct as_merge_recording){as_merge_keep(merge, identities[i]), merge->at};
        else
            as_error_set_status(err, AS_EXIT_USAGE,
                                "%s and %s have a recording in common: its time would count twice; leave one of them "
                                "out, or use --weights for that",
                                as_merge_name(merge, merge->recordings.data[number].input),
                                as_merge_name(merge, merge->at));
    }
    as_str_free(&key);
    return is_new;
}

/* ---- threads ---- */

/* The model numbers threads in order, so a number means the same in every run. Real thread ids differ from run to run:
 * there a process is matched by its position among the profile's processes, and a thread by its name and its position
 * among threads of that name. */
static void thread_key(const struct as_store *store, const struct as_store_thread *thread, struct as_map *processes,
                       struct as_str *key)
{
    const char *source = as_store_meta(store, AS_META_SOURCE);
    as_str_clear(key);
    if (source && strcmp(source, "model") == 0) {
        as_key_add_u64(key, thread->number);
        as_key_add_u64(key, (uint64_t)thread->process);
    } else {
        uint64_t *place = as_map_put(processes, (uint64_t)thread->process);
        *place = *place ? *place : processes->len;
        as_key_add_u64(key, *place);
    }
    as_key_add_text(key, thread->name);
}

uint32_t *as_merge_thread_numbers(struct as_merge *merge, struct as_store *store)
{
    size_t n;
    struct as_str key = {0};
    struct as_map processes = {0};
    const struct as_store_thread *threads = as_store_threads(store, &n);
    uint32_t *numbers = as_alloc_array(n + 1, sizeof *numbers);
    for (size_t i = 0; i < n; i++) {
        bool is_new;
        thread_key(store, &threads[i], &processes, &key);
        numbers[i] = as_identities_find(&merge->identities[AS_TABLE_THREADS], &key, &is_new);
        if (is_new)
            *as_vec_push(&merge->threads) = (struct as_store_thread){.number = threads[i].number,
                                                                     .process = threads[i].process,
                                                                     .name = as_merge_keep(merge, threads[i].name)};
    }
    as_map_free(&processes);
    as_str_free(&key);
    return numbers;
}

static bool add_threads(struct as_merge *merge, struct as_store *store, struct as_error *err)
{
    size_t n;
    const struct as_store_thread *threads = as_store_threads(store, &n);
    uint32_t *numbers = as_merge_thread_numbers(merge, store);
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) {
        struct as_store_thread *sum = &merge->threads.data[numbers[i]];
        ok = add_weighted(merge, &sum->cycles, threads[i].cycles) &&
             add_weighted(merge, &sum->instructions, threads[i].instructions) &&
             add_to(&sum->samples, threads[i].samples);
    }
    free(numbers);
    return ok || too_large(merge, err);
}

/* ---- events, states ---- */

static bool add_events(struct as_merge *merge, const struct as_store *store, struct as_error *err)
{
    size_t n, k;
    const struct as_store_event *events = as_store_events(store, &n);
    for (size_t i = 0; i < n; i++) {
        for (k = 0; k < merge->events.len && merge->events.data[k].bit != events[i].bit; k++)
            ;
        if (k == merge->events.len) {
            *as_vec_push(&merge->events) = (struct as_store_event){
                events[i].bit, as_merge_keep(merge, events[i].name), as_merge_keep(merge, events[i].description),
                events[i].parent, as_merge_keep(merge, events[i].state)};
        } else if (strcmp(merge->events.data[k].name, events[i].name) != 0) {
            return as_error_set(err,
                                "%s and %s cannot be merged: event %" PRIu32 " is %.60s in one and %.60s in the other",
                                as_merge_name(merge, 0), as_merge_name(merge, merge->at), events[i].bit,
                                merge->events.data[k].name, events[i].name);
        }
    }
    return true;
}

static uint32_t find_state(struct as_merge *merge, const char *name, bool *is_new)
{
    struct as_str key = {0};
    as_key_add_text(&key, name);
    uint32_t number = as_identities_find(&merge->identities[AS_TABLE_STATES], &key, is_new);
    as_str_free(&key);
    return number;
}

uint32_t *as_merge_state_numbers(struct as_merge *merge, struct as_store *store)
{
    size_t n;
    const struct as_store_state *states = as_store_states(store, &n);
    uint32_t *numbers = as_alloc_array(n + 1, sizeof *numbers);
    for (size_t i = 0; i < n; i++) {
        bool is_new;
        numbers[i] = find_state(merge, states[i].name, &is_new);
        if (is_new)
            *as_vec_push(&merge->states) = (struct as_store_state){as_merge_keep(merge, states[i].name),
                                                                   as_merge_keep(merge, states[i].description)};
    }
    return numbers;
}

/* ---- series ---- */

static struct as_merge_series *find_series(struct as_merge *merge, const char *name)
{
    for (size_t i = 0; i < merge->series.len; i++)
        if (strcmp(merge->series.data[i].row.name, name) == 0)
            return &merge->series.data[i];
    return NULL;
}

uint32_t *as_merge_series_numbers(struct as_merge *merge, struct as_store *store)
{
    size_t n;
    const struct as_store_series *series = as_store_series(store, &n);
    uint32_t *numbers = as_alloc_array(n + 1, sizeof *numbers);
    for (size_t i = 0; i < n; i++) {
        const struct as_merge_series *known = find_series(merge, series[i].name);
        numbers[i] = known && !known->is_left_out ? known->number : AS_STORE_NONE;
    }
    return numbers;
}

/* Whether two columns of series have one value. */
static bool same_value(const struct as_store_column *column, const struct as_store_series *a,
                       const struct as_store_series *b)
{
    struct as_str x = {0}, y = {0};
    as_key_add(&x, column, a);
    as_key_add(&y, column, b);
    bool same = strcmp(as_str_get(&x), as_str_get(&y)) == 0;
    as_str_free(&x);
    as_str_free(&y);
    return same;
}

/* The first column in which two series of one name must not differ but do. The events of a modelled series were
 * requested, so they must be equal; those of other series are the ones that occurred. */
static const char *contradiction(const struct as_store *store, const struct as_store_series *a,
                                 const struct as_store_series *b)
{
    const struct as_store_table *table = &as_store_tables[AS_TABLE_SERIES];
    const char *source = as_store_meta(store, AS_META_SOURCE);
    for (size_t i = 0; i < table->n_columns; i++)
        if (table->columns[i].merge == AS_MERGE_EQUAL && !same_value(&table->columns[i], a, b))
            return table->columns[i].name;
    return source && strcmp(source, "model") == 0 && a->events != b->events ? "events" : NULL;
}

/* Widens the scale so that the times of this input are integers, too. */
static bool widen_scale(const struct as_merge *merge, uint64_t *scale, uint64_t own)
{
    struct as_weight weight = merge->inputs[merge->at].weight;
    uint64_t need;
    return !__builtin_mul_overflow(own, weight.whole, &need) &&
           as_lcm(*scale, need / as_gcd(need, weight.part), scale) && as_lcm(*scale, own, scale);
}

/* If periods or rates differ, the merged series has none. */
static bool mix_series(const struct as_merge *merge, struct as_store_series *sum, const struct as_store_series *row)
{
    sum->period = sum->period == row->period ? sum->period : 0;
    sum->rate = sum->rate == row->rate ? sum->rate : 0;
    sum->events |= row->events;
    return widen_scale(merge, &sum->scale, row->scale) && add_to(&sum->samples, row->samples) &&
           add_to(&sum->lost, row->lost) && add_to(&sum->throttled, row->throttled) &&
           add_to(&sum->dropped, row->dropped);
}

static bool leave_out(struct as_merge *merge, struct as_merge_series *series, const char *why, struct as_error *err)
{
    if (!merge->options->force)
        return as_error_set(err,
                            "%s and %s cannot be merged: their series %.60s differs in its %s; --force leaves it out",
                            as_merge_name(merge, 0), as_merge_name(merge, merge->at), series->row.name, why);
    if (!series->is_left_out)
        as_notice(&merge->options->notices, AS_LOG_NOTE, "series %s is left out: the profiles differ in its %s",
                  series->row.name, why);
    series->is_left_out = true;
    return true;
}

static bool add_series(struct as_merge *merge, const struct as_store *store, struct as_error *err)
{
    size_t n;
    const struct as_store_series *series = as_store_series(store, &n);
    for (size_t i = 0; i < n; i++) {
        struct as_merge_series *known = find_series(merge, series[i].name);
        if (!known) {
            known = as_vec_push(&merge->series);
            *known = (struct as_merge_series){.row = series[i], .met = 1};
            known->row.name = as_merge_keep(merge, series[i].name);
            known->row.description = as_merge_keep(merge, series[i].description);
            known->row.unit = as_merge_keep(merge, series[i].unit);
            known->row.event = as_merge_keep(merge, series[i].event);
            if (!widen_scale(merge, &known->row.scale, series[i].scale))
                return too_large(merge, err);
            continue;
        }
        const char *why = contradiction(store, &known->row, &series[i]);
        known->met++;
        if (why && !leave_out(merge, known, why, err))
            return false;
        if (!why && !mix_series(merge, &known->row, &series[i]))
            return too_large(merge, err);
    }
    return true;
}

/* A series that is missing in some inputs would cover only a part of the runs, so it is refused or left out. */
bool as_merge_series_end(struct as_merge *merge, struct as_error *err)
{
    uint32_t number = 0;
    for (size_t i = 0; i < merge->series.len; i++) {
        struct as_merge_series *series = &merge->series.data[i];
        if (series->met < merge->n && !merge->options->force)
            return as_error_set(err,
                                "these profiles cannot be merged: %zu of %zu have the series %.60s, the others do not; "
                                "--force leaves it out",
                                series->met, merge->n, series->row.name);
        if (series->met < merge->n)
            as_notice(&merge->options->notices, AS_LOG_NOTE, "series %s is left out: %zu of %zu profiles have it",
                      series->row.name, series->met, merge->n);
        series->is_left_out |= series->met < merge->n;
        series->number = series->is_left_out ? AS_STORE_NONE : number++;
    }
    if (number == 0 && merge->series.len > 0)
        return as_error_set(err, "these profiles cannot be merged: no series is left");
    merge->sums = as_alloc_array((size_t)number + 1, sizeof *merge->sums);
    return true;
}

bool as_merge_about(struct as_merge *merge, struct as_store *store, struct as_error *err)
{
    as_identities_begin(&merge->identities[AS_TABLE_THREADS]);
    as_identities_begin(&merge->identities[AS_TABLE_STATES]);
    as_identities_begin(&merge->identities[AS_TABLE_RECORDINGS]);
    if (!as_merge_meta(merge, store, err) || !add_recordings(merge, store, err) || !add_counters(merge, store, err) ||
        !add_threads(merge, store, err) || !add_events(merge, store, err) || !add_series(merge, store, err) ||
        !add_runs(merge, store, err))
        return false;
    as_merge_quality(merge, store);
    free(as_merge_state_numbers(merge, store));
    return true;
}

/* ---- the output ---- */

static void add_spread(struct as_store_writer *writer, const char *what, const double *values, size_t n)
{
    struct as_spread spread = as_spread_of(values, n);
    const struct {
        const char *name;
        double value;
    } parts[] = {
        {"mean", spread.mean}, {"deviation", spread.deviation}, {"least", spread.least}, {"most", spread.most}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char key[64];
        snprintf(key, sizeof key, "%s_%s", what, parts[i].name);
        as_store_add_meta_double(writer, key, parts[i].value);
    }
}

static void add_spreads(struct as_merge *merge)
{
    size_t n = merge->runs.len;
    double *cycles = as_alloc_array(n, sizeof *cycles), *seconds = as_alloc_array(n, sizeof *seconds);
    for (size_t i = 0; i < n; i++) {
        cycles[i] = (double)merge->runs.data[i].cycles;
        seconds[i] = merge->runs.data[i].seconds;
    }
    add_spread(merge->writer, "cycles", cycles, n);
    add_spread(merge->writer, "seconds", seconds, n);
    free(cycles);
    free(seconds);
}

void as_merge_write_about(struct as_merge *merge)
{
    struct as_store_writer *writer = merge->writer;
    as_merge_write_meta(merge);
    for (size_t i = 0; i < merge->counters.len; i++)
        as_store_add(writer, AS_TABLE_COUNTERS, &merge->counters.data[i]);
    as_merge_write_quality(merge);
    for (size_t i = 0; i < merge->runs.len; i++)
        as_store_add(writer, AS_TABLE_RUNS, &merge->runs.data[i]);
    for (size_t i = 0; i < merge->recordings.len && !merge->options->parts;
         i++) /* parts of one run are one recording */
        as_store_add_recording(writer, merge->recordings.data[i].identity);
    if (merge->runs.len > 1)
        add_spreads(merge);
    for (size_t i = 0; i < merge->threads.len; i++)
        as_store_add(writer, AS_TABLE_THREADS, &merge->threads.data[i]);
    for (size_t i = 0; i < merge->series.len; i++)
        if (!merge->series.data[i].is_left_out)
            as_store_add(writer, AS_TABLE_SERIES, &merge->series.data[i].row);
    for (size_t i = 0; i < merge->events.len; i++)
        as_store_add(writer, AS_TABLE_EVENTS, &merge->events.data[i]);
    for (size_t i = 0; i < merge->states.len; i++)
        as_store_add(writer, AS_TABLE_STATES, &merge->states.data[i]);
}
