/* Kernels on this machine: under the kernel's clocks, or under its PMU through perf_event_open. See trust.h.
 *
 * A clock samples time: what it should say of an instruction is not known, only of runs of equal work, and of the whole. The
 * PMU's events are those of modelled units under the names that the processor has for them; what is expected is known from
 * the programs' code, as in the model. The PMU has not been run on hardware: the machines used for development have none. */
#include "base/signals.h"
#include "native/choose.h"
#include "native/event.h"
#include "native/session.h"
#include "perfdata/ibs_raw.h"
#include "trust/trust_parts.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- this machine's PMU as a subject ---- */

bool as_trust_open_machine(struct as_trust_subject *subject, const char *root, const struct as_probe *probe,
                           struct as_error *err)
{
    struct as_native_choice choice;
    struct as_pmu *pmu = &subject->pmu;
    if (!as_native_choose(root, probe, AS_NATIVE_PMU, AS_NATIVE_TIME, &choice, err))
        return false;
    bool pebs = strcmp(choice.how, "PEBS") == 0, ibs = strcmp(choice.how, "IBS op") == 0;
    if (!pebs && !ibs)
        return as_error_set(err, "the programs can qualify PEBS and IBS, and this machine has %s", choice.how);
    pmu->kind = pebs ? AS_PMU_PEBS : AS_PMU_IBS;
    pmu->counters = 4; /* that a hyper-thread has for itself from Nehalem on */
    pmu->pdir = pebs && probe->precise == 3;
    pmu->counts_ops = ibs;
    snprintf(pmu->name, sizeof pmu->name, "%s of this machine", pebs ? "PEBS" : "IBS");
    snprintf(pmu->description, sizeof pmu->description, "%s", probe->model);
    subject->machine = true;
    return true;
}

/* Generic events of the kernel, where it has one; else Intel's name with a colon, as libpfm4 writes it. */
const char *as_trust_native_event(const struct as_trust_subject *subject, const char *event, char *text, size_t size)
{
    static const char *const generic[] = {"instructions", "cycles", "loads", "stores", "branches", NULL};
    char name[64];
    snprintf(name, sizeof name, "%s", event);
    char *modifiers = strchr(name, ':');
    if (modifiers)
        *modifiers++ = '\0';
    const char *precise = modifiers && strcmp(modifiers, "ppp") == 0 ? "ppp" : "pp";
    const struct as_pmu_event *found = as_pmu_event_find(name);
    if (subject->options->stand_in)
        return subject->options->stand_in;
    if (subject->timer || !found)
        return event;
    if (subject->pmu.kind == AS_PMU_IBS)
        return found->counts == AS_COUNTS_CYCLES ? "ibs_op//" : "ibs_op/cnt_ctl=1/";
    for (size_t i = 0; generic[i]; i++)
        if (strcmp(generic[i], name) == 0) {
            snprintf(text, size, "%s:%s", name, precise);
            return text;
        }
    snprintf(text, size, "%s:%s", found->alias, precise);
    char *dot = strchr(text, '.');
    if (dot)
        *dot = ':';
    return text;
}

bool as_trust_has_event(const struct as_trust_subject *subject, const char *event)
{
    struct as_error ignored = AS_ERROR_INIT;
    struct as_native_event parsed;
    char text[96];
    return !subject->machine ||
           as_native_event_parse("", as_trust_native_event(subject, event, text, sizeof text), &parsed, &ignored);
}

/* ---- samples ---- */

struct counting {
    const struct as_trust_subject *subject;
    struct as_trust_result *result;
    double nanoseconds; /* that samples of a clock stand for */
    struct as_native_session *session;
};

/* What IBS tells of the operation. */
static void count_kind(struct as_trust_counts *counts, const struct as_perf_sample *sample,
                       const struct as_kernel_label *label, size_t number)
{
    struct as_ibs_op op;
    if (!as_ibs_op_decode(sample->raw, sample->raw_size, (struct as_ibs_cpu){0}, &op))
        return;
    counts->loads += op.load;
    counts->stores += op.store;
    counts->l1_misses += op.load && op.l1_miss;
    counts->locked += op.locked;
    counts->branches += op.branch;
    counts->taken += op.branch && op.taken;
    counts->returns += op.is_return;
    if (op.load && label && label->events >> AS_KERNEL_LOADS & 1)
        counts->loads_at[number]++;
    else if (op.load)
        counts->loads_elsewhere++;
}

static bool take(void *context, const struct as_perf_sample *sample, struct as_error *err)
{
    struct counting *counting = context;
    const struct as_kernel_code *code = &counting->result->code;
    struct as_trust_counts *counts = &counting->result->counts[as_native_sample_event(counting->session, sample)];
    uint64_t offset = sample->ip - AS_KERNEL_ADDRESS;
    counting->nanoseconds += as_native_weight(counting->session, sample);
    if (offset >= code->size)
        return true;
    size_t at = 0;
    while (at < code->n_labels && (offset < code->labels[at].offset || offset >= code->labels[at].end))
        at++;
    counts->samples++;
    if (at < code->n_labels)
        counts->at[at]++;
    if (sample->raw)
        count_kind(counts, sample, at < code->n_labels ? &code->labels[at] : NULL, at);
    return true;
}

/* ---- runs ---- */

/* Cycles of the processor's clock a second, as rdtsc counts them. */
static double clock_rate(void)
{
#ifdef __x86_64__
    struct timespec before, now;
    clock_gettime(CLOCK_MONOTONIC, &before);
    uint64_t start = __builtin_ia32_rdtsc();
    double seconds;
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
        seconds = (double)(now.tv_sec - before.tv_sec) + 1e-9 * (double)(now.tv_nsec - before.tv_nsec);
    } while (seconds < 0.01);
    return (double)(__builtin_ia32_rdtsc() - start) / seconds;
