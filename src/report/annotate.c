/* See annotate.h. */
#include "report/annotate.h"

#include "base/alloc.h"
#include "base/map.h"
#include "report/module_check.h"
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WORST_LINES = 5, BAR = 16 };
#define WORST_SHARE 0.05 /* of the function: instructions and lines from here on are marked */

/* ---- collecting ---- */

static bool collect(void *context, uint32_t number, const struct as_store_insn *insn)
{
    struct as_annotation *annotation = context;
    *as_vec_push(&annotation->insns) =
        (struct as_note_insn){.address = insn->place.address,
                              .target = insn->target,
                              .jumps = !insn->class_ || strncmp(insn->class_, "call", 4) != 0,
                              .text = as_strdup(insn->text ? insn->text : "?"),
                              .file = insn->place.file,
                              .line = insn->place.line,
                              .inlined = insn->place.inlined,
                              .row = {.id = number}};
    return true;
}

static int by_address(const void *a, const void *b)
{
    const struct as_note_insn *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->row.id > y->row.id) - (x->row.id < y->row.id);
}

static bool add_times(struct as_annotation *annotation, struct as_error *err)
{
    struct as_store_query query = AS_STORE_QUERY_INIT;
    const struct as_view *view = annotation->view;
    query.series = view->series;
    query.level = AS_STORE_BY_INSTRUCTION;
    query.split = view->has_events ? AS_STORE_BY_EVENTS : AS_STORE_WHOLE;
    query.threads = view->threads;
    query.events = view->events;
    query.function = annotation->function;
    if (!as_store_query(view->store, &query, &annotation->rows, err))
        return false;
    struct as_map rows = {0};
    for (size_t i = 0; i < annotation->rows.n; i++)
        *as_map_put(&rows, annotation->rows.rows[i].id) = i + 1;
    for (size_t i = 0; i < annotation->insns.len; i++) {
        struct as_note_insn *insn = &annotation->insns.data[i];
        uint64_t *index = as_map_get(&rows, insn->row.id);
        if (index)
            insn->row = annotation->rows.rows[*index - 1];
        annotation->units += insn->row.units;
        annotation->most = insn->row.units > annotation->most ? insn->row.units : annotation->most;
    }
    as_map_free(&rows);
    annotation->legend = as_legend_of(&annotation->rows);
    return true;
}

static int most_first(const void *a, const void *b)
{
    const struct as_note_line *x = a, *y = b;
    if (x->units != y->units)
        return x->units < y->units ? 1 : -1;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static void add_lines(struct as_annotation *annotation)
{
    struct as_map known = {0};
    for (size_t i = 0; i < annotation->insns.len; i++) {
        const struct as_note_insn *insn = &annotation->insns.data[i];
        if (insn->file == AS_STORE_NONE || !insn->line)
            continue;
        uint64_t *index = as_map_put(&known, (uint64_t)insn->file << 32 | insn->line);
        if (!*index) {
            *as_vec_push(&annotation->lines) = (struct as_note_line){.file = insn->file, .line = insn->line};
            *index = annotation->lines.len;
        }
        annotation->lines.data[*index - 1].units += insn->row.units;
    }
    if (annotation->lines.len)
        qsort(annotation->lines.data, annotation->lines.len, sizeof *annotation->lines.data, most_first);
    as_map_free(&known);
}

bool as_annotation_make(struct as_annotation *annotation, const struct as_view *view, uint32_t function,
                        struct as_sources *sources, struct as_error *err)
{
    *annotation = (struct as_annotation){.view = view, .function = function, .sources = sources};
    if (!as_store_instructions(view->store, function, collect, annotation, err))
        return false;
    if (annotation->insns.len)
        qsort(annotation->insns.data, annotation->insns.len, sizeof *annotation->insns.data, by_address);
    uint32_t module = view->function[function].module;
    if (module < view->n_modules)
        annotation->module_note = as_module_check(&view->module[module]);
    if (!add_times(annotation, err))
        return false;
    add_lines(annotation);
    return true;
}

void as_annotation_free(struct as_annotation *annotation)
{
    for (size_t i = 0; i < annotation->insns.len; i++)
        free(annotation->insns.data[i].text);
    as_vec_free(&annotation->insns);
    as_vec_free(&annotation->lines);
    as_store_rows_free(&annotation->rows);
}

/* ---- text ---- */

static const char *line_text(const struct as_annotation *annotation, uint32_t file, uint32_t line)
{
    const char *path = as_view_file(annotation->view, file);
    return path ? as_source_line(as_sources_get(annotation->sources, path), line) : NULL;
}

static const char *short_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "?";
}

