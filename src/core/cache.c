/* Caches below their hit path (cache.h has the model). */
#include "core/cache.h"

#include "base/alloc.h"

#include <assert.h>
#include <stdlib.h>

void as_cache_init(struct as_cache *cache, enum as_source level, const struct as_cache_machine *sizes,
                   const struct as_machine *machine)
{
    uint32_t sets = sizes->size / (sizes->ways * machine->memory.line);
    assert(sets > 0 && (sets & (sets - 1)) == 0); /* as_machine_validate */
    *cache = (struct as_cache){
        .latency = sizes->latency,
        .hit = sizes->latency,
        .level = (uint8_t)level,
        .next_line = sizes->next_line,
        .adjacent = sizes->adjacent,
        .page_mask = machine->memory.page / machine->memory.line - 1,
    };
    as_tags_init(&cache->tags, sets, sizes->ways, level != AS_SOURCE_L1);
    as_slots_init(&cache->mshrs, sizes->mshrs);
    as_banks_init(&cache->banks, sizes->banks);
}

void as_cache_free(struct as_cache *cache)
{
    as_tags_free(&cache->tags);
    as_slots_free(&cache->mshrs);
    free(cache->written);
}

void as_cache_keep_written(struct as_cache *cache)
{
    size_t n = (size_t)(cache->tags.set_mask + 1) * cache->tags.ways;
    cache->written = as_alloc_array(n, sizeof *cache->written);
}

static uint32_t place(struct as_cache *cache, uint64_t line, struct as_fetched fetched);

void as_cache_put(struct as_cache *cache, uint64_t line, uint64_t arrival, bool dirty)
{
    uint32_t slot = as_tags_search(&cache->tags, line);
    if (slot == AS_TAGS_NONE)
        slot = place(cache, line, (struct as_fetched){.ready = arrival, .source = cache->level});
    cache->tags.flags[slot] |= dirty ? AS_TAGS_DIRTY : 0;
}

/* What was written to the line in slot `from` goes with it. */
static void hand_down(const struct as_cache *cache, uint32_t from, uint64_t line)
{
    struct as_cache *next = cache->next;
    if (!cache->written || !next || !next->written)
        return;
    uint32_t slot = as_tags_search(&next->tags, line);
    if (slot == AS_TAGS_NONE)
        return;
    next->written[slot] = cache->written[from];
    next->tags.flags[slot] |= AS_TAGS_WRITTEN;
}

static void write_back(struct as_cache *cache, uint32_t from, uint64_t line, uint64_t cycle)
{
    cache->writebacks++;
    if (!cache->next) {
        as_dram_write(cache->dram, cycle);
        return;
    }
    as_cache_put(cache->next, line, cycle, true);
    hand_down(cache, from, line);
}

/* Makes room for a line that is absent. */
static uint32_t place(struct as_cache *cache, uint64_t line, struct as_fetched fetched)
{
    struct as_tags *tags = &cache->tags;
    struct as_set *set = as_tags_set(tags, line);
    uint32_t slot = as_tags_victim(tags, line);
    if (tags->flags[slot] & AS_TAGS_DIRTY)
        write_back(cache, slot, tags->keys[slot] - 1, fetched.ready);
    as_tags_put(tags, slot, line, fetched);
    set->latest = fetched.ready > set->latest ? fetched.ready : set->latest;
    if (cache->written)
        cache->written[slot] = (struct as_written){0};
    return slot;
}

/* What was written to a line that the level below has, and has just been asked for. */
static void hand_up(struct as_cache *cache, uint32_t to, uint64_t line)
{
    const struct as_cache *next = cache->next;
    uint32_t slot = next->tags.keys[next->found] == line + 1 ? next->found : as_tags_search(&next->tags, line);
    if (slot != AS_TAGS_NONE && next->tags.flags[slot] & AS_TAGS_WRITTEN)
        cache->written[to] = next->written[slot];
}

/* A line that was fetched before it was asked for: only as_cache_hit sees it, until its first use. */
static void hide_prefetched(struct as_tags *tags, uint32_t slot)
{
    tags->flags[slot] |= AS_TAGS_PREFETCHED;
    tags->entries[slot].key = 0;
}

