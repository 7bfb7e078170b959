/* Dispatch: the policy of AMD IBS and Arm SPE, as the TIP paper describes it. The first instruction that is dispatched
 * after the sampled cycle is tagged, and recorded when it commits. While the ROB is full, time goes to the instruction
 * that waits to enter it. Any number of tags can be in flight; tag_ibs.c and tag_spe.c allow one. */
#include "sampler/tag.h"

static enum as_verdict take(const struct as_query *query, struct as_attribution *sample)
{
    struct as_tag tag;
    enum as_verdict verdict = as_tag_dispatch(query, &tag);
    if (verdict != AS_SAMPLE_TAKEN)
        return verdict;
    return tag.pipe ? as_sample_one(sample, AS_STATE_UNKNOWN, tag.pipe) : AS_SAMPLE_DROPPED;
}

const struct as_sampler as_sampler_dispatch = {
    .name = "dispatch",
    .stands_for = "AMD IBS, Arm SPE",
    .take = take,
};
