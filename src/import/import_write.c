/* Writes the sums, and what is known about the recording, to the profile. See import.h. */
#include "import/import_internal.h"
#include "score/confidence.h"
#include "score/rows_by_chance.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>

/* ---- series ---- */

/* The unit of a period; the caller frees. */
static char *unit_of(const struct as_perf_event *event, const struct as_import_tagging *tagging)
{
    const char *counts = as_import_unit_counts(tagging);
    return counts ? as_strdup(counts) : as_perf_event_unit(event);
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

/* The event that a report shows first: the one with the most samples. */
static uint32_t main_event(const struct as_import *import)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < import->series.len; i++)
        if (!import->series.data[i].own &&
            (import->series.data[most].own || import->series.data[i].samples > import->series.data[most].samples))
            most = i;
    return most;
}

static void add_own_series(const struct as_import *import, const struct as_import_series *sums, struct names *names)
{
    as_store_add_series(import->writer, &(struct as_store_series){.name = unique(names, sums->own->name, ""),
                                                                  .description = sums->own->description,
                                                                  .unit = sums->own->unit,
                                                                  .scale = 1,
                                                                  .precise = -1,
                                                                  .samples = sums->samples});
}

/* IBS, SPE, TIP and TEA record the exact instruction, whatever precise level was asked for. */
static int32_t precise_of(const struct as_perf_event *event, const struct as_import_tagging *tagging)
{
    bool applies = !as_perf_event_is_clock(event) && (tagging->unit == AS_IMPORT_PLAIN || event->precise > 0);
    return applies ? (int32_t)event->precise : -1;
}

static void add_event_series(const struct as_import *import, const struct as_perf_event *event, struct names *names,
                             uint64_t met)
{
    const struct as_import_series *sums = &import->series.data[event->index];
    const char *name = unique(names, event->name, "");
    char *unit = unit_of(event, &sums->tagging);
    char *description = as_import_unit_text(&sums->tagging, event);
    bool is_main = event->index == main_event(import);
    if (is_main)
        as_store_add_meta(import->writer, AS_META_SERIES, name);
    if (is_main && strcmp(unit, "cycles") == 0)
        as_store_add_meta_u64(import->writer, AS_META_CYCLES, sums->units);
    as_store_add_series(import->writer, &(struct as_store_series){.name = name,
                                                                  .description = description,
                                                                  .unit = unit,
                                                                  .scale = 1,
                                                                  .event = event->name,
                                                                  .precise = precise_of(event, &sums->tagging),
                                                                  .period = event->period,
                                                                  .rate = (double)event->frequency,
                                                                  .samples = sums->samples,
                                                                  .lost = event->lost,
                                                                  .throttled = event->throttled,
                                                                  .events = sums->components ? met : 0});
    free(unit);
    free(description);
}

static void add_measure_series(const struct as_import *import, const struct as_perf_event *event,
                               const struct as_import_measure *measure, struct names *names, uint64_t met)
{
    const struct as_import_series *sums = &import->series.data[event->index];
    const struct as_import_kind_text *text = &as_import_kind_texts[measure->kind];
    char *suffix = as_format(" %s", text->name);
    as_store_add_series(import->writer, &(struct as_store_series){.name = unique(names, event->name, suffix),
                                                                  .description = text->description,
                                                                  .unit = text->unit,
                                                                  .scale = 1,
                                                                  .event = event->name,
                                                                  .precise = precise_of(event, &sums->tagging),
                                                                  .period = event->period,
                                                                  .rate = (double)event->frequency,
                                                                  .samples = measure->samples,
                                                                  .lost = event->lost,
                                                                  .throttled = event->throttled,
                                                                  .events = sums->components ? met : 0});
    free(suffix);
}

/* ---- times ---- */

/* Items of sums by event, or measure: those of event e are order[start[e]] … order[start[e + 1] - 1]. */
struct by_event {
    uint32_t *order;
    size_t *start;
};

struct ordered {
    const struct as_import_table *table;
    struct by_event times, components, path_times;
};

/* `of` maps the items' first number to an event, for items that do not have one themselves. */
static struct by_event order_items(const struct as_import_sums *sums, const struct as_import_sums *of, size_t events)
{
    struct by_event result = {.order = as_alloc_array(sums->items.len + 1, sizeof(uint32_t)),
                              .start = as_alloc_array(events + 2, sizeof(size_t))};
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < sums->items.len; i++) {
            const struct as_import_sum *item = &sums->items.data[i];
            uint32_t event = of ? of->items.data[item->first].second : item->second;
            if (pass == 0)
                result.start[event + 2]++;
            else
                result.order[result.start[event + 1]++] = (uint32_t)i;
        }
        for (size_t e = 2; pass == 0 && e < events + 2; e++)
            result.start[e] += result.start[e - 1];
    }
    return result;
}

