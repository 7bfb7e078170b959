/* Numbers of samples against known numbers of events: of each event, at several ratios of events to instructions, at several
 * intervals. See trust.h. */
#include "trust/trust_parts.h"

#include "base/show.h"

#include <math.h>
#include <stdio.h>

struct accuracy {
    const char *event, *kernel; /* of PEBS */
    enum as_kernel_event counts;
    as_trust_pick *pick; /* of the others: which samples these are */
    double times;        /* events that each of `counts` makes; 0: 1 */
    uint64_t period;     /* 0: the usual one */
    uint32_t ratio;      /* of the kernel; 0: the usual one */
};
/* What a machine decides (predictions, caches) is not known from the code: then the model's count is what is expected. */
#define AS_THE_MODEL_COUNTS AS_KERNEL_EVENTS
static const struct accuracy accuracies[] = {
    {"instructions", "accuracy", AS_KERNEL_INSTRUCTIONS, as_trust_all},
    {"loads", "load-ratio", AS_KERNEL_LOADS, as_trust_loads},
    {"l1-miss", "accuracy", AS_KERNEL_L1_MISS, as_trust_l1_misses},
    {"locked-loads", "locked-load", AS_KERNEL_LOCKED, as_trust_locked},
    {"stores", "locked-load", AS_KERNEL_STORES},
    {"branches", "multi-event", AS_KERNEL_BRANCHES},
    {"conditional", "multi-event", AS_KERNEL_CONDITIONAL},
    {"taken", "multi-event", AS_KERNEL_TAKEN},
    {"calls", "multi-event", AS_KERNEL_CALLS},
    {"returns", "multi-event", AS_KERNEL_RETURNS},
    {"far", "exec-mode", AS_KERNEL_SYSCALLS, .times = 2, .period = 101},
    {"mispredicted", "mispredict", AS_THE_MODEL_COUNTS, .period = 211},
    {"mispredicted-conditional", "mispredict", AS_THE_MODEL_COUNTS, .period = 211},
    {"mispredicted-taken", "mispredict", AS_THE_MODEL_COUNTS, .period = 211},
    {"l1-hit", "load-ratio", AS_THE_MODEL_COUNTS},
    {"l2-hit", "misses", AS_THE_MODEL_COUNTS, .period = 211},
    {"l2-miss", "misses", AS_THE_MODEL_COUNTS, .period = 211, .ratio = 1024},
    {"l3-hit", "misses", AS_THE_MODEL_COUNTS, .ratio = 512},
    {"l3-miss", "snippet3", AS_KERNEL_L3_MISS, .period = 97},
    {"cycles", "load-ratio", AS_THE_MODEL_COUNTS},
};
enum { ACCURACIES = sizeof accuracies / sizeof *accuracies, USUAL_PERIOD = 1009 };

/* Fewer at long intervals, for the time that it takes; of operations, which are many in an iteration, more. */
static uint32_t wanted_samples(const struct accuracy *accuracy, uint64_t period)
{
    if (accuracy->counts == AS_KERNEL_INSTRUCTIONS)
        return period < 50000 ? 200 : period < 500000 ? 100 : 20;
    return period < 5000 ? 200 : period < 50000 ? 50 : period < 500000 ? 10 : 3;
}

static double expected(const struct as_trust_probe *probe, const struct as_trust_result *result,
                       const struct accuracy *accuracy, bool ops)
{
    double happened = (double)result->counts[0].happened / (double)probe->period;
    if (accuracy->counts == AS_THE_MODEL_COUNTS || (ops && happened > 0))
        return happened;
    return as_trust_expected(probe, &result->code, accuracy->counts) * (accuracy->times > 0 ? accuracy->times : 1);
}

/* `index`: of the row that is added; SIZE_MAX: none. */
static bool measure(struct as_trust_subject *subject, const struct accuracy *accuracy, const char *name,
                    uint64_t period, struct as_trust_report *report, size_t *index, struct as_error *err)
{
    bool pebs = as_trust_is_pebs(subject);
    struct as_trust_probe probe =
        as_trust_probe(subject, accuracy->kernel, pebs ? accuracy->event : as_trust_usual_event(subject), period);
    struct as_trust_several several;
    if (accuracy->period)
        probe.options.iterations = 1;
    if (accuracy->ratio)
        probe.options.ratio = accuracy->ratio;
    as_trust_lengthen(&probe, subject, accuracy->counts == AS_KERNEL_INSTRUCTIONS ? 20 : 1,
                      wanted_samples(accuracy, period));
    if (!as_trust_run_several(subject, probe, pebs ? as_trust_all : accuracy->pick, &several, err))
        return false;
    bool ops = !pebs && accuracy->counts == AS_KERNEL_INSTRUCTIONS;
    double due = expected(&probe, &several.last, accuracy, ops);
    *index = SIZE_MAX;
    if (accuracy->counts == AS_THE_MODEL_COUNTS &&
        due < AS_TRUST_LEAST) /* this core, or so short a run, has no such events */
        return true;
    struct as_trust_row *row = as_trust_add(report, name, ops ? "operations" : accuracy->event);
    snprintf(row->setting, sizeof row->setting, "interval %s", AS_COUNT(period));
    as_trust_set_counts(row, due, &several, as_trust_chance_of_count(subject, &probe, due, !pebs && !ops));
    *index = report->rows.len - 1;
    return true;
}

