/* Sorts records by time. perf drains the processors' buffers one after the other, so a file is only roughly sorted. A
 * FINISHED_ROUND record guarantees that nothing older than the newest record of the previous round will follow. A heap
 * holds the records that cannot be passed on yet. */
#ifndef AS_PERFDATA_PERF_ORDER_H
#define AS_PERFDATA_PERF_ORDER_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct as_perf_queued {
    uint64_t time, sequence;
    uint8_t *record;
    uint32_t size;
};

struct as_perf_order {
    AS_VEC(struct as_perf_queued) heap;
    uint64_t bytes, sequence;
    uint64_t newest, safe; /* safe: the newest of the previous round */
};

void as_perf_order_push(struct as_perf_order *order, uint64_t time, const uint8_t *record, uint32_t size);
/* Returns the oldest record if it is not newer than `until`; the caller frees it. NULL: none. */
uint8_t *as_perf_order_pop(struct as_perf_order *order, uint64_t until, uint64_t *time);
/* Call this when a round has ended: returns the time up to which records can be taken. */
uint64_t as_perf_order_round(struct as_perf_order *order);
void as_perf_order_free(struct as_perf_order *order);

#endif
