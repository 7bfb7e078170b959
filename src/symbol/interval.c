/* The index of intervals: a sweep over the starts with a heap of the open intervals. The winner changes only where an
 * interval starts or where the winner ends, so n intervals give at most 2n pieces. Intervals that have ended stay in
 * the heap until they reach its top. */
#include "symbol/interval.h"

#include "base/alloc.h"
#include "base/search.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int by_start(const void *a, const void *b)
{
    const struct as_address_range *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static bool wins(const struct as_address_range *a, const struct as_address_range *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank;
    if (a->start != b->start)
        return a->start > b->start;
    if (a->end != b->end)
        return a->end < b->end;
    return a->id > b->id;
}

struct heap {
    const struct as_address_range **items;
    size_t len;
};

static void heap_push(struct heap *heap, const struct as_address_range *item)
{
    size_t at = heap->len++;
    while (at > 0 && wins(item, heap->items[(at - 1) / 2])) {
        heap->items[at] = heap->items[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap->items[at] = item;
}

static void heap_pop(struct heap *heap)
{
    const struct as_address_range *item = heap->items[--heap->len];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= heap->len)
            break;
        if (child + 1 < heap->len && wins(heap->items[child + 1], heap->items[child]))
            child++;
        if (!wins(heap->items[child], item))
            break;
        heap->items[at] = heap->items[child];
        at = child;
    }
    heap->items[at] = item;
}

static void emit(struct as_interval_index *index, uint64_t start, uint32_t id)
{
    if (index->len > 0 && index->ids[index->len - 1] == id)
        return;
    index->starts[index->len] = start;
    index->ids[index->len++] = id;
}

static size_t drop_empty(struct as_address_range *items, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (items[i].start < items[i].end)
            items[kept++] = items[i];
    return kept;
}

static void sweep(struct as_interval_index *index, const struct as_address_range *items, size_t count,
                  struct heap *heap)
{
    uint64_t at = 0;
    for (size_t next = 0; next < count || heap->len > 0;) {
        if (heap->len == 0)
            at = items[next].start;
        while (next < count && items[next].start <= at)
            heap_push(heap, &items[next++]);
        while (heap->len > 0 && heap->items[0]->end <= at)
            heap_pop(heap);
        emit(index, at, heap->len > 0 ? heap->items[0]->id : AS_INTERVAL_NONE);
        if (heap->len > 0)
            at = heap->items[0]->end;
        if (heap->len > 0 && next < count && items[next].start < at)
            at = items[next].start;
    }
}

void as_interval_build(struct as_interval_index *index, struct as_address_range *items, size_t count)
{
    memset(index, 0, sizeof *index);
    count = drop_empty(items, count);
    if (count == 0)
        return;
    qsort(items, count, sizeof *items, by_start);
    index->starts = as_alloc_array(2 * count, sizeof *index->starts);
    index->ids = as_alloc_array(2 * count, sizeof *index->ids);
    struct heap heap = {.items = as_alloc_array(count, sizeof *heap.items)};
    sweep(index, items, count, &heap);
    free(heap.items);
    index->starts = as_realloc_array(index->starts, index->len, sizeof *index->starts);
    index->ids = as_realloc_array(index->ids, index->len, sizeof *index->ids);
}

void as_interval_free(struct as_interval_index *index)
{
    free(index->starts);
    free(index->ids);
    memset(index, 0, sizeof *index);
}

uint32_t as_interval_find(const struct as_interval_index *index, uint64_t address)
{
    size_t at = as_search(0, index->len, i, index->starts[i] <= address);
    return at == 0 ? AS_INTERVAL_NONE : index->ids[at - 1];
}
