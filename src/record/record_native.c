/* The timer and pmu sources: what a native recording gives, as a profile. See record_native.h. */
#include "record/record_native.h"
#include "record/input.h"

#include "base/log.h"
#include "base/path.h"
#include "native/probe_parts.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the profile ---- */

static void add_machine(struct as_store_writer *writer)
{
    struct as_probe probe = {0};
    struct utsname name = {0};
    char number[32];
    as_probe_processor("", &probe);
    if (uname(&name) == 0) {
        as_store_add_meta(writer, AS_META_ARCH, name.machine);
        as_store_add_machine(writer, "kernel", name.release);
    }
    as_store_add_meta(writer, AS_META_CORE, probe.model[0] ? probe.model : "this processor");
    if (probe.hypervisor[0])
        as_store_add_machine(writer, "hypervisor", probe.hypervisor);
    snprintf(number, sizeof number, "%d", probe.processors);
    as_store_add_machine(writer, "processors", number);
}

static void add_meta(struct as_store_writer *writer, const struct as_record *record, const struct as_native_plan *plan,
                     const struct as_native_result *result, bool pmu)
{
    const struct as_perf_event *first = as_perf_reader_event(as_native_reader(result->session), 0);
    as_store_add_meta(writer, AS_META_SOURCE, pmu ? "pmu" : "timer");
    if (strcmp(record->options->source, "auto") != 0) {
        char *why = as_format("asked for: %s", plan->how);
        as_store_add_meta(writer, AS_META_SOURCE_WHY, why);
        free(why);
    }
    if (first->period)
        as_store_add_meta_u64(writer, AS_META_PERIOD, first->period);
    if (pmu && record->options->random)
        as_store_add_meta_u64(writer, AS_META_RANDOM, 1);
    if (!isnan(record->options->rate) || !first->period)
        as_store_add_meta_double(writer, AS_META_RATE,
                                 isnan(record->options->rate) ? (double)first->frequency : record->options->rate);
    as_store_add_meta_double(writer, AS_META_SECONDS, as_native_info(result->session)->seconds);
    add_machine(writer);
}

static const char *const words_of_bias[] = {
    "the kernel's task clock: interrupts arrive where the processor likes to stop, so single instructions are biased "
    "where functions are not; it sees no events, so there are no cycle stacks",
    "samples of the processor's events; cycle stacks need the model",
};

static void add_session_quality(struct as_store_writer *writer, const struct as_native_info *info)
{
    for (int i = 0; i < AS_NATIVE_NOTES && info->notes[i][0]; i++) {
        char key[32];
        snprintf(key, sizeof key, "note_%d", i + 1);
        as_store_add_quality(writer, key, NAN, info->notes[i]);
        as_log_note("%s", info->notes[i]);
    }
    if (!info->kernel)
        as_store_add_quality(writer, "user_only", NAN, "time in the kernel is not among the samples");
    if (info->processes_left)
        as_store_add_quality(writer, "left_running", (double)info->processes_left,
                             "processes that went on when the recording had ended");
}

/* What no sample stands for: threads shorter than a period, and what a thread ran since its last sample. */
static void add_unsampled(struct as_store_writer *writer, const struct as_native_result *result)
{
    const struct as_native_info *info = as_native_info(result->session);
    double sampled = 1e-9 * (double)as_import_count(result->import).units;
    as_store_add_counter(writer, "threads", info->threads);
    if (info->counted <= 0)
        return;
    as_store_add_counter(writer, "task_clock_nanoseconds", (uint64_t)(info->counted * 1e9));
    if (info->kernel && info->counted > sampled)
        as_store_add_quality(writer, "not_sampled", (info->counted - sampled) / info->counted,
                             "part of the counted time that no sample stands for: threads that ran for less than a "
                             "period, and what threads ran since their last sample");
}

static void add_quality(struct as_store_writer *writer, const struct as_native_result *result, bool pmu)
{
    as_store_add_quality(writer, pmu ? "pmu" : "timer", NAN, words_of_bias[pmu]);
    add_session_quality(writer, as_native_info(result->session));
    add_unsampled(writer, result);
    if (result->accesses)
        as_native_accesses_quality(result->accesses, writer);
}

/* ---- the end ---- */

