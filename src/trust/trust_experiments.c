/* The experiments. See trust.h; doc/design/trust.md. */
#include "trust/trust.h"

#include "base/show.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { PEBS = 1 << AS_PMU_PEBS, IBS = 1 << AS_PMU_IBS, SPE = 1 << AS_PMU_SPE, UNITS = (1 << AS_PMU_KINDS) - 1 };

static bool is_pebs(const struct as_trust_subject *subject)
{
    return subject->pmu.kind == AS_PMU_PEBS;
}

/* What a unit counts if nobody says what: PEBS has events, the others one thing that they count. */
static const char *usual_event(const struct as_trust_subject *subject)
{
    return subject->timer ? "task-clock" : as_pmu_default_event(&subject->pmu);
}

/* ---- several runs of one probe ---- */

struct several {
    double mean, spread; /* relative standard deviation */
    struct as_trust_result last;
};

/* Which of the samples are meant. */
typedef uint64_t as_pick(const struct as_trust_counts *counts);

static uint64_t all_samples(const struct as_trust_counts *counts)
{
    return counts->samples;
}

static uint64_t load_samples(const struct as_trust_counts *counts)
{
    return counts->loads;
}

static uint64_t miss_samples(const struct as_trust_counts *counts)
{
    return counts->l1_misses;
}

static uint64_t locked_samples(const struct as_trust_counts *counts)
{
    return counts->locked;
}

static bool run_several(struct as_trust_subject *subject, struct as_trust_probe probe, as_pick *pick,
                        struct several *several, struct as_error *err)
{
    double sum = 0, squares = 0, n = subject->options->runs;
    for (uint32_t i = 0; i < subject->options->runs; i++) {
        probe.seed = i + 1;
        probe.options.iterations += i; /* not the same phase again */
        if (!as_trust_run(subject, &probe, &several->last, err))
            return false;
        double got = (double)pick(&several->last.counts[0]);
        sum += got;
        squares += got * got;
    }
    several->mean = sum / n;
    double variance = n > 1 ? (squares - sum * sum / n) / (n - 1) : 0;
    several->spread = n > 1 && several->mean > 0 ? sqrt(variance > 0 ? variance : 0) / several->mean : NAN;
    return true;
}

static void set_counts(struct as_trust_row *row, double expected, const struct several *several)
{
    row->expected = expected;
    row->got = several->mean;
    row->error = expected > 0 ? several->mean / expected - 1 : NAN;
    row->spread = several->spread;
}

static double expected_samples(const struct as_trust_probe *probe, const struct as_kernel_code *code,
                               enum as_kernel_event event)
{
    return code->per_iteration[event] * (double)probe->options.iterations * probe->threads / (double)probe->period;
}

/* Makes the run so long that so many samples are expected: with few, one more or less is a large error. */
static void expect_samples(struct as_trust_probe *probe, const struct as_trust_subject *subject, double per_iteration,
                           uint64_t samples)
{
    uint64_t least = (uint64_t)((double)samples * (double)probe->period / per_iteration) + 1;
    least = least * subject->options->scale / 100;
    if (probe->options.iterations < least)
        probe->options.iterations = least;
}

/* ---- accuracy ---- */

struct accuracy {
    const char *event, *kernel; /* of PEBS */
    enum as_kernel_event counts;
    as_pick *pick; /* of the others: which samples these are */
};
static const struct accuracy accuracies[] = {
    {"instructions", "accuracy", AS_KERNEL_INSTRUCTIONS, all_samples},
    {"loads", "load-ratio", AS_KERNEL_LOADS, load_samples},
    {"l1-miss", "accuracy", AS_KERNEL_L1_MISS, miss_samples},
    {"locked-loads", "locked-load", AS_KERNEL_LOCKED, locked_samples},
    {"stores", "locked-load", AS_KERNEL_STORES, NULL},
    {"branches", "multi-event", AS_KERNEL_BRANCHES, NULL},
    {"taken", "multi-event", AS_KERNEL_TAKEN, NULL},
    {"returns", "multi-event", AS_KERNEL_RETURNS, NULL},
};
enum { ACCURACIES = sizeof accuracies / sizeof *accuracies, ACCURACY_PERIOD = 1009 };

static uint64_t usual_period(const struct as_trust_subject *subject, uint64_t period)
{
    return subject->pmu.kind == AS_PMU_SPE && period < subject->pmu.least_interval ? subject->pmu.least_interval
                                                                                   : period;
}

