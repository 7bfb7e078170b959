/* The memory of a core, put together: TLB and L1 on the fast path here, everything behind them in tlb.c and cache.c.
 *
 * Addresses are used as they are, as if virtual memory were mapped to physical memory one to one: the same program
 * gives the same times in every run, and which addresses conflict can be read off the program. The number of the
 * process lies above the address, so processes share nothing. Page tables lie above both (tlb.c).
 *
 * Not modelled: coherence. Every core's private caches hold what that core asked for; drop_copies is the place
 * where other cores' copies are found.
 */
#include "core/memory.h"

#include "base/alloc.h"
#include "core/tlb.h"

#include <stdlib.h>

enum { ADDRESS_BITS = 48, PROCESS_BITS = 12, LONGEST_ACCESS = 1 << 16, BANK_BYTES_SHIFT = 3 };
#define ADDRESS_MASK ((1ull << ADDRESS_BITS) - 1)

struct as_uncore {
    struct as_cache llc;
    struct as_dram dram;
    struct as_map touched; /* data pages of all processes that have been touched */
    struct as_memory **cores;
    size_t n_cores;
};

struct as_memory {
    uint32_t line_shift, page_shift;
    uint32_t core;               /* its number: what coherence will know it by */
    uint64_t line_mask;          /* bytes of a line - 1 */
    uint64_t line_tag, page_tag; /* of the process */
    struct as_uncore *uncore;
    struct as_tlb dtlb, itlb;
    struct as_walker walker;
    bool has_l2;
    uint32_t flush_latency;
    uint32_t ideal; /* enum as_event */
    struct as_cache l1d, l1i, l2;
};

struct as_uncore *as_uncore_new(const struct as_machine *machine)
{
    struct as_uncore *uncore = as_alloc(sizeof *uncore);
    as_dram_init(&uncore->dram, machine);
    as_cache_init(&uncore->llc, AS_SOURCE_LLC, &machine->memory.llc, machine);
    uncore->llc.dram = &uncore->dram;
    return uncore;
}

void as_uncore_free(struct as_uncore *uncore)
{
    if (!uncore)
        return;
    as_cache_free(&uncore->llc);
    as_dram_free(&uncore->dram);
    as_map_free(&uncore->touched);
    free(uncore->cores);
    free(uncore);
}

static void join(struct as_uncore *uncore, struct as_memory *memory)
{
    uncore->cores = as_realloc_array(uncore->cores, uncore->n_cores + 1, sizeof(struct as_memory *));
    uncore->cores[uncore->n_cores++] = memory;
}

static void leave(struct as_uncore *uncore, const struct as_memory *memory)
{
    for (size_t i = 0; i < uncore->n_cores; i++) {
        if (uncore->cores[i] == memory) {
            uncore->cores[i] = uncore->cores[--uncore->n_cores];
            return;
        }
    }
}

struct as_memory *as_memory_new(const struct as_machine *machine, struct as_uncore *uncore, uint32_t core)
{
    struct as_memory *memory = as_alloc(sizeof *memory);
    memory->core = core;
    memory->line_shift = (uint32_t)__builtin_ctz(machine->memory.line);
    memory->page_shift = (uint32_t)__builtin_ctz(machine->memory.page);
    memory->line_mask = machine->memory.line - 1;
    memory->uncore = uncore;
    memory->has_l2 = machine->memory.l2.size != 0;
    if (memory->has_l2)
        as_cache_init(&memory->l2, AS_SOURCE_L2, &machine->memory.l2, machine);
    memory->l2.next = &uncore->llc;
    as_cache_init(&memory->l1d, AS_SOURCE_L1, &machine->memory.l1d, machine);
    as_cache_init(&memory->l1i, AS_SOURCE_L1, &machine->memory.l1i, machine);
    memory->l1i.hit = 0;
    memory->l1d.next = memory->l1i.next = memory->has_l2 ? &memory->l2 : &uncore->llc;
    as_tlb_init(&memory->dtlb, &machine->memory.dtlb);
    as_tlb_init(&memory->itlb, &machine->memory.itlb);
    as_walker_init(&memory->walker, machine, memory->l1d.next, &uncore->touched);
    memory->flush_latency = memory->l1d.latency + memory->l2.latency + uncore->llc.latency;
    join(uncore, memory);
    return memory;
}