/* A line of source as one that fits: tabs become spaces. */
static void put_source(FILE *out, const struct as_term *term, const char *text, unsigned columns)
{
    char flat[AS_SHOW_MAX];
    size_t at = 0;
    for (; text && *text && at + 5 < sizeof flat; text++)
        for (int i = 0; i < (*text == '\t' ? 4 : 1); i++)
            flat[at++] = *text == '\t' ? ' ' : *text;
    flat[at] = '\0';
    as_show_in(out, term, flat, columns, false);
}

static void put_share(const struct as_annotation *annotation, FILE *out, const struct as_term *term, uint64_t units)
{
    double share = as_part_of(units, annotation->units);
    if (!units) {
        fputs("          ", out);
        return;
    }
    as_term_heat(out, term, share);
    fprintf(out, "%c%6.2f %% ", share >= WORST_SHARE ? '*' : ' ', 100 * share);
    as_term_plain(out, term);
}

static void put_worst(const struct as_annotation *annotation, FILE *out, const struct as_term *term)
{
    for (size_t i = 0; i < annotation->lines.len && i < WORST_LINES && annotation->lines.data[i].units; i++) {
        const struct as_note_line *line = &annotation->lines.data[i];
        if (i == 0)
            fputs("\nThe worst lines:\n", out);
        put_share(annotation, out, term, line->units);
        fprintf(out, "%s:%" PRIu32 "  ", as_show(short_name(as_view_file(annotation->view, line->file))), line->line);
        put_source(out, term, line_text(annotation, line->file, line->line), term->width > 60 ? term->width - 40 : 20);
        fputc('\n', out);
    }
}

static void put_notes(const struct as_annotation *annotation, FILE *out)
{
    const struct as_view *view = annotation->view;
    uint32_t module = view->function[annotation->function].module;
    if (annotation->module_note)
        fprintf(out, "note: %s: %s; the code shown is that of the recording, its source may have moved\n",
                as_show(view->module[module].path), annotation->module_note);
    for (size_t i = 0; i < annotation->lines.len; i++) {
        const char *path = as_view_file(view, annotation->lines.data[i].file);
        bool told = !path;
        for (size_t k = 0; k < i && !told; k++)
            told = annotation->lines.data[k].file == annotation->lines.data[i].file;
        if (told)
            continue;
        const struct as_source *source = as_sources_get(annotation->sources, path);
        if (source->problem)
            fprintf(out, "note: no source for %s: %s (--source-path may help)\n", as_show(path), source->problem);
        else if (module < view->n_modules && view->module[module].file_time &&
                 source->time > view->module[module].file_time)
            fprintf(out, "note: %s is newer than the program: its lines may have moved\n", as_show(source->found));
    }
    if (!annotation->lines.len)
        fputs("note: no line numbers: the program was built without debug information (-g)\n", out);
}

/* The component that takes most of an instruction's time, apart from Base; NULL where none takes a tenth. */
static const struct as_store_row_part *main_event(const struct as_store_row *row)
{
    for (size_t i = 0; i < row->n_parts; i++)
        if (row->parts[i].key)
            return as_part_of(row->parts[i].units, row->units) >= 0.1 ? &row->parts[i] : NULL;
    return NULL;
}

