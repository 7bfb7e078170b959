/* See diff.h. Rows are matched by name, not by address: module (its file's name), function, and for finer rows the
 * source line or the offset into the function. Clones of a function (step.constprop.0) count as the function. The
 * program's own file is the same module in both, whatever it is called: prog-old and prog-new are compared. Rows of one
 * profile with the same name are added up. Components are matched by name, too. */
#include "view/diff_internal.h"

#include "score/change.h"
#include "score/confidence.h"
#include "view/rows.h"

#include "base/alloc.h"
#include "base/cpp_name.h"
#include "base/map.h"
#include "base/path.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- matching ---- */

/* The program's own file is the same module in both. */
static const char *module_of(const struct as_view *view, uint32_t number)
{
    const char *module = as_view_module(view, number);
    return !module ? "" : view->summary.program && strcmp(module, view->summary.program) == 0 ? "/" : module;
}

/* Compilers make and unmake clones from build to build: "step.constprop.0" is "step". */
char *as_diff_function_key(const struct as_view *view, uint32_t module, const char *function)
{
    function = function ? function : "";
    return as_format("%s\n%.*s", module_of(view, module), (int)as_clone_length(function), function);
}

/* The key of a row, which is the same in both profiles; the caller frees. */
static char *key_of(const struct as_view *view, enum as_store_level level, const struct as_store_row *row)
{
    const char *module = module_of(view, row->module), *function = as_view_function(view, row->function);
    const char *file = as_view_file(view, row->file);
    uint64_t start = as_view_function_address(view, row->function);
    file = file ? as_path_base(file) : "";
    switch (level) {
    case AS_STORE_BY_THREAD:
        return as_format("%" PRIu32, row->id < view->n_threads ? view->thread[row->id].number : 0);
    case AS_STORE_BY_PROCESS:
        return as_format("%" PRId64, row->id < view->n_threads ? view->thread[row->id].process : 0);
    case AS_STORE_BY_COMMAND:
        return as_strdup(row->id < view->n_threads && view->thread[row->id].name ? view->thread[row->id].name : "");
    case AS_STORE_BY_PROCESSOR:
        return as_format("%" PRIu32, row->id);
    case AS_STORE_BY_FILE:
        return as_format("%s\n%s", module, file);
    case AS_STORE_BY_LINE:
        return as_format("%s\n%s\n%" PRIu32, module, file, row->line);
    case AS_STORE_BY_MODULE:
        return as_format("%s", module);
    case AS_STORE_BY_FUNCTION:
        return as_diff_function_key(view, row->module, function);
    default:
        return as_format("%s\n%s\n%" PRIx64, module, function ? function : "", row->address - start);
    }
}

static char *copy(const char *text)
{
    return text ? as_strdup(text) : NULL;
}

/* A row of functions stands for their clones, too. */
static void cut_clone(char *name, enum as_store_level level)
{
    if (name && level == AS_STORE_BY_FUNCTION)
        name[as_clone_length(name)] = '\0';
}

static struct as_diff_row *row_of(struct as_diff *diff, const struct as_view *view, const struct as_store_row *row)
{
    char *key = key_of(view, diff->level, row);
    size_t before = as_strings_count(diff->keys);
    uint32_t number = as_strings_intern(diff->keys, key);
    char name[AS_ROW_NAME_MAX];
    free(key);
    if (number == before) {
        struct as_diff_row *made = as_vec_push(&diff->rows);
        *made = (struct as_diff_row){.name = as_strdup(as_view_row_name(view, diff->level, row, name)),
                                     .module = copy(as_view_module(view, row->module)),
                                     .function = copy(as_view_function(view, row->function)),
                                     .file = copy(as_view_file(view, row->file)),
                                     .line = row->line,
                                     .inlined = AS_DIFF_SIDES};
        cut_clone(made->name, diff->level);
        cut_clone(made->function, diff->level);
    }
    return &diff->rows.data[number];
}

struct as_diff_part *as_diff_part_of(struct as_diff *diff, struct as_diff_row *row, const char *name)
{
    uint32_t number = as_strings_intern(diff->names, name);
    for (size_t i = 0; i < row->parts.len; i++)
        if (row->parts.data[i].name == number)
            return &row->parts.data[i];
    *as_vec_push(&row->parts) = (struct as_diff_part){.name = number};
    return &row->parts.data[row->parts.len - 1];
}

/* The standard deviation of the cycles of a run that was measured in regions, as a part of them: its interval has it. */
static double spread_of(const struct as_view *view)
{
    return view->summary.sampled ? isnan(view->summary.error) ? INFINITY : view->summary.error / AS_Z_95 : 0;
}