static void describe_end(struct as_record *record, const struct as_native_result *result)
{
    struct as_engine_result *end = &record->engine;
    int status = as_native_wait_status(result->session);
    struct as_import_counts counts = as_import_count(result->import);
    *end = (struct as_engine_result){.started = true,
                                     .region_reached = true,
                                     .interrupted = result->interrupted,
                                     .seconds = as_native_info(result->session)->seconds,
                                     .processes = (uint32_t)counts.processes,
                                     .threads = (uint32_t)counts.threads,
                                     .left_running = (uint32_t)as_native_info(result->session)->processes_left};
    if (status != -1 && WIFSIGNALED(status))
        end->signal = WTERMSIG(status);
    if (status != -1)
        end->exit_status = end->signal ? 128 + end->signal : WEXITSTATUS(status);
}

static bool is_set_id(const char *program)
{
    char found[PATH_MAX];
    struct stat info;
    if (!strchr(program, '/') && as_path_search(program, found))
        program = found;
    return stat(program, &info) == 0 && info.st_mode & (S_ISUID | S_ISGID);
}

static void add_run(struct as_record *record, const struct as_native_result *result)
{
    uint64_t samples = as_import_count(result->import).samples;
    *as_vec_push(&record->runs) = (struct as_store_run){.number = 1,
                                                        .samples = samples,
                                                        .seconds = as_native_info(result->session)->seconds,
                                                        .status = record->engine.exit_status};
    if (samples == 0 && is_set_id(record->argv[0]) && geteuid() != 0)
        as_log_warn(
            "there are no samples: the program is set-user-id, and the kernel takes the events of others away when "
            "it starts; as root it can be recorded");
    else if (samples == 0)
        as_log_warn("there are no samples: it used %.2g s of processor time; a higher --rate may get some",
                    as_native_info(result->session)->counted);
}

/* A failure ends the further runs, not the profile. */
static void repeat(struct as_record *record, const struct as_native_plan *plan, const struct as_input *input)
{
    struct as_error err = AS_ERROR_INIT;
    for (uint64_t i = 1; i < record->options->repeat && !record->engine.interrupted; i++) {
        struct as_store_run run = {.number = (uint32_t)i + 1};
        as_input_rewind(input);
        if (!as_native_repeat(record, plan, &run, &err)) {
            as_log_warn("run %" PRIu64 " of %" PRIu64 ": %s; the profile has the runs before it", i + 1,
                        record->options->repeat, err.message);
            return;
        }
        *as_vec_push(&record->runs) = run;
    }
}

static bool record_natively(struct as_record *record, const struct as_native_plan *plan, bool pmu, struct as_error *err)
{
    struct as_native_result result = {0};
    struct as_input input = {.start = -1};
    bool ok =
        (record->options->repeat < 2 || as_input_keep(&input, err)) && as_native_execute(&result, record, plan, err);
    if (ok) {
        describe_end(record, &result);
        add_run(record, &result);
        add_meta(record->writer, record, plan, &result, pmu);
        if (record->options->pid)
            as_native_add_process(record);
        if (result.agent)
            as_record_agent_add(&result, record->writer);
        as_import_write(result.import, as_native_reader(result.session));
        add_quality(record->writer, &result, pmu);
    }
    as_native_result_free(&result);
    if (ok)
        repeat(record, plan, &input);
    return ok;
}

static int report_end(const struct as_record *record)
{
    const struct as_engine_result *end = &record->engine;
    if (end->interrupted)
        as_log_warn("interrupted: this is what was recorded until then; the program still runs");
    else if (end->signal)
        as_log_warn("the program was killed by signal %d (%s): this is what ran until then", end->signal,
                    strsignal(end->signal));
    return end->interrupted ? 128 + SIGINT : end->exit_status;
}

/* ---- the sources ---- */

static bool timer_possible(const struct as_record_options *options, struct as_error *err)
{
    struct as_native_plan plan;
    return as_native_plan_timer(&plan, options, err);
}

static bool run_timer(struct as_record *record, struct as_error *err)
{
    struct as_native_plan plan;
    return as_native_plan_timer(&plan, record->options, err) && record_natively(record, &plan, false, err);
}

static bool pmu_possible(const struct as_record_options *options, struct as_error *err)
{
    struct as_native_plan plan;
    return as_native_plan_pmu(&plan, options, err);
}

static bool run_pmu(struct as_record *record, struct as_error *err)
{
    struct as_native_plan plan;
    return as_native_plan_pmu(&plan, record->options, err) && record_natively(record, &plan, true, err);
}

const struct as_record_source as_record_timer = {
    .name = "timer", .possible = timer_possible, .run = run_timer, .report = report_end};
const struct as_record_source as_record_pmu = {
    .name = "pmu", .possible = pmu_possible, .run = run_pmu, .report = report_end};
