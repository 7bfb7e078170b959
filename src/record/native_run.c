/* A native recording, from the start of the program (or attaching to it) to its end. See record_native.h.
 *
 * Interrupts: after the first, the recording of a launched program continues to its end; the second ends the recording.
 * If attached to a process, the first interrupt ends the recording and the process continues.
 */
#include "base/signals.h"
#include "native/probe_parts.h"
#include "record/record_native.h"

#include <math.h>
#include <stdlib.h>

/* ---- interruptions ---- */

static void stop(void *context)
{
    struct as_native_session *session = atomic_load(&((struct as_native_result *)context)->watched);
    if (session)
        as_native_stop(session);
}

/* Installed before the program starts, so that a signal can never end only the recorder and leave the program alone. */
static void catch_signals(struct as_native_result *result, bool attach)
{
    as_signals_catch(
        &(struct as_signals){.attached = attach, .stop = stop, .context = result, .patience = attach ? 1 : 2});
}

/* Called when the program runs: signals are passed to it from here on. */
static void watch_session(struct as_native_result *result)
{
    atomic_store(&result->watched, result->session);
    if (as_native_pid(result->session) > 0)
        as_signals_pass_to(as_native_pid(result->session));
}

/* ---- the sink: that of an import; if accesses were asked for, after the search for accesses ---- */

static bool take_event(void *context, const struct as_perf_event *event, struct as_error *err)
{
    return as_import_sink.event(((struct as_native_result *)context)->import, event, err);
}

static bool take_process(void *context, const struct as_perf_process *process, struct as_error *err)
{
    struct as_native_result *result = context;
    result->execs += process->kind == AS_PERF_COMM && process->exec;
    if (result->accesses)
        as_native_accesses_process(result->accesses, process);
    return as_import_sink.process(result->import, process, err);
}

static bool take_ksymbol(void *context, const struct as_perf_ksymbol *symbol, struct as_error *err)
{
    return as_import_sink.ksymbol(((struct as_native_result *)context)->import, symbol, err);
}

static bool take_sample(void *context, const struct as_perf_sample *sample, struct as_error *err)
{
    struct as_native_result *result = context;
    if (result->accesses)
        as_native_accesses_sample(result->accesses, sample);
    return as_import_sink.sample(result->import, sample, err);
}

static bool take_switch(void *context, const struct as_perf_switch *change, struct as_error *err)
{
    return as_import_sink.context_switch(((struct as_native_result *)context)->import, change, err);
}

static bool take_aux(void *context, const struct as_perf_aux *aux, struct as_error *err)
{
    return as_import_sink.aux(((struct as_native_result *)context)->import, aux, err);
}

static const struct as_perf_sink native_sink = {.event = take_event,
                                                .process = take_process,
                                                .ksymbol = take_ksymbol,
                                                .sample = take_sample,
                                                .context_switch = take_switch,
                                                .aux = take_aux};

/* ---- running ---- */

static void tell_switch(void *context, bool measures)
{
    const struct as_record *record = context;
    as_notice(&record->options->notices, AS_LOG_DEBUG, measures ? "measuring starts" : "measuring stops");
}

static void open_import(struct as_native_result *result, const struct as_record *record)
{
    struct as_import_options options = {.writer = record->writer,
                                        .info = as_perf_reader_info(as_native_reader(result->session)),
                                        .spaces = {.live = true, .debug_path = record->options->engine.debug_path},
                                        .unwind = result->unwind,
                                        .addresses = record->options->accesses,
                                        .start = as_native_start(result->session),
                                        .notices = record->options->notices};
    char most[32];
    if (as_probe_read("", "/proc/sys/kernel/perf_event_max_stack", most, sizeof most))
        options.max_stack = (uint32_t)strtoul(most, NULL, 10);
    result->import = as_import_open(&options);
    if (record->options->accesses)
        result->accesses = as_native_accesses_new(result->import, record->options->seed);
}

static bool deliver(struct as_native_result *result, const struct as_record *record, struct as_error *err)
{
    open_import(result, record);
    bool ok = as_native_run(result->session, &native_sink, result, err);
    as_import_finish(result->import);
    if (result->accesses)
        as_native_accesses_finish(result->accesses, &record->options->notices);
    return ok || as_store_writer_failed(record->writer); /* commit reports what is wrong with the file */
}

static void describe_end(struct as_native_result *result, bool attached)
{
    int status = as_native_wait_status(result->session);
    result->end.running = !attached && status == -1;
    result->end.interrupted = result->end.running && as_signals_interrupts() > 0; /* one is enough in the background */
    if (status != -1)
        as_run_end_take(&result->end, status);
    result->end.asked = status != -1 && !attached && as_signals_interrupts() > 0;
    result->end.asked_by = as_signals_last();
}

/* Whether there is a program to start: a process that runs already has none, and the whole machine may have none. */
static bool starts_program(const struct as_record_options *options)
{
    return !options->pid && options->argv && options->argv[0];
}

static struct as_native_session *open_session(const struct as_record *record, const struct as_native_options *options,
                                              struct as_error *err)
{
    if (record->options->pid)
        return as_native_attach(options, (pid_t)record->options->pid, err);
    return starts_program(record->options) ? as_native_launch(options, record->argv, err)
                                           : as_native_watch(options, err);
}

bool as_native_execute(struct as_native_result *result, const struct as_record *record,
                       const struct as_native_plan *plan, struct as_error *err)
{
    bool attach = !starts_program(record->options);
    struct as_native_options options = plan->options;
    options.on_switch = tell_switch;
    result->unwind = plan->unwind;
    options.switch_context = (void *)record;
    if (record->options->allocations && !as_record_agent_open(result, record, err))
        return false;
    if (result->agent)
        options.environment = as_agent_environment(result->agent);
    catch_signals(result, attach);
    result->session = open_session(record, &options, err);
    if (!result->session) {
        as_signals_restore();
        return false;
    }
    watch_session(result);
    if (record->options->pid)
        as_notice(&record->options->notices, AS_LOG_DEBUG, "attached to process %d", (pid_t)record->options->pid);
    if (!isnan(record->options->duration))
        as_signals_alarm(record->options->duration);
    bool ok = deliver(result, record, err);
    describe_end(result, attach); /* before signals that come too late for the run */
    as_signals_shield();
    return ok;
}

void as_native_result_free(struct as_native_result *result)
{
    as_native_accesses_free(result->accesses);
    as_import_free(result->import);
    as_native_close(result->session);
    as_agent_close(result->agent);
}