/* The variance of a row's time in such a run: of its share, from the replicates, and of the whole. */
static double variance_of(const struct as_rows *list, size_t row)
{
    double all = as_view_cycles(list->view, list->rows.units),
           own = as_view_cycles(list->view, list->rows.rows[row].units);
    double whole = own * spread_of(list->view), share = list->errors ? list->errors[row] / AS_Z_95 * all : INFINITY;
    return isinf(spread_of(list->view)) ? INFINITY : whole * whole + share * share;
}

static bool threads_vary(const struct as_view *view)
{
    const struct as_summary *summary = &view->summary;
    return summary->has_threads && (summary->exact || summary->sampled) &&
           !as_store_meta(view->store, AS_META_DETERMINISTIC);
}

const char *as_diff_threads_note(const struct as_diff *diff)
{
    return diff->threads_vary
               ? "the program has several threads or processes: their order, and so their times, differs from "
                 "run to run even if nothing else does; 'assay record --deterministic' fixes it"
               : NULL;
}

/* What was measured once has no error of sampling: code of the program's start, for the most part. But with threads in another order it
 * takes another time, in pieces as long as a region by as much as regions differ. */
static double variance_of_once(const struct as_rows *list, size_t row)
{
    if (!list->once || !threads_vary(list->view))
        return 0;
    double time = as_view_cycles(list->view, list->once[row]), region = as_summary_region_cycles(&list->view->summary);
    double deviation = time * as_region_prior_of(1, region > 0 ? time / region : 1).deviation;
    return deviation * deviation;
}

static bool add_side(struct as_diff *diff, int side, struct as_error *err)
{
    const struct as_view *view = diff->views[side];
    struct as_rows list = {.view = view, .level = diff->level};
    if (!as_view_rows(view, diff->level, &list.rows, err))
        return false;
    if (!as_row_errors_make(&list, err)) {
        as_rows_free(&list);
        return false;
    }
    const struct as_store_rows rows = list.rows;
    for (size_t i = 0; i < rows.n; i++) {
        if (rows.rows[i].id == AS_STORE_NONE && !rows.rows[i].units)
            continue;
        struct as_diff_row *row = row_of(diff, view, &rows.rows[i]);
        row->variance[side] += view->summary.sampled ? variance_of(&list, i) : 0;
        row->once[side] += variance_of_once(&list, i);
        row->cycles[side] += as_view_cycles(view, rows.rows[i].units);
        row->samples[side] += (double)rows.rows[i].samples;
        row->executions[side] += (double)rows.rows[i].executions;
        char name[AS_COMPONENT_MAX];
        for (size_t k = 0; k < rows.rows[i].n_parts; k++)
            as_diff_part_of(diff, row, as_view_component(view, rows.rows[i].parts[k].key, name))->cycles[side] +=
                as_view_cycles(view, rows.rows[i].parts[k].units);
    }
    diff->cycles[side] = as_view_cycles(view, rows.units);
    diff->samples[side] = (double)rows.samples;
    diff->total[side] = as_view_cycles(view, rows.total);
    diff->spread[side] = diff->cycles[side] * spread_of(view);
    as_rows_free(&list);
    return true;
}

static int largest_first(const void *a, const void *b)
{
    const struct as_diff_row *x = a, *y = b;
    double left = fabs(as_diff_change(x->cycles)), right = fabs(as_diff_change(y->cycles));
    if (x->significant != y->significant)
        return y->significant - x->significant;
    if (left == right) { /* equal changes, none for example: the longest time first */
        left = x->cycles[AS_DIFF_AFTER];
        right = y->cycles[AS_DIFF_AFTER];
    }
    return left != right ? (left < right ? 1 : -1) : strcmp(x->name, y->name);
}

static int largest_part_first(const void *a, const void *b)
{
    const struct as_diff_part *x = a, *y = b;
    double left = fabs(as_diff_change(x->cycles)), right = fabs(as_diff_change(y->cycles));
    return left != right ? (left < right ? 1 : -1) : (x->name > y->name) - (x->name < y->name);
}

/* ---- significance ---- */

static bool is_counted(const struct as_view *view)
{
    return view->summary.exact || view->summary.counted;
}

/* A run that was measured in regions has deviations, and what they all have in common none. */
static struct as_timed timed_of(const struct as_diff *diff, int side, const double *cycles, const double *samples,
                                double deviation)
{
    if (diff->views[side]->summary.sampled)
        return (struct as_timed){.time = cycles[side], .samples = INFINITY, .deviation = deviation};
    double effective = diff->views[side]->summary.effective, all = effective * diff->samples[side];
    return (struct as_timed){.time = cycles[side],
                             .samples = is_counted(diff->views[side]) ? INFINITY : effective * samples[side],
                             .weight = all > 0 ? diff->cycles[side] / all : 0};
}

static void judge(const struct as_diff *diff, const double *cycles, const double *samples, const double *spread,
                  double *deviation, bool *significant)
{
    struct as_timed before = timed_of(diff, AS_DIFF_BEFORE, cycles, samples, spread[AS_DIFF_BEFORE]),
                    after = timed_of(diff, AS_DIFF_AFTER, cycles, samples, spread[AS_DIFF_AFTER]);
    *deviation = as_change_deviation(before, after);
    *significant = as_change_is_significant(before, after);
}