static void put_stack(const struct as_annotation *annotation, FILE *out, const struct as_term *term,
                      const struct as_store_row *row)
{
    const struct as_store_row_part *event = main_event(row);
    fputc(' ', out);
    as_legend_bar(&annotation->legend, out, term, row, annotation->most, BAR, event != NULL);
    if (event)
        fprintf(out, " %s %.0f %%", as_show(as_view_component(annotation->view, event->key)),
                100 * as_part_of(event->units, row->units));
}

static void put_insn(const struct as_annotation *annotation, FILE *out, const struct as_term *term,
                     const struct as_arrows *arrows, size_t index)
{
    const struct as_note_insn *insn = &annotation->insns.data[index];
    unsigned used = 10 + 12 + 8 + as_arrows_width(arrows) + BAR + 1 + 20;
    unsigned text = term->width > used + 24 ? term->width - used : 24;
    put_share(annotation, out, term, insn->row.units);
    if (annotation->view->summary.exact)
        fprintf(out, "%12s ", insn->row.executions ? as_summary_count(insn->row.executions) : "");
    else
        fprintf(out, "%12s ", insn->row.samples ? as_summary_count(insn->row.samples) : "");
    as_arrows_put(arrows, out, term, index, false);
    fprintf(out, "%6" PRIx64 "  ", insn->address - as_view_function_address(annotation->view, annotation->function));
    as_show_in(out, term, insn->text, text < 44 ? text : 44, insn->row.units > 0);
    if (insn->row.units)
        put_stack(annotation, out, term, &insn->row);
    fputc('\n', out);
}

/* The time of the instructions from `index` on that belong to the same line. */
static uint64_t run_units(const struct as_annotation *annotation, size_t index)
{
    const struct as_note_insn *first = &annotation->insns.data[index];
    uint64_t units = 0;
    for (size_t i = index; i < annotation->insns.len; i++) {
        const struct as_note_insn *insn = &annotation->insns.data[i];
        if (insn->file != first->file || insn->line != first->line)
            break;
        units += insn->row.units;
    }
    return units;
}

static void put_line(const struct as_annotation *annotation, FILE *out, const struct as_term *term,
                     const struct as_arrows *arrows, size_t index)
{
    const struct as_note_insn *insn = &annotation->insns.data[index];
    unsigned used = 36 + as_arrows_width(arrows);
    if (insn->file == AS_STORE_NONE || !insn->line)
        return;
    put_share(annotation, out, term, run_units(annotation, index));
    fprintf(out, "%12s ", "");
    as_arrows_put(arrows, out, term, index, true);
    as_term_bold(out, term, true);
    fprintf(out, "%s:%" PRIu32 " ", as_show(short_name(as_view_file(annotation->view, insn->file))), insn->line);
    put_source(out, term, line_text(annotation, insn->file, insn->line),
               term->width > used + 20 ? term->width - used : 20);
    as_term_bold(out, term, false);
    fputc('\n', out);
}

static void put_body(const struct as_annotation *annotation, FILE *out, const struct as_term *term)
{
    struct as_arrows *arrows = as_arrows_new(annotation->insns.data, annotation->insns.len);
    as_term_bold(out, term, true);
    fprintf(out, "\n  share   %12s\n", annotation->view->summary.exact ? "executions" : "samples");
    as_term_bold(out, term, false);
    for (size_t i = 0; i < annotation->insns.len; i++) {
        const struct as_note_insn *insn = &annotation->insns.data[i], *before = i ? insn - 1 : NULL;
        if (!before || before->file != insn->file || before->line != insn->line)
            put_line(annotation, out, term, arrows, i);
        put_insn(annotation, out, term, arrows, i);
    }
    as_arrows_free(arrows);
}

void as_annotation_text(const struct as_annotation *annotation, FILE *out, const struct as_term *term)
{
    const struct as_view *view = annotation->view;
    const struct as_store_function *function = &view->function[annotation->function];
    as_summary_text(&view->summary, out, term);
    fprintf(out, "\n%s", as_show(function->name));
    fprintf(out, " (%s): %.2f %% of the time, of which these are shares\n",
            as_show(as_view_module(view, function->module)),
            100 * as_part_of(annotation->units, annotation->rows.total));
    put_notes(annotation, out);
    put_worst(annotation, out, term);
    put_body(annotation, out, term);
    if (view->has_events) {
        fputc('\n', out);
        as_legend_text(&annotation->legend, view, out, term);
    }
}

