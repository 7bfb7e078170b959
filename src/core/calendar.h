/* Two small structures that turn "at most n at a time" into times.
 *
 * as_calendar: at most `width` events in a cycle. Remembers the events of the most recent SPAN cycles; older ones count
 * as free again, which no in-flight instruction is that far behind to notice. (Words are small: the calendars are what
 * the core's own speed depends on most, after the records.) as_occupancy: at most `size` entries at a
 * time, each leaving at a known cycle: how many leave in which of them.
 */
#ifndef AS_CORE_CALENDAR_H
#define AS_CORE_CALENDAR_H

#include "base/alloc.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { AS_CALENDAR_SPAN_BITS = 13 };
enum { AS_CALENDAR_SPAN = 1 << AS_CALENDAR_SPAN_BITS };

struct as_calendar {
    uint32_t width;
    uint64_t latest;                  /* cycle that as_calendar_take_both took of it as the second */
    uint32_t slots[AS_CALENDAR_SPAN]; /* by the cycle's low bits: its other bits << 8 | events */
};

/* What a slot says of `cycle`: its word with the events of that cycle, none where it holds another one's. */
static inline uint32_t as_calendar_word(const struct as_calendar *calendar, uint64_t cycle)
{
    uint32_t word = calendar->slots[cycle % AS_CALENDAR_SPAN], none = (uint32_t)(cycle >> AS_CALENDAR_SPAN_BITS) << 8;
    return word - none > 0xff ? none : word;
}

static inline bool as_calendar_has_room(const struct as_calendar *calendar, uint64_t cycle)
{
    return (as_calendar_word(calendar, cycle) & 0xff) < calendar->width;
}

static inline void as_calendar_take(struct as_calendar *calendar, uint64_t cycle)
{
    calendar->slots[cycle % AS_CALENDAR_SPAN] = as_calendar_word(calendar, cycle) + 1;
}

/* Says that `count` were taken in a cycle, whatever was known of it. */
static inline void as_calendar_set(struct as_calendar *calendar, uint64_t cycle, uint32_t count)
{
    calendar->slots[cycle % AS_CALENDAR_SPAN] = (uint32_t)(cycle >> AS_CALENDAR_SPAN_BITS) << 8 | count;
}

/* Takes the first cycle from `cycle` on that has room, and returns it. */
static inline uint64_t as_calendar_take_first(struct as_calendar *calendar, uint64_t cycle)
{
    uint32_t word = as_calendar_word(calendar, cycle);
    while ((word & 0xff) >= calendar->width)
        word = as_calendar_word(calendar, ++cycle);
    calendar->slots[cycle % AS_CALENDAR_SPAN] = word + 1;
    return cycle;
}

/* The same where two must have room. */
static inline uint64_t as_calendar_take_both(struct as_calendar *a, struct as_calendar *b, uint64_t cycle)
{
    for (;; cycle++) {
        uint32_t in_a = as_calendar_word(a, cycle), in_b = as_calendar_word(b, cycle);
        if ((in_a & 0xff) < a->width && (in_b & 0xff) < b->width) {
            a->slots[cycle % AS_CALENDAR_SPAN] = in_a + 1;
            b->slots[cycle % AS_CALENDAR_SPAN] = in_b + 1;
            b->latest = cycle > b->latest ? cycle : b->latest;
            return cycle;
        }
    }
}

enum { AS_OCCUPANCY_WORDS = AS_CALENDAR_SPAN / 64 };

struct as_occupancy {
    uint32_t size, used;
    uint64_t latest;                   /* cycle in which one leaves */
    uint64_t beyond;                   /* … that was further away than the span: the last one of those */
    uint64_t cursor;                   /* entries that left before this cycle are free */
    uint16_t leaves[AS_CALENDAR_SPAN]; /* how many leave in a cycle from the cursor on */
    /* A bit for each cycle in which some do: a wait for DRAM is hundreds of cycles in which nobody does. */
    uint64_t some[AS_OCCUPANCY_WORDS];
};

/* That one leaves in a cycle, or `count` of them where nobody did before. */
static inline void as_occupancy_mark(struct as_occupancy *occupancy, uint64_t cycle, uint32_t count)
{
    uint64_t at = cycle % AS_CALENDAR_SPAN;
    occupancy->leaves[at] = (uint16_t)(occupancy->leaves[at] + count);
    occupancy->some[at / 64] |= 1ull << at % 64;
}

/* The first cycle from `cycle` on in which some leave. There must be one. */
static inline uint64_t as_occupancy_next(const struct as_occupancy *occupancy, uint64_t cycle)
{
    uint64_t bits = occupancy->some[cycle / 64 % AS_OCCUPANCY_WORDS] >> cycle % 64;
    while (!bits) {
        cycle = (cycle | 63) + 1;
        bits = occupancy->some[cycle / 64 % AS_OCCUPANCY_WORDS];
    }
    return cycle + (uint64_t)__builtin_ctzll(bits);
}

/* Those that leave in `cycle`, the next in which some do, are gone. */
static inline void as_occupancy_step(struct as_occupancy *occupancy, uint64_t cycle)
{
    uint64_t at = cycle % AS_CALENDAR_SPAN;
    occupancy->used -= occupancy->leaves[at];
    occupancy->leaves[at] = 0;
    occupancy->some[at / 64] &= ~(1ull << at % 64);
    occupancy->cursor = cycle + 1;
}

/* Frees what left before `cycle`. */
static inline void as_occupancy_advance(struct as_occupancy *occupancy, uint64_t cycle)
{
    while (occupancy->cursor < cycle && occupancy->used) {
        uint64_t next = as_occupancy_next(occupancy, occupancy->cursor);
        if (next >= cycle)
            break;
        as_occupancy_step(occupancy, next);
    }
    if (occupancy->cursor < cycle)
        occupancy->cursor = cycle;
}

/* as_occupancy_free_at where all are in use. */
static inline uint64_t as_occupancy_wait(struct as_occupancy *occupancy, uint64_t cycle)
{
    as_occupancy_advance(occupancy, cycle);
    while (occupancy->used >= occupancy->size)
        as_occupancy_step(occupancy, as_occupancy_next(occupancy, occupancy->cursor));
    return occupancy->cursor > cycle ? occupancy->cursor : cycle;
}

/* The first cycle from `cycle` on at which an entry is free. Cycles asked for never decrease. As long as there is room,
 * nobody looks at who has left. */
static inline __attribute__((always_inline)) uint64_t as_occupancy_free_at(struct as_occupancy *occupancy,
                                                                           uint64_t cycle)
{
    return occupancy->used < occupancy->size ? cycle : as_occupancy_wait(occupancy, cycle);
}

/* Takes an entry in cycle `now`, until `leave`. One that stays longer than the span counts as leaving at its end. */
static inline void as_occupancy_take(struct as_occupancy *occupancy, uint64_t now, uint64_t leave)
{
    if (leave - occupancy->cursor >= AS_CALENDAR_SPAN)
        as_occupancy_advance(occupancy, now);
    if (leave - occupancy->cursor >= AS_CALENDAR_SPAN) {
        occupancy->beyond = leave;
        leave = occupancy->cursor + AS_CALENDAR_SPAN - 1;
    }
    as_occupancy_mark(occupancy, leave, 1);
    occupancy->latest = leave > occupancy->latest ? leave : occupancy->latest;
    occupancy->used++;
}

#endif
