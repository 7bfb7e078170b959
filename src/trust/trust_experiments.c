/* The experiments. See trust.h; doc/design/trust.md. */
#include "trust/trust_parts.h"

#include "base/show.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { PEBS = 1 << AS_PMU_PEBS, IBS = 1 << AS_PMU_IBS, SPE = 1 << AS_PMU_SPE, UNITS = (1 << AS_PMU_KINDS) - 1 };

/* ---- bias ---- */

struct shares {
    double largest, smallest, wrong;
    char name[16]; /* of the label that has most */
    size_t n;
    double each[AS_KERNEL_LABELS]; /* of the event's labels */
    uint64_t samples;              /* at the labels */
    bool uneven;                   /* by more than chance */
};

static double load_share_at(const struct as_trust_counts *counts, size_t label)
{
    return counts->loads ? (double)counts->loads_at[label] / (double)counts->loads : 0;
}

/* Rows for the labels that are the event, and what was put elsewhere. `tagged`: of the samples of loads. */
static struct shares add_shares(struct as_trust_report *report, const char *name, const char *setting,
                                const struct as_trust_sum *sum, enum as_kernel_event event, bool tagged)
{
    struct shares shares = {.smallest = 1};
    const struct as_trust_result *result = &sum->result;
    const uint64_t *of = tagged ? result->counts[0].loads_at : result->counts[0].at;
    uint64_t all = tagged ? result->counts[0].loads : result->counts[0].samples;
    uint64_t at[AS_KERNEL_LABELS];
    size_t n = 0;
    for (size_t i = 0; i < result->code.n_labels; i++)
        shares.n += result->code.labels[i].events >> event & 1;
    for (size_t i = 0; i < result->code.n_labels; i++) {
        const struct as_kernel_label *label = &result->code.labels[i];
        if (!(label->events >> event & 1))
            continue;
        struct as_trust_row *row = as_trust_add(report, name, label->name);
        snprintf(row->setting, sizeof row->setting, "%s", setting);
        row->unit = AS_TRUST_SHARE;
        row->expected = 1.0 / (double)shares.n;
        row->got = all ? (double)of[i] / (double)all : NAN;
        row->error = row->got - row->expected;
        row->spread = as_trust_spread(sum, 0, tagged ? load_share_at : as_trust_share_at, i);
        row->chance = as_trust_chance_of_share(row->expected, all);
        shares.samples += of[i];
        shares.each[n] = row->got;
        at[n++] = of[i];
        shares.smallest = fmin(shares.smallest, row->got);
        if (row->got > shares.largest) {
            shares.largest = row->got;
            snprintf(shares.name, sizeof shares.name, "%s", label->name);
        }
    }
    shares.uneven = as_trust_uneven(at, n);
    shares.wrong = all ? 1 - (double)shares.samples / (double)all : 0;
    if (shares.wrong > 0) {
        struct as_trust_row *row = as_trust_add(report, name, "other instructions");
        snprintf(row->setting, sizeof row->setting, "%s", setting);
        row->unit = AS_TRUST_SHARE;
        row->expected = 0;
        row->got = row->error = shares.wrong;
        row->chance = as_trust_chance_of_share(0, all);
    }
    return shares;
}

