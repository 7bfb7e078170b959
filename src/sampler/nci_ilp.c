/* NCI+ILP: NCI, with equal shares for all instructions of the next committing group. No hardware does this. It shows
 * that sharing does not help unless the right instructions are charged: a stall now also goes to the instructions that
 * commit together with the one that stalled. */
#include "sampler/sampler.h"

static enum as_verdict take(const struct as_query *query, struct as_attribution *sample)
{
    uint64_t head;
    if (!as_query_head(query, &head))
        return as_query_waits(query);
    sample->state = AS_STATE_UNKNOWN;
    return as_window_group(query->window, head, sample) ? AS_SAMPLE_TAKEN : AS_SAMPLE_WAITS;
}

const struct as_sampler as_sampler_nci_ilp = {
    .name = "nci+ilp",
    .stands_for = "no hardware: NCI that shares a sample among the committing group",
    .take = take,
};
