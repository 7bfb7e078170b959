/* The array of tags.h: creation, and look-ups that the hint does not answer. */
#include "core/tags.h"

#include "base/alloc.h"

#include <stdlib.h>

/* Numbers that are in use at the same time and share a hint take it from each other all the time, and a TLB that is
 * fully associative has long searches: hence many more hints than entries. More than this many would only fill the host's
 * cache. */
enum { LEAST_HINTS = 1 << 10, MOST_HINTS = 1 << 12 };

/* The youngest is the last way, so that empty ones are taken from the first on. */
static uint64_t first_order(uint32_t ways)
{
    uint64_t order = 0;
    for (uint32_t way = 0; way < ways; way++)
        order = order << AS_TAGS_ORDER_BITS | way;
    return order;
}

void as_tags_init(struct as_tags *tags, uint32_t sets, uint32_t ways, bool many)
{
    uint64_t count = (uint64_t)sets * ways, hints = LEAST_HINTS;
    while (hints < 8 * count && hints < MOST_HINTS)
        hints *= 2;
    bool ordered = many && ways <= AS_TAGS_ORDERED;
    *tags = (struct as_tags){
        .keys = as_alloc_apart(count + AS_TAGS_MARKS, sizeof *tags->keys),
        .hints = as_alloc_array(hints, sizeof *tags->hints),
        .stamps = ordered ? NULL : as_alloc_array(count, sizeof *tags->stamps),
        .entries = as_alloc_array(count, sizeof *tags->entries),
        .flags = as_alloc_array(count, sizeof *tags->flags),
        .set_mask = sets - 1,
        .hint_mask = hints - 1,
        .order_mask = UINT64_MAX >> (ordered ? (AS_TAGS_ORDERED - ways) * AS_TAGS_ORDER_BITS : 0),
        .ways = ways,
        .set_bytes =
            (uint32_t)offsetof(struct as_set, marks) + (ways + AS_TAGS_MARKS - 1) / AS_TAGS_MARKS * AS_TAGS_MARKS,
    };
    tags->sets = as_alloc_apart(sets, tags->set_bytes);
    tags->old_mask = (2u << (31 - __builtin_clz(ways))) - 1;
    tags->old = sets == 1 && !ordered ? as_alloc_array(tags->old_mask + 1, sizeof *tags->old) : NULL;
    for (uint32_t slot = 0; slot < count && !ordered; slot++)
        tags->stamps[slot] = (uint16_t)slot;
    for (uint32_t set = 0; set < sets && ordered; set++)
        as_tags_set(tags, set)->order = first_order(ways);
}

void as_tags_free(struct as_tags *tags)
{
    free(tags->keys);
    free(tags->hints);
    free(tags->stamps);
    free(tags->entries);
    free(tags->flags);
    free(tags->sets);
    free(tags->old);
    *tags = (struct as_tags){0};
}

static inline uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Four at a time: none of them waits for the one before. */
static uint64_t find_least(const uint64_t *stamps, uint32_t n)
{
    uint64_t a = UINT64_MAX, b = a, c = a, d = a;
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        a = earlier(a, stamps[i]);
        b = earlier(b, stamps[i + 1]);
        c = earlier(c, stamps[i + 2]);
        d = earlier(d, stamps[i + 3]);
    }
    for (; i < n; i++)
        a = earlier(a, stamps[i]);
    return earlier(earlier(a, b), earlier(c, d));
}

/* Notes a stamp behind all that are not younger. */
static void note_stamp(struct as_tags *tags, uint64_t stamp)
{
    uint32_t at = tags->old_first + tags->n_old++, mask = tags->old_mask;
    for (; at != tags->old_first && tags->old[(at - 1) & mask] > stamp; at--)
        tags->old[at & mask] = tags->old[(at - 1) & mask];
    tags->old[at & mask] = stamp;
}

static uint32_t find_oldest(struct as_tags *tags)
{
    for (uint32_t slot = 0; tags->n_old < tags->ways; slot++)
        note_stamp(tags, tags->stamps[slot]);
    for (;;) {
        uint64_t noted = tags->old[tags->old_first & tags->old_mask], stamp = tags->stamps[(uint16_t)noted];
        if (noted == stamp)
            return (uint16_t)noted;
        tags->old_first++;
        tags->n_old--;
        note_stamp(tags, stamp);
    }
}

uint32_t as_tags_victim(struct as_tags *tags, uint64_t number)
{
    uint32_t first = as_tags_first(tags, number);
    if (!tags->stamps) /* empty ones are the oldest */
        return first + (uint32_t)(as_tags_set(tags, number)->order >> (tags->ways - 1) * AS_TAGS_ORDER_BITS & 15);
    if (tags->ways == 1)
        return first;
    uint32_t hint = *as_tags_hint(tags, number);
    if (hint - first < tags->ways && !tags->keys[hint]) /* where it was before it was dropped, as a rule */
        return hint;
    if (tags->old)
        return find_oldest(tags);
    return first + (uint16_t)(find_least(tags->stamps + first, tags->ways) - first);
}

static void make_oldest(const struct as_tags *tags, struct as_set *set, uint64_t way)
{
    uint64_t order = set->order, below = (UINT64_C(1) << as_tags_place_of(order, way)) - 1;
    set->order =
        (order & below) | (order >> AS_TAGS_ORDER_BITS & ~below) | way << (tags->ways - 1) * AS_TAGS_ORDER_BITS;
}

void as_tags_drop(struct as_tags *tags, uint32_t slot, uint64_t number)
{
    struct as_set *set = as_tags_set(tags, number);
    uint32_t way = slot - as_tags_first(tags, number);
    tags->keys[slot] = 0;
    tags->entries[slot].key = 0;
    tags->flags[slot] = 0;
    tags->n_old = 0;
    set->marks[way] = 0;
    if (tags->stamps)
        tags->stamps[slot] = (uint16_t)slot;
    else
        make_oldest(tags, set, way);
}
