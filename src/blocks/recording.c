/* See recording.h. Each process has samples of its own until what it has mapped changes: addresses mean something in
 * one process, for a while. Each event that may be wanted has samples of its own, because only the end shows which one has
 * most; so the recording is read once and may come through a pipe. */
#include "blocks/recording.h"

#include "base/map.h"
#include "blocks/estimate.h"
#include "perfdata/ibs_raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* perf marks where records are complete; a file without such marks waits in this much memory. */
#define QUEUE_LIMIT ((uint64_t)128 << 20)

/* What was read of one event. */
struct stream {
    const struct as_perf_event *event;
    char name[128];
    enum as_counted counted;
    uint64_t period, samples, kernel;
    unsigned precise;
    struct as_map by_pid; /* struct as_samples * */
    struct as_samples *last;
    uint32_t last_pid;
    as_recording_refusals refused;
    struct as_map refused_at; /* by the recorded file: index + 1 */
};

struct reading {
    struct as_recording *recording;
    const struct as_recording_options *options;
    struct as_perf_spaces *spaces;
    const struct as_perf_info *info;
    AS_VEC(struct stream *) streams;
    struct stream *now; /* whose addresses are looked up, of the process `settling` */
    uint32_t settling;
    uint64_t others; /* samples of events that are not wanted */
    AS_VEC(struct as_samples_branch) branches;
    struct as_map archs; /* module of the graph by the recorded file: number + 1 */
    const char *first;   /* the first file that was read, and its architecture: that of all if the recording has none */
    enum as_arch arch;
};

/* ---- events ---- */

static bool has_word(const char *text, const char *word)
{
    return strcasestr(text, word) != NULL;
}

/* Tagged operations of AMD's processors: by their own unit, or where the kernel uses it for a precise event (ibs.c). */
static const char *tagged_unit(const struct as_perf_event *event, const struct as_perf_info *info)
{
    enum { RAW = 4, RETIRED_OPERATIONS = 0xc1, COUNTS_OPERATIONS = 19 };
    if (event->pmu && strncmp(event->pmu, "ibs_op", 6) == 0)
        return event->config >> COUNTS_OPERATIONS & 1 ? "operations" : "cycles";
    bool amd = as_ibs_cpu(info ? info->cpu_id : NULL).family != 0;
    return amd && event->precise && event->type == RAW && event->config == RETIRED_OPERATIONS ? "operations" : NULL;
}

/* The caller frees. */
static char *unit_of(const struct as_perf_event *event, const struct as_perf_info *info)
{
    const char *tagged = tagged_unit(event, info);
    return tagged ? as_strdup(tagged) : as_perf_event_unit(event);
}

/* The stream of an event; NULL: it is not wanted. */
static struct stream *stream_of(struct reading *reading, const struct as_perf_event *event)
{
    for (size_t i = 0; i < reading->streams.len; i++)
        if (reading->streams.data[i]->event == event)
            return reading->streams.data[i];
    if (reading->options->event && !has_word(event->name, reading->options->event))
        return NULL;
    struct stream *stream = as_alloc(sizeof *stream);
    stream->event = event;
    snprintf(stream->name, sizeof stream->name, "%s", event->name);
    char *unit = unit_of(event, reading->info);
    stream->counted = as_counted_of(event->name, unit);
    free(unit);
    stream->period = event->period;
    stream->precise = event->precise;
    *as_vec_push(&reading->streams) = stream;
    return stream;
}

static struct stream *largest_stream(const struct reading *reading)
{
    struct stream *best = NULL;
    for (size_t i = 0; i < reading->streams.len; i++) {
        struct stream *one = reading->streams.data[i];
        if (!best || one->samples > best->samples ||
            (one->samples == best->samples && one->event->index < best->event->index))
            best = one;
    }
    return best;
}

/* ---- places ---- */

/* A file for another processor than the recorded one is not what ran, whatever --symfs and --trust-paths take it for. */
static bool is_other_machine(struct reading *reading, const struct as_perf_location *location, enum as_arch arch)
{
    const char *recorded = reading->info->arch;
    if (recorded)
        return strcmp(recorded, as_arch_name(arch)) != 0;
    if (!reading->first) {
        reading->first = location->module;
        reading->arch = arch;
    }
    return arch != reading->arch;
}

static const char *why_other_machine(struct reading *reading, enum as_arch arch)
{
    const char *recorded = reading->info->arch;
    char *why = recorded
                    ? as_format("the file here is of another processor: its code is for %s, the recording is of %s",
                                as_arch_name(arch), recorded)
                    : as_format("the file here is of another processor: its code is for %s, that of %s for %s",
                                as_arch_name(arch), reading->first, as_arch_name(reading->arch));
    uint32_t id = as_strings_intern(reading->recording->strings, why);
    free(why);
    return as_strings_get(reading->recording->strings, id);
}