static struct ordered order_all(const struct as_import_table *table, size_t events)
{
    return (struct ordered){.table = table,
                            .times = order_items(&table->times, NULL, events),
                            .components = order_items(&table->components, &table->times, events),
                            .path_times = order_items(&table->path_times, NULL, events)};
}

static void free_ordered(struct ordered *ordered)
{
    struct by_event *all[] = {&ordered->times, &ordered->components, &ordered->path_times};
    for (size_t i = 0; i < 3; i++) {
        free(all[i]->order);
        free(all[i]->start);
    }
}

static const struct as_import_sum *cell_of(const struct as_import *import, const struct as_import_sum *time)
{
    return &import->cells.items.data[time->first];
}

/* Writes everything that the samples of one event or measure gave, as series number `series`. */
static void add_times(const struct as_import *import, const struct ordered *ordered, uint32_t number, uint32_t series,
                      bool components)
{
    const struct as_import_table *table = ordered->table;
    const struct by_event *by = &ordered->times;
    for (size_t i = by->start[number]; i < by->start[number + 1]; i++) {
        const struct as_import_sum *time = &table->times.items.data[by->order[i]], *cell = cell_of(import, time);
        as_store_add_time(import->writer,
                          &(struct as_store_time){series, cell->second, cell->first, time->units, time->samples, 0});
    }
    by = &ordered->components;
    for (size_t i = by->start[number]; components && i < by->start[number + 1]; i++) {
        const struct as_import_sum *part = &table->components.items.data[by->order[i]];
        const struct as_import_sum *cell = cell_of(import, &table->times.items.data[part->first]);
        as_store_add_component(import->writer, &(struct as_store_component){series, cell->second, cell->first,
                                                                            import->masks.data[part->second],
                                                                            part->units, part->samples});
    }
    by = &ordered->path_times;
    for (size_t i = by->start[number]; i < by->start[number + 1]; i++) {
        const struct as_import_sum *time = &table->path_times.items.data[by->order[i]];
        const struct as_import_sum *path = &import->path_cells.items.data[time->first];
        const struct as_import_sum *cell = &import->cells.items.data[path->second];
        as_store_add_path_time(import->writer, &(struct as_store_path_time){series, cell->second, path->first,
                                                                            cell->first, time->units, time->samples});
    }
}

/* Adds the errors that follow from the number of samples alone. */
static void add_estimates(const struct as_import *import, const struct ordered *ordered, uint32_t event,
                          uint32_t series)
{
    static const double nearly_all = 0.999;
    struct as_row_sums sums = {0};
    const struct by_event *by = &ordered->times;
    const struct as_import_series *own = &import->series.data[event];
    double samples = as_effective_samples((double)own->units, own->squares);
    for (size_t i = by->start[event]; i < by->start[event + 1]; i++) {
        const struct as_import_sum *time = &ordered->table->times.items.data[by->order[i]];
        uint32_t instruction = cell_of(import, time)->first;
        const struct as_import_insn *insn = &import->code.instructions.data[instruction];
        as_row_sums_add(&sums, &(struct as_row_samples){.instruction = instruction,
                                                        .file = insn->file,
                                                        .line = insn->line,
                                                        .function = insn->function,
                                                        .module = insn->module,
                                                        .units = time->units,
                                                        .samples = time->samples});
    }
    for (size_t i = 0; i < AS_ROW_LEVELS; i++) {
        bool known = i != AS_ROW_LINE || sums.lines;
        double error = own->own && known ? 0 /* the series is exact */ : as_row_sums_error(&sums, i, samples);
        if (!isnan(error))
            as_store_add_estimate(import->writer,
                                  &(struct as_store_estimate){series, "estimate", as_row_level_names[i], error});
    }
    as_row_sums_free(&sums);
    if (!own->own && own->samples > 0 && samples < nearly_all * (double)own->samples)
        as_store_add_estimate(
            import->writer, &(struct as_store_estimate){series, "effective", "sample", samples / (double)own->samples});
}

/* The kernel's idle loop is thread 0 of process 0; no record names it. */
static const char *name_of(const struct as_import_thread *thread)
{
    return !thread->name && thread->pid == 0 && thread->tid == 0 ? "swapper" : thread->name;
}

