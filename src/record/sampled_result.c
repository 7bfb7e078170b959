/* The estimate of a sampled run: scales strata to the executions in them, and computes replicates, and rows like the
 * Oracle's. */
#include "base/search.h"
#include "record/points_run.h"
#include "record/sampled_scale.h"
#include "score/confidence.h"

#include <math.h>

/* ---- adding a stratum ---- */

/* Adds the time in regions times a factor, with `more` of it that is waited. */
static void add_states(struct as_sampled_cost *to, const struct as_sampled_cost *cost, double factor, double more)
{
    double units = as_sampled_units(cost), waits = units - cost->units[AS_STATE_COMPUTING];
    bool enough = waits + more >= 0 && waits > 0;
    if (units <= 0) /* the half of a cycle that it waited was charged before the region began */
        return;
    for (int state = 0; state < AS_STATE_COUNT; state++) {
        double part = state == AS_STATE_COMPUTING && enough ? 0 : cost->units[state];
        to->units[state] += factor * (cost->units[state] + (more != 0 ? more * part / (enough ? waits : units) : 0));
    }
}

static void fold_instruction(struct as_sampled *sampled, const struct as_stratum *stratum, size_t id,
                             const struct as_scales *scales)
{
    struct as_sampled_cost *to = &sampled->costs.data[id];
    double count = as_sampled_at(&stratum->counts, id), factor = as_scale_factor(&scales->all, id);
    double elsewhere = factor > 0 ? 0 : as_scale_elsewhere(sampled, &scales->all, id);
    for (int group = 0; group < AS_SAMPLED_GROUPS; group++)
        as_sampled_numbers_add(&sampled->replicates[group], id,
                               as_scale_estimate(sampled, &scales->without[group], id));
    add_states(to, &stratum->costs.data[id], factor, (scales->all.reads_ratio - 1) * scales->waiting[id]);
    double again = as_sampled_at(&stratum->again, id);
    if (stratum->costs.data[id].executions == 0)
        sampled->summary.unseen += (uint64_t)(count - again);
    if (stratum->costs.data[id].executions == 0)
        as_sampled_numbers_add(&sampled->guessed, id, elsewhere);
    if (elsewhere > 0) {
        to->units[AS_STATE_COMPUTING] += elsewhere;
        *as_vec_push(&sampled->parts) =
            (struct as_sampled_part){.id = (uint32_t)id, .units = elsewhere, .count = count};
    }
    as_sampled_numbers_add(&sampled->counts, id, count);
    as_sampled_numbers_add(&sampled->counts_again, id, again);
}

static void fold_parts(struct as_sampled *sampled, const struct as_stratum *stratum, const struct as_scale *scale)
{
    for (size_t i = 0; i < stratum->pics.len; i++) {
        const struct as_pics_entry *entry = &stratum->pics.data[i];
        double factor = as_scale_factor(scale, entry->id) * (as_scale_waits(entry) ? scale->reads_ratio : 1);
        *as_vec_push(&sampled->parts) = (struct as_sampled_part){.id = entry->id,
                                                                 .events = entry->events,
                                                                 .units = factor * (double)entry->units,
                                                                 .count = factor * (double)entry->count};
    }
}

static void fold_head(struct as_sampled *sampled, const struct as_stratum *stratum)
{
    for (size_t id = 0; id < stratum->costs.len; id++)
        if (as_sampled_units(&stratum->costs.data[id]) > 0)
            as_sampled_numbers_add(&sampled->head, id, as_sampled_units(&stratum->costs.data[id]));
    for (size_t i = 0; i < stratum->paths.len; i++)
        as_sampled_numbers_add(&sampled->path_head, stratum->paths.data[i].id, (double)stratum->paths.data[i].units);
}