/* "loads 1 and 3": those with more than a twentieth of what is fair, or the others. Returns how many. */
static size_t name_loads(const struct shares *shares, bool sampled, char *text, size_t size)
{
    size_t found[AS_KERNEL_LABELS], n = 0, at = 0;
    for (size_t i = 0; i < shares->n; i++)
        if ((shares->each[i] * (double)shares->n > 0.05) == sampled)
            found[n++] = i + 1;
    at = (size_t)snprintf(text, size, "load%s", n == 1 ? "" : "s");
    for (size_t i = 0; i < n && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%zu", i == 0 ? " " : i + 1 == n ? " and " : ", ", found[i]);
    return n;
}

/* A test that finds no difference says that they are equal only if a fifth more or less would not have escaped it. */
static void say_even(struct as_trust_report *report, const struct shares *shares)
{
    double fair = 1 / (double)shares->n, chance = as_trust_chance_of_share(fair, shares->samples);
    if (chance < fair / 5)
        as_trust_say(report,
                     "bias: four equal loads get equal numbers of samples, as far as %s samples tell: %.0f %% each, to "
                     "within %.1f",
                     AS_COUNT(shares->samples), 100 * fair, 100 * chance);
    else
        as_trust_say(report,
                     "bias: %s samples are too few to tell a difference between four equal loads: they get between "
                     "%.0f and %.0f %%, which chance can explain",
                     AS_COUNT(shares->samples), 100 * shares->smallest, 100 * shares->largest);
}

/* What four equal loads get. A difference is told from chance, and a small one from one that matters: a twentieth. */
static void say_bias(struct as_trust_report *report, const struct shares *shares)
{
    double fair = 1 / (double)shares->n, low = 100 * shares->smallest, high = 100 * shares->largest;
    bool small = shares->largest - fair < fair / 20 && fair - shares->smallest < fair / 20;
    char some[80], none[80];
    if (!shares->uneven && !as_trust_enough(report, "bias", shares->samples, AS_TRUST_LEAST * shares->n))
        return;
    name_loads(shares, true, some, sizeof some);
    if (!shares->uneven)
        say_even(report, shares);
    else if (small)
        as_trust_say(report, "bias: four equal loads get nearly equal numbers of samples: between %.1f and %.1f %%",
                     low, high);
    else if (name_loads(shares, false, none, sizeof none) > 0)
        as_trust_say(report,
                     "bias: of four equal loads, the samples land on %s, and on %s %s: they get between %.0f and "
                     "%.0f %%",
                     some, none, low > 0 ? "hardly any" : "none", low, high);
    else if (shares->largest > 0.3)
        as_trust_say(
            report,
            "bias: %.0f %% of the load samples land on one of four equal loads (%s); they get between %.0f and "
            "%.0f %% each",
            high, shares->name, low, high);
    else
        as_trust_say(report,
                     "bias: four equal loads get between %.0f and %.0f %% of the load samples, not %.0f %% each (most: "
                     "%s)",
                     low, high, 100 * fair, shares->name);
}

static bool run_bias(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    bool pebs = as_trust_is_pebs(subject);
    struct as_trust_probe probe = as_trust_probe(subject, "bias", pebs ? "loads" : as_trust_usual_event(subject),
                                                 as_trust_usual_period(subject, 991));
    struct as_trust_sum sum;
    bool ok = as_trust_run_sum(subject, probe, &sum, err);
    if (ok) {
        struct shares shares = add_shares(report, "bias", "four equal loads", &sum, AS_KERNEL_LOADS, !pebs);
        say_bias(report, &shares);
        if (shares.wrong > 0.001)
            as_trust_say(report, "attribution: %.0f %% of the load samples are put on instructions that do not load",
                         100 * shares.wrong);
    }
    as_trust_sum_free(&sum);
    return ok;
}

struct snippet {
    const char *kernel, *event, *setting;
    enum as_kernel_event counts;
    bool fence;
    uint64_t periods[3]; /* 0: no more. The first decides what is said */
};
/* The paper's intervals; of misses there are few in a run. */
static const struct snippet snippets[] = {
    {"snippet1", "loads", "four reads behind a fence", AS_KERNEL_LOADS, true, {991, 2347, 10007}},
    {"snippet1", "loads", "four reads", AS_KERNEL_LOADS, false, {991, 2347, 10007}},
    {"snippet2", "branches", "three branches", AS_KERNEL_BRANCHES, false, {991, 2347, 10007}},
    {"snippet3", "l3-miss", "four reads from memory", AS_KERNEL_L3_MISS, false, {97, 211}},
};

static bool run_snippet(struct as_trust_subject *subject, const struct snippet *snippet, uint64_t period,
                        struct as_trust_report *report, struct shares *shares, struct as_error *err)
{
    struct as_trust_probe probe = as_trust_probe(subject, snippet->kernel, snippet->event, period);
    struct as_trust_sum sum;
    char setting[64];
    probe.options.fence = snippet->fence;
    bool ok = as_trust_run_sum(subject, probe, &sum, err);
    snprintf(setting, sizeof setting, "%s, interval %s", snippet->setting, AS_COUNT(period));
    if (ok)
        *shares = add_shares(report, "shadow", setting, &sum, snippet->counts, false);
    as_trust_sum_free(&sum);
    return ok;
}

/* Snippets 1 to 3: an event far from the one before is sampled too often. */
static bool run_shadow(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    for (size_t i = 0; i < sizeof snippets / sizeof *snippets; i++) {
        const struct snippet *snippet = &snippets[i];
        struct shares first, shares;
        if (!as_trust_has_kernel(subject, snippet->kernel))
            continue;
        for (size_t j = 0; j < 3 && snippet->periods[j]; j++)
            if (!run_snippet(subject, snippet, snippet->periods[j], report, j == 0 ? &first : &shares, err))
                return false;
        if (!first.uneven && first.samples < AS_TRUST_LEAST * first.n)
            as_trust_say(report, "shadow: of %s there are %s samples of %s: %s", snippet->setting,
                         first.samples ? "too few" : "no", snippet->event,
                         first.samples ? "not enough to tell" : "nothing can be said");
        else if (first.uneven && first.largest > 1.2 / (double)first.n)
            as_trust_say(report, "shadow: of %s, %s gets %.0f %% of the samples of %s in place of %.0f %%",
                         snippet->setting, first.name, 100 * first.largest, snippet->event, 100 / (double)first.n);
    }
    return true;
}

/* A row of a share of the samples. */
static struct as_trust_row *add_share(struct as_trust_report *report, const char *experiment, const char *what,
                                      const char *setting, double expected, double part, uint64_t samples)
{
    struct as_trust_row *row = as_trust_add(report, experiment, what);
    snprintf(row->setting, sizeof row->setting, "%s", setting);
    row->unit = AS_TRUST_SHARE;
    row->expected = expected;
    row->got = samples ? part / (double)samples : NAN;
    row->error = row->got - expected;
    row->chance = as_trust_chance_of_share(expected, samples);
    return row;
}

static void add_latency(struct as_trust_report *report, const struct as_trust_sum *sum)
{
    const struct as_kernel_code *code = &sum->result.code;
    const struct as_trust_counts *counts = &sum->result.counts[0];
    double expected = 0;
    uint64_t labelled = 0;
    for (size_t i = 0; i < code->n_labels; i++) {
        const struct as_kernel_label *label = &code->labels[i];
        if (!(label->executed > 0))
            continue;
        double part = label->executed / code->per_iteration[AS_KERNEL_INSTRUCTIONS];
        struct as_trust_row *row = add_share(report, "latency", label->name, "every second time", part,
                                             (double)counts->at[i], counts->samples);
        row->spread = as_trust_spread(sum, 0, as_trust_share_at, i);
        expected += part;
        labelled += counts->at[i];
    }
    add_share(report, "latency", "other instructions", "the loop around them", 1 - expected,
              (double)(counts->samples - labelled), counts->samples);
}

/* A division and a sum in turn, each with instructions that take a cycle: how often each is sampled, of what counts
 * instructions or operations. */
static bool run_latency(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    struct as_trust_probe probe = as_trust_probe(
        subject, "latency-biased", as_trust_is_pebs(subject) ? "instructions" : as_trust_usual_event(subject),
        as_trust_usual_period(subject, 991));
    struct as_trust_sum sum;
    size_t before = report->rows.len;
    bool ok = as_trust_run_sum(subject, probe, &sum, err);
    if (ok)
        add_latency(report, &sum);
    if (ok && as_trust_enough(report, "latency", sum.result.counts[0].samples,
                              4 * AS_TRUST_LEAST)) { /* some third is the division's */
        const struct as_trust_row *divide = &report->rows.data[before], *add = divide + 1;
        if (as_trust_row_errs(divide) || as_trust_row_errs(add))
            as_trust_say(report,
                         "latency: a division and what follows it get %.1f times the samples that they should, a sum "
                         "%.1f times",
                         divide->got / divide->expected, add->got / add->expected);
        else
            as_trust_say(report,
                         "latency: a division and a sum get the samples that they should, as far as %s samples tell",
                         AS_COUNT(sum.result.counts[0].samples));
    }
    as_trust_sum_free(&sum);
    return ok;
}

/* Samples elsewhere are left out: then they are those of the functions. */
static void leave_out_others(const struct as_kernel_code *code, struct as_trust_counts *counts)
{
    counts->samples = 0;
    for (size_t i = 0; i < code->n_labels; i++)
        counts->samples += code->labels[i].name[0] == 'f' ? counts->at[i] : 0;
}

static void judge_functions(struct as_trust_report *report, struct as_trust_sum *sum, uint64_t n)
{
    const struct as_kernel_code *code = &sum->result.code;
    struct as_trust_counts *counts = &sum->result.counts[0];
    uint64_t at[AS_KERNEL_LABELS];
    size_t places = 0;
    double largest = 0, smallest = 1;
    const char *name = "";
    leave_out_others(code, counts);
    for (uint32_t i = 0; i < sum->runs; i++)
        leave_out_others(code, &sum->each[i]);
    for (size_t i = 0; i < code->n_labels; i++) {
        if (code->labels[i].name[0] != 'f')
            continue;
        struct as_trust_row *row = add_share(report, "functions", code->labels[i].name, "ten functions of equal work",
                                             1 / (double)n, (double)counts->at[i], counts->samples);
        row->spread = as_trust_spread(sum, 0, as_trust_share_at, i);
        at[places++] = counts->at[i];
        smallest = fmin(smallest, row->got);
        if (row->got > largest)
            name = code->labels[i].name;
        largest = fmax(largest, row->got);
    }
    if (!as_trust_enough(report, "functions", counts->samples, AS_TRUST_LEAST * n))
        return;
    if (as_trust_uneven(at, places))
        as_trust_say(report,
                     "functions: ten that do equal work get between %.1f and %.1f %% of the samples (most: %s), and "
                     "chance does not explain that",
                     100 * smallest, 100 * largest, name);
    else
        as_trust_say(report,
                     "functions: ten that do equal work get between %.1f and %.1f %% of the samples, as chance makes "
                     "them with %s samples",
                     100 * smallest, 100 * largest, AS_COUNT(counts->samples));
}

/* Equal functions, and equal work in time: for what counts time or everything. */
static bool run_functions(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    struct as_trust_probe probe = as_trust_probe(subject, "call-chain", as_trust_usual_event(subject),
                                                 subject->timer ? 100003 : as_trust_usual_period(subject, 991));
    struct as_trust_sum sum;
    if (subject->timer)
        probe.options.iterations *= 200;
    bool ok = as_trust_run_sum(subject, probe, &sum, err);
    if (ok)
        judge_functions(report, &sum, probe.options.places);
    as_trust_sum_free(&sum);
    return ok;
}

/* ---- threads, cost ---- */

static bool run_threads(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    static const uint32_t threads[] = {1, 2, 4, 8, 16, 32};
    bool pebs = as_trust_is_pebs(subject);
    struct as_trust_worst worst = {0};
    char right[80];
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        struct as_trust_probe probe = as_trust_probe(
            subject, "accuracy", pebs ? "l1-miss" : as_trust_usual_event(subject), as_trust_usual_period(subject, 307));
        struct as_trust_sum sum;
        char what[32];
        probe.threads = threads[i];
        probe.options.iterations = 1;
        as_trust_lengthen(&probe, subject, 1, 100);
        if (!as_trust_run_sum(subject, probe, &sum, err)) {
            as_trust_sum_free(&sum);
            return false;
        }
        snprintf(what, sizeof what, "%u thread%s", threads[i], threads[i] == 1 ? "" : "s");
        struct as_trust_row *row = as_trust_add(report, "threads", what);
        snprintf(row->setting, sizeof row->setting, "L1 misses, all threads together");
        struct as_trust_several several = as_trust_mean(&sum, 0, pebs ? as_trust_all : as_trust_l1_misses);
        double expected = as_trust_expected(&probe, &sum.result.code, AS_KERNEL_L1_MISS);
        as_trust_set_counts(row, expected, &several, as_trust_chance_of_count(subject, &probe, expected, !pebs));
        as_trust_worst_add(&worst, row);
        as_trust_sum_free(&sum);
    }
    if (as_trust_rows_enough(report, "threads", "threads"))
        as_trust_say(report, "threads: 1 to 32 of them, the sum is %s",
                     as_trust_how_right(&worst, right, sizeof right));
    return true;
}

