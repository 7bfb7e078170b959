/* Slots and the bus over time: what is not on the fast path of slots.h. */
#include "core/slots.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* Room for spans that were granted for later cycles, beside the `limit` that can be busy in one cycle. */
enum { SLOTS_FACTOR = 4 };

void as_slots_init(struct as_slots *slots, uint32_t limit)
{
    uint32_t size = 1;
    while (size < limit * SLOTS_FACTOR)
        size *= 2;
    *slots = (struct as_slots){.limit = limit, .mask = size - 1, .spans = as_alloc_array(size, sizeof *slots->spans)};
}

void as_slots_free(struct as_slots *slots)
{
    free(slots->spans);
    slots->spans = NULL;
}

/* Spans that cover `cycle`; `*first_end` is the earliest of their ends. */
static uint32_t count_busy(const struct as_slots *slots, uint64_t cycle, uint64_t *first_end)
{
    uint32_t busy = 0;
    for (uint32_t back = 0; back <= slots->mask; back++) {
        const struct as_span *span = as_slots_last(slots, back);
        if (span->end <= cycle)
            break;
        if (span->start > cycle)
            continue;
        busy++;
        *first_end = span->end;
    }
    return busy;
}

uint64_t as_slots_between(const struct as_slots *slots, uint64_t cycle)
{
    uint64_t first_end = 0;
    while (count_busy(slots, cycle, &first_end) >= slots->limit)
        cycle = first_end;
    return cycle;
}

/* Makes room at the old end. Half at a time, so that most calls move nothing. */
static uint32_t forget(struct as_bus *bus, uint32_t at)
{
    uint32_t half = AS_BUS_SPANS / 2;
    memmove(bus->spans, bus->spans + half, (bus->count - half) * sizeof *bus->spans);
    bus->count -= half;
    return at > half ? at - half : 0;
}

/* A gap too short for a transfer is as good as taken: closing it keeps the list short. */
static void insert(struct as_bus *bus, uint32_t at, uint64_t start, uint64_t end)
{
    struct as_span *spans = bus->spans;
    bool joins_before = at > 0 && start - spans[at - 1].end < bus->length;
    bool joins_after = at < bus->count && spans[at].start - end < bus->length;
    if (joins_before && joins_after) {
        spans[at - 1].end = spans[at].end;
        memmove(spans + at, spans + at + 1, (bus->count - at - 1) * sizeof *spans);
        bus->count--;
    } else if (joins_before) {
        spans[at - 1].end = end;
    } else if (joins_after) {
        spans[at].start = start;
    } else {
        if (bus->count == AS_BUS_SPANS)
            at = forget(bus, at);
        memmove(spans + at + 1, spans + at, (bus->count - at) * sizeof *spans);
        spans[at] = (struct as_span){start, end};
        bus->count++;
    }
}

/* The first gap from `*time` on: behind span `at` - 1. */
static uint32_t find_gap(const struct as_bus *bus, uint64_t *time)
{
    uint32_t at = bus->count;
    while (at > 0 && bus->spans[at - 1].end > *time)
        at--;
    for (; at < bus->count && bus->spans[at].start < *time + bus->length; at++)
        *time = bus->spans[at].end > *time ? bus->spans[at].end : *time;
    return at;
}

uint64_t as_bus_reserve(struct as_bus *bus, uint64_t time)
{
    uint32_t at = find_gap(bus, &time);
    insert(bus, at, time, time + bus->length);
    return time;
}

uint64_t as_bus_reserve_about(struct as_bus *bus, uint64_t time)
{
    uint32_t at = find_gap(bus, &time);
    if (at > 0 && time - bus->spans[at - 1].end < bus->length)
        time = bus->spans[at - 1].end;
    else if (at < bus->count && bus->spans[at].start - (time + bus->length) < bus->length)
        time = bus->spans[at].start - bus->length;
    insert(bus, at, time, time + bus->length);
    return time;
}
