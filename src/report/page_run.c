/* The run in the page's document: summary, threads, counters, machine. See page_document.h. */
#include "base/alloc.h"
#include "base/counters.h"
#include "base/path.h"
#include "base/str.h"
#include "report/page_document.h"
#include "report/report_json.h"
#include "report/report_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void arguments_json(const struct as_store *store, struct as_json *json)
{
    size_t n;
    const char *const *arguments = as_store_arguments(store, &n);
    struct as_str text = {0};
    for (size_t i = 1; i < n; i++) {
        as_str_add(&text, i > 1 ? " " : "");
        as_str_add(&text, arguments[i]);
    }
    as_page_string(json, "arguments", as_str_get(&text));
    as_str_free(&text);
}

static void state_errors_json(const struct as_page_document *document, struct as_json *json,
                              const struct as_store_stack *parts, size_t n)
{
    const struct as_summary *summary = &document->view->summary;
    if (!summary->stack_errors)
        return;
    as_json_object(json, "state_errors");
    for (size_t i = 0; i < n; i++)
        if (as_summary_is_of_stack(summary, &parts[i], "states"))
            as_json_double(json, parts[i].name, round(summary->stack_errors[i] * 1e6) / 1e6);
    as_json_end(json);
}

static void states_json(const struct as_page_document *document, struct as_json *json)
{
    size_t n;
    const struct as_store_stack *parts = as_store_stacks(document->view->store, &n);
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        if (!as_summary_is_of_stack(&document->view->summary, &parts[i], "states"))
            continue;
        if (!any)
            as_json_object(json, "states");
        any = true;
        as_json_double(json, parts[i].name, round(as_view_cycles(document->view, parts[i].units) * 1000) / 1000);
    }
    if (any)
        as_json_end(json);
    state_errors_json(document, json, parts, n);
}

static char *note_text(const struct as_store_quality *quality)
{
    const char *text = quality->text ? quality->text : "";
    if (isnan(quality->value) || quality->value == 0)
        return as_format("%s", text);
    if (as_store_is_part(quality))
        return as_part_text(quality->value, text);
    return as_format("%.15g: %s", quality->value, text);
}

/* Clocks count neither cycles nor instructions; these are null, not 0. */
static void counted_json(struct as_json *json, const char *name, uint64_t value)
{
    if (value)
        as_json_u64(json, name, value);
    else
        as_json_null(json, name);
}

static void notes_json(const struct as_page_document *document, struct as_json *json)
{
    size_t n;
    const struct as_store_quality *quality = as_store_quality(document->view->store, &n);
    as_json_array(json, "notes");
    if (document->shortened)
        as_json_string(json, NULL,
                       "the functions with the least time are shown without instructions, because there are too many "
                       "for a page; assay annotate shows them");
    if (document->folded)
        as_json_string(json, NULL, "the smallest branches of the call tree are counted as time of their callers");
    for (size_t i = 0; i < n; i++) {
        char *text = note_text(&quality[i]);
        as_page_string(json, NULL, text);
        free(text);
    }
    as_json_end(json);
}

/* Number 0 is not a thread: it stands for samples whose thread is unknown, or for all threads of a process together. */
static uint64_t count_threads(const struct as_view *view)
{
    uint64_t real = 0;
    for (size_t i = 0; i < view->n_threads; i++)
        real += view->thread[i].number != 0;
    return real;
}

/* For the flame graph: why functions stand in it without their callers. */
static void chains_json(const struct as_page_document *document, struct as_json *json)
{
    const struct as_store *store = document->view->store;
    const struct as_store_quality *rows[] = {as_summary_cut_chains(store), as_summary_made_chains(store),
                                             as_summary_lone_chains(store)};
    struct as_str all = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = rows[i] ? note_text(rows[i]) : NULL;
        if (text)
            as_str_addf(&all, "%s%s", all.len ? ". " : "", text);
        free(text);
    }
    if (all.len)
        as_page_string(json, "chains", as_str_get(&all));
    as_str_free(&all);
}

static void summary_json(const struct as_page_document *document, struct as_json *json)
{
    const struct as_summary *summary = &document->view->summary;
    const struct as_store *store = document->view->store;
    as_json_object(json, "summary");
    as_page_string(json, "program", summary->program ? summary->program : as_path_base(as_store_file_name(store)));
    arguments_json(store, json);
    as_page_string(json, "source", summary->source ? summary->source : "?");
    as_page_string(json, "sampler", summary->sampler);
    as_page_string(json, "core", summary->core);
    as_page_string(json, "recorded", as_store_meta(store, AS_META_DATE));
    counted_json(json, "instructions", summary->instructions);
    counted_json(json, "cycles", summary->cycles);
    as_json_double(json, "seconds", summary->seconds);
    counted_json(json, "threads", count_threads(document->view));
    as_json_u64(json, "samples", summary->samples);
    as_json_u64(json, "lost", summary->lost);
    as_json_u64(json, "throttled", summary->throttled);
    char *period = summary->period ? as_format("%s %s", AS_COUNT(summary->period), AS_SHOW(summary->unit)) : NULL;
    as_page_string(json, "period", period);
    free(period);
    as_summary_error_json(summary, json);
    as_summary_trust_json(summary, json);
    as_page_string(json, "partial", summary->partial);
    as_page_string(json, "part", summary->part);
    as_page_string(json, "region", summary->region);
    as_page_string(json, "class", as_store_meta(store, "class"));
    states_json(document, json);
    if (summary->n_runs > 1) {
        as_json_object(json, "repeat");
        as_json_u64(json, "runs", summary->n_runs);
        as_json_double(json, "mean", summary->run_cycles.mean);
        as_json_double(json, "spread", summary->run_cycles.deviation);
        as_json_end(json);
    }
    chains_json(document, json);
    notes_json(document, json);
    as_json_end(json);
}

