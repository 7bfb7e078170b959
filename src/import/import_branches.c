/* Adds up the branches of samples' branch stacks (LBR and the like), and the sampled branches of IBS and SPE, by source
 * and target. See import.h.
 */
#include "base/saturate.h"
#include "import/import_internal.h"

/* A branch stack may contain branches into and out of the kernel, whatever was sampled; the kernel's addresses are in
 * the upper half. */
static uint32_t instruction_at(struct as_import *import, const struct as_perf_sample *sample, uint64_t address)
{
    bool upper = address >> 63;
    struct as_import_location location;
    struct as_import_frame frame = {.pid = sample->pid, .mode = sample->mode, .address = address};
    if (upper != (sample->mode == AS_PERF_KERNEL))
        frame.mode = upper ? AS_PERF_KERNEL : AS_PERF_USER;
    as_import_code_find(&import->code, &frame, &location);
    return as_import_code_instruction(&import->code, &frame, &location);
}

static void add_branch(struct as_import *import, const struct as_perf_sample *sample,
                       const struct as_perf_branch *branch)
{
    struct as_import_branches *all = &import->branches;
    uint32_t source = instruction_at(import, sample, branch->from);
    uint32_t target = instruction_at(import, sample, branch->to);
    uint32_t pair = as_import_sum_number(&all->pairs, as_import_sum_of(&all->pairs, source, target));
    struct as_import_sum *sum = as_import_sum_of(&all->taken, pair, sample->event->index);
    as_add_to(&sum->samples, 1);
    as_add_to(&sum->units, branch->mispredicted);
    as_add_to(&sum->weight, branch->cycles);
    all->entries++;
    all->mispredicted += branch->mispredicted;
    as_add_to(&all->cycles, branch->cycles);
}

void as_import_sample_branches(struct as_import *import, const struct as_perf_sample *sample,
                               const struct as_import_facts *facts)
{
    import->branches.stacks += sample->n_branches > 0;
    for (size_t i = 0; i < sample->n_branches; i++) {
        const struct as_perf_branch *branch = &sample->branches[i];
        if (branch->from != 0 || branch->to != 0) /* both 0: the processor left the entry empty */
            add_branch(import, sample, branch);
    }
    import->branches.sampled += facts->branched;
    if (facts->branched)
        add_branch(
            import, sample,
            &(struct as_perf_branch){.from = sample->ip, .to = facts->target, .mispredicted = facts->mispredicted});
}

void as_import_write_branches(const struct as_import *import, uint32_t event, uint32_t series)
{
    const struct as_import_branches *all = &import->branches;
    for (size_t i = 0; i < all->taken.items.len; i++) {
        const struct as_import_sum *sum = &all->taken.items.data[i], *pair = &all->pairs.items.data[sum->first];
        struct as_store_branch branch = {.series = series,
                                         .source = pair->first,
                                         .target = pair->second,
                                         .taken = sum->samples,
                                         .mispredicted = sum->units,
                                         .cycles = sum->weight};
        if (sum->second == event)
            as_store_add_branch(import->writer, &branch);
    }
}

void as_import_count_branches(const struct as_import *import)
{
    const struct as_import_branches *all = &import->branches;
    if (!all->entries)
        return;
    as_store_add_counter(import->writer, "branch_stacks", all->stacks);
    as_store_add_counter(import->writer, "branch_samples", all->sampled);
    as_store_add_counter(import->writer, "branch_entries", all->entries);
    as_store_add_counter(import->writer, "branch_mispredicted", all->mispredicted);
    as_store_add_counter(import->writer, "branch_cycles", all->cycles);
}