/* Paths in replicates: without a group, the others stand for as much as all do. `factor` is what all are multiplied by. */
static void fold_path_groups(struct as_sampled *sampled, const struct as_stratum *stratum, double factor)
{
    double executions[AS_SAMPLED_GROUPS] = {0}, all = 0;
    for (int group = 0; group < AS_SAMPLED_GROUPS; group++)
        for (size_t id = 0; id < stratum->groups[group].executions.len; id++)
            executions[group] += stratum->groups[group].executions.data[id];
    for (int group = 0; group < AS_SAMPLED_GROUPS; group++)
        all += executions[group];
    for (int from = 0; from < AS_SAMPLED_GROUPS; from++)
        for (size_t path = 0; path < stratum->groups[from].paths.len; path++) {
            double units = factor * stratum->groups[from].paths.data[path];
            if (units == 0)
                continue;
            as_sampled_numbers_add(&sampled->path_regions, path, units);
            for (int group = 0; group < AS_SAMPLED_GROUPS; group++)
                if (group != from && all > executions[group])
                    as_sampled_numbers_add(&sampled->path_replicates[group], path,
                                           units * all / (all - executions[group]));
        }
}

void as_sampled_add_counters(struct as_counters *to, const struct as_counters *from, double factor)
{
    for (size_t i = 0; i < as_counter_count; i++) {
        uint64_t *sum = (uint64_t *)((char *)to + as_counter_table[i].offset);
        *sum += (uint64_t)llround(factor * (double)as_counter_value(from, &as_counter_table[i]));
    }
}

/* Counters are scaled like the stratum, but how often DRAM was read is known: what the last-level cache missed and prefetched follows
 * from that. */
static void fold_counters(struct as_sampled *sampled, const struct as_stratum *stratum, double factor)
{
    struct as_counters scaled = {0};
    double read = (double)stratum->counters.dram_reads, ratio = read > 0 ? (double)stratum->reads / read : 0;
    as_sampled_add_counters(&scaled, &stratum->counters, factor);
    if (!stratum->full) {
        scaled.dram_reads = stratum->reads;
        scaled.dram_row_hits = (uint64_t)llround(ratio * (double)stratum->counters.dram_row_hits);
        scaled.llc_prefetches = (uint64_t)llround(ratio * (double)stratum->counters.llc_prefetches);
        scaled.llc_misses = scaled.dram_reads - scaled.llc_prefetches;
    }
    as_counters_append(&sampled->counters, &scaled);
}

/* Paths have no instructions: they are scaled like the stratum, and to the total at the end. What instructions would have by the
 * same factor is kept: see record_sampled_paths.c. */
static void fold_paths(struct as_sampled *sampled, const struct as_stratum *stratum)
{
    double measured = 0;
    for (size_t id = 0; id < stratum->costs.len; id++)
        measured += stratum->costs.data[id].executions;
    measured -= (double)stratum->timed;
    double factor = stratum->full || measured == 0 ? 1 : (double)stratum->instructions / measured;
    for (size_t id = 0; id < stratum->costs.len; id++)
        if (as_sampled_units(&stratum->costs.data[id]) > 0)
            as_sampled_numbers_add(&sampled->extended, id, factor * as_sampled_units(&stratum->costs.data[id]));
    for (size_t i = 0; i < stratum->paths.len; i++) {
        const struct as_pics_entry *entry = &stratum->paths.data[i];
        *as_vec_push(&sampled->path_parts) = (struct as_sampled_part){.id = entry->id,
                                                                      .events = entry->events,
                                                                      .units = factor * (double)entry->units,
                                                                      .count = factor * (double)entry->count};
    }
    if (stratum->full)
        fold_head(sampled, stratum);
    else
        fold_path_groups(sampled, stratum, factor);
    fold_counters(sampled, stratum, factor);
    sampled->summary.measured += (uint64_t)measured;
}

/* Reads of DRAM that the estimate has too few or too many of, beyond what regions differ by: their cost is not known. */
static void note_unseen_reads(struct as_sampled *sampled, const struct as_scales *scales)
{
    const struct as_stratum *stratum = scales->all.stratum;
    double lacking = (double)stratum->reads - scales->all.expected * scales->all.reads_ratio;
    if (!stratum->full)
        sampled->unseen_reads += fmax(fmax(scales->reads_beyond, scales->reads_help ? lacking : 0), 0);
}