/* Fewer at long intervals, for the time that it takes; of operations, which are many in an iteration, more. */
static uint32_t wanted_samples(const struct accuracy *accuracy, uint64_t period)
{
    if (accuracy->counts == AS_KERNEL_INSTRUCTIONS)
        return period < 50000 ? 200 : period < 500000 ? 100 : 20;
    return period < 5000 ? 200 : period < 50000 ? 50 : period < 500000 ? 10 : 3;
}

static bool measure_accuracy(struct as_trust_subject *subject, const struct accuracy *accuracy, const char *name,
                             uint64_t period, struct as_trust_report *report, double *error, struct as_error *err)
{
    bool pebs = is_pebs(subject);
    struct as_trust_probe probe =
        as_trust_probe(subject, accuracy->kernel, pebs ? accuracy->event : usual_event(subject), period);
    struct several several;
    expect_samples(&probe, subject, accuracy->counts == AS_KERNEL_INSTRUCTIONS ? 20 : 1,
                   wanted_samples(accuracy, period));
    if (!run_several(subject, probe, pebs ? all_samples : accuracy->pick, &several, err))
        return false;
    bool ops = !pebs && accuracy->counts == AS_KERNEL_INSTRUCTIONS;
    struct as_trust_row *row = as_trust_add(report, name, ops ? "operations" : accuracy->event);
    snprintf(row->setting, sizeof row->setting, "interval %s", AS_COUNT(period));
    set_counts(row,
               ops ? (double)several.last.counts[0].happened / (double)period
                   : expected_samples(&probe, &several.last.code, accuracy->counts),
               &several);
    *error = row->error;
    return true;
}

static bool run_accuracy(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    double worst = 0, total = 0, error;
    const char *which = "";
    for (size_t i = 0; i < ACCURACIES; i++) {
        if (!is_pebs(subject) && !accuracies[i].pick)
            continue;
        if (!measure_accuracy(subject, &accuracies[i], "accuracy", usual_period(subject, ACCURACY_PERIOD), report,
                              &error, err))
            return false;
        if (i == 0)
            total = error;
        if (fabs(error) >= fabs(worst)) {
            worst = error;
            which = accuracies[i].event;
        }
    }
    const char *interval = AS_COUNT(usual_period(subject, ACCURACY_PERIOD));
    if (is_pebs(subject))
        as_trust_say(report, "counts: right to %.1f %% (worst: %s) at intervals of %s", 100 * fabs(worst), which,
                     interval);
    else
        as_trust_say(report,
                     "counts: %+.1f %% of the operations at intervals of %s; of what they are, %s are off by %+.0f %%",
                     100 * total, interval, which, 100 * worst);
    return true;
}

static bool run_interval(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    static const uint64_t periods[] = {101, 1009, 10007, 100003, 1000003};
    double first = NAN, last = NAN;
    const struct accuracy *what = &accuracies[is_pebs(subject) ? 2 : 0];
    for (size_t i = 0; i < sizeof periods / sizeof *periods; i++) {
        bool sampled = wanted_samples(what, periods[i]) * subject->options->scale >= 100 || periods[i] < 500000;
        if (usual_period(subject, periods[i]) != periods[i] || !sampled)
            continue;
        if (!measure_accuracy(subject, what, "interval", periods[i], report, isnan(first) ? &first : &last, err))
            return false;
    }
    if (fabs(first) > 0.02 && fabs(first) > 2 * fabs(last))
        as_trust_say(report, "intervals: short ones are wrong (%+.1f %% at the shortest, %+.1f %% at the longest)",
                     100 * first, 100 * last);
    else
        as_trust_say(report, "intervals: %s are counted right at all of them", what->event);
    return true;
}

/* ---- bias ---- */

struct shares {
    double largest, wrong;
    const char *where;
    size_t n;
};

/* Rows for the labels that are the event, and what was put elsewhere. `of` picks the samples by label. */
static struct shares add_shares(struct as_trust_report *report, const char *name, const char *setting,
                                const struct as_trust_result *result, enum as_kernel_event event, const uint64_t *of,
                                uint64_t all)
{
    struct shares shares = {.where = ""};
    uint64_t right = 0;
    for (size_t i = 0; i < result->code.n_labels; i++)
        shares.n += result->code.labels[i].events >> event & 1;
    for (size_t i = 0; i < result->code.n_labels; i++) {
        const struct as_kernel_label *label = &result->code.labels[i];
        if (!(label->events >> event & 1))
            continue;
        struct as_trust_row *row = as_trust_add(report, name, label->name);
        snprintf(row->setting, sizeof row->setting, "%s", setting);
        row->share = true;
        row->expected = 1.0 / (double)shares.n;
        row->got = all ? (double)of[i] / (double)all : NAN;
        row->error = row->got - row->expected;
        right += of[i];
        if (row->got > shares.largest) {
            shares.largest = row->got;
            shares.where = label->name;
        }
    }
    shares.wrong = all ? 1 - (double)right / (double)all : 0;
    if (shares.wrong > 0) {
        struct as_trust_row *row = as_trust_add(report, name, "other instructions");
        snprintf(row->setting, sizeof row->setting, "%s", setting);
        row->share = true;
        row->expected = 0;
        row->got = row->error = shares.wrong;
    }
    return shares;
}

