/* What samples cost: time by what the program does with them and by how many events there are, and memory. See trust.h.
 *
 * Of a modelled unit that is computed from its file; on this machine a run is timed with samples and without. Costs are those at
 * intervals of 100,003, of clocks nanoseconds. As modelled PEBS counts right at all intervals, it is run at a hundredth of that, which needs shorter
 * runs, and its samples are divided by as much. */
#include "trust/trust_parts.h"

#include "pmu/pmu_cost.h"

#include <math.h>
#include <stdio.h>

enum { PERIOD = 100003, SHORT = 1009, SAMPLES = 40, SHORT_SAMPLES = 200, NATIVE_SAMPLES = 20000, LEAST = 20 };

static const char *const handlers[AS_HANDLER_COUNT] = {
    [AS_HANDLER_NONE] = "kept by the kernel",
    [AS_HANDLER_SIGNAL] = "a signal each",
    [AS_HANDLER_IOCTL] = "signal and ioctl",
};

static void add_costs(struct as_trust_report *report, const char *what, const char *setting,
                      const struct as_trust_result *result)
{
    for (int i = 0; i < AS_HANDLER_COUNT; i++) {
        if (isnan(result->overhead[i]))
            continue;
        struct as_trust_row *row = as_trust_add(report, "cost", what);
        snprintf(row->setting, sizeof row->setting, "%s%s", setting, handlers[i]);
        row->unit = AS_TRUST_SHARE;
        row->expected = 0;
        row->got = row->error = result->overhead[i];
        row->spread = i == AS_HANDLER_NONE ? result->overhead_spread : NAN;
    }
}

static bool is_native(const struct as_trust_subject *subject)
{
    return subject->machine || subject->timer;
}

static uint64_t tried_interval(const struct as_trust_subject *subject)
{
    return as_trust_is_pebs(subject) && !is_native(subject) ? SHORT : PERIOD;
}

/* The first pass over a kernel finds nothing in the caches; the longer the run, the less that is. The cost is that of
 * the second half of a run: what it takes more than a run of the first half alone. */
static bool run_second_half(struct as_trust_subject *subject, const struct as_trust_probe *probe,
                            struct as_trust_result *result, struct as_error *err)
{
    struct as_trust_probe whole = *probe;
    struct as_trust_result half;
    whole.options.iterations *= 2;
    if (!as_trust_run(subject, probe, &half, err))
        return false;
    if (!as_trust_run(subject, &whole, result, err))
        return false;
    double cycles = (double)result->cycles - (double)half.cycles;
    for (int i = 0; i < AS_HANDLER_COUNT && cycles > 0; i++)
        result->overhead[i] =
            (result->overhead[i] * (double)result->cycles - half.overhead[i] * (double)half.cycles) / cycles;
    return true;
}

/* A time that is measured differs from run to run. */
static bool run_timed(struct as_trust_subject *subject, const struct as_trust_probe *probe,
                      struct as_trust_result *result, struct as_error *err)
{
    double sum = 0, squares = 0, n = subject->options->runs;
    for (uint32_t i = 0; i < subject->options->runs; i++) {
        if (!as_trust_run(subject, probe, result, err))
            return false;
        sum += result->overhead[AS_HANDLER_NONE];
        squares += result->overhead[AS_HANDLER_NONE] * result->overhead[AS_HANDLER_NONE];
    }
    result->overhead[AS_HANDLER_NONE] = sum / n;
    result->overhead_spread = n > 1 ? sqrt(fmax(0, (squares - sum * sum / n) / (n - 1))) : NAN;
    return true;
}

static bool run_scaled(struct as_trust_subject *subject, const struct as_trust_probe *probe,
                       struct as_trust_result *result, struct as_error *err)
{
    if (is_native(subject))
        return run_timed(subject, probe, result, err);
    if (!run_second_half(subject, probe, result, err))
        return false;
    result->overhead_spread = NAN;
    for (int i = 0; i < AS_HANDLER_COUNT; i++)
        result->overhead[i] *= (double)probe->period / PERIOD;
    return true;
}

/* ---- one event, by how many of the instructions it is ---- */

static bool cost_of(struct as_trust_subject *subject, const char *event, uint32_t ratio, struct as_trust_report *report,
                    struct as_trust_result *result, struct as_error *err)
{
    struct as_trust_probe probe = as_trust_probe(subject, "accuracy", event, tried_interval(subject));
    char setting[64];
    probe.options.ratio = ratio;
    probe.options.iterations = 1;
    if (probe.period == SHORT)
        as_trust_lengthen(&probe, subject, 1, SHORT_SAMPLES);
    else
        as_trust_lengthen(&probe, subject, ratio, is_native(subject) ? NATIVE_SAMPLES : SAMPLES);
    probe.timed = true;
    if (!run_scaled(subject, &probe, result, err))
        return false;
    snprintf(setting, sizeof setting, "one of %u, ", ratio);
    add_costs(report, event, setting, result);
    return true;
}

/* ---- several events: the sets of Table III of PES, each with those of the one before ---- */

static const char *const sets[] = {
    "loads",
    "stores", /* 2 */
    "l1-hit",
    "conditional", /* 4 */
    "taken",
    "mispredicted-conditional",
    "l1-miss",
    "l2-hit", /* 8 */
    "mispredicted-taken",
    "l2-miss",
    "l3-hit",
    "far",
    "l3-miss", /* 16 */
    "snoop-none",
    "snoop-miss",
    "snoop-hit",
};
enum { SETS = sizeof sets / sizeof *sets };
_Static_assert((int)SETS == (int)AS_PMU_COUNTERS_MAX, "as many events as a request can have");

