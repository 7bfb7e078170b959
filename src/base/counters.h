/* The counters of a modelled run: one table, from which the core, the model, profiles, `compare` and the page read.
 *
 * Each line of AS_COUNTERS is a counter:
 *   - its name: the member of struct as_counters, and the name in profiles, JSON and documents;
 *   - how those of several cores add up (enum as_counter_adds);
 *   - the group and the label under which people read it;
 *   - the counter that it is a part of and what a share of that is called, or NULL.
 * To add one: a line here, and the place that counts it (src/core, or src/model for what a core does not know).
 *
 * Accesses are single lines. A miss asks the level below; an access that finds its line on its way is a merge, not a
 * miss. So: accesses of L2 = misses + prefetches of L1I and L1D + walk_accesses (of LLC where there is no L2),
 * accesses of LLC = misses + prefetches of L2, dram_reads = misses + prefetches of LLC.
 */
#ifndef AS_BASE_COUNTERS_H
#define AS_BASE_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#define AS_COUNTERS(X)                                                                                                 \
    X(instructions, SUM, "Work", "Instructions", NULL, NULL)                                                           \
    X(uops, SUM, "Work", "Micro-operations", NULL, NULL)                                                               \
    X(wrong_path_instructions, SUM, "Work", "Instructions on wrong paths", NULL, NULL)                                 \
    X(processes, MOST,"Work", "Processes", NULL, NULL)                                                                 \
    X(threads, MOST,"Work", "Threads", NULL, NULL)                                                                     \
    X(branches, SUM, "Branches", "Branches", NULL, NULL)                                                               \
    X(branch_mispredictions, SUM, "Branches", "Mispredicted", "branches", "of the branches")                           \
    X(btb_misses, SUM, "Branches", "Unknown targets (BTB misses)", "branches", "of the branches")                      \
    X(l1i_accesses, SUM, "Instruction fetch", "L1 instruction cache accesses", NULL, NULL)                             \
    X(l1i_misses, SUM, "Instruction fetch", "L1 instruction cache misses", "l1i_accesses", "of the accesses")          \
    X(l1i_merges, SUM, "Instruction fetch", "L1 instruction lines already on their way", "l1i_accesses", "of the accesses") \
    X(l1i_prefetches, SUM, "Instruction fetch", "Prefetches into the L1 instruction cache", NULL, NULL)                \
    X(itlb_misses, SUM, "Instruction fetch", "Instruction TLB misses", NULL, NULL)                                     \
    X(l1d_accesses, SUM, "Data", "L1 data cache accesses", NULL, NULL)                                                 \
    X(l1d_misses, SUM, "Data", "L1 data cache misses", "l1d_accesses", "of the accesses")                              \
    X(l1d_merges, SUM, "Data", "L1 data lines already on their way", "l1d_accesses", "of the accesses")                \
    X(l1d_prefetches, SUM, "Data", "Prefetches into the L1 data cache", NULL, NULL)                                    \
    X(l2_accesses, SUM, "Data", "L2 accesses", NULL, NULL)                                                             \
    X(l2_misses, SUM, "Data", "L2 misses", "l2_accesses", "of the accesses")                                           \
    X(l2_merges, SUM, "Data", "L2 lines already on their way", "l2_accesses", "of the accesses")                       \
    X(l2_prefetches, SUM, "Data", "Prefetches into L2", NULL, NULL)                                                    \
    X(llc_accesses, MAX, "Data", "Last-level cache accesses", NULL, NULL)                                              \
    X(llc_misses, MAX, "Data", "Last-level cache misses", "llc_accesses", "of the accesses")                           \
    X(llc_merges, MAX, "Data", "Last-level lines already on their way", "llc_accesses", "of the accesses")             \
    X(llc_prefetches, MAX, "Data", "Prefetches into the last-level cache", NULL, NULL)                                 \
    X(prefetches, DERIVED, "Data", "Prefetches into all caches", NULL, NULL)                                           \
    X(store_forwards, SUM, "Data", "Loads served by queued stores", NULL, NULL)                                        \
    X(dtlb_misses, SUM, "Address translation", "Data TLB misses", "l1d_accesses", "of the data accesses")              \
    X(l2tlb_misses, SUM, "Address translation", "L2 TLB misses", NULL, NULL)                                           \
    X(page_walks, SUM, "Address translation", "Page walks", NULL, NULL)                                                \
    X(walk_accesses, SUM, "Address translation", "Accesses of page walks", NULL, NULL)                            \
    X(page_faults, SUM, "Address translation", "Pages touched first", NULL, NULL)                                      \
    X(dram_reads, MAX, "DRAM", "Reads", NULL, NULL)                                                                    \
    X(dram_writes, MAX, "DRAM", "Writes", NULL, NULL)                                                                  \
    X(dram_requests, DERIVED, "DRAM", "Requests", NULL, NULL)                                                          \
    X(dram_row_hits, MAX, "DRAM", "Open row hits", "dram_requests", "of the requests")                                 \
    X(flushes, SUM, "Flushes", "Flushes at commit", NULL, NULL)                                                        \
    X(memory_order_violations, SUM, "Flushes", "Memory-order violations", NULL, NULL)                                  \
    X(cycles, SUM, "Time", "Cycles of all threads", NULL, NULL)                                                        \
    X(elapsed_cycles, MAX, "Time", "Cycles from start to end", NULL, NULL)                                             \
    X(kernel_cycles, SUM, "Time", "In the kernel (not in the profile)", NULL, NULL)
/* clang-format on */

#define AS_COUNTER_MEMBER(name, ...) uint64_t name;
struct as_counters {
    AS_COUNTERS(AS_COUNTER_MEMBER)
};
#undef AS_COUNTER_MEMBER

enum as_counter_adds {
    AS_COUNTER_SUM,     /* each core has its own */
    AS_COUNTER_MAX,     /* the machine has one, of which every core reports the whole as it was when the core stopped */
    AS_COUNTER_MOST,    /* the same, of a number that several runs have in common: it is not the sum of theirs */
    AS_COUNTER_DERIVED, /* follows from others, and is computed again */
};

struct as_counter_info {
    const char *name, *group, *label;
    const char *whole, *of; /* NULL: a share of nothing */
    enum as_counter_adds adds;
    size_t offset; /* in struct as_counters */
};

/* All of them, in the order in which they are shown. */
extern const struct as_counter_info as_counter_table[];
extern const size_t as_counter_count;

/* By name; NULL where there is none of that name. */
const struct as_counter_info *as_counter_find(const char *name);
uint64_t as_counter_value(const struct as_counters *counters, const struct as_counter_info *counter);

/* Computes those that follow from others. */
void as_counters_derive(struct as_counters *counters);
/* Adds what another core of the same machine counted. */
void as_counters_add(struct as_counters *to, const struct as_counters *from);
/* Adds what the same machine counted later on: all of it. */
void as_counters_append(struct as_counters *to, const struct as_counters *later);
/* Takes off what had been counted before, of the counters that add up in that way. */
void as_counters_subtract(struct as_counters *from, const struct as_counters *before, enum as_counter_adds adds);

#endif