static bool run_bias(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    bool pebs = is_pebs(subject);
    struct as_trust_probe probe =
        as_trust_probe(subject, "bias", pebs ? "loads" : usual_event(subject), usual_period(subject, 991));
    struct as_trust_result result;
    if (!as_trust_run(subject, &probe, &result, err))
        return false;
    const struct as_trust_counts *counts = &result.counts[0];
    struct shares shares = add_shares(report, "bias", "four equal loads", &result, AS_KERNEL_LOADS,
                                      pebs ? counts->at : counts->loads_at, pebs ? counts->samples : counts->loads);
    if (shares.largest > 0.3)
        as_trust_say(report, "bias: %.0f %% of the load samples land on one of four equal loads (%s)",
                     100 * shares.largest, shares.where);
    else
        as_trust_say(report, "bias: four equal loads get equal numbers of samples");
    if (shares.wrong > 0.001)
        as_trust_say(report, "attribution: %.0f %% of the load samples are put on instructions that do not load",
                     100 * shares.wrong);
    return true;
}

struct snippet {
    const char *kernel, *event, *setting;
    enum as_kernel_event counts;
    bool fence;
};
static const struct snippet snippets[] = {
    {"snippet1", "loads", "four reads behind a fence", AS_KERNEL_LOADS, true},
    {"snippet1", "loads", "four reads", AS_KERNEL_LOADS, false},
    {"snippet2", "branches", "three branches", AS_KERNEL_BRANCHES, false},
    {"snippet3", "l3-miss", "four reads from memory", AS_KERNEL_L3_MISS, false},
};

/* Snippets 1 to 3: an event far from the one before is sampled too often. */
static bool run_shadow(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    for (size_t i = 0; i < sizeof snippets / sizeof *snippets; i++) {
        const struct snippet *snippet = &snippets[i];
        if (!as_trust_has_kernel(subject, snippet->kernel))
            continue;
        struct as_trust_probe probe =
            as_trust_probe(subject, snippet->kernel, snippet->event, snippet->counts == AS_KERNEL_L3_MISS ? 97 : 991);
        struct as_trust_result result;
        probe.options.fence = snippet->fence;
        if (!as_trust_run(subject, &probe, &result, err))
            return false;
        struct shares shares = add_shares(report, "shadow", snippet->setting, &result, snippet->counts,
                                          result.counts[0].at, result.counts[0].samples);
        if (shares.largest > 1.2 / (double)shares.n)
            as_trust_say(report, "shadow: of %s, %s gets %.0f %% of the samples of %s in place of %.0f %%",
                         snippet->setting, shares.where, 100 * shares.largest, snippet->event, 100 / (double)shares.n);
    }
    return true;
}

/* Equal functions, and equal work in time: for what counts time or everything. */
static bool run_functions(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    struct as_trust_probe probe = as_trust_probe(subject, "call-chain", usual_event(subject),
                                                 subject->timer ? 100003 : usual_period(subject, 991));
    struct as_trust_result result;
    if (subject->timer)
        probe.options.iterations *= 200;
    if (!as_trust_run(subject, &probe, &result, err))
        return false;
    const struct as_trust_counts *counts = &result.counts[0];
    uint64_t all = 0;
    for (size_t i = 0; i < result.code.n_labels; i++)
        all += result.code.labels[i].name[0] == 'f' ? counts->at[i] : 0;
    double largest = 0, n = probe.options.places;
    for (size_t i = 0; i < result.code.n_labels; i++) {
        if (result.code.labels[i].name[0] != 'f')
            continue;
        struct as_trust_row *row = as_trust_add(report, "functions", result.code.labels[i].name);
        snprintf(row->setting, sizeof row->setting, "ten functions of equal work");
        row->share = true;
        row->expected = 1 / n;
        row->got = all ? (double)counts->at[i] / (double)all : NAN;
        row->error = row->got - row->expected;
        largest = row->got > largest ? row->got : largest;
    }
    as_trust_say(report, "functions: of ten that do equal work, one gets up to %.1f %% of the samples", 100 * largest);
    return true;
}

/* ---- threads, cost ---- */

