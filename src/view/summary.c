/* See summary.h. */
#include "view/summary.h"

#include "base/path.h"
#include "base/ratio.h"
#include "base/time_unit.h"
#include "score/sampling_error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static uint64_t meta_u64(const struct as_store *store, const char *key)
{
    uint64_t value = 0;
    return as_store_meta_u64(store, key, &value) ? value : 0;
}

const char *const as_summary_levels[AS_SUMMARY_LEVELS] = {"function", "line", "block", "instruction"};

static void set_error_by_level(struct as_summary *summary, double error)
{
    for (size_t i = 0; i < AS_SUMMARY_LEVELS; i++)
        summary->error_by[i] = error;
}

static void find_error_by_level(const struct as_store *store, struct as_summary *summary, const char *measure)
{
    for (size_t i = 0; i < AS_SUMMARY_LEVELS; i++)
        summary->error_by[i] = as_store_estimate_of(store, summary->series, measure, as_summary_levels[i]);
}

/* Without a known truth: estimates the error from the number of samples and, if it was ever measured, the bias of the
 * sampler. */
static void expect_error(const struct as_store *store, struct as_summary *summary)
{
    enum { FUNCTION, LINE, BLOCK, INSTRUCTION };
    summary->error = as_store_estimate_of(store, summary->series, "estimate", "instruction");
    if (isnan(summary->error))
        return;
    summary->expected = true;
    summary->error_how = "expected from the number of samples alone, not including a bias of the sampler";
    find_error_by_level(store, summary, "estimate");
    summary->runs_apart = as_sampling_distance(summary->error_by[0]);
    as_summary_find_trust(summary);
    if (!summary->bias)
        return;
    /* Each level is given with its own chance. The bias was measured by block, not by line, and a line is about as long; of samples
     * on a machine the chance is known by line and not by block. */
    double line = summary->error_by[LINE];
    if (!isnan(line))
        summary->error_by[LINE] = as_bias_with_chance(summary->trust[AS_BIAS_BLOCK].bias.median, line);
    if (isnan(line) || !isnan(summary->error_by[BLOCK]))
        summary->error_by[BLOCK] = summary->trust[AS_BIAS_BLOCK].expected.median;
    summary->error_by[FUNCTION] = summary->trust[AS_BIAS_FUNCTION].expected.median;
    summary->error_by[INSTRUCTION] = summary->error = summary->trust[AS_BIAS_INSTRUCTION].expected.median;
    summary->error_how = "expected from the number of samples and the bias of the sampler";
}

/* The estimate of few samples is itself a matter of chance, and differs from run to run. */
static void withhold_error(struct as_summary *summary)
{
    summary->too_few = true;
    summary->error = summary->runs_apart = NAN;
    set_error_by_level(summary, NAN);
    summary->error_how = "too few samples to tell";
}

double as_summary_effective(const struct as_store *store, uint32_t series)
{
    double effective = as_store_estimate_of(store, series, "effective", "sample");
    return effective > 0 && effective <= 1 ? effective : 1;
}

/* Of which cycles an exact series is exact: nothing is known of what ran when it was no longer traced. */
static const char *exact_how(const struct as_summary *summary)
{
    if (summary->left_running)
        return "every cycle of what was traced is accounted for; processes that went on when the program had ended "
               "were "
               "not traced further";
    if (summary->partial)
        return "every cycle of what was traced is accounted for, and that is not the whole run";
    return summary->part ? "every cycle of this part of the run is accounted for"
                         : "every cycle of the run is accounted for";
}

static const struct as_store_quality *find_part(const struct as_store *store, const char *key, double least)
{
    size_t n;
    const struct as_store_quality *rows = as_store_quality(store, &n);
    for (size_t i = 0; i < n; i++)
        if (rows[i].key && rows[i].text && strcmp(rows[i].key, key) == 0 && rows[i].value >= least)
            return &rows[i];
    return NULL;
}

/* Of several threads the elapsed time has an interval of its own; of one it is that of the cycles. */
static void find_seconds_error(const struct as_store *store, struct as_summary *summary)
{
    const struct as_store_quality *elapsed = find_part(store, "elapsed", 0);
    summary->seconds_error = NAN;
    if (summary->sampled)
        summary->seconds_error = elapsed ? elapsed->value : summary->has_threads ? NAN : summary->error;
}

