/* Two profiles compared: text, JSON, CSV. See report_kinds.h. */
#include "base/alloc.h"
#include "base/log.h"
#include "base/map.h"
#include "base/str.h"
#include "report/gate_text.h"
#include "report/report_csv.h"
#include "report/report_json.h"
#include "report/report_kinds.h"
#include "report/report_text.h"
#include "view/diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REASONS = 3 }; /* most components that a row names */

struct shown {
    struct as_diff *diff;
    size_t limit; /* rows to show; 0: all */
    bool gated;
    struct as_gate_result gate;
};

static void free_diff(void *state)
{
    struct shown *shown = state;
    as_gate_free(&shown->gate);
    as_diff_free(shown->diff);
    free(shown);
}

const struct as_gate_result *as_report_diff_gate(const void *state)
{
    const struct shown *shown = state;
    return shown->gated ? &shown->gate : NULL;
}

const struct as_diff *as_report_diff_values(const void *state)
{
    return ((const struct shown *)state)->diff;
}

static void *make_diff(const struct as_report_request *request, struct as_error *err)
{
    struct shown *shown = as_alloc(sizeof *shown);
    shown->limit = request->limit;
    shown->diff = as_diff_new(request->other, request->view, as_report_level(request->by), err);
    shown->gated = request->gate != NULL;
    if (shown->diff && shown->gated)
        as_gate_judge(&shown->gate, *request->gate, shown->diff);
    if (shown->diff)
        return shown;
    free_diff(shown);
    return NULL;
}

/* ---- text ---- */

/* "1.25x faster", "new", "gone", "within noise". */
static const char *verdict_of(const double cycles[AS_DIFF_SIDES], bool significant, char *text, size_t size)
{
    if (!significant && as_diff_change(cycles) != 0)
        return "within noise";
    if (cycles[AS_DIFF_BEFORE] <= 0)
        return cycles[AS_DIFF_AFTER] > 0 ? "new" : "same";
    if (cycles[AS_DIFF_AFTER] <= 0)
        return "gone";
    bool faster = cycles[AS_DIFF_BEFORE] > cycles[AS_DIFF_AFTER];
    double factor =
        faster ? cycles[AS_DIFF_BEFORE] / cycles[AS_DIFF_AFTER] : cycles[AS_DIFF_AFTER] / cycles[AS_DIFF_BEFORE];
    if (cycles[AS_DIFF_BEFORE] == cycles[AS_DIFF_AFTER])
        return "same";
    if (factor < 1.005) /* a smaller factor would be printed as 1.00x */
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

/* What explains the difference: the components that changed most, and the number of instructions if it is known. */
static void add_reasons(const struct as_diff *diff, struct as_str *text, const struct as_diff_row *row)
{
    static const char *const inlined[] = {"inlined before", "inlined after"};
    char amount[32];
    size_t told = 0;
    if (row->inlined < AS_DIFF_SIDES)
        as_str_add(text, inlined[row->inlined]);
    for (size_t i = 0; i < row->parts.len && told < REASONS; i++, told++) {
        double change = as_diff_change(row->parts.data[i].cycles);
        if (fabs(change) < 0.05 * fabs(as_diff_change(row->cycles)) || change == 0)
            break;
        as_str_addf(text, "%s%s %s", text->len ? ", " : "",
                    AS_SHOW(as_strings_get(diff->names, row->parts.data[i].name)), amount_of(change, "%+.4g", amount));
    }
    double more =
        row->executions[AS_DIFF_BEFORE] > 0 ? row->executions[AS_DIFF_AFTER] / row->executions[AS_DIFF_BEFORE] - 1 : 0;
    if (row->executions[AS_DIFF_AFTER] > 0 && fabs(more) >= 0.005)
        as_str_addf(text, "%sinstructions %+.1f %%", text->len ? ", " : "", 100 * more);
}

static void put_inlined(const struct as_diff *diff, FILE *out, const struct as_term *term)
{
    if (!diff->inlined)
        return;
    struct as_str note = {0};
    as_str_addf(&note,
                "note: only one of the two builds inlines %zu of the functions (inlined before, inlined after); their "
                "inlined code is counted to them, not to their callers",
                diff->inlined);
    as_show_wrapped(out, term, as_str_get(&note), 0, 6);
    fputs("\n\n", out);
    as_str_free(&note);
}

static void put_threads(const struct as_diff *diff, FILE *out, const struct as_term *term)
{
    const char *text = as_diff_threads_note(diff);
    if (!text)
        return;
    fputs("note: ", out);
    as_show_wrapped(out, term, text, 6, 6);
    fputs("\n\n", out);
}

/* A remark of a head: a line, and the indented ones behind it. */
static size_t remark_length(const char *text)
{
    size_t length = strcspn(text, "\n");
    while (text[length] == '\n' && text[length + 1] == ' ')
        length += 1 + strcspn(text + length + 1, "\n");
    return length + (text[length] == '\n');
}

static bool has_remark(const char *text, const char *remark, size_t length)
{
    for (size_t n; *text; text += n) {
        n = remark_length(text);
        if (n == length && strncmp(text, remark, n) == 0)
            return true;
    }
    return false;
}

static char *head_of(const struct as_view *view, const struct as_term *term)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return as_strdup("");
    as_summary_text(&view->summary, out, term);
    as_module_notes_text(view, out, term);
    return fclose(out) == 0 ? text : as_strdup("");
}