/* ---- several events, modes ---- */

static uint64_t store_samples(const struct as_trust_counts *counts)
{
    return counts->stores;
}

static uint64_t branch_samples(const struct as_trust_counts *counts)
{
    return counts->branches;
}

static uint64_t taken_samples(const struct as_trust_counts *counts)
{
    return counts->taken;
}

static uint64_t return_samples(const struct as_trust_counts *counts)
{
    return counts->returns;
}

static const struct {
    const char *event;
    enum as_kernel_event counts;
    as_trust_pick *pick;
} multi[] = {{"loads", AS_KERNEL_LOADS, as_trust_loads},          {"stores", AS_KERNEL_STORES, store_samples},
             {"branches", AS_KERNEL_BRANCHES, branch_samples},    {"taken", AS_KERNEL_TAKEN, taken_samples},
             {"locked-loads", AS_KERNEL_LOCKED, as_trust_locked}, {"returns", AS_KERNEL_RETURNS, return_samples}};
enum { MULTI = sizeof multi / sizeof *multi };

static bool run_set(struct as_trust_subject *subject, const char *const *events, size_t n, struct as_trust_sum *sum,
                    struct as_trust_probe *probe, struct as_error *err)
{
    *probe = as_trust_probe(subject, "multi-event", NULL, 503);
    probe->n_events = n;
    for (size_t i = 0; i < n; i++)
        probe->events[i] = events[i];
    return as_trust_run_sum(subject, *probe, sum, err);
}