static void fold_rows(struct as_sampled *sampled, const struct as_stratum *stratum)
{
    struct as_stratum same = *stratum;
    size_t n = as_engine_count_insns(as_model_engine(sampled->modelled->model));
    while (same.costs.len < n)
        *as_vec_push(&same.costs) = (struct as_sampled_cost){0};
    ((struct as_stratum *)stratum)->costs = same.costs; /* it only grew */
    while (sampled->costs.len < n)
        *as_vec_push(&sampled->costs) = (struct as_sampled_cost){0};
    struct as_scales scales = as_scales_make(sampled, stratum);
    for (size_t id = 0; id < n; id++)
        if (as_sampled_at(&stratum->counts, id) > 0 || stratum->costs.data[id].executions > 0 ||
            as_sampled_units(&stratum->costs.data[id]) > 0)
            fold_instruction(sampled, stratum, id, &scales);
    fold_parts(sampled, stratum, &scales.all);
    as_sampled_fold_parts(sampled, stratum, &scales);
    note_unseen_reads(sampled, &scales);
    as_scales_free(&scales);
    sampled->summary.regions += stratum->full ? 0 : stratum->regions;
    sampled->summary.strata++;
}

void as_stratum_fold(struct as_sampled *sampled, const struct as_stratum *stratum)
{
    fold_rows(sampled, stratum);
    fold_paths(sampled, stratum);
}

void as_stratum_fold_points(struct as_sampled *sampled, const struct as_stratum *stratum)
{
    fold_rows(sampled, stratum);
    for (size_t id = 0; id < stratum->costs.len; id++)
        as_sampled_numbers_add(&sampled->extended, id, as_sampled_units(&stratum->costs.data[id]));
    fold_counters(sampled, stratum, 1);
}

/* ---- rows ---- */

static int compare_parts(const void *a, const void *b)
{
    const struct as_sampled_part *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->events > y->events) - (x->events < y->events);
}

/* Sorts parts and joins those of the same kind. */
static void sort_parts(as_sampled_parts *parts)
{
    size_t kept = 0;
    if (parts->len)
        qsort(parts->data, parts->len, sizeof *parts->data, compare_parts);
    for (size_t i = 0; i < parts->len; i++)
        if (kept && compare_parts(&parts->data[kept - 1], &parts->data[i]) == 0) {
            parts->data[kept - 1].units += parts->data[i].units;
            parts->data[kept - 1].count += parts->data[i].count;
        } else {
            parts->data[kept++] = parts->data[i];
        }
    parts->len = kept;
}

/* Scales paths to the time of all rows; the largest takes the rounding error. */
static void make_paths(struct as_sampled *sampled)
{
    double whole = 0;
    uint64_t sum = 0;
    size_t largest = 0;
    for (size_t i = 0; i < sampled->path_parts.len; i++)
        whole += sampled->path_parts.data[i].units;
    double factor = whole > 0 ? (double)sampled->summary.units / whole : 0;
    for (size_t i = 0; i < sampled->path_parts.len; i++) {
        const struct as_sampled_part *part = &sampled->path_parts.data[i];
        struct as_pics_entry entry = {.id = part->id,
                                      .events = part->events,
                                      .units = (uint64_t)llround(factor * part->units),
                                      .count = (uint64_t)llround(factor * part->count)};
        as_pics_push(&sampled->paths, &entry);
        sum += entry.units;
        largest = entry.units > sampled->paths.data[largest].units ? i : largest;
    }
    if (sampled->paths.len)
        sampled->paths.data[largest].units += sampled->summary.units - sum; /* modulo 2^64 */
}

/* What all regions may have in common, which their differences do not show, as a part of the estimate: what warming leaves out;
 * with several threads also that between regions they are ordered by their pace alone. Both are half intervals of 95 %
 * from runs whose truth is known (doc/design/sampled.md). */
static double common_error(const struct as_sampled *sampled)
{
    static const double of_warming = 0.008, of_threads = 0.01;
    const struct as_sampled_summary *summary = &sampled->summary;
    uint32_t threads = 0;
    for (size_t i = 0; i < sampled->threads.len; i++)
        threads += sampled->threads.data[i].number != AS_NO_THREAD;
    if (summary->instructions == 0)
        return 0;
    return (threads > 1 ? of_threads : of_warming) * (1 - (double)summary->measured / (double)summary->instructions);
}

