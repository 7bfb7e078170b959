/* Which of a process's addresses are memory that others may share, and where that memory is.
 *
 * Physical addresses of shared memory have the highest of the 48 bits of an address, which no user space uses: an address that
 * has it is the same for all processes. */
#ifndef AS_BASE_SHARED_LINES_H
#define AS_BASE_SHARED_LINES_H

#include "base/search.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AS_SHARED_BIT (UINT64_C(1) << 47)

struct as_shared_range {
    uint64_t start, end; /* as the process sees it */
    uint64_t physical;   /* of `start` */
};

/* Ranges in order, none overlaps another. An address outside of [low, low + span) is in none of them. */
struct as_shared_ranges {
    uint64_t low, span;
    const struct as_shared_range *list;
    size_t n;
};

static inline bool as_shared_is(uint64_t address)
{
    return address & AS_SHARED_BIT;
}

/* The physical address of one of 48 bits; the address itself where nothing is shared there. */
static inline uint64_t as_shared_find(const struct as_shared_ranges *ranges, uint64_t address)
{
    size_t at = as_search(0, ranges->n, i, ranges->list[i].end <= address);
    bool within = at < ranges->n && address >= ranges->list[at].start;
    return within ? ranges->list[at].physical + (address - ranges->list[at].start) : address;
}

/* Where a process has a physical address. False: nowhere. */
static inline bool as_shared_virtual(const struct as_shared_ranges *ranges, uint64_t physical, uint64_t *address)
{
    for (size_t i = 0; i < ranges->n; i++) {
        const struct as_shared_range *range = &ranges->list[i];
        if (physical - range->physical >= range->end - range->start)
            continue;
        *address = range->start + (physical - range->physical);
        return true;
    }
    return false;
}

static inline uint64_t as_shared_physical(const struct as_shared_ranges *ranges, uint64_t address)
{
    return __builtin_expect(address - ranges->low < ranges->span, 0) ? as_shared_find(ranges, address) : address;
}

#endif