#else
    return 1e9;
#endif
}

/* In the signal handler. */
static void stop(void *context)
{
    struct as_native_session *session = *(struct as_native_session *const *)context;
    if (session)
        as_native_stop(session);
}

static bool measure(struct as_trust_subject *subject, const struct as_trust_probe *probe, char *const argv[],
                    struct as_trust_result *result, struct as_error *err)
{
    static const struct as_perf_sink sink = {.sample = take};
    struct as_native_event events[AS_PMU_COUNTERS_MAX];
    struct counting counting = {.subject = subject, .result = result};
    char text[96];
    for (size_t i = 0; i < probe->n_events; i++)
        if (!as_native_event_parse("", as_trust_native_event(subject, probe->events[i], text, sizeof text), &events[i],
                                   err))
            return false;
    struct as_native_options options = {.events = events,
                                        .n_events = probe->n_events,
                                        .period = probe->period,
                                        .mode = AS_NATIVE_ALLOWED,
                                        .stdout_to_stderr = true};
    if (subject->machine && subject->pmu.kind == AS_PMU_IBS)
        options.fields = PERF_SAMPLE_RAW;
    else if (subject->machine)
        options.mode = AS_NATIVE_USER;
    as_signals_catch(&(struct as_signals){.stop = stop, .context = &counting.session, .patience = 1});
    counting.session = as_native_launch(&options, argv, err);
    if (!counting.session) {
        as_signals_restore();
        return false;
    }
    as_signals_pass_to(as_native_pid(counting.session));
    bool ok = as_native_run(counting.session, &sink, &counting, err);
    if (as_signals_interrupts()) {
        if (as_native_wait_status(counting.session) == -1)
            kill(as_native_pid(counting.session), SIGKILL);
        ok = as_trust_interrupted(as_signals_last(), err);
    }
    as_signals_restore();
    const struct as_native_info *info = as_native_info(counting.session);
    result->seconds = info->seconds;
    result->bytes = info->rings * info->ring_bytes;
    if (subject->timer) {
        result->counts[0].happened = (uint64_t)(info->counted * 1e9);
        result->counts[0].nanoseconds = counting.nanoseconds;
    }
    as_native_close(counting.session);
    return ok;
}

struct command {
    char words[8][48];
    char *argv[9];
};

static void make_command(struct command *command, struct as_trust_subject *subject, const struct as_trust_probe *probe,
                         uint64_t iterations)
{
    const struct as_kernel_options *options = &probe->options;
    const struct {
        const char *key;
        uint64_t value;
    } pairs[] = {{"iterations", iterations},
                 {"ratio", options->ratio ? options->ratio : 1},
                 {"places", options->places ? options->places : 1},
                 {"nops", options->nops},
                 {"fence", options->fence},
                 {"threads", probe->threads ? probe->threads : 1}};
    *command = (struct command){.argv = {subject->program, (char *)probe->kernel->name}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        snprintf(command->words[i], sizeof command->words[i], "%s=%" PRIu64, pairs[i].key, pairs[i].value);
        command->argv[2 + i] = command->words[i];
    }
}

/* The same run with next to no samples. */
static bool time_without(struct as_trust_subject *subject, const struct as_trust_probe *probe, uint64_t iterations,
                         struct as_trust_result *result, struct as_error *err)
{
    struct as_trust_subject clock = *subject;
    struct as_trust_probe rare = {
        .kernel = probe->kernel, .events = {"task-clock"}, .n_events = 1, .period = 1000000007};
    struct command command;
    *result = (struct as_trust_result){0};
    clock.timer = true;
    clock.machine = false;
    make_command(&command, subject, probe, iterations);
    return measure(&clock, &rare, command.argv, result, err);
}

static double seconds_of(const struct as_trust_result *result, bool clock)
{
    return clock ? (double)result->counts[0].happened * 1e-9 : result->seconds;
}

/* What starting the program takes is not the kernel's. */
static bool time_kernel(struct as_trust_subject *subject, const struct as_trust_probe *probe,
                        struct as_trust_result *result, struct as_error *err)
{
    struct as_trust_result start, without;
    bool clock = subject->timer; /* then the processor's time is known, and others on the machine do not matter */
    if (!time_without(subject, probe, 1, &start, err) ||
        !time_without(subject, probe, probe->options.iterations, &without, err))
        return false;
    double before = seconds_of(&start, clock), alone = fmax(seconds_of(&without, clock) - before, 1e-9);
    result->overhead[AS_HANDLER_NONE] = (seconds_of(result, clock) - before) / alone - 1;
    result->cycles = (uint64_t)(alone * clock_rate());
    return true;
}

bool as_trust_run_native(struct as_trust_subject *subject, const struct as_trust_probe *probe,
                         struct as_trust_result *result, struct as_error *err)
{
    struct command command;
    *result = (struct as_trust_result){.code.bytes = as_alloc(AS_KERNEL_BYTES), .overhead = {NAN, NAN, NAN}};
    bool fits = as_kernel_build(probe->kernel, &probe->options, &result->code);
    free(result->code.bytes);
    result->code.bytes = NULL;
    if (!fits)
        return as_error_set(err, "so many nops do not fit into the kernel");
    make_command(&command, subject, probe, probe->options.iterations);
    subject->runs++;
    return measure(subject, probe, command.argv, result, err) &&
           (!probe->timed || time_kernel(subject, probe, result, err));
}
