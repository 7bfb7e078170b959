/* What samples of this machine's PMU are counted as, and the commands and overheads of native runs: with a session of this file's own, whose
 * samples, seconds and ends are made up. */
#include "native/choose.h"
#include "native/session.h"
#include "perfdata/ibs_raw.h"
#include "trust/trust_parts.h"
#include "unit.h"
#include "unit_golden.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>

/* ---- the session ---- */

static FILE *out;
static struct as_native_info info;
static const double *seconds; /* of the next run, and of those behind it; NULL: what info has */
static size_t n_samples;
static struct as_perf_sample samples[2000];
static bool refused, fails;

bool as_native_choose(const char *root, const struct as_probe *probe, enum as_native_source source,
                      enum as_native_want want, struct as_native_choice *choice, struct as_error *err)
{
    return as_error_set(err, "not here");
}

bool as_native_event_parse(const char *root, const char *text, struct as_native_event *event, struct as_error *err)
{
    *event = (struct as_native_event){0};
    fprintf(out, "event %s\n", text);
    return strcmp(text, "none") != 0 || as_error_set(err, "no event '%s'", text);
}

struct as_native_session *as_native_launch(const struct as_native_options *options, char *const argv[],
                                           struct as_error *err)
{
    fprintf(out, "%zu events, period %" PRIu64 ", mode %d, fields %" PRIx64 ", to stderr %d:", options->n_events,
            options->period, options->mode, options->fields, options->stdout_to_stderr);
    for (; *argv; argv++)
        fprintf(out, " %s", *argv);
    fputc('\n', out);
    if (refused)
        as_error_set(err, "refused");
    return refused ? NULL : (struct as_native_session *)&info;
}

bool as_native_run(struct as_native_session *session, const struct as_perf_sink *sink, void *context,
                   struct as_error *err)
{
    if (seconds)
        info.seconds = info.counted = *seconds++;
    for (size_t i = 0; i < n_samples; i++)
        assert_true(sink->sample(context, &samples[i], err));
    return !fails || as_error_set(err, "failed");
}

const struct as_native_info *as_native_info(const struct as_native_session *session)
{
    return &info;
}

size_t as_native_sample_event(const struct as_native_session *session, const struct as_perf_sample *sample)
{
    return sample->cpu; /* what the test gave it */
}

double as_native_weight(const struct as_native_session *session, const struct as_perf_sample *sample)
{
    return (double)sample->weight;
}

pid_t as_native_pid(const struct as_native_session *session)
{
    return 0;
}

int as_native_wait_status(const struct as_native_session *session)
{
    return 0;
}

static unsigned closed;

void as_native_close(struct as_native_session *session)
{
    closed++;
}

void as_native_stop(struct as_native_session *session)
{
}

bool as_trust_interrupted(int signal, struct as_error *err)
{
    return as_error_set(err, "interrupted");
}

/* ---- samples ---- */

enum { OP_CTL, OP_RIP, OP_DATA, OP_DATA2, OP_DATA3, OP_REGISTERS = 7, RAW = 4 + 8 * OP_REGISTERS };
#define BIT(n) (UINT64_C(1) << (n))

/* Operations of each kind: a branch (taken, a return), a load (that missed, locked), a store. */
static const uint64_t kinds[][2] = {{0, 0},
                                    {0, BIT(0)},
                                    {0, BIT(0) | BIT(7)},
                                    {0, BIT(7)},
                                    {0, BIT(1)},
                                    {0, BIT(0) | BIT(1) | BIT(15)},
                                    {BIT(37), 0},
                                    {BIT(37) | BIT(35), 0},
                                    {BIT(35), 0},
                                    {BIT(37) | BIT(34) | BIT(35), BIT(0)}};
enum { KINDS = sizeof kinds / sizeof *kinds };
static uint8_t raws[KINDS][RAW];

