/* The questions themselves, for the core and for the memo: what a core asks its caches and TLBs, and its own list of
 * recent stores, whose addresses are data. Cycles are the core's. Most of them are answered inline. Private to core*.c.
 */
#ifndef AS_CORE_CORE_ASK_H
#define AS_CORE_CORE_ASK_H

#include "core/core_internal.h"
#include "core/memory_hit.h"

enum { GRANULES_MOST = 16 }; /* of a store that are noted */

static inline uint64_t granule_of(uint64_t address)
{
    return address / 8;
}

/* A line of code. */
static inline struct as_memory_answer as_core_ask_line(struct as_core *core, uint64_t cycle, uint64_t address)
{
    if (__builtin_expect(as_memory_hits_code(core->memory, cycle + core->offset, address), 1))
        return (struct as_memory_answer){.done = cycle};
    return in_core_time(core, as_memory_fetch(core->memory, cycle + core->offset, address));
}

/* ---- loads ---- */

/* The youngest older store that the load overlaps and that has not drained by `cycle`, or NULL. (An instruction that is
 * tried again finds the store of its first try: not an older one.) */
static inline const struct store *find_store(const struct as_core *core, const struct as_core_access *access,
                                             uint64_t cycle)
{
    const struct store *found = NULL;
    uint64_t end = access->address + access->size;
    for (uint64_t granule = granule_of(access->address); granule <= granule_of(end - 1); granule++) {
        if (core->store_granules[store_slot(granule)] != granule)
            continue;
        const struct store *store = &core->stores[store_slot(granule)];
        if (store->drained > cycle && store->number < core->n_stores && store->address < end &&
            access->address < store->end && (!found || store->number > found->number))
            found = store;
    }
    return found;
}

/* The load overlaps a store that has not drained: whether all of its data is there. */
static inline bool covers(const struct store *store, const struct as_core_access *access)
{
    return store->address <= access->address && access->address + access->size <= store->end;
}

/* Memory renaming: the load's register is another name for that which was stored. */
static inline bool is_renamed(const struct as_core *core, const struct store *store,
                              const struct as_core_access *access)
{
    return core->machine->back.rename_memory && access->renames && store->renames && store->address == access->address;
}

/* An atomic reads what it is going to write. */
static inline enum as_memory_kind load_kind(const struct as_core_access *access)
{
    return access->kind & AS_ACCESS_STORE ? AS_MEMORY_OWN : AS_MEMORY_LOAD;
}

/* False where its answer is not one of the two usual ones, the cache's and that of a store that covers it; then nothing
 * was asked. */
static inline bool as_core_ask_load(struct as_core *core, const struct as_core_access *access, uint64_t cycle,
                                    struct as_memory_answer *answer)
{
    const struct store *store = find_store(core, access, cycle);
    struct as_memory *memory = core->memory;
    if (!store) {
        if (__builtin_expect(load_kind(access) != AS_MEMORY_LOAD, 0))
            *answer = as_core_ask_access(core, AS_MEMORY_OWN, cycle, access);
        else if (__builtin_expect(as_memory_hits_load(memory, cycle + core->offset, access->address, access->size), 1))
            *answer = (struct as_memory_answer){.done = cycle + memory->l1d.hit};
        else
            *answer = as_core_load_slowly(core, access, cycle);
        return true;
    }
    if (core->machine->coherence.gather == AS_GATHER_UNREAD)
        core->pending[store->number & core->pending_mask].read = true;
    if (core->ideal & AS_EVENT_FL_MO)
        cycle = later(cycle, store->address_known);
    if (store->address_known > cycle || !covers(store, access))
        return false;
    if (is_renamed(core, store, access)) {
        uint64_t value = store->executed - core->machine->units[AS_UNIT_STORE].latency;
        *answer = (struct as_memory_answer){.done = later(cycle, value), .events = AS_EVENT_FORWARDED};
        return true;
    }
    *answer = (struct as_memory_answer){.done = later(cycle, store->data_known) + core->machine->back.forward_latency,
                                        .events = AS_EVENT_FORWARDED};
    return true;
}

/* ---- stores ---- */

static inline void note_store(struct as_core *core, const struct as_core_access *access, uint64_t address_known,
                              uint64_t data_known, uint64_t executed)
{
    uint64_t end = access->address + access->size, first = granule_of(access->address), last = granule_of(end - 1);
    struct store store = {.number = core->n_stores,
                          .address = access->address,
                          .end = end,
                          .address_known = address_known,
                          .data_known = data_known,
                          .drained = UINT64_MAX,
                          .executed = executed,
                          .renames = access->renames};
    for (uint64_t granule = first; granule <= last && granule - first < GRANULES_MOST; granule++) {
        uint32_t slot = store_slot(granule);
        core->store_granules[slot] = granule;
        core->stores[slot] = store;
    }
}

/* A store that has its address: it is translated, and noted for the loads behind it. The virtual address decides what
 * passes what: a load from there waits for the same translation. */
static inline struct as_memory_answer as_core_ask_translation(struct as_core *core, const struct as_core_access *access,
                                                              uint64_t known, uint64_t data)
{
    uint64_t last_byte = access->address + access->size - 1;
    struct as_memory_answer answer = {.done = known};
    if (access->address >> core->page_shift != last_byte >> core->page_shift ||
        !as_memory_hits_page(core->memory, known + core->offset, access->address))
        answer = as_core_translate_slowly(core, known, access);
    note_store(core, access, known, later(data, answer.done), data);
    return answer;
}

static inline void note_drained(struct as_core *core, const struct pending *pending, uint64_t drained)
{
    uint64_t first = granule_of(pending->address), last = granule_of(pending->address + pending->size - 1);
    for (uint64_t granule = first; granule <= last && granule - first < GRANULES_MOST; granule++) {
        uint32_t slot = store_slot(granule);
        struct store *store = &core->stores[slot];
        if (core->store_granules[slot] == granule && store->number == pending->number &&
            store->address == pending->address)
            store->drained = drained;
    }
}

/* The first pending store, which writes something, starts: when it has drained, and whether it waited for another core's line
 * (COHERENCE). */
static inline struct as_memory_answer as_core_ask_drain(struct as_core *core, uint64_t start)
{
    const struct pending *pending = &core->pending[core->n_drained & core->pending_mask];
    struct as_memory_answer answer = {.done = start};
    if (__builtin_expect(
            !as_memory_hits_store(core->memory, start + core->offset, pending->address, pending->size, pending->insn),
            0))
        answer = as_core_drain_slowly(core, pending, start);
    note_drained(core, pending, answer.done);
    return answer;
}

#endif
