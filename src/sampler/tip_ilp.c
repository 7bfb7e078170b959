/* TIP-ILP ("TIP minus ILP"): TIP's hardware, but the sample of a cycle in which several instructions commit is charged
 * to the oldest of them alone. Shows how much of TIP's accuracy comes from sharing. */
#include "sampler/tip.h"

static enum as_verdict take(const struct as_query *query, struct as_attribution *attribution)
{
    struct as_tip_sample sample;
    enum as_verdict verdict = as_tip_hardware(query, &sample);
    if (verdict == AS_SAMPLE_TAKEN)
        as_tip_software(&sample, false, attribution);
    return verdict;
}

const struct as_sampler as_sampler_tip_ilp = {
    .name = "tip-ilp",
    .stands_for = "no hardware: TIP without sharing a sample among the committing group",
    .take = take,
};
