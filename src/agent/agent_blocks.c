/* Which block had which memory last: a table from blocks to their size and site in the shared memory, for analyses of
 * addresses. See agent_wire.h.
 *
 * Unlike the table of what is live (agent_live.c), this one keeps blocks that were freed: Assay reads it when the program
 * has ended. A block takes its own slot, a free one, or that of an older block that began within its memory and so is
 * gone. The table therefore grows with the heap, not with the number of allocations.
 *
 * One compare-and-swap claims a slot. That takes no lock, so it also works in signal handlers. A block that finds no
 * slot is counted.
 */
#include "agent/agent.h"

enum {
    PROBES = 64,
    GRAIN = 5, /* log2 of the least distance between blocks of the C library */
};

static struct as_agent_block *table; /* NULL: nobody wants it */

void as_agent_blocks_use(void *mapped)
{
    table = mapped;
}

/* Neighbours have neighbouring homes, so that pages are used as the heap uses them. */
static struct as_agent_block *slot_of(uint64_t start, unsigned probe)
{
    uint64_t home = (start >> GRAIN) + (start >> GRAIN) / AS_AGENT_BLOCKS * UINT64_C(0x9e3779b97f4a7c15);
    return &table[(home + probe) & (AS_AGENT_BLOCKS - 1)];
}

static bool claim(struct as_agent_block *slot, uint64_t start, uint64_t bytes)
{
    uint64_t there = atomic_load_explicit(&slot->start, memory_order_relaxed);
    return (there == 0 || there - start < bytes) && atomic_compare_exchange_strong(&slot->start, &there, start);
}

/* `sequence` comes last. as_agent_each_block (agent_host.c) reads the file when the run is over, so a slot that is half written is that of a
 * process that was killed there, or still runs. */
void as_agent_blocks_add(struct as_agent_image *image, const void *block, size_t size, uint32_t site)
{
    if (!table)
        return;
    uint64_t start = (uintptr_t)block, bytes = size ? size : 1;
    uint64_t sequence = atomic_fetch_add_explicit(&image->taken, 1, memory_order_relaxed) + 1;
    for (unsigned i = 0; i < PROBES; i++) {
        struct as_agent_block *slot = slot_of(start, i);
        if (!claim(slot, start, bytes))
            continue;
        atomic_store_explicit(&slot->what, bytes * AS_AGENT_BLOCK_SITE + site, memory_order_relaxed);
        atomic_store_explicit(&slot->sequence, sequence, memory_order_release);
        return;
    }
    as_agent_add(&image->unplaced, 1);
}
