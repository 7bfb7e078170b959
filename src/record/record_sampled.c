/* See record_sampled.h. */
#include "record/record_sampled.h"

#include "base/map.h"
#include "base/show.h"
#include "record/record_paths.h"
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

static double mean_of(const struct as_record_series *all, uint32_t id)
{
    double sum = 0;
    for (uint32_t group = 0; group < AS_SAMPLED_GROUPS; group++)
        sum += (double)as_sampled_replicate(all->sampled, group, id);
    return sum / AS_SAMPLED_GROUPS;
}

static bool is_common(const struct as_record_series *all, uint32_t id)
{
    uint64_t first = as_sampled_replicate(all->sampled, 0, id);
    for (uint32_t group = 1; group < AS_SAMPLED_GROUPS; group++)
        if (as_sampled_replicate(all->sampled, group, id) != first)
            return false;
    return true;
}

/* How the replicates of an instruction are written. Most code of a program is executed in the head only, and has the same
 * time in all of them. Code that no region has costs what other code does, so its times in the replicates are those of
 * other code by a factor each: a program that loads large libraries has hundreds of thousands of such instructions. */
enum kind { OWN, COMMON, ALIKE };

struct replicates {
    const struct as_record_series *all;
    double factors[AS_SAMPLED_GROUPS]; /* of a time that is alike, by replicate; their mean is 1 */
    uint8_t *kinds;                    /* of instructions */
    struct as_sampled_shares shares;
    struct as_path_replicates paths;
};

/* A row of a level: what is known of it in each replicate; of that what differs between replicates, on average; and of that what no
 * region has, which costs what other code does. */
struct row_sums {
    double units[AS_SAMPLED_GROUPS], moving, guessed;
};

static struct row_sums *sum_rows(const struct replicates *replicates, const struct as_grouping *grouping,
                                 struct row_sums *whole)
{
    const struct as_record_series *all = replicates->all;
    struct row_sums *rows = as_alloc_array((grouping ? (size_t)grouping->count + 1 : all->code->n) + 1, sizeof *rows);
    for (uint32_t id = 0; id < all->code->n; id++) {
        struct row_sums *row = &rows[grouping ? as_grouping_of(grouping, id) : id];
        double moving = replicates->kinds[id] == COMMON ? 0 : mean_of(all, id);
        row->moving += moving;
        row->guessed += replicates->kinds[id] == ALIKE ? moving : 0;
        whole->moving += moving;
        for (uint32_t group = 0; group < AS_SAMPLED_GROUPS; group++) {
            double units = (double)as_sampled_replicate(all->sampled, group, id);
            row->units[group] += units;
            whole->units[group] += units;
        }
    }
    return rows;
}

/* The deviation of a row's share. */
static double deviation_of(const struct as_record_series *all, const struct row_sums *row, const struct row_sums *whole)
{
    struct as_region_prior prior;
    double shares[AS_SAMPLED_GROUPS], mean = 0, all_units = 0;
    for (uint32_t group = 0; group < AS_SAMPLED_GROUPS; group++) {
        shares[group] = whole->units[group] > 0 ? row->units[group] / whole->units[group] : 0;
        mean += shares[group] / AS_SAMPLED_GROUPS;
        all_units += whole->units[group] / AS_SAMPLED_GROUPS;
    }
    double found = as_jackknife_deviation(shares, AS_SAMPLED_GROUPS);
    if (!as_sampled_prior(all->sampled, &prior) || whole->moving <= 0)
        return found;
    return as_guessed_share_deviation(mean, row->guessed / all_units,
                                      as_region_share_deviation(&prior, mean, row->moving / whole->moving, found));
}

/* Half the sum of the expected deviations of the shares at a level, as in as_profile_error. */
static double expected_error(const struct replicates *replicates, const struct as_grouping *grouping)
{
    const struct as_record_series *all = replicates->all;
    struct row_sums whole = {0}, *rows = sum_rows(replicates, grouping, &whole);
    size_t n = grouping ? (size_t)grouping->count + 1 : all->code->n;
    double error = 0;
    for (size_t row = 0; row < n; row++)
        error += deviation_of(all, &rows[row], &whole) * sqrt(2 / M_PI) / 2;
    free(rows);
    return error;
}