static void add_event(struct as_trust_report *report, const char *event, const char *setting, double expected,
                      struct as_trust_several several, double chance, struct as_trust_worst *worst)
{
    struct as_trust_row *row = as_trust_add(report, "multi-event", event);
    snprintf(row->setting, sizeof row->setting, "%s", setting);
    as_trust_set_counts(row, expected, &several, chance);
    as_trust_worst_add(worst, row);
}

/* Events at once: as many as the papers had. Errors: of sets that fit on the unit's counters, and of those that do not. */
static const size_t sets[] = {1, 4, 5, 6};
enum { SETS = sizeof sets / sizeof *sets };

static bool run_sets(struct as_trust_subject *subject, struct as_trust_report *report, struct as_trust_worst worst[2],
                     struct as_error *err)
{
    const char *events[MULTI];
    for (size_t i = 0; i < MULTI; i++)
        events[i] = multi[i].event;
    for (size_t i = 0; i < SETS; i++) {
        struct as_trust_sum sum;
        struct as_trust_probe probe;
        char setting[64];
        bool ok = run_set(subject, events, sets[i], &sum, &probe, err);
        snprintf(setting, sizeof setting, "%zu event%s at once", sets[i], sets[i] == 1 ? "" : "s");
        for (size_t j = 0; j < sets[i] && ok; j++) {
            double expected = as_trust_expected(&probe, &sum.result.code, multi[j].counts);
            add_event(report, multi[j].event, setting, expected, as_trust_mean(&sum, j, as_trust_all),
                      as_trust_chance_of_count(subject, &probe, expected, false),
                      &worst[sets[i] > subject->pmu.counters]);
        }
        as_trust_sum_free(&sum);
        if (!ok)
            return false;
    }
    return true;
}

