/* The array of tags.h: creation, and look-ups that the hint does not answer. */
#include "core/tags.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* Numbers that are in use at the same time and share a hint take it from each other all the time, and a TLB that is
 * fully associative has long searches: hence many more hints than entries. More than this many would only fill the host's
 * cache. */
enum { LEAST_HINTS = 1 << 10, MOST_HINTS = 1 << 12 };

enum { ORDER_BITS = 4, MARK_BITS = 8, MARKS = 8 };
static const uint64_t each_byte = UINT64_C(0x0101010101010101), each_order = UINT64_C(0x1111111111111111);

/* The youngest is the last way, so that empty ones are taken from the first on. */
static uint64_t first_order(uint32_t ways)
{
    uint64_t order = 0;
    for (uint32_t way = 0; way < ways; way++)
        order = order << ORDER_BITS | way;
    return order;
}

void as_tags_init(struct as_tags *tags, uint32_t sets, uint32_t ways, bool many)
{
    uint64_t count = (uint64_t)sets * ways, hints = LEAST_HINTS;
    while (hints < 8 * count && hints < MOST_HINTS)
        hints *= 2;
    bool ordered = many && ways <= AS_TAGS_ORDERED;
    *tags = (struct as_tags){
        .keys = as_alloc_apart(count + MARKS, sizeof *tags->keys),
        .hints = as_alloc_array(hints, sizeof *tags->hints),
        .stamps = ordered ? NULL : as_alloc_array(count, sizeof *tags->stamps),
        .entries = as_alloc_array(count, sizeof *tags->entries),
        .flags = as_alloc_array(count, sizeof *tags->flags),
        .set_mask = sets - 1,
        .hint_mask = hints - 1,
        .ways = ways,
        .set_bytes = (uint32_t)offsetof(struct as_set, marks) + (ways + MARKS - 1) / MARKS * MARKS,
    };
    tags->sets = as_alloc_apart(sets, tags->set_bytes);
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
    *tags = (struct as_tags){0};
}

/* Numbers of one set differ in the upper bits. */
static inline uint8_t mark_of(uint64_t number)
{
    return (uint8_t)((number * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - MARK_BITS));
}

/* The top bit of each byte that is 0. */
static inline uint64_t find_zeros(uint64_t bytes)
{
    const uint64_t low = each_byte * 0x7f;
    return ~(((bytes & low) + low) | bytes | low);
}

/* Of eight ways, the first of which has this slot. What looks like a way behind the last one is in another set, or behind
 * them all, where as_tags_init left room: its key is another one. */
static inline uint32_t search_eight(const struct as_tags *tags, const uint8_t *marks, uint32_t slot, uint64_t number)
{
    uint64_t eight;
    memcpy(&eight, marks, sizeof eight);
    for (uint64_t found = find_zeros(eight ^ mark_of(number) * each_byte); found; found &= found - 1) {
        uint32_t at = slot + (uint32_t)__builtin_ctzll(found) / MARK_BITS;
        if (__builtin_expect(tags->keys[at] == number + 1, 1))
            return at;
    }
    return AS_TAGS_NONE;
}

static __attribute__((noinline)) uint32_t search_all(const struct as_tags *tags, const uint8_t *marks, uint32_t first,
                                                     uint64_t number)
{
    uint32_t slot = AS_TAGS_NONE;
    for (uint32_t way = 0; way < tags->ways && slot == AS_TAGS_NONE; way += MARKS)
        slot = search_eight(tags, marks + way, first + way, number);
    return slot;
}

uint32_t as_tags_search(const struct as_tags *tags, uint64_t number)
{
    const uint8_t *marks = as_tags_set(tags, number)->marks;
    uint32_t first = (uint32_t)(number & tags->set_mask) * tags->ways;
    return tags->ways <= MARKS ? search_eight(tags, marks, first, number) : search_all(tags, marks, first, number);
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

uint32_t as_tags_victim(const struct as_tags *tags, uint64_t number)
{
    uint32_t first = (uint32_t)(number & tags->set_mask) * tags->ways;
    if (!tags->stamps) /* empty ones are the oldest */
        return first + (uint32_t)(as_tags_set(tags, number)->order >> (tags->ways - 1) * ORDER_BITS & 15);
    uint32_t hint = *as_tags_hint(tags, number);
    if (hint - first < tags->ways && !tags->keys[hint]) /* where it was before it was dropped, as a rule */
        return hint;
    return first + (uint16_t)(find_least(tags->stamps + first, tags->ways) - first);
}

/* How far up in the order a way is, in bits. It is in it: the lowest zero of this is no borrow's. */
static inline uint32_t place_of(uint64_t order, uint64_t way)
{
    uint64_t other = order ^ way * each_order;
    return (uint32_t)__builtin_ctzll((other - each_order) & ~other & each_order << (ORDER_BITS - 1)) & ~3u;
}

void as_tags_make_youngest(struct as_tags *tags, uint32_t slot, uint64_t number)
{
    struct as_set *set = as_tags_set(tags, number);
    uint64_t way = slot - (uint32_t)(number & tags->set_mask) * tags->ways, order = set->order;
    uint32_t place = place_of(order, way);
    uint64_t below = (UINT64_C(1) << place) - 1, above = ~below & ~(UINT64_C(15) << place);
    set->order = (order & above) | (order & below) << ORDER_BITS | way;
}

static void make_oldest(const struct as_tags *tags, struct as_set *set, uint64_t way)
{
    uint64_t order = set->order, below = (UINT64_C(1) << place_of(order, way)) - 1;
    set->order = (order & below) | (order >> ORDER_BITS & ~below) | way << (tags->ways - 1) * ORDER_BITS;
}

struct as_entry *as_tags_put(struct as_tags *tags, uint32_t slot, uint64_t number)
{
    tags->keys[slot] = number + 1;
    tags->entries[slot] = (struct as_entry){.key = number + 1};
    tags->flags[slot] = 0;
    as_tags_set(tags, number)->marks[slot - (uint32_t)(number & tags->set_mask) * tags->ways] = mark_of(number);
    *as_tags_hint(tags, number) = slot;
    as_tags_use(tags, slot, number);
    return &tags->entries[slot];
}

void as_tags_drop(struct as_tags *tags, uint32_t slot, uint64_t number)
{
    uint32_t way = slot - (uint32_t)(number & tags->set_mask) * tags->ways;
    struct as_set *set = as_tags_set(tags, number);
    tags->keys[slot] = 0;
    tags->entries[slot].key = 0;
    tags->flags[slot] = 0;
    set->marks[way] = 0;
    if (tags->stamps)
        tags->stamps[slot] = (uint16_t)slot;
    else
        make_oldest(tags, set, way);
}
