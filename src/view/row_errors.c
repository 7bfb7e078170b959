/* Error bars of rows, of their components and of the legend's: see rows.h. */
#include "view/rows.h"

#include "base/map.h"
#include "view/bars.h"
#include "view/replicates.h"

#include <math.h>

/* The items that have bars (bars.h): the rows; their components, in the order of the rows; those of the legend with the others; and the
 * time of all of these, of which the legend has shares. */
struct items {
    const struct as_rows *list;
    struct as_map index; /* of rows, by key: from 1 */
    size_t *parts_at;    /* by row: its first component */
    size_t legend, n;
};

static bool read_rows(const struct as_rows *list, uint32_t series, struct as_store_rows *rows, struct as_error *err)
{
    struct as_view view = *list->view;
    view.series = series;
    if (!list->function)
        return as_view_rows(&view, list->level, rows, err);
    struct as_store_query query = AS_STORE_QUERY_INIT;
    query.series = series;
    query.level = list->level;
    query.split = view.has_events ? AS_STORE_BY_EVENTS : AS_STORE_WHOLE;
    query.threads = view.threads;
    query.events = view.events;
    query.function = *list->function;
    return as_store_query(view.store, &query, rows, err);
}

/* What tells rows of one level apart: a file has many lines, and what has no function or file is there once for each
 * module. */
static uint64_t key_of(const struct as_rows *list, const struct as_store_row *row)
{
    uint32_t more = row->id == AS_STORE_NONE ? row->module : list->level == AS_STORE_BY_LINE ? row->line : 0;
    return (uint64_t)row->id << 32 | more;
}

static struct items make_items(const struct as_rows *list)
{
    struct items items = {.list = list, .parts_at = as_alloc_array(list->rows.n + 1, sizeof *items.parts_at)};
    items.n = list->rows.n;
    for (size_t i = 0; i < list->rows.n; i++) {
        *as_map_put(&items.index, key_of(list, &list->rows.rows[i])) = i + 1;
        items.parts_at[i] = items.n;
        items.n += list->rows.rows[i].n_parts;
    }
    items.legend = items.n;
    items.n += AS_LEGEND_KEYS + 2;
    return items;
}

static size_t all_parts(const struct items *items)
{
    return items->legend + AS_LEGEND_KEYS + 1;
}

/* The first of the row's components has the units of the same one in a row of another series. */
static void add_part(const struct items *items, size_t row, const struct as_store_row_part *part, double *units)
{
    const struct as_store_row *own = &items->list->rows.rows[row];
    for (size_t i = 0; i < own->n_parts; i++)
        if (own->parts[i].key == part->key) {
            units[items->parts_at[row] + i] += (double)part->units;
            return;
        }
}

static void add_row(const struct items *items, const struct as_store_row *row, double *units)
{
    const uint64_t *own = as_map_get(&items->index, key_of(items->list, row));
    if (own)
        units[*own - 1] += (double)row->units;
    for (size_t i = 0; i < row->n_parts; i++) {
        if (own)
            add_part(items, *own - 1, &row->parts[i], units);
        units[items->legend + as_legend_key(&items->list->legend, row->parts[i].key)] += (double)row->parts[i].units;
        units[all_parts(items)] += (double)row->parts[i].units;
    }
}

static bool read_items(const void *context, uint32_t series, double *units, double *total, struct as_error *err)
{
    const struct items *items = context;
    struct as_store_rows rows = {0};
    if (!read_rows(items->list, series, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++)
        add_row(items, &rows.rows[i], units);
    *total += (double)rows.total;
    as_store_rows_free(&rows);
    return true;
}

/* The legend's are shares of what rows have, which filters can make less than all. */
static uint32_t *make_wholes(const struct items *items)
{
    uint32_t *of = as_alloc_array(items->n, sizeof *of);
    for (size_t i = 0; i < items->n; i++)
        of[i] = i >= items->legend ? (uint32_t)all_parts(items) : AS_STORE_NONE;
    return of;
}

/* What the replicates of the view have. */
static struct as_replicates about(const struct as_view *view)
{
    struct as_replicates replicates = as_replicates_of(view);
    as_replicates_free(&replicates); /* but for the list */
    return replicates;
}

static void widen(const struct items *items, struct as_bars *bars)
{
    const struct as_rows *list = items->list;
    double guessed = 0;
    for (size_t i = 0; i < list->rows.n; i++) {
        as_bars_widen_row(bars, &list->legend, &list->rows.rows[i], i, items->parts_at[i], items->legend);
        guessed += bars->guessed[i];
    }
    as_bars_widen_legend(bars, items->legend, guessed);
}

static void take(struct as_rows *list, struct items *items, struct as_bars *bars)
{
    size_t n = list->rows.n;
    list->once = as_alloc_array(n + 1, sizeof *list->once);
    for (size_t i = 0; i < n; i++)
        list->once[i] = (uint64_t)llround(bars->once[i]);
    if (list->view->has_events && about(list->view).by_events) {
        widen(items, bars);
        list->legend.has_errors = true;
        memcpy(list->legend.errors, bars->errors + items->legend, sizeof list->legend.errors);
        list->parts_at = items->parts_at;
        items->parts_at = NULL;
    }
    list->errors = bars->errors;
    bars->errors = NULL;
}

bool as_row_errors_make(struct as_rows *list, struct as_error *err)
{
    if (as_view_has_threads(list->level) && !about(list->view).by_threads)
        return true;
    struct items items = make_items(list);
    uint32_t *of = make_wholes(&items);
    struct as_bars bars = {0};
    bool ok = as_bars_make(&bars, &(struct as_bar_items){list->view, items.n, read_items, &items, of}, err);
    if (ok && bars.errors)
        take(list, &items, &bars);
    as_bars_free(&bars);
    as_map_free(&items.index);
    free(items.parts_at);
    free(of);
    return ok;
}

double as_rows_part_error(const struct as_rows *list, const struct as_store_row *row, uint64_t mask)
{
    for (size_t i = 0; i < row->n_parts && list->parts_at; i++)
        if (row->parts[i].key == mask)
            return list->errors[list->parts_at[row - list->rows.rows] + i];
    return list->parts_at ? 0 : NAN;
}