static bool can_measure(const struct as_trust_subject *subject, const struct accuracy *accuracy)
{
    if (!as_trust_is_pebs(subject))
        return accuracy->pick != NULL;
    return as_trust_has_kernel(subject, accuracy->kernel) &&
           (!subject->machine ||
            (accuracy->counts != AS_THE_MODEL_COUNTS && as_trust_has_event(subject, accuracy->event)));
}

static void say_counts(struct as_trust_report *report, const struct as_trust_worst *worst, const char *interval)
{
    char right[80];
    if (fabs(worst->error) > 0)
        as_trust_say(report, "counts: %s (worst: %s) at intervals of %s",
                     as_trust_how_right(worst, right, sizeof right), worst->which, interval);
    else
        as_trust_say(report, "counts: right as far as samples tell, which is to %.1f %% of %s and to %.1f %% of %s",
                     100 * worst->least_chance, worst->least_hidden, 100 * worst->chance, worst->hidden);
}

/* Of units that tag operations: all of them, and what they are. */
static void say_operations(struct as_trust_report *report, const struct as_trust_worst *total,
                           const struct as_trust_worst *kinds, const char *interval)
{
    char right[80], of_kinds[160];
    as_trust_how_right(total, right, sizeof right);
    if (fabs(total->error) > 0)
        snprintf(right, sizeof right, "off by %+.1f %%", 100 * total->error);
    if (fabs(kinds->error) > 0)
        snprintf(of_kinds, sizeof of_kinds, "%s are off by %+.0f %%", kinds->which, 100 * kinds->error);
    else if (kinds->rows)
        snprintf(of_kinds, sizeof of_kinds, "nothing is wrong as far as samples tell, to %.0f %% of %s",
                 100 * kinds->chance, kinds->hidden);
    else
        snprintf(of_kinds, sizeof of_kinds, "there are too few to tell");
    as_trust_say(report, "counts: operations are %s at intervals of %s; of what they are, %s", right, interval,
                 of_kinds);
}

bool as_trust_run_accuracy(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    struct as_trust_worst worst = {0}, total = {0};
    for (size_t i = 0; i < ACCURACIES; i++) {
        const struct accuracy *accuracy = &accuracies[i];
        size_t index;
        if (!can_measure(subject, accuracy))
            continue;
        uint64_t period = as_trust_usual_period(subject, accuracy->period ? accuracy->period : USUAL_PERIOD);
        if (!measure(subject, accuracy, "accuracy", period, report, &index, err))
            return false;
        if (index != SIZE_MAX)
            as_trust_worst_add(i == 0 && !as_trust_is_pebs(subject) ? &total : &worst, &report->rows.data[index]);
    }
    const char *interval = AS_COUNT(as_trust_usual_period(subject, USUAL_PERIOD));
    if (!as_trust_rows_enough(report, "accuracy", "counts"))
        return true;
    if (as_trust_is_pebs(subject))
        say_counts(report, &worst, interval);
    else
        say_operations(report, &total, &worst, interval);
    return true;
}

/* ---- one miss of 20 to 100 instructions ---- */

struct ratio {
    const char *what, *event; /* NULL: the usual event */
    as_trust_pick *pick;
    enum as_kernel_event counts;
    uint64_t period;
    double instructions; /* of the run; 0: so many that there are 200 samples */
};
/* Of PEBS the two events; of the others the operations, and the misses among them, which need many. */
static const struct ratio pebs_ratios[] = {
    {"instructions", NULL, as_trust_all, AS_KERNEL_INSTRUCTIONS, 10007, 2e6},
    {"l1-miss", "l1-miss", as_trust_all, AS_KERNEL_L1_MISS, 211, 0},
};
static const struct ratio tag_ratios[] = {
    {"operations", NULL, as_trust_all, AS_KERNEL_INSTRUCTIONS, 10007, 2e6},
    {"l1-miss among operations", NULL, as_trust_l1_misses, AS_KERNEL_L1_MISS, 1009, 4e6},
    {"fetches", "fetches", as_trust_all, AS_KERNEL_EVENTS, 10007, 4e6},
};

