/* TLBs and the page walker (tlb.h has the model). */
#include "core/tlb.h"

/* Page-table lines lie above every line of a program (memory.c): the bit, then the level, then the index. */
enum { TABLE_BIT = 62, LEVEL_BIT = 58 };

static void init_tags(struct as_tags *tags, const struct as_tlb_machine *sizes)
{
    as_tags_init(tags, sizes->entries / sizes->ways, sizes->ways, false);
}

void as_tlb_init(struct as_tlb *tlb, const struct as_tlb_machine *sizes)
{
    *tlb = (struct as_tlb){0};
    init_tags(&tlb->tags, sizes);
}

void as_tlb_free(struct as_tlb *tlb)
{
    as_tags_free(&tlb->tags);
}

void as_walker_init(struct as_walker *walker, const struct as_machine *machine, struct as_cache *cache,
                    struct as_map *touched)
{
    *walker = (struct as_walker){
        .second_latency = machine->memory.l2tlb.entries ? machine->memory.l2tlb.latency : 0,
        .levels = machine->memory.walk_levels,
        .index_bits = (uint32_t)__builtin_ctz(machine->memory.page) - 3,
        .entry_shift = (uint32_t)__builtin_ctz(machine->memory.line) - 3,
        .cache = cache,
        .touched = machine->memory.fault_cycles ? touched : NULL,
    };
    if (machine->memory.l2tlb.entries)
        init_tags(&walker->second.tags, &machine->memory.l2tlb);
    as_slots_init(&walker->walkers, machine->memory.walkers);
}

void as_walker_free(struct as_walker *walker)
{
    as_tlb_free(&walker->second);
    as_slots_free(&walker->walkers);
}

static uint64_t table_line(const struct as_walker *walker, uint32_t level, uint64_t page)
{
    uint32_t shift = level * walker->index_bits + walker->entry_shift;
    return 1ull << TABLE_BIT | (uint64_t)level << LEVEL_BIT | page >> (shift < 63 ? shift : 63);
}

static uint64_t walk(struct as_walker *walker, uint64_t cycle, uint64_t page)
{
    walker->walks++;
    uint64_t start = as_slots_admit(&walker->walkers, cycle), at = start;
    for (uint32_t level = walker->levels; level-- > 0;) {
        walker->accesses++;
        at = as_cache_request(walker->cache, at, table_line(walker, level, page), AS_REQUEST_WALK).done;
    }
    as_slots_hold(&walker->walkers, start, at);
    return at;
}

/* Whether this access has to fault; it then counts as handled. */
static bool faults(struct as_walker *walker, uint64_t page, enum as_touch touch)
{
    if (!walker->touched || touch == AS_TOUCH_CODE)
        return false;
    if (touch == AS_TOUCH_PREFETCH)
        return !as_pages_has(walker->touched, page);
    bool first = as_pages_add(walker->touched, page);
    walker->faults += first;
    return first;
}

static void insert(struct as_tags *tags, uint64_t page, uint64_t cycle, uint64_t done)
{
    as_tags_put(tags, as_tags_victim(tags, page), page,
                (struct as_fetched){.ready = done, .latency = (uint32_t)(done - cycle)});
}

static struct as_translation translate_second(struct as_walker *walker, uint64_t cycle, uint64_t page,
                                              enum as_touch touch)
{
    struct as_tags *tags = &walker->second.tags;
    struct as_translation translation = {.missed = true};
    uint32_t slot = tags->ways ? as_tags_search(tags, page) : AS_TAGS_NONE;
    if (slot != AS_TAGS_NONE) {
        as_tags_touch(tags, slot);
        translation.done = as_entry_arrival(&tags->entries[slot], cycle, walker->second_latency);
        return translation;
    }
    walker->second.misses += tags->ways != 0;
    translation.done = walk(walker, cycle + walker->second_latency, page);
    translation.fault = faults(walker, page, touch);
    if (!translation.fault && tags->ways)
        insert(tags, page, cycle, translation.done);
    return translation;
}

