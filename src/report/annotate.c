/* One function: its instructions with their times, and as JSON. See annotate.h. */
#include "report/annotate.h"

#include "base/alloc.h"
#include "base/map.h"
#include "report/module_check.h"
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 64 }; /* bytes between instructions in no function that are still shown together */

/* ---- collecting ---- */

static void add_chain(struct as_annotation *annotation, uint32_t inlined)
{
    size_t n;
    const struct as_store_inline *inlines = as_store_inlines(annotation->view->store, &n);
    for (; inlined < n; inlined = inlines[inlined].parent)
        *as_vec_push(&annotation->chains) = inlines[inlined].function ? inlines[inlined].function : "?";
}

static bool collect(void *context, uint32_t number, const struct as_store_insn *insn)
{
    struct as_annotation *annotation = context;
    uint32_t chain = (uint32_t)annotation->chains.len;
    add_chain(annotation, insn->place.inlined);
    *as_vec_push(&annotation->insns) =
        (struct as_note_insn){.address = insn->place.address,
                              .length = (uint32_t)insn->n_bytes,
                              .target = insn->target,
                              .jumps = !insn->class_ || strncmp(insn->class_, "call", 4) != 0,
                              .recorded = true,
                              .text = as_strdup(insn->text ? insn->text : "?"),
                              .file = insn->place.file,
                              .line = insn->place.line,
                              .chain = chain,
                              .n_chain = (uint32_t)annotation->chains.len - chain,
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

static void sort_insns(struct as_annotation *annotation)
{
    if (annotation->insns.len)
        qsort(annotation->insns.data, annotation->insns.len, sizeof *annotation->insns.data, by_address);
}

/* Of what is shown: the rows of code in no function are those of the whole program. */
static struct as_legend legend_of(const struct as_annotation *annotation)
{
    size_t n = annotation->insns.len;
    struct as_store_row *rows = as_alloc_array(n + 1, sizeof *rows);
    for (size_t i = 0; i < n; i++)
        rows[i] = annotation->insns.data[i].row;
    struct as_legend legend = as_legend_of(&(struct as_store_rows){.rows = rows, .n = n});
    free(rows);
    return legend;
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
    annotation->legend = legend_of(annotation);
    return true;
}

/* An instruction that goes on in the next page may have been met by its beginning first: that never executes, and the
 * whole one is at the same address. */
static bool is_beginning(const struct as_note_insn *insn, const struct as_note_insn *whole)
{
    bool idle = !insn->row.units && !insn->row.samples && !insn->row.executions;
    return idle && insn->address == whole->address && insn->length < whole->length;
}

static void drop_beginnings(struct as_annotation *annotation)
{
    struct as_note_insn *insns = annotation->insns.data;
    size_t n = annotation->insns.len, kept = 0;
    for (size_t i = 0; i < n; i++) {
        if ((kept && is_beginning(&insns[i], &insns[kept - 1])) ||
            (i + 1 < n && is_beginning(&insns[i], &insns[i + 1])))
            free(insns[i].text);
        else
            insns[kept++] = insns[i];
    }
    annotation->insns.len = kept;
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
        if (insn->file == AS_STORE_NONE || !insn->line || !insn->recorded)
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

/* Times, holes and lines, where instructions are collected and sorted. */
static bool complete(struct as_annotation *annotation, struct as_error *err)
{
    const struct as_view *view = annotation->view;
    uint32_t module = annotation->what.module;
    if (module < view->n_modules)
        annotation->module_note = as_module_check(&view->module[module]);
    if (!add_times(annotation, err))
        return false;
    drop_beginnings(annotation);
    annotation->hole_note = as_annotation_fill(annotation);
    sort_insns(annotation);
    add_lines(annotation);
    return true;
}

bool as_annotation_make(struct as_annotation *annotation, const struct as_view *view, uint32_t function,
                        struct as_sources *sources, struct as_error *err)
{
    *annotation = (struct as_annotation){
        .view = view, .function = function, .what = view->function[function], .sources = sources};
    if (!as_store_instructions(view->store, function, collect, annotation, err))
        return false;
    sort_insns(annotation);
    return complete(annotation, err);
}

/* ---- code in no function ---- */

static bool collect_outside(void *context, uint32_t number, const struct as_store_insn *insn)
{
    const struct as_annotation *annotation = context;
    if (insn->place.function != AS_STORE_NONE || insn->place.module != annotation->what.module)
        return true;
    return collect(context, number, insn);
}

static uint64_t end_of(const struct as_note_insn *insn)
{
    return insn->address + (insn->length ? insn->length : 1);
}

/* What lies between was not executed, or no sample names it. */
static bool goes_on(const struct as_note_insn *insn, const struct as_note_insn *next)
{
    return next->address <= end_of(insn) || next->address - end_of(insn) <= GAP;
}

/* Keeps the run of instructions around an address. */
static void keep_around(struct as_annotation *annotation, uint64_t address)
{
    struct as_note_insn *insns = annotation->insns.data;
    size_t n = annotation->insns.len, from = 0, to;
    while (from + 1 < n && insns[from + 1].address <= address)
        from++;
    for (to = from + 1; to < n && goes_on(&insns[to - 1], &insns[to]);)
        to++;
    while (from > 0 && goes_on(&insns[from - 1], &insns[from]))
        from--;
    for (size_t i = 0; i < n; i++)
        if (i < from || i >= to)
            free(insns[i].text);
    memmove(insns, insns + from, (to - from) * sizeof *insns);
    annotation->insns.len = to - from;
    annotation->what.address = insns[0].address;
    annotation->what.size = end_of(&insns[to - from - 1]) - insns[0].address;
}

bool as_annotation_make_outside(struct as_annotation *annotation, const struct as_view *view, uint32_t instruction,
                                struct as_sources *sources, struct as_error *err)
{
    const struct as_store_place *place = &view->place[instruction];
    *annotation = (struct as_annotation){
        .view = view, .function = AS_STORE_NONE, .what = {.module = place->module}, .sources = sources};
    if (!as_store_instructions(view->store, AS_STORE_NONE, collect_outside, annotation, err))
        return false;
    if (!annotation->insns.len)
        return as_error_set(err, "%s: the instruction at 0x%" PRIx64 " is gone", as_store_file_name(view->store),
                            place->address);
    sort_insns(annotation);
    keep_around(annotation, place->address);
    return complete(annotation, err);
}

void as_annotation_free(struct as_annotation *annotation)
{
    for (size_t i = 0; i < annotation->insns.len; i++)
        free(annotation->insns.data[i].text);
    as_vec_free(&annotation->insns);
    as_vec_free(&annotation->lines);
    as_vec_free(&annotation->chains);
    as_note_code_free(annotation->code);
    as_store_rows_free(&annotation->rows);
}

const char *as_annotation_source(const struct as_annotation *annotation, uint32_t file, uint32_t line)
{
    const char *path = as_annotation_file(annotation, file);
    return path ? as_source_line(as_sources_get(annotation->sources, path), line) : NULL;
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

static void json_inlined(const struct as_annotation *annotation, struct as_json *json, const struct as_note_insn *insn)
{
    if (!insn->n_chain)
        return;
    as_json_array(json, "inlined");
    for (uint32_t i = 0; i < insn->n_chain; i++)
        as_json_string(json, NULL, annotation->chains.data[insn->chain + i]);
    as_json_end(json);
}

static void json_place(const struct as_annotation *annotation, struct as_json *json, const struct as_note_insn *insn)
{
    const struct as_view *view = annotation->view;
    const struct as_store_function *function = &annotation->what;
    const char *source = as_annotation_source(annotation, insn->file, insn->line);
    as_json_string(json, "module", function->module < view->n_modules ? view->module[function->module].path : NULL);
    as_json_string(json, "function", function->name);
    as_json_string(json, "file", as_annotation_file(annotation, insn->file));
    if (insn->line)
        as_json_u64(json, "line", insn->line);
    else
        as_json_null(json, "line");
    as_json_address(json, "address", insn->address);
    as_json_string(json, "text", insn->text);
    if (source)
        as_json_string(json, "source", source);
    json_inlined(annotation, json, insn);
}

static void json_target(const struct as_annotation *annotation, struct as_json *json, const struct as_note_insn *insn)
{
    char text[AS_TARGET_MAX];
    if (!insn->target)
        return;
    as_json_address(json, "target", insn->target);
    as_json_string(json, "target_name", as_annotation_target(annotation, insn, text));
}

static void json_insn(const struct as_annotation *annotation, struct as_json *json, const struct as_note_insn *insn)
{
    const struct as_view *view = annotation->view;
    as_json_object(json, NULL);
    json_place(annotation, json, insn);
    json_target(annotation, json, insn);
    as_json_bool(json, "recorded", insn->recorded);
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
    as_json_string(json, "function", annotation->what.name);
    as_json_double(json, "share", as_part_of(annotation->units, annotation->rows.total));
    as_json_string(json, "module_note", annotation->module_note);
    as_json_string(json, "hole_note", annotation->hole_note);
    as_json_array(json, "lines");
    for (size_t i = 0; i < annotation->lines.len; i++) {
        const struct as_note_line *line = &annotation->lines.data[i];
        as_json_object(json, NULL);
        as_json_string(json, "file", as_view_file(view, line->file));
        as_json_u64(json, "line", line->line);
        as_json_string(json, "source", as_annotation_source(annotation, line->file, line->line));
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
