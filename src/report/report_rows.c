/* Rows: sorting, and as JSON and CSV. See report.h. */
#include "base/alloc.h"
#include "base/csv.h"
#include "report/module_check.h"
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool as_report_has_total(const struct as_report *report)
{
    return report->view->has_calls && report->level == AS_STORE_BY_FUNCTION && !report->view->events;
}

uint64_t as_report_total(const struct as_report *report, const struct as_store_row *row)
{
    if (!as_report_has_total(report) || row->id == AS_STORE_NONE)
        return row->units;
    /* Code that control falls into is on the path of the function before it: a total is at least the function's own. */
    uint64_t total = report->view->totals.function_total[row->id];
    return total > row->units ? total : row->units;
}

/* ---- sorting ---- */

uint64_t as_report_event_units(const struct as_store_row *row, uint64_t event)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < row->n_parts; i++)
        sum += row->parts[i].key & event ? row->parts[i].units : 0;
    return sum;
}

static uint64_t value_of(const struct as_report *report, const struct as_store_row *row)
{
    switch (report->order.key) {
    case AS_SORT_TOTAL:
        return as_report_total(report, row);
    case AS_SORT_SAMPLES:
        return row->samples;
    case AS_SORT_EXECUTIONS:
        return row->executions;
    case AS_SORT_EVENT:
        return as_report_event_units(row, report->order.event);
    default:
        return row->units;
    }
}

static int in_order(const void *a, const void *b, void *context)
{
    const struct as_store_row *x = a, *y = b;
    const struct as_report *report = context;
    if (report->order.key == AS_SORT_NAME) {
        char first[AS_ROW_NAME_MAX], second[AS_ROW_NAME_MAX];
        int names = strcmp(as_view_row_name(report->view, report->level, x, first),
                           as_view_row_name(report->view, report->level, y, second));
        if (names)
            return names;
    } else if (report->order.key != AS_SORT_ADDRESS) {
        uint64_t left = value_of(report, x), right = value_of(report, y);
        if (left != right)
            return left < right ? 1 : -1;
    }
    return (x->address > y->address) - (x->address < y->address);
}

static bool read_sort(const struct as_view *view, const char *sort, struct as_report_order *order, struct as_error *err)
{
    static const char *const names[] = {"self", "total", "samples", "executions", "name", "address"};
    size_t n;
    const struct as_store_event *events = as_store_events(view->store, &n);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(sort, names[i]) == 0) {
            order->key = (enum as_report_sort)i;
            return true;
        }
    for (size_t i = 0; i < n; i++)
        if (events[i].name && strcasecmp(events[i].name, sort) == 0) {
            *order = (struct as_report_order){AS_SORT_EVENT, UINT64_C(1) << events[i].bit, events[i].name};
            return true;
        }
    return as_error_set_status(
        err, AS_EXIT_USAGE,
        "--sort=%s: unknown; there are self, total, samples, executions, name, address and the names of events", sort);
}

/* An order by what all rows lack would be any order. */
static bool check_sort(const struct as_report *report, const char *sort, struct as_error *err)
{
    const struct as_view *view = report->view;
    enum as_report_sort key = report->order.key;
    const char *problem = NULL;
    if (key == AS_SORT_TOTAL && report->level != AS_STORE_BY_FUNCTION)
        problem = "only functions have totals (--by function)";
    else if (key == AS_SORT_TOTAL && !as_report_has_total(report))
        problem = view->events ? "there are no totals of the time with an event" : "the series has no call paths";
    else if (key == AS_SORT_SAMPLES && view->summary.exact)
        problem = "the series is exact, it has no samples";
    else if (key == AS_SORT_EXECUTIONS && !view->summary.exact)
        problem = "the series counts no executions";
    else if (key == AS_SORT_EVENT && !view->has_events)
        problem = "the series records no events";
    return !problem || as_error_set_status(err, AS_EXIT_USAGE, "--sort=%s: %s", sort, problem);
}

