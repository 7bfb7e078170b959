/* See btb.h. The way that was used last is tried first: most branches that come back are alone in their set. */
#include "core/btb.h"

#include "base/alloc.h"

#include <stdlib.h>

struct entry {
    uint64_t target;
    uint32_t used; /* time of the last use; 0: empty */
    uint16_t tag;
};

struct as_btb {
    uint32_t sets, ways, set_bits;
    uint32_t clock;
    struct entry *entries; /* set by set */
    uint8_t *latest;       /* way of each set that was used last */
};

struct as_btb *as_btb_new(uint32_t entries, uint32_t ways)
{
    struct as_btb *btb = as_alloc(sizeof *btb);
    btb->ways = ways;
    btb->sets = entries / ways;
    btb->set_bits = (uint32_t)__builtin_ctz(btb->sets);
    btb->entries = as_alloc_array(entries, sizeof *btb->entries);
    btb->latest = as_alloc_array(btb->sets, 1);
    return btb;
}

void as_btb_free(struct as_btb *btb)
{
    if (!btb)
        return;
    free(btb->entries);
    free(btb->latest);
    free(btb);
}

/* Two-byte slots: RISC-V instructions are aligned to them, x86 branches are no shorter. */
static inline uint32_t set_of(const struct as_btb *btb, uint64_t address)
{
    return (uint32_t)(address >> 1) & (btb->sets - 1);
}

static inline uint16_t tag_of(const struct as_btb *btb, uint64_t address)
{
    uint64_t above = address >> 1 >> btb->set_bits;
    return (uint16_t)(above ^ above >> 16 ^ above >> 32);
}

static struct entry *find(const struct as_btb *btb, uint32_t set, uint16_t tag)
{
    struct entry *entries = &btb->entries[(size_t)set * btb->ways];
    struct entry *latest = &entries[btb->latest[set]];
    if (latest->tag == tag && latest->used)
        return latest;
    for (uint32_t way = 0; way < btb->ways; way++)
        if (entries[way].tag == tag && entries[way].used)
            return &entries[way];
    return NULL;
}

static struct entry *oldest(const struct as_btb *btb, uint32_t set)
{
    struct entry *entries = &btb->entries[(size_t)set * btb->ways], *found = entries;
    for (uint32_t way = 1; way < btb->ways; way++)
        if (entries[way].used < found->used)
            found = &entries[way];
    return found;
}

/* After four thousand million uses the order of old entries is forgotten once. */
static uint32_t tick(struct as_btb *btb)
{
    if (++btb->clock != 0)
        return btb->clock;
    for (size_t i = 0; i < (size_t)btb->sets * btb->ways; i++)
        btb->entries[i].used = btb->entries[i].used != 0;
    return btb->clock = 2;
}

uint64_t as_btb_look(const struct as_btb *btb, uint64_t address)
{
    const struct entry *entry = find(btb, set_of(btb, address), tag_of(btb, address));
    return entry ? entry->target : 0;
}

uint64_t as_btb_use(struct as_btb *btb, uint64_t address, uint64_t target)
{
    uint32_t set = set_of(btb, address);
    uint16_t tag = tag_of(btb, address);
    struct entry *entry = find(btb, set, tag);
    uint64_t before = entry ? entry->target : 0;
    if (!entry)
        entry = oldest(btb, set);
    *entry = (struct entry){.target = target, .used = tick(btb), .tag = tag};
    btb->latest[set] = (uint8_t)(entry - &btb->entries[(size_t)set * btb->ways]);
    return before;
}

uint64_t as_btb_bits(const struct as_btb *btb)
{
    return (uint64_t)btb->sets * btb->ways * (16 + 32 + 2);
}
