/* The parts of replicates in a profile: components of instructions and of call paths, commit states, counters, threads. */
#include "observe/stacks.h"
#include "record/record_paths.h"
#include "record/record_sampled.h"
#include "score/confidence.h"

#include <math.h>

/* ---- threads ---- */

enum { THREADS = 16 }; /* more of them share the times of replicates: there would be too many rows */

static const struct as_oracle_row *row_of(const struct as_record_series *all, size_t thread, uint32_t id)
{
    const struct as_record_thread *own = &all->threads.list.data[thread];
    const struct as_engine *engine = as_model_engine(all->modelled->model);
    if (own->image && as_engine_insn_image(engine, id) != own->image)
        return NULL;
    return as_sampled_row(all->sampled, own->number, id);
}

struct as_sampled_shares as_record_sampled_shares(const struct as_record_series *all)
{
    struct as_sampled_shares shares = {.n = all->threads.list.len};
    if (shares.n == 0 || shares.n > THREADS)
        return (struct as_sampled_shares){0};
    shares.parts = as_alloc_array((size_t)all->code->n * shares.n + 1, sizeof *shares.parts);
    for (uint32_t id = 0; id < all->code->n; id++) {
        double *parts = shares.parts + id * shares.n, sum = 0;
        for (size_t thread = 0; thread < shares.n; thread++) {
            const struct as_oracle_row *row = row_of(all, thread, id);
            parts[thread] = row ? (double)as_oracle_row_units(row) : 0;
            sum += parts[thread];
        }
        for (size_t thread = 0; thread < shares.n; thread++)
            parts[thread] = sum > 0 ? parts[thread] / sum : thread == 0;
    }
    return shares;
}

void as_sampled_shares_free(struct as_sampled_shares *shares)
{
    free(shares->parts);
}

/* ---- components ---- */

/* A part's units in a replicate, or their mean over all. */
static double units_in(const struct as_group_part *part, uint32_t group)
{
    double sum = 0;
    if (group < AS_SAMPLED_GROUPS)
        return part->units[group];
    for (uint32_t i = 0; i < AS_SAMPLED_GROUPS; i++)
        sum += part->units[i] / AS_SAMPLED_GROUPS;
    return sum;
}

/* What the parts are multiplied by, so that they are not more than the time. */
static double fitting(const struct as_group_part *parts, size_t n, uint32_t group, uint64_t units, double share)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += units_in(&parts[i], group);
    return sum * share > (double)units ? (double)units / (sum > 0 ? sum : 1) : share;
}

static void add_in_thread(const struct as_record_series *all, uint32_t thread, uint32_t id, uint32_t group,
                          uint64_t units, double share)
{
    size_t n;
    const struct as_group_part *parts = as_group_parts_of(&as_sampled_replicate_parts(all->sampled)->events, id, &n);
    struct as_store_time time = {
        .series = all->series, .thread = thread, .instruction = all->code->number_of[id], .units = units};
    struct as_store_component component = {
        .series = all->series, .thread = thread, .instruction = time.instruction, .units = units};
    double factor = fitting(parts, n, group, units, share);
    as_store_add_time(all->code->writer, &time);
    for (size_t i = 0; i < n; i++) {
        struct as_store_component met = component;
        met.events = parts[i].key;
        met.units = (uint64_t)fmin(floor(factor * units_in(&parts[i], group)), (double)component.units);
        component.units -= met.units;
        if (met.units)
            as_store_add_component(all->code->writer, &met);
    }
    if (component.units)
        as_store_add_component(all->code->writer, &component);
}

void as_record_sampled_add_time(const struct as_record_series *all, const struct as_sampled_shares *shares, uint32_t id,
                                uint32_t group, uint64_t units)
{
    double before =
        0; /* the shares of threads so far: each takes what its end is rounded to, so that nothing is lost */
    uint64_t given = 0;
    if (shares->n == 0 && units)
        add_in_thread(all, 0, id, group, units, 1);
    for (size_t thread = 0; thread < shares->n; thread++) {
        double share = shares->parts[id * shares->n + thread];
        before += share;
        uint64_t own = (uint64_t)llround(fmin(before, 1) * (double)units) - given;
        if (own)
            add_in_thread(all, all->threads.list.data[thread].row, id, group, own, share);
        given += own;
    }
}

void as_record_sampled_add_path(const struct as_record_series *all, uint32_t path, uint32_t group, uint64_t units)
{
    size_t n;
    const struct as_group_part *parts = as_group_parts_of(&as_sampled_replicate_parts(all->sampled)->paths, path, &n);
    double regions = as_sampled_path_head(all->sampled, path) + as_sampled_path_replicate(all->sampled, group, path);
    double factor = fitting(parts, n, group, units, regions > 0 ? (double)units / regions : 0);
    uint64_t rest = units;
    for (size_t i = 0; i < n; i++) {
        uint64_t own = (uint64_t)fmin(floor(factor * units_in(&parts[i], group)), (double)rest);
        as_record_paths_add_time(all->paths, all->series, path, parts[i].key, own);
        rest -= own;
    }
    as_record_paths_add_time(all->paths, all->series, path, 0, rest);
}

/* ---- bars of the whole program ---- */

static void add_stack(const struct as_record_series *all, const char *stack, const char *name, uint64_t units)
{
    struct as_store_stack part = {.series = all->series, .stack = stack, .name = name, .units = units};
    as_store_add_stack(all->code->writer, &part);
}