bool as_sampled_prior(const struct as_sampled *sampled, struct as_region_prior *prior)
{
    const struct as_sampled_summary *summary = &sampled->summary;
    if (sampled->points)
        return as_points_run_prior(sampled->points, prior);
    if (summary->instructions == 0)
        return false;
    *prior = as_region_prior_of(1 - (double)summary->measured / (double)summary->instructions, summary->regions);
    return true;
}

/* What reads of DRAM that no region shows may cost, as a part of the estimate: each may be hidden completely, or not at all. */
static double error_of_reads(const struct as_sampled *sampled)
{
    double latency = (double)as_model_read_latency(sampled->modelled->model);
    return sampled->unseen_reads * latency * AS_CYCLE_UNITS / (double)sampled->summary.units;
}

/* The same of code that no simulation point has: it costs what other code does. */
static double error_of_unseen(const struct as_sampled *sampled)
{
    double guessed = 0;
    for (size_t id = 0; sampled->points && id < sampled->guessed.len; id++)
        guessed += sampled->guessed.data[id];
    double share = guessed / (double)sampled->summary.units;
    return AS_Z_95 * as_guessed_share_deviation(share, share, 0);
}

/* Half the 95 % interval of the estimate, as a fraction of it. */
static double error_of(const struct as_sampled *sampled)
{
    double sums[AS_SAMPLED_GROUPS] = {0}, units = (double)sampled->summary.units;
    struct as_region_prior prior;
    for (int group = 0; group < AS_SAMPLED_GROUPS; group++)
        for (size_t id = 0; id < sampled->replicates[group].len; id++)
            sums[group] += sampled->replicates[group].data[id];
    double deviation = as_jackknife_deviation(sums, AS_SAMPLED_GROUPS) / units;
    if (as_sampled_prior(sampled, &prior))
        deviation = as_region_deviation(&prior, deviation);
    double found = as_jackknife_quantile(AS_SAMPLED_GROUPS) * deviation;
    double missing = hypot(sampled->summary.unseen_reads, error_of_unseen(sampled));
    return hypot(hypot(found, sampled->summary.common), missing);
}

/* The elapsed time of a cycle. Without threads, that of simulation points is the points' own. */
static double idle_factor(const struct as_sampled *sampled)
{
    double units = 0;
    if (!sampled->points)
        return as_model_idle_factor(sampled->modelled->model);
    if (as_points_run_elapsed_each(sampled->points) > 0)
        return as_points_run_elapsed_each(sampled->points);
    for (size_t id = 0; id < sampled->extended.len; id++)
        units += sampled->extended.data[id];
    return units > 0 ? (double)sampled->counters.elapsed_cycles * AS_CYCLE_UNITS / units : 1;
}

void as_sampled_make_rows(struct as_sampled *sampled)
{
    sampled->n = sampled->costs.len;
    sort_parts(&sampled->parts);
    sort_parts(&sampled->path_parts);
    as_group_parts_sort(&sampled->replicate_parts.events);
    as_group_parts_sort(&sampled->replicate_parts.paths);
    as_sampled_make_threads(sampled);
    make_paths(sampled);
    if (sampled->summary.units) {
        sampled->summary.unseen_reads = error_of_reads(sampled);
        sampled->summary.common = common_error(sampled);
        sampled->summary.error = error_of(sampled);
    }
    sampled->counters.instructions = sampled->summary.instructions;
    sampled->counters.cycles = (sampled->summary.units + AS_CYCLE_UNITS / 2) / AS_CYCLE_UNITS;
    sampled->counters.elapsed_cycles = (uint64_t)llround((double)sampled->counters.cycles * idle_factor(sampled));
    as_counters_derive(&sampled->counters);
}

/* ---- reading the results ---- */

size_t as_sampled_phases(const struct as_sampled *sampled)
{
    return sampled->points ? as_points_run_phases(sampled->points) : 0;
}

double as_sampled_differs(const struct as_sampled *sampled)
{
    return sampled->points ? as_points_run_differs(sampled->points) : 0;
}

