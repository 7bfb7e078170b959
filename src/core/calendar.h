/* Two small structures that turn "at most n at a time" into times.
 *
 * as_calendar: at most `width` events in a cycle. Remembers the events of the most recent SPAN cycles; older ones count
 * as free again, which no in-flight instruction is that far behind to notice. (Words are small: the calendars are what
 * the core's own speed depends on most, after the records.) as_occupancy: at most `size` entries at a
 * time, each leaving at a known cycle: a min-heap of the cycles at which they leave.
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

struct as_occupancy {
    uint32_t size, used;
    uint64_t latest;                   /* cycle in which one leaves */
    uint64_t cursor;                   /* entries that left before this cycle are free */
    uint16_t leaves[AS_CALENDAR_SPAN]; /* how many leave in a cycle from the cursor on */
};

static inline void as_occupancy_step(struct as_occupancy *occupancy)
{
    uint16_t *leaves = &occupancy->leaves[occupancy->cursor++ % AS_CALENDAR_SPAN];
    occupancy->used -= *leaves;
    *leaves = 0;
}

/* Whether nobody leaves in the cursor's cycle and the three behind it: most of a long wait is passed four cycles at a time. */
static inline bool as_occupancy_is_quiet(const struct as_occupancy *occupancy)
{
    uint64_t four;
    if (occupancy->cursor % 4)
        return false;
    memcpy(&four, &occupancy->leaves[occupancy->cursor % AS_CALENDAR_SPAN], sizeof four);
    return four == 0;
}

/* Frees what left before `cycle`. */
static inline void as_occupancy_advance(struct as_occupancy *occupancy, uint64_t cycle)
{
    while (occupancy->cursor < cycle && occupancy->used) {
        if (occupancy->cursor + 4 <= cycle && as_occupancy_is_quiet(occupancy))
            occupancy->cursor += 4;
        else
            as_occupancy_step(occupancy);
    }
    if (occupancy->cursor < cycle)
        occupancy->cursor = cycle;
}

/* The first cycle from `cycle` on at which an entry is free. Cycles asked for never decrease. As long as there is room,
 * nobody looks at who has left. */
static inline uint64_t as_occupancy_free_at(struct as_occupancy *occupancy, uint64_t cycle)
{
    if (occupancy->used < occupancy->size)
        return cycle;
    as_occupancy_advance(occupancy, cycle);
    while (occupancy->used >= occupancy->size) {
        if (as_occupancy_is_quiet(occupancy))
            occupancy->cursor += 4;
        else
            as_occupancy_step(occupancy);
    }
    return occupancy->cursor > cycle ? occupancy->cursor : cycle;
}

/* Takes an entry in cycle `now`, until `leave`. One that stays longer than the span counts as leaving at its end. */
static inline void as_occupancy_take(struct as_occupancy *occupancy, uint64_t now, uint64_t leave)
{
    if (leave - occupancy->cursor >= AS_CALENDAR_SPAN)
        as_occupancy_advance(occupancy, now);
    if (leave - occupancy->cursor >= AS_CALENDAR_SPAN)
        leave = occupancy->cursor + AS_CALENDAR_SPAN - 1;
    occupancy->leaves[leave % AS_CALENDAR_SPAN]++;
    occupancy->latest = leave > occupancy->latest ? leave : occupancy->latest;
    occupancy->used++;
}

#endif