/* Runs that are the same may number instructions in another order, and the last digits of a sum depend on that. */
static double rounded(double value)
{
    static const double precision = 1e9;
    return round(value * precision) / precision;
}

static void add_estimate(const struct as_record_series *all, uint32_t series, const char *measure,
                         const char *granularity, double value)
{
    as_store_add_estimate(all->code->writer, &(struct as_store_estimate){.series = series,
                                                                         .measure = measure,
                                                                         .granularity = granularity,
                                                                         .value = rounded(value)});
}

/* The factors of an instruction, rounded: equal for instructions that are alike. */
static uint64_t hash_factors(const struct as_record_series *all, uint32_t id)
{
    int64_t rounded[AS_SAMPLED_GROUPS];
    double mean = mean_of(all, id);
    for (uint32_t group = 0; group < AS_SAMPLED_GROUPS; group++)
        rounded[group] = llround((double)as_sampled_replicate(all->sampled, group, id) / mean * 1000);
    return as_hash_bytes(rounded, sizeof rounded);
}

/* Whether the factors give the times, to a thousandth, of an instruction that no region has. Measured code can happen to have the
 * same factors, and is certain nevertheless. */
static bool is_alike(const struct replicates *replicates, uint32_t id)
{
    if (!as_sampled_is_guessed(replicates->all->sampled, id))
        return false;
    double mean = mean_of(replicates->all, id);
    for (uint32_t group = 0; group < AS_SAMPLED_GROUPS; group++) {
        double units = (double)as_sampled_replicate(replicates->all->sampled, group, id);
        if (fabs(units - mean * replicates->factors[group]) > mean / 1000)
            return false;
    }
    return true;
}

/* Finds the factors that most instructions have which no region executed. */
static void find_factors(struct replicates *replicates)
{
    const struct as_record_series *all = replicates->all;
    struct as_map counts = {0};
    uint64_t most = 0;
    uint32_t example = 0;
    for (uint32_t id = 0; id < all->code->n; id++) {
        if (replicates->kinds[id] == COMMON || !as_sampled_is_guessed(all->sampled, id))
            continue;
        uint64_t count = ++*as_map_put(&counts, hash_factors(all, id));
        example = count > most ? id : example;
        most = count > most ? count : most;
    }
    for (uint32_t group = 0; group < AS_SAMPLED_GROUPS; group++)
        replicates->factors[group] =
            most ? (double)as_sampled_replicate(all->sampled, group, example) / mean_of(all, example) : 1;
    as_map_free(&counts);
}

static void sort_kinds(struct replicates *replicates)
{
    const struct as_record_series *all = replicates->all;
    for (uint32_t id = 0; id < all->code->n; id++)
        replicates->kinds[id] = is_common(all, id) ? COMMON : OWN;
    find_factors(replicates);
    for (uint32_t id = 0; id < all->code->n; id++)
        if (replicates->kinds[id] == OWN && is_alike(replicates, id))
            replicates->kinds[id] = ALIKE;
}

static bool is_common_path(const struct as_path_replicates *paths, uint32_t path)
{
    for (uint32_t group = 1; group < AS_SAMPLED_GROUPS; group++)
        if (llround(paths->units[group][path]) != llround(paths->units[0][path]))
            return false;
    return true;
}

/* Code that no region has is on no path, so none is alike. */
static void add_paths(const struct as_record_series *all, const struct as_path_replicates *paths, enum kind kind,
                      uint32_t group)
{
    for (uint32_t path = 0; kind != ALIKE && path < paths->n; path++)
        if (is_common_path(paths, path) == (kind == COMMON))
            as_record_sampled_add_path(all, path, group, (uint64_t)llround(paths->units[group][path]));
}

