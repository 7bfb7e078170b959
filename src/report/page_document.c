/* See page_document.h. */
#include "report/page_document.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "page/page.h"
#include "report/report.h"

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

void as_page_sparse_json(const struct as_page_document *document, struct as_json *json, const char *name,
                         struct as_page_entry *entries, size_t n, bool components)
{
    size_t kept = 0;
    if (n)
        qsort(entries, n, sizeof *entries, by_row);
    for (size_t i = 0; i < n; i++) /* of the same row and component: one */
        if (kept && entries[kept - 1].row == entries[i].row && entries[kept - 1].component == entries[i].component)
            entries[kept - 1].units += entries[i].units;
        else
            entries[kept++] = entries[i];
    as_json_object(json, name);
    as_json_array(json, "row");
    for (size_t i = 0; i < kept; i++)
        as_json_u64(json, NULL, entries[i].row - (i ? entries[i - 1].row : 0));
    as_json_end(json);
    if (components) {
        as_json_array(json, "component");
        for (size_t i = 0; i < kept; i++)
            as_json_u64(json, NULL, entries[i].component);
        as_json_end(json);
    }
    as_json_array(json, "cycles");
    for (size_t i = 0; i < kept; i++)
        as_json_double(json, NULL, round(as_view_cycles(document->view, entries[i].units) * 1000) / 1000);
    as_json_end(json);
    as_json_end(json);
}

/* ---- components and series ---- */

