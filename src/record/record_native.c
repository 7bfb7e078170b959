/* The timer and pmu sources: writes the results of a native recording to a profile. See record_native.h. */
#include "record/record_native.h"

#include "base/alloc.h"
#include "base/path.h"
#include "engine/program.h"
#include "native/probe_parts.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
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

/* Whether only a part of the run was to be measured. */
static bool has_parts(const struct as_record *record)
{
    return record->options->delay > 0 || record->options->switches || as_native_regions_wanted(record->options);
}

/* By the clock: of the part that was measured. */
static double seconds_of(const struct as_record *record, const struct as_native_info *info)
{
    return has_parts(record) ? info->measured : info->seconds;
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
    as_store_add_meta_double(writer, AS_META_SECONDS, seconds_of(record, as_native_info(result->session)));
    add_machine(writer);
}

static const char *const words_of_bias[] = {
    "the kernel's task clock: interrupts arrive where the processor prefers to stop, so single instructions are biased "
    "while functions are not; it records no events, so there are no cycle stacks",
    "samples of the processor's events; cycle stacks need the model",
};

static void add_session_quality(const struct as_record *record, const struct as_native_info *info)
{
    struct as_store_writer *writer = record->writer;
    for (int i = 0; i < AS_NATIVE_NOTES && info->notes[i][0]; i++) {
        char key[32];
        snprintf(key, sizeof key, "note_%d", i + 1);
        as_store_add_quality(writer, key, NAN, info->notes[i]);
        as_notice(&record->options->notices, AS_LOG_NOTE, "%s", info->notes[i]);
    }
    if (!info->kernel)
        as_store_add_quality(writer, "user_only", NAN, "the samples do not include time in the kernel");
    if (info->processes_left)
        as_store_add_quality(writer, "left_running", (double)info->processes_left,
                             "processes that were still running when the recording had ended");
}

/* Adds the time without samples: threads shorter than a period, and what a thread ran after its last sample. */
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
                             "part of the counted time has no samples: threads that ran for less than a "
                             "period, and what threads ran after their last sample");
}

static void add_measured(const struct as_record *record, const struct as_native_info *info)
{
    char *text =
        as_format("part of the run was measured, by the clock (%s): %.3g of %.3g s in %" PRIu32 " piece%s",
                  record->options->region, info->measured, info->seconds, info->parts, info->parts == 1 ? "" : "s");
    as_store_add_quality(record->writer, "measured", info->measured / info->seconds, text);
    free(text);
}

/* All processes are recorded, and this one is among them. */
static void add_own_share(const struct as_record *record, const struct as_native_result *result)
{
    uint64_t all = as_import_count(result->import).samples;
    uint64_t own = as_import_samples_of(result->import, (uint32_t)getpid());
    if (!own || !all)
        return;
    char *text = as_format("part of the samples are of the recorder itself (process %d)", (int)getpid());
    as_store_add_quality(record->writer, "recorder", (double)own / (double)all, text);
    free(text);
}

static void add_quality(const struct as_record *record, const struct as_native_result *result, bool pmu)
{
    struct as_store_writer *writer = record->writer;
    as_store_add_quality(writer, pmu ? "pmu" : "timer", NAN, words_of_bias[pmu]);
    add_session_quality(record, as_native_info(result->session));
    if (has_parts(record))
        add_measured(record, as_native_info(result->session));
    add_unsampled(writer, result);
    if (record->options->system_wide)
        add_own_share(record, result);
    if (result->accesses)
        as_native_accesses_quality(result->accesses, writer);
}

/* ---- a run ---- */

static bool is_set_id(const char *program)
{
    char found[PATH_MAX];
    struct stat info;
    if (!strchr(program, '/') && as_path_search(program, found))
        program = found;
    return stat(program, &info) == 0 && info.st_mode & (S_ISUID | S_ISGID);
}

