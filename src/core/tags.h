/* A set-associative array of numbers (line or page numbers) with true LRU, for caches and TLBs.
 *
 * An entry that is on its way is present with the cycle at which it arrives (`ready`) and the time that fetching it
 * took
 * (`latency`). `hints` remembers for some bits of a number the slot where the last number with those bits was found:
 * nearly every hit is one look there, whatever the number of ways. Two groups of bits are folded: stack, heap and
 * libraries often have the same low bits.
 *
 * The tags of a last-level cache are megabytes, and where a program misses there, so does the host in its own caches. So
 * what decides about a request is small and lies together (struct as_set): a byte of each number in the set, which shows
 * that a number is absent without a look at the keys, and which way is the oldest. Keys and entries of such caches are
 * read seldom, mostly written; the host does not wait for that.
 */
#ifndef AS_CORE_TAGS_H
#define AS_CORE_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct as_entry {
    /* As in as_tags.keys: who has a hint looks here, who searches looks there. 0 while a prefetched line waits for its
     * first use, which is not to be taken for a plain hit. */
    uint64_t key;
    uint64_t ready;
    uint32_t latency; /* cycles from the request that brought it to `ready` */
    uint8_t source;   /* enum as_source, caches only */
    bool owned;       /* L1D: the core may write it without asking (coherence.c) */
};

enum as_tags_flag {
    AS_TAGS_DIRTY = 1,
    AS_TAGS_PREFETCHED = 2,
    AS_TAGS_WRITTEN = 4 /* below L1: as_cache.written may have something of it; else it has nothing */
};

struct as_set {
    uint64_t order;   /* where LRU is kept so: ways, four bits each, the youngest lowest */
    uint64_t latest;  /* caches: none of its entries arrives later */
    uint8_t marks[8]; /* of each way, eight at a time, as many as there are: a hash of its number */
};

struct as_tags {
    uint64_t *keys; /* number + 1; 0: empty */
    uint32_t *hints;
    /* When a slot was last used, 0: never, and below that 16 bits of its number, so that the least of them says which it is.
     * NULL: as_set.order says it. */
    uint64_t *stamps;
    struct as_entry *entries;
    uint8_t *flags; /* enum as_tags_flag, caches only */
    uint8_t *sets;  /* struct as_set, each of `set_bytes` */
    uint64_t set_mask, hint_mask, clock;
    uint64_t order_mask; /* the bits of as_set.order that are used */
    uint32_t ways, set_bytes;
    /* Tags of one set, which is a large one then: the stamps of all slots as they were noted, the oldest first, as a ring
     * from `old_first` on. A use makes a stamp younger than it was noted: while the first is as it was, it is the oldest.
     * 0 slots where as_tags_drop has made one older. */
    uint64_t *old;
    uint32_t old_first, old_mask, n_old;
};

enum { AS_TAGS_NONE = UINT32_MAX, AS_TAGS_FOLD = 11, AS_TAGS_ORDERED = 16, AS_TAGS_TICK = 1 << 16 };
enum { AS_TAGS_ORDER_BITS = 4, AS_TAGS_MARK_BITS = 8, AS_TAGS_MARKS = 8 };

/* `sets` is a power of two. `many`: misses are as common as hits, so that finding the oldest has to be quick, and not
 * noting a use. */
void as_tags_init(struct as_tags *tags, uint32_t sets, uint32_t ways, bool many);
void as_tags_free(struct as_tags *tags);

/* The slot for a number that is absent: an empty one or the least recently used. It still holds what was there. */
uint32_t as_tags_victim(struct as_tags *tags, uint64_t number);
/* The number leaves its slot. */
void as_tags_drop(struct as_tags *tags, uint32_t slot, uint64_t number);

static inline uint32_t *as_tags_hint(const struct as_tags *tags, uint64_t number)
{
    return &tags->hints[(number ^ number >> AS_TAGS_FOLD) & tags->hint_mask];
}

static inline struct as_set *as_tags_set(const struct as_tags *tags, uint64_t number)
{
    return (struct as_set *)(tags->sets + (size_t)(number & tags->set_mask) * tags->set_bytes);
}

static inline uint32_t as_tags_first(const struct as_tags *tags, uint64_t number)
{
    return (uint32_t)(number & tags->set_mask) * tags->ways;
}

/* ---- finding ---- */

/* Numbers of one set differ in the upper bits. */
static inline uint8_t as_tags_mark(uint64_t number)
{
    return (uint8_t)((number * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - AS_TAGS_MARK_BITS));
}

/* Of eight ways, the first of which has this slot. What looks like a way behind the last one is in another set, or behind
 * them all, where as_tags_init left room: its key is another one. */
static inline uint32_t as_tags_search_eight(const struct as_tags *tags, const uint8_t *marks, uint32_t slot,
                                            uint64_t number)
{
    const uint64_t each = UINT64_C(0x0101010101010101), low = each * 0x7f;
    uint64_t eight;
    memcpy(&eight, marks, sizeof eight);
    eight ^= as_tags_mark(number) * each;
    uint64_t found = ~(((eight & low) + low) | eight | low); /* the top bit of each byte that is 0 */
    for (; found; found &= found - 1) {
        uint32_t at = slot + (uint32_t)__builtin_ctzll(found) / AS_TAGS_MARK_BITS;
        if (__builtin_expect(tags->keys[at] == number + 1, 1))
            return at;
    }
    return AS_TAGS_NONE;
}

