/* See record_sampled.h. */
#include "record/record_sampled.h"

#include "base/show.h"
#include "score/confidence.h"

#include <inttypes.h>
#include <math.h>

void as_record_sampled_describe(const struct as_record_series *all, struct as_store_series *series)
{
    series->name = AS_SAMPLED_SERIES;
    series->description =
        as_sampled_phases(all->sampled)
            ? "cycles of the whole program: executions are exact, times are those of simulation points by their weights"
            : "cycles of the whole program: executions are exact, their costs were measured in regions";
    series->exact = false;
    series->samples = as_sampled_summary(all->sampled)->regions;
}

/* Half the sum of the expected deviations of the shares at a level, as in as_profile_error. */
static double expected_error(const struct as_record_series *all, const struct as_grouping *grouping)
{
    size_t n = grouping ? (size_t)grouping->count + 1 : all->code->n;
    double *sums = as_alloc_array(n * AS_SAMPLED_GROUPS + 1, sizeof *sums), totals[AS_SAMPLED_GROUPS] = {0}, error = 0;
    for (uint32_t group = 0; group < AS_SAMPLED_GROUPS; group++)
        for (uint32_t id = 0; id < all->code->n; id++) {
            double units = (double)as_sampled_replicate(all->sampled, group, id);
            sums[(grouping ? as_grouping_of(grouping, id) : id) * (size_t)AS_SAMPLED_GROUPS + group] += units;
            totals[group] += units;
        }
    for (size_t row = 0; row < n; row++) {
        double shares[AS_SAMPLED_GROUPS];
        for (uint32_t group = 0; group < AS_SAMPLED_GROUPS; group++)
            shares[group] = totals[group] > 0 ? sums[row * AS_SAMPLED_GROUPS + group] / totals[group] : 0;
        error += as_jackknife_deviation(shares, AS_SAMPLED_GROUPS) * sqrt(2 / M_PI) / 2;
    }
    free(sums);
    return error;
}

static void add_estimate(const struct as_record_series *all, uint32_t series, const char *measure,
                         const char *granularity, double value)
{
    as_store_add_estimate(
        all->code->writer,
        &(struct as_store_estimate){.series = series, .measure = measure, .granularity = granularity, .value = value});
}

/* Whether the instruction has the same time in all replicates. Most code of a program does: it is executed in the head only. */
static bool is_common(const struct as_record_series *all, uint32_t id)
{
    uint64_t first = as_sampled_replicate(all->sampled, 0, id);
    for (uint32_t group = 1; group < AS_SAMPLED_GROUPS; group++)
        if (as_sampled_replicate(all->sampled, group, id) != first)
            return false;
    return true;
}

/* Adds the times of a replicate that it has in common with the others, or those that it has not. */
static void add_part(struct as_record_series *all, const char *name, const char *description, uint32_t group,
                     const bool *common, bool wanted)
{
    struct as_store_series series = {
        .name = name, .description = description, .unit = "cycles", .scale = AS_CYCLE_UNITS, .precise = -1};
    as_store_add_series(all->code->writer, &series);
    for (uint32_t id = 0; id < all->code->n; id++) {
        struct as_store_time time = {.series = all->series, .instruction = all->code->number_of[id]};
        if (common[id] != wanted || time.instruction == AS_STORE_NONE)
            continue;
        time.units = as_sampled_replicate(all->sampled, group, id);
        if (time.units)
            as_store_add_time(all->code->writer, &time);
    }
    all->series++;
}

static void add_replicates(struct as_record_series *all)
{
    bool *common = as_alloc_array(all->code->n + 1, sizeof *common);
    for (uint32_t id = 0; id < all->code->n; id++)
        common[id] = is_common(all, id);
    add_part(all, AS_STORE_REPLICATE_COMMON, "what all replicates have in common: for error bars", 0, common, true);
    for (uint32_t group = 0; group < AS_SAMPLED_GROUPS; group++) {
        char name[64];
        snprintf(name, sizeof name, AS_STORE_REPLICATE "%" PRIu32, group + 1);
        add_part(all, name, "the same without a tenth of the regions: for error bars", group, common, false);
    }
    free(common);
}

void as_record_sampled_add(struct as_record_series *all)
{
    struct as_levels levels = as_groups_levels(all->groups);
    uint32_t own = all->series - 1;
    if (!as_sampled_has_error(all->sampled))
        return;
    add_estimate(all, own, "interval", "program", as_sampled_summary(all->sampled)->error);
    for (int level = 0; level < AS_LEVEL_PROGRAM; level++)
        add_estimate(all, own, "estimate", as_level_names[level], expected_error(all, levels.grouping[level]));
    add_replicates(all);
}

/* What the estimate is from. */
static char *basis_of(const struct as_record_series *all)
{
    size_t phases = as_sampled_phases(all->sampled);
    if (!phases)
        return as_format("%s", "");
    return as_format(" from %" PRIu32 " simulation points of %zu phases", as_sampled_summary(all->sampled)->regions,
                     phases);
}

/* Whether the points were chosen in another run than this. */
static void add_difference(const struct as_record_series *all)
{
    static const double tolerable = 0.001;
    double differs = as_sampled_differs(all->sampled);
    if (differs > tolerable)
        as_store_add_quality(all->code->writer, "runs_differ", differs,
                             "part of the instructions that this run has more or less than the one in which its "
                             "simulation points were chosen: they may stand for something else");
}

void as_record_sampled_quality(const struct as_record_series *all)
{
    const struct as_sampled_summary *summary = as_sampled_summary(all->sampled);
    double share = (double)summary->measured / (double)summary->instructions;
    char *basis = basis_of(all);
    char *text = as_format("SAMPLED: an estimate for all %s instructions%s; %s of them were measured",
                           AS_COUNT(summary->instructions), basis, AS_COUNT(summary->measured));
    free(basis);
    as_store_add_quality(all->code->writer, "sampled", share, text);
    free(text);
    add_difference(all);
    if (summary->unseen)
        as_store_add_quality(
            all->code->writer, "unseen", (double)summary->unseen / (double)summary->instructions,
            as_sampled_phases(all->sampled)
                ? "part of the executions is of code that no simulation point has: it has no time"
                : "part of the executions is of code that no measured region has: its cost is that of other code");
    if (summary->warm) {
        const char *used = summary->warm == AS_REGION_ALL ? "all" : AS_COUNT(summary->warm);
        text = as_format("part of the cycles of a region is the difference between warming it with the %s instructions "
                         "before it and with all of them; the later regions were warmed with %s",
                         AS_COUNT(summary->warm_short), used);
        as_store_add_quality(all->code->writer, "warming", summary->warm_error, text);
        free(text);
    }
    as_store_add_quality(all->code->writer, "sampled_paths", NAN,
                         "call paths in a measured region begin with the function that was executed first in it");
}
