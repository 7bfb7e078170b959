/* Rows: a table as text, with shares and bars of components; JSON; CSV. See report_kinds.h. */
#include "base/alloc.h"
#include "base/str.h"
#include "report/report_csv.h"
#include "report/report_json.h"
#include "report/report_kinds.h"
#include "report/report_text.h"
#include "view/rows.h"

#include <inttypes.h>
#include <stdlib.h>

#define SMALL_SHARE 0.0005 /* smaller rows are left out of the text, unless a limit or an order was given */

struct shown {
    struct as_rows list;
    size_t limit; /* rows to show; 0: all */
    double least; /* in text: rows with a smaller share at the end are left out */
};

static void free_rows(void *state)
{
    struct shown *shown = state;
    as_rows_free(&shown->list);
    free(shown);
}

static void *make_rows(const struct as_report_request *request, struct as_error *err)
{
    struct shown *shown = as_alloc(sizeof *shown);
    shown->limit = request->limit;
    shown->least = request->limited || request->sort ? 0 : SMALL_SHARE;
    if (as_rows_make(&shown->list, request->view, as_report_level(request->by), request->sort, err))
        return shown;
    free_rows(shown);
    return NULL;
}

/* ---- text ---- */

enum { BAR_MIN = 10, BAR_MAX = 48, NAME_MIN = 16, SORTED = 15 };

struct layout {
    unsigned name, bar;
    bool total, samples, module, errors, total_errors;
    bool part_errors; /* behind each of the columns */
    bool sorted;      /* an extra column for the sort key, if no other column shows it */
    size_t columns;   /* number of components with a column of their own */
    size_t keys[AS_LEGEND_COLUMNS];
};

static unsigned longest_name(const struct as_rows *list, size_t n)
{
    char name[AS_ROW_NAME_MAX];
    unsigned longest = NAME_MIN;
    for (size_t i = 0; i < n; i++) {
        size_t columns = as_show_columns(as_rows_name(list, &list->rows.rows[i], name));
        longest = columns > longest ? (unsigned)(columns < 60 ? columns : 60) : longest;
    }
    return longest;
}

static struct layout lay_out(const struct as_rows *list, const struct as_term *term, size_t n)
{
    struct layout layout = {.total = as_rows_has_total(list),
                            .samples = !list->view->summary.exact && !list->view->summary.sampled,
                            .errors = list->errors != NULL,
                            .total_errors = list->total_errors != NULL,
                            .module = list->level != AS_STORE_BY_MODULE && as_view_has_code(list->level)};
    layout.sorted = list->order.key == AS_SORT_EXECUTIONS || list->order.key == AS_SORT_EVENT;
    unsigned used = 11 + (layout.total ? 10 : 0) + (layout.samples ? 12 : 0) + (layout.errors ? 8 : 0) +
                    (layout.total_errors ? 8 : 0) + (layout.module ? 18 : 0) + (layout.sorted ? SORTED + 2 : 0);
    layout.columns = as_legend_columns(&list->legend, term, layout.keys);
    layout.part_errors = list->parts_at != NULL;
    used += (layout.part_errors ? 14 : 8) * (unsigned)layout.columns;
    unsigned left = term->width > used + NAME_MIN + BAR_MIN ? term->width - used - 2 : NAME_MIN + BAR_MIN;
    layout.name = longest_name(list, n);
    if (layout.name > left - BAR_MIN)
        layout.name = left - BAR_MIN;
    layout.bar = left - layout.name > BAR_MAX ? BAR_MAX : left - layout.name;
    return layout;
}

static void put_header(const struct as_rows *list, FILE *out, const struct as_term *term, const struct layout *layout)
{
    as_term_bold(out, term, true);
    fprintf(out, "   self    ");
    if (layout->errors)
        fprintf(out, "   +-   ");
    if (layout->total)
        fprintf(out, "  total   ");
    if (layout->total_errors)
        fprintf(out, "   +-   ");
    if (layout->samples)
        fprintf(out, "   samples  ");
    if (layout->sorted)
        fprintf(out, "%*.*s  ", SORTED, SORTED,
                list->order.key == AS_SORT_EVENT ? AS_SHOW(list->order.event_name) : "executions");
    for (size_t i = 0; i < layout->columns; i++)
        fprintf(out, layout->part_errors ? "    %c    +-  " : "    %c   ", as_term_letter(layout->keys[i]));
    as_show_in(out, term, as_view_level_name(list->level), layout->name, true);
    if (layout->module)
        fputs("  module", out);
    as_term_bold(out, term, false);
    fputc('\n', out);
}

