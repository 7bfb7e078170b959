/* Two profiles side by side: what became faster or slower, by how much, and which components changed.
 *
 * Rows are matched by what they are called, not by where they lie: module (its file's name), function, and for finer
 * rows the source line or the offset into the function. What has the same name in one profile is added up. Components
 * are matched by name too. */
#include "base/alloc.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "report/module_check.h"
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BEFORE, AFTER, SIDES };
enum { REASONS = 3 };

struct part {
    uint32_t name; /* of as_diff.names */
    double cycles[SIDES];
};

struct diff_row {
    char *name, *module, *function, *file;
    uint32_t line;
    double cycles[SIDES], executions[SIDES];
    AS_VEC(struct part) parts;
};

struct as_diff {
    const struct as_view *views[SIDES];
    enum as_store_level level;
    struct as_strings *keys, *names;
    AS_VEC(struct diff_row) rows;
    double cycles[SIDES], total[SIDES]; /* of the rows; of the profile, which shares are of */
    char differences[64];
};

/* ---- matching ---- */

/* What a row is called in both profiles; the caller frees. */
static char *key_of(const struct as_view *view, enum as_store_level level, const struct as_store_row *row)
{
    const char *module = as_view_module(view, row->module), *function = as_view_function(view, row->function);
    const char *file = as_view_file(view, row->file), *slash = file ? strrchr(file, '/') : NULL;
    uint64_t start = as_view_function_address(view, row->function);
    module = module ? module : "";
    file = slash ? slash + 1 : file ? file : "";
    switch (level) {
    case AS_STORE_BY_THREAD:
        return as_format("%" PRIu32, row->id < view->n_threads ? view->thread[row->id].number : 0);
    case AS_STORE_BY_FILE:
        return as_format("%s\n%s", module, file);
    case AS_STORE_BY_LINE:
        return as_format("%s\n%s\n%" PRIu32, module, file, row->line);
    case AS_STORE_BY_MODULE:
        return as_format("%s", module);
    case AS_STORE_BY_FUNCTION:
        return as_format("%s\n%s", module, function ? function : "");
    default:
        return as_format("%s\n%s\n%" PRIx64, module, function ? function : "", row->address - start);
    }
}

static char *copy(const char *text)
{
    return text ? as_strdup(text) : NULL;
}

static struct diff_row *row_of(struct as_diff *diff, const struct as_view *view, const struct as_store_row *row)
{
    char *key = key_of(view, diff->level, row);
    size_t before = as_strings_count(diff->keys);
    uint32_t number = as_strings_intern(diff->keys, key);
    char name[AS_ROW_NAME_MAX];
    free(key);
    if (number == before)
        *as_vec_push(&diff->rows) = (struct diff_row){.name = as_strdup(as_view_row_name(view, diff->level, row, name)),
                                                      .module = copy(as_view_module(view, row->module)),
                                                      .function = copy(as_view_function(view, row->function)),
                                                      .file = copy(as_view_file(view, row->file)),
                                                      .line = row->line};
    return &diff->rows.data[number];
}

static struct part *part_of(struct as_diff *diff, struct diff_row *row, const char *name)
{
    uint32_t number = as_strings_intern(diff->names, name);
    for (size_t i = 0; i < row->parts.len; i++)
        if (row->parts.data[i].name == number)
            return &row->parts.data[i];
    *as_vec_push(&row->parts) = (struct part){.name = number};
    return &row->parts.data[row->parts.len - 1];
}

