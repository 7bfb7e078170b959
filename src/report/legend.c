/* Components and their signs in bars. See view.h. */
#include "base/alloc.h"
#include "base/map.h"
#include "report/view.h"

#include <stdlib.h>
#include <string.h>

static int most_first(const void *a, const void *b)
{
    const struct as_store_row_part *x = a, *y = b;
    if ((x->key == 0) != (y->key == 0))
        return x->key == 0 ? -1 : 1;
    if (x->units != y->units)
        return x->units < y->units ? 1 : -1;
    return (x->key > y->key) - (x->key < y->key);
}

struct as_legend as_legend_of(const struct as_store_rows *rows)
{
    struct as_legend legend = {.n = 0};
    struct as_map sums = {0};
    for (size_t i = 0; i < rows->n; i++)
        for (size_t k = 0; k < rows->rows[i].n_parts; k++)
            *as_map_put(&sums, rows->rows[i].parts[k].key) += rows->rows[i].parts[k].units;
    struct as_store_row_part *parts = as_alloc_array(sums.len + 1, sizeof *parts);
    size_t n = 0;
    for (size_t i = 0; i < sums.cap; i++)
        if (sums.slots[i].used)
            parts[n++] = (struct as_store_row_part){.key = sums.slots[i].key, .units = sums.slots[i].value};
    qsort(parts, n, sizeof *parts, most_first);
    if (n && parts[0].key != 0) /* the first sign is always Base's */
        legend.masks[legend.n++] = 0;
    for (size_t i = 0; i < n; i++) {
        legend.total += parts[i].units;
        if (legend.n < AS_TERM_KEYS && (parts[i].units || parts[i].key == 0)) {
            legend.masks[legend.n] = parts[i].key;
            legend.units[legend.n++] = parts[i].units;
        } else {
            legend.others += parts[i].units;
        }
    }
    free(parts);
    as_map_free(&sums);
    return legend;
}

size_t as_legend_key(const struct as_legend *legend, uint64_t mask)
{
    for (size_t i = 0; i < legend->n; i++)
        if (legend->masks[i] == mask)
            return i;
    return AS_TERM_KEYS;
}

size_t as_legend_columns(const struct as_legend *legend, const struct as_term *term, size_t keys[AS_LEGEND_COLUMNS])
{
    size_t n = 0;
    for (size_t key = 1; key < legend->n && n < AS_LEGEND_COLUMNS && term->width >= AS_TERM_WIDE; key++)
        if (as_part_of(legend->units[key], legend->total) >= 0.005)
            keys[n++] = key;
    return n;
}

uint64_t as_legend_part(const struct as_store_row *row, uint64_t mask)
{
    for (size_t i = 0; i < row->n_parts; i++)
        if (row->parts[i].key == mask)
            return row->parts[i].units;
    return 0;
}

/* Each component ends where its sum so far does, so that nothing is lost to rounding. */
void as_legend_bar(const struct as_legend *legend, FILE *out, const struct as_term *term,
                   const struct as_store_row *row, uint64_t most, unsigned width, bool pad)
{
    uint64_t by_key[AS_TERM_KEYS + 1] = {0}, sum = 0;
    size_t drawn = 0;
    for (size_t i = 0; i < row->n_parts; i++)
        by_key[as_legend_key(legend, row->parts[i].key)] += row->parts[i].units;
    if (!row->n_parts)
        by_key[0] = row->units;
    for (size_t key = 0; key <= AS_TERM_KEYS; key++) {
        sum += by_key[key];
        size_t end = (size_t)(width * as_part_of(sum, most) + 0.5);
        as_term_key(out, term, key, end > drawn ? end - drawn : 0);
        drawn = end > drawn ? end : drawn;
    }
    for (; pad && drawn < width; drawn++)
        fputc(' ', out);
}

enum { MEANING = 35 }; /* the column of what a component means */

static const char *meaning_of(const struct as_view *view, uint64_t mask)
{
    size_t n;
    const struct as_store_event *events = as_store_events(view->store, &n);
    if (mask == 0)
        return "no event: computing, waiting for results and units";
    for (size_t i = 0; i < n; i++)
        if (mask == UINT64_C(1) << events[i].bit)
            return events[i].description;
    return NULL;
}

void as_legend_text(const struct as_legend *legend, const struct as_view *view, FILE *out, const struct as_term *term)
{
    for (size_t i = 0; i < legend->n; i++) {
        char component[AS_COMPONENT_MAX];
        const char *meaning = meaning_of(view, legend->masks[i]);
        if (!legend->units[i])
            continue;
        fputs("  ", out);
        as_term_key(out, term, i, 1);
        fprintf(out, " %6.2f %%  ", 100 * as_part_of(legend->units[i], legend->total));
        fprintf(out, meaning ? "%-20s " : "%s", AS_SHOW(as_view_component(view, legend->masks[i], component)));
        as_show_wrapped(out, term, meaning ? AS_SHOW(meaning) : "", MEANING, MEANING);
        fputc('\n', out);
    }
    if (legend->others)
        fprintf(out, "  %c %6.2f %%  other combinations\n", as_term_letter(AS_TERM_KEYS),
                100 * as_part_of(legend->others, legend->total));
}