static void make_raws(void)
{
    for (size_t kind = 0; kind < KINDS; kind++)
        for (unsigned i = 0; i < 8; i++) {
            raws[kind][4 + 8 * OP_DATA + i] = (uint8_t)(kinds[kind][0] >> 8 * i);
            raws[kind][4 + 8 * OP_DATA3 + i] = (uint8_t)(kinds[kind][1] >> 8 * i);
        }
}

static void add_sample(uint64_t offset, int kind, uint32_t event)
{
    assert_true(n_samples < sizeof samples / sizeof *samples);
    samples[n_samples++] = (struct as_perf_sample){.ip = AS_KERNEL_ADDRESS + offset,
                                                   .cpu = event,
                                                   .weight = 10,
                                                   .raw = kind >= 0 ? raws[kind] : NULL,
                                                   .raw_size = kind >= 0 ? RAW : 0};
}

/* At the ends of each label, and around them, of each kind as often as its number says; and outside of the code. */
static void add_samples(const struct as_kernel *kernel, const struct as_kernel_options *options)
{
    struct as_kernel_code code = {.bytes = as_alloc(AS_KERNEL_BYTES)};
    assert_true(as_kernel_build(kernel, options, &code));
    make_raws();
    n_samples = 0;
    for (size_t i = 0; i < code.n_labels; i++)
        for (int kind = -1; kind < KINDS; kind++) {
            add_sample(code.labels[i].offset, kind, 0);
            add_sample(code.labels[i].end - 1, kind, (uint32_t)(kind & 1));
            add_sample(code.labels[i].end, kind, 0);
        }
    add_sample(0, 1, 1);
    add_sample(code.size - 1, 1, 1);
    add_sample(code.size, 1, 1);
    add_sample(UINT64_MAX, 1, 1);
    samples[0].raw_size = 3; /* too short to say anything */
    free(code.bytes);
}

/* ---- runs ---- */

static void show_counts(const struct as_trust_counts *counts)
{
    fprintf(out,
            "%" PRIu64 " happened, %" PRIu64 " samples, %g ns, %" PRIu64 " loads, %" PRIu64 " misses, %" PRIu64
            " locked, %" PRIu64 " stores, %" PRIu64 " branches, %" PRIu64 " taken, %" PRIu64 " returns, %" PRIu64
            " loads elsewhere\n  at",
            counts->happened, counts->samples, counts->nanoseconds, counts->loads, counts->l1_misses, counts->locked,
            counts->stores, counts->branches, counts->taken, counts->returns, counts->loads_elsewhere);
    for (size_t i = 0; i < AS_KERNEL_LABELS; i++)
        if (counts->at[i] || counts->loads_at[i])
            fprintf(out, " %zu:%" PRIu64 "/%" PRIu64, i, counts->at[i], counts->loads_at[i]);
    fputc('\n', out);
}

static struct as_trust_options options = {.scale = 100, .runs = 1, .machine = true};

static struct as_trust_subject subject_of(enum as_pmu_kind kind, bool timer)
{
    struct as_trust_subject subject = {.options = &options, .machine = !timer, .timer = timer};
    subject.pmu.kind = kind;
    snprintf(subject.program, sizeof subject.program, "/bin/qualify");
    return subject;
}

static void run(struct as_trust_subject *subject, const struct as_trust_probe *probe)
{
    struct as_error err = AS_ERROR_INIT;
    struct as_trust_result result;
    closed = 0;
    if (!as_trust_run_native(subject, probe, &result, &err)) {
        fprintf(out, "%s\n", err.message);
        return;
    }
    for (size_t i = 0; i < 2; i++)
        show_counts(&result.counts[i]);
    fprintf(out,
            "%g seconds, %" PRIu64 " bytes, overhead %.4f %.4f %.4f, %d labels, %" PRIu64
            " runs, closed %u, bytes kept %d\n",
            result.seconds, result.bytes, result.overhead[0], result.overhead[1], result.overhead[2],
            (int)result.code.n_labels, subject->runs, closed, result.code.bytes != NULL);
    assert_true(!probe->timed || result.cycles > 0);
}

