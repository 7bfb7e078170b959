/* AMD instruction-based sampling: the raw data of ibs_op and ibs_fetch samples. The kernel writes the capabilities
 * (CPUID Fn8000_001B EAX) and then the values of the registers; each attribute of the tagged operation is a field of
 * one.
 *
 * Fields: AMD's Processor Programming Reference (IBS registers MSRC001_1030 to _103D), and which registers follow the
 * capabilities: arch/x86/events/amd/ibs.c of Linux. Decoded from bytes here; this has not run on a processor with IBS.
 */
#ifndef AS_PERFDATA_IBS_RAW_H
#define AS_PERFDATA_IBS_RAW_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum as_ibs_source {
    AS_IBS_SOURCE_NONE, /* a hit in L1 or L2, or not a load */
    AS_IBS_LOCAL_CACHE, /* L3 of this core complex, or another core's L1 or L2 in it */
    AS_IBS_NEAR_CACHE,  /* another core complex on the same node */
    AS_IBS_FAR_CACHE,   /* a core complex on another node */
    AS_IBS_DRAM,
    AS_IBS_PERSISTENT,
    AS_IBS_IO,
    AS_IBS_EXTENSION, /* CXL and other extension memory */
    AS_IBS_PEER,      /* coherent memory of another kind of processor */
    AS_IBS_RESERVED
};

struct as_ibs_op {
    uint32_t caps;
    bool valid; /* the sample was taken: enabled and valid are set */
    /* IbsOpCtl */
    uint32_t max_count, current_count;
    bool counts_ops; /* tagged by count of dispatched operations, not by cycles */
    bool l3_miss_only, latency_filter;
    uint32_t latency_threshold; /* cycles, 128 to 2048; 0: no filter */
    uint64_t rip;
    bool rip_invalid;
    /* IbsOpData */
    uint16_t completion_to_retire, tag_to_retire; /* cycles */
    bool branch, taken, mispredicted, is_return, fused, microcode;
    uint64_t branch_target; /* 0: unknown */
    /* IbsOpData2: the source of the data after a load's miss */
    enum as_ibs_source source;
    uint8_t source_code; /* as in the register */
    bool source_known, remote_node;
    bool state_known, owned_hit; /* another cache had the line in owned state; otherwise modified */
    /* IbsOpData3 */
    bool load, store, prefetch, locked;
    bool l1_miss, l2_miss, misaligned, write_combining, uncacheable, no_miss_buffer;
    bool l2_miss_known;
    bool tlb_l1_miss, tlb_l2_miss, tlb_l1_2m, tlb_l1_1g, tlb_l2_2m, tlb_l2_1g;
    uint8_t width;                      /* bytes; 0: unknown */
    uint8_t open_requests;              /* misses outstanding when the line arrived */
    uint16_t miss_latency, tlb_latency; /* cycles */
    bool address_valid, physical_valid;
    uint64_t address, physical;
    uint64_t data4; /* 0 if the processor does not have it */
};

struct as_ibs_fetch {
    uint32_t caps;
    bool valid;
    uint32_t max_count, count;
    uint16_t latency; /* cycles */
    bool complete, l1_miss, l1_miss_known, l2_miss, l2_miss_known, l3_miss, op_cache_miss, l3_miss_only, random;
    bool tlb_l1_miss, tlb_l2_miss;
    uint32_t page_kib; /* 0: unknown */
    uint64_t address, physical;
    bool physical_valid;
    uint16_t tlb_latency; /* cycles; 0 if the processor does not record them */
};

/* Processors with errata in these registers; from the file's cpu_id ("AuthenticAMD,25,1,1"). Zeros: no known errata. */
struct as_ibs_cpu {
    unsigned family, model;
};
struct as_ibs_cpu as_ibs_cpu(const char *cpu_id); /* NULL: unknown */

/* Returns false if the data is too short to be such a sample. */
bool as_ibs_op_decode(const uint8_t *raw, size_t size, struct as_ibs_cpu cpu, struct as_ibs_op *op);
bool as_ibs_fetch_decode(const uint8_t *raw, size_t size, struct as_ibs_cpu cpu, struct as_ibs_fetch *fetch);
const char *as_ibs_source_name(enum as_ibs_source source);

#endif
