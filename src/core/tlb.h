/* Translation as times: instruction and data TLBs, behind them one L2 TLB and the page walker.
 *
 * A page that no TLB has is walked for: `walk_levels` accesses, each after the one before it, through the caches from
 * L2 down, `walkers` walks at a time. Page-table entries have made-up addresses of their own (8 bytes for each page,
 * above that for each table of pages …), so they are cached and compete with data as real ones do. A page on its way is
 * present with its cycle, as in the caches: later accesses wait for the same walk.
 *
 * Not modelled: large pages, caches of upper levels in the walker, permissions, accessed and dirty bits.
 */
#ifndef AS_CORE_TLB_H
#define AS_CORE_TLB_H

#include "base/map.h"
#include "core/cache.h"

struct as_tlb {
    struct as_tags tags;
    uint64_t misses; /* without those that waited for a walk under way */
};

void as_tlb_init(struct as_tlb *tlb, const struct as_tlb_machine *sizes);
void as_tlb_free(struct as_tlb *tlb);

enum { AS_WALKER_RECENT = 256 };
struct as_walker {
    struct as_tlb second; /* entries 0: tags.ways is 0 */
    uint32_t second_latency, levels, index_bits, entry_shift;
    struct as_slots walkers;
    struct as_cache *cache; /* where walks go */
    struct as_map *touched; /* pages that were there before or had their fault (as_pages_*); NULL: all are there */
    uint64_t recent[AS_WALKER_RECENT]; /* pages, + 1, that warming found touched: it need not look again */
    uint64_t walks, accesses, faults;
};

/* A set of pages: 64 neighbours are a value of the map, so that those of most programs stay in the host's caches. */
static inline bool as_pages_has(const struct as_map *pages, uint64_t page)
{
    const uint64_t *bits = as_map_get(pages, page / 64);
    return bits && *bits >> page % 64 & 1;
}

/* Returns whether it was new. */
static inline bool as_pages_add(struct as_map *pages, uint64_t page)
{
    uint64_t *bits = as_map_put(pages, page / 64), bit = UINT64_C(1) << page % 64;
    bool is_new = !(*bits & bit);
    *bits |= bit;
    return is_new;
}

void as_walker_init(struct as_walker *walker, const struct as_machine *machine, struct as_cache *cache,
                    struct as_map *touched);
void as_walker_free(struct as_walker *walker);

/* What the access does to a page that has not been touched: data raises a fault, once; code pages are always there; a
 * prefetch is refused and leaves the page untouched. */
enum as_touch { AS_TOUCH_DATA, AS_TOUCH_CODE, AS_TOUCH_PREFETCH };

struct as_translation {
    uint64_t done; /* the request's own cycle where the TLB has the page */
    bool missed, fault;
};

struct as_translation as_tlb_translate(struct as_tlb *tlb, struct as_walker *walker, uint64_t cycle, uint64_t page,
                                       enum as_touch touch);

/* A translation that comes soon: the host fetches what it will look at. */
void as_walker_announce(const struct as_walker *walker, uint64_t page);

/* A translation that takes no time and counts nothing: the page is in the TLBs, its table's lines in the caches, and it
 * has had its fault. */
void as_tlb_warm(struct as_tlb *tlb, struct as_walker *walker, uint64_t page, enum as_touch touch);

/* The same where misses cost nothing (`no_miss`: the page is there at once, nothing is walked for) or pages need no
 * fault (`no_fault`). */
struct as_translation as_tlb_translate_ideally(struct as_tlb *tlb, struct as_walker *walker, uint64_t cycle,
                                               uint64_t page, enum as_touch touch, bool no_miss, bool no_fault);

#endif