/* Adds a series with the times of the instructions of a kind: those of a replicate, or their means. */
static void add_part(struct as_record_series *all, const struct replicates *replicates, enum kind kind,
                     const char *name, const char *description, uint32_t group)
{
    struct as_store_series series = {.name = name,
                                     .description = description,
                                     .unit = "cycles",
                                     .scale = AS_CYCLE_UNITS,
                                     .precise = -1,
                                     .events = as_oracle_events(all->modelled->oracle)};
    as_store_add_series(all->code->writer, &series);
    for (uint32_t id = 0; id < all->code->n; id++) {
        if (replicates->kinds[id] != kind || all->code->number_of[id] == AS_STORE_NONE)
            continue;
        if (kind == ALIKE)
            as_record_sampled_add_time(all, &replicates->shares, id, AS_SAMPLED_GROUPS,
                                       (uint64_t)llround(mean_of(all, id)));
        else
            as_record_sampled_add_time(all, &replicates->shares, id, group,
                                       as_sampled_replicate(all->sampled, group, id));
    }
    add_paths(all, &replicates->paths, kind, group);
}

static uint64_t alike_units(const struct replicates *replicates)
{
    double units = 0;
    for (uint32_t id = 0; id < replicates->all->code->n; id++)
        units += replicates->kinds[id] == ALIKE ? mean_of(replicates->all, id) : 0;
    return (uint64_t)llround(units);
}

static void add_alike(struct as_record_series *all, const struct replicates *replicates)
{
    uint32_t own = all->series;
    add_part(all, replicates, ALIKE, AS_STORE_REPLICATE_ALIKE,
             "what has the same factor to its mean in each replicate: for error bars", 0);
    as_record_sampled_add_alike_stacks(all, alike_units(replicates));
    all->series++;
    for (uint32_t group = 0; group < AS_SAMPLED_GROUPS; group++) {
        char name[64];
        snprintf(name, sizeof name, AS_STORE_REPLICATE "%" PRIu32, group + 1);
        add_estimate(all, own, AS_STORE_FACTOR, name, replicates->factors[group]);
    }
}

static void add_replicates(struct as_record_series *all, const struct replicates *replicates)
{
    add_part(all, replicates, COMMON, AS_STORE_REPLICATE_COMMON, "what all replicates have in common: for error bars",
             0);
    as_record_sampled_add_head_stacks(all);
    if (replicates->shares.n)
        add_estimate(all, all->series, AS_STORE_BY_THREADS, "program", 1);
    all->series++;
    add_alike(all, replicates);
    for (uint32_t group = 0; group < AS_SAMPLED_GROUPS; group++) {
        char name[64];
        snprintf(name, sizeof name, AS_STORE_REPLICATE "%" PRIu32, group + 1);
        add_part(all, replicates, OWN, name, "the same without a tenth of the regions: for error bars", group);
        double alike = (double)alike_units(replicates) * replicates->factors[group];
        as_record_sampled_add_stacks(all, group, (uint64_t)llround(alike));
        all->series++;
    }
}

void as_record_sampled_add(struct as_record_series *all)
{
    struct as_levels levels = as_groups_levels(all->groups);
    uint32_t own = all->series - 1;
    if (!as_sampled_has_error(all->sampled))
        return;
    struct as_region_prior prior;
    struct replicates replicates = {.all = all, .kinds = as_alloc_array(all->code->n + 1, 1)};
    struct as_pics paths = as_record_sampled_paths(all);
    replicates.paths = as_record_sampled_path_replicates(all, &paths);
    as_pics_free(&paths);
    sort_kinds(&replicates);
    replicates.shares = as_record_sampled_shares(all);
    add_estimate(all, own, "interval", "program", as_sampled_summary(all->sampled)->error);
    if (as_sampled_prior(all->sampled, &prior))
        add_estimate(all, own, AS_STORE_PRIOR, "program", prior.deviation);
    add_estimate(all, own, AS_STORE_PRIOR, AS_STORE_PRIOR_COMMON, as_sampled_summary(all->sampled)->common);
    if (as_sampled_phases(all->sampled))
        add_estimate(all, own, AS_STORE_PRIOR, AS_STORE_PRIOR_REGIONS, prior.regions);
    for (int level = 0; level < AS_LEVEL_PROGRAM; level++)
        add_estimate(all, own, "estimate", as_level_names[level], expected_error(&replicates, levels.grouping[level]));
    as_record_sampled_add_counters(all, own);
    add_replicates(all, &replicates);
    as_sampled_shares_free(&replicates.shares);
    as_path_replicates_free(&replicates.paths);
    free(replicates.kinds);
}