/* The slot that holds a number, or AS_TAGS_NONE: looks through the ways. */
static inline uint32_t as_tags_search(const struct as_tags *tags, uint64_t number)
{
    const uint8_t *marks = as_tags_set(tags, number)->marks;
    uint32_t first = as_tags_first(tags, number), slot = as_tags_search_eight(tags, marks, first, number);
    for (uint32_t way = AS_TAGS_MARKS; way < tags->ways && slot == AS_TAGS_NONE; way += AS_TAGS_MARKS)
        slot = as_tags_search_eight(tags, marks + way, first + way, number);
    return slot;
}

/* The host fetches what a search for the number, or a victim for it, looks at. */
static inline void as_tags_announce(const struct as_tags *tags, uint64_t number)
{
    enum { KEYS_IN_LINE = 8 };
    uint32_t first = as_tags_first(tags, number);
    __builtin_prefetch(as_tags_set(tags, number));
    __builtin_prefetch(&tags->flags[first]);
    for (uint32_t way = 0; way < tags->ways; way += KEYS_IN_LINE)
        __builtin_prefetch(&tags->keys[first + way]);
}

/* The same, with a look at the hint first. */
static inline uint32_t as_tags_find(struct as_tags *tags, uint64_t number)
{
    uint32_t *hint = as_tags_hint(tags, number);
    if (tags->entries[*hint].key == number + 1)
        return *hint;
    uint32_t slot = as_tags_search(tags, number);
    if (slot != AS_TAGS_NONE)
        *hint = slot;
    return slot;
}

/* ---- LRU ---- */

/* How far up in the order a way is, in bits. It is in it: the lowest zero of this is no borrow's. */
static inline uint32_t as_tags_place_of(uint64_t order, uint64_t way)
{
    const uint64_t each = UINT64_C(0x1111111111111111);
    uint64_t other = order ^ way * each;
    return (uint32_t)__builtin_ctzll((other - each) & ~other & each << (AS_TAGS_ORDER_BITS - 1)) & ~3u;
}

/* The number in a slot is used: for tags that have stamps. */
static inline void as_tags_touch(struct as_tags *tags, uint32_t slot)
{
    tags->stamps[slot] = (tags->clock += AS_TAGS_TICK) | (uint16_t)slot;
}

/* … where LRU is an order. */
static inline void as_tags_make_youngest(struct as_set *set, uint64_t way)
{
    uint64_t order = set->order;
    uint32_t place = as_tags_place_of(order, way);
    uint64_t below = (UINT64_C(1) << place) - 1, above = ~below & ~(UINT64_C(15) << place);
    set->order = (order & above) | (order & below) << AS_TAGS_ORDER_BITS | way;
}

/* … for all. */
static inline void as_tags_use(struct as_tags *tags, uint32_t slot, uint64_t number)
{
    if (tags->stamps)
        as_tags_touch(tags, slot);
    else
        as_tags_make_youngest(as_tags_set(tags, number), slot - as_tags_first(tags, number));
}

/* What a slot gets with its number: as in as_entry. Two words, which stay in registers on their way: an entry that is made of
 * parts and copied as a whole makes the host wait until all that it has written before has reached its caches. */
struct as_fetched {
    uint64_t ready;
    uint32_t latency, source;
};

/* Puts a number into the slot that as_tags_victim has just found for it. */
static inline void as_tags_put(struct as_tags *tags, uint32_t slot, uint64_t number, struct as_fetched fetched)
{
    struct as_set *set = as_tags_set(tags, number);
    struct as_entry *entry = &tags->entries[slot];
    uint32_t way = slot - as_tags_first(tags, number);
    tags->keys[slot] = number + 1;
    entry->key = number + 1;
    entry->ready = fetched.ready;
    entry->latency = fetched.latency;
    entry->source = (uint8_t)fetched.source;
    entry->owned = false;
    tags->flags[slot] = 0;
    set->marks[way] = as_tags_mark(number);
    *as_tags_hint(tags, number) = slot;
    if (tags->stamps)
        as_tags_touch(tags, slot);
    else /* it was the oldest */
        set->order = (set->order << AS_TAGS_ORDER_BITS | way) & tags->order_mask;
}

/* When an access at `cycle` has what the entry holds, `hit` cycles after it at best. One from before the request that
 * brought the entry (it comes later in program order, but is earlier in time) would have made that request itself: it
 * takes as long as that one took, and the entry arrives then. */
static inline uint64_t as_entry_arrival(struct as_entry *entry, uint64_t cycle, uint32_t hit)
{
    if (entry->ready <= cycle + hit)
        return cycle + hit;
    if (cycle + entry->latency < entry->ready)
        entry->ready = cycle + entry->latency;
    return entry->ready;
}

#endif