struct as_translation as_tlb_translate(struct as_tlb *tlb, struct as_walker *walker, uint64_t cycle, uint64_t page,
                                       enum as_touch touch)
{
    uint32_t slot = as_tags_find(&tlb->tags, page);
    if (slot != AS_TAGS_NONE) {
        struct as_entry *entry = &tlb->tags.entries[slot];
        as_tags_touch(&tlb->tags, slot);
        uint64_t done = as_entry_arrival(entry, cycle, 0);
        return (struct as_translation){.done = done, .missed = done != cycle};
    }
    tlb->misses++;
    struct as_translation translation = translate_second(walker, cycle, page, touch);
    if (!translation.fault)
        insert(&tlb->tags, page, cycle, translation.done);
    return translation;
}

static struct as_translation translate_at_once(struct as_tlb *tlb, struct as_walker *walker, uint64_t cycle,
                                               uint64_t page, enum as_touch touch)
{
    struct as_translation translation = {.done = cycle};
    uint32_t slot = as_tags_find(&tlb->tags, page);
    if (slot != AS_TAGS_NONE) {
        as_tags_touch(&tlb->tags, slot);
        return translation;
    }
    translation.fault = faults(walker, page, touch);
    if (!translation.fault)
        insert(&tlb->tags, page, cycle, cycle);
    return translation;
}

struct as_translation as_tlb_translate_ideally(struct as_tlb *tlb, struct as_walker *walker, uint64_t cycle,
                                               uint64_t page, enum as_touch touch, bool no_miss, bool no_fault)
{
    struct as_translation translation = no_miss ? translate_at_once(tlb, walker, cycle, page, touch)
                                                : as_tlb_translate(tlb, walker, cycle, page, touch);
    if (translation.fault && no_fault && touch == AS_TOUCH_DATA) { /* the page counts as handled now */
        translation.fault = false;
        insert(&tlb->tags, page, cycle, translation.done);
    }
    return translation;
}

void as_walker_announce(const struct as_walker *walker, uint64_t page)
{
    if (walker->second.tags.ways)
        as_tags_announce(&walker->second.tags, page);
    as_tags_announce(&walker->cache->tags, table_line(walker, 0, page));
}

/* ---- without times ---- */

/* Whether a walk finds the page; it counts as touched then. */
static bool warm_touch(struct as_walker *walker, uint64_t page, enum as_touch touch)
{
    if (!walker->touched || touch == AS_TOUCH_CODE)
        return true;
    if (touch == AS_TOUCH_PREFETCH)
        return as_pages_has(walker->touched, page);
    if (walker->recent[page % AS_WALKER_RECENT] != page + 1) {
        as_pages_add(walker->touched, page);
        walker->recent[page % AS_WALKER_RECENT] = page + 1;
    }
    return true;
}

/* As with times, a page that the second TLB has is not looked at further. Returns whether the page is there. */
static bool warm_second(struct as_walker *walker, uint64_t page, enum as_touch touch)
{
    struct as_tags *tags = &walker->second.tags;
    uint32_t slot = tags->ways ? as_tags_search(tags, page) : AS_TAGS_NONE;
    if (slot != AS_TAGS_NONE) {
        as_tags_touch(tags, slot);
        return true;
    }
    if (!warm_touch(walker, page, touch))
        return false;
    for (uint32_t level = walker->levels; level-- > 0;)
        as_cache_warm(walker->cache, table_line(walker, level, page), AS_REQUEST_WALK);
    if (tags->ways)
        insert(tags, page, 0, 0);
    return true;
}

void as_tlb_warm(struct as_tlb *tlb, struct as_walker *walker, uint64_t page, enum as_touch touch)
{
    uint32_t slot = as_tags_find(&tlb->tags, page);
    if (slot != AS_TAGS_NONE) {
        as_tags_touch(&tlb->tags, slot);
        return;
    }
    if (warm_second(walker, page, touch))
        insert(&tlb->tags, page, 0, 0);
}
