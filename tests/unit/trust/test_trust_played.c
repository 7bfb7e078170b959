/* All that every experiment says of every kind of subject, against tests/golden/trust_played.txt: runs are played here, in place of
 * trust_run.c. What single numbers should be, test_trust_experiments.c says. */
#include "unit.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/random.h"
#include "trust/trust.h"
#include "unit_golden.h"

#include <inttypes.h>
#include <math.h>

/* Numbers that follow from the probe alone, and are right for none: near what a right sampler would say, and off by as much as a bad one. */
static void play(const struct as_trust_probe *probe, struct as_trust_result *result)
{
    uint64_t seed = as_random_hash(probe->period ^ (uint64_t)probe->options.nops << 32) + probe->seed + probe->handler;
    for (size_t e = 0; e < probe->n_events; e++) {
        struct as_trust_counts *counts = &result->counts[e];
        seed += strlen(probe->events[e]);
        counts->happened = probe->options.iterations * (1 + as_random_below(&seed, 3));
        counts->samples =
            (uint64_t)((double)counts->happened / (double)probe->period * (0.8 + 0.5 * as_random_fraction(&seed)));
        for (size_t i = 0; i < result->code.n_labels; i++) {
            counts->at[i] = counts->samples / result->code.n_labels + as_random_below(&seed, 1 + counts->samples / 4);
            counts->loads_at[i] = counts->at[i] / 2;
        }
        counts->loads = counts->samples / 3 + as_random_below(&seed, 20);
        counts->l1_misses = counts->loads / 4;
        counts->locked = counts->loads / 5;
        counts->stores = counts->samples / 6;
        counts->branches = counts->samples / 7 + as_random_below(&seed, 20);
        counts->taken = counts->branches / 2;
        counts->returns = counts->branches / 9;
        counts->locked_in_user = counts->locked / 2;
        counts->loads_elsewhere = as_random_below(&seed, 50);
        counts->nanoseconds = (double)counts->samples * 1e6;
    }
    result->cycles = probe->options.iterations * 20 + as_random_below(&seed, 10000);
    result->instructions = probe->options.iterations * 15;
    result->seconds = 0.5 + 0.1 * as_random_fraction(&seed);
    for (size_t i = 0; i < AS_HANDLER_COUNT; i++)
        result->overhead[i] = 0.1 * (double)(i + 1) * as_random_fraction(&seed);
    result->overhead_spread = 0.01;
    result->bytes = 64 * (1 + as_random_below(&seed, 10000));
}

/* What all runs were asked to do, in their order, as one number. */
static uint64_t asked;