static const char *why_refused(struct reading *reading, const struct as_perf_location *location)
{
    enum as_arch arch;
    switch (location->match) {
    case AS_PERF_NO_FILE:
        return "its code is in no file (JIT code, the kernel)";
    case AS_PERF_MISSING:
        return "the file is not here, or is not an ELF file that can be read; --symfs says where it is";
    case AS_PERF_OTHER:
        return location->build_id ? "the file here is another one: its build-id is not the recorded one"
                                  : "the recording has no build-id of it, and the file here is another one or was "
                                    "changed: its inode is "
                                    "not the recorded one; if it is the same after all, --trust-paths takes it";
    default:
        return as_cfg_arch(location->disk_path, &arch) ? why_other_machine(reading, arch)
                                                       : "its code is for a processor that Assay cannot decode";
    }
}

static void refuse(struct reading *reading, const struct as_perf_location *location)
{
    struct stream *stream = reading->now;
    uint32_t id = as_strings_intern(reading->recording->strings, location->module);
    uint64_t *known = as_map_put(&stream->refused_at, id);
    if (!*known) {
        *as_vec_push(&stream->refused) = (struct as_recording_refused){
            .path = as_strings_get(reading->recording->strings, id), .why = why_refused(reading, location)};
        *known = stream->refused.len;
    }
    stream->refused.data[*known - 1].samples++;
}

static bool place(void *context, uint64_t address, struct as_cfg *cfg, uint32_t *module, uint64_t *offset)
{
    struct reading *reading = context;
    struct as_perf_location location;
    enum as_arch arch;
    as_perf_spaces_find(reading->spaces, reading->settling, AS_PERF_USER, address, &location);
    if (strcmp(location.module, "[unknown]") == 0)
        return false;
    bool usable = (location.match == AS_PERF_MATCHED || location.match == AS_PERF_TRUSTED) && location.disk_path;
    uint64_t *number = usable ? as_map_put(&reading->archs, (uint64_t)(uintptr_t)location.disk_path) : NULL;
    if (usable && !*number)
        *number = as_cfg_arch(location.disk_path, &arch) && !is_other_machine(reading, &location, arch)
                      ? as_cfg_module_at(cfg, location.disk_path, location.module, arch) + 1
                      : UINT64_MAX;
    if (!usable || *number == UINT64_MAX) {
        refuse(reading, &location);
        return false;
    }
    *module = (uint32_t)(*number - 1);
    *offset = location.module_offset;
    return true;
}

/* ---- records ---- */

static struct as_samples *samples_of(struct reading *reading, struct stream *stream, uint32_t pid)
{
    if (stream->last && stream->last_pid == pid)
        return stream->last;
    uint64_t *known = as_map_put(&stream->by_pid, pid);
    if (!*known)
        *known = (uint64_t)(uintptr_t)as_samples_new(
            &(struct as_samples_options){.drop_oldest = reading->options->drop_oldest});
    stream->last_pid = pid;
    return stream->last = (struct as_samples *)(uintptr_t)*known;
}

static void settle_stream(struct reading *reading, struct stream *stream, uint32_t pid)
{
    const uint64_t *known = as_map_get(&stream->by_pid, pid);
    reading->now = stream;
    reading->settling = pid;
    if (known)
        as_samples_settle((struct as_samples *)(uintptr_t)*known, reading->recording->cfg, place, reading);
}

static void settle(struct reading *reading, uint32_t pid)
{
    for (size_t i = 0; i < reading->streams.len; i++)
        settle_stream(reading, reading->streams.data[i], pid);
}

static bool on_process(void *context, const struct as_perf_process *process, struct as_error *err)
{
    struct reading *reading = context;
    if (process->kind == AS_PERF_MAP || process->kind == AS_PERF_EXIT || process->exec)
        settle(reading, process->pid);
    return as_perf_spaces_process(reading->spaces, process, err);
}

static bool on_build_id(void *context, const char *path, enum as_perf_mode mode, const struct as_perf_build_id *id,
                        struct as_error *err)
{
    struct reading *reading = context;
    return as_perf_spaces_build_id(reading->spaces, path, mode, id, err);
}

static bool on_sample(void *context, const struct as_perf_sample *sample, struct as_error *err)
{
    struct reading *reading = context;
    struct stream *stream = stream_of(reading, sample->event);
    if (!stream) {
        reading->others++;
        return true;
    }
    bool user = sample->mode == AS_PERF_USER || sample->mode == AS_PERF_MODE_UNKNOWN;
    stream->samples++;
    reading->recording->text |= sample->comm != NULL;
    stream->kernel += !user;
    as_vec_clear(&reading->branches);
    for (size_t i = 0; i < sample->n_branches; i++)
        *as_vec_push(&reading->branches) = (struct as_samples_branch){sample->branches[i].from, sample->branches[i].to,
                                                                      sample->branches[i].mispredicted};
    struct as_samples_one one = {.ip = user ? sample->ip : 0,
                                 .weight = (double)sample->period,
                                 .branches = reading->branches.data,
                                 .n_branches = reading->branches.len};
    /* Of an event that counts no branches, each run stands for one, however many a stack has. */
    if (stream->counted != AS_COUNTED_TAKEN && one.n_branches > 1)
        one.run_weight = 1;
    as_samples_add(samples_of(reading, stream, sample->pid), &one);
    return true;
}