static struct as_trust_probe probe_of(const char *kernel)
{
    struct as_trust_probe probe = {
        .kernel = as_kernel_find(kernel), .events = {"instructions", "cycles"}, .n_events = 2};
    assert_non_null(probe.kernel);
    probe.options = probe.kernel->usual;
    probe.options.iterations = 1000;
    probe.period = 10007;
    return probe;
}

static void each_kernel(void)
{
    for (size_t i = 0; i < AS_KERNEL_COUNT; i++) {
        struct as_trust_subject subject = subject_of(i % 3 ? AS_PMU_IBS : AS_PMU_PEBS, i % 4 == 3);
        struct as_trust_probe probe = probe_of(as_kernels[i].name);
        unit_golden_section(out, "%s", as_kernels[i].name);
        add_samples(probe.kernel, &probe.options);
        info = (struct as_native_info){.seconds = 1.5, .counted = 1.25, .rings = 3, .ring_bytes = 4096};
        run(&subject, &probe);
    }
}

/* Options are the program's words; what is not said is one. */
static void words(void)
{
    struct as_trust_subject subject = subject_of(AS_PMU_IBS, false);
    struct as_trust_probe probe = probe_of("accuracy");
    unit_golden_section(out, "words");
    n_samples = 0;
    probe.options = (struct as_kernel_options){.iterations = 7};
    run(&subject, &probe);
    probe.options = (struct as_kernel_options){.iterations = 8, .ratio = 2, .places = 3, .nops = 4, .fence = 1};
    probe.threads = 5;
    run(&subject, &probe);
    probe.options.nops = 1 << 30;
    run(&subject, &probe);
}

/* What starting the program takes counts neither with samples nor without. */
static void timed(void)
{
    static const double runs[] = {2.0, 0.25, 1.5, 3.0, 0.5, 0.25};
    struct as_trust_probe probe = probe_of("accuracy");
    n_samples = 0;
    probe.timed = true;
    for (int timer = 0; timer < 2; timer++) {
        struct as_trust_subject subject = subject_of(AS_PMU_PEBS, timer);
        unit_golden_section(out, "timed by %s", timer ? "the processor's clock" : "the wall's");
        for (size_t i = 0; i < 4; i += 3) {
            seconds = runs + i;
            run(&subject, &probe);
        }
        seconds = NULL;
    }
}

static void failures(void)
{
    struct as_trust_subject subject = subject_of(AS_PMU_IBS, true);
    struct as_trust_probe probe = probe_of("accuracy");
    unit_golden_section(out, "failures");
    probe.events[1] = "none";
    run(&subject, &probe);
    probe.n_events = 1;
    refused = true;
    run(&subject, &probe);
    refused = false;
    fails = true;
    run(&subject, &probe);
    fails = false;
    fprintf(out, "closed %u\n", closed);
}

static void native_runs(void **state)
{
    out = unit_golden_begin();
    each_kernel();
    words();
    timed();
    failures();
    unit_golden_check(out, "trust_samples.txt");
}

/* What a subject's events are called; whether there is one. */
static void events(void **state)
{
    static const char *const names[] = {"instructions", "cycles:ppp",       "branches:p", "stores", "loads",
                                        "l1-miss",      "locked-loads:ppp", "own-event",  "none"};
    out = unit_golden_begin();
    for (int kind = 0; kind < 3; kind++) {
        struct as_trust_subject subject = subject_of(kind ? AS_PMU_IBS : AS_PMU_PEBS, kind == 2);
        unit_golden_section(out, "kind %d", kind);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            char text[96];
            fprintf(out, "%s is %s\n", names[i], as_trust_native_event(&subject, names[i], text, sizeof text));
            fprintf(out, "… %d\n", as_trust_has_event(&subject, names[i]));
        }
    }
    unit_golden_check(out, "trust_events.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(native_runs), cmocka_unit_test(events)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
