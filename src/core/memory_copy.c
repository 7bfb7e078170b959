/* Contents of caches and TLBs, and DRAM's open rows, from one machine to another of the same kind. */
#include "core/uncore.h"

#include <string.h>

/* What is on its way has arrived: the times of two machines have nothing to do with each other. */
static void copy_tags(struct as_tags *to, const struct as_tags *from)
{
    size_t n = (size_t)(from->set_mask + 1) * from->ways;
    if (n == 0)
        return;
    memcpy(to->keys, from->keys, n * sizeof *to->keys);
    if (from->stamps)
        memcpy(to->stamps, from->stamps, n * sizeof *to->stamps);
    memcpy(to->flags, from->flags, n * sizeof *to->flags);
    memcpy(to->sets, from->sets, (from->set_mask + 1) * from->set_bytes);
    memcpy(to->entries, from->entries, n * sizeof *to->entries);
    memcpy(to->hints, from->hints, (from->hint_mask + 1) * sizeof *to->hints);
    for (size_t i = 0; i < n; i++) {
        to->entries[i].ready = 0;
        to->entries[i].latency = 0;
    }
    to->clock = from->clock;
    to->n_old = 0;
}

static void copy_core(struct as_memory *to, const struct as_memory *from)
{
    copy_tags(&to->l1i.tags, &from->l1i.tags);
    copy_tags(&to->l1d.tags, &from->l1d.tags);
    if (to->has_l2)
        copy_tags(&to->l2.tags, &from->l2.tags);
    copy_tags(&to->itlb.tags, &from->itlb.tags);
    copy_tags(&to->dtlb.tags, &from->dtlb.tags);
    if (from->walker.second.tags.ways)
        copy_tags(&to->walker.second.tags, &from->walker.second.tags);
    to->warmed = to->code_page = 0;
}

void as_uncore_copy(struct as_uncore *to, const struct as_uncore *from)
{
    for (uint32_t i = 0; i == 0 || i < from->coherence.sockets; i++)
        copy_tags(&to->llc[i].tags, &from->llc[i].tags);
    as_dram_copy_rows(&to->dram, &from->dram);
    for (size_t i = 0; i < to->n_cores && i < from->n_cores; i++)
        if (to->cores[i] && from->cores[i])
            copy_core(to->cores[i], from->cores[i]);
    for (size_t i = 0; i < from->touched.cap; i++)
        if (from->touched.slots[i].used && from->touched.slots[i].value)
            *as_map_put(&to->touched, from->touched.slots[i].key) |= from->touched.slots[i].value;
}
