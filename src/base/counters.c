/* See counters.h. */
#include "base/counters.h"

#include <string.h>

#define LINE(member, how, in_group, as_label, part_of, share_of)                                                       \
    {.name = #member,                                                                                                  \
     .group = (in_group),                                                                                              \
     .label = (as_label),                                                                                              \
     .whole = (part_of),                                                                                               \
     .of = (share_of),                                                                                                 \
     .adds = AS_COUNTER_##how,                                                                                         \
     .offset = offsetof(struct as_counters, member)},
const struct as_counter_info as_counter_table[] = {AS_COUNTERS(LINE)};
#undef LINE
const size_t as_counter_count = sizeof as_counter_table / sizeof *as_counter_table;

const struct as_counter_info *as_counter_find(const char *name)
{
    for (size_t i = 0; i < as_counter_count; i++)
        if (strcmp(as_counter_table[i].name, name) == 0)
            return &as_counter_table[i];
    return NULL;
}

uint64_t as_counter_value(const struct as_counters *counters, const struct as_counter_info *counter)
{
    uint64_t value;
    memcpy(&value, (const char *)counters + counter->offset, sizeof value);
    return value;
}

static void set_value(struct as_counters *counters, const struct as_counter_info *counter, uint64_t value)
{
    memcpy((char *)counters + counter->offset, &value, sizeof value);
}

void as_counters_derive(struct as_counters *counters)
{
    counters->prefetches =
        counters->l1i_prefetches + counters->l1d_prefetches + counters->l2_prefetches + counters->llc_prefetches;
    counters->dram_requests = counters->dram_reads + counters->dram_writes;
}

void as_counters_add(struct as_counters *to, const struct as_counters *from)
{
    for (size_t i = 0; i < as_counter_count; i++) {
        const struct as_counter_info *counter = &as_counter_table[i];
        uint64_t mine = as_counter_value(to, counter), more = as_counter_value(from, counter);
        if (counter->adds == AS_COUNTER_SUM)
            set_value(to, counter, mine + more);
        else if (counter->adds != AS_COUNTER_DERIVED && more > mine)
            set_value(to, counter, more);
    }
    as_counters_derive(to);
}

void as_counters_append(struct as_counters *to, const struct as_counters *later)
{
    for (size_t i = 0; i < as_counter_count; i++) {
        const struct as_counter_info *counter = &as_counter_table[i];
        set_value(to, counter, as_counter_value(to, counter) + as_counter_value(later, counter));
    }
    as_counters_derive(to);
}

void as_counters_subtract(struct as_counters *from, const struct as_counters *before, enum as_counter_adds adds)
{
    for (size_t i = 0; i < as_counter_count; i++) {
        const struct as_counter_info *counter = &as_counter_table[i];
        if (counter->adds == adds)
            set_value(from, counter, as_counter_value(from, counter) - as_counter_value(before, counter));
    }
    as_counters_derive(from);
}
