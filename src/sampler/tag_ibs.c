/* IBS: AMD's instruction-based sampling. One instruction at a time is tagged at dispatch, and recorded with the events
 * that it met when it commits. */
#include "sampler/tag.h"

static enum as_verdict take(const struct as_query *query, struct as_attribution *sample)
{
    return as_tag_take(query, as_tag_dispatch, sample);
}

const struct as_sampler as_sampler_ibs = {
    .name = "ibs",
    .stands_for = "AMD IBS, with its events",
    .events = AS_EVENTS_IBS,
    .take = take,
};
