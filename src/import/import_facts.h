/* Facts of samples in one form: the events that happened to the sampled operation (bits, a component), numbers (mostly
 * latencies: measures), the data that it accessed, and its branch target.
 *
 * The code for AMD's IBS and Arm's SPE has never run on such a processor: its test data was made from the manuals.
 */
#ifndef AS_IMPORT_FACTS_H
#define AS_IMPORT_FACTS_H

#include "perfdata/ibs_raw.h"
#include "perfdata/perfdata.h"
#include "store/store_write.h"

/* ---- events: import_source.c ---- */

/* Bits of components. A bit below 13 tells where the data came from: enum as_mem_level. */
enum as_import_bit {
    AS_BIT_L1_MISS = 13,
    AS_BIT_L2_MISS,
    AS_BIT_LLC_MISS,
    AS_BIT_TLB_WALK,
    AS_BIT_MISALIGNED,
    AS_BIT_MISPREDICTED,
    AS_BIT_BRANCH,
    AS_BIT_TAKEN,
    AS_BIT_NOT_TAKEN,
    AS_BIT_RETURN,
    AS_BIT_FUSED,
    AS_BIT_MICROCODE,
    AS_BIT_LOAD,
    AS_BIT_STORE,
    AS_BIT_PREFETCH,
    AS_BIT_WRITE_COMBINING,
    AS_BIT_OWNED,
    AS_BIT_PAGE_2M,
    AS_BIT_PAGE_1G,
    AS_BIT_REMOTE = 32,
    AS_BIT_MODIFIED,
    AS_BIT_TLB_MISS,
    AS_BIT_LOCKED,
    AS_BIT_BLOCKED,
    AS_BIT_MISSED,
    AS_BIT_FAR_NODE,
    AS_BIT_PEER,
    AS_BIT_RESYNC,
    AS_BIT_IP_UNSURE,
    AS_BIT_INCOMPLETE,
    AS_BIT_OP_CACHE_MISS,
    AS_BIT_EXCEPTION,
    AS_BIT_NOT_RETIRED,
    AS_BIT_TRANSACTIONAL,
    AS_BIT_PARTIAL_PREDICATE,
    AS_BIT_EMPTY_PREDICATE,
    AS_BIT_ATOMIC,
    AS_BIT_EXCLUSIVE,
    AS_BIT_ACQUIRE_RELEASE,
    AS_BIT_CONDITIONAL,
    AS_BIT_INDIRECT,
    AS_BIT_SIMD,
    AS_BIT_SVE,
    AS_BIT_RECENT,
    AS_BIT_SNOOPED,
    AS_BIT_STREAMING,
    AS_BIT_SHARED_UNIT,
    AS_BIT_DAMAGED,
};

static inline uint64_t as_import_bit(unsigned bit, bool set)
{
    return (uint64_t)set << bit;
}

/* Converts PERF_SAMPLE_DATA_SRC to such bits; 0 if the sample does not have it. */
uint64_t as_import_source(const struct as_perf_sample *sample);
void as_import_source_events(struct as_store_writer *writer, uint64_t used); /* adds the events in `used` */

/* TEA's samples have bits of their own, of its nine events (import_tea.c): 16 bits of raw data. */
bool as_import_tea_events_of(const struct as_perf_sample *sample, uint64_t *events);
void as_import_tea_events(struct as_store_writer *writer);

/* ---- numbers ---- */

enum as_import_kind {
    AS_KIND_WEIGHT,
    AS_KIND_WEIGHT_2,
    AS_KIND_WEIGHT_3,
    AS_KIND_TAG_TO_RETIRE,
    AS_KIND_COMPLETION_TO_RETIRE,
    AS_KIND_MISS_LATENCY,
    AS_KIND_TLB_LATENCY,
    AS_KIND_OPEN_REQUESTS,
    AS_KIND_FETCH_LATENCY,
    AS_KIND_TOTAL_LATENCY,
    AS_KIND_ISSUE_LATENCY,
    AS_KIND_TRANSLATION_LATENCY,
    AS_IMPORT_KINDS
};

struct as_import_kind_text {
    const char *name, *description, *unit; /* the series is called "EVENT name" */
    bool of_access;                        /* it is the weight of the event's accesses */
};
extern const struct as_import_kind_text as_import_kind_texts[AS_IMPORT_KINDS];

struct as_import_value {
    enum as_import_kind kind;
    uint64_t value;
};

/* ---- facts ---- */

enum { AS_IMPORT_VALUES = 6 };

struct as_import_facts {
    uint64_t events; /* bits */
    struct as_import_value values[AS_IMPORT_VALUES];
    size_t n_values;
    bool tells_address;       /* the event records addresses; this sample may have none */
    uint64_t address, weight; /* of the data; address 0: none */
    uint32_t size;
    uint8_t kind; /* AS_STORE_LOAD | AS_STORE_STORE */
    bool branched, mispredicted;
    uint64_t target; /* where it branched to */
};

void as_import_add_value(struct as_import_facts *facts, enum as_import_kind kind, uint64_t value);

/* ---- the unit that took the samples ---- */

enum as_import_unit {
    AS_IMPORT_PLAIN,
    AS_IMPORT_IBS_OP,
    AS_IMPORT_IBS_FETCH,
    AS_IMPORT_SPE,
    AS_IMPORT_TIP,
    AS_IMPORT_TEA
};

/* How a unit chooses the operations that it samples. */
struct as_import_tagging {
    enum as_import_unit unit;
    struct as_ibs_cpu cpu;
    bool known, counts_ops, l3_miss_only, random; /* `known`: read from a sample's control register */
    uint32_t latency_threshold;
};

/* Raw data of samples. */
struct as_import_raw {
    uint64_t decoded, bad, invalid; /* numbers of samples; bad: too short, invalid: marked as not valid */
};

/* Returns the unit that samples for an event. */
struct as_import_tagging as_import_unit_of(const struct as_perf_event *event, const struct as_perf_info *info);
/* "cycles"; NULL: as the event's name tells. */
const char *as_import_unit_counts(const struct as_import_tagging *tagging);
/* "AMD IBS op: tagged operations, one every 160 cycles"; the caller frees. */
char *as_import_unit_text(const struct as_import_tagging *tagging, const struct as_perf_event *event);

/* Collects the facts of a sample from the kernel's fields and, if there are any, the registers of IBS. */
void as_import_facts_of(const struct as_perf_sample *sample, struct as_import_tagging *tagging,
                        struct as_import_raw *raw, struct as_import_facts *facts);
/* import_ibs.c: replaces what the fields say. */
void as_import_ibs_facts(const struct as_perf_sample *sample, struct as_import_tagging *tagging,
                         struct as_import_raw *raw, struct as_import_facts *facts);

#endif