/* What the estimate is from. */
static char *basis_of(const struct as_record_series *all)
{
    size_t phases = as_sampled_phases(all->sampled);
    if (!phases)
        return as_format("%s", "");
    uint32_t points = as_sampled_summary(all->sampled)->regions;
    return as_format(" from %" PRIu32 " simulation point%s of %zu phase%s", points, points == 1 ? "" : "s", phases,
                     phases == 1 ? "" : "s");
}

/* Whether the points were chosen in another run than this. */
static void add_difference(const struct as_record_series *all)
{
    static const double tolerable = 0.001;
    double differs = as_sampled_differs(all->sampled);
    if (differs > tolerable)
        as_store_add_quality(all->code->writer, "runs_differ", differs,
                             "part of the instructions of this run, or of one of its simulation points, differs from "
                             "the run in which they were chosen: the program does not do the same in every run");
}

/* Of what happens in this part of the run, that is in three of as many regions as were measured, none has any with a chance of 5 %
 * (exp(-3)). Regions that agree then say nothing about it. */
static void add_rare(const struct as_record_series *all)
{
    const struct as_sampled_summary *summary = as_sampled_summary(all->sampled);
    double rest = 1 - (double)summary->measured / (double)summary->instructions;
    if (as_sampled_phases(all->sampled))
        return;
    as_store_add_quality(
        all->code->writer, "rare", rest * fmin(3.0 / fmax(summary->regions, 1), 1),
        "part of the run can be slow for a reason of its own other than cold data and in no region, by "
        "chance: the error does not allow for that. A shorter --sample-period lowers it");
}

/* What a process executes once, as it begins and ends, is slow because its caches are cold, and too short to fall into a region often: of
 * forty that began together a fifth of all cycles was missing, where the regions' interval was 1.5 %. */
static void add_processes(const struct as_record_series *all)
{
    enum { FEW = 4 };
    uint32_t processes = all->modelled->result.engine.processes;
    if (processes > FEW)
        as_store_add_quality(
            all->code->writer, "processes", processes,
            "processes ran: what each of them executes once, with cold caches, falls into few regions, so the "
            "estimate can be too low by more than the error says. --budget=0 measures all of it");
}

/* Half the 95 % interval of the elapsed time: that of the cycles, and how far the elapsed time of a cycle was off in runs whose truth is
 * known, since threads are interleaved by their pace alone where nothing is measured (doc/design/sampled.md, points.md). What the points
 * of a phase in which one thread runs are off by is as many cycles of the elapsed time, and so a larger part of it. */
static double elapsed_error(const struct as_record_series *all)
{
    static const double of_regions = 0.015, of_points = 0.02;
    const struct as_counters *counters = as_sampled_counters(all->sampled);
    double cycles = as_sampled_summary(all->sampled)->error;
    if (as_sampled_phases(all->sampled) == 0)
        return hypot(cycles, of_regions);
    return hypot(cycles * fmax((double)counters->cycles / (double)counters->elapsed_cycles, 1), of_points);
}

static void add_elapsed(const struct as_record_series *all)
{
    if (all->modelled->result.engine.threads > 1 && as_sampled_has_error(all->sampled))
        as_store_add_quality(all->code->writer, "elapsed", elapsed_error(all),
                             "part of the elapsed time is half of its 95 % interval");
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
    add_rare(all);
    add_processes(all);
    add_elapsed(all);
    if (summary->unseen_reads > 0)
        as_store_add_quality(
            all->code->writer, "unseen_reads", summary->unseen_reads,
            as_sampled_phases(all->sampled)
                ? "part of the time is what reads of DRAM can cost that the points have too few or too "
                  "many of. A larger --per-phase or --max-k lowers it"
                : "part of the time is what reads of DRAM can cost that the regions have too few or too "
                  "many of: the error allows for it. A shorter --sample-period lowers it");
    if (summary->unseen)
        as_store_add_quality(
            all->code->writer, "unseen", (double)summary->unseen / (double)summary->instructions,
            as_sampled_phases(all->sampled)
                ? "part of the executions is of code that no simulation point has: its cost is that of other code"
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
