/* Rows and verdicts. See trust.h. */
#include "trust/trust_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

const char *const as_trust_unit_names[] = {
    [AS_TRUST_SAMPLES] = "samples", [AS_TRUST_SHARE] = "share", [AS_TRUST_BYTES] = "bytes"};

void as_trust_report_free(struct as_trust_report *report)
{
    for (size_t i = 0; i < report->verdicts.len; i++)
        free(report->verdicts.data[i]);
    as_vec_free(&report->verdicts);
    as_vec_free(&report->rows);
}

struct as_trust_row *as_trust_add(struct as_trust_report *report, const char *experiment, const char *what)
{
    struct as_trust_row *row = as_vec_push(&report->rows);
    *row = (struct as_trust_row){
        .experiment = experiment, .expected = NAN, .got = NAN, .error = NAN, .spread = NAN, .chance = NAN};
    snprintf(row->what, sizeof row->what, "%s", what);
    return row;
}

void as_trust_say(struct as_trust_report *report, const char *format, ...)
{
    struct as_str text = {0};
    va_list args;
    va_start(args, format);
    as_str_vaddf(&text, format, args);
    va_end(args);
    *as_vec_push(&report->verdicts) = as_str_take(&text);
}

struct as_trust_probe as_trust_probe(const struct as_trust_subject *subject, const char *kernel, const char *event,
                                     uint64_t period)
{
    struct as_trust_probe probe = {
        .kernel = as_kernel_find(kernel), .events = {event}, .n_events = 1, .threads = 1, .period = period, .seed = 1};
    probe.options = probe.kernel->usual;
    if (subject->machine) { /* the kernel refuses to be interrupted as often as the model can be, and is much faster */
        probe.period = as_trust_usual_period(subject, period);
        probe.options.iterations *= AS_TRUST_NATIVE_TIMES * (probe.period / period ? probe.period / period : 1);
    }
    probe.options.riscv = subject->options->riscv;
    probe.options.iterations = probe.options.iterations * subject->options->scale / 100;
    if (probe.options.iterations < 100)
        probe.options.iterations = 100;
    return probe;
}

bool as_trust_has_kernel(const struct as_trust_subject *subject, const char *kernel)
{
    return !subject->options->riscv || as_kernel_find(kernel)->emit_riscv;
}

bool as_trust_supports(const struct as_trust_subject *subject, const struct as_trust_experiment *experiment)
{
    if (subject->machine && experiment->kinds & AS_TRUST_MODEL)
        return false;
    return experiment->kinds & (subject->timer ? AS_TRUST_TIMER : 1u << subject->pmu.kind);
}