static void show_prefetched(struct as_tags *tags, uint32_t slot, uint64_t line)
{
    tags->flags[slot] &= (uint8_t)~AS_TAGS_PREFETCHED;
    tags->entries[slot].key = line + 1;
}

/* Not inline, so that what it returns stays whole: put together on the stack from parts, it made the host wait for all stores before
 * it whenever it was read. */
static __attribute__((noinline)) struct as_fill ask_below(struct as_cache *cache, uint64_t cycle, uint64_t line,
                                                          enum as_request kind)
{
    if (cache->port)
        return cache->port->request(cache->port, cycle, line, kind);
    if (cache->next)
        return as_cache_request(cache->next, cycle, line, kind);
    return (struct as_fill){.done = as_dram_read(cache->dram, cycle, line), .source = AS_SOURCE_DRAM};
}

/* Asks the level below at `cycle`; an MSHR is busy until the line is there. `asked` is the request's own cycle. */
static struct as_fill fetch(struct as_cache *cache, uint64_t asked, uint64_t cycle, uint64_t line, enum as_request kind)
{
    struct as_fill fill = ask_below(cache, cycle, line, kind);
    as_slots_hold(&cache->mshrs, cycle, fill.done);
    if (cache->stays)
        as_stay_log_add_late(cache->stays, cache->resource, cycle, fill.done);
    uint32_t slot =
        place(cache, line,
              (struct as_fetched){.ready = fill.done, .latency = (uint32_t)(fill.done - asked), .source = fill.source});
    if (kind == AS_REQUEST_PREFETCH)
        hide_prefetched(&cache->tags, slot);
    if (fill.source == AS_SOURCE_L2 && cache->written)
        hand_up(cache, slot, line);
    return fill;
}

void as_cache_prefetch(struct as_cache *cache, uint64_t cycle, uint64_t line)
{
    cache->prefetches++;
    fetch(cache, cycle - cache->latency, as_slots_admit(&cache->mshrs, cycle), line, AS_REQUEST_PREFETCH);
}

static void prefetch_behind(struct as_cache *cache, uint64_t cycle, uint64_t line)
{
    line++;
    if ((line & cache->page_mask) != 0 && as_tags_search(&cache->tags, line) == AS_TAGS_NONE &&
        as_slots_has_room(&cache->mshrs, cycle) && !(cache->guard && cache->guard->is_taken(cache->guard, line)))
        as_cache_prefetch(cache, cycle, line);
}

static void prefetch_pair(struct as_cache *cache, uint64_t cycle, uint64_t line)
{
    line ^= 1;
    if (cache->page_mask && as_tags_search(&cache->tags, line) == AS_TAGS_NONE &&
        as_slots_has_room(&cache->mshrs, cycle))
        as_cache_prefetch(cache, cycle, line);
}

struct as_fill as_cache_hit(struct as_cache *cache, uint32_t slot, uint64_t cycle, uint64_t line, enum as_request kind)
{
    struct as_entry *entry = &cache->tags.entries[slot];
    bool waits = as_tags_set(&cache->tags, line)->latest > cycle + cache->hit && entry->ready > cycle + cache->hit;
    struct as_fill fill = {.done = cycle + cache->hit, .source = cache->level};
    if (waits) {
        fill.done = as_entry_arrival(entry, cycle, cache->hit);
        fill.source = entry->source;
    }
    cache->merges += waits;
    as_tags_use(&cache->tags, slot, line);
    if (kind == AS_REQUEST_DEMAND && cache->tags.flags[slot] & AS_TAGS_PREFETCHED) {
        show_prefetched(&cache->tags, slot, line);
        fill.prefetched = true;
        if (cache->next_line)
            prefetch_behind(cache, cycle + cache->latency, line);
    }
    return fill;
}

struct as_fill as_cache_miss(struct as_cache *cache, uint64_t cycle, uint64_t line, enum as_request kind,
                             uint64_t *accepted)
{
    cache->misses++;
    *accepted = as_slots_admit(&cache->mshrs, cycle + cache->latency);
    struct as_fill fill = fetch(cache, cycle, *accepted, line, kind);
    if (cache->next_line && kind == AS_REQUEST_DEMAND)
        prefetch_behind(cache, *accepted, line);
    if (cache->adjacent && kind == AS_REQUEST_DEMAND)
        prefetch_pair(cache, *accepted, line);
    return fill;
}