static const struct as_perf_sink sink = {.build_id = on_build_id, .process = on_process, .sample = on_sample};

/* ---- the whole ---- */

static void take_stream(struct as_recording *recording, struct stream *stream, const struct as_perf_info *info)
{
    memcpy(recording->event, stream->name, sizeof recording->event);
    char *unit = unit_of(stream->event, info);
    snprintf(recording->unit, sizeof recording->unit, "%s", unit);
    free(unit);
    recording->counted = stream->counted;
    recording->period = stream->period;
    recording->precise = stream->precise;
    recording->round_period =
        stream->period && (stream->period % 1000 == 0 || (stream->period >= 1024 && stream->period % 1024 == 0));
    recording->kernel = stream->kernel;
    recording->refused = stream->refused;
    stream->refused = (as_recording_refusals){0};
}

static void gather(struct reading *reading)
{
    struct as_recording *recording = reading->recording;
    struct stream *stream = largest_stream(reading);
    recording->others = reading->others;
    for (size_t i = 0; i < reading->streams.len; i++)
        recording->others += reading->streams.data[i] != stream ? reading->streams.data[i]->samples : 0;
    if (!stream)
        return;
    for (size_t i = 0; i < stream->by_pid.cap; i++) {
        if (!stream->by_pid.slots[i].used)
            continue;
        settle_stream(reading, stream, (uint32_t)stream->by_pid.slots[i].key);
        as_samples_move(recording->samples, (struct as_samples *)(uintptr_t)stream->by_pid.slots[i].value);
    }
    take_stream(recording, stream, reading->info);
    if (recording->counted == AS_COUNTED_TAKEN)
        as_samples_are_branches(recording->samples);
    as_estimate_see(recording->samples, recording->cfg);
    as_cfg_build(recording->cfg);
}

static void free_stream(struct stream *stream)
{
    for (size_t i = 0; i < stream->by_pid.cap; i++)
        if (stream->by_pid.slots[i].used)
            as_samples_free((struct as_samples *)(uintptr_t)stream->by_pid.slots[i].value);
    as_map_free(&stream->by_pid);
    as_map_free(&stream->refused_at);
    as_vec_free(&stream->refused);
    free(stream);
}

static bool read_all(struct reading *reading, struct as_perf_reader *reader, struct as_error *err)
{
    struct as_recording *recording = reading->recording;
    struct as_perf_spaces_options spaces = reading->options->spaces;
    spaces.recorded = reading->info = as_perf_reader_info(reader);
    reading->spaces = as_perf_spaces_new(&spaces);
    if (!as_perf_reader_run(reader, &sink, reading, err))
        return false;
    gather(reading);
    const struct as_perf_summary *summary = as_perf_reader_summary(reader);
    recording->lost = summary->lost + summary->lost_samples;
    snprintf(recording->problem, sizeof recording->problem, "%s", summary->problem);
    if (as_samples_counted(recording->samples)->samples)
        return true;
    if (summary->problem[0])
        return as_error_set(err, "it is not whole, and has no samples%s%s: %s", reading->options->event ? " of " : "",
                            reading->options->event ? reading->options->event : "", summary->problem);
    return reading->options->event ? as_error_set(err, "no samples of an event '%s'", reading->options->event)
                                   : as_error_set(err, "it has no samples");
}

bool as_recording_read(struct as_recording *recording, const char *path, const struct as_recording_options *options,
                       struct as_error *err)
{
    struct as_error inner = AS_ERROR_INIT;
    struct reading reading = {.recording = recording, .options = options};
    *recording = (struct as_recording){.samples = as_samples_new(NULL),
                                       .cfg = as_cfg_new(&(struct as_cfg_options){options->spaces.debug_path}),
                                       .strings = as_strings_new()};
    struct as_perf_options bounded = {.queue_limit = QUEUE_LIMIT};
    struct as_perf_reader *reader = as_perf_reader_open(path, &bounded, &inner);
    bool ok = reader && read_all(&reading, reader, &inner);
    if (!ok)
        as_error_set(err, strstr(inner.message, path) ? "%s%.900s" : "%s: %.900s",
                     strstr(inner.message, path) ? "" : path, inner.message);
    as_perf_spaces_free(reading.spaces);
    as_perf_reader_close(reader);
    for (size_t i = 0; i < reading.streams.len; i++)
        free_stream(reading.streams.data[i]);
    as_vec_free(&reading.streams);
    as_map_free(&reading.archs);
    as_vec_free(&reading.branches);
    if (!ok)
        as_recording_free(recording);
    return ok;
}

void as_recording_free(struct as_recording *recording)
{
    as_samples_free(recording->samples);
    as_cfg_free(recording->cfg);
    as_strings_free(recording->strings);
    as_vec_free(&recording->refused);
    *recording = (struct as_recording){0};
}