static void say_sets(struct as_trust_report *report, uint32_t counters, const struct as_trust_worst worst[2])
{
    char right[80], lost[80];
    size_t fit = 0;
    while (fit < SETS && sets[fit] <= counters)
        fit++;
    as_trust_how_right(&worst[0], right, sizeof right);
    if (fabs(worst[1].error) > 0)
        snprintf(lost, sizeof lost, "lose up to %.0f %% of their samples", 100 * fabs(worst[1].error));
    else
        snprintf(lost, sizeof lost, "lose nothing that samples tell");
    if (fit == SETS)
        as_trust_say(report, "several events: up to %zu at once are %s", sets[fit - 1], right);
    else
        as_trust_say(report, "several events: up to %zu at once %s %s, %zu %s 6 %s (%u counter%s)", sets[fit - 1],
                     sets[fit - 1] == 1 ? "is" : "are", right, sets[fit], sets[fit] == 5 ? "and" : "to", lost, counters,
                     counters == 1 ? "" : "s");
}

/* As many as there are counters, with those that count one thing only. */
static bool run_fixed(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    static const char *const any[] = {"loads", "stores", "branches", "taken"};
    static const char *const fixed[] = {"instructions", "cycles", "ref-cycles"};
    const char *events[7];
    struct as_trust_sum sum;
    struct as_trust_probe probe;
    size_t n = 0;
    for (size_t i = 0; i < 4 && i < subject->pmu.counters; i++)
        events[n++] = any[i];
    for (size_t i = 0; i < 3 && i < subject->pmu.fixed; i++)
        events[n++] = fixed[i];
    struct as_trust_worst worst = {0};
    char setting[64], right[80];
    bool ok = run_set(subject, events, n, &sum, &probe, err);
    snprintf(setting, sizeof setting, "%zu events, %u on fixed counters", n, subject->pmu.fixed);
    for (size_t i = 0; i < n && ok; i++) {
        double expected = (double)sum.result.counts[i].happened / (double)probe.period / sum.runs;
        add_event(report, events[i], setting, expected, as_trust_mean(&sum, i, as_trust_all),
                  as_trust_chance_of_count(subject, &probe, expected, false), &worst);
    }
    as_trust_sum_free(&sum);
    if (ok && as_trust_rows_enough(report, "multi-event", "fixed counters"))
        as_trust_say(report, "fixed counters: with %u of them %zu events at once are %s", subject->pmu.fixed, n,
                     as_trust_how_right(&worst, right, sizeof right));
    return ok;
}