struct as_fill as_cache_miss_ideally(struct as_cache *cache, uint64_t cycle, uint64_t line)
{
    struct as_fill fill = {.done = cycle + cache->hit, .source = cache->level};
    place(cache, line, (struct as_fetched){.ready = fill.done, .source = cache->level});
    if (cache->next_line)
        prefetch_behind(cache, cycle + cache->latency, line);
    if (cache->adjacent)
        prefetch_pair(cache, cycle + cache->latency, line);
    return fill;
}

struct as_fill as_cache_request(struct as_cache *cache, uint64_t cycle, uint64_t line, enum as_request kind)
{
    cache->accesses++;
    if (cache->banks.limited)
        cycle = as_banks_take(&cache->banks, cycle, line);
    uint32_t slot = as_tags_search(&cache->tags, line);
    if (slot != AS_TAGS_NONE) {
        cache->found = slot;
        return as_cache_hit(cache, slot, cycle, line, kind);
    }
    if (cache->perfect && kind == AS_REQUEST_DEMAND)
        return as_cache_miss_ideally(cache, cycle, line);
    uint64_t accepted;
    return as_cache_miss(cache, cycle, line, kind, &accepted);
}

/* ---- without times ---- */

static uint32_t warm_place(struct as_cache *cache, uint64_t line)
{
    struct as_tags *tags = &cache->tags;
    uint32_t slot = as_tags_victim(tags, line);
    if (tags->flags[slot] & AS_TAGS_DIRTY && cache->next) {
        uint64_t old = tags->keys[slot] - 1;
        uint32_t below = as_tags_search(&cache->next->tags, old);
        if (below == AS_TAGS_NONE)
            below = warm_place(cache->next, old);
        cache->next->tags.flags[below] |= AS_TAGS_DIRTY;
        hand_down(cache, slot, old);
    }
    as_tags_put(tags, slot, line, (struct as_fetched){.source = cache->level});
    if (cache->written)
        cache->written[slot] = (struct as_written){0};
    return slot;
}

/* Without times a line that another core owns stays there, whichever prefetcher asks. */
static void warm_prefetch(struct as_cache *cache, uint64_t line)
{
    if (as_tags_search(&cache->tags, line) == AS_TAGS_NONE &&
        !(cache->guard && cache->guard->is_taken(cache->guard, line)))
        as_cache_warm(cache, line, AS_REQUEST_PREFETCH);
}

void as_cache_warm(struct as_cache *cache, uint64_t line, enum as_request kind)
{
    uint32_t slot = as_tags_search(&cache->tags, line);
    bool follows = kind == AS_REQUEST_DEMAND, misses = slot == AS_TAGS_NONE;
    if (misses) {
        if (cache->next)
            as_cache_warm(cache->next, line, kind);
        else if (cache->dram)
            as_dram_warm(cache->dram, line);
        if (cache->port)
            cache->port->enter(cache->port, line);
        slot = warm_place(cache, line);
        if (kind == AS_REQUEST_PREFETCH)
            hide_prefetched(&cache->tags, slot);
    } else {
        as_tags_use(&cache->tags, slot, line);
        follows = follows && cache->tags.flags[slot] & AS_TAGS_PREFETCHED;
        if (follows)
            show_prefetched(&cache->tags, slot, line);
    }
    if (follows && cache->next_line && ((line + 1) & cache->page_mask) != 0)
        warm_prefetch(cache, line + 1);
    if (follows && misses && cache->adjacent && cache->page_mask)
        warm_prefetch(cache, line ^ 1);
}

bool as_cache_drop(struct as_cache *cache, uint64_t line)
{
    uint32_t slot = as_tags_find(&cache->tags, line);
    if (slot == AS_TAGS_NONE)
        return false;
    bool dirty = cache->tags.flags[slot] & AS_TAGS_DIRTY;
    as_tags_drop(&cache->tags, slot, line);
    return dirty;
}
