/* Memory: instruction and data caches, TLBs with their walker, the shared last level and DRAM, as times.
 *
 * An access asks "requested at cycle t, when is it there?" and gets the answer at once; calls come in program order for
 * each core, not in time order, so an access can be asked for an earlier cycle than the one before it. Structures with
 * a limited number of slots (MSHRs, walkers, DRAM banks, the bus) keep the times at which their slots are free; a line
 * that is being filled is present with the cycle at which its data arrives. doc/design/memory.md says what that
 * approximates.
 *
 * Private to a core: L1I, L1D, L2, TLBs. Shared (struct as_uncore): LLC and DRAM. One thread owns all cores.
 */
#ifndef AS_CORE_MEMORY_H
#define AS_CORE_MEMORY_H

#include "assay/pipe.h"
#include "core/machine.h"

struct as_uncore;
struct as_uncore *as_uncore_new(const struct as_machine *machine);
void as_uncore_free(struct as_uncore *uncore);

struct as_memory;
struct as_memory *as_memory_new(const struct as_machine *machine, struct as_uncore *uncore, uint32_t core);
void as_memory_free(struct as_memory *memory);

enum as_memory_kind {
    AS_MEMORY_LOAD,
    AS_MEMORY_STORE,    /* a committed store that drains: done is when the store queue entry is free */
    AS_MEMORY_PREFETCH, /* never faults, never waits; done is when the request was accepted */
    AS_MEMORY_FLUSH,    /* the line leaves all caches */
};

struct as_memory_answer {
    uint64_t done;   /* the data is there (a hit: t + L1 latency) */
    uint32_t events; /* ST_L1, ST_TLB, ST_LLC, L2_HIT, LLC_HIT, PREFETCHED, BANK; for fetches DR_L1, DR_TLB */
    bool fault;      /* first touch of its page: done is when the walk found that out; ask again after handling it */
};

/* A data access; one that crosses a line is two, the later one counts. */
struct as_memory_answer as_memory_access(struct as_memory *memory, enum as_memory_kind kind, uint64_t cycle,
                                         uint64_t address, uint32_t size);
/* The instruction line that holds `address`. done == cycle where it hits (the hit latency is part of front.depth). */
struct as_memory_answer as_memory_fetch(struct as_memory *memory, uint64_t cycle, uint64_t address);

struct as_memory_counters {
    uint64_t l1i_accesses, l1i_misses, l1d_accesses, l1d_misses, l2_accesses, l2_misses, llc_accesses, llc_misses;
    uint64_t itlb_misses, dtlb_misses, l2tlb_misses, walks, dram_reads, dram_writes, row_hits, prefetches, faults;
};
void as_memory_count(const struct as_memory *memory,
                     struct as_memory_counters *counters); /* the shared part included */

#endif