/* A process goes by its first thread, which may have slept all the time, or have another name since its samples. */
static void add_first_threads(struct as_import *import)
{
    for (size_t i = 0, n = import->threads.len; i < n; i++) {
        uint32_t pid = import->threads.data[i].pid;
        const char *name = pid != 0 && pid != UINT32_MAX ? as_perf_spaces_comm(import->spaces, pid, pid) : NULL;
        size_t known = import->thread_numbers.len;
        if (name)
            as_import_thread(import, pid, pid, name);
        import->named_alone += import->thread_numbers.len - known;
    }
}

static void add_threads(const struct as_import *import)
{
    for (size_t i = 0; i < import->threads.len; i++) {
        const struct as_import_thread *thread = &import->threads.data[i];
        as_store_add_thread(import->writer,
                            &(struct as_store_thread){.number = thread->tid == UINT32_MAX ? 0 : thread->tid,
                                                      .process = thread->pid == UINT32_MAX ? 0 : thread->pid,
                                                      .name = name_of(thread),
                                                      .samples = thread->samples});
    }
}

/* The numbers of measures follow those of the events' series. */
static void add_measures(const struct as_import *import, uint32_t series)
{
    struct ordered ordered = order_all(&import->by_measure, import->measures.len);
    for (uint32_t i = 0; i < import->measures.len; i++, series++) {
        const struct as_import_measure *measure = &import->measures.data[i];
        add_times(import, &ordered, i, series, import->series.data[measure->event].components);
        if (as_import_kind_texts[measure->kind].of_access)
            as_import_write_accesses(import, measure->event, series, true);
    }
    free_ordered(&ordered);
}

/* A series has the number of its event. */
static void add_events(struct as_import *import)
{
    uint32_t n = (uint32_t)import->series.len;
    struct ordered ordered = order_all(&import->by_event, n);
    for (uint32_t i = 0; i < n; i++) {
        add_times(import, &ordered, i, i, import->series.data[i].components);
        as_import_write_accesses(import, i, i, false);
        as_import_write_branches(import, i, i);
        add_estimates(import, &ordered, i, i);
    }
    free_ordered(&ordered);
    add_measures(import, n);
    as_import_write_moments(import, n);
}

/* Series in their order: the events, then the measures. */
static void add_series(struct as_import *import, const struct as_perf_reader *reader)
{
    struct names names = {.known = as_strings_new()};
    uint64_t met = 0;
    for (size_t i = 0; i < import->masks.len; i++)
        met |= import->masks.data[i];
    bool tea = import->series.len == 1 && import->series.data[0].tagging.unit == AS_IMPORT_TEA;
    if (tea)
        as_import_tea_events(import->writer);
    else
        as_import_source_events(import->writer, met);
    for (uint32_t i = 0; i < import->series.len; i++)
        if (import->series.data[i].own)
            add_own_series(import, &import->series.data[i], &names);
        else
            add_event_series(import, as_perf_reader_event(reader, i), &names, met);
    for (size_t i = 0; i < import->measures.len; i++) {
        const struct as_import_measure *measure = &import->measures.data[i];
        add_measure_series(import, as_perf_reader_event(reader, measure->event), measure, &names, met);
    }
    add_events(import);
    as_strings_free(names.known);
    free(names.name);
}

/* ---- about the recording ---- */

static void add_note(const struct as_import *import, const char *key, uint64_t count, const char *text)
{
    if (count)
        as_store_add_quality(import->writer, key, (double)count, text);
}

/* For software events Linux stores one id for all events that count the same thing, so a page fault that two events
 * sample is recorded twice with the id of one (seen with 6.18 and page-faults,page-faults:u). */
static void add_same_events(const struct as_import *import, const struct as_perf_reader *reader)
{
    size_t n = as_perf_reader_events(reader);
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            const struct as_perf_event *a = as_perf_reader_event(reader, i), *b = as_perf_reader_event(reader, k);
            if (a->type != PERF_TYPE_SOFTWARE || b->type != PERF_TYPE_SOFTWARE || a->config != b->config ||
                !a->sample_type || a->config == PERF_COUNT_SW_DUMMY || as_perf_event_is_clock(a))
                continue;
            char *text =
                as_format("%s and %s are the same event: the kernel may assign the samples of both to one of them",
                          a->name, b->name);
            as_store_add_quality(import->writer, "same_event", NAN, text);
            as_notice(&import->options.notices, AS_LOG_NOTE, "%s", text);
            free(text);
            return; /* one notice is enough */
        }
}

