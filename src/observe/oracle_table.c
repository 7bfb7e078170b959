/* See oracle_table.h. */
#include "observe/oracle_table.h"

#include <inttypes.h>

/* Rows are cache lines: as long as they start at one. */
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

static struct as_oracle_part *new_part(struct as_oracle_table *table, uint32_t *first, uint32_t events)
{
    struct as_oracle_part *part = as_vec_push(&table->parts);
    *part = (struct as_oracle_part){.events = events, .next = *first};
    *first = (uint32_t)table->parts.len;
    return part;
}

struct as_oracle_part *as_oracle_part_find(struct as_oracle_table *table, uint32_t *first, uint32_t events)
{
    struct as_oracle_part *parts = table->parts.data;
    uint32_t *link = first;
    for (; *link; link = &parts[*link - 1].next) {
        struct as_oracle_part *part = &parts[*link - 1];
        if (part->events != events)
            continue;
        if (link != first) { /* to the front */
            uint32_t number = *link;
            *link = part->next;
            part->next = *first;
            *first = number;
        }
        return part;
    }
    return new_part(table, first, events);
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

struct merge {
    struct as_oracle_table *into;
    const struct as_oracle_table *from;
};

static void merge_row(void *context, uint32_t id, const struct as_oracle_page *page)
{
    struct merge *merge = context;
    struct as_oracle_page *into = as_oracle_page_at(merge->into, id);
    uint32_t i = id % AS_PAGE_ROWS;
    add_row(&into->rows[i], &page->rows[i]);
    into->continued[i] += page->continued[i];
    for (uint32_t number = page->first[i]; number; number = merge->from->parts.data[number - 1].next) {
        const struct as_oracle_part *part = &merge->from->parts.data[number - 1];
        as_oracle_part_add(merge->into, into, id, part->events, part->units, part->count);
    }
}

void as_oracle_table_merge(struct as_oracle_table *into, const struct as_oracle_table *from)
{
    each(from, merge_row, &(struct merge){into, from});
}

void as_oracle_table_free(struct as_oracle_table *table)
{
    for (size_t i = 0; i < table->n_pages; i++)
        free(table->pages[i]);
    free(table->pages);
    as_vec_free(&table->parts);
    *table = (struct as_oracle_table){0};
}

/* ---- results ---- */

struct collect {
    const struct as_oracle_table *table;
    struct as_pics *pics;
};

static void collect_row(void *context, uint32_t id, const struct as_oracle_page *page)
{
    struct collect *collect = context;
    const struct as_oracle_row *row = &page->rows[id % AS_PAGE_ROWS];
    uint64_t plain = row->executions + page->continued[id % AS_PAGE_ROWS];
    for (uint32_t number = page->first[id % AS_PAGE_ROWS]; number;) {
        const struct as_oracle_part *part = &collect->table->parts.data[number - 1];
        as_pics_push(collect->pics, &(struct as_pics_entry){
                                        .id = id, .events = part->events, .units = part->units, .count = part->count});
        plain -= part->count;
        number = part->next;
    }
    if (plain || row->base)
        as_pics_push(collect->pics, &(struct as_pics_entry){.id = id, .units = row->base, .count = plain});
}

void as_oracle_table_pics(const struct as_oracle_table *table, struct as_pics *pics)
{
    each(table, collect_row, &(struct collect){table, pics});
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

struct check {
    const struct as_oracle_table *table;
    bool wrong;
    uint32_t id; /* the first wrong one */
    uint64_t charged, components;
};

static void check_row(void *context, uint32_t id, const struct as_oracle_page *page)
{
    struct check *check = context;
    const struct as_oracle_row *row = &page->rows[id % AS_PAGE_ROWS];
    uint64_t components = row->base;
    for (uint32_t number = page->first[id % AS_PAGE_ROWS]; number; number = check->table->parts.data[number - 1].next)
        components += check->table->parts.data[number - 1].units;
    if (check->wrong || components == as_oracle_row_units(row))
        return;
    *check = (struct check){check->table, true, id, as_oracle_row_units(row), components};
}

bool as_oracle_table_check(const struct as_oracle_table *table, const char *what, struct as_error *err)
{
    struct check check = {.table = table};
    each(table, check_row, &check);
    if (!check.wrong)
        return true;
    return as_error_set(err, "Oracle: %s %" PRIu32 " was charged %.6f cycles, but its components are %.6f", what,
                        check.id, (double)check.charged / (double)AS_CYCLE_UNITS,
                        (double)check.components / (double)AS_CYCLE_UNITS);
}
