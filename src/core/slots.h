/* Limited resources over time: slots (MSHRs, walkers, queue entries), banks, and a bus.
 *
 * Requests come in program order, so a request can be for an earlier cycle than the one before it. If only "free from
 * cycle X on" were kept, it would wait for something that has not happened yet. So all three remember when they are
 * busy, and an earlier request sees only what is busy at its own time:
 *
 * as_slots: the busy intervals, by their ends. A request at t waits while `limit` of them cover t. Intervals already
 * granted for later cycles are ignored and not moved, so late requests in program order can exceed the limit for a
 * while. as_banks: which banks are used in each of the most recent cycles, one access each. as_bus: the spans of time
 * in which it is taken; a transfer goes into the first gap that is long enough.
 *
 * Each forgets the distant past: a request from before that finds everything free.
 */
#ifndef AS_CORE_SLOTS_H
#define AS_CORE_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

enum { AS_SLOTS_MEMORY = 256 }; /* at least: more than loads and stores can be waiting */

struct as_slots {
    uint32_t limit, mask, tail;
    uint64_t usual;          /* how long one is in use, in 1/16 cycles: a running mean */
    uint64_t asked;          /* latest cycle of a request */
    uint64_t *starts, *ends; /* rings, always full, each ascending up to tail - 1 */
};

void as_slots_init(struct as_slots *slots, uint32_t limit);
void as_slots_free(struct as_slots *slots);
uint64_t as_slots_between(const struct as_slots *slots, uint64_t cycle); /* as_slots_admit for an earlier cycle */

/* Whether a slot is free at `cycle` that is not promised to someone who waits. */
static inline bool as_slots_has_room(const struct as_slots *slots, uint64_t cycle)
{
    return slots->ends[(slots->tail - slots->limit) & slots->mask] <= cycle;
}

/* The first cycle from `cycle` on at which a slot is free. In the order of time, that is when fewer than `limit` of
 * them end later: had there been a free slot before that, one of those who wait would have it. */
static inline uint64_t as_slots_admit(struct as_slots *slots, uint64_t cycle)
{
    bool in_order = cycle >= slots->asked;
    slots->asked = in_order ? cycle : slots->asked;
    if (as_slots_has_room(slots, cycle))
        return cycle;
    return in_order ? slots->ends[(slots->tail - slots->limit) & slots->mask] : as_slots_between(slots, cycle);
}

/* Puts a time into its place in a ring whose last place is free; the oldest time is gone. */
static inline void as_slots_sort_in(uint64_t *ring, uint32_t mask, uint32_t last, uint64_t time)
{
    uint32_t steps = 0;
    for (; steps < mask && ring[(last - 1) & mask] > time; steps++, last--)
        ring[last & mask] = ring[(last - 1) & mask];
    ring[last & mask] = time;
}

/* A slot is in use from `start`, where as_slots_admit found one, to before `end`. */
static inline void as_slots_hold(struct as_slots *slots, uint64_t start, uint64_t end)
{
    if (end <= start)
        return;
    slots->usual += end - start - slots->usual / 16;
    as_slots_sort_in(slots->starts, slots->mask, slots->tail, start);
    as_slots_sort_in(slots->ends, slots->mask, slots->tail, end);
    slots->tail++;
}

enum { AS_BANKS_CYCLES = 256 };

struct as_banks {
    uint32_t mask; /* banks - 1; 0 banks or one are no limit that could be seen, `limited` says which */
    bool limited;
    struct as_banks_cycle {
        uint64_t cycle, used;
    } cycles[AS_BANKS_CYCLES];
};

static inline void as_banks_init(struct as_banks *banks, uint32_t count)
{
    banks->limited = count > 0;
    banks->mask = count ? count - 1 : 0;
}

/* Takes the bank of `number` in the first cycle from `cycle` on in which it is free, and returns that cycle. */
static inline uint64_t as_banks_take(struct as_banks *banks, uint64_t cycle, uint64_t number)
{
    uint64_t bit = 1ull << (number & banks->mask);
    for (;; cycle++) {
        struct as_banks_cycle *at = &banks->cycles[cycle % AS_BANKS_CYCLES];
        if (at->cycle > cycle)
            return cycle; /* so long past that it is forgotten */
        if (at->cycle < cycle)
            *at = (struct as_banks_cycle){.cycle = cycle};
        if (!(at->used & bit)) {
            at->used |= bit;
            return cycle;
        }
    }
}

enum { AS_BUS_SPANS = 64 };

struct as_span {
    uint64_t start, end; /* busy from start to before end */
};

struct as_bus {
    uint64_t length; /* of every transfer; the unit is the owner's */
    uint32_t count;
    struct as_span spans[AS_BUS_SPANS]; /* ascending, with gaps of at least `length` */
};

/* Reserves the first gap from `time` on; returns the start of the transfer. */
uint64_t as_bus_reserve(struct as_bus *bus, uint64_t time);
/* The same for a transfer that nobody waits for: it moves by less than its length to leave no gap that is too short. */
uint64_t as_bus_reserve_about(struct as_bus *bus, uint64_t time);

#endif
