/* RIS: IBM's random instruction sampling. One instruction at a time is tagged when it is fetched. Instructions fetched
 * while the pipeline is stalled, or after a mispredicted branch, are even further from the ones that the time is spent
 * on. */
#include "sampler/tag.h"

static enum as_verdict take(const struct as_query *query, struct as_attribution *sample)
{
    return as_tag_take(query, as_tag_fetch, sample);
}

const struct as_sampler as_sampler_ris = {
    .name = "ris",
    .stands_for = "IBM RIS, with its events",
    .events = AS_EVENTS_RIS,
    .take = take,
};
