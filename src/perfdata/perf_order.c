/* A binary heap, ordered by time and then by arrival. */
#include "perfdata/perf_order.h"

static bool before(const struct as_perf_queued *a, const struct as_perf_queued *b)
{
    return a->time != b->time ? a->time < b->time : a->sequence < b->sequence;
}

static void swap(struct as_perf_queued *a, struct as_perf_queued *b)
{
    struct as_perf_queued kept = *a;
    *a = *b;
    *b = kept;
}

static uint64_t cost(uint32_t size)
{
    return size + sizeof(struct as_perf_queued) + 16; /* overhead of malloc */
}

void as_perf_order_push(struct as_perf_order *order, uint64_t time, const uint8_t *record, uint32_t size)
{
    uint8_t *copy = as_realloc_array(NULL, size, 1);
    memcpy(copy, record, size);
    *as_vec_push(&order->heap) =
        (struct as_perf_queued){.time = time, .sequence = order->sequence++, .record = copy, .size = size};
    struct as_perf_queued *heap = order->heap.data;
    for (size_t at = order->heap.len - 1; at > 0 && before(&heap[at], &heap[(at - 1) / 2]); at = (at - 1) / 2)
        swap(&heap[at], &heap[(at - 1) / 2]);
    order->bytes += cost(size);
    order->newest = time > order->newest ? time : order->newest;
}

static void sift_down(struct as_perf_order *order)
{
    struct as_perf_queued *heap = order->heap.data;
    for (size_t at = 0, child; (child = 2 * at + 1) < order->heap.len; at = child) {
        if (child + 1 < order->heap.len && before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &heap[at]))
            return;
        swap(&heap[child], &heap[at]);
    }
}

uint8_t *as_perf_order_pop(struct as_perf_order *order, uint64_t until, uint64_t *time)
{
    if (order->heap.len == 0 || order->heap.data[0].time > until)
        return NULL;
    struct as_perf_queued first = order->heap.data[0];
    order->heap.data[0] = order->heap.data[--order->heap.len];
    sift_down(order);
    order->bytes -= cost(first.size);
    *time = first.time;
    return first.record;
}

uint64_t as_perf_order_round(struct as_perf_order *order)
{
    uint64_t until = order->safe;
    order->safe = order->newest;
    return until;
}

void as_perf_order_free(struct as_perf_order *order)
{
    for (size_t i = 0; i < order->heap.len; i++)
        free(order->heap.data[i].record);
    as_vec_free(&order->heap);
}