static const char *why_alone(const struct as_import *import)
{
    if (import->lone_generated > import->lone_chains / 2)
        return "part of the call chains in user code have no caller: most of them are in code that the program made "
               "while it ran, "
               "which "
               "has no unwind tables; runtimes keep frame pointers when asked (java -XX:+PreserveFramePointer)";
    if (import->walked + import->unwalked)
        return "part of the call chains in user code have no caller: neither unwind tables nor frame pointers led to "
               "one, or a "
               "thread "
               "begins there";
    return "part of the call chains in user code have no caller: the code was built without frame pointers "
           "(--call-graph=dwarf "
           "unwinds "
           "it), or a thread begins there";
}

/* Why a recording may have no samples. */
static const char *why_empty(const struct as_perf_reader *reader, const struct as_perf_summary *summary)
{
    size_t n = as_perf_reader_events(reader), dummies = 0;
    for (size_t i = 0; i < n; i++) {
        const char *name = as_perf_reader_event(reader, i)->name;
        dummies += name && strncmp(name, "dummy", strlen("dummy")) == 0;
    }
    if (summary->incomplete)
        return "no samples: the recording breaks off before the first of them";
    if (summary->aux_bytes)
        return "no samples: what was recorded is processor trace, which Assay does not decode";
    if (n > 0 && dummies == n)
        return "no samples: dummy events take none; they only record which programs and files there were";
    return "no samples: the program ended before the first one was due, or its event was never counted";
}

static void add_quality(const struct as_import *import, const struct as_perf_reader *reader)
{
    const struct as_perf_summary *summary = as_perf_reader_summary(reader);
    if (as_import_count(import).samples == 0)
        as_store_add_quality(import->writer, "no_samples", NAN, why_empty(reader, summary));
    uint64_t in_files = import->matched + import->unmatched;
    add_note(import, "lost", summary->lost, "records that the kernel lost: the buffer was full");
    add_note(import, "lost_samples", summary->lost_samples, "samples that the processor or the kernel lost");
    add_note(import, "throttled", summary->throttled,
             "times that the kernel throttled an event because it came too often");
    add_note(import, "bad_samples", summary->bad_samples, "samples that are shorter than their contents: left out");
    add_note(import, "huge_periods", import->huge_periods,
             "samples with a period too large to be true: the recording is damaged");
    add_note(import, "unknown_ids", summary->unknown_ids, "samples of unknown events: left out");
    add_note(import, "out_of_order", summary->out_of_order, "records that came out of order");
    add_note(import, "skipped_lines", summary->skipped_lines, "lines that are neither a sample nor a frame: skipped");
    add_note(import, "trace_bytes", summary->aux_bytes > import->spe.bytes ? summary->aux_bytes - import->spe.bytes : 0,
             "bytes of processor trace, which is not decoded: left out");
    add_note(import, "trace_truncated", summary->aux_truncated,
             "times that trace data (SPE) was lost: its buffer was full");
    add_note(import, "trace_collisions", summary->aux_collisions,
             "pieces of trace data (SPE) in which an operation was not sampled, because it collided with another");
    add_note(import, "stray_frames", import->stray_frames,
             "frames of call chains at addresses where nothing was mapped: left out (no frame pointers?)");
    as_import_write_ways(import);
    as_import_write_cuts(import);
    add_same_events(import, reader);
    if (import->lone_chains)
        as_store_add_quality(import->writer, "lone_chains", (double)import->lone_chains / (double)import->chains,
                             why_alone(import));
    if (import->made_roots)
        as_store_add_quality(import->writer, "made_chains", (double)import->made_roots / (double)import->chains,
                             "part of the call chains end in code that the program made while it ran, which has no "
                             "unwind tables: who called it is not known, and totals of outer functions are too small");
    if (import->guessed)
        as_store_add_quality(import->writer, "guessed_names",
                             (double)import->guessed / (double)(in_files + import->other),
                             "part of the samples are in code that the program made where it had made other functions "
                             "before, and nothing tells which of them ran: they have the name of the last one. Files "
                             "/tmp/perf-PID.map have no times; those of a jitdump need perf record -k mono");
    add_note(import, "raw_bad", import->raw.bad,
             "samples of IBS or TEA whose raw data is too short: only their addresses are used");
    add_note(import, "raw_invalid", import->raw.invalid,
             "IBS samples that the processor marked as not valid: only their addresses are used");
    as_import_spe_quality(import);
    as_import_write_data_quality(import);
    if (import->unwalked)
        as_store_add_quality(import->writer, "not_unwound",
                             (double)import->unwalked / (double)(import->walked + import->unwalked),
                             "part of the stack copies could not be unwound beyond the first frame");
    if (import->unmatched && in_files)
        as_store_add_quality(import->writer, "unmatched_files",
                             (double)import->unmatched / (double)(in_files + import->other),
                             "part of the samples are in files that are missing or have changed: no function names, "
                             "no instructions. assay import --symfs=DIR takes them from a copy of that machine's "
                             "files; perf's build-id cache (perf archive) and debuginfod servers work, too");
}

