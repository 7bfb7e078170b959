/* Memory of processes whose addresses are not its names: for each process the ranges of it, and the names that they have
 * (base/shared_lines.h). What moved_memory.h and shared_memory.h have in common. */
#ifndef AS_MODEL_PROCESS_RANGES_H
#define AS_MODEL_PROCESS_RANGES_H

#include "base/map.h"
#include "base/shared_lines.h"
#include "base/vec.h"

/* ---- ranges ---- */

/* In order, none overlaps another. */
struct as_range_list {
    struct as_shared_range *data;
    size_t len, cap;
};

/* The first range that ends behind an address. */
size_t as_range_list_behind(const struct as_range_list *list, uint64_t address);
bool as_range_list_has(const struct as_range_list *list, uint64_t address);
/* Nothing of the list may be there. What goes on from its neighbours, names too, becomes one with them. */
void as_range_list_insert(struct as_range_list *list, struct as_shared_range range);
/* Removes what lies in [start, end). */
void as_range_list_cut(struct as_range_list *list, uint64_t start, uint64_t end);
/* The part of a range that lies in [start, end); empty if `start` is not less than `end` then. */
struct as_shared_range as_range_part(struct as_shared_range range, uint64_t start, uint64_t end);

/* ---- processes ---- */

/* What a process has, as the first member of what else is known of it. */
struct as_process_ranges {
    uint32_t number;
    struct as_range_list list;
    struct as_shared_ranges ranges; /* the list as others see it: of as_process_ranges_refresh */
};

/* Call this when the list has changed. */
void as_process_ranges_refresh(struct as_process_ranges *process);

struct as_process_table {
    size_t size; /* of a process */
    AS_VEC(struct as_process_ranges *) list;
    struct as_map by_number; /* number of a process: place + 1 */
};

/* The process of this number; a new one is zero but for its number. It stays where it is. */
void *as_process_table_get(struct as_process_table *table, uint32_t number);
/* NULL: there is none. */
const void *as_process_table_find(const struct as_process_table *table, uint32_t number);
/* `release` frees what else a process has; NULL: nothing. */
void as_process_table_free(struct as_process_table *table, void (*release)(void *process));

#endif
