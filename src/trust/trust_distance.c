/* How likely an event is sampled, against its distance from the one before: two equal loads in a loop, so many nops apart,
 * and far from those of the next iteration. See trust.h.
 *
 * Each of the two overflows the counter equally often. As long as the second lies in the first one's shadow, it is not
 * seen, and the first of the next iteration takes its place; beyond the shadow both get half. */
#include "trust/trust_parts.h"

#include <math.h>
#include <stdio.h>

enum { STEP = 4, MOST = 80 };

static double second_share(const struct as_trust_counts *counts, size_t which)
{
    uint64_t both = counts->at[0] + counts->at[1];
    return both ? (double)counts->at[1] / (double)both : NAN;
}

static bool share_of_second(struct as_trust_subject *subject, uint32_t nops, struct as_trust_row *row, uint64_t *least,
                            struct as_error *err)
{
    struct as_trust_probe probe = as_trust_probe(subject, "distance", "loads", 31);
    struct as_trust_sum sum;
    probe.options.nops = nops;
    bool ok = as_trust_run_sum(subject, probe, &sum, err);
    if (ok) {
        uint64_t both = sum.result.counts[0].at[0] + sum.result.counts[0].at[1];
        *least = both < *least ? both : *least;
        row->got = second_share(&sum.result.counts[0], 0);
        row->spread = as_trust_spread(&sum, 0, second_share, 0);
        row->chance = as_trust_chance_of_share(0.5, both);
    }
    as_trust_sum_free(&sum);
    return ok;
}

bool as_trust_run_distance(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    double none = 0, half = 0;
    bool everywhere = true;
    uint64_t least = UINT64_MAX;
    for (uint32_t nops = 0; nops <= MOST; nops += STEP) {
        struct as_trust_row *row = as_trust_add(report, "distance", "second of two loads");
        snprintf(row->setting, sizeof row->setting, "%u nops apart", nops);
        if (!share_of_second(subject, nops, row, &least, err))
            return false;
        double share = row->got;
        row->unit = AS_TRUST_SHARE;
        row->expected = 0.5;
        row->error = share - 0.5;
        none = share < 0.05 ? nops : none;
        everywhere = everywhere && share > 0.4;
        half = half == 0 && share > 0.4 ? nops : half;
    }
    if (!as_trust_enough(report, "distance", least, 4 * AS_TRUST_LEAST))
        return true;
    if (everywhere)
        as_trust_say(report, "distance: a load is sampled as often as it should be, however near to the one before");
    else if (half > 0)
        as_trust_say(report,
                     "distance: a load is never sampled within %.0f nops of the one before, and as often as it should "
                     "be from %.0f on",
                     none, half);
    else
        as_trust_say(report, "distance: within %d nops of the one before a load is sampled too rarely", MOST);
    return true;
}