static void put_sorted(const struct as_rows *list, FILE *out, const struct as_store_row *row)
{
    if (list->order.key == AS_SORT_EXECUTIONS)
        fprintf(out, "%*s  ", SORTED, AS_COUNT(row->executions));
    else
        fprintf(out, "%*.2f %%  ", SORTED - 2,
                100 * as_ratio(as_row_event_units(row, list->order.event), list->rows.total));
}

static void put_part(const struct as_rows *list, FILE *out, const struct layout *layout, const struct as_store_row *row,
                     uint64_t mask)
{
    fprintf(out, "%6.2f", 100 * as_ratio(as_row_part(row, mask), list->rows.total));
    if (layout->part_errors)
        fprintf(out, " %5.2f", 100 * as_rows_part_error(list, row, mask));
    fputs("  ", out);
}

static void put_row(const struct as_rows *list, FILE *out, const struct as_term *term, const struct layout *layout,
                    const struct as_store_row *row, uint64_t most)
{
    const struct as_view *view = list->view;
    char name[AS_ROW_NAME_MAX];
    double share = as_ratio(row->units, list->rows.total);
    as_term_heat(out, term, share);
    fprintf(out, "%7.2f %%  ", 100 * share);
    as_term_plain(out, term);
    if (layout->errors)
        fprintf(out, "%6.2f  ", 100 * list->errors[row - list->rows.rows]);
    if (layout->total)
        fprintf(out, "%6.2f %%  ", 100 * as_ratio(as_rows_total(list, row), list->rows.total));
    if (layout->total_errors)
        fprintf(out, "%6.2f  ", 100 * list->total_errors[row - list->rows.rows]);
    if (layout->samples)
        fprintf(out, "%10s  ", AS_COUNT(row->samples));
    if (layout->sorted)
        put_sorted(list, out, row);
    for (size_t i = 0; i < layout->columns; i++)
        put_part(list, out, layout, row, list->legend.masks[layout->keys[i]]);
    as_show_in(out, term, as_rows_name(list, row, name), layout->name, true);
    bool bar = layout->bar * as_ratio(row->units, most) >= 0.5;
    if (layout->module) {
        const char *module = as_view_module(view, row->module);
        fputs("  ", out);
        as_show_in(out, term, module ? module : "", 16, bar);
    }
    if (bar) {
        fputc(' ', out);
        as_legend_bar(&list->legend, out, term, row, most, layout->bar, false);
    }
    fputc('\n', out);
}

static void put_rest(const struct as_rows *list, FILE *out, size_t n)
{
    uint64_t units = 0;
    for (size_t i = n; i < list->rows.n; i++)
        units += list->rows.rows[i].units;
    if (n < list->rows.n)
        fprintf(out, "%7.2f %%  in %s more; --limit 0 shows all\n", 100 * as_ratio(units, list->rows.total),
                AS_COUNT(list->rows.n - n));
}

static void put_filters(const struct as_rows *list, FILE *out)
{
    if (!as_filters_text(list->view, out, true))
        return;
    if (list->rows.units != list->rows.total)
        fprintf(out, "; the filters leave %.2f %% of it", 100 * as_ratio(list->rows.units, list->rows.total));
    fputc('\n', out);
}

/* Finds the modules that have rows of single instructions among the blocks. Returns an array by module, which the
 * caller frees; NULL: there are none. */
static bool *without_blocks(const struct as_rows *list)
{
    bool *without = NULL;
    for (size_t i = 0; i < list->rows.n; i++) {
        const struct as_store_row *row = &list->rows.rows[i];
        if (list->level != AS_STORE_BY_BLOCK || row->id != AS_STORE_NONE)
            continue;
        if (!without)
            without = as_alloc_array(list->view->n_modules + 1, sizeof *without);
        without[row->module < list->view->n_modules ? row->module : list->view->n_modules] = true;
    }
    return without;
}

enum { MODULES_NAMED = 3 };