static void judge_all(struct as_diff *diff)
{
    judge(diff, diff->cycles, diff->samples, diff->spread, &diff->deviation, &diff->significant);
    for (size_t i = 0; i < diff->rows.len; i++) {
        struct as_diff_row *row = &diff->rows.data[i];
        bool both = row->cycles[AS_DIFF_BEFORE] > 0 && row->cycles[AS_DIFF_AFTER] > 0; /* else it is new, or gone */
        double spread[AS_DIFF_SIDES];
        for (int side = 0; side < AS_DIFF_SIDES; side++)
            spread[side] = sqrt(row->variance[side] + (both ? row->once[side] : 0));
        judge(diff, row->cycles, row->samples, spread, &row->deviation, &row->significant);
    }
}

/* ---- what else differs ---- */

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* --set does not change a core's name, so the parameters are compared. */
static bool same_machine(const struct as_store *before, const struct as_store *after)
{
    return same_text(as_store_meta(before, AS_META_MACHINE), as_store_meta(after, AS_META_MACHINE));
}

static bool same_arguments(const struct as_store *before, const struct as_store *after)
{
    size_t n, m;
    const char *const *first = as_store_arguments(before, &n), *const *second = as_store_arguments(after, &m);
    for (size_t i = 1; i < n && n == m; i++) /* from 1: the path of the program itself may differ */
        if (!same_text(first[i], second[i]))
            return false;
    return n == m;
}

const char *as_diff_extent(const struct as_summary *summary)
{
    const char *extent = summary->region ? summary->region : summary->part;
    return summary->sampled || !extent ? "" : extent;
}

/* Lists what differs besides the program: "core, series, arguments", or "". */
static void find_differences(struct as_diff *diff)
{
    const struct as_summary *before = &diff->views[AS_DIFF_BEFORE]->summary,
                            *after = &diff->views[AS_DIFF_AFTER]->summary;
    const struct {
        const char *name;
        bool same;
    } what[] = {{"core", same_text(before->core, after->core) && same_machine(before->store, after->store)},
                {"series", same_text(before->sampler, after->sampler)},
                {"arguments", same_arguments(diff->views[AS_DIFF_BEFORE]->store, diff->views[AS_DIFF_AFTER]->store)},
                {"part of the run", same_text(as_diff_extent(before), as_diff_extent(after))}};
    char *text = diff->differences;
    for (size_t i = 0; i < sizeof what / sizeof *what; i++)
        if (!what[i].same)
            snprintf(text + strlen(text), sizeof diff->differences - strlen(text), "%s%s", *text ? ", " : "",
                     what[i].name);
}

struct as_diff *as_diff_new(const struct as_view *before, const struct as_view *after, enum as_store_level level,
                            struct as_error *err)
{
    if (strcmp(before->summary.unit, after->summary.unit) == 0)
        return as_diff_new_of_shares(before, after, level, err);
    as_error_set(err, "--diff: one profile counts %s, the other %s", before->summary.unit, after->summary.unit);
    return NULL;
}

struct as_diff *as_diff_new_of_shares(const struct as_view *before, const struct as_view *after,
                                      enum as_store_level level, struct as_error *err)
{
    struct as_diff *diff = as_alloc(sizeof *diff);
    *diff =
        (struct as_diff){.views = {before, after}, .level = level, .keys = as_strings_new(), .names = as_strings_new()};
    if (!add_side(diff, AS_DIFF_BEFORE, err) || !add_side(diff, AS_DIFF_AFTER, err) ||
        !as_diff_count_inlined(diff, err)) {
        as_diff_free(diff);
        return NULL;
    }
    find_differences(diff);
    diff->threads_vary = threads_vary(before) || threads_vary(after);
    judge_all(diff);
    if (diff->rows.len)
        qsort(diff->rows.data, diff->rows.len, sizeof *diff->rows.data, largest_first);
    for (size_t i = 0; i < diff->rows.len; i++)
        if (diff->rows.data[i].parts.len)
            qsort(diff->rows.data[i].parts.data, diff->rows.data[i].parts.len, sizeof(struct as_diff_part),
                  largest_part_first);
    return diff;
}

void as_diff_free(struct as_diff *diff)
{
    if (!diff)
        return;
    for (size_t i = 0; i < diff->rows.len; i++) {
        struct as_diff_row *row = &diff->rows.data[i];
        free(row->name);
        free(row->module);
        free(row->function);
        free(row->file);
        as_vec_free(&row->parts);
    }
    as_vec_free(&diff->rows);
    as_strings_free(diff->keys);
    as_strings_free(diff->names);
    free(diff);
}
