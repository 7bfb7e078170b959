/* Error bars of rows: see rows.h. */
#include "view/rows.h"

#include "base/map.h"
#include "base/ratio.h"
#include "base/vec.h"
#include "score/confidence.h"

#include <math.h>
#include <string.h>

static bool is_named(const struct as_store_series *series, const char *name)
{
    return series->name && strcmp(series->name, name) == 0;
}

static bool is_replicate(const struct as_store_series *series)
{
    return series->name && strncmp(series->name, AS_STORE_REPLICATE, strlen(AS_STORE_REPLICATE)) == 0 &&
           !is_named(series, AS_STORE_REPLICATE_COMMON) && !is_named(series, AS_STORE_REPLICATE_ALIKE);
}

/* What replicates share: the same times, and times that a factor of each replicate multiplies. */
struct shared {
    struct as_store_rows common, alike;
    uint32_t alike_series; /* NONE: there is none */
};

static bool read_rows(const struct as_rows *list, uint32_t series, struct as_store_rows *rows, struct as_error *err)
{
    struct as_view view = *list->view;
    view.series = series;
    view.has_events = false;
    return as_view_rows(&view, list->level, rows, err);
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
static double factor_of(const struct as_rows *list, const struct shared *shared, const char *replicate)
{
    if (shared->alike_series == AS_STORE_NONE)
        return 1;
    double factor = as_store_estimate_of(list->view->store, shared->alike_series, AS_STORE_FACTOR, replicate);
    return factor >= 0 && factor < 1e3 ? factor : 1;
}

/* Reads the shares of the rows in one replicate, which has what all share, too; 0 for rows that it does not have. */
static bool read_shares(const struct as_rows *list, uint32_t series, const char *name, const struct shared *shared,
                        double *shares, struct as_error *err)
{
    struct as_store_rows rows = {0};
    struct as_map units = {0};
    if (!read_rows(list, series, &rows, err))
        return false;
    uint64_t total = add_units(&units, list, &shared->common, 1);
    total += add_units(&units, list, &shared->alike, factor_of(list, shared, name));
    total += add_units(&units, list, &rows, 1);
    for (size_t i = 0; i < list->rows.n; i++) {
        const uint64_t *own = as_map_get(&units, key_of(list, &list->rows.rows[i]));
        shares[i] = own ? as_ratio(*own, total) : 0;
    }
    as_map_free(&units);
    as_store_rows_free(&rows);
    return true;
}

/* Profiles of older versions have no such series. */
static bool read_shared(const struct as_rows *list, const struct as_store_series *series, size_t n,
                        struct shared *shared, struct as_error *err)
{
    bool ok = true;
    for (uint32_t i = 0; i < n && ok; i++)
        if (is_named(&series[i], AS_STORE_REPLICATE_COMMON)) {
            ok = read_rows(list, i, &shared->common, err);
        } else if (is_named(&series[i], AS_STORE_REPLICATE_ALIKE)) {
            shared->alike_series = i;
            ok = read_rows(list, i, &shared->alike, err);
        }
    return ok;
}

/* What is expected of the regions; false in profiles of older versions and of simulation points. Merged runs may have the same
 * regions, so they count for as many as one of them has. */
static bool find_prior(const struct as_rows *list, struct as_region_prior *prior)
{
    const struct as_summary *summary = &list->view->summary;
    prior->deviation = as_store_estimate_of(list->view->store, summary->series, AS_STORE_PRIOR, "program");
    uint64_t merged = 1;
    if (!as_store_meta_u64(list->view->store, AS_META_MERGED, &merged) || merged == 0)
        merged = 1;
    prior->regions = fmax((double)summary->samples / (double)merged, 1);
    return prior->deviation >= 0 && prior->deviation < 1;
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

static void set_errors(struct as_rows *list, const struct shared *shared, double *const *replicates, size_t n)
{
    struct as_region_prior prior;
    bool has_prior = find_prior(list, &prior);
    struct as_map alike = {0}; /* what no region has */
    double *values = as_alloc_array(n, sizeof *values), *moving = moving_shares(list, shared);
    add_units(&alike, list, &shared->alike, 1);
    list->errors = as_alloc_array(list->rows.n + 1, sizeof *list->errors);
    for (size_t row = 0; row < list->rows.n; row++) {
        for (size_t i = 0; i < n; i++)
            values[i] = replicates[i][row];
        double deviation = as_jackknife_deviation(values, n),
               share = as_ratio(list->rows.rows[row].units, list->rows.total);
        const uint64_t *units = as_map_get(&alike, key_of(list, &list->rows.rows[row]));
        if (has_prior)
            deviation = as_guessed_share_deviation(share, units ? as_ratio(*units, list->rows.total) : 0,
                                                   as_region_share_deviation(&prior, share, moving[row], deviation));
        list->errors[row] = as_jackknife_quantile(n) * deviation;
    }
    as_map_free(&alike);
    free(moving);
    free(values);
}

bool as_row_errors_make(struct as_rows *list, struct as_error *err)
{
    size_t n_series, rows = list->rows.n;
    const struct as_view *view = list->view;
    const struct as_store_series *series = as_store_series(view->store, &n_series);
    AS_VEC(double *) replicates = {0};
    struct shared shared = {.alike_series = AS_STORE_NONE};
    if (!view->summary.sampled || view->options.threads.len || view->options.events.len ||
        as_view_has_threads(list->level))
        return true;
    bool ok = read_shared(list, series, n_series, &shared, err);
    for (uint32_t i = 0; i < n_series && ok; i++)
        if (is_replicate(&series[i])) {
            double *shares = as_alloc_array(rows + 1, sizeof *shares);
            *as_vec_push(&replicates) = shares;
            ok = read_shares(list, i, series[i].name, &shared, shares, err);
        }
    if (ok && replicates.len > 1)
        set_errors(list, &shared, replicates.data, replicates.len);
    for (size_t i = 0; i < replicates.len; i++)
        free(replicates.data[i]);
    as_vec_free(&replicates);
    as_store_rows_free(&shared.common);
    as_store_rows_free(&shared.alike);
    return ok;
}