/* A run is shorter than the kernel's tick: the interval of the unit's multiplexing is shortened in proportion. */
static bool cost_of_sets(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    uint32_t tick = subject->pmu.multiplex;
    bool ok = true;
    subject->pmu.multiplex = AS_TRUST_TICK;
    for (size_t n = 1; n <= SETS && ok; n *= 2) {
        struct as_trust_probe probe = as_trust_probe(subject, "multi-event", NULL, SHORT);
        struct as_trust_result result;
        char what[32];
        for (probe.n_events = 0; probe.n_events < n; probe.n_events++)
            probe.events[probe.n_events] = sets[probe.n_events];
        ok = run_scaled(subject, &probe, &result, err);
        snprintf(what, sizeof what, "%zu event%s at once", n, n == 1 ? "" : "s");
        if (ok)
            add_costs(report, what, "", &result);
    }
    subject->pmu.multiplex = tick;
    return ok;
}

/* ---- memory ---- */

static void add_memory(const struct as_trust_subject *subject, struct as_trust_report *report, uint64_t bytes)
{
    for (uint64_t threads = 1; threads <= 32; threads *= 2) {
        struct as_trust_row *row = as_trust_add(report, "cost", "memory");
        snprintf(row->setting, sizeof row->setting, "%d thread%s", (int)threads, threads == 1 ? "" : "s");
        row->unit = AS_TRUST_BYTES;
        row->got = (double)(is_native(subject) ? bytes : bytes * threads);
        if (is_native(subject)) /* buffers are the processors' */
            return;
    }
}

static void say_cost(const struct as_trust_subject *subject, struct as_trust_report *report,
                     const struct as_trust_result *first)
{
    const char *interval = subject->timer ? "100,003 nanoseconds" : "100,003";
    double part = 100 * first->overhead[AS_HANDLER_NONE];
    if (!isnan(first->overhead[AS_HANDLER_SIGNAL]))
        as_trust_say(report, "cost: %.0f %% of the time at intervals of %s, %.0f %% with a signal for each sample",
                     part, interval, 100 * first->overhead[AS_HANDLER_SIGNAL]);
    else if (isnan(first->overhead_spread))
        as_trust_say(report, "cost: %.0f %% of the time at intervals of %s, in one run", part, interval);
    else
        as_trust_say(report, "cost: %.0f %% of the time at intervals of %s, give or take %.0f from run to run", part,
                     interval, 100 * first->overhead_spread);
    if (as_trust_is_pebs(subject) && !is_native(subject) && subject->pmu.counters < SETS)
        as_trust_say(report,
                     "cost: more than %u events at once take turns on the counters and lose samples, so they cost less "
                     "than as many that are counted all the time",
                     subject->pmu.counters);
}

bool as_trust_run_cost(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    static const uint32_t ratios[] = {20, 100};
    const char *usual = as_trust_usual_event(subject);
    bool tags = subject->pmu.kind == AS_PMU_IBS && !is_native(subject);
    const char *events[] = {usual, as_trust_is_pebs(subject) ? "l1-miss" : tags ? "fetches" : NULL};
    struct as_trust_result result, first = {0};
    for (size_t i = 0; i < 2 && events[i]; i++)
        for (size_t j = 0; j < 2; j++) {
            if (!cost_of(subject, events[i], ratios[j], report, &result, err))
                return false;
            if (i == 0 && j == 0)
                first = result;
        }
    if (as_trust_is_pebs(subject) && !is_native(subject) && !cost_of_sets(subject, report, err))
        return false;
    add_memory(subject, report, first.bytes);
    if (as_trust_enough(report, "cost", first.counts[0].samples, LEAST))
        say_cost(subject, report, &first);
    return true;
}

/* The handler's own loads, which a counter of loads counts; locked loads are not among them. */
bool as_trust_run_handler(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    static const char *const events[] = {"loads", "locked-loads"};
    char added[2][64];
    for (size_t i = 0; i < 2; i++) {
        struct as_trust_probe probe = as_trust_probe(subject, "locked-load", events[i], 1009);
        struct as_trust_several several;
        probe.handler = AS_HANDLER_IOCTL;
        if (!as_trust_run_several(subject, probe, as_trust_all, &several, err))
            return false;
        struct as_trust_row *row = as_trust_add(report, "handler", events[i]);
        snprintf(row->setting, sizeof row->setting, "a handler that stops and restarts it");
        double expected = as_trust_expected(&probe, &several.last.code, AS_KERNEL_LOCKED);
        as_trust_set_counts(row, expected, &several, as_trust_chance_of_count(subject, &probe, expected, false));
        if (as_trust_row_errs(row))
            snprintf(added[i], sizeof added[i], "%+.0f %%", 100 * row->error);
        else
            snprintf(added[i], sizeof added[i], "nothing that samples tell (to %.1f %%)", 100 * row->chance);
    }
    if (as_trust_rows_enough(report, "handler", "handler"))
        as_trust_say(report,
                     "handler: one that stops and restarts the event adds %s of loads of its own at intervals of "
                     "1,009, and %s of locked loads",
                     added[0], added[1]);
    return true;
}