/* Time in no function (file, line …) is told, but not that there is none. */
static void drop_empty(struct as_store_rows *rows)
{
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++)
        if (rows->rows[i].id != AS_STORE_NONE || rows->rows[i].units || rows->rows[i].samples)
            rows->rows[n++] = rows->rows[i];
    rows->n = n;
}

bool as_report_make(struct as_report *report, const struct as_view *view, enum as_store_level level, const char *sort,
                    struct as_error *err)
{
    *report = (struct as_report){.view = view, .level = level};
    if (sort && !(read_sort(view, sort, &report->order, err) && check_sort(report, sort, err)))
        return false;
    if (!as_view_rows(view, level, &report->rows, err))
        return false;
    drop_empty(&report->rows);
    if (sort && report->rows.n)
        qsort_r(report->rows.rows, report->rows.n, sizeof *report->rows.rows, in_order, report);
    report->legend = as_legend_of(&report->rows);
    return true;
}

void as_report_free(struct as_report *report)
{
    as_store_rows_free(&report->rows);
}

static size_t shown(const struct as_report *report)
{
    return report->limit && report->limit < report->rows.n ? report->limit : report->rows.n;
}

/* ---- JSON ---- */

/* Where a row is, into an object that is open. */
static void json_place(const struct as_view *view, enum as_store_level level, const struct as_store_row *row,
                       const char *text, struct as_json *json)
{
    bool has_address = level == AS_STORE_BY_INSTRUCTION || level == AS_STORE_BY_BLOCK || level == AS_STORE_BY_FUNCTION;
    if (level == AS_STORE_BY_THREAD) {
        as_json_u64(json, "thread", row->id < view->n_threads ? view->thread[row->id].number : 0);
        if (row->id < view->n_threads && view->thread[row->id].process)
            as_json_i64(json, "process", view->thread[row->id].process);
        return;
    }
    as_json_string(json, "module", row->module < view->n_modules ? view->module[row->module].path : NULL);
    if (level == AS_STORE_BY_MODULE)
        return;
    as_json_string(json, "function", as_view_function(view, row->function));
    as_json_string(json, "file", as_view_file(view, row->file));
    if (row->line)
        as_json_u64(json, "line", row->line);
    else
        as_json_null(json, "line");
    if (has_address)
        as_json_address(json, "address", row->address);
    if (text)
        as_json_string(json, "text", text);
}

void as_report_components_json(const struct as_view *view, const struct as_store_row *row, struct as_json *json,
                               const char *name)
{
    char component[AS_COMPONENT_MAX];
    if (!view->has_events)
        return;
    as_json_object(json, name);
    for (size_t i = 0; i < row->n_parts; i++)
        if (row->parts[i].units)
            as_json_double(json, as_view_component(view, row->parts[i].key, component),
                           as_view_cycles(view, row->parts[i].units));
    as_json_end(json);
}

static void json_row(const struct as_report *report, const struct as_store_row *row, const char *text,
                     struct as_json *json)
{
    const struct as_view *view = report->view;
    as_json_object(json, NULL);
    json_place(view, report->level, row, text, json);
    if (!view->summary.exact)
        as_json_u64(json, "samples", row->samples);
    else if (row->executions)
        as_json_u64(json, "executions", row->executions);
    as_json_double(json, "cycles", as_view_cycles(view, row->units));
    as_json_double(json, "share", as_part_of(row->units, report->rows.total));
    if (as_report_has_total(report)) {
        as_json_double(json, "total", as_view_cycles(view, as_report_total(report, row)));
        as_json_double(json, "total_share", as_part_of(as_report_total(report, row), report->rows.total));
    }
    as_report_components_json(view, row, json, "components");
    as_json_end(json);
}

/* The disassembly of an instruction's row; "" for others. NULL and `err`: it cannot be read. */
static const char *text_of(const struct as_report *report, const struct as_store_row *row, struct as_error *err)
{
    if (report->level != AS_STORE_BY_INSTRUCTION || row->id == AS_STORE_NONE)
        return "";
    const struct as_store_insn *insn = as_store_instruction(report->view->store, row->id, err);
    return !insn ? NULL : insn->text ? insn->text : "";
}