/* `less`: units of what is executed and not counted here. */
static void add_stacks(const struct as_record_series *all, const uint64_t states[AS_STATE_COUNT],
                       const struct as_stack *stack, uint64_t less)
{
    uint64_t flushed = states[AS_STATE_MISPREDICT] + states[AS_STATE_FLUSH] + states[AS_STATE_EXCEPTION];
    uint64_t computing = states[AS_STATE_COMPUTING] > less ? states[AS_STATE_COMPUTING] - less : 0;
    add_stack(all, "states", "computing", computing);
    add_stack(all, "states", "stalled", states[AS_STATE_STALLED]);
    add_stack(all, "states", "drained", states[AS_STATE_DRAINED]);
    add_stack(all, "states", "flushed", flushed);
    for (enum as_stack_part part = 0; part < AS_STACK_COUNT; part++)
        add_stack(all, "stack", as_stack_part_name(part), part == AS_STACK_EXECUTION ? computing : stack->units[part]);
}

void as_record_sampled_add_stacks(const struct as_record_series *all, uint32_t group, uint64_t alike)
{
    const struct as_replicate_parts *parts = as_sampled_replicate_parts(all->sampled);
    add_stacks(all, parts->states[group], &parts->stacks[group], alike);
}

void as_record_sampled_add_head_stacks(const struct as_record_series *all)
{
    const struct as_replicate_parts *parts = as_sampled_replicate_parts(all->sampled);
    add_stacks(all, parts->head_states, &parts->head_stack, 0);
}

void as_record_sampled_add_alike_stacks(const struct as_record_series *all, uint64_t alike)
{
    static const struct as_stack none;
    uint64_t states[AS_STATE_COUNT] = {[AS_STATE_COMPUTING] = alike};
    add_stacks(all, states, &none, 0);
}

/* ---- counters ---- */

/* Those that say how long it took are known as the cycles are (AS_STORE_SAMPLED's interval, and what is said of the elapsed time);
 * instructions, threads, processes and reads of DRAM are counted in all of the run. */
static bool has_error(const struct as_counter_info *counter)
{
    static const char *const known[] = {"instructions", "threads",        "processes",
                                        "cycles",       "elapsed_cycles", "dram_reads"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(counter->name, known[i]) == 0)
            return false;
    return true;
}

static double sum_of(const double counters[AS_SAMPLED_COUNTERS], const char *const *names, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += counters[as_counter_find(names[i]) - as_counter_table];
    return sum;
}

/* A counter in a replicate; some are sums of others. */
static double counter_in(const double counters[AS_SAMPLED_COUNTERS], size_t counter)
{
    static const char *const prefetches[] = {"l1i_prefetches", "l1d_prefetches", "l2_prefetches", "llc_prefetches"};
    static const char *const requests[] = {"dram_reads", "dram_writes"};
    if (as_counter_table[counter].adds != AS_COUNTER_DERIVED)
        return counters[counter];
    return strcmp(as_counter_table[counter].name, "prefetches") == 0
               ? sum_of(counters, prefetches, sizeof prefetches / sizeof *prefetches)
               : sum_of(counters, requests, sizeof requests / sizeof *requests);
}

/* Of misses of the last-level cache and what follows from the reads of DRAM, which are counted in all of the run, none. */
static double counter_chance(const struct as_replicate_parts *parts, size_t counter)
{
    const char *name = as_counter_table[counter].name;
    return strcmp(name, "llc_misses") == 0 || strcmp(name, "dram_requests") == 0 ? 0 : parts->chance[counter];
}

/* Half the 95 % interval, as a part of the counter. What few events there are differs by their number alone, too. Counters are multiplied as
 * their stratum is, not as the instructions are that they count: in six runs they were off by half as much again as replicates say, and
 * by two per cent where these say nothing (doc/design/sampled.md). */
static double counter_error(const struct as_record_series *all, size_t counter)
{
    const struct as_replicate_parts *parts = as_sampled_replicate_parts(all->sampled);
    double values[AS_SAMPLED_GROUPS], mean = 0;
    struct as_region_prior prior;
    for (uint32_t group = 0; group < AS_SAMPLED_GROUPS; group++) {
        values[group] = counter_in(parts->counters[group], counter);
        mean += values[group] / AS_SAMPLED_GROUPS;
    }
    if (mean <= 0)
        return 0;
    static const double beyond = 1.5, least = 0.02;
    const struct as_sampled_summary *summary = as_sampled_summary(all->sampled);
    double estimated = 1 - (double)summary->measured / (double)summary->instructions;
    double found = as_jackknife_deviation(values, AS_SAMPLED_GROUPS);
    double deviation = fmax(found, sqrt(counter_chance(parts, counter))) / mean;
    if (as_sampled_prior(all->sampled, &prior))
        deviation = as_region_deviation(&prior, deviation);
    return hypot(as_jackknife_quantile(AS_SAMPLED_GROUPS) * beyond * deviation, least * estimated);
}

void as_record_sampled_add_counters(const struct as_record_series *all, uint32_t series)
{
    static const double precision = 1e9;
    const struct as_counters *counters = as_sampled_counters(all->sampled);
    for (size_t i = 0; i < as_counter_count; i++) {
        const struct as_counter_info *counter = &as_counter_table[i];
        if (as_counter_value(counters, counter) && has_error(counter))
            as_store_add_estimate(all->code->writer,
                                  &(struct as_store_estimate){series, AS_STORE_COUNTER_ERROR, counter->name,
                                                              round(counter_error(all, i) * precision) / precision});
    }
}
