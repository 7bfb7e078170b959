/* See time_window.h. */
#include "view/time_window.h"

#include "base/alloc.h"
#include "base/str.h"
#include "score/rows_by_chance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

/* Reads one end, from `text` up to `end`. */
static bool read_time(const char *text, const char *end, uint64_t *nanoseconds)
{
    static const struct {
        const char *name;
        double nanoseconds;
    } units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"min", 60e9}};
    char *behind;
    if (text == end || strspn(text, "0123456789.") == 0)
        return false;
    double number = strtod(text, &behind);
    if (behind > end) /* "1..2" is not "1." and ".2" */
        behind = (char *)end;
    size_t length = (size_t)(end - behind);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i].name) == length && strncmp(behind, units[i].name, length) == 0) {
            double value = number * units[i].nanoseconds;
            *nanoseconds = (uint64_t)(value + 0.5);
            return value < 9e18;
        }
    return false;
}

bool as_time_window_read(const char *text, struct as_time_window *window, struct as_error *err)
{
    const char *dots = strstr(text, "..");
    *window = (struct as_time_window){0, UINT64_MAX};
    if (!dots || (dots == text && !dots[2]) || (dots > text && !read_time(text, dots, &window->from)) ||
        (dots[2] && !read_time(dots + 2, dots + 2 + strlen(dots + 2), &window->until)))
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "--time=%s: not a range of times such as 1s..2s, 500ms.. or ..2s", text);
    return window->from < window->until ||
           as_error_set_status(err, AS_EXIT_USAGE, "--time=%s: the range is empty", text);
}

/* ---- refusing ---- */

static const char *reason(struct as_store *store, const struct as_store_series *series)
{
    const char *source = as_store_meta(store, AS_META_SOURCE);
    if (series->exact)
        return "is exact: it adds up every cycle, but keeps neither its time nor its processor";
    if (source && strcmp(source, "model") == 0)
        return "is added up while the model runs, without times (--source=pmu:NAME, a modelled unit, has them)";
    if (as_store_version(store) < 4)
        return "was recorded before Assay kept samples one by one: record or import it again";
    return "has no times of its samples (perf record --timestamp has them)";
}

bool as_time_window_refuse(struct as_store *store, uint32_t number, const char *option, struct as_error *err)
{
    size_t n;
    uint64_t first, last;
    const struct as_store_series *all = as_store_series(store, &n);
    struct as_str others = {0};
    struct as_error ignored = AS_ERROR_INIT;
    for (uint32_t i = 0; i < n; i++)
        if (i != number && as_store_span(store, i, &first, &last, &ignored) > 0)
            as_str_add_word(&others, all[i].name != NULL, AS_SHOW(all[i].name));
    as_error_set_status(err, AS_EXIT_USAGE, "%s: the series %s %s%s%s", option, AS_SHOW(all[number].name),
                        reason(store, &all[number]), others.len ? "; of this profile, these series have times: " : "",
                        as_str_get(&others));
    as_str_free(&others);
    return false;
}

/* ---- choosing ---- */

static void put_estimates(struct as_view *view, const struct as_row_sums *sums)
{
    size_t n;
    double all = (double)as_store_series(view->store, &n)[view->series].samples;
    for (size_t i = 0; i < AS_ROW_LEVELS; i++) {
        double error = as_row_sums_error(sums, i, all * as_summary_effective(view->store, view->series));
        if (!isnan(error))
            as_store_put_estimate(view->store,
                                  &(struct as_store_estimate){view->series, "estimate", as_row_level_names[i], error});
    }
}

/* Estimates the errors from the samples of the part, as an import does from all. */
static bool estimate(struct as_view *view, struct as_error *err)
{
    struct as_store_query query = AS_STORE_QUERY_INIT;
    struct as_store_rows rows;
    struct as_row_sums sums = {0};
    query.series = view->series;
    query.level = AS_STORE_BY_INSTRUCTION;
    if (!as_store_query(view->store, &query, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        const struct as_store_row *row = &rows.rows[i];
        as_row_sums_add(&sums, &(struct as_row_samples){.instruction = row->id,
                                                        .file = row->file,
                                                        .line = row->line,
                                                        .function = row->function,
                                                        .module = row->module,
                                                        .units = row->units,
                                                        .samples = row->samples});
    }
    put_estimates(view, &sums);
    as_row_sums_free(&sums);
    as_store_rows_free(&rows);
    return true;
}

bool as_time_window_keep(struct as_store *store, uint32_t series, const char *text, struct as_time_window *window,
                         uint64_t *last, struct as_error *err)
{
    uint64_t first, end;
    size_t n;
    if (!as_time_window_read(text, window, err))
        return false;
    int any = as_store_span(store, series, &first, &end, err);
    if (any <= 0)
        return any == 0 && as_time_window_refuse(store, series, "--time", err);
    if (window->from > end || window->until <= first)
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "--time=%s: there are no samples then; the first is at %.4g s, the last at %.4g s",
                                   text, (double)first * 1e-9, (double)end * 1e-9);
    if (!as_store_keep_time(store, series, window->from, window->until, err))
        return false;
    if (last)
        *last = end;
    return as_store_series(store, &n)[series].samples > 0 ||
           as_error_set_status(err, AS_EXIT_USAGE, "--time=%s: there are no samples then", text);
}

bool as_time_window_choose(struct as_view *view, struct as_error *err)
{
    struct as_time_window window;
    uint64_t last = 0;
    if (!as_time_window_keep(view->store, view->series, view->options.time, &window, &last, err))
        return false;
    double run = as_store_meta_double(view->store, AS_META_SECONDS), whole = (double)last * 1e-9;
    whole = run > whole ? run : whole; /* a program may wait at its end; NAN: not known */
    double begin = (double)window.from * 1e-9, end = (double)window.until * 1e-9;
    end = end > whole ? whole : end;
    view->part = as_format("%.6g s to %.6g s of %.6g s", begin, end, whole);
    view->part_seconds = end - begin;
    return estimate(view, err);
}

bool as_time_window_describe(struct as_view *view, struct as_error *err)
{
    struct as_summary *summary = &view->summary;
    uint64_t units;
    if (!as_store_total(view->store, view->series, NULL, &units, err))
        return false;
    summary->part = view->part;
    summary->instructions = 0;
    summary->cycles = strcmp(summary->unit, "cycles") == 0 ? (uint64_t)((double)units / summary->scale + 0.5) : 0;
    summary->seconds = view->part_seconds;
    return true;
}
