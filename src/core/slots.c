/* Slots and the bus over time: everything that is not on the fast path of slots.h. */
#include "core/slots.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void as_slots_init(struct as_slots *slots, uint32_t limit)
{
    uint32_t size = AS_SLOTS_MEMORY;
    while (size < 4 * limit)
        size *= 2;
    *slots = (struct as_slots){
        .limit = limit,
        .mask = size - 1,
        .starts = as_alloc_array(size, sizeof *slots->starts),
        .ends = as_alloc_array(size, sizeof *slots->ends),
    };
}

void as_slots_free(struct as_slots *slots)
{
    free(slots->starts);
    free(slots->ends);
    slots->starts = slots->ends = NULL;
}

/* A walk through time: how many starts and ends lie behind `cycle`. Those that end later and have not started later
 * are under way. */
struct sweep {
    const struct as_slots *slots;
    uint64_t cycle;
    uint32_t starts, ends;
};

static uint64_t next_start(const struct sweep *sweep)
{
    const struct as_slots *slots = sweep->slots;
    return sweep->starts ? slots->starts[(slots->tail - sweep->starts) & slots->mask] : UINT64_MAX;
}

static uint64_t next_end(const struct sweep *sweep)
{
    const struct as_slots *slots = sweep->slots;
    return sweep->ends ? slots->ends[(slots->tail - sweep->ends) & slots->mask] : UINT64_MAX;
}

static bool is_full(const struct sweep *sweep)
{
    return sweep->ends >= sweep->starts + sweep->slots->limit;
}

static void advance(struct sweep *sweep, uint64_t cycle)
{
    sweep->cycle = cycle;
    while (next_start(sweep) <= cycle)
        sweep->starts--;
    while (next_end(sweep) <= cycle)
        sweep->ends--;
}

static struct sweep sweep_from(const struct as_slots *slots, uint64_t cycle)
{
    struct sweep sweep = {.slots = slots, .cycle = cycle};
    while (sweep.ends <= slots->mask && slots->ends[(slots->tail - 1 - sweep.ends) & slots->mask] > cycle)
        sweep.ends++;
    while (sweep.starts <= slots->mask && slots->starts[(slots->tail - 1 - sweep.starts) & slots->mask] > cycle)
        sweep.starts++;
    return sweep;
}

/* The first cycle from which on a slot is free for as long as one is usually in use. */
uint64_t as_slots_between(const struct as_slots *slots, uint64_t cycle)
{
    struct sweep sweep = sweep_from(slots, cycle);
    for (;;) {
        while (is_full(&sweep))
            advance(&sweep, next_end(&sweep));
        uint64_t free_from = sweep.cycle;
        while (!is_full(&sweep)) {
            uint64_t next = next_start(&sweep);
            if (next >= free_from + slots->usual / 16)
                return free_from;
            advance(&sweep, next);
        }
    }
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