/* A run is shorter than the kernel's tick: the interval of the unit's multiplexing is shortened in proportion. */
static bool run_multi(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    uint32_t tick = subject->pmu.multiplex;
    struct as_trust_worst worst[2] = {0};
    subject->pmu.multiplex = AS_TRUST_TICK;
    bool ok = run_sets(subject, report, worst, err) &&
              (!subject->pmu.fixed || subject->machine || run_fixed(subject, report, err));
    subject->pmu.multiplex = tick;
    if (ok && as_trust_rows_enough(report, "multi-event", "several events"))
        say_sets(report, subject->pmu.counters, worst);
    return ok;
}

/* A unit that tags operations tells of each what it was: one run has all events. */
static bool run_kinds(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    struct as_trust_sum sum;
    struct as_trust_probe probe =
        as_trust_probe(subject, "multi-event", as_trust_usual_event(subject), as_trust_usual_period(subject, 503));
    struct as_trust_worst worst = {0};
    char right[80];
    bool ok = as_trust_run_sum(subject, probe, &sum, err);
    for (size_t i = 0; i < MULTI && ok; i++) {
        double expected = as_trust_expected(&probe, &sum.result.code, multi[i].counts);
        add_event(report, multi[i].event, "all at once, by kind of operation", expected,
                  as_trust_mean(&sum, 0, multi[i].pick), as_trust_chance_of_count(subject, &probe, expected, true),
                  &worst);
    }
    as_trust_sum_free(&sum);
    if (ok && as_trust_rows_enough(report, "multi-event", "several events"))
        as_trust_say(report, "several events: of one run, kinds of operations are %s",
                     as_trust_how_right(&worst, right, sizeof right));
    return ok;
}

static bool run_multi_event(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    return (as_trust_is_pebs(subject) ? run_multi : run_kinds)(subject, report, err);
}

enum { LEAST_MODES = 20 };

static double share_in_user(const struct as_trust_counts *counts, size_t which)
{
    return counts->locked ? (double)counts->locked_in_user / (double)counts->locked : 0;
}

static void judge_modes(struct as_trust_report *report, const struct as_trust_sum *sum)
{
    uint64_t locked = sum->result.counts[0].locked, wrong = sum->result.counts[0].locked_in_user;
    struct as_trust_row *row =
        add_share(report, "mode", "locked loads of the kernel", "said to be user mode's", 0, (double)wrong, locked);
    row->spread = as_trust_spread(sum, 0, share_in_user, 0);
    if (wrong > 0) /* none may be: one is wrong however few there are */
        as_trust_say(report, "mode: %.2f %% of the samples of the kernel (%s of %s) are taken for user mode",
                     100 * row->got, AS_COUNT(wrong), AS_COUNT(locked));
    else if (as_trust_enough(report, "mode", locked, LEAST_MODES))
        as_trust_say(report, "mode: user and kernel are told apart, in %s of %s samples of the kernel",
                     AS_COUNT(locked), AS_COUNT(locked));
}

