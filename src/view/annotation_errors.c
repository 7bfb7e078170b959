/* Error bars of an annotation of a sampled run: of its instructions and their components, its lines, the runs of instructions of one
 * line, and its legend. See annotation.h. */
#include "base/map.h"
#include "view/annotation.h"
#include "view/bars.h"
#include "view/replicates.h"

#include <string.h>

/* The items (bars.h), in this order; the legend's signs are followed by the others and by all of these. */
struct items {
    const struct as_annotation *annotation;
    struct as_map rows, lines; /* instruction's number, and file and line, to their index from 1 */
    size_t *run_of;            /* by instruction: where its run begins */
    size_t *parts_at;          /* by instruction */
    size_t first_line, first_run, legend, n;
};

static uint64_t key_of_line(uint32_t file, uint32_t line)
{
    return (uint64_t)file << 32 | line;
}

static struct items make_items(const struct as_annotation *annotation)
{
    size_t n = annotation->insns.len, run = 0;
    struct items items = {.annotation = annotation,
                          .run_of = as_alloc_array(n + 1, sizeof *items.run_of),
                          .parts_at = as_alloc_array(n + 1, sizeof *items.parts_at),
                          .first_line = n,
                          .first_run = n + annotation->lines.len};
    items.n = items.first_run + n;
    for (size_t i = 0; i < annotation->lines.len; i++)
        *as_map_put(&items.lines, key_of_line(annotation->lines.data[i].file, annotation->lines.data[i].line)) = i + 1;
    for (size_t i = 0; i < n; i++) {
        const struct as_note_insn *insn = &annotation->insns.data[i];
        run = i && as_annotation_same_line(annotation, insn - 1, insn) ? run : i;
        items.run_of[i] = run;
        items.parts_at[i] = items.n;
        items.n += insn->row.n_parts;
        if (insn->recorded)
            *as_map_put(&items.rows, insn->row.id) = i + 1;
    }
    items.legend = items.n;
    items.n += AS_LEGEND_KEYS + 2;
    return items;
}

static void add_row(const struct items *items, const struct as_store_row *row, double *units)
{
    const struct as_annotation *annotation = items->annotation;
    const uint64_t *at = as_map_get(&items->rows, row->id);
    if (!at)
        return;
    const struct as_note_insn *insn = &annotation->insns.data[*at - 1];
    const uint64_t *line = as_map_get(&items->lines, key_of_line(insn->file, insn->line));
    units[*at - 1] += (double)row->units;
    units[items->first_run + items->run_of[*at - 1]] += (double)row->units;
    if (line)
        units[items->first_line + *line - 1] += (double)row->units;
    for (size_t i = 0; i < row->n_parts; i++) {
        const struct as_store_row_part *part = &row->parts[i];
        for (size_t k = 0; k < insn->row.n_parts; k++)
            if (insn->row.parts[k].key == part->key)
                units[items->parts_at[*at - 1] + k] += (double)part->units;
        units[items->legend + as_legend_key(&annotation->legend, part->key)] += (double)part->units;
        units[items->n - 1] += (double)part->units;
    }
}

static bool read_items(const void *context, uint32_t series, double *units, double *total, struct as_error *err)
{
    const struct items *items = context;
    struct as_store_rows rows = {0};
    struct as_store_query query = as_annotation_query(items->annotation);
    query.series = series;
    if (!as_store_query(items->annotation->view->store, &query, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++)
        add_row(items, &rows.rows[i], units);
    *total += (double)rows.total;
    as_store_rows_free(&rows);
    return true;
}

static bool have_parts(const struct as_view *view)
{
    struct as_replicates replicates = as_replicates_of(view);
    bool have = view->has_events && replicates.by_events;
    as_replicates_free(&replicates);
    return have;
}

static void widen(const struct items *items, struct as_bars *bars)
{
    const struct as_annotation *annotation = items->annotation;
    double guessed = 0;
    for (size_t i = 0; i < annotation->insns.len; i++) {
        as_bars_widen_row(bars, &annotation->legend, &annotation->insns.data[i].row, i, items->parts_at[i],
                          items->legend);
        guessed += bars->guessed[i];
    }
    as_bars_widen_legend(bars, items->legend, guessed);
}

static void take(struct as_annotation *annotation, struct items *items, struct as_bars *bars)
{
    for (size_t i = 0; i < annotation->insns.len; i++) {
        annotation->insns.data[i].error = bars->errors[i];
        annotation->insns.data[i].run_error = bars->errors[items->first_run + i];
    }
    for (size_t i = 0; i < annotation->lines.len; i++)
        annotation->lines.data[i].error = bars->errors[items->first_line + i];
    annotation->has_errors = true;
    if (!have_parts(annotation->view))
        return;
    widen(items, bars);
    annotation->legend.has_errors = true;
    memcpy(annotation->legend.errors, bars->errors + items->legend, sizeof annotation->legend.errors);
    annotation->parts_at = items->parts_at;
    annotation->errors = bars->errors;
    items->parts_at = NULL;
    bars->errors = NULL;
}

bool as_annotation_errors_make(struct as_annotation *annotation, struct as_error *err)
{
    struct items items = make_items(annotation);
    uint32_t *of = as_alloc_array(items.n, sizeof *of);
    for (size_t i = 0; i < items.n; i++)
        of[i] = i >= items.legend ? (uint32_t)(items.n - 1) : AS_STORE_NONE;
    struct as_bars bars = {0};
    bool ok = as_bars_make(&bars, &(struct as_bar_items){annotation->view, items.n, read_items, &items, of}, err);
    if (ok && bars.errors)
        take(annotation, &items, &bars);
    as_bars_free(&bars);
    as_map_free(&items.rows);
    as_map_free(&items.lines);
    free(items.run_of);
    free(items.parts_at);
    free(of);
    return ok;
}