void as_memory_log_stays(struct as_memory *memory, struct as_stay_log *log)
{
    memory->l1i.stays = memory->l1d.stays = memory->l2.stays = log;
    memory->l1i.resource = AS_RESOURCE_MSHR_L1I;
    memory->l1d.resource = AS_RESOURCE_MSHR_L1D;
    memory->l2.resource = AS_RESOURCE_MSHR_L2;
}

void as_memory_free(struct as_memory *memory)
{
    if (!memory)
        return;
    leave(memory->uncore, memory);
    as_cache_free(&memory->l1d);
    as_cache_free(&memory->l1i);
    as_cache_free(&memory->l2);
    as_tlb_free(&memory->dtlb);
    as_tlb_free(&memory->itlb);
    as_walker_free(&memory->walker);
    free(memory);
}

void as_memory_set_process(struct as_memory *memory, uint32_t process)
{
    uint64_t tag = process & ((1u << PROCESS_BITS) - 1);
    memory->line_tag = tag << (ADDRESS_BITS - memory->line_shift);
    memory->page_tag = tag << (ADDRESS_BITS - memory->page_shift);
}

static inline uint64_t line_of(const struct as_memory *memory, uint64_t address)
{
    return (address & ADDRESS_MASK) >> memory->line_shift | memory->line_tag;
}

static inline uint64_t page_of(const struct as_memory *memory, uint64_t address)
{
    return (address & ADDRESS_MASK) >> memory->page_shift | memory->page_tag;
}

void as_memory_set_ideal(struct as_memory *memory, uint32_t events)
{
    memory->ideal = events;
}

static struct as_translation translate_data(struct as_memory *memory, uint64_t cycle, uint64_t address)
{
    uint64_t page = page_of(memory, address);
    if (__builtin_expect(memory->ideal != 0, 0))
        return as_tlb_translate_ideally(&memory->dtlb, &memory->walker, cycle, page, AS_TOUCH_DATA,
                                        memory->ideal & AS_EVENT_ST_TLB, memory->ideal & AS_EVENT_FL_EX);
    return as_tlb_translate(&memory->dtlb, &memory->walker, cycle, page, AS_TOUCH_DATA);
}

/* ---- L1 ---- */

static uint32_t fill_events(struct as_fill fill)
{
    static const uint32_t events[] = {
        [AS_SOURCE_L1] = 0,
        [AS_SOURCE_L2] = AS_EVENT_ST_L1 | AS_EVENT_L2_HIT,
        [AS_SOURCE_LLC] = AS_EVENT_ST_L1 | AS_EVENT_LLC_HIT,
        [AS_SOURCE_DRAM] = AS_EVENT_ST_L1 | AS_EVENT_ST_LLC,
    };
    return events[fill.source] | (fill.prefetched ? AS_EVENT_PREFETCHED : 0);
}

/* The same where an L1 miss (`no_l1`) or an LLC miss does not happen. A line that others have asked for and that is on
 * its way is there for this access alone. */