static bool run_threads(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    static const uint32_t threads[] = {1, 2, 4, 8, 16, 32};
    bool pebs = is_pebs(subject);
    double worst = 0;
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        struct as_trust_probe probe =
            as_trust_probe(subject, "accuracy", pebs ? "l1-miss" : usual_event(subject), usual_period(subject, 307));
        struct as_trust_result result;
        char what[32];
        probe.threads = threads[i];
        probe.options.iterations = 1;
        expect_samples(&probe, subject, 1, 100);
        if (!as_trust_run(subject, &probe, &result, err))
            return false;
        snprintf(what, sizeof what, "%u thread%s", threads[i], threads[i] == 1 ? "" : "s");
        struct as_trust_row *row = as_trust_add(report, "threads", what);
        snprintf(row->setting, sizeof row->setting, "L1 misses, all threads together");
        struct several one = {.mean = (double)(pebs ? result.counts[0].samples : result.counts[0].l1_misses),
                              .spread = NAN};
        set_counts(row, expected_samples(&probe, &result.code, AS_KERNEL_L1_MISS), &one);
        worst = fabs(row->error) > worst ? fabs(row->error) : worst;
    }
    as_trust_say(report, "threads: 1 to 32 of them, the sum is right to %.1f %%", 100 * worst);
    return true;
}

static bool run_cost(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    double costs[AS_HANDLER_COUNT] = {0};
    for (int handler = AS_HANDLER_NONE; handler < AS_HANDLER_COUNT; handler++) {
        struct as_trust_probe probe = as_trust_probe(subject, "load-ratio", usual_event(subject), 100003);
        struct as_trust_result result;
        probe.handler = (enum as_pmu_handler)handler;
        probe.options.iterations *= 2;
        if (!as_trust_run(subject, &probe, &result, err))
            return false;
        struct as_trust_row *row = as_trust_add(report, "cost", as_pmu_handler_names[handler]);
        snprintf(row->setting, sizeof row->setting, "%s, interval 100,003", usual_event(subject));
        row->share = true;
        row->expected = 0;
        row->got = row->error = costs[handler] = result.overhead;
    }
    as_trust_say(report, "cost: %.0f %% of the time at intervals of 100,003, %.0f %% with a signal for each sample",
                 100 * costs[AS_HANDLER_NONE], 100 * costs[AS_HANDLER_SIGNAL]);
    return true;
}

/* The handler's own loads, which a counter of loads counts; locked loads are not among them. */
static bool run_handler(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    static const char *const events[] = {"loads", "locked-loads"};
    for (size_t i = 0; i < 2; i++) {
        struct as_trust_probe probe = as_trust_probe(subject, "locked-load", events[i], 1009);
        struct several several;
        probe.handler = AS_HANDLER_IOCTL;
        if (!run_several(subject, probe, all_samples, &several, err))
            return false;
        struct as_trust_row *row = as_trust_add(report, "handler", events[i]);
        snprintf(row->setting, sizeof row->setting, "a handler that stops and restarts it");
        set_counts(row, expected_samples(&probe, &several.last.code, AS_KERNEL_LOCKED), &several);
    }
    return true;
}

/* ---- several events, modes ---- */

static const struct {
    const char *event;
    enum as_kernel_event counts;
} multi[] = {{"loads", AS_KERNEL_LOADS}, {"stores", AS_KERNEL_STORES},       {"branches", AS_KERNEL_BRANCHES},
             {"taken", AS_KERNEL_TAKEN}, {"locked-loads", AS_KERNEL_LOCKED}, {"returns", AS_KERNEL_RETURNS}};

/* A run is shorter than the kernel's tick: the interval of the unit's multiplexing is shortened in proportion. */
static bool run_multi(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    static const size_t sets[] = {1, 4, 5, 6};
    uint32_t tick = subject->pmu.multiplex;
    double errors[2] = {0};
    bool ok = true;
    subject->pmu.multiplex = 20;
    for (size_t i = 0; i < sizeof sets / sizeof *sets && ok; i++) {
        struct as_trust_probe probe = as_trust_probe(subject, "multi-event", NULL, 503);
        struct as_trust_result result;
        probe.n_events = sets[i];
        for (size_t j = 0; j < sets[i]; j++)
            probe.events[j] = multi[j].event;
        ok = as_trust_run(subject, &probe, &result, err);
        for (size_t j = 0; j < sets[i] && ok; j++) {
            struct as_trust_row *row = as_trust_add(report, "multi-event", multi[j].event);
            snprintf(row->setting, sizeof row->setting, "%zu event%s at once", sets[i], sets[i] == 1 ? "" : "s");
            struct several one = {.mean = (double)result.counts[j].samples, .spread = NAN};
            set_counts(row, expected_samples(&probe, &result.code, multi[j].counts), &one);
            errors[sets[i] > 4] = fmax(errors[sets[i] > 4], fabs(row->error));
        }
    }
    subject->pmu.multiplex = tick;
    if (ok)
        as_trust_say(report,
                     "several events: up to four are right to %.1f %%, five and six lose up to %.0f %% of their "
                     "samples",
                     100 * errors[0], 100 * errors[1]);
    return ok;
}