/* Finds the best known estimate of the series' error. */
static void find_error(const struct as_store *store, struct as_summary *summary)
{
    summary->error = summary->runs_apart = NAN;
    summary->effective = as_summary_effective(store, summary->series);
    summary->error_level = "instruction";
    set_error_by_level(summary, NAN);
    summary->error_how = "unknown";
    if (summary->contradicts) {
        summary->error_how = "unknown: its times do not add up to the cycles of the run";
        return;
    }
    if (summary->exact) {
        summary->error = 0;
        set_error_by_level(summary, 0);
        summary->error_how = exact_how(summary);
        return;
    }
    if (summary->counted) {
        summary->error = 0;
        set_error_by_level(summary, 0);
        summary->error_how = "every call was counted";
        return;
    }
    if (summary->sampled) {
        summary->error_level = "program";
        summary->error = as_store_estimate_of(store, summary->series, "interval", "program");
        summary->error_how = isnan(summary->error)
                                 ? as_store_meta(store, AS_META_MERGED)
                                       ? "is not known of all profiles that were merged"
                                       : "is not known: of each phase one interval was measured"
                                 : "the 95 % interval of the cycles is this wide on each side, as computed from the "
                                   "differences between the regions and from what warming may leave out";
        return;
    }
    summary->error = as_store_estimate_of(store, summary->series, "error", "instruction");
    if (!isnan(summary->error)) {
        bool unit = summary->source && strncmp(summary->source, "pmu:", 4) == 0;
        summary->error_how = unit ? "compared with everything that happened in this run"
                                  : "compared with the golden reference of this run";
        find_error_by_level(store, summary, "error");
        return;
    }
    expect_error(store, summary);
    if (summary->expected && (double)summary->samples * summary->effective < AS_SUMMARY_LEAST_SAMPLES)
        withhold_error(summary);
}

/* Checks that a series that claims to be exact accounts for all cycles of the run. If the file does not state the
 * number of cycles, the claim stands. */
static bool check_exact(struct as_store *store, struct as_summary *summary, struct as_error *err)
{
    size_t n;
    uint64_t units, cycles, wanted, scale = as_store_series(store, &n)[summary->series].scale;
    /* The cycles of weighted, merged runs are rounded. */
    uint64_t slack = as_store_meta(store, AS_META_MERGED) ? scale / 2 : 0;
    if (!summary->exact || !as_store_meta_u64(store, AS_META_CYCLES, &cycles))
        return true;
    if (!as_store_total(store, summary->series, NULL, &units, err))
        return false;
    summary->contradicts =
        __builtin_mul_overflow(cycles, scale, &wanted) || (wanted > units ? wanted - units : units - wanted) > slack;
    summary->exact = !summary->contradicts;
    if (summary->contradicts)
        summary->samples = 0;
    return true;
}

static struct as_spread spread_of(const struct as_store *store, const char *what, size_t runs)
{
    static const char *const parts[] = {"mean", "deviation", "least", "most"};
    double values[4];
    bool known = true;
    for (size_t i = 0; i < 4; i++) {
        char key[64];
        snprintf(key, sizeof key, "%s_%s", what, parts[i]);
        values[i] = as_store_meta_double(store, key);
        known = known && isfinite(values[i]) && values[i] >= 0;
    }
    return (struct as_spread){known && values[0] > 0 ? runs : 0, values[0], values[1], values[2], values[3]};
}

/* A thread that changed its name has several rows. */
static bool has_threads(const struct as_store *store)
{
    size_t n;
    const struct as_store_thread *threads = as_store_threads(store, &n);
    for (size_t i = 1; i < n; i++)
        if (threads[i].number != threads[0].number || threads[i].process != threads[0].process)
            return true;
    return false;
}

/* What the shares of a series of a clock are of: a program that waits has less of it than of elapsed time. */
static bool find_clocked(struct as_store *store, struct as_summary *summary, struct as_error *err)
{
    static const char *const clocks[] = {"task-clock", "cpu-clock"};
    uint64_t units = 0;
    bool clock = false;
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks && summary->sampler; i++)
        clock |= strncmp(summary->sampler, clocks[i], strlen(clocks[i])) == 0;
    if (!clock || summary->exact || summary->cycles || strcmp(summary->unit, "nanoseconds") != 0)
        return true;
    if (!as_store_total(store, summary->series, NULL, &units, err))
        return false;
    summary->clocked = (double)units / summary->scale / 1e9;
    return true;
}

/* Code of a file without symbols is one function with the module's name: "[libc.so.6]". */
static bool is_unnamed(const struct as_store *store, uint32_t id)
{
    size_t n;
    const struct as_store_function *functions = as_store_functions(store, &n);
    const char *name = id < n ? functions[id].name : NULL;
    return !name || (name[0] == '[' && name[strlen(name) - 1] == ']' && functions[id].size == 0);
}

static bool find_unnamed(struct as_store *store, struct as_summary *summary, struct as_error *err)
{
    struct as_store_query query = AS_STORE_QUERY_INIT;
    struct as_store_rows rows;
    uint64_t units = 0;
    if (!summary->expected || isnan(summary->error_by[0]))
        return true;
    query.series = summary->series;
    if (!as_store_query(store, &query, &rows, err))
        return false;
    for (size_t i = 0; i < rows.n; i++)
        units += is_unnamed(store, rows.rows[i].id) ? rows.rows[i].units : 0;
    summary->unnamed = as_ratio(units, rows.total);
    as_store_rows_free(&rows);
    return true;
}

static uint64_t count_of(const struct as_store *store, const char *key)
{
    const struct as_store_quality *row = find_part(store, key, 1);
    return row && row->value < 1e15 ? (uint64_t)row->value : 0;
}