static void put_without_blocks(const struct as_rows *list, FILE *out, const struct as_term *term)
{
    const struct as_view *view = list->view;
    bool *without = without_blocks(list);
    struct as_str text = {0};
    size_t n = 0;
    if (!without)
        return;
    as_str_add(&text, "note: this profile has no basic blocks of ");
    for (uint32_t i = 0; i <= view->n_modules; i++) {
        const char *module = as_view_module(view, i);
        if (without[i] && n++ < MODULES_NAMED)
            as_str_addf(&text, "%s%s", n > 1 ? ", " : "", module ? AS_SHOW(module) : "code outside all modules");
    }
    if (n > MODULES_NAMED)
        as_str_addf(&text, " and %s more", AS_COUNT(n - MODULES_NAMED));
    as_str_add(&text, ": their rows are single instructions");
    as_show_wrapped(out, term, as_str_get(&text), 0, 6);
    fputc('\n', out);
    as_str_free(&text);
    free(without);
}

static void json_without_blocks(const struct as_rows *list, struct as_json *json)
{
    const struct as_view *view = list->view;
    if (list->level != AS_STORE_BY_BLOCK)
        return;
    bool *without = without_blocks(list);
    as_json_array(json, "without_blocks");
    for (uint32_t i = 0; without && i <= view->n_modules; i++)
        if (without[i])
            as_json_string(json, NULL, i < view->n_modules ? view->module[i].path : NULL);
    as_json_end(json);
    free(without);
}

static void put_empty(const struct as_store *store, FILE *out)
{
    size_t n;
    const struct as_store_quality *rows = as_store_quality(store, &n);
    const char *why = "no samples: there is nothing to show";
    for (size_t i = 0; i < n; i++)
        if (rows[i].key && rows[i].text && strcmp(rows[i].key, "no_samples") == 0)
            why = rows[i].text;
    fprintf(out, "The profile has %s.\n", AS_SHOW(why));
}

static void put_text(const void *state, FILE *out, const struct as_term *term)
{
    const struct shown *shown = state;
    const struct as_rows *list = &shown->list;
    size_t n = as_report_shown(list->rows.n, shown->limit);
    while (n > 1 && as_ratio(list->rows.rows[n - 1].units, list->rows.total) < shown->least)
        n--;
    struct layout layout = lay_out(list, term, n);
    uint64_t most = 0;
    as_summary_text(&list->view->summary, out, term);
    as_module_notes_text(list->view, out, term);
    put_without_blocks(list, out, term);
    put_filters(list, out);
    fputc('\n', out);
    if (!list->rows.n && !list->view->summary.exact && !list->view->summary.samples) {
        put_empty(list->view->store, out);
        return;
    }
    put_header(list, out, term, &layout);
    for (size_t i = 0; i < n; i++)
        most = list->rows.rows[i].units > most ? list->rows.rows[i].units : most;
    for (size_t i = 0; i < n; i++)
        put_row(list, out, term, &layout, &list->rows.rows[i], most);
    put_rest(list, out, n);
    if (list->view->has_events) {
        fputc('\n', out);
        as_legend_text(&list->legend, list->view, out, term);
    }
}

/* ---- JSON ---- */

/* Rows of modules, files and lines have instructions at many addresses. */
static bool has_address(enum as_store_level level)
{
    return level == AS_STORE_BY_INSTRUCTION || level == AS_STORE_BY_BLOCK || level == AS_STORE_BY_FUNCTION;
}

/* Text of perf script may name functions without the offset in them, so that their start is not known. A row of code without a
 * function, or of a whole module, has instructions at many addresses. */
static bool is_unplaced(const struct as_view *view, enum as_store_level level, const struct as_store_row *row)
{
    return level == AS_STORE_BY_FUNCTION &&
           (row->address == 0 || row->id == AS_STORE_NONE || as_view_is_whole_module(view, row->id));
}

static void json_thread(const struct as_view *view, enum as_store_level level, const struct as_store_row *row,
                        struct as_json *json)
{
    static const struct as_store_thread none = {0};
    const struct as_store_thread *thread = row->id < view->n_threads ? &view->thread[row->id] : &none;
    if (level == AS_STORE_BY_THREAD)
        as_json_u64(json, "thread", thread->number);
    if (level == AS_STORE_BY_PROCESS || (level == AS_STORE_BY_THREAD && thread->process))
        as_json_i64(json, "process", thread->process);
    const char *name = level == AS_STORE_BY_PROCESS ? as_view_process_name(view, row->id) : thread->name;
    if (level == AS_STORE_BY_COMMAND || thread->name)
        as_json_string(json, "command", name);
}

