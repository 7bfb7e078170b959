/* See trust_parts.h. */
#include "trust/trust_parts.h"

#include "base/alloc.h"
#include "base/show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool as_trust_interrupted(int signal, struct as_error *err)
{
    return as_error_set_status(err, 128 + signal, "interrupted: the experiments are not complete");
}

bool as_trust_is_pebs(const struct as_trust_subject *subject)
{
    return !subject->timer && subject->pmu.kind == AS_PMU_PEBS;
}

const char *as_trust_usual_event(const struct as_trust_subject *subject)
{
    return subject->timer ? "task-clock" : as_pmu_default_event(&subject->pmu);
}

/* ---- several runs of one probe ---- */

uint64_t as_trust_all(const struct as_trust_counts *counts)
{
    return counts->samples;
}

uint64_t as_trust_loads(const struct as_trust_counts *counts)
{
    return counts->loads;
}

uint64_t as_trust_l1_misses(const struct as_trust_counts *counts)
{
    return counts->l1_misses;
}

uint64_t as_trust_locked(const struct as_trust_counts *counts)
{
    return counts->locked;
}

bool as_trust_run_several(struct as_trust_subject *subject, struct as_trust_probe probe, as_trust_pick *pick,
                          struct as_trust_several *several, struct as_error *err)
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

/* ---- several runs, added up ---- */

bool as_trust_is_random(const struct as_trust_subject *subject)
{
    return subject->timer || subject->machine || subject->pmu.kind == AS_PMU_IBS || subject->pmu.kind == AS_PMU_SPE;
}

static void add_counts(struct as_trust_counts *to, const struct as_trust_counts *counts)
{
    to->happened += counts->happened;
    to->samples += counts->samples;
    to->nanoseconds += counts->nanoseconds;
    to->loads += counts->loads;
    to->l1_misses += counts->l1_misses;
    to->locked += counts->locked;
    to->stores += counts->stores;
    to->branches += counts->branches;
    to->taken += counts->taken;
    to->returns += counts->returns;
    to->locked_in_user += counts->locked_in_user;
    to->loads_elsewhere += counts->loads_elsewhere;
    for (size_t i = 0; i < AS_KERNEL_LABELS; i++) {
        to->at[i] += counts->at[i];
        to->loads_at[i] += counts->loads_at[i];
    }
}

bool as_trust_run_sum(struct as_trust_subject *subject, struct as_trust_probe probe, struct as_trust_sum *sum,
                      struct as_error *err)
{
    struct as_trust_counts all[AS_PMU_COUNTERS_MAX] = {0};
    uint32_t runs = as_trust_is_random(subject) ? subject->options->runs : 1;
    *sum = (struct as_trust_sum){.runs = runs, .n_events = probe.n_events};
    sum->each = as_alloc_array(runs * probe.n_events, sizeof *sum->each);
    for (uint32_t i = 0; i < runs; i++) {
        probe.seed = i + 1;
        if (!as_trust_run(subject, &probe, &sum->result, err))
            return false;
        for (size_t j = 0; j < probe.n_events; j++) {
            sum->each[i * probe.n_events + j] = sum->result.counts[j];
            add_counts(&all[j], &sum->result.counts[j]);
        }
    }
    memcpy(sum->result.counts, all, sizeof all);
    return true;
}

void as_trust_sum_free(struct as_trust_sum *sum)
{
    free(sum->each);
    sum->each = NULL;
}

double as_trust_spread(const struct as_trust_sum *sum, size_t event, as_trust_value *value, size_t which)
{
    double all = 0, squares = 0, n = sum->runs;
    for (uint32_t i = 0; i < sum->runs; i++) {
        double got = value(&sum->each[i * sum->n_events + event], which);
        all += got;
        squares += got * got;
    }
    return n > 1 ? sqrt(fmax(0, (squares - all * all / n) / (n - 1))) : NAN;
}

double as_trust_share_at(const struct as_trust_counts *counts, size_t label)
{
    return counts->samples ? (double)counts->at[label] / (double)counts->samples : 0;
}

struct as_trust_several as_trust_mean(const struct as_trust_sum *sum, size_t event, as_trust_pick *pick)
{
    struct as_trust_several several = {.spread = NAN};
    double all = 0, squares = 0, n = sum->runs;
    for (uint32_t i = 0; i < sum->runs; i++) {
        double got = (double)pick(&sum->each[i * sum->n_events + event]);
        all += got;
        squares += got * got;
    }
    several.mean = all / n;
    if (n > 1 && several.mean > 0)
        several.spread = sqrt(fmax(0, (squares - all * all / n) / (n - 1))) / several.mean;
    return several;
}

void as_trust_set_counts(struct as_trust_row *row, double expected, const struct as_trust_several *several,
                         double chance)
{
    row->chance = chance;
    row->expected = expected;
    row->got = several->mean;
    row->error = expected > 0 ? several->mean / expected - 1 : NAN;
    row->spread = several->spread;
}

double as_trust_expected(const struct as_trust_probe *probe, const struct as_kernel_code *code,
                         enum as_kernel_event event)
{
    return code->per_iteration[event] * (double)probe->options.iterations * probe->threads / (double)probe->period;
}

void as_trust_lengthen(struct as_trust_probe *probe, const struct as_trust_subject *subject, double per_iteration,
                       uint64_t samples)
{
    uint64_t least = (uint64_t)((double)samples * (double)probe->period / per_iteration) + 1;
    least = least * subject->options->scale / 100;
    if (probe->options.iterations < least)
        probe->options.iterations = least;
}

/* ---- what samples can tell ---- */