static struct as_memory_answer load_ideally(struct as_memory *memory, struct as_cache *l1, uint64_t cycle,
                                            uint64_t line, bool no_l1)
{
    struct as_cache *llc = &memory->uncore->llc;
    uint64_t accepted, at_most = cycle + memory->flush_latency; /* L1, L2 and LLC, one after the other */
    uint32_t slot = as_tags_find(&l1->tags, line);
    struct as_fill fill;
    llc->perfect = (memory->ideal & AS_EVENT_ST_LLC) != 0;
    if (slot != AS_TAGS_NONE)
        fill = as_cache_hit(l1, slot, cycle, line, AS_REQUEST_DEMAND);
    else if (no_l1)
        fill = as_cache_miss_ideally(l1, cycle, line);
    else
        fill = as_cache_miss(l1, cycle, line, AS_REQUEST_DEMAND, &accepted);
    if (llc->perfect && fill.source == AS_SOURCE_DRAM) {
        fill.done = fill.done < at_most ? fill.done : at_most;
        fill.source = AS_SOURCE_LLC;
    }
    llc->perfect = false;
    if (no_l1) {
        fill.done = cycle + l1->hit;
        fill.source = AS_SOURCE_L1;
    }
    return (struct as_memory_answer){.done = fill.done, .events = fill_events(fill)};
}

/* A line that is absent, on its way, or used for the first time after a prefetch. */
static struct as_memory_answer load_slowly(struct as_cache *l1, uint64_t cycle, uint64_t line)
{
    uint64_t accepted;
    uint32_t slot = as_tags_find(&l1->tags, line);
    struct as_fill fill = slot == AS_TAGS_NONE ? as_cache_miss(l1, cycle, line, AS_REQUEST_DEMAND, &accepted)
                                               : as_cache_hit(l1, slot, cycle, line, AS_REQUEST_DEMAND);
    return (struct as_memory_answer){.done = fill.done, .events = fill_events(fill)};
}

/* The store is the cache's business as soon as the line or an MSHR has it. (With coherence, here is where a line that
 * others have copies of has to be owned first.) */
static struct as_memory_answer store_slowly(struct as_cache *l1, uint64_t cycle, uint64_t line)
{
    uint64_t accepted = cycle + l1->latency;
    uint32_t slot = as_tags_find(&l1->tags, line);
    struct as_fill fill = slot == AS_TAGS_NONE ? as_cache_miss(l1, cycle, line, AS_REQUEST_DEMAND, &accepted)
                                               : as_cache_hit(l1, slot, cycle, line, AS_REQUEST_DEMAND);
    l1->tags.entries[as_tags_find(&l1->tags, line)].dirty = true;
    return (struct as_memory_answer){.done = accepted - l1->latency, .events = fill_events(fill)};
}

static struct as_memory_answer load_line(struct as_memory *memory, uint64_t cycle, uint64_t address)
{
    struct as_cache *l1 = &memory->l1d;
    struct as_translation translation = translate_data(memory, cycle, address);
    uint32_t events = translation.missed ? AS_EVENT_ST_TLB : 0;
    if (translation.fault)
        return (struct as_memory_answer){.done = translation.done, .events = events, .fault = true};
    l1->accesses++;
    cycle = translation.done;
    if (l1->banks.limited && !(memory->ideal & AS_EVENT_BANK))
        cycle = as_banks_take(&l1->banks, cycle, address >> BANK_BYTES_SHIFT);
    events |= cycle > translation.done ? AS_EVENT_BANK : 0;
    uint64_t line = line_of(memory, address);
    struct as_memory_answer answer = memory->ideal
                                         ? load_ideally(memory, l1, cycle, line, memory->ideal & AS_EVENT_ST_L1)
                                         : load_slowly(l1, cycle, line);
    answer.events |= events;
    return answer;
}

static struct as_memory_answer store_line(struct as_memory *memory, uint64_t cycle, uint64_t address)
{
    struct as_cache *l1 = &memory->l1d;
    uint64_t start = cycle;
    l1->accesses++;
    if (l1->banks.limited)
        cycle = as_banks_take(&l1->banks, cycle, address >> BANK_BYTES_SHIFT);
    struct as_memory_answer answer = store_slowly(l1, cycle, line_of(memory, address));
    answer.events |= cycle > start ? AS_EVENT_BANK : 0;
    return answer;
}

/* ---- what is no load and no store ---- */

