/* Functional warming: what instructions do to caches, TLBs, DRAM's open rows and predictors, without their times. Nothing is
 * counted but mispredictions, and no cycle passes.
 *
 * Not warmed: which loads have to wait for stores (learnt from violations, which need times).
 */
#include "core/core_internal.h"
#include "core/memory_hit.h"

void as_core_warm_fetch(struct as_core *core, uint64_t address, uint64_t end)
{
    for (uint64_t line = address >> core->line_shift; line <= (end - 1) >> core->line_shift; line++) {
        if (line != core->warm_line)
            as_memory_warm_fetch(core->memory, line << core->line_shift);
        core->warm_line = line;
    }
}

static enum as_memory_kind kind_of(const struct as_core_access *access)
{
    return access->kind & AS_ACCESS_STORE       ? AS_MEMORY_STORE
           : access->kind & AS_ACCESS_LOAD      ? AS_MEMORY_LOAD
           : access->kind == AS_ACCESS_PREFETCH ? AS_MEMORY_PREFETCH
                                                : AS_MEMORY_FLUSH;
}

void as_core_warm_accesses(struct as_core *core, const struct as_core_access *accesses, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!as_memory_warms_again(core->memory, accesses[i].address, accesses[i].size,
                                   accesses[i].kind & AS_ACCESS_STORE))
            as_memory_warm(core->memory, kind_of(&accesses[i]), accesses[i].address, accesses[i].size);
}

void as_core_warm_control(struct as_core *core, const struct as_insn *insn, bool taken, uint64_t next)
{
    if (next)
        core->warm_mispredictions += as_predictor_predict(core->predictor, insn, taken, next).mispredicted;
}

uint64_t as_core_warm_mispredictions(const struct as_core *core)
{
    return core->warm_mispredictions;
}

void as_core_empty(struct as_core *core)
{
    as_core_leave_memo(core);
    drain_first(core, core->n_stores);
    core->fetch_next = later(core->fetch_next, core->last_commit + 1);
    core->packet_slots = 0;
    core->packet_block = core->packet_line = core->warm_line = UINT64_MAX;
    core->memory->warmed = 0;
    core->lane = 0;
    core->previous = NULL;
}
