/* NCI: the next committing instruction, which Intel PEBS records: the oldest instruction of the group that commits in
 * the sampled cycle, or of the next group. Time after a flush goes to the instruction that follows the flush. */
#include "sampler/sampler.h"

enum as_verdict as_nci_take(const struct as_query *query, struct as_attribution *sample)
{
    uint64_t head;
    if (!as_query_head(query, &head))
        return as_query_waits(query);
    return as_sample_one(sample, AS_STATE_UNKNOWN, as_window_at(query->window, head));
}

const struct as_sampler as_sampler_nci = {
    .name = "nci",
    .stands_for = "Intel PEBS",
    .take = as_nci_take,
};
