/* Error bars of rows: see rows.h. */
#include "view/rows.h"

#include "base/map.h"
#include "base/ratio.h"
#include "view/replicates.h"

#include <math.h>

/* What replicates share: the same times, and times that a factor of each replicate multiplies. */
struct shared {
    struct as_store_rows common, alike;
};

static bool read_rows(const struct as_rows *list, uint32_t series, struct as_store_rows *rows, struct as_error *err)
{
    struct as_view view = *list->view;
    view.series = series;
    view.has_events = false;
    if (!list->function)
        return as_view_rows(&view, list->level, rows, err);
    struct as_store_query query = AS_STORE_QUERY_INIT;
    query.series = series;
    query.level = list->level;
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

static uint64_t times(uint64_t units, double factor)
{
    return factor == 1 ? units : (uint64_t)llround((double)units * factor);
}

/* Adds the rows, times the factor. Returns the time of their series. */
static uint64_t add_units(struct as_map *units, const struct as_rows *list, const struct as_store_rows *rows,
                          double factor)
{
    for (size_t i = 0; i < rows->n; i++)
        *as_map_put(units, key_of(list, &rows->rows[i])) += times(rows->rows[i].units, factor);
    return times(rows->total, factor);
}

/* The factor of a replicate; 1 in a file without it, or with one that makes no sense. */
static double factor_of(const struct as_rows *list, const struct as_replicates *replicates, uint32_t series)
{
    size_t n;
    const char *name = as_store_series(list->view->store, &n)[series].name;
    if (replicates->alike == AS_STORE_NONE)
        return 1;
    double factor = as_store_estimate_of(list->view->store, replicates->alike, AS_STORE_FACTOR, name);
    return factor >= 0 && factor < 1e3 ? factor : 1;
}

/* Reads the shares of the rows in one replicate, which has what all share, too; 0 for rows that it does not have. */
static bool read_shares(const struct as_rows *list, const struct as_replicates *replicates, uint32_t series,
                        const struct shared *shared, double *shares, struct as_error *err)
{
    struct as_store_rows rows = {0};
    struct as_map units = {0};
    if (!read_rows(list, series, &rows, err))
        return false;
    uint64_t total = add_units(&units, list, &shared->common, 1);
    total += add_units(&units, list, &shared->alike, factor_of(list, replicates, series));
    total += add_units(&units, list, &rows, 1);
    for (size_t i = 0; i < list->rows.n; i++) {
        const uint64_t *own = as_map_get(&units, key_of(list, &list->rows.rows[i]));
        shares[i] = own ? as_ratio(*own, total) : 0;
    }
    as_map_free(&units);
    as_store_rows_free(&rows);
    return true;
}

static bool read_shared(const struct as_rows *list, const struct as_replicates *replicates, struct shared *shared,
                        struct as_error *err)
{
    return (replicates->common == AS_STORE_NONE || read_rows(list, replicates->common, &shared->common, err)) &&
           (replicates->alike == AS_STORE_NONE || read_rows(list, replicates->alike, &shared->alike, err));
}

/* The part of what differs between replicates that a row has; and what does not. */
static double *moving_shares(struct as_rows *list, const struct shared *shared)
{
    struct as_map common = {0};
    double *shares = as_alloc_array(list->rows.n + 1, sizeof *shares);
    uint64_t fixed = add_units(&common, list, &shared->common, 1), total = list->rows.total;
    list->once = as_alloc_array(list->rows.n + 1, sizeof *list->once);
    for (size_t i = 0; i < list->rows.n; i++) {
        const uint64_t *own = as_map_get(&common, key_of(list, &list->rows.rows[i]));
        list->once[i] = own ? *own : 0;
        if (total <= fixed)
            continue;
        double moving = (double)list->rows.rows[i].units - (own ? (double)*own : 0);
        shares[i] = moving / (double)(total - fixed);
    }
    as_map_free(&common);
    return shares;
}

static void set_errors(struct as_rows *list, const struct as_replicates *replicates, const struct shared *shared,
                       double *const *shares)
{
    struct as_map alike = {0}; /* what no region has */
    size_t n = replicates->series.len;
    double *values = as_alloc_array(n, sizeof *values), *moving = moving_shares(list, shared);
    add_units(&alike, list, &shared->alike, 1);
    list->errors = as_alloc_array(list->rows.n + 1, sizeof *list->errors);
    for (size_t row = 0; row < list->rows.n; row++) {
        for (size_t i = 0; i < n; i++)
            values[i] = shares[i][row];
        const uint64_t *units = as_map_get(&alike, key_of(list, &list->rows.rows[row]));
        list->errors[row] = as_replicates_error(replicates, as_ratio(list->rows.rows[row].units, list->rows.total),
                                                moving[row], units ? as_ratio(*units, list->rows.total) : 0, values);
    }
    as_map_free(&alike);
    free(moving);
    free(values);
}

bool as_row_errors_make(struct as_rows *list, struct as_error *err)
{
    if (as_view_has_threads(list->level))
        return true;
    struct as_replicates replicates = as_replicates_of(list->view);
    struct shared shared = {0};
    size_t n = replicates.series.len;
    double **shares = as_alloc_array(n + 1, sizeof *shares);
    bool ok = read_shared(list, &replicates, &shared, err);
    for (size_t i = 0; i < n && ok; i++) {
        shares[i] = as_alloc_array(list->rows.n + 1, sizeof **shares);
        ok = read_shares(list, &replicates, replicates.series.data[i], &shared, shares[i], err);
    }
    if (ok && n > 1)
        set_errors(list, &replicates, &shared, shares);
    for (size_t i = 0; i < n; i++)
        free(shares[i]);
    free(shares);
    as_store_rows_free(&shared.common);
    as_store_rows_free(&shared.alike);
    as_replicates_free(&replicates);
    return ok;
}