static void note_probe(const struct as_trust_probe *probe)
{
    const struct as_kernel_options *options = &probe->options;
    char text[512];
    int n = snprintf(
        text, sizeof text,
        "%016" PRIx64 " %s %" PRIu64 " %u %u %u %d %d, %u threads, every %" PRIu64 " from %" PRIu64 ", %d %d:", asked,
        probe->kernel->name, options->iterations, options->ratio, options->places, options->nops, options->fence,
        options->riscv, probe->threads, probe->period, probe->seed, (int)probe->handler, probe->timed);
    for (size_t i = 0; i < probe->n_events; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %s", probe->events[i]);
    asked = as_hash_bytes(text, (size_t)n);
}

bool as_trust_run(struct as_trust_subject *subject, const struct as_trust_probe *probe, struct as_trust_result *result,
                  struct as_error *err)
{
    *result = (struct as_trust_result){.code.bytes = as_alloc(AS_KERNEL_BYTES)};
    assert_true(as_kernel_build(probe->kernel, &probe->options, &result->code));
    free(result->code.bytes);
    result->code.bytes = NULL;
    subject->runs++;
    note_probe(probe);
    play(probe, result);
    return true;
}

bool as_trust_has_event(const struct as_trust_subject *subject, const char *event)
{
    return true;
}

static const struct as_trust_options options = {.scale = 100, .runs = 3};

static struct as_trust_subject subject_of(enum as_pmu_kind kind)
{
    return (struct as_trust_subject){
        .options = &options,
        .pmu = {.kind = kind, .counters = 4, .multiplex = 4000, .least_interval = 1024, .counts_ops = true}};
}

/* What is not a number has no sign. */
static double plain(double value)
{
    return isnan(value) ? fabs(value) : value;
}

static void write_experiment(struct as_trust_subject *subject, const struct as_trust_experiment *experiment, FILE *out)
{
    struct as_trust_report report = {0};
    struct as_error err = AS_ERROR_INIT;
    asked = 0;
    assert_true(experiment->run(subject, &report, &err));
    fprintf(out, "%s: %d runs by now, asked for %016" PRIx64 "\n", experiment->name, (int)subject->runs, asked);
    for (size_t i = 0; i < report.rows.len; i++) {
        const struct as_trust_row *row = &report.rows.data[i];
        fprintf(out, "  %s, %s: %.5g of %.5g %s, off by %.4f, spread %.4f, chance %.4f\n", row->what, row->setting,
                plain(row->got), plain(row->expected), as_trust_unit_names[row->unit], plain(row->error),
                plain(row->spread), plain(row->chance));
    }
    for (size_t i = 0; i < report.verdicts.len; i++)
        fprintf(out, "  => %s\n", report.verdicts.data[i]);
    as_trust_report_free(&report);
}

static void write_shadows(struct as_trust_subject *subject, FILE *out)
{
    for (size_t i = 0; i < AS_TRUST_SHADOWS; i++) {
        struct as_trust_shadow shadow = {0};
        struct as_error err = AS_ERROR_INIT;
        if (!as_trust_has_shadow(subject, i))
            continue;
        assert_true(as_trust_find_shadow(subject, i, &shadow, &err));
        fprintf(out, "shadow of %s in %s: %u nops,%s%s %d samples, %.4g cycles, %.4f to %.4f, fair %.4f, cost %.4f\n",
                shadow.event, shadow.kernel, shadow.nops, shadow.even ? " even," : "", shadow.few ? " few," : "",
                (int)shadow.samples, shadow.cycles, shadow.before, shadow.after, shadow.fair, shadow.cost);
    }
}

/* Shorter runs leave out what would have too few samples. */
static void write_shorter(FILE *out)
{
    static const struct as_trust_options shorter = {.scale = 20, .runs = 1};
    unit_golden_section(out, "a fifth as long");
    for (enum as_pmu_kind kind = 0; kind < AS_PMU_KINDS; kind++) {
        struct as_trust_subject subject = subject_of(kind);
        subject.options = &shorter;
        for (size_t i = 0; i < as_trust_experiments_count; i++)
            if (strcmp(as_trust_experiments[i].name, "interval") == 0)
                write_experiment(&subject, &as_trust_experiments[i], out);
    }
}

/* Everything that each kind of subject supports, against tests/golden/trust_played.txt. */
static void all_experiments(void **state)
{
    FILE *out = unit_golden_begin();
    for (int kind = 0; kind < AS_PMU_KINDS + 2; kind++) {
        struct as_trust_subject subject = subject_of(kind < AS_PMU_KINDS ? (enum as_pmu_kind)kind : AS_PMU_PEBS);
        subject.timer = kind == AS_PMU_KINDS;
        subject.machine = kind == AS_PMU_KINDS + 1;
        unit_golden_section(out, "%s",
                            subject.timer     ? "a clock"
                            : subject.machine ? "a machine's unit"
                                              : as_pmu_kind_names[kind]);
        for (size_t i = 0; i < as_trust_experiments_count; i++)
            if (as_trust_supports(&subject, &as_trust_experiments[i]))
                write_experiment(&subject, &as_trust_experiments[i], out);
        if (kind == AS_PMU_PEBS)
            write_shadows(&subject, out);
    }
    write_shorter(out);
    unit_golden_check(out, "trust_played.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_experiments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
