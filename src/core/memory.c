/* The memory of a core, put together: TLB and L1 on the fast path here, everything behind them in tlb.c and cache.c.
 *
 * Addresses are used as they are, as if virtual memory were mapped to physical memory one to one: the same program
 * gives the same times in every run, and which addresses conflict can be read off the program. The number of the
 * process lies above the address, so processes share nothing but what they map as shared (shared_lines.h). Page tables lie above both (tlb.c).
 *
 * Several cores: coherence.c says which of them may have a line. A hit in the own L1 needs nobody else, but for a write
 * of a line that the core does not own yet (as_entry.owned).
 */
#include "core/memory_hit.h"

#include "base/alloc.h"

#include <stdlib.h>

enum { PROCESS_BITS = 12, LONGEST_ACCESS = 1 << 16, BANK_BYTES_SHIFT = 3, MASK_BITS = 6 };

struct as_uncore *as_uncore_new(const struct as_machine *machine)
{
    struct as_uncore *uncore = as_alloc(sizeof *uncore);
    uncore->coherence = machine->coherence;
    as_dram_init(&uncore->dram, machine);
    for (uint32_t i = 0; i == 0 || i < machine->coherence.sockets; i++) {
        as_cache_init(&uncore->llc[i], AS_SOURCE_LLC, &machine->memory.llc, machine);
        uncore->llc[i].dram = &uncore->dram;
    }
    return uncore;
}

void as_uncore_drop(struct as_uncore *uncore, uint32_t core)
{
    if (core < uncore->n_cores && uncore->cores[core] && uncore->cores[core]->users == 0)
        as_memory_free(uncore->cores[core]);
}

void as_uncore_free(struct as_uncore *uncore)
{
    if (!uncore)
        return;
    for (uint32_t i = 0; i < uncore->n_cores; i++)
        as_memory_free(uncore->cores[i]);
    for (size_t i = 0; i < AS_SOCKETS; i++)
        as_cache_free(&uncore->llc[i]);
    as_dram_free(&uncore->dram);
    as_map_free(&uncore->touched);
    as_directory_free(&uncore->directory);
    free(uncore->cores);
    free(uncore);
}

void as_uncore_set_transfers(struct as_uncore *uncore, as_on_transfer *on_transfer, void *context)
{
    uncore->on_transfer = on_transfer;
    uncore->context = context;
}

/* What the numbers of a process's pages have above the address. */
static uint64_t page_tag(uint32_t process, uint32_t page_shift)
{
    return (uint64_t)(process & ((1u << PROCESS_BITS) - 1)) << (AS_ADDRESS_BITS - page_shift);
}

void as_uncore_touch(struct as_uncore *uncore, const struct as_machine *machine, uint32_t process, uint64_t start,
                     uint64_t end)
{
    uint32_t shift = (uint32_t)__builtin_ctz(machine->memory.page);
    uint64_t tag = page_tag(process, shift);
    for (uint64_t page = start >> shift; page << shift < end; page++)
        as_pages_add(&uncore->touched, page | tag);
}

/* Bits of a mask stand for bytes, or for as many of them as make 64 a line. */
static uint32_t grain_of(uint32_t line_shift)
{
    return line_shift > MASK_BITS ? line_shift - MASK_BITS : 0;
}