static const double deviations = 3.29; /* that chance exceeds once in a thousand times, to either side */
static const double nothing = 6.9;     /* samples that are due and are not there as rarely: e^-6.9 */

/* The standard deviation of an interval, in what the unit counts. */
static double interval_deviation(const struct as_pmu *pmu, const char *event)
{
    uint32_t bits = pmu->kind == AS_PMU_SPE                  ? pmu->jitter_bits
                    : pmu->kind != AS_PMU_IBS                ? 0
                    : event && strcmp(event, "fetches") == 0 ? pmu->fetch_random_bits
                                                             : pmu->random_bits;
    return bits ? (double)(UINT64_C(1) << bits) / sqrt(12) : 0;
}

double as_trust_chance_of_count(const struct as_trust_subject *subject, const struct as_trust_probe *probe,
                                double expected, bool kind)
{
    double runs = as_trust_is_random(subject) ? subject->options->runs : 1;
    double deviation = kind ? 1 : interval_deviation(&subject->pmu, probe->events[0]) / (double)probe->period;
    if (!(expected > 0))
        return NAN;
    return probe->threads / expected + deviations * deviation / sqrt(expected * runs);
}

double as_trust_chance_of_share(double expected, uint64_t samples)
{
    if (samples == 0)
        return NAN;
    return expected > 0 ? deviations * sqrt(expected * (1 - expected) / (double)samples) : nothing / (double)samples;
}

bool as_trust_row_errs(const struct as_trust_row *row)
{
    return fabs(row->error) > row->chance;
}

void as_trust_worst_add(struct as_trust_worst *worst, const struct as_trust_row *row)
{
    if (isnan(row->error) || !as_trust_row_tells(row))
        return;
    if (as_trust_row_errs(row) && fabs(row->error) > fabs(worst->error)) {
        worst->error = row->error;
        snprintf(worst->which, sizeof worst->which, "%s", row->what);
    }
    if (worst->rows == 0 || row->chance > worst->chance) {
        worst->chance = row->chance;
        snprintf(worst->hidden, sizeof worst->hidden, "%s", row->what);
    }
    if (worst->rows == 0 || row->chance < worst->least_chance) {
        worst->least_chance = row->chance;
        snprintf(worst->least_hidden, sizeof worst->least_hidden, "%s", row->what);
    }
    worst->rows++;
}

const char *as_trust_how_right(const struct as_trust_worst *worst, char *text, size_t size)
{
    if (worst->rows == 0)
        snprintf(text, size, "not known: there are too few samples");
    else if (fabs(worst->error) > 0)
        snprintf(text, size, "%s %.1f %%", as_trust_right_to(worst->error), 100 * fabs(worst->error));
    else
        snprintf(text, size, "right as far as samples tell, to %.1f %%", 100 * worst->chance);
    return text;
}

/* ---- whether a verdict can be given ---- */

/* The value that chi-square exceeds once in a thousand times, after Wilson and Hilferty: 16.6 for three degrees of freedom,
 * where tables have 16.3. */
static double chi_square_limit(double freedom)
{
    const double one_in_thousand = 3.0902, part = 2 / (9 * freedom);
    return freedom * pow(1 - part + one_in_thousand * sqrt(part), 3);
}

bool as_trust_uneven(const uint64_t *at, size_t places)
{
    double all = 0, sum = 0;
    for (size_t i = 0; i < places; i++)
        all += (double)at[i];
    double fair = all / (double)places;
    for (size_t i = 0; i < places && all > 0; i++)
        sum += ((double)at[i] - fair) * ((double)at[i] - fair) / fair;
    return places > 1 && sum > chi_square_limit((double)places - 1);
}

bool as_trust_enough(struct as_trust_report *report, const char *experiment, uint64_t samples, uint64_t least)
{
    if (samples == 0)
        as_trust_say(report, "%s: no samples: nothing can be said", experiment);
    else if (samples < least)
        as_trust_say(report, "%s: %s sample%s: too few to tell", experiment, AS_COUNT(samples),
                     samples == 1 ? "" : "s");
    return samples > 0 && samples >= least;
}

bool as_trust_row_tells(const struct as_trust_row *row)
{
    return row->unit != AS_TRUST_SAMPLES ||
           (row->expected >= AS_TRUST_LEAST && (!(row->chance > 0.5) || as_trust_row_errs(row)));
}

bool as_trust_rows_enough(struct as_trust_report *report, const char *experiment, const char *said)
{
    bool any = false, enough = false;
    for (size_t i = 0; i < report->rows.len; i++) {
        const struct as_trust_row *row = &report->rows.data[i];
        if (strcmp(row->experiment, experiment) != 0)
            continue;
        any |= row->unit == AS_TRUST_SAMPLES ? row->got > 0 : !isnan(row->got);
        enough |= as_trust_row_tells(row);
    }
    if (!any)
        as_trust_say(report, "%s: no samples: nothing can be said", said);
    else if (!enough)
        as_trust_say(report, "%s: so few samples are due of each event that chance explains any error", said);
    return any && enough;
}

const char *as_trust_right_to(double worst)
{
    return fabs(worst) < 0.2 ? "right to" : "off by up to";
}

uint64_t as_trust_usual_period(const struct as_trust_subject *subject, uint64_t period)
{
    if (subject->machine && period < AS_TRUST_NATIVE_LEAST)
        period = AS_TRUST_NATIVE_LEAST;
    if (subject->machine && subject->pmu.kind == AS_PMU_IBS)
        return period & ~UINT64_C(15); /* its counter has no lower bits */
    return subject->pmu.kind == AS_PMU_SPE && period < subject->pmu.least_interval ? subject->pmu.least_interval
                                                                                   : period;
}
