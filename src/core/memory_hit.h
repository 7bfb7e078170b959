/* Accesses that hit, inline: a line that the L1 has, of a page that the TLB has, both arrived. Everything else is
 * memory.c's. Each says whether it was one; where it says no, nothing has happened. Private to memory.c and core*.c.
 */
#ifndef AS_CORE_MEMORY_HIT_H
#define AS_CORE_MEMORY_HIT_H

#include "core/uncore.h"

#define AS_ADDRESS_MASK ((1ull << AS_ADDRESS_BITS) - 1)

static inline uint64_t as_memory_line(const struct as_memory *memory, uint64_t address)
{
    uint64_t within = address & AS_ADDRESS_MASK;
    if (__builtin_expect(within - memory->shared->low < memory->shared->span, 0))
        return as_memory_shared_line(memory, within);
    return within >> memory->line_shift | memory->line_tag;
}

static inline uint64_t as_memory_page(const struct as_memory *memory, uint64_t address)
{
    return (address & AS_ADDRESS_MASK) >> memory->page_shift | memory->page_tag;
}

/* The slot of a number that is there at `cycle`, where the hint knows it and no prefetch has its first use here;
 * AS_TAGS_NONE says nothing. Changes nothing. */
static inline uint32_t as_tags_hit(const struct as_tags *tags, uint64_t cycle, uint64_t number)
{
    uint32_t slot = *as_tags_hint(tags, number);
    const struct as_entry *entry = &tags->entries[slot];
    bool plain = entry->key == number + 1 && entry->ready <= cycle;
    return __builtin_expect(plain, 1) ? slot : AS_TAGS_NONE;
}

static inline bool as_memory_is_in_line(const struct as_memory *memory, uint64_t address, uint32_t size)
{
    return (address & memory->line_mask) + size <= memory->line_mask + 1;
}

/* The bytes of a line that an access touches, as bits (as_wish.bytes). */
static inline uint64_t as_memory_bytes(const struct as_memory *memory, uint64_t address, uint32_t size)
{
    uint32_t first = (uint32_t)(address & memory->line_mask) >> memory->grain;
    uint32_t last = (uint32_t)((address + (size ? size - 1 : 0)) & memory->line_mask) >> memory->grain;
    return (UINT64_MAX >> (63 - (last - first))) << first;
}

static inline void as_memory_note_written(struct as_memory *memory, uint32_t slot, uint64_t cycle, uint64_t bytes,
                                          uint32_t insn)
{
    struct as_written *written = &memory->l1d.written[slot];
    written->bytes |= bytes;
    written->cycle = cycle;
    written->thread = memory->thread;
    written->insn = insn;
}

/* AS_MEMORY_LOAD, where the L1 has no banks: done `l1d.hit` cycles later. */
static inline bool as_memory_hits_load(struct as_memory *memory, uint64_t cycle, uint64_t address, uint32_t size)
{
    struct as_cache *l1 = &memory->l1d;
    if (__builtin_expect(!as_memory_is_in_line(memory, address, size) || l1->banks.limited, 0))
        return false;
    uint32_t slot = as_tags_hit(&l1->tags, cycle + l1->hit, as_memory_line(memory, address));
    uint32_t page = as_tags_hit(&memory->dtlb.tags, cycle, as_memory_page(memory, address));
    if (__builtin_expect(slot == AS_TAGS_NONE || page == AS_TAGS_NONE, 0))
        return false;
    as_tags_touch(&memory->dtlb.tags, page);
    as_tags_touch(&l1->tags, slot);
    l1->accesses++;
    return true;
}

/* AS_MEMORY_STORE, to a line that the core owns, where the L1 has no banks: done at once. */
static inline bool as_memory_hits_store(struct as_memory *memory, uint64_t cycle, uint64_t address, uint32_t size,
                                        uint32_t insn)
{
    struct as_cache *l1 = &memory->l1d;
    if (__builtin_expect(!as_memory_is_in_line(memory, address, size) || l1->banks.limited, 0))
        return false;
    uint32_t slot = as_tags_hit(&l1->tags, cycle + l1->hit, as_memory_line(memory, address));
    if (__builtin_expect(slot == AS_TAGS_NONE || !l1->tags.entries[slot].owned, 0))
        return false;
    l1->tags.flags[slot] |= AS_TAGS_DIRTY;
    as_memory_note_written(memory, slot, cycle, as_memory_bytes(memory, address, size), insn);
    as_tags_touch(&l1->tags, slot);
    l1->accesses++;
    return true;
}

/* as_memory_access of a load, and as_memory_store, where the functions above have said no. */
struct as_memory_answer as_memory_load_slowly(struct as_memory *memory, uint64_t cycle, uint64_t address,
                                              uint32_t size);
struct as_memory_answer as_memory_store_slowly(struct as_memory *memory, uint64_t cycle, uint64_t address,
                                               uint32_t size, uint32_t insn);

/* as_memory_translate: done at once. */
static inline bool as_memory_hits_page(struct as_memory *memory, uint64_t cycle, uint64_t address)
{
    uint32_t page = as_tags_hit(&memory->dtlb.tags, cycle, as_memory_page(memory, address));
    if (__builtin_expect(page == AS_TAGS_NONE, 0))
        return false;
    as_tags_touch(&memory->dtlb.tags, page);
    return true;
}

/* Whether an access only repeats the one before it, which warmed the same line: then nothing changes. One that stores
 * comes behind one that did. */
static inline bool as_memory_warms_again(const struct as_memory *memory, uint64_t address, uint32_t size, bool stores)
{
    return memory->warmed == as_memory_line(memory, address) + 1 && (memory->warmed_dirty || !stores) &&
           as_memory_is_in_line(memory, address, size);
}

/* The page of code is the one that was used last: it is the youngest of its TLB already, so that nothing has to change. */
static inline bool as_memory_is_code_page(const struct as_memory *memory, uint64_t cycle, uint64_t page)
{
    return memory->code_page == page + 1 && memory->code_ready <= cycle;
}

static inline void as_memory_use_code_page(struct as_memory *memory, uint32_t slot)
{
    as_tags_touch(&memory->itlb.tags, slot);
    memory->code_page = memory->itlb.tags.entries[slot].key;
    memory->code_ready = memory->itlb.tags.entries[slot].ready;
}

/* as_memory_fetch, where the L1 has no banks: done at once. */
static inline bool as_memory_hits_code(struct as_memory *memory, uint64_t cycle, uint64_t address)
{
    struct as_cache *l1 = &memory->l1i;
    uint64_t page = as_memory_page(memory, address);
    bool again = __builtin_expect(as_memory_is_code_page(memory, cycle, page), 1);
    uint32_t slot = as_tags_hit(&l1->tags, cycle, as_memory_line(memory, address));
    uint32_t page_slot = again ? 0 : as_tags_hit(&memory->itlb.tags, cycle, page);
    if (__builtin_expect(slot == AS_TAGS_NONE || page_slot == AS_TAGS_NONE || l1->banks.limited, 0))
        return false;
    as_tags_touch(&l1->tags, slot);
    if (!again)
        as_memory_use_code_page(memory, page_slot);
    l1->accesses++;
    return true;
}

#endif