struct as_memory *as_memory_new(const struct as_machine *machine, struct as_uncore *uncore, uint32_t core)
{
    struct as_memory *memory = as_alloc_apart(1, sizeof *memory);
    memory->core = core;
    memory->socket = as_machine_socket(machine, core);
    memory->llc = &uncore->llc[memory->socket];
    memory->line_shift = (uint32_t)__builtin_ctz(machine->memory.line);
    memory->page_shift = (uint32_t)__builtin_ctz(machine->memory.page);
    memory->line_mask = machine->memory.line - 1;
    memory->grain = grain_of(memory->line_shift);
    memory->uncore = uncore;
    as_memory_set_shared(memory, NULL);
    memory->has_l2 = machine->memory.l2.size != 0;
    if (memory->has_l2)
        as_cache_init(&memory->l2, AS_SOURCE_L2, &machine->memory.l2, machine);
    memory->l2.next = memory->llc;
    as_cache_init(&memory->l1d, AS_SOURCE_L1, &machine->memory.l1d, machine);
    as_cache_init(&memory->l1i, AS_SOURCE_L1, &machine->memory.l1i, machine);
    memory->l1i.hit = 0;
    memory->l1d.next = memory->l1i.next = memory->has_l2 ? &memory->l2 : memory->llc;
    as_tlb_init(&memory->dtlb, &machine->memory.dtlb);
    as_tlb_init(&memory->itlb, &machine->memory.itlb);
    as_walker_init(&memory->walker, machine, memory->l1d.next, &uncore->touched);
    memory->flush_latency = memory->l1d.latency + memory->l2.latency + memory->llc->latency;
    as_cache_keep_written(&memory->l1d);
    if (memory->has_l2)
        as_cache_keep_written(&memory->l2);
    as_coherence_join(uncore, memory);
    return memory;
}

struct as_memory *as_memory_take(const struct as_machine *machine, struct as_uncore *uncore, uint32_t core)
{
    struct as_memory *memory = core < uncore->n_cores ? uncore->cores[core] : NULL;
    memory = memory ? memory : as_memory_new(machine, uncore, core);
    memory->users++;
    return memory;
}

void as_memory_leave(struct as_memory *memory)
{
    memory->users--;
}

uint32_t as_memory_users(const struct as_memory *memory)
{
    return memory->users;
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
    as_coherence_leave(memory->uncore, memory);
    as_vec_free(&memory->transfers);
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
    memory->process = process;
    uint64_t tag = process & ((1u << PROCESS_BITS) - 1);
    memory->line_tag = tag << (AS_ADDRESS_BITS - memory->line_shift);
    memory->page_tag = page_tag(process, memory->page_shift);
}

void as_memory_set_shared(struct as_memory *memory, const struct as_shared_ranges *shared)
{
    static const struct as_shared_ranges none;
    memory->shared = shared ? shared : &none;
}

uint64_t as_memory_shared_line(const struct as_memory *memory, uint64_t address)
{
    uint64_t physical = as_shared_find(memory->shared, address);
    return physical >> memory->line_shift | as_memory_tag(memory, physical);
}

void as_memory_set_thread(struct as_memory *memory, uint32_t thread)
{
    memory->thread = thread;
}

void as_memory_set_ideal(struct as_memory *memory, uint32_t events)
{
    memory->ideal = events;
}

static struct as_translation translate_data(struct as_memory *memory, uint64_t cycle, uint64_t address)
{
    uint64_t page = as_memory_page(memory, address);
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
        [AS_SOURCE_CORE] = AS_EVENT_ST_L1 | AS_EVENT_COHERENCE,
    };
    return events[fill.source] | (fill.prefetched ? AS_EVENT_PREFETCHED : 0);
}

/* ---- what an access wants of others ---- */

/* An access of one line that leaves the fast path. */
static void set_wish(struct as_memory *memory, uint64_t address, uint64_t end, bool writes)
{
    uint64_t line_end = (address | memory->line_mask) + 1;
    uint32_t size = (uint32_t)((end < line_end && end > address ? end : line_end) - address);
    memory->moved = false;
    memory->taken = 0;
    memory->snooped = 0;
    memory->wish = (struct as_wish){.writes = writes,
                                    .offset = (uint32_t)(address & memory->line_mask),
                                    .size = size,
                                    .bytes = as_memory_bytes(memory, address, size)};
}

/* The same where an L1 miss (`no_l1`) or an LLC miss does not happen. A line that others have asked for and that is on
 * its way is there for this access alone. */
