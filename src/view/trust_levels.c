/* What error to expect of samples, by level: chance and the bias of how they were taken. See summary.h. */
#include "view/summary.h"

#include <math.h>
#include <stdio.h>

static double estimate_of(const struct as_summary *summary, const char *granularity)
{
    return as_store_estimate_of(summary->store, summary->series, "estimate", granularity);
}

/* By block where it was worked out; else by line, which is about as large, or, at most, by instruction. A block lies in one function, so that
 * it is no less than by function: a line that is inlined in several functions is larger than that. */
static double chance_of(const struct as_summary *summary, enum as_bias_level level)
{
    static const char *const instead[AS_BIAS_LEVELS][3] = {[AS_BIAS_FUNCTION] = {"function"},
                                                           [AS_BIAS_BLOCK] = {"block", "line", "instruction"},
                                                           [AS_BIAS_INSTRUCTION] = {"instruction"}};
    double chance = NAN;
    for (size_t i = 0; i < 3 && isnan(chance) && instead[level][i]; i++)
        chance = estimate_of(summary, instead[level][i]);
    return level == AS_BIAS_BLOCK ? fmax(chance, estimate_of(summary, "function")) : chance;
}

/* Where `trust --again` measured it, the bias on this program stands for that on the suite's. */
static bool find_own_bias(const struct as_summary *summary, double bias[AS_BIAS_LEVELS])
{
    for (int i = 0; i < AS_BIAS_LEVELS; i++) {
        bias[i] = as_store_estimate_of(summary->store, summary->series, "bias", as_bias_levels[i]);
        if (!(bias[i] >= 0))
            return false;
    }
    return true;
}

static struct as_summary_trust with_chance(struct as_bias_range bias, double chance)
{
    return (struct as_summary_trust){.chance = chance,
                                     .bias = bias,
                                     .expected = {as_bias_with_chance(bias.low, chance),
                                                  as_bias_with_chance(bias.median, chance),
                                                  as_bias_with_chance(bias.high, chance)}};
}

void as_summary_find_trust(struct as_summary *summary)
{
    size_t n;
    const struct as_store_series *shown = &as_store_series(summary->store, &n)[summary->series];
    struct as_sampled_by by = {.source = summary->source,
                               .processor = summary->core,
                               .event = shown->event,
                               .precise = shown->precise,
                               .sampler = shown->name};
    summary->bias = as_bias_of(&by);
    if (!summary->bias)
        return;
    double own[AS_BIAS_LEVELS];
    summary->bias_here = find_own_bias(summary, own);
    if (summary->bias_here)
        snprintf(summary->bias_from, sizeof summary->bias_from,
                 "measured on this program's hottest functions, in the model, with the suite's for the rest (assay "
                 "trust --again)");
    else
        snprintf(summary->bias_from, sizeof summary->bias_from,
                 "as in eight of ten of %zu programs of the suite, in the model", summary->bias->programs);
    for (int i = 0; i < AS_BIAS_LEVELS; i++) {
        struct as_bias_range bias =
            summary->bias_here ? (struct as_bias_range){own[i], own[i], own[i]} : summary->bias->levels[i];
        summary->trust[i] = with_chance(bias, chance_of(summary, i));
    }
}