static void explain_no_part(const struct as_record *record, const struct as_native_info *info)
{
    const struct as_notices *notices = &record->options->notices;
    if (info->parts)
        as_notice(notices, AS_LOG_WARN,
                  "there are no samples: only %.2g s of the run were measured; a higher --rate may get some",
                  info->measured);
    else if (record->options->switches)
        as_notice(notices, AS_LOG_WARN,
                  "there are no samples: the program ended before a signal came (--switch-signal)");
    else if (as_native_regions_wanted(record->options))
        as_notice(notices, AS_LOG_WARN, "there are no samples: the program never reached the start of a region (%s)",
                  record->options->region);
    else
        as_notice(notices, AS_LOG_WARN, "there are no samples: the program ended before --delay (%g s)",
                  record->options->delay);
}

static void explain_no_samples(const struct as_record *record, const struct as_native_result *result)
{
    const struct as_notices *notices = &record->options->notices;
    if (record->options->system_wide) {
        as_notice(notices, AS_LOG_WARN, "there are no samples: a longer recording or a higher --rate may get some");
        return;
    }
    if (is_set_id(record->argv[0]) && geteuid() != 0)
        as_notice(notices, AS_LOG_WARN,
                  "there are no samples: the program is set-user-id, and the kernel removes other users' events when "
                  "it starts; record it as root");
    else if (has_parts(record))
        explain_no_part(record, as_native_info(result->session));
    else if (as_native_info(result->session)->counted == 0)
        as_notice(notices, AS_LOG_WARN, "there are no samples: it did not run, only waited");
    else
        as_notice(notices, AS_LOG_WARN,
                  "there are no samples: it used %.2g s of processor time; a higher --rate may get some",
                  as_native_info(result->session)->counted);
}

static void write_profile(const struct as_record *record, const struct as_native_plan *plan,
                          struct as_native_result *result, bool pmu)
{
    if (as_import_count(result->import).samples == 0)
        explain_no_samples(record, result);
    add_meta(record->writer, record, plan, result, pmu);
    if (record->options->pid)
        as_native_add_process(record);
    else if (record->options->system_wide)
        as_native_add_system(record);
    if (result->agent)
        as_record_agent_add(result, record);
    as_import_write(result->import, as_native_reader(result->session));
    add_quality(record, result, pmu);
}

static void describe_run(const struct as_record *record, struct as_record_run *run,
                         const struct as_native_result *result)
{
    run->result.end = result->end;
    run->row.seconds = seconds_of(record, as_native_info(result->session));
    run->row.samples = as_import_count(result->import).samples;
    run->row.status = result->end.exit_status;
}

static bool record_natively(const struct as_record *record, const struct as_native_plan *plan, bool pmu,
                            struct as_record_run *run, struct as_error *err)
{
    struct as_native_result result = {0};
    bool foreign = record->argv && record->argv[0] &&
                   as_program_is_foreign(record->argv[0], as_record_variable(record->options, "PATH"), err);
    bool ok = !foreign && as_native_execute(&result, record, plan, err);
    if (ok) {
        write_profile(record, plan, &result, pmu);
        describe_run(record, run, &result);
    }
    as_native_result_free(&result);
    return ok;
}

/* ---- the sources ---- */

static bool timer_possible(const struct as_record_options *options, struct as_error *err)
{
    struct as_native_plan plan;
    return as_native_plan_timer(&plan, options, err);
}

static bool run_timer(struct as_record *record, struct as_record_run *run, struct as_error *err)
{
    struct as_native_plan plan;
    return as_native_plan_timer(&plan, record->options, err) && record_natively(record, &plan, false, run, err);
}

static bool pmu_possible(const struct as_record_options *options, struct as_error *err)
{
    struct as_native_plan plan;
    return as_native_plan_pmu(&plan, options, err);
}

static bool run_pmu(struct as_record *record, struct as_record_run *run, struct as_error *err)
{
    struct as_native_plan plan;
    return as_native_plan_pmu(&plan, record->options, err) && record_natively(record, &plan, true, run, err);
}

const struct as_record_source as_record_timer = {.name = "timer", .possible = timer_possible, .run = run_timer};
const struct as_record_source as_record_pmu = {.name = "pmu", .possible = pmu_possible, .run = run_pmu};