static uint32_t component_of(const struct as_page_document *document, uint64_t mask)
{
    for (uint32_t i = 0; i < document->n_masks; i++)
        if (document->masks[i] == mask)
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

static bool load_series(struct as_page_document *document, struct as_error *err)
{
    size_t n;
    const struct as_store_series *series = as_store_series(document->view->store, &n);
    document->series = as_alloc_array(n + 1, sizeof *document->series);
    document->n_series = n;
    for (uint32_t i = 0; i < n; i++) {
        struct as_page_series *own = &document->series[i];
        bool events = series[i].events != 0;
        if (!query(document, i, events, AS_STORE_BY_INSTRUCTION, &own->instructions, err) ||
            !query(document, i, events, AS_STORE_BY_FUNCTION, &own->functions, err))
            return false;
    }
    return true;
}

static void rows_json(const struct as_page_document *document, struct as_json *json, const char *name,
                      const struct as_store_rows *rows, bool events, bool of_functions)
{
    AS_VEC(struct as_page_entry) entries = {0};
    for (size_t i = 0; i < rows->n; i++) {
        const struct as_store_row *row = &rows->rows[i];
        uint32_t to = of_functions ? as_page_function_of(document, row->id, row->module) : document->row_of[row->id];
        if (to == AS_STORE_NONE)
            continue;
        for (size_t k = 0; events && k < row->n_parts; k++)
            if (row->parts[k].units)
                *as_vec_push(&entries) =
                    (struct as_page_entry){to, component_of(document, row->parts[k].key), row->parts[k].units};
        if (!events && row->units)
            *as_vec_push(&entries) = (struct as_page_entry){to, AS_STORE_NONE, row->units};
    }
    as_page_sparse_json(document, json, name, entries.data, entries.len, events);
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

static void series_json(const struct as_page_document *document, struct as_json *json)
{
    size_t n;
    const struct as_store_series *series = as_store_series(document->view->store, &n);
    as_json_array(json, "series");
    for (uint32_t i = 0; i < n; i++) {
        bool events = series[i].events != 0;
        as_json_object(json, NULL);
        as_page_string(json, "name", series[i].name);
        as_json_bool(json, "exact", series[i].exact);
        if (!series[i].exact)
            as_json_u64(json, "samples", series[i].samples);
        if (series[i].description)
            as_page_string(json, "note", series[i].description);
        error_json(document->view->store, i, json);
        if (document->shortened)
            rows_json(document, json, "functions", &document->series[i].functions, events, true);
        rows_json(document, json, "instructions", &document->series[i].instructions, events, false);
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

/* ---- call paths ---- */

/* The nodes with the most time; what is below them and left out counts as theirs. */
static void paths_json(struct as_page_document *document, struct as_json *json)
{
    const struct as_view *view = document->view;
    struct as_error err = AS_ERROR_INIT;
    struct as_tree tree;
    if (!view->has_calls || !as_tree_make(&tree, view, &err))
        return;
    uint64_t least = 1;
    size_t kept = tree.n;
    for (; kept > AS_PAGE_PATHS; least *= 2) {
        kept = 0;
        for (size_t i = 0; i < tree.n; i++)
            kept += tree.nodes[i].total >= least * 2;
    }
    uint32_t *number = as_alloc_array(tree.n + 1, sizeof *number);
    AS_VEC(struct as_page_entry) self = {0};
    uint32_t n = 0;
    for (size_t i = 0; i < tree.n; i++) { /* parents come first, and have at least as much */
        bool small = tree.nodes[i].total < least;
        uint32_t parent = tree.nodes[i].parent;
        number[i] = !small ? n++ : parent == AS_STORE_NONE ? AS_STORE_NONE : number[parent];
        document->folded += small ? tree.nodes[i].self : 0;
        if (number[i] != AS_STORE_NONE && tree.nodes[i].self)
            *as_vec_push(&self) = (struct as_page_entry){number[i], AS_STORE_NONE, tree.nodes[i].self};
    }
    as_json_object(json, "paths");
    as_json_array(json, "parent");
    for (size_t i = 0; i < tree.n; i++)
        if (tree.nodes[i].total >= least)
            as_json_i64(json, NULL, tree.nodes[i].parent == AS_STORE_NONE ? -1 : (int64_t)number[tree.nodes[i].parent]);
    as_json_end(json);
    as_json_array(json, "function");
    for (size_t i = 0; i < tree.n; i++)
        if (tree.nodes[i].total >= least)
            as_json_u64(json, NULL, as_page_function_of(document, tree.nodes[i].function, AS_STORE_NONE));
    as_json_end(json);
    as_page_sparse_json(document, json, "self", self.data, self.len, false);
    as_json_end(json);
    as_vec_free(&self);
    free(number);
    as_tree_free(&tree);
}

/* ---- all of it ---- */

static void document_json(struct as_json *json, void *data)
{
    struct as_page_document *document = data;
    const char *unit = document->view->summary.unit;
    as_json_object(json, NULL);
    as_json_string(json, "format", "assay-page");
    as_json_u64(json, "version", 1);
    as_json_string(json, "unit",
                   strcmp(unit, "nanoseconds") == 0 ? "ns"
                   : strcmp(unit, "cycles") == 0    ? unit
                                                    : "samples");
    events_json(document, json);
    series_json(document, json);
    paths_json(document, json);
    as_page_files_json(document, json);
    as_page_run_json(document, json);
    as_page_code_json(document, json);
    as_json_end(json);
}

static void free_document(struct as_page_document *document)
{
    for (size_t i = 0; i < document->n_series; i++) {
        as_store_rows_free(&document->series[i].instructions);
        as_store_rows_free(&document->series[i].functions);
    }
    free(document->series);
    free(document->masks);
    free(document->functions);
    free(document->function_of);
    free(document->insns);
    free(document->row_of);
    if (document->strings)
        as_strings_free(document->strings);
}

bool as_page_document_write(const struct as_view *view, struct as_sources *sources, FILE *out, struct as_error *err)
{
    struct as_page_document document = {.view = view, .sources = sources};
    bool ok = load_series(&document, err);
    if (ok)
        find_masks(&document);
    ok = ok && as_page_code_make(&document, err) && as_page_write(out, AS_PAGE_DEFLATED, document_json, &document, err);
    free_document(&document);
    return ok;
}
