/* See page_document.h. */
#include "report/page_document.h"

#include "base/alloc.h"
#include "base/map.h"
#include "report/report_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- sparse time ---- */

static int by_row(const void *a, const void *b)
{
    const struct as_page_entry *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->component > y->component) - (x->component < y->component);
}

/* Adds up entries with the same row and component. */
static void add_up(struct as_page_entries *entries)
{
    struct as_page_entry *data = entries->data;
    size_t kept = 0;
    if (entries->len)
        qsort(data, entries->len, sizeof *data, by_row);
    for (size_t i = 0; i < entries->len; i++)
        if (kept && data[kept - 1].row == data[i].row && data[kept - 1].component == data[i].component)
            data[kept - 1].units += data[i].units;
        else
            data[kept++] = data[i];
    entries->len = kept;
}

double as_page_cycles(uint64_t units, double scale)
{
    return round((double)units / scale * 1000) / 1000;
}

void as_page_sparse_json(const struct as_page_document *document, struct as_json *json, const char *name,
                         uint32_t series, struct as_page_entries *entries)
{
    size_t n;
    const struct as_store_series *of = &as_store_series(document->view->store, &n)[series];
    const struct as_page_entry *data = entries->data;
    add_up(entries);
    as_json_object(json, name);
    as_json_array(json, "row");
    for (size_t i = 0; i < entries->len; i++)
        as_json_u64(json, NULL, data[i].row - (i ? data[i - 1].row : 0));
    as_json_end(json);
    if (entries->len ? data[0].component != AS_STORE_NONE : of->events != 0) {
        as_json_array(json, "component");
        for (size_t i = 0; i < entries->len; i++)
            as_json_u64(json, NULL, data[i].component);
        as_json_end(json);
    }
    as_json_array(json, "cycles");
    for (size_t i = 0; i < entries->len; i++)
        as_json_double(json, NULL, as_page_cycles(data[i].units, (double)of->scale));
    as_json_end(json);
    as_json_end(json);
}

/* ---- components and series ---- */

uint32_t as_page_component_of(const struct as_page_document *document, uint64_t events)
{
    for (uint32_t i = 0; i < document->n_masks; i++)
        if (document->masks[i] == events)
            return i;
    return 0;
}

struct mask_units {
    uint64_t mask, units;
};

static int base_then_most(const void *a, const void *b)
{
    const struct mask_units *x = a, *y = b;
    if ((x->mask == 0) != (y->mask == 0))
        return x->mask == 0 ? -1 : 1;
    if (x->units != y->units)
        return x->units < y->units ? 1 : -1;
    return (x->mask > y->mask) - (x->mask < y->mask);
}

static void find_masks(struct as_page_document *document)
{
    struct as_map sums = {0};
    *as_map_put(&sums, 0) += 0;
    for (size_t s = 0; s < document->n_series; s++) {
        const struct as_store_rows *rows = &document->series[s].functions;
        for (size_t i = 0; i < rows->n; i++)
            for (size_t k = 0; k < rows->rows[i].n_parts; k++)
                *as_map_put(&sums, rows->rows[i].parts[k].key) += rows->rows[i].parts[k].units;
    }
    struct mask_units *all = as_alloc_array(sums.len, sizeof *all);
    size_t n = 0;
    for (size_t i = 0; i < sums.cap; i++)
        if (sums.slots[i].used)
            all[n++] = (struct mask_units){sums.slots[i].key, sums.slots[i].value};
    qsort(all, n, sizeof *all, base_then_most);
    document->masks = as_alloc_array(n, sizeof *document->masks);
    document->n_masks = n;
    for (size_t i = 0; i < n; i++)
        document->masks[i] = all[i].mask;
    free(all);
    as_map_free(&sums);
}

static bool query(const struct as_page_document *document, uint32_t series, bool events, enum as_store_level level,
                  struct as_store_rows *rows, struct as_error *err)
{
    struct as_store_query wanted = AS_STORE_QUERY_INIT;
    wanted.series = series;
    wanted.level = level;
    wanted.split = events ? AS_STORE_BY_EVENTS : AS_STORE_WHOLE;
    return as_store_query(document->view->store, &wanted, rows, err);
}

/* The series without those that exist only for error bars, which come last. */
static const struct as_store_series *shown_series(const struct as_store *store, size_t *n)
{
    size_t all;
    const struct as_store_series *series = as_store_series(store, &all);
    for (*n = 0; *n < all; ++*n)
        if (series[*n].name && strncmp(series[*n].name, AS_STORE_REPLICATE, strlen(AS_STORE_REPLICATE)) == 0)
            break;
    return series;
}

static bool load_series(struct as_page_document *document, struct as_error *err)
{
    size_t n;
    const struct as_store_series *series = shown_series(document->view->store, &n);
    document->series = as_alloc_array(n + 1, sizeof *document->series);
    document->n_series = n;
    for (uint32_t i = 0; i < n; i++) {
        struct as_page_series *own = &document->series[i];
        own->events = series[i].events != 0;
        if (!query(document, i, own->events, AS_STORE_BY_INSTRUCTION, &own->instructions, err) ||
            !query(document, i, own->events, AS_STORE_BY_FUNCTION, &own->functions, err))
            return false;
    }
    return true;
}