/* The heads of both; what the second has in common with the first is not repeated. */
static void put_heads(const struct as_diff *diff, FILE *out, const struct as_term *term)
{
    char *heads[AS_DIFF_SIDES];
    for (int side = 0; side < AS_DIFF_SIDES; side++) {
        size_t n, shared = 0;
        heads[side] = head_of(diff->views[side], term);
        fprintf(out, "%s %s:\n", side == AS_DIFF_BEFORE ? "before" : "after ",
                AS_SHOW(as_store_file_name(diff->views[side]->store)));
        for (const char *at = heads[side]; *at; at += n) {
            n = remark_length(at);
            bool again = side == AS_DIFF_AFTER && at != heads[side] && has_remark(heads[AS_DIFF_BEFORE], at, n);
            shared += again;
            fwrite(at, 1, again ? 0 : n, out);
        }
        if (shared)
            fputs("the other remarks hold for both\n", out);
    }
    for (int side = 0; side < AS_DIFF_SIDES; side++)
        free(heads[side]);
}

static void put_totals(const struct as_diff *diff, FILE *out, const struct as_term *term)
{
    char verdict[40];
    put_heads(diff, out, term);
    if (*diff->differences)
        fprintf(out, "WARNING: the profiles differ in more than the program: %s\n", diff->differences);
    if (as_filters_text(diff->views[AS_DIFF_AFTER], out, false))
        fputc('\n', out);
    fprintf(out, "\n%s %s before, %s after: %s\n\n", AS_COUNT((uint64_t)llround(diff->cycles[AS_DIFF_BEFORE])),
            AS_SHOW(diff->views[AS_DIFF_AFTER]->summary.unit), AS_COUNT((uint64_t)llround(diff->cycles[AS_DIFF_AFTER])),
            verdict_of(diff->cycles, diff->significant, verdict, sizeof verdict));
    put_threads(diff, out, term);
    put_inlined(diff, out, term);
}

enum { NUMBERS = 47, WHY_WIDE = 40 };

/* On a narrow terminal the reasons are on a separate line. */
static void put_reasons(const struct as_diff *diff, FILE *out, const struct as_term *term,
                        const struct as_diff_row *row, unsigned used)
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

static void put_row(const struct as_diff *diff, FILE *out, const struct as_term *term, const struct as_diff_row *row,
                    unsigned name)
{
    char before[32], after[32], change[32], verdict[40];
    fprintf(out, "%9s %9s %9s  ", amount_of(row->cycles[AS_DIFF_BEFORE], "%.4g", before),
            amount_of(row->cycles[AS_DIFF_AFTER], "%.4g", after),
            amount_of(as_diff_change(row->cycles), "%+.4g", change));
    if (term->colour && row->significant)
        fputs(as_diff_change(row->cycles) < 0 ? "\033[32m" : "\033[31m", out);
    fprintf(out, "%-14s  ", verdict_of(row->cycles, row->significant, verdict, sizeof verdict));
    as_term_plain(out, term);
    as_show_in(out, term, row->name, name, term->width >= AS_TERM_WIDE);
    put_reasons(diff, out, term, row, NUMBERS + name + 2);
}

static void put_text(const void *state, FILE *out, const struct as_term *term)
{
    const struct shown *shown = state;
    const struct as_diff *diff = shown->diff;
    size_t n = as_report_shown(diff->rows.len, shown->limit);
    bool wide = term->width >= AS_TERM_WIDE;
    unsigned left = term->width > NUMBERS + 20 ? term->width - NUMBERS - 2 : 20;
    unsigned name = !wide ? left : left > WHY_WIDE + 36 ? 36 : left - WHY_WIDE;
    put_totals(diff, out, term);
    as_term_bold(out, term, true);
    fprintf(out, "%9s %9s %9s  %-14s  ", "before", "after", "change", "");
    as_show_in(out, term, as_view_level_name(diff->level), name, wide);
    fputs(wide ? "  why\n" : ", why\n", out);
    as_term_bold(out, term, false);
    for (size_t i = 0; i < n; i++)
        put_row(diff, out, term, &diff->rows.data[i], name);
    if (n < diff->rows.len)
        fprintf(out, "%s more; --limit 0 shows all\n", AS_COUNT(diff->rows.len - n));
    if (shown->gated) {
        fputc('\n', out);
        as_gate_text(&shown->gate, diff, out);
    }
}

/* ---- JSON and CSV ---- */

static void json_parts(const struct as_diff *diff, struct as_json *json, const struct as_diff_row *row,
                       const char *name, int side)
{
    as_json_object(json, name);
    for (size_t i = 0; i < row->parts.len; i++)
        if (row->parts.data[i].cycles[side] != 0)
            as_json_double(json, as_strings_get(diff->names, row->parts.data[i].name), row->parts.data[i].cycles[side]);
    as_json_end(json);
}

