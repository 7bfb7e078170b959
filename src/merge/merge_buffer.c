/* Rows on their way to the output, sorted by key, with rows of equal keys added up. Sorting lets the output's trees be
 * written in order, and a thousand profiles of the same few instructions end up as one row each, not a thousand. */
#include "merge/merge_internal.h"

#include <stdlib.h>

static int compare_keys(const void *a, const void *b, void *context)
{
    const struct as_store_table *table = context;
    for (size_t i = 0; i < table->n_columns; i++) {
        const struct as_store_column *column = &table->columns[i];
        if (!(column->flags & AS_COLUMN_KEY))
            continue;
        bool wide = column->type == AS_COLUMN_U64;
        uint64_t x = wide ? as_store_column_u64(column, a) : as_store_column_u32(column, a);
        uint64_t y = wide ? as_store_column_u64(column, b) : as_store_column_u32(column, b);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

static void add_up(const struct as_store_table *table, void *sum, const void *row)
{
    for (size_t i = 0; i < table->n_columns; i++)
        if (table->columns[i].type == AS_COLUMN_COUNT)
            *(uint64_t *)((char *)sum + table->columns[i].offset) += as_store_column_u64(&table->columns[i], row);
}

/* Sorts the rows and adds up those that have the same key. */
static void gather(struct as_merge_buffer *buffer, const struct as_store_table *table)
{
    size_t kept = 0, size = table->size;
    if (!buffer->is_sorted)
        qsort_r(buffer->rows, buffer->n, size, compare_keys, (void *)table);
    for (size_t i = 0; i < buffer->n; i++) {
        char *row = buffer->rows + i * size, *last = kept > 0 ? buffer->rows + (kept - 1) * size : NULL;
        if (last && compare_keys(last, row, (void *)table) == 0) {
            add_up(table, last, row);
            continue;
        }
        if (kept != i)
            memcpy(buffer->rows + kept * size, row, size);
        kept++;
    }
    buffer->n = kept;
    buffer->is_sorted = true;
}

static void flush(struct as_merge *merge, enum as_store_table_id id)
{
    struct as_merge_buffer *buffer = &merge->buffers[id];
    for (size_t i = 0; i < buffer->n; i++)
        as_store_add(merge->writer, id, buffer->rows + i * as_store_tables[id].size);
    buffer->n = 0;
    buffer->is_sorted = true;
}

/* If adding up leaves more than half of the rows, waiting for more rows saves little. */
void as_merge_push(struct as_merge *merge, enum as_store_table_id id, const void *row)
{
    const struct as_store_table *table = &as_store_tables[id];
    struct as_merge_buffer *buffer = &merge->buffers[id];
    buffer->is_sorted |= buffer->n == 0;
    if (buffer->n == AS_MERGE_WAITING) {
        gather(buffer, table);
        if (buffer->n > AS_MERGE_WAITING / 2)
            flush(merge, id);
    }
    as_vec_reserve((void **)&buffer->rows, &buffer->cap, buffer->n + 1, table->size);
    char *to = buffer->rows + buffer->n * table->size;
    memcpy(to, row, table->size);
    if (buffer->n > 0 && compare_keys(to - table->size, to, (void *)table) > 0)
        buffer->is_sorted = false;
    buffer->n++;
}

void as_merge_push_end(struct as_merge *merge)
{
    for (enum as_store_table_id id = 0; id < AS_TABLE_COUNT; id++) {
        if (!merge->buffers[id].rows)
            continue;
        gather(&merge->buffers[id], &as_store_tables[id]);
        flush(merge, id);
    }
}
