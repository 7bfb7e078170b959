/* TEA's samples: a signature vector of nine events in the raw data, which cycle stacks are made of. Assay's model of the unit
 * writes them; doc/format/perfdata.md has the format. See import_facts.h. */
#include "import/import_facts.h"

#include "observe/events.h"

#include <linux/perf_event.h>

enum { EVENTS = 9 }; /* the first of the model's events, by bit of the vector */
_Static_assert(AS_EVENTS_TEA == (1 << EVENTS) - 1, "TEA's events are the first of the table");

bool as_import_tea_events_of(const struct as_perf_sample *sample, uint64_t *bits)
{
    const uint8_t *raw = sample->raw;
    bool whole = sample->has & PERF_SAMPLE_RAW && sample->raw_size >= 2;
    *bits = whole ? (raw[0] | (uint64_t)raw[1] << 8) & ((1 << EVENTS) - 1) : 0;
    return whole;
}

void as_import_tea_events(struct as_store_writer *writer)
{
    for (uint32_t i = 0; i < EVENTS; i++) {
        const struct as_event_info *event = &as_events[i];
        uint32_t parent = event->roots ? (uint32_t)__builtin_ctz(event->roots) : AS_STORE_NONE;
        as_store_add_event(writer, &(struct as_store_event){.bit = i,
                                                            .name = event->name,
                                                            .description = event->description,
                                                            .parent = parent,
                                                            .state = as_explains_name(event->explains)});
    }
}
