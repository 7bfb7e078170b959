/* Time by thread and function in the page's document, for the threads with the most time. See page_document.h. */
#include "base/alloc.h"
#include "report/page_document.h"

#include <stdlib.h>

enum { NOT_THERE = 0xff };

static int most_first(const void *a, const void *b, void *context)
{
    const uint64_t *units = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return units[x] != units[y] ? (units[x] < units[y] ? 1 : -1) : (x > y) - (x < y);
}

/* The list of each thread; NOT_THERE for threads with too little time. */
static uint8_t *choose(const struct as_view *view, const struct as_store_raw *raw)
{
    uint64_t *units = as_alloc_array(view->n_threads, sizeof *units);
    uint32_t *order = as_alloc_array(view->n_threads, sizeof *order);
    uint8_t *list = as_alloc_array(view->n_threads, sizeof *list);
    for (size_t i = 0; i < raw->n_times; i++)
        if (raw->times[i].thread < view->n_threads)
            units[raw->times[i].thread] += raw->times[i].units;
    for (uint32_t i = 0; i < view->n_threads; i++)
        order[i] = i;
    qsort_r(order, view->n_threads, sizeof *order, most_first, units);
    for (size_t i = 0; i < view->n_threads; i++)
        list[order[i]] = i < AS_PAGE_THREADS && units[order[i]] ? (uint8_t)i : NOT_THERE;
    free(units);
    free(order);
    return list;
}

static void add(const struct as_page_document *document, struct as_page_entries *lists, const uint8_t *list,
                uint32_t thread, uint32_t insn, struct as_page_entry entry)
{
    const struct as_view *view = document->view;
    if (thread >= view->n_threads || insn >= view->n_locations || list[thread] == NOT_THERE || !entry.units)
        return;
    entry.row = as_page_function_of(document, view->location[insn].function, view->location[insn].module);
    *as_vec_push(&lists[list[thread]]) = entry;
}

static void write_lists(const struct as_page_document *document, struct as_json *json, uint32_t series,
                        const uint8_t *list, struct as_page_entries *lists)
{
    as_json_array(json, "threads");
    for (size_t i = 0; i < document->view->n_threads; i++)
        if (list[i] == NOT_THERE)
            as_json_null(json, NULL);
        else
            as_page_sparse_json(document, json, NULL, series, &lists[list[i]]);
    as_json_end(json);
}

void as_page_series_threads_json(const struct as_page_document *document, struct as_json *json, uint32_t series)
{
    const struct as_view *view = document->view;
    struct as_error err = AS_ERROR_INIT;
    struct as_page_entries lists[AS_PAGE_THREADS] = {0};
    struct as_store_raw raw;
    size_t n;
    bool events = as_store_series(view->store, &n)[series].events != 0;
    if (view->n_threads < 2 || !as_store_raw(view->store, series, NULL, &raw, &err))
        return; /* a failure here was reported before, or the data is optional */
    uint8_t *list = choose(view, &raw);
    for (size_t i = 0; events && i < raw.n_components; i++)
        add(document, lists, list, raw.components[i].thread, raw.components[i].instruction,
            (struct as_page_entry){0, as_page_component_of(document, raw.components[i].events),
                                   raw.components[i].units});
    for (size_t i = 0; !events && i < raw.n_times; i++)
        add(document, lists, list, raw.times[i].thread, raw.times[i].instruction,
            (struct as_page_entry){0, AS_STORE_NONE, raw.times[i].units});
    write_lists(document, json, series, list, lists);
    for (size_t i = 0; i < AS_PAGE_THREADS; i++)
        as_vec_free(&lists[i]);
    free(list);
    as_store_raw_free(&raw);
}