/* Adds what samples recorded that a profile cannot store by instruction. */
static void add_counters(const struct as_import *import, const struct as_perf_reader *reader)
{
    const struct as_perf_summary *summary = as_perf_reader_summary(reader);
    as_store_add_counter(import->writer, "samples", as_import_count(import).samples);
    as_import_count_branches(import);
    if (import->raw.decoded)
        as_store_add_counter(import->writer, "ibs_samples", import->raw.decoded);
    if (import->walked + import->unwalked) {
        as_store_add_counter(import->writer, "stack_copies", import->walked + import->unwalked);
        as_store_add_counter(import->writer, "stack_copies_unwound", import->walked);
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

/* The command line begins with perf's own options, and their end cannot be determined. The program is the one that perf
 * started; if it started none, the name with the most samples is the program's. */
static const char *program_of(const struct as_import *import)
{
    if (import->command)
        return import->command;
    struct as_strings *names = as_strings_new();
    uint64_t *samples = as_alloc_array(import->threads.len + 1, sizeof *samples);
    const char *most = NULL;
    uint64_t most_samples = 0;
    for (size_t i = 0; i < import->threads.len; i++) {
        const struct as_import_thread *thread = &import->threads.data[i];
        uint64_t *sum = thread->name ? &samples[as_strings_intern(names, thread->name)] : NULL;
        if (sum)
            *sum += thread->samples;
        if (sum && (!most || *sum > most_samples)) {
            most = thread->name;
            most_samples = *sum;
        }
    }
    as_strings_free(names);
    free(samples);
    return most;
}

/* Threads of the kernel that every machine has, and that no program starts. */
static bool is_of_kernel(const char *name)
{
    static const char *const starts[] = {"ksoftirqd/", "kworker/", "migration/"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return true;
    return strcmp(name, "rcu_preempt") == 0 || strcmp(name, "rcu_sched") == 0;
}

/* Whether the kernel's own threads have samples, and a program. */
static bool has_kernel_and_program(const struct as_import *import)
{
    bool kernel = false, program = false;
    for (size_t i = 0; i < import->threads.len; i++) {
        const struct as_import_thread *thread = &import->threads.data[i];
        if (!thread->name || !thread->samples)
            continue;
        kernel = kernel || is_of_kernel(thread->name);
        program = program || !is_of_kernel(thread->name);
    }
    return kernel && program;
}

/* Whether the recording is of the whole machine: then the idle loop has samples, or perf's command line says so, or, in a
 * text, which has none, threads of the kernel beside a program. */
static bool is_system_wide(const struct as_import *import, const char *command)
{
    for (size_t i = 0; i < import->threads.len; i++)
        if (import->threads.data[i].pid == 0 && import->threads.data[i].tid == 0 && import->threads.data[i].samples)
            return true;
    return command ? as_import_is_wide_command(command) : has_kernel_and_program(import);
}

/* The time from the first sample to the last, including those of SPE. */
static void add_seconds(const struct as_import *import, const struct as_perf_summary *summary)
{
    uint64_t first = summary->first_time, last = summary->last_time == AS_PERF_NO_TIME ? 0 : summary->last_time;
    if (import->spe.last_time) {
        /* An unknown time is the largest number. */
        first = import->spe.first_time < first ? import->spe.first_time : first;
        last = import->spe.last_time > last ? import->spe.last_time : last;
    }
    if (last > first)
        as_store_add_meta_double(import->writer, AS_META_SECONDS, (double)(last - first) * 1e-9);
}

void as_import_describe(const struct as_import *import, const struct as_perf_reader *reader, const char *path)
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
    if (is_system_wide(import, info->command))
        as_store_add_meta(import->writer, AS_META_TITLE, "system-wide");
    as_store_add_meta(import->writer, "command", info->command);
    add_seconds(import, summary);
    if (summary->incomplete)
        as_store_add_meta(import->writer, AS_META_PARTIAL,
                          summary->problem[0] ? summary->problem : "the recording ends early");
    add_machine(import, info);
    free(why);
}

void as_import_write(struct as_import *import, const struct as_perf_reader *reader)
{
    as_import_code_write(&import->code);
    for (size_t i = 0; i < import->paths.len; i++)
        as_store_add_path(import->writer, &import->paths.data[i].path);
    add_first_threads(import);
    add_threads(import);
    as_import_sort_accesses(import);
    add_series(import, reader);
    add_counters(import, reader);
    add_quality(import, reader);
    as_import_hint_names(import->writer, main_event(import), import);
}