static struct as_memory_answer load_ideally(struct as_memory *memory, struct as_cache *l1, uint64_t cycle,
                                            uint64_t line, bool no_l1)
{
    struct as_cache *llc = memory->llc;
    uint64_t accepted, at_most = cycle + memory->flush_latency; /* L1, L2 and LLC, one after the other */
    uint32_t slot = as_tags_find(&l1->tags, line);
    struct as_fill fill;
    llc->perfect = (memory->ideal & AS_EVENT_ST_LLC) != 0;
    if (slot != AS_TAGS_NONE) {
        fill = as_cache_hit(l1, slot, cycle, line, AS_REQUEST_DEMAND);
    } else if (no_l1) {
        fill = as_cache_miss_ideally(l1, cycle, line);
        if (l1 == &memory->l1d)
            as_coherence_warm(memory, line, memory->wish.writes);
    } else {
        fill = as_cache_miss(l1, cycle, line, AS_REQUEST_DEMAND, &accepted);
    }
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

/* The line is in the L1 at `cycle`; when the core may write it. */
static inline uint64_t own(struct as_memory *memory, uint64_t cycle, uint64_t line, uint32_t *events)
{
    uint32_t slot = as_memory_slot(memory, line);
    struct as_entry *entry = &memory->l1d.tags.entries[slot];
    if (entry->owned)
        return cycle;
    if (memory->taken == line + 1) {
        entry->owned = true;
        memory->l1d.tags.flags[slot] |= memory->wish.dirty ? AS_TAGS_DIRTY : 0;
        return cycle;
    }
    uint64_t owned = as_coherence_own(memory, cycle, line);
    *events |= owned > cycle ? AS_EVENT_COHERENCE : 0;
    return owned;
}

/* The line leaves later than that, or an atomic had loaded it before: nobody gets it between the load and the store. */
static bool may_still_store(struct as_memory *memory, uint64_t cycle, uint64_t line)
{
    bool locked = memory->locked == line + 1;
    memory->locked = 0;
    return locked || as_coherence_stays(memory, cycle, line);
}

/* The store is the cache's business as soon as the line or an MSHR has it. Where another core has a copy, it stays in
 * the store queue until the core owns the line: what is behind it must not become visible first. */
static struct as_memory_answer store_slowly(struct as_memory *memory, uint64_t cycle, uint64_t line, uint32_t insn)
{
    struct as_cache *l1 = &memory->l1d;
    uint64_t accepted = cycle + l1->latency;
    if (may_still_store(memory, cycle, line))
        return (struct as_memory_answer){.done = cycle};
    uint32_t slot = as_memory_slot(memory, line);
    struct as_fill fill = slot == AS_TAGS_NONE ? as_cache_miss(l1, cycle, line, AS_REQUEST_DEMAND, &accepted)
                                               : as_cache_hit(l1, slot, cycle, line, AS_REQUEST_DEMAND);
    struct as_memory_answer answer = {.done = accepted - l1->latency, .events = fill_events(fill)};
    uint64_t owned = own(memory, memory->moved ? fill.done : accepted, line, &answer.events);
    if (memory->moved)
        answer.done = owned;
    slot = as_memory_slot(memory, line);
    l1->tags.flags[slot] |= AS_TAGS_DIRTY;
    as_memory_note_written(memory, slot, answer.done, memory->wish.bytes, insn);
    return answer;
}

/* A line that is promised to another core and is still here. */
static struct as_memory_answer load_leaving(struct as_memory *memory, uint64_t cycle, uint64_t line)
{
    if (memory->wish.writes)
        memory->locked = line + 1;
    return (struct as_memory_answer){.done = cycle + memory->l1d.hit};
}

/* A load that goes ahead of an atomic before it is right only if the line is still there when that one is done; otherwise it is tried
 * again then. */
static bool may_use_leaving(const struct as_memory *memory, uint64_t cycle, uint64_t line)
{
    return memory->wish.writes || memory->ordered <= cycle || as_coherence_stays(memory, memory->ordered, line);
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
    uint64_t line = as_memory_line(memory, address);
    if (as_coherence_stays(memory, cycle, line) &&
        (memory->wish.writes || as_memory_slot(memory, line) == AS_TAGS_NONE)) {
        if (may_use_leaving(memory, cycle, line))
            return load_leaving(memory, cycle, line);
        cycle = memory->ordered;
    }
    struct as_memory_answer answer = memory->ideal
                                         ? load_ideally(memory, l1, cycle, line, memory->ideal & AS_EVENT_ST_L1)
                                         : load_slowly(l1, cycle, line);
    if (memory->wish.writes || memory->taken == line + 1)
        answer.done = own(memory, answer.done, line, &answer.events);
    answer.events |= events | memory->snooped;
    return answer;
}

static struct as_memory_answer store_line(struct as_memory *memory, uint64_t cycle, uint64_t address, uint32_t insn)
{
    struct as_cache *l1 = &memory->l1d;
    uint64_t start = cycle;
    l1->accesses++;
    if (l1->banks.limited)
        cycle = as_banks_take(&l1->banks, cycle, address >> BANK_BYTES_SHIFT);
    struct as_memory_answer answer = store_slowly(memory, cycle, as_memory_line(memory, address), insn);
    answer.events |= cycle > start ? AS_EVENT_BANK : 0;
    return answer;
}

/* ---- what is no load and no store ---- */

static struct as_memory_answer prefetch_line(struct as_memory *memory, uint64_t cycle, uint64_t address)
{
    struct as_memory_answer answer = {.done = cycle};
    struct as_translation translation =
        as_tlb_translate(&memory->dtlb, &memory->walker, cycle, as_memory_page(memory, address), AS_TOUCH_PREFETCH);
    uint64_t line = as_memory_line(memory, address);
    if (!translation.fault && as_tags_find(&memory->l1d.tags, line) == AS_TAGS_NONE &&
        !(memory->l1d.guard && memory->l1d.guard->is_taken(memory->l1d.guard, line)))
        as_cache_prefetch(&memory->l1d, translation.done + memory->l1d.latency, line);
    return answer;
}

static bool drop_everywhere(struct as_uncore *uncore, uint64_t line)
{
    bool dirty = as_coherence_drop_all(uncore, line);
    for (uint32_t i = 0; i == 0 || i < uncore->coherence.sockets; i++)
        dirty |= as_cache_drop(&uncore->llc[i], line);
    return dirty;
}

static struct as_memory_answer flush_line(struct as_memory *memory, uint64_t cycle, uint64_t address)
{
    struct as_translation translation =
        as_tlb_translate(&memory->dtlb, &memory->walker, cycle, as_memory_page(memory, address), AS_TOUCH_DATA);
    struct as_memory_answer answer = {
        .done = translation.done,
        .events = translation.missed ? AS_EVENT_ST_TLB : 0,
        .fault = translation.fault,
    };
    if (translation.fault)
        return answer;
    answer.done += memory->flush_latency;
    uint64_t line = as_memory_line(memory, address);
    if (drop_everywhere(memory->uncore, line))
        as_dram_write(&memory->uncore->dram, answer.done);
    return answer;
}

/* ---- accesses ---- */

static struct as_memory_answer access_line(struct as_memory *memory, enum as_memory_kind kind, uint64_t cycle,
                                           uint64_t address, uint32_t insn)
{
    switch (kind) {
    case AS_MEMORY_LOAD:
    case AS_MEMORY_OWN:
        return load_line(memory, cycle, address);
    case AS_MEMORY_STORE:
        return store_line(memory, cycle, address, insn);
    case AS_MEMORY_PREFETCH:
        return prefetch_line(memory, cycle, address);
    case AS_MEMORY_FLUSH:
    default:
        return flush_line(memory, cycle, address);
    }
}

static __attribute__((noinline)) struct as_memory_answer access_slowly(struct as_memory *memory,
                                                                       enum as_memory_kind kind, uint64_t cycle,
                                                                       uint64_t address, uint32_t size, uint32_t insn)
{
    bool writes = kind == AS_MEMORY_OWN || kind == AS_MEMORY_STORE;
    uint64_t line = memory->line_mask + 1, end = address + (size < LONGEST_ACCESS ? size : LONGEST_ACCESS);
    set_wish(memory, address, end, writes);
    struct as_memory_answer answer = access_line(memory, kind, cycle, address, insn);
    for (address = (address | (line - 1)) + 1; address < end && !answer.fault; address += line) {
        set_wish(memory, address, end, writes);
        struct as_memory_answer next = access_line(memory, kind, cycle, address, insn);
        answer.done = next.done > answer.done ? next.done : answer.done;
        answer.events |= next.events;
        answer.fault = next.fault;
    }
    return answer;
}

/* The fast path is a hit in TLB and L1, of an owned line where it is written, where the L1 has banks too; everything else
 * begins anew in access_slowly. */
static struct as_memory_answer access_bank(struct as_memory *memory, enum as_memory_kind kind, uint64_t cycle,
                                           uint64_t address, uint32_t size, uint32_t insn)
{
    struct as_cache *l1 = &memory->l1d;
    if (!as_memory_is_in_line(memory, address, size) || kind > AS_MEMORY_STORE)
        return access_slowly(memory, kind, cycle, address, size, insn);
    uint32_t slot = as_tags_hit(&l1->tags, cycle + l1->hit, as_memory_line(memory, address));
    if (slot == AS_TAGS_NONE || (kind != AS_MEMORY_LOAD && !l1->tags.entries[slot].owned))
        return access_slowly(memory, kind, cycle, address, size, insn);
    struct as_memory_answer answer = {.done = cycle};
    if (kind == AS_MEMORY_STORE) {
        l1->tags.flags[slot] |= AS_TAGS_DIRTY;
        as_memory_note_written(memory, slot, cycle, as_memory_bytes(memory, address, size), insn);
    } else {
        if (!as_memory_hits_page(memory, cycle, address))
            return access_slowly(memory, kind, cycle, address, size, insn);
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

struct as_memory_answer as_memory_access(struct as_memory *memory, enum as_memory_kind kind, uint64_t cycle,
                                         uint64_t address, uint32_t size)
{
    if (__builtin_expect(kind == AS_MEMORY_LOAD, 1) && as_memory_hits_load(memory, cycle, address, size))
        return (struct as_memory_answer){.done = cycle + memory->l1d.hit};
    struct as_memory_answer answer = access_bank(memory, kind, cycle, address, size, AS_TRANSFER_NO_INSN);
    if (kind == AS_MEMORY_OWN) {
        memory->ordered = answer.done;
        memory->fought = as_memory_line(memory, address) + 1;
    }
    return answer;
}

struct as_memory_answer as_memory_store(struct as_memory *memory, uint64_t cycle, uint64_t address, uint32_t size,
                                        uint32_t insn)
{
    if (__builtin_expect(as_memory_hits_store(memory, cycle, address, size, insn), 1))
        return (struct as_memory_answer){.done = cycle};
    return access_bank(memory, AS_MEMORY_STORE, cycle, address, size, insn);
}

/* Where there is one core, nobody asks what a load wanted. */
struct as_memory_answer as_memory_load_slowly(struct as_memory *memory, uint64_t cycle, uint64_t address, uint32_t size)
{
    struct as_cache *l1 = &memory->l1d;
    if (memory->uncore->coherent || memory->ideal || l1->banks.limited || !as_memory_is_in_line(memory, address, size))
        return access_bank(memory, AS_MEMORY_LOAD, cycle, address, size, AS_TRANSFER_NO_INSN);
    struct as_translation translation =
        as_tlb_translate(&memory->dtlb, &memory->walker, cycle, as_memory_page(memory, address), AS_TOUCH_DATA);
    uint32_t events = translation.missed ? AS_EVENT_ST_TLB : 0;
    if (translation.fault)
        return (struct as_memory_answer){.done = translation.done, .events = events, .fault = true};
    l1->accesses++;
    struct as_memory_answer answer = load_slowly(l1, translation.done, as_memory_line(memory, address));
    answer.events |= events;
    return answer;
}

struct as_memory_answer as_memory_store_slowly(struct as_memory *memory, uint64_t cycle, uint64_t address,
                                               uint32_t size, uint32_t insn)
{
    if (memory->l1d.banks.limited)
        return access_bank(memory, AS_MEMORY_STORE, cycle, address, size, insn);
    return access_slowly(memory, AS_MEMORY_STORE, cycle, address, size, insn);
}

struct as_memory_answer as_memory_translate(struct as_memory *memory, uint64_t cycle, uint64_t address)
{
    if (__builtin_expect(as_memory_hits_page(memory, cycle, address), 1))
        return (struct as_memory_answer){.done = cycle};
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
    memory->code_page = 0;
    struct as_translation translation =
        as_tlb_translate_ideally(&memory->itlb, &memory->walker, cycle, as_memory_page(memory, address), AS_TOUCH_CODE,
                                 memory->ideal & AS_EVENT_DR_TLB, false);
    uint64_t line = as_memory_line(memory, address);
    memory->wish = (struct as_wish){.quiet = true};
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
    if (__builtin_expect(as_memory_hits_code(memory, cycle, address), 1))
        return (struct as_memory_answer){.done = cycle};
    return fetch_slowly(memory, cycle, address);
}

/* ---- before they come ---- */

void as_memory_announce(const struct as_memory *memory, uint64_t address)
{
    uint64_t line = as_memory_line(memory, address);
    if (as_tags_hit(&memory->l1d.tags, UINT64_MAX, line) != AS_TAGS_NONE)
        return;
    if (memory->has_l2)
        as_tags_announce(&memory->l2.tags, line);
    as_tags_announce(&memory->llc->tags, line);
    as_walker_announce(&memory->walker, as_memory_page(memory, address));
}

bool as_memory_misses_often(struct as_memory *memory)
{
    enum { ONE_IN = 16 };
    const struct as_cache *l1 = &memory->l1d;
    uint64_t accesses = l1->accesses - memory->seen_accesses, misses = l1->misses - memory->seen_misses;
    memory->seen_accesses = l1->accesses;
    memory->seen_misses = l1->misses;
    return misses * ONE_IN > accesses;
}

/* ---- without times ---- */

static __attribute__((noinline)) void warm_line(struct as_memory *memory, enum as_memory_kind kind, uint64_t address)
{
    uint64_t line = as_memory_line(memory, address);
    enum as_touch touch = kind == AS_MEMORY_PREFETCH ? AS_TOUCH_PREFETCH : AS_TOUCH_DATA;
    as_tlb_warm(&memory->dtlb, &memory->walker, as_memory_page(memory, address), touch);
    if (kind == AS_MEMORY_FLUSH) {
        drop_everywhere(memory->uncore, line);
        return;
    }
    memory->wish = (struct as_wish){0};
    if (kind == AS_MEMORY_PREFETCH) {
        if (!(memory->l1d.guard && memory->l1d.guard->is_taken(memory->l1d.guard, line)))
            as_cache_warm(&memory->l1d, line, AS_REQUEST_PREFETCH);
        return;
    }
    as_cache_warm(&memory->l1d, line, AS_REQUEST_DEMAND);
    as_coherence_warm(memory, line, kind != AS_MEMORY_LOAD);
    if (kind == AS_MEMORY_STORE)
        memory->l1d.tags.flags[as_memory_slot(memory, line)] |= AS_TAGS_DIRTY;
}

void as_memory_warm(struct as_memory *memory, enum as_memory_kind kind, uint64_t address, uint32_t size)
{
    uint64_t end = address + (size < LONGEST_ACCESS ? size : LONGEST_ACCESS);
    uint32_t slot = as_tags_hit(&memory->l1d.tags, UINT64_MAX, as_memory_line(memory, address));
    uint32_t page = as_tags_hit(&memory->dtlb.tags, UINT64_MAX, as_memory_page(memory, address));
    bool plain = slot != AS_TAGS_NONE && page != AS_TAGS_NONE && kind <= AS_MEMORY_STORE &&
                 (kind == AS_MEMORY_LOAD || memory->l1d.tags.entries[slot].owned) &&
                 as_memory_is_in_line(memory, address, size);
    if (__builtin_expect(plain, 1)) {
        as_tags_touch(&memory->dtlb.tags, page);
        as_tags_touch(&memory->l1d.tags, slot);
        memory->l1d.tags.flags[slot] |= kind == AS_MEMORY_STORE ? AS_TAGS_DIRTY : 0;
        memory->warmed = memory->uncore->coherent ? 0 : as_memory_line(memory, address) + 1;
        memory->warmed_dirty = kind == AS_MEMORY_STORE;
        return;
    }
    memory->warmed = 0;
    warm_line(memory, kind, address);
    for (address = (address | memory->line_mask) + 1; address < end; address += memory->line_mask + 1)
        warm_line(memory, kind, address);
}

void as_memory_warm_fetch(struct as_memory *memory, uint64_t address)
{
    memory->code_page = 0;
    uint32_t slot = as_tags_hit(&memory->l1i.tags, UINT64_MAX, as_memory_line(memory, address));
    uint32_t page = as_tags_hit(&memory->itlb.tags, UINT64_MAX, as_memory_page(memory, address));
    if (__builtin_expect(slot != AS_TAGS_NONE && page != AS_TAGS_NONE, 1)) {
        as_tags_touch(&memory->itlb.tags, page);
        as_tags_touch(&memory->l1i.tags, slot);
        return;
    }
    as_tlb_warm(&memory->itlb, &memory->walker, as_memory_page(memory, address), AS_TOUCH_CODE);
    memory->wish = (struct as_wish){.quiet = true};
    as_cache_warm(&memory->l1i, as_memory_line(memory, address), AS_REQUEST_DEMAND);
}

uint64_t as_uncore_reads(const struct as_uncore *uncore)
{
    return uncore->dram.reads + uncore->dram.warm_reads;
}

uint64_t as_uncore_read_latency(const struct as_uncore *uncore)
{
    return uncore->llc[0].latency + as_dram_latency(&uncore->dram);
}

#define COUNT_CACHE(level, cache)                                                                                      \
    do {                                                                                                               \
        counters->level##_accesses = (cache)->accesses;                                                                \
        counters->level##_misses = (cache)->misses;                                                                    \
        counters->level##_merges = (cache)->merges;                                                                    \
        counters->level##_prefetches = (cache)->prefetches;                                                            \
    } while (0)

static void count_llc(const struct as_uncore *uncore, struct as_counters *counters)
{
    const struct as_cache *first = &uncore->llc[0], *second = &uncore->llc[1];
    COUNT_CACHE(llc, first);
    counters->llc_accesses += second->accesses;
    counters->llc_misses += second->misses;
    counters->llc_merges += second->merges;
    counters->llc_prefetches += second->prefetches;
}

void as_memory_count(const struct as_memory *memory, struct as_counters *counters)
{
    const struct as_uncore *uncore = memory->uncore;
    COUNT_CACHE(l1i, &memory->l1i);
    COUNT_CACHE(l1d, &memory->l1d);
    COUNT_CACHE(l2, &memory->l2);
    count_llc(uncore, counters);
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
