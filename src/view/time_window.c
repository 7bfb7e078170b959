/* See time_window.h. */
#include "view/time_window.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "score/sampling_error.h"

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

/* Sums by key, in the order in which keys were first added. */
struct groups {
    struct as_map index; /* key to group + 1 */
    AS_VEC(uint64_t) units;
    AS_VEC(uint64_t) samples;
};

static void add_to_group(struct groups *groups, uint64_t key, const struct as_store_row *row)
{
    uint64_t *index = as_map_put(&groups->index, key);
    if (*index == 0) {
        *as_vec_push(&groups->units) = 0;
        *as_vec_push(&groups->samples) = 0;
        *index = groups->units.len;
    }
    groups->units.data[*index - 1] += row->units;
    groups->samples.data[*index - 1] += row->samples;
}

/* The groups of an import: code without a function by module, code without a line by function. Rows by line would put all that
 * a module has no lines of into one group, and a line would seem to be better known than its function. */
static uint64_t function_key(const struct as_store_row *row)
{
    return row->function != AS_STORE_NONE ? row->function : UINT64_C(1) << 32 | row->module;
}

static uint64_t line_key(const struct as_store_row *row)
{
    return row->line ? (uint64_t)row->file << 32 | row->line : UINT64_C(1) << 63 | function_key(row);
}

enum { LEVELS = 3 };

static void put_estimates(struct as_view *view, struct groups groups[LEVELS], bool lines)
{
    static const char *const names[LEVELS] = {"instruction", "line", "function"};
    size_t n;
    double all = (double)as_store_series(view->store, &n)[view->series].samples;
    for (size_t i = 0; i < LEVELS; i++) {
        double error = as_sampling_error(as_weights_of(groups[i].units.data, groups[i].units.len),
                                         groups[i].samples.data, all * as_summary_effective(view->store, view->series));
        if (!isnan(error) && (i != 1 || lines))
            as_store_put_estimate(view->store, &(struct as_store_estimate){view->series, "estimate", names[i], error});
    }
}

/* Estimates the errors from the samples of the part, as an import does from all. */
static bool estimate(struct as_view *view, struct as_error *err)
{
    struct as_store_query query = AS_STORE_QUERY_INIT;
    struct as_store_rows rows;
    struct groups groups[LEVELS] = {0};
    bool lines = false; /* lines are known */
    query.series = view->series;
    query.level = AS_STORE_BY_INSTRUCTION;
    if (!as_store_query(view->store, &query, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        lines |= rows.rows[i].line != 0;
        add_to_group(&groups[0], rows.rows[i].id, &rows.rows[i]);
        add_to_group(&groups[1], line_key(&rows.rows[i]), &rows.rows[i]);
        add_to_group(&groups[2], function_key(&rows.rows[i]), &rows.rows[i]);
    }
    put_estimates(view, groups, lines);
    for (size_t i = 0; i < LEVELS; i++) {
        as_map_free(&groups[i].index);
        as_vec_free(&groups[i].units);
        as_vec_free(&groups[i].samples);
    }
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
    uint64_t last;
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
