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
    uint32_t ways, set_bytes;
};

enum { AS_TAGS_NONE = UINT32_MAX, AS_TAGS_FOLD = 11, AS_TAGS_ORDERED = 16, AS_TAGS_TICK = 1 << 16 };

/* `sets` is a power of two. `many`: misses are as common as hits, so that finding the oldest has to be quick, and not
 * noting a use. */
void as_tags_init(struct as_tags *tags, uint32_t sets, uint32_t ways, bool many);
void as_tags_free(struct as_tags *tags);

/* The slot that holds a number, or AS_TAGS_NONE: looks through the ways. */
uint32_t as_tags_search(const struct as_tags *tags, uint64_t number);
/* The slot for a number that is absent: an empty one or the least recently used. It still holds what was there. */
uint32_t as_tags_victim(const struct as_tags *tags, uint64_t number);
/* Puts a number into a slot. Returns its entry, which has nothing but the number. */
struct as_entry *as_tags_put(struct as_tags *tags, uint32_t slot, uint64_t number);
/* The number leaves its slot. */
void as_tags_drop(struct as_tags *tags, uint32_t slot, uint64_t number);
/* as_tags_use where LRU is an order. */
void as_tags_make_youngest(struct as_tags *tags, uint32_t slot, uint64_t number);

static inline uint32_t *as_tags_hint(const struct as_tags *tags, uint64_t number)
{
    return &tags->hints[(number ^ number >> AS_TAGS_FOLD) & tags->hint_mask];
}

static inline struct as_set *as_tags_set(const struct as_tags *tags, uint64_t number)
{
    return (struct as_set *)(tags->sets + (size_t)(number & tags->set_mask) * tags->set_bytes);
}

/* The host fetches what a search for the number, or a victim for it, looks at. */
static inline void as_tags_announce(const struct as_tags *tags, uint64_t number)
{
    enum { KEYS_IN_LINE = 8 };
    uint32_t first = (uint32_t)(number & tags->set_mask) * tags->ways;
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

/* The number in a slot is used: for tags that have stamps. */
static inline void as_tags_touch(struct as_tags *tags, uint32_t slot)
{
    tags->stamps[slot] = (tags->clock += AS_TAGS_TICK) | (uint16_t)slot;
}

/* … for all. */
static inline void as_tags_use(struct as_tags *tags, uint32_t slot, uint64_t number)
{
    if (tags->stamps)
        as_tags_touch(tags, slot);
    else
        as_tags_make_youngest(tags, slot, number);
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
