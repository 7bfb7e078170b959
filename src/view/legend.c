/* See legend.h. */
#include "view/legend.h"

#include "base/alloc.h"
#include "base/map.h"

#include <stdlib.h>

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
    if (n && parts[0].key != 0) /* the first sign always belongs to Base */
        legend.masks[legend.n++] = 0;
    for (size_t i = 0; i < n; i++) {
        legend.total += parts[i].units;
        if (legend.n < AS_LEGEND_KEYS && (parts[i].units || parts[i].key == 0)) {
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
    return AS_LEGEND_KEYS;
}

uint64_t as_row_part(const struct as_store_row *row, uint64_t mask)
{
    for (size_t i = 0; i < row->n_parts; i++)
        if (row->parts[i].key == mask)
            return row->parts[i].units;
    return 0;
}

uint64_t as_row_event_units(const struct as_store_row *row, uint64_t event)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < row->n_parts; i++)
        sum += row->parts[i].key & event ? row->parts[i].units : 0;
    return sum;
}
