/* Writes the samples one by one, for reports of a part of the time, and by processor. See import.h. */
#include "import/import_internal.h"

#include <stdlib.h>

/* In the order of the file, which is the fastest to write. */
static int in_order(const void *a, const void *b)
{
    const struct as_import_moment *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->time < y->time ? -1 : x->time > y->time;
}

static uint64_t first_time(const struct as_import_table *table, uint64_t first)
{
    for (size_t i = 0; i < table->moments.len; i++)
        first = table->moments.data[i].time < first ? table->moments.data[i].time : first;
    return first;
}

static void write_moment(struct as_import *import, const struct as_import_moment *moment, uint32_t series,
                         uint64_t start)
{
    const struct as_import_sum *cell = &import->cells.items.data[moment->cell];
    as_store_add_moment(import->writer,
                        &(struct as_store_moment){.series = series,
                                                  .thread = cell->second,
                                                  .instruction = cell->first,
                                                  .time = moment->time > start ? moment->time - start : 0,
                                                  .processor = moment->processor,
                                                  .path = moment->path,
                                                  .events = import->masks.data[moment->mask],
                                                  .units = moment->units,
                                                  .samples = 1});
}

static void sort_moments(struct as_import_table *table)
{
    if (table->moments.len)
        qsort(table->moments.data, table->moments.len, sizeof *table->moments.data, in_order);
}

/* A part of an event's samples would pass for all of them. */
static bool all_timed(const struct as_import *import, uint32_t event)
{
    return import->series.data[event].timed == import->series.data[event].samples;
}

void as_import_write_moments(struct as_import *import, uint32_t measures)
{
    uint64_t start = import->options.start ? import->options.start : first_time(&import->by_event, UINT64_MAX);
    sort_moments(&import->by_event);
    sort_moments(&import->by_measure);
    for (size_t i = 0; i < import->by_event.moments.len; i++) {
        const struct as_import_moment *moment = &import->by_event.moments.data[i];
        if (all_timed(import, moment->number))
            write_moment(import, moment, moment->number, start);
    }
    for (size_t i = 0; i < import->by_measure.moments.len; i++) {
        const struct as_import_moment *moment = &import->by_measure.moments.data[i];
        if (all_timed(import, import->measures.data[moment->number].event))
            write_moment(import, moment, measures + moment->number, start);
    }
}