/* "thread 3 worker"; "(all threads)" for what stands for several at once. The caller frees. */
static char *name_thread(const struct as_store_thread *thread)
{
    const char *name = thread->name ? thread->name : "";
    if (*name && thread->number == 0)
        return as_strdup(name);
    return as_format("thread %u%s%s", thread->number, *name ? " " : "", name);
}

static void threads_json(const struct as_view *view, struct as_json *json)
{
    as_json_array(json, "threads");
    for (size_t i = 0; i < view->n_threads; i++) {
        char *name = name_thread(&view->thread[i]);
        as_json_object(json, NULL);
        as_page_string(json, "name", name);
        free(name);
        counted_json(json, "instructions", view->thread[i].instructions);
        counted_json(json, "cycles", view->thread[i].cycles);
        as_json_end(json);
    }
    as_json_end(json);
}

/* Keys are SECTION.NAME; keys without a section come first, as "machine". */
static void machine_json(const struct as_page_document *document, struct as_json *json)
{
    size_t n;
    const struct as_store_pair *pairs = as_store_machine(document->view->store, &n);
    const char *open = NULL;
    size_t open_length = 0;
    as_json_array(json, "machine");
    for (int with_section = 0; with_section < 2; with_section++)
        for (size_t i = 0; i < n; i++) {
            const char *dot = strchr(pairs[i].key, '.');
            size_t length = dot ? (size_t)(dot - pairs[i].key) : 0;
            if ((dot != NULL) != with_section)
                continue;
            if (!open || length != open_length || strncmp(open, pairs[i].key, length) != 0) {
                if (open) {
                    as_json_end(json);
                    as_json_end(json);
                }
                char *name = as_strndup(dot ? pairs[i].key : "machine", dot ? length : 7);
                as_json_object(json, NULL);
                as_page_string(json, "name", name);
                as_json_array(json, "rows");
                free(name);
                open = pairs[i].key;
                open_length = length;
            }
            as_json_object(json, NULL);
            as_page_string(json, "name", dot ? dot + 1 : pairs[i].key);
            as_page_string(json, "value", pairs[i].value);
            if (document->options->meaning(pairs[i].key))
                as_json_string(json, "note", document->options->meaning(pairs[i].key));
            as_json_end(json);
        }
    if (open) {
        as_json_end(json);
        as_json_end(json);
    }
    as_json_end(json);
}

static void run_json(const struct as_store *store, struct as_json *json)
{
    size_t n;
    const struct as_store_pair *meta = as_store_meta_all(store, &n);
    as_json_array(json, "run");
    for (size_t i = 0; i < n; i++) {
        if (strcmp(meta[i].key, AS_META_MACHINE) == 0)
            continue;
        as_json_object(json, NULL);
        as_page_string(json, "name", meta[i].key);
        as_page_string(json, "value", meta[i].value ? meta[i].value : "");
        as_json_end(json);
    }
    const char *const *environment = as_store_environment(store, &n);
    for (size_t i = 0; i < n; i++) {
        as_json_object(json, NULL);
        as_json_string(json, "name", "environment");
        as_page_string(json, "value", environment[i]);
        as_json_end(json);
    }
    as_json_end(json);
}

/* A counter in the table of counters has a description. */
static void counter_json(const struct as_view *view, struct as_json *json, const struct as_store_counter *counter)
{
    const struct as_counter_info *known = as_counter_find(counter->name);
    as_json_object(json, NULL);
    as_page_string(json, "name", counter->name);
    as_json_u64(json, "value", counter->value);
    double error = as_store_estimate_of(view->store, view->series, AS_STORE_COUNTER_ERROR, counter->name);
    if (!isnan(error))
        as_json_double(json, "error", error);
    if (known) {
        as_json_string(json, "group", known->group);
        as_json_string(json, "label", known->label);
    }
    if (known && known->whole) {
        as_json_string(json, "whole", known->whole);
        as_json_string(json, "of", known->of);
    }
    as_json_end(json);
}

/* In the table's order, followed by unknown counters by name. */
static void counters_json(const struct as_view *view, struct as_json *json)
{
    size_t n;
    const struct as_store_counter *counters = as_store_counters(view->store, &n);
    as_json_array(json, "counters");
    for (size_t row = 0; row < as_counter_count; row++)
        for (size_t i = 0; i < n; i++)
            if (strcmp(counters[i].name, as_counter_table[row].name) == 0)
                counter_json(view, json, &counters[i]);
    for (size_t i = 0; i < n; i++)
        if (!as_counter_find(counters[i].name))
            counter_json(view, json, &counters[i]);
    as_json_end(json);
}

void as_page_run_json(const struct as_page_document *document, struct as_json *json)
{
    summary_json(document, json);
    threads_json(document->view, json);
    counters_json(document->view, json);
    machine_json(document, json);
    run_json(document->view->store, json);
}
