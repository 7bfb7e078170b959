/* TEA's samples: a signature vector of nine events in the raw data, which cycle stacks are made of. Assay's model of the unit
 * writes them; doc/format/perfdata.md has the format. See import_facts.h. */
#include "import/import_facts.h"

#include <linux/perf_event.h>

/* By bit of the vector. */
static const struct {
    const char *name, *description, *state;
    uint32_t parent;
} events[] = {
    {"DR-L1", "instruction cache miss", "drained", AS_STORE_NONE},
    {"DR-TLB", "instruction TLB miss", "drained", AS_STORE_NONE},
    {"DR-SQ", "store that waited at dispatch for a full store queue", "drained", AS_STORE_NONE},
    {"FL-MB", "mispredicted branch", "flushed", AS_STORE_NONE},
    {"FL-EX", "exception, or flush at commit", "flushed", AS_STORE_NONE},
    {"FL-MO", "memory-order violation", "flushed", AS_STORE_NONE},
    {"ST-L1", "data cache miss", "stalled", AS_STORE_NONE},
    {"ST-TLB", "data TLB miss", "stalled", AS_STORE_NONE},
    {"ST-LLC", "last-level cache miss", "stalled", 6},
};
enum { EVENTS = sizeof events / sizeof *events };

bool as_import_tea_events_of(const struct as_perf_sample *sample, uint64_t *bits)
{
    const uint8_t *raw = sample->raw;
    bool whole = sample->has & PERF_SAMPLE_RAW && sample->raw_size >= 2;
    *bits = whole ? (raw[0] | (uint64_t)raw[1] << 8) & ((1 << EVENTS) - 1) : 0;
    return whole;
}

void as_import_tea_events(struct as_store_writer *writer)
{
    for (uint32_t i = 0; i < EVENTS; i++)
        as_store_add_event(writer, &(struct as_store_event){.bit = i,
                                                            .name = events[i].name,
                                                            .description = events[i].description,
                                                            .parent = events[i].parent,
                                                            .state = events[i].state});
}
