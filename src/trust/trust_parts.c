/* See trust_parts.h. */
#include "trust/trust_parts.h"

#include "base/show.h"

#include <math.h>
#include <string.h>

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

void as_trust_set_counts(struct as_trust_row *row, double expected, const struct as_trust_several *several)
{
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
    return row->unit != AS_TRUST_SAMPLES || row->expected >= AS_TRUST_LEAST;
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
        as_trust_say(report, "%s: fewer than %d samples are due of each event: too few to tell", said, AS_TRUST_LEAST);
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
