/* See oracle_table.h. */
#include "observe/oracle_table.h"

#include <inttypes.h>

/* Rows are cache lines, provided that they start at one. */
static struct as_oracle_page *new_page(void)
{
    struct as_oracle_page *page = aligned_alloc(64, (sizeof *page + 63) / 64 * 64);
    if (!page)
        return as_alloc(SIZE_MAX / 2); /* ends the process the usual way */
    memset(page, 0, sizeof *page);
    return page;
}

struct as_oracle_page *as_oracle_page_make(struct as_oracle_table *table, uint32_t id)
{
    size_t number = id >> AS_PAGE_SHIFT;
    if (number >= table->n_pages) {
        as_vec_reserve((void **)&table->pages, &table->cap, number + 1, sizeof *table->pages);
        memset(table->pages + table->n_pages, 0, (number + 1 - table->n_pages) * sizeof *table->pages);
        table->n_pages = number + 1;
    }
    if (!table->pages[number])
        table->pages[number] = new_page();
    return table->pages[number];
}

static struct as_oracle_part *slot_of(const struct as_oracle_table *table, uint64_t key)
{
    size_t mask = ((size_t)1 << table->parts_bits) - 1, slot = as_oracle_part_slot(table, key);
    while (table->parts[slot].key && table->parts[slot].key != key)
        slot = (slot + 1) & mask;
    return &table->parts[slot];
}

static size_t slots(const struct as_oracle_table *table)
{
    return table->parts_bits ? (size_t)1 << table->parts_bits : 0;
}

static void grow_parts(struct as_oracle_table *table)
{
    struct as_oracle_part *old = table->parts;
    size_t n = slots(table);
    table->parts_bits = table->parts_bits ? table->parts_bits + 1 : 6;
    table->parts = as_alloc_array(slots(table), sizeof *table->parts);
    for (size_t i = 0; i < n; i++)
        if (old[i].key)
            *slot_of(table, old[i].key) = old[i];
    free(old);
}

struct as_oracle_part *as_oracle_part_find(struct as_oracle_table *table, uint64_t key)
{
    if (2 * (table->n_parts + 1) > slots(table))
        grow_parts(table);
    struct as_oracle_part *part = slot_of(table, key);
    table->n_parts += part->key == 0;
    part->key = key;
    return part;
}

void as_oracle_part_note(struct as_oracle_table *table, uint64_t key)
{
    if (table->noted.len == 0 || table->noted.data[table->noted.len - 1] != key)
        *as_vec_push(&table->noted) = key;
}

uint64_t as_oracle_part_units(const struct as_oracle_table *table, uint64_t key)
{
    return table->parts_bits ? slot_of(table, key)->units : 0;
}

/* ---- all rows ---- */

typedef void row_visit(void *context, uint32_t id, const struct as_oracle_page *page);

static void each(const struct as_oracle_table *table, row_visit *visit, void *context)
{
    for (size_t number = 0; number < table->n_pages; number++)
        for (uint32_t i = 0; table->pages[number] && i < AS_PAGE_ROWS; i++)
            visit(context, (uint32_t)(number << AS_PAGE_SHIFT) + i, table->pages[number]);
}

static void add_row(struct as_oracle_row *into, const struct as_oracle_row *from)
{
    for (int state = 0; state < AS_STATE_COUNT; state++)
        into->units[state] += from->units[state];
    into->executions += from->executions;
    into->base += from->base;
}

static void merge_row(void *context, uint32_t id, const struct as_oracle_page *page)
{
    struct as_oracle_page *into = as_oracle_page_at(context, id);
    uint32_t i = id % AS_PAGE_ROWS;
    add_row(&into->rows[i], &page->rows[i]);
    into->continued[i] += page->continued[i];
}

