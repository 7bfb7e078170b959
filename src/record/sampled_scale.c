/* See sampled_scale.h. */
#include "record/sampled_scale.h"

#include "score/confidence.h"

#include <math.h>
#include <stdlib.h>

enum { ALL = -1 }; /* no group is left out */

/* What the mean instruction costs, for code of which nothing is known: that of the stratum, or, where the program ended before its
 * first region, of all before. */
static double mean_cost(const struct as_sampled *sampled, const struct as_stratum *stratum)
{
    double units = 0, executions = 0;
    for (size_t id = 0; id < stratum->costs.len; id++) {
        units += as_sampled_units(&stratum->costs.data[id]);
        executions += stratum->costs.data[id].executions;
    }
    bool none = executions == 0;
    for (size_t id = 0; none && id < sampled->costs.len; id++) {
        units += as_sampled_units(&sampled->costs.data[id]);
        executions += as_sampled_at(&sampled->counts, id);
    }
    return executions > 0 ? units / executions : (double)AS_CYCLE_UNITS;
}

/* Whether enough simulation points execute it: two, if they do it about as often as the program does. */
static bool points_know(const struct as_stratum *stratum, size_t id)
{
    static const double much = 3;
    double points = as_sampled_at(&stratum->points, id);
    bool enough =
        points >= AS_STRATUM_POINTS || as_sampled_at(&stratum->counts, id) <= much * stratum->costs.data[id].executions;
    return points > 1 && enough;
}

/* Whether enough groups execute it. */
static bool is_common(const struct as_stratum *stratum, size_t id)
{
    if (stratum->points.len)
        return points_know(stratum, id);
    uint32_t has = 0, all = stratum->regions < AS_SAMPLED_GROUPS ? stratum->regions : AS_SAMPLED_GROUPS;
    for (int group = 0; group < AS_SAMPLED_GROUPS; group++)
        has += as_sampled_at(&stratum->groups[group].executions, id) > 0;
    return 2 * has >= all && has > 1;
}

static double executions_of(const struct as_scale *scale, size_t id)
{
    double executions = scale->stratum->costs.data[id].executions;
    double left = scale->group == ALL
                      ? executions
                      : executions - as_sampled_at(&scale->stratum->groups[scale->group].executions, id);
    return left > 0.5 ? left : 0;
}

static double units_of(const struct as_scale *scale, size_t id)
{
    double units = as_sampled_units(&scale->stratum->costs.data[id]);
    return scale->group == ALL ? units : units - as_sampled_at(&scale->stratum->groups[scale->group].units, id);
}

/* The executions of a rare instruction that the shared factor gives too many (more than 0) or too few. */
static double excess_of(const struct as_scale *scale, size_t id)
{
    return scale->shared * executions_of(scale, id) - as_sampled_at(&scale->stratum->counts, id);
}

/* If the regions have fewer executions of rare code than their part of the stratum would have, those that they have count no
 * more often than other code does, and each of the others costs something between what they do and the mean of all code: a
 * thousand executions with a few page faults among them say little about a million. */
static void share(struct as_scale *scale, double mean)
{
    double count = 0, executions = 0, units = 0, all = 0;
    for (size_t id = 0; id < scale->stratum->costs.len; id++) {
        all += executions_of(scale, id);
        if (scale->common[id])
            continue;
        count += as_sampled_at(&scale->stratum->counts, id);
        executions += executions_of(scale, id);
        units += units_of(scale, id);
    }
    if (executions == 0)
        return;
    double expected = count * all / (double)(scale->stratum->instructions + scale->stratum->iterations);
    double lacking = expected > executions ? expected - executions : 0;
    scale->shared = count / (executions + lacking);
    scale->lacking = (units + lacking * mean) / (executions + lacking);
}

/* What the time in the regions is multiplied with; 0: they have none. */
double as_scale_factor(const struct as_scale *scale, size_t id)
{
    double executions = executions_of(scale, id), units = units_of(scale, id);
    if (scale->stratum->full)
        return 1;
    if (units <= 0)
        return 0;
    double own = executions > 0 ? as_sampled_at(&scale->stratum->counts, id) / executions : INFINITY;
    if (own <= scale->shared || (scale->common[id] && executions > 0))
        return own;
    return scale->shared - excess_of(scale, id) * scale->lacking / units;
}

/* The time of an instruction of which the regions have none. */
double as_scale_elsewhere(const struct as_sampled *sampled, const struct as_scale *scale, size_t id)
{
    double count = as_sampled_at(&scale->stratum->counts, id), before = as_sampled_at(&sampled->counts, id);
    double excess = excess_of(scale, id);
    if (scale->stratum->full || (scale->common[id] && executions_of(scale, id) > 0))
        return 0;
    if (scale->common[id] && before > 0)
        return count * as_sampled_units(&sampled->costs.data[id]) / before;
    return excess < 0 ? -excess * scale->lacking : 0;
}

/* ---- lines that come from DRAM ---- */

/* What an instruction's time in the regions has of waiting for DRAM. Cycle stacks are not kept by group: without one, it is what
 * the others' executions took beyond what those of all regions take otherwise. */