/* The error by function is that of names that are known; the others are those of another function. */
static void find_guessed(const struct as_store *store, struct as_summary *summary)
{
    const struct as_store_quality *guessed = find_part(store, "guessed_names", AS_SUMMARY_UNNAMED);
    summary->guessed = guessed && summary->expected ? fmin(guessed->value, 1) : 0;
    if (summary->guessed < AS_SUMMARY_GUESSES)
        return;
    summary->error_by[0] = summary->runs_apart = NAN;
}

bool as_summary_read(struct as_store *store, uint32_t series, struct as_summary *summary, struct as_error *err)
{
    size_t n;
    const struct as_store_series *all = as_store_series(store, &n);
    if (series >= n)
        return as_error_set(err, "%s: the profile has no measurements", as_store_file_name(store));
    const struct as_store_series *shown = &all[series];
    const char *program = as_store_meta(store, AS_META_PROGRAM);
    const char *title = as_store_meta(store, AS_META_TITLE);
    *summary = (struct as_summary){
        .store = store,
        .series = series,
        .program = title     ? title
                   : program ? as_path_base(program)
                             : NULL,
        .source = as_store_meta(store, AS_META_SOURCE),
        .source_why = as_store_meta(store, AS_META_SOURCE_WHY),
        .core = as_store_meta(store, AS_META_CORE),
        .core_why = as_store_meta(store, AS_META_CORE_WHY),
        .sampler = shown->name,
        .description = shown->description,
        .unit = shown->unit ? shown->unit : "units",
        .partial = as_store_meta(store, AS_META_PARTIAL),
        .part = as_store_meta(store, AS_META_PART),
        .region = as_store_meta(store, "region"),
        .exact = shown->exact,
        .has_events = shown->events != 0,
        .has_threads = has_threads(store),
        .precise = shown->precise,
        .scale = (double)shown->scale,
        .instructions = meta_u64(store, AS_META_INSTRUCTIONS),
        .cycles = meta_u64(store, AS_META_CYCLES),
        .samples = shown->exact ? meta_u64(store, AS_META_CYCLES) : shown->samples,
        .lost = shown->lost,
        .throttled = shown->throttled,
        .dropped = shown->dropped,
        .period = shown->period,
        .seconds = as_store_meta_double(store, AS_META_SECONDS),
    };
    as_store_runs(store, &summary->n_runs);
    summary->merged = as_store_meta(store, AS_META_MERGED) != NULL;
    summary->left_running = count_of(store, "left_running");
    summary->run_cycles = spread_of(store, "cycles", summary->n_runs);
    summary->run_seconds = spread_of(store, "seconds", summary->n_runs);
    summary->sampled = !shown->exact && shown->name && strcmp(shown->name, AS_STORE_SAMPLED) == 0;
    summary->counted = strcmp(summary->unit, "bytes") == 0; /* only the agent's series count bytes */
    if (!find_clocked(store, summary, err) || !check_exact(store, summary, err))
        return false;
    find_error(store, summary);
    find_seconds_error(store, summary);
    find_guessed(store, summary);
    return find_unnamed(store, summary, err);
}

const struct as_store_quality *as_summary_lone_chains(const struct as_store *store)
{
    return find_part(store, "lone_chains", 0.1);
}

const struct as_store_quality *as_summary_cut_chains(const struct as_store *store)
{
    return find_part(store, "cut_chains", 0.01);
}

const struct as_store_quality *as_summary_made_chains(const struct as_store *store)
{
    return find_part(store, "made_chains", 0.01);
}

bool as_summary_is_of_stack(const struct as_summary *summary, const struct as_store_stack *part, const char *stack)
{
    size_t n;
    const struct as_store_stack *parts = as_store_stacks(summary->store, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(parts[i].stack, stack) == 0)
            return strcmp(part->stack, stack) == 0 && part->series == parts[i].series;
    return false;
}

uint64_t as_summary_stack_total(const struct as_summary *summary, const char *stack)
{
    size_t n;
    const struct as_store_stack *parts = as_store_stacks(summary->store, &n);
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += as_summary_is_of_stack(summary, &parts[i], stack) ? parts[i].units : 0;
    return total;
}

const char *as_summary_noun(const struct as_summary *summary)
{
    const char *unit = summary->unit;
    bool is_time =
        !*unit || as_unit_is_time(unit) || strcmp(unit, "samples") == 0 || summary->exact || summary->sampled;
    return is_time ? "time" : unit;
}

uint64_t as_summary_sampled_cycles(const struct as_store *store)
{
    return count_of(store, AS_QUALITY_SAMPLED_CYCLES);
}

double as_summary_region_cycles(const struct as_summary *summary)
{
    const struct as_store_quality *measured = find_part(summary->store, "sampled", 0);
    double regions = (double)summary->samples;
    return measured && regions > 0 ? fmin(measured->value, 1) * (double)summary->cycles / regions : 0;
}

uint64_t as_summary_lost(const struct as_store *store)
{
    return count_of(store, "lost") + count_of(store, "lost_samples");
}
