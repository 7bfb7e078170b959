/* Arm's Statistical Profiling Extension: turns packets of the AUX buffer into records. A record contains what the
 * processor recorded about one sampled operation: addresses, latencies, events, type, context, data source. END or a
 * timestamp ends it.
 *
 * Packets: Arm Architecture Reference Manual (DDI 0487), chapter "Statistical Profiling Extension Sample Record
 * Specification". Tested on bytes only, not run on a processor with SPE. Data sources are implementation-defined; the
 * names here are those of Arm's Neoverse cores.
 */
#ifndef AS_PERFDATA_SPE_PACKETS_H
#define AS_PERFDATA_SPE_PACKETS_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum as_spe_has {
    AS_SPE_PC = 1 << 0,
    AS_SPE_TARGET = 1 << 1,
    AS_SPE_ADDRESS = 1 << 2,
    AS_SPE_PHYSICAL = 1 << 3,
    AS_SPE_PREVIOUS = 1 << 4, /* the target of the preceding branch */
    AS_SPE_TOTAL = 1 << 5,
    AS_SPE_ISSUE = 1 << 6,
    AS_SPE_TRANSLATION = 1 << 7,
    AS_SPE_EVENTS = 1 << 8,
    AS_SPE_TYPE = 1 << 9,
    AS_SPE_CONTEXT = 1 << 10,
    AS_SPE_SOURCE = 1 << 11,
    AS_SPE_TIME = 1 << 12,
};

enum as_spe_event {
    AS_SPE_EXCEPTION = 1 << 0,
    AS_SPE_RETIRED = 1 << 1,
    AS_SPE_L1_ACCESS = 1 << 2,
    AS_SPE_L1_MISS = 1 << 3,
    AS_SPE_TLB_ACCESS = 1 << 4,
    AS_SPE_TLB_WALK = 1 << 5,
    AS_SPE_NOT_TAKEN = 1 << 6,
    AS_SPE_MISPREDICTED = 1 << 7,
    AS_SPE_LLC_ACCESS = 1 << 8,
    AS_SPE_LLC_MISS = 1 << 9,
    AS_SPE_REMOTE = 1 << 10,
    AS_SPE_MISALIGNED = 1 << 11,
    AS_SPE_TRANSACTIONAL = 1 << 16,
    AS_SPE_PARTIAL_PREDICATE = 1 << 17,
    AS_SPE_EMPTY_PREDICATE = 1 << 18,
};

enum as_spe_class { AS_SPE_OTHER, AS_SPE_MEMORY, AS_SPE_BRANCH, AS_SPE_UNKNOWN_CLASS };

struct as_spe_record {
    uint32_t has; /* AS_SPE_PC … */
    uint64_t pc, target, previous, address, physical;
    uint8_t address_tag;                /* the top byte of a data address, which is not part of the address */
    uint8_t exception_level;            /* of pc */
    bool non_secure;                    /* of pc */
    uint16_t total, issue, translation; /* cycles */
    uint64_t events;                    /* AS_SPE_EXCEPTION … */
    enum as_spe_class class;
    uint8_t type;                                   /* the operation packet's payload */
    bool store, atomic, exclusive, acquire_release; /* for memory accesses */
    bool conditional, indirect;                     /* for branches; conditional also for others: a select */
    bool simd, sve;
    uint32_t context;
    uint8_t context_level; /* 1 or 2: the exception level of the context register */
    uint16_t source;
    uint64_t time; /* ticks of the generic timer */
    bool damaged;  /* some of its packets could not be decoded */
};

typedef bool as_spe_sink(void *context, const struct as_spe_record *record); /* false: stop */

enum { AS_SPE_PACKET_MAX = 10 };

/* Takes a buffer in pieces. Initialise it with zeros and set the first two members. */
struct as_spe_decoder {
    as_spe_sink *sink;
    void *context;
    uint64_t records, bad_bytes;
    /* internal */
    struct as_spe_record record;
    bool started;
    uint8_t rest[AS_SPE_PACKET_MAX];
    size_t rest_size;
    uint64_t skip; /* bytes of padding still to come */
};

/* `offset` is the position of the piece in the buffer: alignment packets count from there. Returns false if the sink
 * stopped it. */
bool as_spe_feed(struct as_spe_decoder *decoder, const uint8_t *bytes, size_t size, uint64_t offset);

void as_spe_events_text(uint64_t events, struct as_str *text);
void as_spe_type_text(const struct as_spe_record *record, struct as_str *text);
const char *as_spe_source_name(uint16_t source); /* "" if unknown */

#endif