static bool run_mode(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    struct as_trust_probe probe =
        as_trust_probe(subject, "exec-mode", as_trust_is_pebs(subject) ? "locked-loads" : as_trust_usual_event(subject),
                       as_trust_is_pebs(subject) ? 11 : as_trust_usual_period(subject, 211));
    struct as_trust_sum sum;
    if (!as_trust_is_pebs(subject)) /* one of some 160 operations is the kernel's locked add */
        probe.options.iterations *= 5;
    bool ok = as_trust_run_sum(subject, probe, &sum, err);
    if (ok)
        judge_modes(report, &sum);
    as_trust_sum_free(&sum);
    return ok;
}

/* ---- the task clock ---- */

static bool run_clock(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    static const char *const clocks[] = {"task-clock", "cpu-clock"};
    for (size_t i = 0; i < 2; i++) {
        double sum = 0, squares = 0, n = subject->options->runs, largest = 0;
        uint64_t samples = 0;
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
            samples += result.counts[0].samples;
            for (size_t j = 0; j < result.code.n_labels && result.counts[0].samples; j++)
                largest = fmax(largest, (double)result.counts[0].at[j] / (double)result.counts[0].samples);
        }
        struct as_trust_row *row = as_trust_add(report, "clock", clocks[i]);
        snprintf(row->setting, sizeof row->setting, "time that samples stand for");
        row->unit = AS_TRUST_SHARE;
        row->expected = 1;
        row->got = sum / n;
        row->error = row->got - 1;
        row->spread = n > 1 ? sqrt(fmax(0, (squares - sum * sum / n) / (n - 1))) : NAN;
        row = as_trust_add(report, "clock", clocks[i]);
        snprintf(row->setting, sizeof row->setting, "most of seven instructions of a loop");
        row->unit = AS_TRUST_SHARE;
        row->expected = 1.0 / 7;
        row->got = largest;
        row->error = row->got - row->expected;
        row->chance = as_trust_chance_of_share(row->expected, samples / subject->options->runs);
        if (as_trust_enough(report, clocks[i], samples, 7 * AS_TRUST_LEAST))
            as_trust_say(report,
                         "%s: samples stand for %.1f %% of the time; one of seven instructions gets %.0f %% of them",
                         clocks[i], 100 * sum / n, 100 * largest);
    }
    return true;
}

const struct as_trust_experiment as_trust_experiments[] = {
    {"accuracy", "numbers of samples against known numbers of events", PEBS | IBS | SPE, as_trust_run_accuracy},
    {"ratio", "the same where one of 20 to 100 instructions is a miss", PEBS | IBS | SPE, as_trust_run_ratio},
    {"interval", "the same at intervals from 101 to 1,000,003", PEBS | IBS | SPE, as_trust_run_interval},
    {"bias", "four equal loads: shares, and samples on other instructions", PEBS | IBS | SPE, run_bias},
    {"shadow", "events at different distances from the one before", PEBS, run_shadow},
    {"distance", "how likely an event is sampled, against the nops behind the one before", PEBS, as_trust_run_distance},
    {"latency", "a division and a sum in turn", PEBS | IBS | SPE, run_latency},
    {"functions", "ten functions of equal work", UNITS | AS_TRUST_TIMER, run_functions},
    {"clock", "time that samples stand for, and the most that one instruction gets", AS_TRUST_TIMER, run_clock},
    {"threads", "1 to 32 threads", PEBS | IBS | SPE, run_threads},
    {"cost", "time and memory that samples take, where one of 20 or 100 instructions is a miss", UNITS | AS_TRUST_TIMER,
     as_trust_run_cost},
    {"handler", "a handler whose own loads are counted", PEBS | AS_TRUST_MODEL, as_trust_run_handler},
    {"multi-event", "1, 4, 5 and 6 events at once, or all kinds of operations in one run", PEBS | IBS | SPE,
     run_multi_event},
    {"mode", "events of the kernel that are told to be the program's", PEBS | IBS | SPE | AS_TRUST_MODEL, run_mode},
};
const size_t as_trust_experiments_count = sizeof as_trust_experiments / sizeof *as_trust_experiments;
