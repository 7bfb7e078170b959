/* See trust_parts.h. */
#include "trust/trust_parts.h"

#include <math.h>

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

uint64_t as_trust_usual_period(const struct as_trust_subject *subject, uint64_t period)
{
    if (subject->machine && period < AS_TRUST_NATIVE_LEAST)
        period = AS_TRUST_NATIVE_LEAST;
    if (subject->machine && subject->pmu.kind == AS_PMU_IBS)
        return period & ~UINT64_C(15); /* its counter has no lower bits */
    return subject->pmu.kind == AS_PMU_SPE && period < subject->pmu.least_interval ? subject->pmu.least_interval
                                                                                   : period;
}
