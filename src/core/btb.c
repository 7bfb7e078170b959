/* See btb.h. Tags and targets lie apart, so that a search of a set reads little. The way that was used last is tried
 * first: most branches that come back are alone in their set. */
#include "core/btb.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

typedef uint16_t tag_lanes __attribute__((vector_size(8 * sizeof(uint16_t))));

struct as_btb {
    uint32_t sets, ways, set_bits;
    uint16_t *tags; /* set by set; 0: empty */
    uint64_t *targets;
    uint8_t *latest; /* way of each set that was used last */
    uint8_t *victim; /* … that is filled next */
};

struct as_btb *as_btb_new(uint32_t entries, uint32_t ways)
{
    struct as_btb *btb = as_alloc_apart(1, sizeof *btb);
    btb->ways = ways;
    btb->sets = entries / ways;
    btb->set_bits = (uint32_t)__builtin_ctz(btb->sets);
    btb->tags = as_alloc_apart(entries, sizeof *btb->tags);
    btb->targets = as_alloc_apart(entries, sizeof *btb->targets);
    btb->latest = as_alloc_apart(btb->sets, 1);
    btb->victim = as_alloc_apart(btb->sets, 1);
    return btb;
}

void as_btb_free(struct as_btb *btb)
{
    if (!btb)
        return;
    free(btb->tags);
    free(btb->targets);
    free(btb->latest);
    free(btb->victim);
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
    uint16_t tag = (uint16_t)(above ^ above >> 16 ^ above >> 32);
    return tag ? tag : 1;
}

/* Eight ways at a time where there are so many; the compiler makes what it can of it. */
static inline uint32_t search(const uint16_t *tags, uint32_t ways, uint16_t tag)
{
    uint32_t way = 0;
    for (; way + 8 <= ways; way += 8) {
        tag_lanes some;
        uint64_t equal[2];
        memcpy(&some, &tags[way], sizeof some);
        some = (tag_lanes)(some == tag);
        memcpy(equal, &some, sizeof equal);
        if (equal[0])
            return way + (uint32_t)__builtin_ctzll(equal[0]) / 16;
        if (equal[1])
            return way + 4 + (uint32_t)__builtin_ctzll(equal[1]) / 16;
    }
    while (way < ways && tags[way] != tag)
        way++;
    return way;
}

/* The way that has the tag; `ways` where none has. */
static inline uint32_t find(const struct as_btb *btb, uint32_t set, uint16_t tag)
{
    const uint16_t *tags = &btb->tags[(size_t)set * btb->ways];
    return tags[btb->latest[set]] == tag ? btb->latest[set] : search(tags, btb->ways, tag);
}

/* The ways in turn, except the one that was used last. */
static uint32_t make_room(struct as_btb *btb, uint32_t set)
{
    uint32_t way = btb->victim[set];
    if (way == btb->latest[set] && btb->tags[(size_t)set * btb->ways + way] != 0)
        way = way + 1 < btb->ways ? way + 1 : 0;
    btb->victim[set] = (uint8_t)(way + 1 < btb->ways ? way + 1 : 0);
    return way;
}

uint64_t as_btb_look(const struct as_btb *btb, uint64_t address)
{
    uint32_t set = set_of(btb, address), way = find(btb, set, tag_of(btb, address));
    return way < btb->ways ? btb->targets[(size_t)set * btb->ways + way] : 0;
}

static __attribute__((noinline)) uint64_t replace(struct as_btb *btb, uint32_t set, uint16_t tag, uint64_t target)
{
    uint32_t way = find(btb, set, tag);
    uint64_t before = 0;
    if (way < btb->ways)
        before = btb->targets[(size_t)set * btb->ways + way];
    else
        way = make_room(btb, set);
    btb->tags[(size_t)set * btb->ways + way] = tag;
    btb->targets[(size_t)set * btb->ways + way] = target;
    btb->latest[set] = (uint8_t)way;
    return before;
}

/* As a rule the branch was the last one of its set and goes where it went before: then there is nothing to write. */
uint64_t as_btb_use(struct as_btb *btb, uint64_t address, uint64_t target)
{
    uint32_t set = set_of(btb, address);
    uint16_t tag = tag_of(btb, address);
    size_t last = (size_t)set * btb->ways + btb->latest[set];
    if (btb->tags[last] == tag && btb->targets[last] == target)
        return target;
    return replace(btb, set, tag, target);
}

uint64_t as_btb_bits(const struct as_btb *btb)
{
    return (uint64_t)btb->sets * btb->ways * (16 + 32 + 2);
}