bool as_report_json(const struct as_report *report, struct as_json *json, struct as_error *err)
{
    bool ok = true;
    as_json_object(json, "summary");
    as_summary_json(&report->view->summary, json);
    as_json_end(json);
    as_json_string(json, "by", as_view_level_name(report->level));
    as_json_string(json, "unit", report->view->summary.unit);
    as_module_notes_json(report->view, json);
    as_view_filters_json(report->view, json);
    as_json_array(json, "rows");
    for (size_t i = 0; i < shown(report) && ok; i++) {
        const char *text = text_of(report, &report->rows.rows[i], err);
        ok = text != NULL;
        if (ok)
            json_row(report, &report->rows.rows[i], *text ? text : NULL, json);
    }
    as_json_end(json);
    return ok;
}

/* ---- CSV (RFC 4180) ---- */

void as_report_csv_field(FILE *out, const char *text)
{
    struct as_str field = {0};
    as_csv_add_text(&field, text ? text : "", 0);
    fputs(as_str_get(&field), out);
    as_str_free(&field);
}

void as_report_csv_names(const struct as_legend *legend, const struct as_view *view, const char *prefix, FILE *out)
{
    for (size_t key = 0; key < legend->n; key++) {
        char component[AS_COMPONENT_MAX];
        char *name = as_format("%s%s", prefix, as_view_component(view, legend->masks[key], component));
        fputc(',', out);
        as_report_csv_field(out, name);
        free(name);
    }
    if (legend->others)
        fprintf(out, ",%sother", prefix);
}

void as_report_csv_components(const struct as_legend *legend, const struct as_view *view,
                              const struct as_store_row *row, FILE *out)
{
    uint64_t units[AS_TERM_KEYS + 1] = {0};
    for (size_t i = 0; i < row->n_parts; i++)
        units[as_legend_key(legend, row->parts[i].key)] += row->parts[i].units;
    for (size_t key = 0; key < legend->n; key++)
        fprintf(out, ",%.17g", as_view_cycles(view, units[key]));
    if (legend->others)
        fprintf(out, ",%.17g", as_view_cycles(view, units[AS_TERM_KEYS]));
}

static void csv_row(const struct as_report *report, const struct as_store_row *row, const char *text, FILE *out)
{
    const struct as_view *view = report->view;
    if (report->level == AS_STORE_BY_THREAD)
        fprintf(out, "%" PRIu32, row->id < view->n_threads ? view->thread[row->id].number : 0);
    fputc(',', out);
    as_report_csv_field(out, row->module < view->n_modules ? view->module[row->module].path : NULL);
    fputc(',', out);
    as_report_csv_field(out, as_view_function(view, row->function));
    fputc(',', out);
    as_report_csv_field(out, as_view_file(view, row->file));
    fputc(',', out);
    if (row->line)
        fprintf(out, "%" PRIu32, row->line);
    fprintf(out, ",0x%" PRIx64 ",", row->address);
    as_report_csv_field(out, text);
    fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%.17g,%.17g,%.17g", row->samples, row->executions,
            as_view_cycles(view, row->units), as_part_of(row->units, report->rows.total),
            as_view_cycles(view, as_report_total(report, row)));
    as_report_csv_components(&report->legend, view, row, out);
    fputs("\r\n", out);
}

bool as_report_csv(const struct as_report *report, FILE *out, struct as_error *err)
{
    fputs("thread,module,function,file,line,address,text,samples,executions,cycles,share,total", out);
    as_report_csv_names(&report->legend, report->view, "", out);
    fputs("\r\n", out);
    for (size_t i = 0; i < shown(report); i++) {
        const char *text = text_of(report, &report->rows.rows[i], err);
        if (!text)
            return false;
        csv_row(report, &report->rows.rows[i], text, out);
    }
    return true;
}