static struct as_memory_answer prefetch_line(struct as_memory *memory, uint64_t cycle, uint64_t address)
{
    struct as_memory_answer answer = {.done = cycle};
    struct as_translation translation =
        as_tlb_translate(&memory->dtlb, &memory->walker, cycle, page_of(memory, address), AS_TOUCH_PREFETCH);
    uint64_t line = line_of(memory, address);
    if (!translation.fault && as_tags_find(&memory->l1d.tags, line) == AS_TAGS_NONE)
        as_cache_prefetch(&memory->l1d, translation.done + memory->l1d.latency, line);
    return answer;
}

/* Takes the line out of the private caches of all cores; returns whether one of them was dirty. This is where coherence
 * will look for other cores' copies: when a core's miss reaches the LLC, and when it writes a line. */
static bool drop_copies(struct as_uncore *uncore, uint64_t line)
{
    bool dirty = false;
    for (size_t i = 0; i < uncore->n_cores; i++) {
        struct as_memory *core = uncore->cores[i];
        as_cache_drop(&core->l1i, line);
        dirty |= as_cache_drop(&core->l1d, line);
        dirty |= core->has_l2 && as_cache_drop(&core->l2, line);
    }
    return dirty;
}

static struct as_memory_answer flush_line(struct as_memory *memory, uint64_t cycle, uint64_t address)
{
    struct as_translation translation =
        as_tlb_translate(&memory->dtlb, &memory->walker, cycle, page_of(memory, address), AS_TOUCH_DATA);
    struct as_memory_answer answer = {
        .done = translation.done,
        .events = translation.missed ? AS_EVENT_ST_TLB : 0,
        .fault = translation.fault,
    };
    if (translation.fault)
        return answer;
    answer.done += memory->flush_latency;
    uint64_t line = line_of(memory, address);
    bool dirty = drop_copies(memory->uncore, line);
    dirty |= as_cache_drop(&memory->uncore->llc, line);
    if (dirty)
        as_dram_write(&memory->uncore->dram, answer.done);
    return answer;
}

/* ---- accesses ---- */

static struct as_memory_answer access_line(struct as_memory *memory, enum as_memory_kind kind, uint64_t cycle,
                                           uint64_t address)
{
    switch (kind) {
    case AS_MEMORY_LOAD:
        return load_line(memory, cycle, address);
    case AS_MEMORY_STORE:
        return store_line(memory, cycle, address);
    case AS_MEMORY_PREFETCH:
        return prefetch_line(memory, cycle, address);
    case AS_MEMORY_FLUSH:
    default:
        return flush_line(memory, cycle, address);
    }
}

static __attribute__((noinline)) struct as_memory_answer
access_slowly(struct as_memory *memory, enum as_memory_kind kind, uint64_t cycle, uint64_t address, uint32_t size)
{
    uint64_t line = memory->line_mask + 1, end = address + (size < LONGEST_ACCESS ? size : LONGEST_ACCESS);
    struct as_memory_answer answer = access_line(memory, kind, cycle, address);
    for (address = (address | (line - 1)) + 1; address < end && !answer.fault; address += line) {
        struct as_memory_answer next = access_line(memory, kind, cycle, address);
        answer.done = next.done > answer.done ? next.done : answer.done;
        answer.events |= next.events;
        answer.fault = next.fault;
    }
    return answer;
}

/* The slot of a number that is there at `cycle`, where the hint knows it and no prefetch has its first use here;
 * AS_TAGS_NONE says nothing. Changes nothing. */
static inline uint32_t plain_hit(const struct as_tags *tags, uint64_t cycle, uint64_t number)
{
    uint32_t slot = tags->hints[number & tags->hint_mask];
    const struct as_entry *entry = &tags->entries[slot];
    bool plain = tags->keys[slot] == number + 1 && entry->ready <= cycle && !entry->prefetched;
    return __builtin_expect(plain, 1) ? slot : AS_TAGS_NONE;
}

