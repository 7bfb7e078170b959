/* See lens_unit.h. A lens has no cycles. Two instructions a cycle are assumed, as the costs of the shipped files are. */
#include "lens/lens_unit.h"

#include "pmu/pmu.h"

#include <inttypes.h>

enum { INSTRUCTIONS_A_CYCLE = 2 };

static uint64_t instructions(uint64_t cycles)
{
    return cycles * INSTRUCTIONS_A_CYCLE;
}

/* What watches addresses needs a signal for each sample. */
static uint64_t cost_of(const struct as_pmu *pmu)
{
    return instructions((uint64_t)pmu->assist + pmu->interrupt_cost + pmu->copy + pmu->signal);
}

bool as_lens_unit_choose(const char *name, uint64_t period, struct as_lens_unit *unit, struct as_error *err)
{
    struct as_pmu pmu;
    if (!as_pmu_load(name, &pmu, err))
        return false;
    *unit = (struct as_lens_unit){.sampling = AS_SAMPLING_OPERATIONS, .sample_cost = cost_of(&pmu)};
    switch (pmu.kind) {
    case AS_PMU_PEBS:
        unit->sampling = AS_SAMPLING_EVENTS;
        unit->load_shadow = instructions(pmu.shadow[AS_SHADOW_LOADS]);
        unit->store_shadow = instructions(pmu.shadow[AS_SHADOW_STORES]);
        return true;
    case AS_PMU_IBS:
        unit->random_bits = pmu.random_bits;
        unit->deaf = instructions(pmu.interrupt + pmu.jitter / 2);
        return true;
    case AS_PMU_SPE:
        unit->random_bits = pmu.jitter_bits;
        unit->adds = true;
        return period >= pmu.least_interval ||
               as_error_set_status(err, AS_EXIT_USAGE, "%s takes intervals of %" PRIu32 " operations and more",
                                   pmu.name, pmu.least_interval);
    default:
        return as_error_set_status(err, AS_EXIT_USAGE,
                                   "%s samples cycles, not accesses: choose a PMU with PEBS, IBS or SPE", pmu.name);
    }
}
