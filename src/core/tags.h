/* A set-associative array of numbers (line or page numbers) with true LRU, for caches and TLBs.
 *
 * An entry that is on its way is present with the cycle at which it arrives (`ready`) and the time that fetching it
 * took
 * (`latency`). `hints` remembers for some bits of a number the slot where the last number with those bits was found:
 * nearly every hit is one look there, whatever the number of ways. Two groups of bits are folded: stack, heap and
 * libraries often have the same low bits.
 */
#ifndef AS_CORE_TAGS_H
#define AS_CORE_TAGS_H

#include <stdbool.h>
#include <stdint.h>

struct as_entry {
    uint64_t key; /* as in as_tags.keys: who has a hint looks here, who searches looks there */
    uint64_t ready;
    uint32_t latency; /* cycles from the request that brought it to `ready` */
    uint8_t source;   /* enum as_source, caches only */
    bool dirty, prefetched;
    bool owned; /* L1D: the core may write it without asking (coherence.c) */
};

struct as_tags {
    uint64_t *keys; /* number + 1; 0: empty */
    uint32_t *hints;
    uint64_t *stamps; /* of the last use; 0: never */
    struct as_entry *entries;
    uint64_t set_mask, hint_mask, clock;
    uint32_t ways;
};

enum { AS_TAGS_NONE = UINT32_MAX, AS_TAGS_FOLD = 11 };

/* `sets` is a power of two. */
void as_tags_init(struct as_tags *tags, uint32_t sets, uint32_t ways);
void as_tags_free(struct as_tags *tags);

/* The slot that holds a number, or AS_TAGS_NONE: looks through the ways. */
uint32_t as_tags_search(const struct as_tags *tags, uint64_t number);
/* The slot for a number that is absent: an empty one or the least recently used. It still holds what was there. */
uint32_t as_tags_victim(const struct as_tags *tags, uint64_t number);

static inline uint32_t *as_tags_hint(const struct as_tags *tags, uint64_t number)
{
    return &tags->hints[(number ^ number >> AS_TAGS_FOLD) & tags->hint_mask];
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

static inline void as_tags_touch(struct as_tags *tags, uint32_t slot)
{
    tags->stamps[slot] = ++tags->clock;
}

/* Returns its entry, which has nothing but the number. */
static inline struct as_entry *as_tags_put(struct as_tags *tags, uint32_t slot, uint64_t number)
{
    tags->keys[slot] = number + 1;
    tags->entries[slot] = (struct as_entry){.key = number + 1};
    *as_tags_hint(tags, number) = slot;
    as_tags_touch(tags, slot);
    return &tags->entries[slot];
}

static inline void as_tags_drop(struct as_tags *tags, uint32_t slot)
{
    tags->keys[slot] = 0;
    tags->entries[slot].key = 0;
    tags->stamps[slot] = 0;
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
