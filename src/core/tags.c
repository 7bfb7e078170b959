/* The array of tags.h: creation, and look-ups that the hint does not answer. */
#include "core/tags.h"

#include "base/alloc.h"

#include <stdlib.h>

/* Numbers that are in use at the same time and share a hint take it from each other all the time, and a TLB that is
 * fully associative has long searches: hence many more hints than entries. More than this many would only fill the host's
 * cache. */
enum { LEAST_HINTS = 1 << 10, MOST_HINTS = 1 << 12 };

void as_tags_init(struct as_tags *tags, uint32_t sets, uint32_t ways)
{
    uint64_t count = (uint64_t)sets * ways, hints = LEAST_HINTS;
    while (hints < 8 * count && hints < MOST_HINTS)
        hints *= 2;
    *tags = (struct as_tags){
        .keys = as_alloc_array(count, sizeof *tags->keys),
        .hints = as_alloc_array(hints, sizeof *tags->hints),
        .stamps = as_alloc_array(count, sizeof *tags->stamps),
        .entries = as_alloc_array(count, sizeof *tags->entries),
        .set_mask = sets - 1,
        .hint_mask = hints - 1,
        .ways = ways,
    };
}

void as_tags_free(struct as_tags *tags)
{
    free(tags->keys);
    free(tags->hints);
    free(tags->stamps);
    free(tags->entries);
    *tags = (struct as_tags){0};
}

uint32_t as_tags_search(const struct as_tags *tags, uint64_t number)
{
    uint32_t first = (uint32_t)(number & tags->set_mask) * tags->ways;
    for (uint32_t slot = first; slot < first + tags->ways; slot++)
        if (tags->keys[slot] == number + 1)
            return slot;
    return AS_TAGS_NONE;
}

uint32_t as_tags_victim(const struct as_tags *tags, uint64_t number)
{
    uint32_t first = (uint32_t)(number & tags->set_mask) * tags->ways, victim = first;
    uint32_t hint = *as_tags_hint(tags, number);
    if (hint - first < tags->ways && !tags->keys[hint]) /* where it was before it was dropped, as a rule */
        return hint;
    uint64_t least = tags->stamps[first];
    for (uint32_t slot = first + 1; slot < first + tags->ways; slot++) {
        uint64_t stamp = tags->stamps[slot];
        victim = stamp < least ? slot : victim;
        least = stamp < least ? stamp : least;
    }
    return victim;
}
