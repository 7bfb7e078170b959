/* NCI-TEA: the next committing instruction with its signature vector. If a flush emptied the pipeline, it records the
 * events correctly but for the wrong instruction. */
#include "sampler/sampler.h"

const struct as_sampler as_sampler_nci_tea = {
    .name = "nci-tea",
    .stands_for = "Intel PEBS, if it recorded TEA's events",
    .events = AS_EVENTS_TEA,
    .any_events = true,
    .take = as_nci_take,
};
