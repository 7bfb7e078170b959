/* See import_source.h. */
#include "cmd/import_source.h"

#include "perfdata/mem_source.h"

#include <linux/perf_event.h>

/* Behind the bits of the levels. */
enum { REMOTE = 32, MODIFIED, TLB_MISS, LOCKED, BLOCKED, MISSED };

static const struct {
    uint32_t bit;
    const char *name, *description;
} others[] = {
    {REMOTE, "remote", "the data came from another core, node or socket"},
    {MODIFIED, "modified", "another core had changed the line (HITM)"},
    {TLB_MISS, "TLB-miss", "the translation missed the first TLB"},
    {LOCKED, "locked", "a locked access"},
    {BLOCKED, "blocked", "the load waited for a store before it"},
    {MISSED, "missed", "the access missed in the level that is named"},
};

static uint64_t bit(uint32_t number, bool set)
{
    return (uint64_t)set << number;
}

uint64_t as_import_source(const struct as_perf_sample *sample)
{
    if (!(sample->has & PERF_SAMPLE_DATA_SRC))
        return 0;
    struct as_mem_source source = as_mem_source_decode(sample->data_src);
    return bit(source.level, source.level != AS_MEM_LEVEL_UNKNOWN && source.level < AS_MEM_LEVELS) |
           bit(REMOTE, source.remote) | bit(MODIFIED, source.snoop_modified) |
           bit(TLB_MISS, source.tlb_known && (source.tlb_miss || source.tlb_walk)) | bit(LOCKED, source.locked) |
           bit(BLOCKED, source.blocked_data || source.blocked_address) | bit(MISSED, source.miss && !source.hit);
}

void as_import_source_events(struct as_store_writer *writer, uint64_t used)
{
    for (uint32_t level = 1; level < AS_MEM_LEVELS; level++)
        if (used >> level & 1)
            as_store_add_event(writer, &(struct as_store_event){.bit = level,
                                                                .name = as_mem_level_name(level),
                                                                .description = "where the data came from",
                                                                .parent = AS_STORE_NONE});
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (used >> others[i].bit & 1)
            as_store_add_event(writer, &(struct as_store_event){.bit = others[i].bit,
                                                                .name = others[i].name,
                                                                .description = others[i].description,
                                                                .parent = AS_STORE_NONE});
}
