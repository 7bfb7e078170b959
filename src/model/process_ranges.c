/* See process_ranges.h. */
#include "model/process_ranges.h"

#include "base/alloc.h"

#include <string.h>

/* ---- ranges ---- */

size_t as_range_list_behind(const struct as_range_list *list, uint64_t address)
{
    return as_search(0, list->len, i, list->data[i].end <= address);
}

bool as_range_list_has(const struct as_range_list *list, uint64_t address)
{
    size_t at = as_range_list_behind(list, address);
    return at < list->len && list->data[at].start <= address;
}

static bool goes_on(const struct as_shared_range *range, const struct as_shared_range *next)
{
    return range->end == next->start && range->physical + (range->end - range->start) == next->physical;
}

static void remove_ranges(struct as_range_list *list, size_t first, size_t end)
{
    memmove(list->data + first, list->data + end, (list->len - end) * sizeof *list->data);
    list->len -= end - first;
}

void as_range_list_insert(struct as_range_list *list, struct as_shared_range range)
{
    if (range.start >= range.end)
        return;
    size_t at = as_range_list_behind(list, range.start);
    if (at < list->len && goes_on(&range, &list->data[at])) {
        range.end = list->data[at].end;
        remove_ranges(list, at, at + 1);
    }
    if (at && goes_on(&list->data[at - 1], &range)) {
        list->data[at - 1].end = range.end;
        return;
    }
    (void)as_vec_push(list);
    memmove(list->data + at + 1, list->data + at, (list->len - 1 - at) * sizeof range);
    list->data[at] = range;
}

struct as_shared_range as_range_part(struct as_shared_range range, uint64_t start, uint64_t end)
{
    struct as_shared_range part = {.start = range.start > start ? range.start : start,
                                   .end = range.end < end ? range.end : end};
    part.physical = range.physical + (part.start - range.start);
    return part;
}

void as_range_list_cut(struct as_range_list *list, uint64_t start, uint64_t end)
{
    size_t first = as_range_list_behind(list, start), behind = first;
    while (behind < list->len && list->data[behind].start < end)
        behind++;
    if (start >= end || first == behind)
        return;
    struct as_shared_range left = as_range_part(list->data[first], 0, start);
    struct as_shared_range right = as_range_part(list->data[behind - 1], end, UINT64_MAX);
    remove_ranges(list, first, behind);
    as_range_list_insert(list, left);
    as_range_list_insert(list, right);
}

/* ---- processes ---- */

void as_process_ranges_refresh(struct as_process_ranges *process)
{
    size_t n = process->list.len;
    process->ranges = (struct as_shared_ranges){.list = process->list.data, .n = n};
    if (n) {
        process->ranges.low = process->list.data[0].start;
        process->ranges.span = process->list.data[n - 1].end - process->ranges.low;
    }
}

void *as_process_table_get(struct as_process_table *table, uint32_t number)
{
    uint64_t *place = as_map_put(&table->by_number, number);
    if (!*place) {
        *as_vec_push(&table->list) = as_alloc(table->size);
        *place = table->list.len;
        table->list.data[*place - 1]->number = number;
    }
    return table->list.data[*place - 1];
}

const void *as_process_table_find(const struct as_process_table *table, uint32_t number)
{
    const uint64_t *place = as_map_get(&table->by_number, number);
    return place ? table->list.data[*place - 1] : NULL;
}

void as_process_table_free(struct as_process_table *table, void (*release)(void *process))
{
    for (size_t i = 0; i < table->list.len; i++) {
        if (release)
            release(table->list.data[i]);
        as_vec_free(&table->list.data[i]->list);
        free(table->list.data[i]);
    }
    as_vec_free(&table->list);
    as_map_free(&table->by_number);
}
