/* See rows.h. */
#include "view/rows.h"

#include "base/alloc.h"
#include "base/map.h"
#include "view/thread_starts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool as_rows_has_total(const struct as_rows *list)
{
    return list->view->has_calls && list->level == AS_STORE_BY_FUNCTION && !list->view->events;
}

uint64_t as_rows_total(const struct as_rows *list, const struct as_store_row *row)
{
    if (!as_rows_has_total(list) || row->id == AS_STORE_NONE)
        return row->units;
    /* If control falls into a function from the preceding one, its time is on that one's path. A total is therefore at
     * least the self time. */
    uint64_t total = list->view->totals.function_total[row->id];
    return total > row->units ? total : row->units;
}

const char *as_rows_start(const struct as_rows *list, const struct as_store_row *row)
{
    return list->starts && row->id < list->view->n_threads ? list->starts[row->id] : NULL;
}

const char *as_rows_name(const struct as_rows *list, const struct as_store_row *row, char name[AS_ROW_NAME_MAX])
{
    const char *start = as_rows_start(list, row), *known = as_view_row_name(list->view, list->level, row, name);
    size_t n = known == name ? strlen(name) : AS_ROW_NAME_MAX;
    char address[AS_ROW_NAME_MAX];
    if (start && n < AS_ROW_NAME_MAX)
        snprintf(name + n, AS_ROW_NAME_MAX - n, ": %s", AS_SHOW(start));
    else if (n < AS_ROW_NAME_MAX && row->address && list->alike && list->alike[row - list->rows.rows])
        snprintf(name + n, AS_ROW_NAME_MAX - n, " at %.200s",
                 as_view_address(list->view, row->module, row->address, address));
    return known;
}

/* Finds rows of functions that have one name and one module. */
static void find_alike(struct as_rows *list)
{
    struct as_strings *names = as_strings_new();
    uint32_t *ids = as_alloc_array(list->rows.n + 1, sizeof *ids),
             *counts = as_alloc_array(list->rows.n + 1, sizeof *ids);
    for (size_t i = 0; i < list->rows.n; i++) {
        const struct as_store_row *row = &list->rows.rows[i];
        const char *name = as_view_function(list->view, row->id);
        char *key = as_format("%" PRIu32 " %s", row->module, name ? name : "");
        ids[i] = as_strings_intern(names, key);
        counts[ids[i]] += name != NULL;
        free(key);
    }
    list->alike = as_alloc_array(list->rows.n + 1, sizeof *list->alike);
    for (size_t i = 0; i < list->rows.n; i++)
        list->alike[i] = counts[ids[i]] > 1;
    as_strings_free(names);
    free(ids);
    free(counts);
}

/* ---- sorting ---- */

static uint64_t value_of(const struct as_rows *list, const struct as_store_row *row)
{
    switch (list->order.key) {
    case AS_SORT_TOTAL:
        return as_rows_total(list, row);
    case AS_SORT_SAMPLES:
        return row->samples;
    case AS_SORT_EXECUTIONS:
        return row->executions;
    case AS_SORT_EVENT:
        return as_row_event_units(row, list->order.event);
    default:
        return row->units;
    }
}

static int in_order(const void *a, const void *b, void *context)
{
    const struct as_store_row *x = a, *y = b;
    const struct as_rows *list = context;
    if (list->order.key == AS_SORT_NAME) {
        char first[AS_ROW_NAME_MAX], second[AS_ROW_NAME_MAX];
        int names = strcmp(as_view_row_name(list->view, list->level, x, first),
                           as_view_row_name(list->view, list->level, y, second));
        if (names)
            return names;
    } else if (list->order.key != AS_SORT_ADDRESS) {
        uint64_t left = value_of(list, x), right = value_of(list, y);
        if (left != right)
            return left < right ? 1 : -1;
    }
    return (x->address > y->address) - (x->address < y->address);
}

static bool read_sort(const struct as_view *view, const char *sort, struct as_rows_order *order, struct as_error *err)
{
    static const char *const names[] = {"self", "total", "samples", "executions", "name", "address"};
    size_t n;
    const struct as_store_event *events = as_store_events(view->store, &n);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(sort, names[i]) == 0) {
            order->key = (enum as_rows_sort)i;
            return true;
        }
    for (size_t i = 0; i < n; i++)
        if (events[i].name && strcasecmp(events[i].name, sort) == 0) {
            *order = (struct as_rows_order){AS_SORT_EVENT, UINT64_C(1) << events[i].bit, events[i].name};
            return true;
        }
    return as_error_set_status(
        err, AS_EXIT_USAGE,
        "--sort=%s: unknown; choose self, total, samples, executions, name, address or the name of an event", sort);
}