/* Writes the location of a row into an open object. */
static void json_location(const struct as_view *view, enum as_store_level level, const struct as_store_row *row,
                          const char *text, struct as_json *json)
{
    if (level == AS_STORE_BY_PROCESSOR) {
        if (row->id == AS_STORE_NONE)
            as_json_null(json, "cpu");
        else
            as_json_u64(json, "cpu", row->id);
        return;
    }
    if (as_view_has_threads(level)) {
        json_thread(view, level, row, json);
        return;
    }
    as_json_string(json, "module", row->module < view->n_modules ? view->module[row->module].path : NULL);
    if (level == AS_STORE_BY_MODULE)
        return;
    as_source_json(view, json, row->function, row->file, row->line);
    if (has_address(level) && is_unplaced(view, level, row)) {
        as_json_null(json, "address");
        as_json_null(json, "module_offset");
    } else if (has_address(level)) {
        as_json_address(json, "address", row->address);
        as_json_module_offset(json, view, row->module, row->address);
    }
    if (text)
        as_json_string(json, "text", text);
}

/* Of the shares of the program's time. */
static void json_part_errors(const struct as_rows *list, const struct as_store_row *row, struct as_json *json)
{
    char component[AS_COMPONENT_MAX];
    as_json_object(json, "component_errors");
    for (size_t i = 0; i < row->n_parts; i++)
        if (row->parts[i].units)
            as_json_double(json, as_view_component(list->view, row->parts[i].key, component),
                           list->errors[list->parts_at[row - list->rows.rows] + i]);
    as_json_end(json);
}

static void json_row(const struct as_rows *list, const struct as_store_row *row, const char *text, struct as_json *json)
{
    const struct as_view *view = list->view;
    as_json_object(json, NULL);
    json_location(view, list->level, row, text, json);
    if (as_rows_start(list, row))
        as_json_string(json, "start", as_rows_start(list, row));
    if (list->errors)
        as_json_double(json, "share_error", list->errors[row - list->rows.rows]);
    if (!view->summary.exact && !view->summary.sampled)
        as_json_u64(json, "samples", row->samples);
    else if (row->executions)
        as_json_u64(json, "executions", row->executions);
    as_json_double(json, "time", as_view_cycles(view, row->units));
    as_json_double(json, "cycles", as_view_cycles(view, row->units)); /* the original name of the field */
    as_json_double(json, "share", as_ratio(row->units, list->rows.total));
    if (as_rows_has_total(list)) {
        as_json_double(json, "total", as_view_cycles(view, as_rows_total(list, row)));
        as_json_double(json, "total_share", as_ratio(as_rows_total(list, row), list->rows.total));
        if (list->total_errors)
            as_json_double(json, "total_share_error", list->total_errors[row - list->rows.rows]);
    }
    as_components_json(view, row, json, "components");
    if (list->parts_at)
        json_part_errors(list, row, json);
    as_json_end(json);
}

/* The disassembly of an instruction's row; "" for other rows. NULL and `err` if it cannot be read. */
static const char *text_of(const struct as_rows *list, const struct as_store_row *row, struct as_error *err)
{
    if (list->level != AS_STORE_BY_INSTRUCTION || row->id == AS_STORE_NONE)
        return "";
    const struct as_store_insn *insn = as_store_instruction(list->view->store, row->id, err);
    return !insn ? NULL : insn->text ? insn->text : "";
}

static bool put_json(const void *state, struct as_json *json, struct as_error *err)
{
    const struct shown *shown = state;
    const struct as_rows *list = &shown->list;
    bool ok = true;
    as_summary_json(&list->view->summary, json, "summary");
    as_json_string(json, "by", as_view_level_name(list->level));
    as_json_string(json, "unit", list->view->summary.unit);
    as_module_notes_json(list->view, json);
    json_without_blocks(list, json);
    as_filters_json(list->view, json);
    as_legend_json(&list->legend, list->view, json);
    as_json_array(json, "rows");
    for (size_t i = 0; i < as_report_shown(list->rows.n, shown->limit) && ok; i++) {
        const char *text = text_of(list, &list->rows.rows[i], err);
        ok = text != NULL;
        if (ok)
            json_row(list, &list->rows.rows[i], *text ? text : NULL, json);
    }
    as_json_end(json);
    return ok;
}

/* ---- CSV (RFC 4180) ---- */