static bool run_mode(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    struct as_trust_probe probe =
        as_trust_probe(subject, "exec-mode", is_pebs(subject) ? "locked-loads" : usual_event(subject),
                       is_pebs(subject) ? 11 : usual_period(subject, 211));
    struct as_trust_result result;
    if (!as_trust_run(subject, &probe, &result, err))
        return false;
    struct as_trust_row *row = as_trust_add(report, "mode", "locked loads of the kernel");
    snprintf(row->setting, sizeof row->setting, "said to be user mode's");
    row->share = true;
    row->expected = 0;
    row->got = row->error =
        result.counts[0].locked ? (double)result.counts[0].locked_in_user / (double)result.counts[0].locked : NAN;
    if (row->got > 0)
        as_trust_say(report, "mode: %.2f %% of the samples of the kernel are taken for user mode", 100 * row->got);
    else
        as_trust_say(report, "mode: user and kernel are told apart");
    return true;
}

/* ---- the task clock ---- */

static bool run_clock(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    static const char *const clocks[] = {"task-clock", "cpu-clock"};
    for (size_t i = 0; i < 2; i++) {
        double sum = 0, squares = 0, n = subject->options->runs, largest = 0;
        for (uint32_t run = 0; run < subject->options->runs; run++) {
            struct as_trust_probe probe = as_trust_probe(subject, "bias", clocks[i], 100003);
            struct as_trust_result result;
            probe.options.iterations *= 400;
            if (!as_trust_run(subject, &probe, &result, err))
                return false;
            double part =
                result.counts[0].happened ? result.counts[0].nanoseconds / (double)result.counts[0].happened : NAN;
            sum += part;
            squares += part * part;
            for (size_t j = 0; j < result.code.n_labels && result.counts[0].samples; j++)
                largest = fmax(largest, (double)result.counts[0].at[j] / (double)result.counts[0].samples);
        }
        struct as_trust_row *row = as_trust_add(report, "clock", clocks[i]);
        snprintf(row->setting, sizeof row->setting, "time that samples stand for");
        row->share = true;
        row->expected = 1;
        row->got = sum / n;
        row->error = row->got - 1;
        row->spread = n > 1 ? sqrt(fmax(0, (squares - sum * sum / n) / (n - 1))) : NAN;
        row = as_trust_add(report, "clock", clocks[i]);
        snprintf(row->setting, sizeof row->setting, "most of seven instructions of a loop");
        row->share = true;
        row->expected = 1.0 / 7;
        row->got = largest;
        row->error = row->got - row->expected;
        as_trust_say(report,
                     "%s: samples stand for %.1f %% of the time; one of seven instructions gets %.0f %% of them",
                     clocks[i], 100 * sum / n, 100 * largest);
    }
    return true;
}

const struct as_trust_experiment as_trust_experiments[] = {
    {"accuracy", "numbers of samples against known numbers of events", PEBS | IBS | SPE, run_accuracy},
    {"interval", "the same at intervals from 101 to 1,000,003", PEBS | IBS | SPE, run_interval},
    {"bias", "four equal loads: shares, and samples on other instructions", PEBS | IBS | SPE, run_bias},
    {"shadow", "events at different distances from the one before", PEBS, run_shadow},
    {"distance", "how likely an event is sampled, against the nops behind the one before", PEBS, as_trust_run_distance},
    {"functions", "ten functions of equal work", UNITS | AS_TRUST_TIMER, run_functions},
    {"clock", "time that samples stand for, and the most that one instruction gets", AS_TRUST_TIMER, run_clock},
    {"threads", "1 to 32 threads", PEBS | IBS | SPE, run_threads},
    {"cost", "time that samples take, by what the program does with them", UNITS, run_cost},
    {"handler", "a handler whose own loads are counted", PEBS, run_handler},
    {"multi-event", "1, 4, 5 and 6 events at once", PEBS, run_multi},
    {"mode", "events of the kernel that are told to be the program's", PEBS | IBS | SPE, run_mode},
};
const size_t as_trust_experiments_count = sizeof as_trust_experiments / sizeof *as_trust_experiments;
