/* What was added up, and what is known of the recording, as a profile has it. See import.h. */
#include "cmd/import.h"
#include "cmd/import_source.h"
#include "cmd/record_series.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>

/* ---- series ---- */

/* What a period counts: "cycles", "nanoseconds" for clocks, else the event without its modifiers. The caller frees. */
static char *unit_of(const struct as_perf_event *event)
{
    const char *name = event->name;
    bool clock = (event->type == PERF_TYPE_SOFTWARE && event->pmu == NULL && event->sample_type != 0 &&
                  (event->config == PERF_COUNT_SW_CPU_CLOCK || event->config == PERF_COUNT_SW_TASK_CLOCK)) ||
                 strncmp(name, "cpu-clock", 9) == 0 || strncmp(name, "task-clock", 10) == 0;
    if (clock)
        return as_strdup("nanoseconds");
    return as_strndup(name, strchr(name, '/') ? strlen(name) : strcspn(name, ":"));
}

struct names {
    struct as_strings *known;
    char *name;
};

/* Events may share a name; series must not. */
static const char *unique(struct names *names, const char *name, const char *suffix)
{
    for (unsigned i = 1;; i++) {
        free(names->name);
        names->name = i == 1 ? as_format("%s%s", name, suffix) : as_format("%s%s (%u)", name, suffix, i);
        size_t before = as_strings_count(names->known);
        if (as_strings_intern(names->known, names->name) == before)
            return names->name;
    }
}

/* perf adds an event that counts nothing, for the records that it brings. */
static bool is_series(const struct as_import *import, const struct as_perf_event *event)
{
    return import->series.data[event->index].samples || strncmp(event->name, "dummy", 5) != 0;
}

static void add_event_series(const struct as_import *import, const struct as_perf_event *event, struct names *names,
                             uint64_t sources)
{
    const struct as_import_series *sums = &import->series.data[event->index];
    const char *name = unique(names, event->name, "");
    char *unit = unit_of(event);
    char *description = as_format("samples of %s, each standing for its period", event->name);
    if (as_strings_count(names->known) == 1)
        as_store_add_meta(import->writer, AS_META_SERIES, name);
    if (as_strings_count(names->known) == 1 && strcmp(unit, "cycles") == 0)
        as_store_add_meta_u64(import->writer, AS_META_CYCLES, sums->units);
    as_store_add_series(import->writer, &(struct as_store_series){.name = name,
                                                                  .description = description,
                                                                  .unit = unit,
                                                                  .scale = 1,
                                                                  .event = event->name,
                                                                  .precise = (int32_t)event->precise,
                                                                  .period = event->period,
                                                                  .rate = (double)event->frequency,
                                                                  .samples = sums->samples,
                                                                  .lost = event->lost,
                                                                  .throttled = event->throttled,
                                                                  .events = sums->sources ? sources : 0});
    free(unit);
    free(description);
}

/* The weights of samples, mostly latencies in cycles, are a series of their own. */
static void add_weight_series(const struct as_import *import, const struct as_perf_event *event, struct names *names,
                              uint64_t sources)
{
    const struct as_import_series *sums = &import->series.data[event->index];
    as_store_add_series(import->writer,
                        &(struct as_store_series){.name = unique(names, event->name, " weight"),
                                                  .description = "the sampled weights: on most processors the latency "
                                                                 "of the access, in cycles",
                                                  .unit = "cycles",
                                                  .scale = 1,
                                                  .event = event->name,
                                                  .precise = (int32_t)event->precise,
                                                  .period = event->period,
                                                  .rate = (double)event->frequency,
                                                  .samples = sums->samples,
                                                  .lost = event->lost,
                                                  .throttled = event->throttled,
                                                  .events = sums->sources ? sources : 0});
}

/* ---- times ---- */

static uint64_t value_of(const struct as_import_sum *sum, bool weights)
{
    return weights ? sum->weight : sum->units;
}

/* All that one event's samples gave, as series number `series`. */
static void add_times(const struct as_import *import, uint32_t event, uint32_t series, bool weights)
{
    for (size_t i = 0; i < import->times.items.len; i++) {
        const struct as_import_sum *time = &import->times.items.data[i];
        const struct as_import_sum *spot = &import->spots.items.data[time->first];
        if (time->second == event)
            as_store_add_time(import->writer, &(struct as_store_time){series, spot->second, spot->first,
                                                                      value_of(time, weights), time->samples, 0});
    }
    for (size_t i = 0; import->series.data[event].sources && i < import->components.items.len; i++) {
        const struct as_import_sum *part = &import->components.items.data[i];
        const struct as_import_sum *time = &import->times.items.data[part->first];
        const struct as_import_sum *spot = &import->spots.items.data[time->first];
        if (time->second == event)
            as_store_add_component(import->writer,
                                   &(struct as_store_component){series, spot->second, spot->first,
                                                                import->masks.data[part->second],
                                                                value_of(part, weights), part->samples});
    }
    for (size_t i = 0; i < import->path_times.items.len; i++) {
        const struct as_import_sum *time = &import->path_times.items.data[i];
        const struct as_import_sum *path = &import->path_spots.items.data[time->first];
        const struct as_import_sum *spot = &import->spots.items.data[path->second];
        if (time->second == event)
            as_store_add_path_time(import->writer,
                                   &(struct as_store_path_time){series, spot->second, path->first, spot->first,
                                                                value_of(time, weights), time->samples});
    }
}

