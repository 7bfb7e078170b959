/* TEA: time-proportional event analysis. TIP's choice of instructions, each with its signature vector. */
#include "sampler/sampler.h"

const struct as_sampler as_sampler_tea = {
    .name = "tea",
    .stands_for = "time-proportional event analysis, as proposed by Gottschall et al.",
    .events = AS_EVENTS_TEA,
    .any_events = true,
    .take = as_tip_take,
};
