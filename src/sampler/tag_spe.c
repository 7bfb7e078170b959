/* SPE: Arm's statistical profiling extension. As IBS, with the events that Arm records. */
#include "sampler/tag.h"

static enum as_verdict take(const struct as_query *query, struct as_attribution *sample)
{
    return as_tag_take(query, as_tag_dispatch, sample);
}

const struct as_sampler as_sampler_spe = {
    .name = "spe",
    .stands_for = "Arm SPE, with its events",
    .events = AS_EVENTS_SPE,
    .take = take,
};
