/* AMD's IBS: turns the registers in a sample's raw data into facts. See import_facts.h; perfdata/ibs_raw.h decodes the
 * registers.
 *
 * These values are not used: the count at the interrupt (the delay of the interrupt), the maximum count (it is the
 * period), and physical addresses, which no report shows.
 */
#include "import/import_facts.h"
#include "perfdata/mem_source.h"

enum { DATA4_RESYNC = 1 }; /* AMD family 15h, models 60h to 7Fh; reserved on others */

static uint64_t bit(unsigned number, bool set)
{
    return as_import_bit(number, set);
}

/* ---- operations ---- */

/* Where a load's miss was refilled from. The node is known for memory only. */
static uint64_t source_of(const struct as_ibs_op *op)
{
    static const struct {
        uint8_t level;
        bool remote, far, memory;
    } sources[] = {
        [AS_IBS_LOCAL_CACHE] = {.level = AS_MEM_L3},
        [AS_IBS_NEAR_CACHE] = {.level = AS_MEM_CACHE, .remote = true},
        [AS_IBS_FAR_CACHE] = {.level = AS_MEM_CACHE, .far = true}, /* which is remote, too */
        [AS_IBS_DRAM] = {.level = AS_MEM_RAM, .memory = true},
        [AS_IBS_PERSISTENT] = {.level = AS_MEM_PERSISTENT, .memory = true},
        [AS_IBS_IO] = {.level = AS_MEM_IO},
        [AS_IBS_EXTENSION] = {.level = AS_MEM_CXL, .memory = true},
        [AS_IBS_PEER] = {.level = AS_BIT_PEER},
        [AS_IBS_RESERVED] = {0},
    };
    if (!op->load || !op->source_known || sources[op->source].level == 0)
        return 0;
    bool far = sources[op->source].far || (op->remote_node && sources[op->source].memory);
    return bit(sources[op->source].level, true) | bit(AS_BIT_REMOTE, sources[op->source].remote || far) |
           bit(AS_BIT_FAR_NODE, far);
}

/* Cache hits and misses have no meaning for uncacheable memory. */
static bool is_cached(const struct as_ibs_op *op)
{
    return !op->uncacheable;
}

/* Where the data came from, as the kernel reports it in PERF_SAMPLE_DATA_SRC (Linux arch/x86/events/amd/ibs.c). A miss
 * that found the line on its way has no miss buffer of its own, but its source may still be known. */
static uint64_t level_of(const struct as_ibs_op *op)
{
    uint64_t source = source_of(op);
    if (!is_cached(op))
        return op->source_known && op->source == AS_IBS_IO && source ? source : bit(AS_MEM_UNCACHED, true);
    if (!op->l1_miss)
        return bit(AS_MEM_L1, true);
    if (op->l2_miss_known && !op->l2_miss)
        return bit(AS_MEM_L2, true);
    return source ? source : bit(AS_MEM_FILL_BUFFER, op->no_miss_buffer);
}

/* The state that the line had in another cache. */
static uint64_t state_of(const struct as_ibs_op *op)
{
    bool cache = op->source == AS_IBS_LOCAL_CACHE || op->source == AS_IBS_NEAR_CACHE || op->source == AS_IBS_FAR_CACHE;
    bool known =
        op->load && is_cached(op) && op->l1_miss && op->l2_miss && op->source_known && op->state_known && cache;
    return bit(AS_BIT_OWNED, known && op->owned_hit) | bit(AS_BIT_MODIFIED, known && !op->owned_hit);
}

static uint64_t tlb_bits(const struct as_ibs_op *op)
{
    bool missed = op->tlb_l1_miss;
    if (!op->address_valid)
        return 0;
    return bit(AS_BIT_TLB_MISS, missed) | bit(AS_BIT_TLB_WALK, missed && op->tlb_l2_miss) |
           bit(AS_BIT_PAGE_2M, missed ? op->tlb_l2_2m : op->tlb_l1_2m) |
           bit(AS_BIT_PAGE_1G, missed ? op->tlb_l2_1g : op->tlb_l1_1g);
}

static uint64_t data_bits(const struct as_ibs_op *op)
{
    if (!op->load && !op->store)
        return 0;
    return level_of(op) | state_of(op) | tlb_bits(op) | bit(AS_BIT_LOAD, op->load) | bit(AS_BIT_STORE, op->store) |
           bit(AS_BIT_PREFETCH, op->prefetch) | bit(AS_BIT_LOCKED, op->locked) |
           bit(AS_BIT_L1_MISS, is_cached(op) && op->l1_miss) |
           bit(AS_BIT_L2_MISS, is_cached(op) && op->l2_miss_known && op->l2_miss) |
           bit(AS_BIT_MISALIGNED, op->misaligned) | bit(AS_BIT_WRITE_COMBINING, op->write_combining) |
           bit(AS_BIT_RESYNC, op->load && op->data4 & DATA4_RESYNC);
}

