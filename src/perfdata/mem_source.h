/* Describes in words what samples contain about memory accesses, branches and transactions: PERF_SAMPLE_DATA_SRC as the
 * kernel encodes it for Intel PEBS, AMD IBS, Arm SPE and others (linux/perf_event.h), branch entries (LBR), transaction
 * aborts. */
#ifndef AS_PERFDATA_MEM_SOURCE_H
#define AS_PERFDATA_MEM_SOURCE_H

#include "base/str.h"
#include "perfdata/perfdata.h"

enum as_mem_level {
    AS_MEM_LEVEL_UNKNOWN,
    AS_MEM_L1,
    AS_MEM_FILL_BUFFER, /* the line was on its way (Intel: line fill buffer; others: miss buffer) */
    AS_MEM_L2,
    AS_MEM_L3,
    AS_MEM_L4,
    AS_MEM_CACHE, /* a cache that the processor does not specify further */
    AS_MEM_RAM,
    AS_MEM_PERSISTENT,
    AS_MEM_CXL,
    AS_MEM_IO,
    AS_MEM_UNCACHED,
    AS_MEM_L0,
    AS_MEM_LEVELS
};

struct as_mem_source {
    bool load, store, prefetch, fetch; /* none: not known */
    enum as_mem_level level;           /* where the data came from */
    bool hit, miss;                    /* in that level; neither: not recorded */
    bool remote;                       /* from another node, socket or core */
    uint8_t hops;                      /* 1 core on the same node, 2 node, 3 socket, 4 board; 0: not recorded */
    bool snoop_known, snooped, snoop_hit, snoop_miss, snoop_modified; /* snooped false, known true: no snoop needed */
    bool forwarded, from_peer;
    bool lock_known, locked;
    bool tlb_known, tlb_hit, tlb_miss, tlb_l1, tlb_l2, tlb_walk, tlb_fault;
    bool blocked_data, blocked_address; /* store not forwardable; address conflict */
};

struct as_mem_source as_mem_source_decode(uint64_t data_src);
const char *as_mem_level_name(enum as_mem_level level);          /* "L1", "RAM" … */
void as_mem_source_text(uint64_t data_src, struct as_str *text); /* "load, L3 hit, snoop hit modified, TLB L1 hit" */

const char *as_branch_type_name(const struct as_perf_branch *branch);          /* "call", "return" …; "" unknown */
void as_branch_text(const struct as_perf_branch *branch, struct as_str *text); /* as perf script: 0xa/0xb/P/-/-/12 */
void as_transaction_text(uint64_t transaction, struct as_str *text);           /* "elision conflict retry code 0x1" */

#endif
