/* A modelled PMU (--pmu) as the sampler of a lens: its shadow, random bits, interrupt and costs, in instructions. */
#ifndef AS_LENS_LENS_UNIT_H
#define AS_LENS_LENS_UNIT_H

#include "base/error.h"
#include "lens/modelled_lens.h"

/* `period` is in loads and stores (PEBS) or operations (IBS, SPE). False: there is no such PMU, or it cannot do that. */
bool as_lens_unit_choose(const char *name, uint64_t period, struct as_lens_unit *unit,
                         struct as_error *err) AS_MUST_CHECK;

#endif