/* The error that the number of samples alone lets expect. */
static void add_estimates(const struct as_import *import, uint32_t event, uint32_t series)
{
    size_t n = import->code.function_of.len;
    struct as_map functions = {0};
    uint64_t *by_instruction = as_alloc_array(n + 1, sizeof(uint64_t)),
             *by_function = as_alloc_array(n + 1, sizeof(uint64_t));
    for (size_t i = 0; i < import->times.items.len; i++) {
        const struct as_import_sum *time = &import->times.items.data[i];
        uint32_t instruction = import->spots.items.data[time->first].first;
        if (time->second != event)
            continue;
        uint64_t *group = as_map_put(&functions, import->code.function_of.data[instruction]);
        *group = *group ? *group : functions.len;
        by_instruction[instruction] += time->units;
        by_function[*group - 1] += time->units;
    }
    const double errors[] = {as_record_sampling_error(by_instruction, n, import->series.data[event].samples),
                             as_record_sampling_error(by_function, functions.len, import->series.data[event].samples)};
    static const char *const names[] = {"instruction", "function"};
    for (size_t i = 0; i < 2; i++)
        if (!isnan(errors[i]))
            as_store_add_estimate(import->writer, &(struct as_store_estimate){series, "estimate", names[i], errors[i]});
    as_map_free(&functions);
    free(by_instruction);
    free(by_function);
}

static void add_threads(const struct as_import *import)
{
    for (size_t i = 0; i < import->threads.len; i++) {
        const struct as_import_thread *thread = &import->threads.data[i];
        as_store_add_thread(import->writer,
                            &(struct as_store_thread){.number = thread->tid == UINT32_MAX ? 0 : thread->tid,
                                                      .process = thread->pid == UINT32_MAX ? 0 : thread->pid,
                                                      .name = thread->name,
                                                      .samples = thread->samples});
    }
}

/* Series in their order: the events, then the weights of those that have some. */
static void add_series(const struct as_import *import, const struct as_perf_reader *reader)
{
    struct names names = {.known = as_strings_new()};
    uint64_t sources = 0;
    uint32_t n = (uint32_t)import->series.len, series = 0;
    for (size_t i = 0; i < import->masks.len; i++)
        sources |= import->masks.data[i];
    as_import_source_events(import->writer, sources);
    for (uint32_t i = 0; i < n; i++)
        if (is_series(import, as_perf_reader_event(reader, i)))
            add_event_series(import, as_perf_reader_event(reader, i), &names, sources);
    for (uint32_t i = 0; i < n; i++)
        if (import->series.data[i].weights)
            add_weight_series(import, as_perf_reader_event(reader, i), &names, sources);
    for (uint32_t i = 0; i < n; i++)
        if (is_series(import, as_perf_reader_event(reader, i))) {
            add_times(import, i, series, false);
            add_estimates(import, i, series++);
        }
    for (uint32_t i = 0; i < n; i++)
        if (import->series.data[i].weights)
            add_times(import, i, series++, true);
    as_strings_free(names.known);
    free(names.name);
}

/* ---- about the recording ---- */

static void add_note(const struct as_import *import, const char *key, uint64_t count, const char *text)
{
    if (count)
        as_store_add_quality(import->writer, key, (double)count, text);
}

static void add_quality(const struct as_import *import, const struct as_perf_reader *reader)
{
    const struct as_perf_summary *summary = as_perf_reader_summary(reader);
    uint64_t in_files = import->matched + import->unmatched;
    add_note(import, "lost", summary->lost, "records that the kernel lost: the buffer was full");
    add_note(import, "lost_samples", summary->lost_samples, "samples that the processor or the kernel lost");
    add_note(import, "throttled", summary->throttled, "times that the kernel stopped an event that came too often");
    add_note(import, "bad_samples", summary->bad_samples, "samples too short for what they should hold: left out");
    add_note(import, "unknown_ids", summary->unknown_ids, "samples of no known event: left out");
    add_note(import, "out_of_order", summary->out_of_order, "records that came after later ones");
    add_note(import, "skipped_lines", summary->skipped_lines, "lines that are neither sample nor frame: left out");
    add_note(import, "trace_bytes", summary->aux_bytes, "bytes of processor trace (PT, SPE): not kept");
    add_note(import, "stack_dumps", import->stack_dumps, "samples with a copy of the stack: not unwound, not kept");
    add_note(import, "stray_frames", import->stray_frames,
             "frames of call chains at addresses where nothing was mapped: left out (no frame pointers?)");
    if (import->unmatched && in_files)
        as_store_add_quality(import->writer, "unmatched_files", (double)import->unmatched / (double)in_files,
                             "part of the samples in files that are not here as they were recorded: no function names, "
                             "no instructions");
}