static double waiting_of(const struct as_scale *scale, size_t id)
{
    double all = scale->waiting[id], executions = scale->stratum->costs.data[id].executions;
    if (scale->group == ALL || all == 0 || executions == 0)
        return all;
    double other = (as_sampled_units(&scale->stratum->costs.data[id]) - all) / executions;
    double waiting = units_of(scale, id) - executions_of(scale, id) * other;
    return waiting > 0 ? waiting : 0;
}

static double reads_of(const struct as_scale *scale)
{
    double reads = (double)scale->stratum->counters.dram_reads;
    return scale->group == ALL ? reads : reads - scale->stratum->groups[scale->group].reads;
}

/* The reads in the stratum by the estimate: those in the regions, multiplied as the time is that waits for them. */
static double expected_reads(const struct as_scale *scale)
{
    double sum = 0, scaled = 0;
    for (size_t id = 0; id < scale->stratum->costs.len; id++) {
        double waiting = waiting_of(scale, id);
        sum += waiting;
        scaled += waiting > 0 ? waiting * as_scale_factor(scale, id) : 0;
    }
    return sum > 0 ? reads_of(scale) * scaled / sum : 0;
}

static void compare_reads(struct as_scale *scale)
{
    enum { READS = 10 }; /* that are worth as much as the estimate without them */
    double expected = expected_reads(scale), most = 1 + reads_of(scale) / READS;
    scale->expected = expected;
    if (expected > 0)
        scale->reads_ratio = fmin((double)scale->stratum->reads / expected, most);
}

/* The estimate of an instruction's time. */
double as_scale_estimate(const struct as_sampled *sampled, const struct as_scale *scale, size_t id)
{
    double factor = as_scale_factor(scale, id);
    return factor > 0 ? factor * (units_of(scale, id) + (scale->reads_ratio - 1) * waiting_of(scale, id))
                      : as_scale_elsewhere(sampled, scale, id);
}

static struct as_scale make_scale(const struct as_stratum *stratum, const bool *common, const double *waiting,
                                  int group, double mean)
{
    struct as_scale scale = {
        .stratum = stratum, .common = common, .waiting = waiting, .group = group, .lacking = mean, .reads_ratio = 1};
    if (stratum->full)
        return scale;
    share(&scale, mean);
    compare_reads(&scale);
    return scale;
}

static double total_of(const struct as_sampled *sampled, const struct as_scale *scale)
{
    double sum = 0;
    for (size_t id = 0; id < scale->stratum->costs.len; id++)
        sum += as_scale_estimate(sampled, scale, id);
    return sum;
}

/* How far the reads are from those of the estimate, beyond what chance explains. */
static double reads_beyond(const struct as_scales *scales)
{
    double without[AS_SAMPLED_GROUPS];
    for (int group = 0; group < AS_SAMPLED_GROUPS; group++)
        without[group] = scales->without[group].expected;
    return fabs((double)scales->all.stratum->reads - scales->all.expected) -
           as_jackknife_interval(without, AS_SAMPLED_GROUPS);
}

/* Reads are used if the estimates without a group differ less with them than without them, or if chance does not explain that the
 * regions have so many or so few. Otherwise they have little to do with how the time of regions differs, and would only add what the
 * regions' own reads differ by. */
static bool reads_steady(const struct as_sampled *sampled, const struct as_scales *scales)
{
    double without[AS_SAMPLED_GROUPS], with[AS_SAMPLED_GROUPS];
    for (int group = 0; group < AS_SAMPLED_GROUPS; group++) {
        struct as_scale plain = scales->without[group];
        plain.reads_ratio = 1;
        without[group] = total_of(sampled, &plain);
        with[group] = total_of(sampled, &scales->without[group]);
    }
    return as_varies_less(without, with, AS_SAMPLED_GROUPS);
}

static void ignore_reads(struct as_scales *scales)
{
    scales->all.reads_ratio = 1;
    for (int group = 0; group < AS_SAMPLED_GROUPS; group++)
        scales->without[group].reads_ratio = 1;
}

struct as_scales as_scales_make(const struct as_sampled *sampled, const struct as_stratum *stratum)
{
    size_t n = stratum->costs.len;
    struct as_scales scales = {.common = as_alloc_array(n + 1, sizeof *scales.common),
                               .waiting = as_alloc_array(n + 1, sizeof *scales.waiting)};
    double mean = mean_cost(sampled, stratum);
    for (size_t id = 0; id < n; id++)
        scales.common[id] = is_common(stratum, id);
    for (size_t i = 0; i < stratum->pics.len; i++)
        if (as_scale_waits(&stratum->pics.data[i]))
            scales.waiting[stratum->pics.data[i].id] += (double)stratum->pics.data[i].units;
    scales.all = make_scale(stratum, scales.common, scales.waiting, ALL, mean);
    for (int group = 0; group < AS_SAMPLED_GROUPS; group++)
        scales.without[group] = make_scale(stratum, scales.common, scales.waiting, group, mean);
    scales.reads_beyond = reads_beyond(&scales);
    scales.reads_help = !stratum->full && (scales.reads_beyond > 0 || reads_steady(sampled, &scales));
    if (!scales.reads_help)
        ignore_reads(&scales);
    return scales;
}

void as_scales_free(struct as_scales *scales)
{
    free(scales->common);
    free(scales->waiting);
}