static bool measure_ratio(struct as_trust_subject *subject, const struct ratio *ratio, uint32_t of,
                          struct as_trust_report *report, struct as_trust_worst *worst, struct as_error *err)
{
    uint64_t period = as_trust_usual_period(subject, ratio->period);
    struct as_trust_probe probe =
        as_trust_probe(subject, "accuracy", ratio->event ? ratio->event : as_trust_usual_event(subject), period);
    struct as_trust_several several;
    probe.options.ratio = of;
    probe.options.iterations = 1;
    as_trust_lengthen(&probe, subject, ratio->instructions > 0 ? of : 1,
                      ratio->instructions > 0 ? (uint64_t)(ratio->instructions / (double)period) + 1 : 200);
    if (!as_trust_run_several(subject, probe, ratio->pick, &several, err))
        return false;
    struct as_trust_row *row = as_trust_add(report, "ratio", ratio->what);
    double happened = (double)several.last.counts[0].happened / (double)period;
    bool by_model = ratio->counts != AS_KERNEL_L1_MISS && happened > 0;
    snprintf(row->setting, sizeof row->setting, "one of %u, interval %s", of, AS_COUNT(period));
    double expected = by_model ? happened
                      : ratio->counts == AS_KERNEL_EVENTS
                          ? 0 /* only the model knows */
                          : as_trust_expected(&probe, &several.last.code, ratio->counts);
    bool kind = !as_trust_is_pebs(subject) && ratio->counts == AS_KERNEL_L1_MISS;
    as_trust_set_counts(row, expected, &several, as_trust_chance_of_count(subject, &probe, expected, kind));
    as_trust_worst_add(worst, row);
    return true;
}

bool as_trust_run_ratio(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    static const uint32_t of[] = {20, 40, 60, 80, 100};
    bool pebs = as_trust_is_pebs(subject);
    const struct ratio *ratios = pebs ? pebs_ratios : tag_ratios;
    size_t n = subject->pmu.kind == AS_PMU_IBS && !subject->machine ? 3 : 2;
    struct as_trust_worst worst[3] = {0};
    char first[80], second[80];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < sizeof of / sizeof *of; j++)
            if (!measure_ratio(subject, &ratios[i], of[j], report, &worst[i], err))
                return false;
    if (as_trust_rows_enough(report, "ratio", "ratios"))
        as_trust_say(report, "ratios: from 1/20 to 1/100, %s are %s; %s are %s", ratios[0].what,
                     as_trust_how_right(&worst[0], first, sizeof first), ratios[1].what,
                     as_trust_how_right(&worst[1], second, sizeof second));
    return true;
}

/* ---- intervals ---- */

static void say_intervals(struct as_trust_report *report, const struct as_trust_row *first,
                          const struct as_trust_row *last, const struct as_trust_worst *worst)
{
    const char *what = first->what;
    char at_longest[64];
    if (as_trust_row_errs(last))
        snprintf(at_longest, sizeof at_longest, "by %+.1f %%", 100 * last->error);
    else
        snprintf(at_longest, sizeof at_longest, "right as far as samples tell, to %.0f %%,", 100 * last->chance);
    if (fabs(worst->error) > 0 && as_trust_row_errs(first) && fabs(first->error) > 2 * fabs(last->error))
        as_trust_say(report, "intervals: short ones are wrong: %s are off by %+.1f %% at %s, and %s at %s", what,
                     100 * first->error, first->setting, at_longest, last->setting);
    else if (fabs(worst->error) > 0)
        as_trust_say(report, "intervals: %s are off by up to %+.1f %%", what, 100 * worst->error);
    else
        as_trust_say(report,
                     "intervals: %s are counted right at all of them as far as samples tell, to %.1f %% at %s "
                     "and %.0f %% at %s",
                     what, 100 * first->chance, first->setting, 100 * last->chance, last->setting);
}

bool as_trust_run_interval(struct as_trust_subject *subject, struct as_trust_report *report, struct as_error *err)
{
    static const uint64_t periods[] = {101, 1009, 10007, 100003, 1000003};
    const struct accuracy *what = &accuracies[as_trust_is_pebs(subject) ? 2 : 0];
    struct as_trust_worst worst = {0};
    size_t first = SIZE_MAX, last = 0;
    for (size_t i = 0; i < sizeof periods / sizeof *periods; i++) {
        bool sampled = wanted_samples(what, periods[i]) * subject->options->scale >= 100 || periods[i] < 500000;
        size_t index;
        if (as_trust_usual_period(subject, periods[i]) != periods[i] || !sampled)
            continue;
        if (!measure(subject, what, "interval", periods[i], report, &index, err))
            return false;
        const struct as_trust_row *row = &report->rows.data[index];
        if (!as_trust_row_tells(row))
            continue;
        first = first == SIZE_MAX ? index : first;
        last = index;
        if (fabs(row->error) > 0.02) /* less is right */
            as_trust_worst_add(&worst, row);
    }
    if (as_trust_rows_enough(report, "interval", "intervals"))
        say_intervals(report, &report->rows.data[first], &report->rows.data[last], &worst);
    return true;
}