/* ---- JSON ---- */

/* {event: how often}: executions that met it, or samples of a sampler. */
static void json_events(const struct as_annotation *annotation, struct as_json *json, const struct as_store_row *row)
{
    size_t n;
    const struct as_store_event *events = as_store_events(annotation->view->store, &n);
    if (!annotation->view->has_events)
        return;
    as_json_object(json, "events");
    for (size_t e = 0; e < n; e++) {
        uint64_t count = 0;
        for (size_t i = 0; i < row->n_parts; i++)
            count += row->parts[i].key >> events[e].bit & 1 ? row->parts[i].samples : 0;
        if (count)
            as_json_u64(json, events[e].name, count);
    }
    as_json_end(json);
}

/* The inlined functions that an instruction comes from, the innermost first. */
static void json_inlined(const struct as_annotation *annotation, struct as_json *json, uint32_t inlined)
{
    size_t n;
    const struct as_store_inline *inlines = as_store_inlines(annotation->view->store, &n);
    if (inlined >= n)
        return;
    as_json_array(json, "inlined");
    for (; inlined < n; inlined = inlines[inlined].parent)
        as_json_string(json, NULL, inlines[inlined].function);
    as_json_end(json);
}

static void json_insn(const struct as_annotation *annotation, struct as_json *json, const struct as_note_insn *insn)
{
    const struct as_view *view = annotation->view;
    struct as_store_row where = {.module = view->function[annotation->function].module,
                                 .function = annotation->function,
                                 .file = insn->file,
                                 .line = insn->line,
                                 .address = insn->address};
    const char *source = line_text(annotation, insn->file, insn->line);
    as_json_object(json, NULL);
    as_report_place_json(view, AS_STORE_BY_INSTRUCTION, &where, insn->text, json);
    if (source)
        as_json_string(json, "source", source);
    if (insn->target)
        as_json_address(json, "target", insn->target);
    json_inlined(annotation, json, insn->inlined);
    if (view->summary.exact)
        as_json_u64(json, "executions", insn->row.executions);
    else
        as_json_u64(json, "samples", insn->row.samples);
    as_json_double(json, "cycles", as_view_cycles(view, insn->row.units));
    as_json_double(json, "share", as_part_of(insn->row.units, annotation->rows.total));
    as_json_double(json, "function_share", as_part_of(insn->row.units, annotation->units));
    as_report_components_json(view, &insn->row, json, "components");
    json_events(annotation, json, &insn->row);
    as_json_end(json);
}

void as_annotation_json(const struct as_annotation *annotation, struct as_json *json)
{
    const struct as_view *view = annotation->view;
    as_json_object(json, NULL);
    as_json_object(json, "summary");
    as_summary_json(&view->summary, json);
    as_json_end(json);
    as_json_string(json, "function", view->function[annotation->function].name);
    as_json_double(json, "share", as_part_of(annotation->units, annotation->rows.total));
    as_json_string(json, "module_note", annotation->module_note);
    as_json_array(json, "lines");
    for (size_t i = 0; i < annotation->lines.len; i++) {
        const struct as_note_line *line = &annotation->lines.data[i];
        as_json_object(json, NULL);
        as_json_string(json, "file", as_view_file(view, line->file));
        as_json_u64(json, "line", line->line);
        as_json_string(json, "source", line_text(annotation, line->file, line->line));
        as_json_double(json, "cycles", as_view_cycles(view, line->units));
        as_json_double(json, "function_share", as_part_of(line->units, annotation->units));
        as_json_end(json);
    }
    as_json_end(json);
    as_json_array(json, "rows");
    for (size_t i = 0; i < annotation->insns.len; i++)
        json_insn(annotation, json, &annotation->insns.data[i]);
    as_json_end(json);
    as_json_end(json);
}