/* Refuses to sort by a value that none of the rows has. */
static bool check_sort(const struct as_rows *list, const char *sort, struct as_error *err)
{
    const struct as_view *view = list->view;
    enum as_rows_sort key = list->order.key;
    const char *problem = NULL;
    if (key == AS_SORT_TOTAL && list->level != AS_STORE_BY_FUNCTION)
        problem = "only functions have totals (--by function)";
    else if (key == AS_SORT_TOTAL && !as_rows_has_total(list))
        problem = view->events ? "there are no totals of the time with an event" : "the series has no call paths";
    else if (key == AS_SORT_SAMPLES && view->summary.exact)
        problem = "the series is exact and has no samples";
    else if (key == AS_SORT_SAMPLES && view->summary.sampled)
        problem = "the series has regions, not samples";
    else if (key == AS_SORT_EXECUTIONS && !(view->summary.exact || view->summary.sampled))
        problem = "the series counts no executions";
    else if (key == AS_SORT_EVENT && !view->has_events)
        problem = "the series records no events";
    return !problem || as_error_set_status(err, AS_EXIT_USAGE, "--sort=%s: %s", sort, problem);
}

/* Drops the row for time outside functions (files, lines …) if there is none. */
static void drop_empty(struct as_store_rows *rows)
{
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++)
        if (rows->rows[i].id != AS_STORE_NONE || rows->rows[i].units || rows->rows[i].samples)
            rows->rows[n++] = rows->rows[i];
    rows->n = n;
}

static bool is_wanted(const struct as_view *view, uint32_t function)
{
    uint32_t module = view->function[function].module;
    return (!view->functions || view->functions[function]) &&
           (!view->modules || (module < view->n_modules && view->modules[module]));
}

static void add_caller(struct as_rows *list, uint32_t function)
{
    const struct as_store_function *known = &list->view->function[function];
    list->rows.rows = as_realloc_array(list->rows.rows, list->rows.n + 1, sizeof *list->rows.rows);
    list->rows.rows[list->rows.n++] = (struct as_store_row){.id = function,
                                                            .module = known->module,
                                                            .function = function,
                                                            .file = known->file,
                                                            .line = known->line,
                                                            .address = known->address};
}

/* Adds functions that only call others (main, say): they have no self time, so no row in the store, but a total. */
static void add_callers(struct as_rows *list)
{
    const struct as_view *view = list->view;
    bool *has_row = as_alloc_array(view->n_functions + 1, sizeof *has_row);
    for (size_t i = 0; i < list->rows.n; i++)
        if (list->rows.rows[i].id < view->n_functions)
            has_row[list->rows.rows[i].id] = true;
    for (uint32_t i = 0; i < view->n_functions; i++)
        if (!has_row[i] && view->totals.function_total[i] && is_wanted(view, i))
            add_caller(list, i);
    free(has_row);
}

bool as_rows_make(struct as_rows *list, const struct as_view *view, enum as_store_level level, const char *sort,
                  struct as_error *err)
{
    *list = (struct as_rows){.view = view, .level = level};
    if (sort && !(read_sort(view, sort, &list->order, err) && check_sort(list, sort, err)))
        return false;
    if (!as_view_rows(view, level, &list->rows, err))
        return false;
    drop_empty(&list->rows);
    if (as_rows_has_total(list))
        add_callers(list);
    if (sort && list->rows.n)
        qsort_r(list->rows.rows, list->rows.n, sizeof *list->rows.rows, in_order, list);
    list->legend = as_legend_of(&list->rows);
    if (level == AS_STORE_BY_FUNCTION)
        find_alike(list);
    if (level == AS_STORE_BY_THREAD && view->has_calls) {
        list->starts = as_thread_starts(view, err);
        if (!list->starts)
            return false;
    }
    return as_row_errors_make(list, err) && as_total_errors_make(list, err);
}

void as_rows_free(struct as_rows *list)
{
    free(list->errors);
    free(list->total_errors);
    free(list->once);
    free(list->parts_at);
    free(list->alike);
    free(list->starts);
    as_store_rows_free(&list->rows);
}
