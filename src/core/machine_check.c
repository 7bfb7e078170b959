/* Rejects impossible machines: combinations of values that are each within their range. The ranges are in the table. */
#include "core/machine_table.h"

#include <stdlib.h>
#include <string.h>

/* Files and --set have checked the ranges already; machines that were filled in by hand have not. */
static bool check_ranges(const struct as_machine *machine, struct as_error *err)
{
    char allowed[160];
    for (size_t i = 0; i < as_fields_count; i++)
        if (!as_field_in_range(&as_fields[i], machine))
            return as_error_set(err, "%s is not allowed; %s (%s)", as_fields[i].key,
                                as_field_allowed(&as_fields[i], allowed, sizeof allowed), as_fields[i].meaning);
    return true;
}

static bool power_of_two(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

/* A list has one value for all (all slots alike) or as many as there are tables. */
static bool check_list(const struct as_machine *machine, const char *key, const uint32_t *values, struct as_error *err)
{
    uint32_t tables = machine->predictor.tage_tables, given = 0;
    bool alike = true;
    for (uint32_t i = 0; i < AS_TAGE_TABLES_MAX; i++) {
        given += values[i] != 0;
        alike = alike && values[i] == values[0];
    }
    if (alike || given == tables)
        return true;
    return as_error_set(err, "%s has %u values but needs %u (predictor.tage_tables)", key, given, tables);
}

static bool check_btb(const char *name, uint32_t entries, uint32_t ways, struct as_error *err)
{
    if (entries == 0)
        return true;
    if (ways == 0 || entries % ways || !power_of_two(entries / ways))
        return as_error_set(
            err, "predictor.%s_entries = %u in predictor.%s_ways = %u: the number of sets is not a power of two", name,
            entries, name, ways);
    return true;
}

static bool check_predictor(const struct as_machine *machine, struct as_error *err)
{
    if (machine->predictor.tage_shortest > machine->predictor.tage_longest)
        return as_error_set(err, "predictor.tage_shortest = %u is more than predictor.tage_longest = %u",
                            machine->predictor.tage_shortest, machine->predictor.tage_longest);
    return check_btb("btb", machine->predictor.btb_entries, machine->predictor.btb_ways, err) &&
           check_btb("fast", machine->predictor.fast_entries, machine->predictor.fast_ways, err) &&
           check_list(machine, "predictor.tage_entries", machine->predictor.tage_entries, err) &&
           check_list(machine, "predictor.tage_tag_bits", machine->predictor.tage_tag_bits, err);
}

static bool check_front(const struct as_machine *machine, struct as_error *err)
{
    if (machine->front.fetch_width > machine->front.fetch_buffer)
        return as_error_set(err, "front.fetch_width = %u does not fit into front.fetch_buffer = %u",
                            machine->front.fetch_width, machine->front.fetch_buffer);
    if (machine->front.fetch_bytes > machine->memory.line)
        return as_error_set(err, "front.fetch_bytes = %u is more than memory.line = %u", machine->front.fetch_bytes,
                            machine->memory.line);
    return true;
}

static bool check_rows(const struct as_machine *machine, struct as_error *err)
{
    if (!machine->back.rob_rows)
        return true;
    if (machine->back.commit_width > machine->back.width)
        return as_error_set(err, "back.commit_width = %u is more than back.width = %u, a row of back.rob_rows = yes",
                            machine->back.commit_width, machine->back.width);
    if (machine->back.rob % machine->back.width)
        return as_error_set(err, "back.rob = %u is no number of rows of back.width = %u, as back.rob_rows = yes wants",
                            machine->back.rob, machine->back.width);
    return true;
}

static bool check_back(const struct as_machine *machine, struct as_error *err)
{
    static const char *const names[AS_QUEUE_COUNT] = {"int", "mem", "fp"};
    if (machine->back.width > machine->back.rob)
        return as_error_set(err, "back.width = %u is more than back.rob = %u", machine->back.width, machine->back.rob);
    if (machine->back.commit_width > machine->back.rob)
        return as_error_set(err, "back.commit_width = %u is more than back.rob = %u", machine->back.commit_width,
                            machine->back.rob);
    for (int i = 0; i < AS_QUEUE_COUNT; i++)
        if (machine->back.queue_width[i] > machine->back.queue_size[i])
            return as_error_set(err, "queue.%s.width = %u is more than queue.%s.size = %u", names[i],
                                machine->back.queue_width[i], names[i], machine->back.queue_size[i]);
    if (machine->back.dependence_predictor && !machine->back.memory_speculation)
        return as_error_set(err, "back.dependence_predictor = yes has nothing to do: back.memory_speculation = no");
    return check_rows(machine, err);
}

static bool check_cache(const struct as_machine *machine, const char *name, const struct as_cache_machine *cache,
                        struct as_error *err)
{
    uint64_t way = (uint64_t)cache->ways * machine->memory.line;
    if (cache->ways == 0 || cache->latency == 0 || cache->mshrs == 0)
        return as_error_set(err, "memory.%s.%s is missing: memory.%s.size = %u says that the cache exists", name,
                            cache->ways == 0      ? "ways"
                            : cache->latency == 0 ? "latency"
                                                  : "mshrs",
                            name, cache->size);
    if (cache->size < way)
        return as_error_set(err, "memory.%s.size = %u is less than one line of %u in each of %u ways", name,
                            cache->size, machine->memory.line, cache->ways);
    if (cache->size % way || !power_of_two(cache->size / way))
        return as_error_set(err,
                            "memory.%s.size = %u in %u ways of lines of %u: the number of sets is not a power of two",
                            name, cache->size, cache->ways, machine->memory.line);
    return true;
}

static bool check_caches(const struct as_machine *machine, struct as_error *err)
{
    const struct as_cache_machine *l1d = &machine->memory.l1d, *l2 = &machine->memory.l2, *llc = &machine->memory.llc;
    if (!check_cache(machine, "l1i", &machine->memory.l1i, err) || !check_cache(machine, "l1d", l1d, err) ||
        !check_cache(machine, "llc", llc, err) || (l2->size && !check_cache(machine, "l2", l2, err)))
        return false;
    if (l2->size && l2->size < l1d->size)
        return as_error_set(err, "memory.l2.size = %u is less than memory.l1d.size = %u", l2->size, l1d->size);
    if (llc->size < l1d->size)
        return as_error_set(err, "memory.llc.size = %u is less than memory.l1d.size = %u", llc->size, l1d->size);
    if (machine->memory.line > machine->memory.page || machine->memory.line > machine->dram.row_bytes)
        return as_error_set(err, "memory.line = %u is more than memory.page = %u or dram.row_bytes = %u",
                            machine->memory.line, machine->memory.page, machine->dram.row_bytes);
    return true;
}

static bool check_tlb(const char *name, const struct as_tlb_machine *tlb, struct as_error *err)
{
    if (tlb->entries == 0)
        return true;
    if (tlb->ways == 0 || tlb->entries % tlb->ways || !power_of_two(tlb->entries / tlb->ways))
        return as_error_set(err,
                            "memory.%s.entries = %u in memory.%s.ways = %u: the number of sets is not a power of two",
                            name, tlb->entries, name, tlb->ways);
    return true;
}

/* A list of cores that exist: digits with blanks between them. */
static bool check_pins(const struct as_machine *machine, struct as_error *err)
{
    const char *at = machine->coherence.pinning;
    while (*at) {
        char *end = NULL;
        unsigned long core = strtoul(at, &end, 10);
        if (*at < '0' || *at > '9' || (*end && !strchr(" \t", *end)))
            return as_error_set(err, "coherence.pinning = %s: give compact, scatter, or cores such as 0 2 1 3",
                                machine->coherence.pinning);
        if (core >= machine->coherence.cores)
            return as_error_set(err, "coherence.pinning names core %lu, but coherence.cores = %u", core,
                                machine->coherence.cores);
        at = end + strspn(end, " \t");
    }
    return true;
}

static bool check_cores(const struct as_machine *machine, struct as_error *err)
{
    const char *pinning = machine->coherence.pinning;
    if (machine->coherence.sockets > 1 && (machine->coherence.cores < 2 || machine->coherence.cores % 2))
        return as_error_set(err, "coherence.sockets = 2 needs coherence.cores: an even number, half on each socket");
    if (machine->coherence.remote < machine->coherence.local)
        return as_error_set(err, "coherence.remote = %u is less than coherence.local = %u", machine->coherence.remote,
                            machine->coherence.local);
    return strcmp(pinning, "compact") == 0 || strcmp(pinning, "scatter") == 0 || check_pins(machine, err);
}

bool as_machine_validate(const struct as_machine *machine, struct as_error *err)
{
    return check_ranges(machine, err) && check_predictor(machine, err) && check_front(machine, err) &&
           check_back(machine, err) && check_caches(machine, err) && check_cores(machine, err) &&
           check_tlb("itlb", &machine->memory.itlb, err) && check_tlb("dtlb", &machine->memory.dtlb, err) &&
           check_tlb("l2tlb", &machine->memory.l2tlb, err);
}
