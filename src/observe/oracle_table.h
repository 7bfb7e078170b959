/* The Oracle's tables: rows by number (static instruction or call path) with their components by events.
 *
 * Rows stand in pages that are allocated at first use, so that a thread costs what it executes, not what the program
 * contains. Time without events is part of the row; components with events stand in a hash table.
 */
#ifndef AS_OBSERVE_ORACLE_TABLE_H
#define AS_OBSERVE_ORACLE_TABLE_H

#include "base/vec.h"
#include "observe/oracle.h"

enum { AS_PAGE_SHIFT = 5, AS_PAGE_ROWS = 1 << AS_PAGE_SHIFT };

struct as_oracle_part {
    uint64_t key; /* number of the row << 32 | events; 0: a free slot */
    uint64_t units, count;
};

struct as_oracle_page {
    struct as_oracle_row rows[AS_PAGE_ROWS];
    uint64_t continued[AS_PAGE_ROWS]; /* records, and first tries with a vector of their own, that were no execution */
};

struct as_oracle_table {
    struct as_oracle_page **pages;
    size_t n_pages, cap;
    struct as_oracle_part *parts; /* open addressing, at most half full */
    size_t n_parts;
    unsigned parts_bits; /* log2 of the slots; 0: none */
    bool noting;         /* keys of parts that are charged are noted; some more than once */
    AS_VEC(uint64_t) noted;
};

struct as_oracle_page *as_oracle_page_make(struct as_oracle_table *table, uint32_t id);
struct as_oracle_part *as_oracle_part_find(struct as_oracle_table *table, uint64_t key);
void as_oracle_part_note(struct as_oracle_table *table, uint64_t key);
uint64_t as_oracle_part_units(const struct as_oracle_table *table, uint64_t key); /* 0: there is none */
void as_oracle_table_merge(struct as_oracle_table *into, const struct as_oracle_table *from);
void as_oracle_table_free(struct as_oracle_table *table);

struct as_pics as_oracle_table_pics(const struct as_oracle_table *table);
/* Adds its rows to those of an array, which grows. */
struct as_oracle_rows {
    struct as_oracle_row *data;
    size_t len, cap;
};
void as_oracle_table_add(const struct as_oracle_table *table, struct as_oracle_rows *rows);
/* Whether the components of each row are its time. `what` is for the message. */
bool as_oracle_table_check(const struct as_oracle_table *table, const char *what, struct as_error *err) AS_MUST_CHECK;

static inline struct as_oracle_page *as_oracle_page_at(struct as_oracle_table *table, uint32_t id)
{
    size_t number = id >> AS_PAGE_SHIFT;
    if (__builtin_expect(number < table->n_pages && table->pages[number], 1))
        return table->pages[number];
    return as_oracle_page_make(table, id);
}

/* NULL where there is none. */
static inline const struct as_oracle_row *as_oracle_row_find(const struct as_oracle_table *table, uint32_t id)
{
    size_t number = id >> AS_PAGE_SHIFT;
    return number < table->n_pages && table->pages[number] ? &table->pages[number]->rows[id % AS_PAGE_ROWS] : NULL;
}

static inline size_t as_oracle_part_slot(const struct as_oracle_table *table, uint64_t key)
{
    return (size_t)(key * 0x9e3779b97f4a7c15u >> (64 - table->parts_bits));
}

/* Charges units to a component, which met its events `count` more times. Not for events 0: those are the row's `base`.
 */
static inline void as_oracle_part_add(struct as_oracle_table *table, uint32_t id, uint32_t events, uint64_t units,
                                      uint64_t count)
{
    uint64_t key = (uint64_t)id << 32 | events;
    struct as_oracle_part *part = table->parts_bits ? &table->parts[as_oracle_part_slot(table, key)] : NULL;
    if (__builtin_expect(!part || part->key != key, 0))
        part = as_oracle_part_find(table, key);
    if (__builtin_expect(table->noting, 0))
        as_oracle_part_note(table, key);
    part->units += units;
    part->count += count;
}

#endif