/* The first column, for rows of threads. */
static void csv_thread(const struct as_view *view, enum as_store_level level, uint32_t id, FILE *out)
{
    const struct as_store_thread *thread = id < view->n_threads ? &view->thread[id] : NULL;
    if (level == AS_STORE_BY_THREAD)
        fprintf(out, "%" PRIu32, thread ? thread->number : 0);
    else if (level == AS_STORE_BY_PROCESS)
        fprintf(out, "%" PRId64, thread ? thread->process : 0);
    else if (level == AS_STORE_BY_COMMAND)
        as_csv_field(out, thread ? thread->name : NULL);
    else if (level == AS_STORE_BY_PROCESSOR && id != AS_STORE_NONE)
        fprintf(out, "%" PRIu32, id);
}

static void csv_location(const struct as_view *view, enum as_store_level level, const struct as_store_row *row,
                         FILE *out)
{
    as_csv_field(out, row->module < view->n_modules ? view->module[row->module].path : NULL);
    fputc(',', out);
    as_csv_field(out, as_view_function(view, row->function));
    fputc(',', out);
    as_csv_field(out, as_view_file(view, row->file));
    fputc(',', out);
    if (row->line)
        fprintf(out, "%" PRIu32, row->line);
    if (!has_address(level) || is_unplaced(view, level, row)) {
        fputs(",,", out);
        return;
    }
    fprintf(out, ",0x%" PRIx64 ",", row->address);
    as_csv_module_offset(out, view, row->module, row->address);
}

/* Threads and processors have no place in the code; their text is their name. */
static void csv_row(const struct as_rows *list, const struct as_store_row *row, const char *text, FILE *out)
{
    const struct as_view *view = list->view;
    const struct as_store_thread *thread =
        as_view_has_threads(list->level) && row->id < view->n_threads ? &view->thread[row->id] : NULL;
    csv_thread(view, list->level, row->id, out);
    fputc(',', out);
    if (as_view_has_code(list->level))
        csv_location(view, list->level, row, out);
    else
        fputs(",,,,,", out);
    fputc(',', out);
    as_csv_field(out, !thread                              ? text
                      : list->level == AS_STORE_BY_PROCESS ? as_view_process_name(view, row->id)
                                                           : thread->name);
    fprintf(out, ",%" PRIu64 ",%" PRIu64 ",", row->samples, row->executions);
    as_csv_field(out, view->summary.unit);
    fprintf(out, ",%.17g,%.17g,%.17g", as_view_cycles(view, row->units), as_ratio(row->units, list->rows.total),
            as_view_cycles(view, as_rows_total(list, row)));
    as_csv_components(&list->legend, view, row, out);
    if (list->errors)
        fprintf(out, ",%.17g", list->errors[row - list->rows.rows]);
    if (list->total_errors)
        fprintf(out, ",%.17g", list->total_errors[row - list->rows.rows]);
    for (size_t key = 0; key < list->legend.n && list->parts_at; key++)
        fprintf(out, ",%.17g", as_rows_part_error(list, row, list->legend.masks[key]));
    fputs("\r\n", out);
}

static bool put_csv(const void *state, FILE *out, struct as_error *err)
{
    const struct shown *shown = state;
    const struct as_rows *list = &shown->list;
    fputs(!as_view_has_code(list->level) ? as_view_level_name(list->level) : "thread", out);
    fputs(",module,function,file,line,address,module_offset,text,samples,executions,unit,time,share,total", out);
    as_csv_names(&list->legend, list->view, "", out);
    if (list->errors)
        fputs(",share_error", out);
    if (list->total_errors)
        fputs(",total_share_error", out);
    if (list->parts_at)
        as_csv_error_names(&list->legend, list->view, "", out);
    fputs("\r\n", out);
    for (size_t i = 0; i < as_report_shown(list->rows.n, shown->limit); i++) {
        const char *text = text_of(list, &list->rows.rows[i], err);
        if (!text)
            return false;
        csv_row(list, &list->rows.rows[i], text, out);
    }
    return true;
}

const struct as_report_kind as_report_rows = {.name = "rows",
                                              .filters = {true, true, true, true},
                                              .levels = AS_REPORT_CODE_LEVELS,
                                              .sorts = true,
                                              .make = make_rows,
                                              .free = free_rows,
                                              .text = put_text,
                                              .json = put_json,
                                              .csv = put_csv};
