/* Kernels on this machine, under the kernel's task clock. See trust.h. The clock samples time: what it should say of an
 * instruction is not known, only of runs of equal work, and of the whole. */
#include "native/event.h"
#include "native/session.h"
#include "trust/trust.h"

#include <inttypes.h>
#include <stdio.h>

struct counting {
    struct as_trust_result *result;
    double nanoseconds; /* that samples stand for */
    struct as_native_session *session;
};

static bool take(void *context, const struct as_perf_sample *sample, struct as_error *err)
{
    struct counting *counting = context;
    struct as_trust_counts *counts = &counting->result->counts[0];
    uint64_t offset = sample->ip - AS_KERNEL_ADDRESS;
    counting->nanoseconds += as_native_weight(counting->session, sample);
    if (offset >= counting->result->code.size)
        return true;
    counts->samples++;
    for (size_t i = 0; i < counting->result->code.n_labels; i++)
        if (offset >= counting->result->code.labels[i].offset && offset < counting->result->code.labels[i].end)
            counts->at[i]++;
    return true;
}

static bool measure(struct as_trust_subject *subject, const struct as_trust_probe *probe, char *const argv[],
                    struct as_trust_result *result, struct as_error *err)
{
    static const struct as_perf_sink sink = {.sample = take};
    struct as_native_event event;
    struct counting counting = {.result = result};
    if (!as_native_event_parse("", probe->events[0], &event, err))
        return false;
    struct as_native_options options = {
        .events = &event, .n_events = 1, .period = probe->period, .mode = AS_NATIVE_ALLOWED, .stdout_to_stderr = true};
    counting.session = as_native_launch(&options, argv, err);
    if (!counting.session)
        return false;
    bool ok = as_native_run(counting.session, &sink, &counting, err);
    const struct as_native_info *info = as_native_info(counting.session);
    result->seconds = info->seconds;
    result->counts[0].happened = (uint64_t)(info->counted * 1e9);
    result->counts[0].nanoseconds = counting.nanoseconds;
    as_native_close(counting.session);
    return ok;
}

bool as_trust_run_timer(struct as_trust_subject *subject, const struct as_trust_probe *probe,
                        struct as_trust_result *result, struct as_error *err)
{
    char iterations[48], places[32], nops[32], fence[16], ratio[32];
    *result = (struct as_trust_result){.code.bytes = as_alloc(AS_KERNEL_BYTES)};
    bool fits = as_kernel_build(probe->kernel, &probe->options, &result->code);
    free(result->code.bytes);
    result->code.bytes = NULL;
    if (!fits)
        return as_error_set(err, "so many nops do not fit into the kernel");
    snprintf(iterations, sizeof iterations, "iterations=%" PRIu64, probe->options.iterations);
    snprintf(ratio, sizeof ratio, "ratio=%u", probe->options.ratio ? probe->options.ratio : 1);
    snprintf(places, sizeof places, "places=%u", probe->options.places ? probe->options.places : 1);
    snprintf(nops, sizeof nops, "nops=%u", probe->options.nops);
    snprintf(fence, sizeof fence, "fence=%d", probe->options.fence);
    char *argv[] = {subject->program, (char *)probe->kernel->name, iterations, ratio, places, nops, fence, NULL};
    subject->runs++;
    return measure(subject, probe, argv, result, err);
}
