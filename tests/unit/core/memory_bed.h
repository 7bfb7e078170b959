/* What the memory tests share: a machine with round numbers, and a core's memory on it. */
#ifndef AS_TESTS_MEMORY_BED_H
#define AS_TESTS_MEMORY_BED_H

#include "bed_random.h"
#include "core/memory.h"

#include <string.h>

/* One cycle is one nanosecond. L1 2 cycles, L2 10, LLC 20; DRAM: CAS 30, RCD 20, RP 15, 8 for a line, 5 overhead. TLBs
 * are so large, and pages there from the start, that they do not get in the way. Sizes are small: 4 KiB (16 sets of 4),
 * 32 KiB, 256 KiB. */
enum {
    BED_L1 = 2,
    BED_L2 = 10,
    BED_LLC = 20,
    BED_CAS = 30,
    BED_RCD = 20,
    BED_RP = 15,
    BED_BURST = 8,
    BED_OVERHEAD = 5,
    BED_LINE = 64,
    BED_PAGE = 4096,
    BED_ROW = 4096,
    BED_BANKS = 8,
    BED_TO_DRAM = BED_L1 + BED_L2 + BED_LLC,
    BED_ROW_HIT = BED_CAS + BED_BURST + BED_OVERHEAD,
    BED_ROW_CLOSED = BED_RCD + BED_ROW_HIT,
    BED_ROW_CONFLICT = BED_RP + BED_ROW_CLOSED,
};

static inline struct as_machine bed_machine(void)
{
    struct as_machine machine = {.frequency = 1e9};
    machine.memory.line = BED_LINE;
    machine.memory.page = BED_PAGE;
    machine.memory.l1i = (struct as_cache_machine){.size = 4 << 10, .ways = 4, .latency = 1, .mshrs = 4};
    machine.memory.l1d = (struct as_cache_machine){.size = 4 << 10, .ways = 4, .latency = BED_L1, .mshrs = 4};
    machine.memory.l2 = (struct as_cache_machine){.size = 32 << 10, .ways = 8, .latency = BED_L2, .mshrs = 32};
    machine.memory.llc = (struct as_cache_machine){.size = 256 << 10, .ways = 16, .latency = BED_LLC, .mshrs = 32};
    machine.memory.itlb = machine.memory.dtlb = (struct as_tlb_machine){.entries = 512, .ways = 512};
    machine.memory.walk_levels = 1;
    machine.memory.walkers = 1;
    machine.dram.banks = BED_BANKS;
    machine.dram.row_bytes = BED_ROW;
    machine.dram.cas_ns = BED_CAS;
    machine.dram.rcd_ns = BED_RCD;
    machine.dram.rp_ns = BED_RP;
    machine.dram.overhead_ns = BED_OVERHEAD;
    machine.dram.bandwidth = (double)BED_LINE / BED_BURST * 1e9;
    machine.dram.queue = 64;
    return machine;
}

struct bed {
    struct as_machine machine;
    struct as_uncore *uncore;
    struct as_memory *memory;
};

static inline struct bed bed_open(struct as_machine machine)
{
    struct bed bed = {.machine = machine};
    bed.uncore = as_uncore_new(&machine);
    bed.memory = as_memory_new(&machine, bed.uncore, 0);
    return bed;
}

static inline void bed_close(struct bed *bed)
{
    as_memory_free(bed->memory);
    as_uncore_free(bed->uncore);
}

static inline struct as_memory_answer bed_ask(struct bed *bed, enum as_memory_kind kind, uint64_t cycle,
                                              uint64_t address)
{
    return as_memory_access(bed->memory, kind, cycle, address, 8);
}

static inline uint64_t bed_load(struct bed *bed, uint64_t cycle, uint64_t address)
{
    return bed_ask(bed, AS_MEMORY_LOAD, cycle, address).done;
}

static inline struct as_counters bed_count(const struct bed *bed)
{
    struct as_counters counters = {0};
    as_memory_count(bed->memory, &counters);
    return counters;
}

/* Everything that matters behind the data cache is in place: the page is in the TLB. The line next to the end of the
 * page is used, so give each test pages of its own. Returns a cycle by which all is quiet. */
static inline uint64_t bed_warm_page(struct bed *bed, uint64_t address)
{
    as_memory_translate(bed->memory, 1, address);
    return 10000;
}

#endif
