/* See annotation.h. */
#include "view/annotation.h"

#include "base/alloc.h"
#include "base/map.h"
#include "view/module_check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 64 }; /* largest gap in bytes between instructions outside functions that are shown together */

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
    add_chain(annotation, insn->location.inlined);
    *as_vec_push(&annotation->insns) =
        (struct as_note_insn){.address = insn->location.address,
                              .length = (uint32_t)insn->n_bytes,
                              .target = insn->target,
                              .jumps = !insn->class_ || strncmp(insn->class_, "call", 4) != 0,
                              .recorded = true,
                              .text = as_strdup(insn->text ? insn->text : "?"),
                              .file = insn->location.file,
                              .line = insn->location.line,
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

/* The legend of the listing: of its own rows, except for code outside functions, where it is that of the whole
 * program. */
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

struct as_store_query as_annotation_query(const struct as_annotation *annotation)
{
    struct as_store_query query = AS_STORE_QUERY_INIT;
    const struct as_view *view = annotation->view;
    query.series = view->series;
    query.level = AS_STORE_BY_INSTRUCTION;
    query.split = view->has_events ? AS_STORE_BY_EVENTS : AS_STORE_WHOLE;
    query.threads = view->threads;
    query.events = view->events;
    query.function = annotation->function;
    return query;
}

bool as_annotation_same_line(const struct as_annotation *annotation, const struct as_note_insn *a,
                             const struct as_note_insn *b)
{
    const char *inner_a = a->n_chain ? annotation->chains.data[a->chain] : "";
    const char *inner_b = b->n_chain ? annotation->chains.data[b->chain] : "";
    return a->file == b->file && a->line == b->line && strcmp(inner_a, inner_b) == 0;
}

static bool add_times(struct as_annotation *annotation, struct as_error *err)
{
    struct as_store_query query = as_annotation_query(annotation);
    if (!as_store_query(annotation->view->store, &query, &annotation->rows, err))
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

/* Whether `insn` is only the beginning of `whole`. An instruction that continues on the next page may have been
 * recorded by its beginning first; that one never executes, and the whole one has the same address. */
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

/* Adds times, missing instructions and lines, once the instructions are collected and sorted. */
static bool complete(struct as_annotation *annotation, struct as_error *err)
{
    const struct as_view *view = annotation->view;
    uint32_t module = annotation->what.module;
    if (module < view->n_modules)
        annotation->module_note = as_module_check(view->store, &view->module[module]);
    if (!add_times(annotation, err))
        return false;
    drop_beginnings(annotation);
    annotation->hole_note = as_annotation_fill(annotation);
    sort_insns(annotation);
    as_annotation_name_data(annotation);
    add_lines(annotation);
    return as_annotation_errors_make(annotation, err);
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
    if (insn->location.function != AS_STORE_NONE || insn->location.module != annotation->what.module)
        return true;
    return collect(context, number, insn);
}

static uint64_t end_of(const struct as_note_insn *insn)
{
    return insn->address + (insn->length ? insn->length : 1);
}

/* Whether two instructions belong together although bytes lie between them: those were not executed, or not sampled. */
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
    const struct as_store_location *location = &view->location[instruction];
    *annotation = (struct as_annotation){
        .view = view, .function = AS_STORE_NONE, .what = {.module = location->module}, .sources = sources};
    if (!as_store_instructions(view->store, AS_STORE_NONE, collect_outside, annotation, err))
        return false;
    if (!annotation->insns.len)
        return as_error_set(err, "%s: the instruction at 0x%" PRIx64 " is gone", as_store_file_name(view->store),
                            location->address);
    sort_insns(annotation);
    keep_around(annotation, location->address);
    return complete(annotation, err);
}

void as_annotation_free(struct as_annotation *annotation)
{
    for (size_t i = 0; i < annotation->insns.len; i++) {
        free(annotation->insns.data[i].text);
        free(annotation->insns.data[i].data);
    }
    as_vec_free(&annotation->insns);
    as_vec_free(&annotation->lines);
    as_vec_free(&annotation->chains);
    as_note_code_free(annotation->code);
    as_store_rows_free(&annotation->rows);
    free(annotation->errors);
    free(annotation->parts_at);
}

const char *as_annotation_source(const struct as_annotation *annotation, uint32_t file, uint32_t line)
{
    const char *path = as_annotation_file(annotation, file);
    return path ? as_source_line(as_sources_get(annotation->sources, path), line) : NULL;
}

void as_annotation_count_runs(struct as_annotation *annotation, const struct as_block_counts *counts)
{
    annotation->has_runs = true;
    annotation->runs_are_time = !as_block_counts_are_executions(counts);
    for (size_t i = 0; i < annotation->insns.len; i++) {
        struct as_note_insn *insn = &annotation->insns.data[i];
        insn->runs = as_block_counts_at(counts, annotation->what.module, insn->address, &insn->starts);
        if (insn->runs > annotation->most_runs)
            annotation->most_runs = insn->runs;
    }
}