bool as_sampled_has_error(const struct as_sampled *sampled)
{
    return !sampled->points || as_points_run_has_error(sampled->points);
}

const struct as_sampled_summary *as_sampled_summary(const struct as_sampled *sampled)
{
    return &sampled->summary;
}

const struct as_counters *as_sampled_counters(const struct as_sampled *sampled)
{
    return &sampled->counters;
}

static const struct as_sampled_thread *thread_of(const struct as_sampled *sampled, uint32_t number)
{
    for (size_t i = 0; i < sampled->threads.len; i++)
        if (sampled->threads.data[i].number == number)
            return &sampled->threads.data[i];
    return NULL;
}

const struct as_oracle_row *as_sampled_row(const struct as_sampled *sampled, uint32_t thread, uint32_t id)
{
    const struct as_sampled_thread *own = thread_of(sampled, thread);
    size_t n = own ? own->rows.len : 0, at = as_search(0, n, i, own->rows.data[i].id < id);
    const struct as_sampled_row *found = at < n ? &own->rows.data[at] : NULL;
    if (!found || found->id != id || !(found->row.executions || as_oracle_row_units(&found->row)))
        return NULL;
    return &found->row;
}

struct as_modelled_start as_sampled_start(const struct as_sampled *sampled)
{
    struct as_oracle_row *rows = as_alloc_array(sampled->n + 1, sizeof *rows);
    for (size_t i = 0; i < sampled->threads.len; i++)
        for (size_t at = 0; at < sampled->threads.data[i].rows.len; at++) {
            const struct as_sampled_row *own = &sampled->threads.data[i].rows.data[at];
            rows[own->id].executions += own->row.executions;
            for (int state = 0; state < AS_STATE_COUNT; state++)
                rows[own->id].units[state] += own->row.units[state];
        }
    struct as_modelled_start start = as_modelled_start_of_rows(sampled->modelled->model, rows, sampled->n);
    free(rows);
    return start;
}

static struct as_pics copy_of(const struct as_pics *pics)
{
    struct as_pics copy = {0};
    for (size_t i = 0; i < pics->len; i++)
        as_pics_push(&copy, &pics->data[i]);
    return copy;
}

struct as_pics as_sampled_thread_pics(const struct as_sampled *sampled, uint32_t thread)
{
    const struct as_sampled_thread *own = thread_of(sampled, thread);
    return own ? copy_of(&own->pics) : (struct as_pics){0};
}

struct as_pics as_sampled_path_pics(const struct as_sampled *sampled)
{
    return copy_of(&sampled->paths);
}

uint64_t as_sampled_replicate(const struct as_sampled *sampled, uint32_t group, uint32_t id)
{
    double units = as_sampled_at(&sampled->replicates[group], id);
    return units > 0 ? (uint64_t)llround(units) : 0;
}

const struct as_replicate_parts *as_sampled_replicate_parts(const struct as_sampled *sampled)
{
    return &sampled->replicate_parts;
}

bool as_sampled_is_guessed(const struct as_sampled *sampled, uint32_t id)
{
    return as_sampled_at(&sampled->guessed, id) > 0;
}

double as_sampled_time(const struct as_sampled *sampled, uint32_t id)
{
    return id < sampled->costs.len ? as_sampled_units(&sampled->costs.data[id]) : 0;
}

double as_sampled_head(const struct as_sampled *sampled, uint32_t id)
{
    return as_sampled_at(&sampled->head, id);
}

double as_sampled_path_head(const struct as_sampled *sampled, uint32_t path)
{
    return as_sampled_at(&sampled->path_head, path);
}

double as_sampled_path_regions(const struct as_sampled *sampled, uint32_t path)
{
    return as_sampled_at(&sampled->path_regions, path);
}

double as_sampled_path_replicate(const struct as_sampled *sampled, uint32_t group, uint32_t path)
{
    return as_sampled_at(&sampled->path_replicates[group], path);
}

double as_sampled_extended(const struct as_sampled *sampled, uint32_t id)
{
    return as_sampled_at(&sampled->extended, id);
}
