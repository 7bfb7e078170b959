/* Names of the events of samples, and the kernel's data sources. See import_facts.h. */
#include "import/import_facts.h"
#include "perfdata/mem_source.h"

#include <linux/perf_event.h>

_Static_assert((int)AS_MEM_LEVELS <= (int)AS_BIT_L1_MISS, "levels have the bits below");
_Static_assert(AS_BIT_PAGE_1G < AS_BIT_REMOTE && AS_BIT_DAMAGED < 63, "a component's bits are a positive number");

static const struct {
    uint32_t bit;
    const char *name, *description;
} others[] = {
    {AS_BIT_L1_MISS, "L1-miss", "the access missed the first-level data cache, or the fetch the instruction cache"},
    {AS_BIT_L2_MISS, "L2-miss", "it missed the second-level cache"},
    {AS_BIT_LLC_MISS, "LLC-miss", "it missed the last-level cache"},
    {AS_BIT_TLB_WALK, "TLB-walk", "the translation missed the last-level TLB: page tables were walked"},
    {AS_BIT_MISALIGNED, "misaligned", "the access crosses an alignment boundary and takes longer"},
    {AS_BIT_MISPREDICTED, "mispredicted", "the branch was mispredicted"},
    {AS_BIT_BRANCH, "branch", "a branch"},
    {AS_BIT_TAKEN, "taken", "the branch was taken"},
    {AS_BIT_NOT_TAKEN, "not-taken", "the branch was not taken"},
    {AS_BIT_RETURN, "return", "the branch is a return"},
    {AS_BIT_FUSED, "fused", "a compare and its branch, as one operation"},
    {AS_BIT_MICROCODE, "microcode", "an operation of microcode"},
    {AS_BIT_LOAD, "load", "a load"},
    {AS_BIT_STORE, "store", "a store"},
    {AS_BIT_PREFETCH, "prefetch", "a software prefetch"},
    {AS_BIT_WRITE_COMBINING, "write-combining", "the access was to write-combining memory"},
    {AS_BIT_OWNED, "owned", "another cache had the line in owned state"},
    {AS_BIT_PAGE_2M, "page-2M", "the translation is of a page of 2 MiB"},
    {AS_BIT_PAGE_1G, "page-1G", "the translation is of a page of 1 GiB"},
    {AS_BIT_REMOTE, "remote", "the data came from another core, node or socket"},
    {AS_BIT_MODIFIED, "modified", "another core had changed the line (HITM)"},
    {AS_BIT_TLB_MISS, "TLB-miss", "the translation missed the first-level TLB"},
    {AS_BIT_LOCKED, "locked", "a locked access"},
    {AS_BIT_BLOCKED, "blocked", "the load waited for an earlier store"},
    {AS_BIT_MISSED, "missed", "the access missed in the named level"},
    {AS_BIT_FAR_NODE, "far-node", "the data came from another node"},
    {AS_BIT_PEER, "peer-memory", "the data came from the memory of another kind of processor"},
    {AS_BIT_RESYNC, "resync", "the load was repeated, because another core wrote the line meanwhile"},
    {AS_BIT_IP_UNSURE, "ip-unsure",
     "the processor did not record the address of the instruction: the address is where the "
     "interrupt came"},
    {AS_BIT_INCOMPLETE, "incomplete", "the fetch was abandoned before it was complete"},
    {AS_BIT_OP_CACHE_MISS, "op-cache-miss", "the fetch missed the cache of decoded operations"},
    {AS_BIT_EXCEPTION, "exception", "the operation ended in an exception"},
    {AS_BIT_NOT_RETIRED, "not-retired", "the operation was speculative and did not retire"},
    {AS_BIT_TRANSACTIONAL, "transactional", "in a transaction"},
    {AS_BIT_PARTIAL_PREDICATE, "partial-predicate", "not all elements of the vector were active"},
    {AS_BIT_EMPTY_PREDICATE, "empty-predicate", "no element of the vector was active"},
    {AS_BIT_ATOMIC, "atomic", "an atomic access"},
    {AS_BIT_EXCLUSIVE, "exclusive", "an exclusive load or store"},
    {AS_BIT_ACQUIRE_RELEASE, "acquire-release", "an access with acquire or release order"},
    {AS_BIT_CONDITIONAL, "conditional", "a conditional operation"},
    {AS_BIT_INDIRECT, "indirect", "an indirect branch"},
    {AS_BIT_SIMD, "SIMD", "an access of floating-point or SIMD registers"},
    {AS_BIT_SVE, "SVE", "an access of scalable vector registers"},
    {AS_BIT_RECENT, "recently-fetched", "the line had been fetched shortly before"},
    {AS_BIT_SNOOPED, "snooped", "another core was asked for the line"},
    {AS_BIT_STREAMING, "streaming", "in streaming SVE mode"},
    {AS_BIT_SHARED_UNIT, "shared-unit", "done by a unit that cores share"},
    {AS_BIT_DAMAGED, "damaged", "parts of its record could not be decoded"},
};

uint64_t as_import_source(const struct as_perf_sample *sample)
{
    if (!(sample->has & PERF_SAMPLE_DATA_SRC))
        return 0;
    struct as_mem_source source = as_mem_source_decode(sample->data_src);
    return as_import_bit(source.level, source.level != AS_MEM_LEVEL_UNKNOWN && source.level < AS_MEM_LEVELS) |
           as_import_bit(AS_BIT_REMOTE, source.remote) | as_import_bit(AS_BIT_MODIFIED, source.snoop_modified) |
           as_import_bit(AS_BIT_TLB_MISS, source.tlb_known && (source.tlb_miss || source.tlb_walk)) |
           as_import_bit(AS_BIT_LOCKED, source.locked) |
           as_import_bit(AS_BIT_BLOCKED, source.blocked_data || source.blocked_address) |
           as_import_bit(AS_BIT_MISSED, source.miss && !source.hit) |
           /* All that is said of some stores: without a bit, the sample would be one of no access. */
           as_import_bit(AS_BIT_STORE, source.store && source.level == AS_MEM_LEVEL_UNKNOWN);
}

static void add_event(struct as_store_writer *writer, uint32_t bit, const char *name, const char *description)
{
    as_store_add_event(writer, &(struct as_store_event){
                                   .bit = bit, .name = name, .description = description, .parent = AS_STORE_NONE});
}

void as_import_source_events(struct as_store_writer *writer, uint64_t used)
{
    for (uint32_t level = 1; level < AS_MEM_LEVELS; level++)
        if (used >> level & 1)
            add_event(writer, level, as_mem_level_name(level), "where the data came from");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (used >> others[i].bit & 1)
            add_event(writer, others[i].bit, others[i].name, others[i].description);
}