/* What samples had that a profile has no place for by instruction. */
static void add_counters(const struct as_import *import, const struct as_perf_reader *reader)
{
    const struct as_perf_summary *summary = as_perf_reader_summary(reader);
    as_store_add_counter(import->writer, "samples", summary->samples);
    if (import->branch_stacks) {
        as_store_add_counter(import->writer, "branch_stacks", import->branch_stacks);
        as_store_add_counter(import->writer, "branch_entries", import->branches);
        as_store_add_counter(import->writer, "branch_mispredicted", import->mispredicted);
        as_store_add_counter(import->writer, "branch_cycles", import->branch_cycles);
    }
    for (uint32_t i = 0; i < AS_PERF_RECORD_TYPES; i++) {
        const char *name = as_perf_record_name(i);
        char text[64];
        if (!name || !summary->records[i])
            continue;
        snprintf(text, sizeof text, "record_%s", name);
        as_store_add_counter(import->writer, text, summary->records[i]);
    }
}

static void add_machine(const struct as_import *import, const struct as_perf_info *info)
{
    char number[32];
    as_store_add_meta(import->writer, AS_META_HOST, info->host);
    as_store_add_meta(import->writer, AS_META_ARCH, info->arch);
    as_store_add_meta(import->writer, AS_META_CORE, info->cpu ? info->cpu : info->cpu_id);
    if (info->cpu_id)
        as_store_add_machine(import->writer, "cpu_id", info->cpu_id);
    if (info->os_release)
        as_store_add_machine(import->writer, "kernel", info->os_release);
    if (info->version)
        as_store_add_machine(import->writer, "perf", info->version);
    if (info->cpus_online) {
        snprintf(number, sizeof number, "%" PRIu32, info->cpus_online);
        as_store_add_machine(import->writer, "processors", number);
    }
    if (info->memory_kib) {
        snprintf(number, sizeof number, "%" PRIu64, info->memory_kib);
        as_store_add_machine(import->writer, "memory_kib", number);
    }
}

/* The command line begins with perf's own options, and nobody can tell where they end: the thread with most samples
 * has the program's name. */
static const char *program_of(const struct as_import *import)
{
    const struct as_import_thread *most = NULL;
    for (size_t i = 0; i < import->threads.len; i++)
        if (import->threads.data[i].name && (!most || import->threads.data[i].samples > most->samples))
            most = &import->threads.data[i];
    return most ? most->name : NULL;
}

static void add_meta(const struct as_import *import, const struct as_perf_reader *reader, const char *path)
{
    static const char *const formats[] = {[AS_PERF_FILE] = "perf.data",
                                          [AS_PERF_PIPE] = "perf.data in pipe mode",
                                          [AS_PERF_SCRIPT] = "text of perf script"};
    const struct as_perf_info *info = as_perf_reader_info(reader);
    const struct as_perf_summary *summary = as_perf_reader_summary(reader);
    char *why = as_format("%s, from %s", formats[info->format], strcmp(path, "-") == 0 ? "standard input" : path);
    as_store_add_meta(import->writer, AS_META_SOURCE, "import");
    as_store_add_meta(import->writer, AS_META_SOURCE_WHY, why);
    as_store_add_meta(import->writer, AS_META_ASSAY, AS_VERSION);
    as_store_add_meta(import->writer, AS_META_PROGRAM, program_of(import));
    as_store_add_meta(import->writer, "command", info->command);
    if (summary->last_time != AS_PERF_NO_TIME && summary->last_time > summary->first_time)
        as_store_add_meta_double(import->writer, AS_META_SECONDS,
                                 (double)(summary->last_time - summary->first_time) * 1e-9);
    if (summary->incomplete)
        as_store_add_meta(import->writer, AS_META_PARTIAL,
                          summary->problem[0] ? summary->problem : "the recording ends early");
    add_machine(import, info);
    free(why);
}

void as_import_write(struct as_import *import, const struct as_perf_reader *reader, const char *path)
{
    add_meta(import, reader, path);
    add_threads(import);
    add_series(import, reader);
    add_counters(import, reader);
    add_quality(import, reader);
}