/* The fast path is a hit in TLB and L1; everything else begins anew in access_slowly. */
struct as_memory_answer as_memory_access(struct as_memory *memory, enum as_memory_kind kind, uint64_t cycle,
                                         uint64_t address, uint32_t size)
{
    struct as_cache *l1 = &memory->l1d;
    if (__builtin_expect((address & memory->line_mask) + size > memory->line_mask + 1 || kind > AS_MEMORY_STORE, 0))
        return access_slowly(memory, kind, cycle, address, size);
    uint32_t slot = plain_hit(&l1->tags, cycle + l1->hit, line_of(memory, address));
    if (slot == AS_TAGS_NONE)
        return access_slowly(memory, kind, cycle, address, size);
    struct as_memory_answer answer = {.done = cycle};
    if (kind == AS_MEMORY_STORE) {
        l1->tags.entries[slot].dirty = true;
    } else {
        uint32_t page = plain_hit(&memory->dtlb.tags, cycle, page_of(memory, address));
        if (page == AS_TAGS_NONE)
            return access_slowly(memory, kind, cycle, address, size);
        as_tags_touch(&memory->dtlb.tags, page);
        answer.done += l1->hit;
    }
    l1->accesses++;
    as_tags_touch(&l1->tags, slot);
    if (l1->banks.limited && !(memory->ideal & AS_EVENT_BANK)) {
        uint64_t wait = as_banks_take(&l1->banks, cycle, address >> BANK_BYTES_SHIFT) - cycle;
        answer.done += wait;
        answer.events = wait ? AS_EVENT_BANK : 0;
    }
    return answer;
}

struct as_memory_answer as_memory_translate(struct as_memory *memory, uint64_t cycle, uint64_t address)
{
    uint32_t page = plain_hit(&memory->dtlb.tags, cycle, page_of(memory, address));
    if (__builtin_expect(page != AS_TAGS_NONE, 1)) {
        as_tags_touch(&memory->dtlb.tags, page);
        return (struct as_memory_answer){.done = cycle};
    }
    struct as_translation translation = translate_data(memory, cycle, address);
    return (struct as_memory_answer){
        .done = translation.done,
        .events = translation.missed ? AS_EVENT_ST_TLB : 0,
        .fault = translation.fault,
    };
}

/* A fetch has no event of its own for where the line came from beyond L2 and LLC. */
static uint32_t fetch_events(uint32_t events)
{
    uint32_t kept = events & (AS_EVENT_L2_HIT | AS_EVENT_LLC_HIT | AS_EVENT_PREFETCHED);
    return kept | (events & AS_EVENT_ST_L1 ? AS_EVENT_DR_L1 : 0);
}

static __attribute__((noinline)) struct as_memory_answer fetch_slowly(struct as_memory *memory, uint64_t cycle,
                                                                      uint64_t address)
{
    struct as_cache *l1 = &memory->l1i;
    struct as_translation translation =
        as_tlb_translate_ideally(&memory->itlb, &memory->walker, cycle, page_of(memory, address), AS_TOUCH_CODE,
                                 memory->ideal & AS_EVENT_DR_TLB, false);
    uint64_t line = line_of(memory, address);
    l1->accesses++;
    cycle = translation.done;
    if (l1->banks.limited)
        cycle = as_banks_take(&l1->banks, cycle, line);
    struct as_memory_answer answer =
        memory->ideal & AS_EVENT_DR_L1 ? load_ideally(memory, l1, cycle, line, true) : load_slowly(l1, cycle, line);
    answer.events = fetch_events(answer.events) | (translation.missed ? AS_EVENT_DR_TLB : 0);
    return answer;
}

struct as_memory_answer as_memory_fetch(struct as_memory *memory, uint64_t cycle, uint64_t address)
{
    struct as_cache *l1 = &memory->l1i;
    uint32_t slot = plain_hit(&l1->tags, cycle, line_of(memory, address));
    uint32_t page = plain_hit(&memory->itlb.tags, cycle, page_of(memory, address));
    if (slot == AS_TAGS_NONE || page == AS_TAGS_NONE || l1->banks.limited)
        return fetch_slowly(memory, cycle, address);
    l1->accesses++;
    as_tags_touch(&l1->tags, slot);
    as_tags_touch(&memory->itlb.tags, page);
    return (struct as_memory_answer){.done = cycle};
}