static void json_row(const struct as_diff *diff, struct as_json *json, const struct as_diff_row *row)
{
    as_json_object(json, NULL);
    bool named = diff->level == AS_STORE_BY_FUNCTION && row->function;
    /* JSON may contain characters that terminals must not see. */
    as_json_string(json, "name", named ? row->function : row->name);
    as_json_string(json, "module", row->module);
    as_json_string(json, "function", row->function);
    as_json_string(json, "file", row->file);
    if (row->line)
        as_json_u64(json, "line", row->line);
    as_json_double(json, "before", row->cycles[AS_DIFF_BEFORE]);
    as_json_double(json, "time", row->cycles[AS_DIFF_AFTER]);
    as_json_double(json, "cycles", row->cycles[AS_DIFF_AFTER]); /* the original name of the field */
    as_json_double(json, "share",
                   diff->total[AS_DIFF_AFTER] > 0 ? row->cycles[AS_DIFF_AFTER] / diff->total[AS_DIFF_AFTER] : 0);
    as_json_double(json, "change", as_diff_change(row->cycles));
    as_json_double(json, "deviation", row->deviation);
    as_json_bool(json, "significant", row->significant);
    if (row->inlined < AS_DIFF_SIDES)
        as_json_string(json, "inlined", row->inlined == AS_DIFF_BEFORE ? "before" : "after");
    as_json_double(json, "speedup",
                   row->cycles[AS_DIFF_BEFORE] > 0 ? row->cycles[AS_DIFF_BEFORE] / row->cycles[AS_DIFF_AFTER] : NAN);
    if (row->executions[AS_DIFF_BEFORE] > 0 || row->executions[AS_DIFF_AFTER] > 0) {
        as_json_double(json, "before_executions", row->executions[AS_DIFF_BEFORE]);
        as_json_double(json, "executions", row->executions[AS_DIFF_AFTER]);
    }
    json_parts(diff, json, row, "before_components", AS_DIFF_BEFORE);
    json_parts(diff, json, row, "components", AS_DIFF_AFTER);
    as_json_end(json);
}

void as_diff_json(const struct as_diff *diff, struct as_json *json, size_t limit)
{
    static const char *const names[] = {"before", "summary"};
    for (int side = 0; side < AS_DIFF_SIDES; side++) {
        as_summary_json(&diff->views[side]->summary, json, names[side]);
    }
    as_json_string(json, "differ_in", diff->differences);
    as_json_bool(json, "threads_vary", diff->threads_vary);
    as_json_string(json, "by", as_view_level_name(diff->level));
    as_json_string(json, "unit", diff->views[AS_DIFF_AFTER]->summary.unit);
    as_filters_json(diff->views[AS_DIFF_AFTER], json);
    as_json_double(json, "change", as_diff_change(diff->cycles));
    as_json_double(json, "deviation", diff->deviation);
    as_json_bool(json, "significant", diff->significant);
    as_json_double(json, "speedup",
                   diff->cycles[AS_DIFF_AFTER] > 0 ? diff->cycles[AS_DIFF_BEFORE] / diff->cycles[AS_DIFF_AFTER] : NAN);
    as_json_array(json, "rows");
    for (size_t i = 0; i < as_report_shown(diff->rows.len, limit); i++)
        json_row(diff, json, &diff->rows.data[i]);
    as_json_end(json);
}

static bool put_json(const void *state, struct as_json *json, struct as_error *err)
{
    const struct shown *shown = state;
    as_diff_json(shown->diff, json, shown->limit);
    if (shown->gated)
        as_gate_json(&shown->gate, shown->diff, json);
    return true;
}

static bool put_csv(const void *state, FILE *out, struct as_error *err)
{
    const struct shown *shown = state;
    const struct as_diff *diff = shown->diff;
    if (*diff->differences) /* a CSV table has no field for it */
        as_log_warn("the profiles differ in more than the program: %s", diff->differences);
    fputs("name,module,function,file,line,before,after,change,deviation,significant\r\n", out);
    for (size_t i = 0; i < as_report_shown(diff->rows.len, shown->limit); i++) {
        const struct as_diff_row *row = &diff->rows.data[i];
        const char *texts[] = {row->name, row->module, row->function, row->file};
        for (size_t k = 0; k < 4; k++) {
            as_csv_field(out, texts[k]);
            fputc(',', out);
        }
        if (row->line)
            fprintf(out, "%" PRIu32, row->line);
        fprintf(out, ",%.17g,%.17g,%.17g,%.6g,%d\r\n", row->cycles[AS_DIFF_BEFORE], row->cycles[AS_DIFF_AFTER],
                as_diff_change(row->cycles), row->deviation, row->significant);
    }
    return true;
}

const struct as_report_kind as_report_diff = {.option = "--diff",
                                              .name = "differences",
                                              .filters = {true, true, true, true},
                                              .levels = AS_REPORT_CODE_LEVELS,
                                              .make = make_diff,
                                              .free = free_diff,
                                              .text = put_text,
                                              .json = put_json,
                                              .csv = put_csv};