static void rows_json(const struct as_page_document *document, struct as_json *json, const char *name, uint32_t series,
                      bool of_functions)
{
    const struct as_page_series *own = &document->series[series];
    const struct as_store_rows *rows = of_functions ? &own->functions : &own->instructions;
    struct as_page_entries entries = {0};
    for (size_t i = 0; i < rows->n; i++) {
        const struct as_store_row *row = &rows->rows[i];
        uint32_t to = of_functions ? as_page_function_of(document, row->id, row->module) : document->row_of[row->id];
        if (to == AS_STORE_NONE)
            continue;
        for (size_t k = 0; own->events && k < row->n_parts; k++)
            if (row->parts[k].units)
                *as_vec_push(&entries) =
                    (struct as_page_entry){to, as_page_component_of(document, row->parts[k].key), row->parts[k].units};
        if (!own->events && row->units)
            *as_vec_push(&entries) = (struct as_page_entry){to, AS_STORE_NONE, row->units};
    }
    as_page_sparse_json(document, json, name, series, &entries);
    as_vec_free(&entries);
}

static void error_json(const struct as_store *store, uint32_t series, struct as_json *json)
{
    static const char *const levels[] = {"instruction", "block", "function"};
    if (isnan(as_store_estimate_of(store, series, "error", "instruction")))
        return;
    as_json_object(json, "error");
    for (size_t i = 0; i < 3; i++)
        as_json_double(json, levels[i], as_store_estimate_of(store, series, "error", levels[i]));
    as_json_double(json, "pics", as_store_estimate_of(store, series, "pics", "instruction"));
    as_json_end(json);
}

static const char *unit_name(const char *unit)
{
    return strcmp(unit, "nanoseconds") == 0 ? "ns" : strcmp(unit, "cycles") == 0 ? unit : "samples";
}

static void sampling_json(const struct as_store_series *series, struct as_json *json)
{
    if (series->exact)
        return;
    as_json_u64(json, "samples", series->samples);
    as_json_u64(json, "lost", series->lost);
    as_json_u64(json, "throttled", series->throttled);
    if (!series->period)
        return;
    char *period = as_format("%s %s", AS_COUNT(series->period), AS_SHOW(series->unit));
    as_page_string(json, "period", period);
    free(period);
}

static void series_json(const struct as_page_document *document, struct as_json *json)
{
    size_t n;
    const struct as_store_series *series = shown_series(document->view->store, &n);
    as_json_array(json, "series");
    for (uint32_t i = 0; i < n; i++) {
        as_json_object(json, NULL);
        as_page_string(json, "name", series[i].name);
        as_json_string(json, "unit", unit_name(series[i].unit));
        as_json_bool(json, "exact", series[i].exact);
        sampling_json(&series[i], json);
        if (series[i].description)
            as_page_string(json, "note", series[i].description);
        error_json(document->view->store, i, json);
        as_page_series_errors_json(document, json, i);
        if (document->shortened)
            rows_json(document, json, "functions", i, true);
        rows_json(document, json, "instructions", i, false);
        as_page_series_paths_json(document, json, i);
        as_page_series_threads_json(document, json, i);
        as_page_series_lists_json(document, json, i);
        as_json_end(json);
    }
    as_json_end(json);
}

static void events_json(const struct as_page_document *document, struct as_json *json)
{
    size_t n;
    const struct as_store_event *events = as_store_events(document->view->store, &n);
    as_json_array(json, "events");
    for (size_t i = 0; i < n; i++) {
        as_json_object(json, NULL);
        as_page_string(json, "name", events[i].name);
        as_page_string(json, "meaning", events[i].description ? events[i].description : "");
        if (events[i].state)
            as_page_string(json, "state", events[i].state);
        as_json_end(json);
    }
    as_json_end(json);
    as_json_array(json, "components");
    for (size_t i = 0; i < document->n_masks; i++) {
        as_json_array(json, NULL);
        for (size_t e = 0; e < n; e++)
            if (document->masks[i] >> events[e].bit & 1)
                as_json_u64(json, NULL, e);
        as_json_end(json);
    }
    as_json_end(json);
}

/* ---- all of it ---- */

/* Names are cut only where they are shown; the number of rows is limited. */
static void diff_json(const struct as_page_document *document, struct as_json *json)
{
    if (!document->options->diff)
        return;
    as_json_object(json, "diff");
    as_diff_json(document->options->diff, json, AS_PAGE_DIFF);
    as_json_end(json);
}

static void document_json(struct as_json *json, void *data)
{
    struct as_page_document *document = data;
    as_json_object(json, NULL);
    as_json_string(json, "format", "assay-page");
    as_json_u64(json, "version", 1);
    as_json_string(json, "unit", unit_name(document->view->summary.unit));
    events_json(document, json);
    series_json(document, json);
    as_page_paths_json(document, json);
    as_page_addresses_json(document, json);
    diff_json(document, json);
    as_page_files_json(document, json);
    as_page_run_json(document, json);
    as_page_reuse_json(document, json);
    as_page_code_json(document, json);
    as_json_end(json);
}

static void free_document(struct as_page_document *document)
{
    for (size_t i = 0; i < document->n_series; i++) {
        as_store_rows_free(&document->series[i].instructions);
        as_store_rows_free(&document->series[i].functions);
    }
    as_page_paths_free(document);
    as_page_lists_free(document);
    free(document->series);
    free(document->masks);
    free(document->functions);
    free(document->function_of);
    free(document->insns);
    free(document->row_of);
    if (document->strings)
        as_strings_free(document->strings);
}

bool as_page_document_write(const struct as_view *view, const struct as_page_options *options, FILE *out,
                            struct as_error *err)
{
    struct as_page_document document = {.view = view, .options = options};
    bool ok = load_series(&document, err);
    if (ok)
        find_masks(&document);
    ok = ok && as_page_code_make(&document, err) && as_page_paths_make(&document, err) &&
         as_page_lists_make(&document, err) && as_page_write(out, options->encoding, document_json, &document, err);
    free_document(&document);
    return ok;
}