static uint64_t branch_bits(const struct as_ibs_op *op)
{
    return bit(AS_BIT_BRANCH, op->branch) | bit(AS_BIT_TAKEN, op->branch && op->taken) |
           bit(AS_BIT_NOT_TAKEN, op->branch && !op->taken) | bit(AS_BIT_MISPREDICTED, op->mispredicted) |
           bit(AS_BIT_RETURN, op->is_return);
}

static void add_op_values(const struct as_ibs_op *op, struct as_import_facts *facts)
{
    bool missed = op->load && is_cached(op) && op->l1_miss;
    as_import_add_value(facts, AS_KIND_TAG_TO_RETIRE, op->tag_to_retire);
    as_import_add_value(facts, AS_KIND_COMPLETION_TO_RETIRE, op->completion_to_retire);
    if (missed)
        as_import_add_value(facts, AS_KIND_MISS_LATENCY, op->miss_latency);
    if ((op->load || op->store) && op->address_valid && op->tlb_l1_miss)
        as_import_add_value(facts, AS_KIND_TLB_LATENCY, op->tlb_latency);
    if (missed && op->l2_miss_known && op->l2_miss)
        as_import_add_value(facts, AS_KIND_OPEN_REQUESTS, op->open_requests);
}

static bool op_facts(const struct as_perf_sample *sample, struct as_import_tagging *tagging, struct as_import_raw *raw,
                     struct as_import_facts *facts)
{
    struct as_ibs_op op;
    if (!as_ibs_op_decode(sample->raw, sample->raw_size, tagging->cpu, &op)) {
        raw->bad++;
        return false;
    }
    if (!op.valid) {
        raw->invalid++;
        return false;
    }
    tagging->known = true;
    tagging->counts_ops = op.counts_ops;
    tagging->l3_miss_only = op.l3_miss_only;
    tagging->latency_threshold = op.latency_threshold;
    *facts =
        (struct as_import_facts){.events = data_bits(&op) | branch_bits(&op) | bit(AS_BIT_FUSED, op.fused) |
                                           bit(AS_BIT_MICROCODE, op.microcode) | bit(AS_BIT_IP_UNSURE, op.rip_invalid),
                                 .tells_address = op.load || op.store,
                                 .address = op.address,
                                 .size = op.width,
                                 .kind = (uint8_t)((op.load ? AS_STORE_LOAD : 0) | (op.store ? AS_STORE_STORE : 0)),
                                 .branched = op.taken && op.branch_target,
                                 .mispredicted = op.mispredicted,
                                 .target = op.branch_target};
    add_op_values(&op, facts);
    return true;
}

/* ---- fetches ---- */

static bool fetch_facts(const struct as_perf_sample *sample, struct as_import_tagging *tagging,
                        struct as_import_raw *raw, struct as_import_facts *facts)
{
    struct as_ibs_fetch fetch;
    if (!as_ibs_fetch_decode(sample->raw, sample->raw_size, tagging->cpu, &fetch)) {
        raw->bad++;
        return false;
    }
    if (!fetch.valid) {
        raw->invalid++;
        return false;
    }
    tagging->known = true;
    tagging->random = fetch.random;
    tagging->l3_miss_only = fetch.l3_miss_only;
    *facts = (struct as_import_facts){
        .events = bit(AS_BIT_INCOMPLETE, !fetch.complete) | bit(AS_BIT_L1_MISS, fetch.l1_miss) |
                  bit(AS_BIT_L2_MISS, fetch.l2_miss_known && fetch.l2_miss) | bit(AS_BIT_LLC_MISS, fetch.l3_miss) |
                  bit(AS_BIT_OP_CACHE_MISS, fetch.op_cache_miss) | bit(AS_BIT_TLB_MISS, fetch.tlb_l1_miss) |
                  bit(AS_BIT_TLB_WALK, fetch.tlb_l1_miss && fetch.tlb_l2_miss) |
                  bit(AS_BIT_PAGE_2M, fetch.page_kib == 2048) | bit(AS_BIT_PAGE_1G, fetch.page_kib == 1048576)};
    as_import_add_value(facts, AS_KIND_FETCH_LATENCY, fetch.latency);
    if (fetch.tlb_l1_miss && fetch.tlb_latency)
        as_import_add_value(facts, AS_KIND_TLB_LATENCY, fetch.tlb_latency);
    return true;
}

void as_import_ibs_facts(const struct as_perf_sample *sample, struct as_import_tagging *tagging,
                         struct as_import_raw *raw, struct as_import_facts *facts)
{
    bool op = tagging->unit == AS_IMPORT_IBS_OP;
    raw->decoded += op ? op_facts(sample, tagging, raw, facts) : fetch_facts(sample, tagging, raw, facts);
}