void as_oracle_table_merge(struct as_oracle_table *into, const struct as_oracle_table *from)
{
    each(from, merge_row, into);
    for (size_t i = 0; i < slots(from); i++) {
        const struct as_oracle_part *part = &from->parts[i];
        if (part->key)
            as_oracle_part_add(into, (uint32_t)(part->key >> 32), (uint32_t)part->key, part->units, part->count);
    }
}

void as_oracle_table_free(struct as_oracle_table *table)
{
    for (size_t i = 0; i < table->n_pages; i++)
        free(table->pages[i]);
    free(table->pages);
    free(table->parts);
    as_vec_free(&table->noted);
    *table = (struct as_oracle_table){0};
}

/* ---- results ---- */

static void collect_base(void *context, uint32_t id, const struct as_oracle_page *page)
{
    const struct as_oracle_row *row = &page->rows[id % AS_PAGE_ROWS];
    uint64_t records = row->executions + page->continued[id % AS_PAGE_ROWS];
    if (records || as_oracle_row_units(row))
        as_pics_push(context, &(struct as_pics_entry){.id = id, .units = row->base, .count = records});
}

/* The first entry of an instruction is the one without events: what the others counted does not belong to it. */
static void count_bases(struct as_pics *pics)
{
    size_t kept = 0;
    for (size_t i = 0, next; i < pics->len; i = next) {
        for (next = i + 1; next < pics->len && pics->data[next].id == pics->data[i].id; next++)
            pics->data[i].count -= pics->data[next].count;
        bool empty = pics->data[i].count == 0 && pics->data[i].units == 0;
        memmove(&pics->data[kept], &pics->data[i + empty], (next - i - empty) * sizeof *pics->data);
        kept += next - i - empty;
    }
    pics->len = kept;
}

struct as_pics as_oracle_table_pics(const struct as_oracle_table *table)
{
    struct as_pics pics = {0};
    each(table, collect_base, &pics);
    for (size_t i = 0; i < slots(table); i++) {
        const struct as_oracle_part *part = &table->parts[i];
        if (part->key)
            as_pics_push(&pics, &(struct as_pics_entry){.id = (uint32_t)(part->key >> 32),
                                                        .events = (uint32_t)part->key,
                                                        .units = part->units,
                                                        .count = part->count});
    }
    as_pics_sort(&pics);
    count_bases(&pics);
    return pics;
}

static void add_to_rows(void *context, uint32_t id, const struct as_oracle_page *page)
{
    struct as_oracle_rows *rows = context;
    if (id >= rows->len) {
        as_vec_reserve((void **)&rows->data, &rows->cap, (size_t)id + 1, sizeof *rows->data);
        memset(rows->data + rows->len, 0, ((size_t)id + 1 - rows->len) * sizeof *rows->data);
        rows->len = (size_t)id + 1;
    }
    add_row(&rows->data[id], &page->rows[id % AS_PAGE_ROWS]);
}

void as_oracle_table_add(const struct as_oracle_table *table, struct as_oracle_rows *rows)
{
    each(table, add_to_rows, rows);
}

bool as_oracle_table_check(const struct as_oracle_table *table, const char *what, struct as_error *err)
{
    struct as_pics pics = as_oracle_table_pics(table);
    bool ok = true;
    for (size_t i = 0, next; i < pics.len && ok; i = next) {
        uint64_t components = 0;
        for (next = i; next < pics.len && pics.data[next].id == pics.data[i].id; next++)
            components += pics.data[next].units;
        const struct as_oracle_row *row = as_oracle_row_find(table, pics.data[i].id);
        uint64_t charged = row ? as_oracle_row_units(row) : 0;
        if (components != charged)
            ok = as_error_set(err, "Oracle: %s %" PRIu32 " was charged %.6f cycles, but its components are %.6f", what,
                              pics.data[i].id, (double)charged / (double)AS_CYCLE_UNITS,
                              (double)components / (double)AS_CYCLE_UNITS);
    }
    as_pics_free(&pics);
    return ok;
}