/* ---- without times ---- */

static __attribute__((noinline)) void warm_line(struct as_memory *memory, enum as_memory_kind kind, uint64_t address)
{
    uint64_t line = line_of(memory, address);
    enum as_touch touch = kind == AS_MEMORY_PREFETCH ? AS_TOUCH_PREFETCH : AS_TOUCH_DATA;
    as_tlb_warm(&memory->dtlb, &memory->walker, page_of(memory, address), touch);
    if (kind == AS_MEMORY_FLUSH) {
        drop_copies(memory->uncore, line);
        as_cache_drop(&memory->uncore->llc, line);
        return;
    }
    as_cache_warm(&memory->l1d, line, kind == AS_MEMORY_PREFETCH ? AS_REQUEST_PREFETCH : AS_REQUEST_DEMAND);
    if (kind == AS_MEMORY_STORE)
        memory->l1d.tags.entries[as_tags_find(&memory->l1d.tags, line)].dirty = true;
}

void as_memory_warm(struct as_memory *memory, enum as_memory_kind kind, uint64_t address, uint32_t size)
{
    uint64_t end = address + (size < LONGEST_ACCESS ? size : LONGEST_ACCESS);
    uint32_t slot = plain_hit(&memory->l1d.tags, UINT64_MAX, line_of(memory, address));
    uint32_t page = plain_hit(&memory->dtlb.tags, UINT64_MAX, page_of(memory, address));
    bool plain = slot != AS_TAGS_NONE && page != AS_TAGS_NONE && kind <= AS_MEMORY_STORE &&
                 (address & memory->line_mask) + size <= memory->line_mask + 1;
    if (__builtin_expect(plain, 1)) {
        as_tags_touch(&memory->dtlb.tags, page);
        as_tags_touch(&memory->l1d.tags, slot);
        memory->l1d.tags.entries[slot].dirty |= kind == AS_MEMORY_STORE;
        return;
    }
    warm_line(memory, kind, address);
    for (address = (address | memory->line_mask) + 1; address < end; address += memory->line_mask + 1)
        warm_line(memory, kind, address);
}

void as_memory_warm_fetch(struct as_memory *memory, uint64_t address)
{
    as_tlb_warm(&memory->itlb, &memory->walker, page_of(memory, address), AS_TOUCH_CODE);
    as_cache_warm(&memory->l1i, line_of(memory, address), AS_REQUEST_DEMAND);
}

#define COUNT_CACHE(level, cache)                                                                                      \
    do {                                                                                                               \
        counters->level##_accesses = (cache)->accesses;                                                                \
        counters->level##_misses = (cache)->misses;                                                                    \
        counters->level##_merges = (cache)->merges;                                                                    \
        counters->level##_prefetches = (cache)->prefetches;                                                            \
    } while (0)

void as_memory_count(const struct as_memory *memory, struct as_counters *counters)
{
    const struct as_uncore *uncore = memory->uncore;
    COUNT_CACHE(l1i, &memory->l1i);
    COUNT_CACHE(l1d, &memory->l1d);
    COUNT_CACHE(l2, &memory->l2);
    COUNT_CACHE(llc, &uncore->llc);
    counters->itlb_misses = memory->itlb.misses;
    counters->dtlb_misses = memory->dtlb.misses;
    counters->l2tlb_misses = memory->walker.second.misses;
    counters->page_walks = memory->walker.walks;
    counters->walk_accesses = memory->walker.accesses;
    counters->page_faults = memory->walker.faults;
    counters->dram_reads = uncore->dram.reads;
    counters->dram_writes = uncore->dram.writes;
    counters->dram_row_hits = uncore->dram.row_hits;
    as_counters_derive(counters);
}