static bool add_side(struct as_diff *diff, int side, struct as_error *err)
{
    const struct as_view *view = diff->views[side];
    struct as_store_rows rows;
    if (!as_view_rows(view, diff->level, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++) {
        if (rows.rows[i].id == AS_STORE_NONE && !rows.rows[i].units)
            continue;
        struct diff_row *row = row_of(diff, view, &rows.rows[i]);
        row->cycles[side] += as_view_cycles(view, rows.rows[i].units);
        row->executions[side] += (double)rows.rows[i].executions;
        char name[AS_COMPONENT_MAX];
        for (size_t k = 0; k < rows.rows[i].n_parts; k++)
            part_of(diff, row, as_view_component(view, rows.rows[i].parts[k].key, name))->cycles[side] +=
                as_view_cycles(view, rows.rows[i].parts[k].units);
    }
    diff->cycles[side] = as_view_cycles(view, rows.units);
    diff->total[side] = as_view_cycles(view, rows.total);
    as_store_rows_free(&rows);
    return true;
}

static double change_of(const double cycles[SIDES])
{
    return cycles[AFTER] - cycles[BEFORE];
}

static int largest_first(const void *a, const void *b)
{
    const struct diff_row *x = a, *y = b;
    double left = fabs(change_of(x->cycles)), right = fabs(change_of(y->cycles));
    if (left == right) { /* no change, say: what takes longest */
        left = x->cycles[AFTER];
        right = y->cycles[AFTER];
    }
    return left != right ? (left < right ? 1 : -1) : strcmp(x->name, y->name);
}

static int largest_part_first(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    double left = fabs(change_of(x->cycles)), right = fabs(change_of(y->cycles));
    return left != right ? (left < right ? 1 : -1) : (x->name > y->name) - (x->name < y->name);
}

/* ---- what else differs ---- */

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* --set leaves a core its name. */
static bool same_machine(const struct as_store *before, const struct as_store *after)
{
    return same_text(as_store_meta(before, AS_META_MACHINE), as_store_meta(after, AS_META_MACHINE));
}

static bool same_arguments(const struct as_store *before, const struct as_store *after)
{
    size_t n, m;
    const char *const *first = as_store_arguments(before, &n), *const *second = as_store_arguments(after, &m);
    for (size_t i = 1; i < n && n == m; i++) /* the program itself may lie elsewhere */
        if (!same_text(first[i], second[i]))
            return false;
    return n == m;
}

/* Beside the program, what was measured or how: "core, series, arguments", or "". */
static void find_differences(struct as_diff *diff)
{
    const struct as_summary *before = &diff->views[BEFORE]->summary, *after = &diff->views[AFTER]->summary;
    const struct {
        const char *name;
        bool same;
    } what[] = {{"core", same_text(before->core, after->core) && same_machine(before->store, after->store)},
                {"series", same_text(before->sampler, after->sampler)},
                {"arguments", same_arguments(diff->views[BEFORE]->store, diff->views[AFTER]->store)}};
    char *text = diff->differences;
    for (size_t i = 0; i < sizeof what / sizeof *what; i++)
        if (!what[i].same)
            snprintf(text + strlen(text), sizeof diff->differences - strlen(text), "%s%s", *text ? ", " : "",
                     what[i].name);
}

const char *as_diff_differences(const struct as_diff *diff)
{
    return diff->differences;
}

struct as_diff *as_diff_new(const struct as_view *before, const struct as_view *after, enum as_store_level level,
                            struct as_error *err)
{
    if (strcmp(before->summary.unit, after->summary.unit) != 0) {
        as_error_set(err, "--diff: one profile counts %s, the other %s", before->summary.unit, after->summary.unit);
        return NULL;
    }
    struct as_diff *diff = as_alloc(sizeof *diff);
    *diff =
        (struct as_diff){.views = {before, after}, .level = level, .keys = as_strings_new(), .names = as_strings_new()};
    if (!add_side(diff, BEFORE, err) || !add_side(diff, AFTER, err)) {
        as_diff_free(diff);
        return NULL;
    }
    find_differences(diff);
    if (diff->rows.len)
        qsort(diff->rows.data, diff->rows.len, sizeof *diff->rows.data, largest_first);
    for (size_t i = 0; i < diff->rows.len; i++)
        if (diff->rows.data[i].parts.len)
            qsort(diff->rows.data[i].parts.data, diff->rows.data[i].parts.len, sizeof(struct part), largest_part_first);
    return diff;
}

void as_diff_free(struct as_diff *diff)
{
    if (!diff)
        return;
    for (size_t i = 0; i < diff->rows.len; i++) {
        struct diff_row *row = &diff->rows.data[i];
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

/* ---- showing it ---- */

static size_t shown(const struct as_diff *diff, size_t limit)
{
    return limit && limit < diff->rows.len ? limit : diff->rows.len;
}

/* "1.25x faster", "new", "gone". */
static const char *verdict_of(const double cycles[SIDES], char *text, size_t size)
{
    if (cycles[BEFORE] <= 0)
        return cycles[AFTER] > 0 ? "new" : "same";
    if (cycles[AFTER] <= 0)
        return "gone";
    bool faster = cycles[BEFORE] > cycles[AFTER];
    double factor = faster ? cycles[BEFORE] / cycles[AFTER] : cycles[AFTER] / cycles[BEFORE];
    if (cycles[BEFORE] == cycles[AFTER])
        return "same";
    if (factor < 1.005) /* it would read 1.00x */
        snprintf(text, size, "%.2f %% %s", 100 * (factor - 1), faster ? "faster" : "slower");
    else
        snprintf(text, size, "%.*fx %s", factor < 1000 ? 2 : 0, factor, faster ? "faster" : "slower");
    return factor - 1 < 0.00005 ? "same" : text;
}

/* In at most nine columns: "9999", "-1234", "+12.35 M". */
static const char *amount_of(double value, const char *format, char text[32])
{
    static const char units[] = " kMGTPE";
    size_t unit = 0;
    char number[24];
    for (; fabs(value) >= 9999.5 && unit + 2 < sizeof units; unit++)
        value /= 1000;
    snprintf(number, sizeof number, value != 0 ? format : "%g", value);
    snprintf(text, 32, unit ? "%s %c" : "%s", number, units[unit]);
    return text;
}

/* What made the difference: the components that changed most, and the work itself where that is told. */
static void add_reasons(const struct as_diff *diff, struct as_str *text, const struct diff_row *row)
{
    char amount[32];
    size_t told = 0;
    for (size_t i = 0; i < row->parts.len && told < REASONS; i++) {
        double change = change_of(row->parts.data[i].cycles);
        if (fabs(change) < 0.05 * fabs(change_of(row->cycles)) || change == 0)
            break;
        as_str_addf(text, "%s%s %s", told++ ? ", " : "", AS_SHOW(as_strings_get(diff->names, row->parts.data[i].name)),
                    amount_of(change, "%+.4g", amount));
    }
    double more = row->executions[BEFORE] > 0 ? row->executions[AFTER] / row->executions[BEFORE] - 1 : 0;
    if (row->executions[AFTER] > 0 && fabs(more) >= 0.005)
        as_str_addf(text, "%sinstructions %+.1f %%", told ? ", " : "", 100 * more);
}

static void put_totals(const struct as_diff *diff, FILE *out, const struct as_term *term)
{
    char verdict[40];
    for (int side = 0; side < SIDES; side++) {
        fprintf(out, "%s %s:\n", side == BEFORE ? "before" : "after ",
                AS_SHOW(as_store_file_name(diff->views[side]->store)));
        as_summary_text(&diff->views[side]->summary, out, term);
        as_module_notes_text(diff->views[side], out, term);
    }
    if (*diff->differences)
        fprintf(out, "WARNING: the profiles differ in more than the program: %s\n", diff->differences);
    if (as_view_filters_text(diff->views[AFTER], out, false))
        fputc('\n', out);
    fprintf(out, "\n%.0f %s before, %.0f after: %s\n\n", diff->cycles[BEFORE],
            AS_SHOW(diff->views[AFTER]->summary.unit), diff->cycles[AFTER],
            verdict_of(diff->cycles, verdict, sizeof verdict));
}

enum { NUMBERS = 47, WHY_WIDE = 40 };

/* On a narrow terminal the reasons have a line of their own. */
static void put_reasons(const struct as_diff *diff, FILE *out, const struct as_term *term, const struct diff_row *row,
                        unsigned used)
{
    struct as_str text = {0};
    add_reasons(diff, &text, row);
    if (text.len && term->width < AS_TERM_WIDE) {
        fprintf(out, "\n%*s", NUMBERS + 2, "");
        used = NUMBERS + 2;
    } else if (text.len) {
        fputs("  ", out);
    }
    as_show_wrapped(out, term, as_str_get(&text), used, used);
    fputc('\n', out);
    as_str_free(&text);
}

static void put_row(const struct as_diff *diff, FILE *out, const struct as_term *term, const struct diff_row *row,
                    unsigned name)
{
    char before[32], after[32], change[32], verdict[40];
    fprintf(out, "%9s %9s %9s  ", amount_of(row->cycles[BEFORE], "%.4g", before),
            amount_of(row->cycles[AFTER], "%.4g", after), amount_of(change_of(row->cycles), "%+.4g", change));
    if (term->colour && change_of(row->cycles) != 0)
        fputs(change_of(row->cycles) < 0 ? "\033[32m" : "\033[31m", out);
    fprintf(out, "%-14s  ", verdict_of(row->cycles, verdict, sizeof verdict));
    as_term_plain(out, term);
    as_show_in(out, term, row->name, name, term->width >= AS_TERM_WIDE);
    put_reasons(diff, out, term, row, NUMBERS + name + 2);
}

void as_diff_text(const struct as_diff *diff, FILE *out, const struct as_term *term, size_t limit)
{
    bool wide = term->width >= AS_TERM_WIDE;
    unsigned left = term->width > NUMBERS + 20 ? term->width - NUMBERS - 2 : 20;
    unsigned name = !wide ? left : left > WHY_WIDE + 36 ? 36 : left - WHY_WIDE;
    put_totals(diff, out, term);
    as_term_bold(out, term, true);
    fprintf(out, "%9s %9s %9s  %-14s  ", "before", "after", "change", "");
    as_show_in(out, term, as_view_level_name(diff->level), name, wide);
    fputs(wide ? "  why\n" : ", why\n", out);
    as_term_bold(out, term, false);
    for (size_t i = 0; i < shown(diff, limit); i++)
        put_row(diff, out, term, &diff->rows.data[i], name);
    if (shown(diff, limit) < diff->rows.len)
        fprintf(out, "%zu more; --limit 0 shows all\n", diff->rows.len - shown(diff, limit));
}

static void json_parts(const struct as_diff *diff, struct as_json *json, const struct diff_row *row, const char *name,
                       int side)
{
    as_json_object(json, name);
    for (size_t i = 0; i < row->parts.len; i++)
        if (row->parts.data[i].cycles[side] != 0)
            as_json_double(json, as_strings_get(diff->names, row->parts.data[i].name), row->parts.data[i].cycles[side]);
    as_json_end(json);
}

static void json_row(const struct as_diff *diff, struct as_json *json, const struct diff_row *row)
{
    as_json_object(json, NULL);
    bool named = diff->level == AS_STORE_BY_FUNCTION && row->function;
    as_json_string(json, "name", named ? row->function : row->name); /* JSON can hold what terminals must not see */
    as_json_string(json, "module", row->module);
    as_json_string(json, "function", row->function);
    as_json_string(json, "file", row->file);
    if (row->line)
        as_json_u64(json, "line", row->line);
    as_json_double(json, "before", row->cycles[BEFORE]);
    as_json_double(json, "cycles", row->cycles[AFTER]);
    as_json_double(json, "share", diff->total[AFTER] > 0 ? row->cycles[AFTER] / diff->total[AFTER] : 0);
    as_json_double(json, "change", change_of(row->cycles));
    as_json_double(json, "speedup", row->cycles[BEFORE] > 0 ? row->cycles[BEFORE] / row->cycles[AFTER] : NAN);
    if (row->executions[BEFORE] > 0 || row->executions[AFTER] > 0) {
        as_json_double(json, "before_executions", row->executions[BEFORE]);
        as_json_double(json, "executions", row->executions[AFTER]);
    }
    json_parts(diff, json, row, "before_components", BEFORE);
    json_parts(diff, json, row, "components", AFTER);
    as_json_end(json);
}

void as_diff_json(const struct as_diff *diff, struct as_json *json, size_t limit)
{
    static const char *const names[] = {"before", "summary"};
    for (int side = 0; side < SIDES; side++) {
        as_json_object(json, names[side]);
        as_summary_json(&diff->views[side]->summary, json);
        as_json_end(json);
    }
    as_json_string(json, "differ_in", diff->differences);
    as_json_string(json, "by", as_view_level_name(diff->level));
    as_json_string(json, "unit", diff->views[AFTER]->summary.unit);
    as_view_filters_json(diff->views[AFTER], json);
    as_json_double(json, "change", change_of(diff->cycles));
    as_json_double(json, "speedup", diff->cycles[AFTER] > 0 ? diff->cycles[BEFORE] / diff->cycles[AFTER] : NAN);
    as_json_array(json, "rows");
    for (size_t i = 0; i < shown(diff, limit); i++)
        json_row(diff, json, &diff->rows.data[i]);
    as_json_end(json);
}

void as_diff_csv(const struct as_diff *diff, FILE *out, size_t limit)
{
    fputs("name,module,function,file,line,before,after,change\r\n", out);
    for (size_t i = 0; i < shown(diff, limit); i++) {
        const struct diff_row *row = &diff->rows.data[i];
        const char *texts[] = {row->name, row->module, row->function, row->file};
        for (size_t k = 0; k < 4; k++) {
            as_report_csv_field(out, texts[k]);
            fputc(',', out);
        }
        if (row->line)
            fprintf(out, "%" PRIu32, row->line);
        fprintf(out, ",%.17g,%.17g,%.17g\r\n", row->cycles[BEFORE], row->cycles[AFTER], change_of(row->cycles));
    }
}
