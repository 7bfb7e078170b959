/* See recording.h. Each process has samples of its own until what it has mapped changes: addresses mean something in
 * one process, for a while. */
#include "blocks/recording.h"

#include "base/map.h"
#include "blocks/estimate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* perf marks where records are complete; a file without such marks waits in this much memory. */
#define QUEUE_LIMIT ((uint64_t)128 << 20)

struct reading {
    struct as_recording *recording;
    const struct as_recording_options *options;
    struct as_perf_spaces *spaces;
    uint32_t event;       /* number of the one that is taken */
    bool taken;           /* its first sample was met */
    struct as_map by_pid; /* struct as_samples * */
    struct as_samples *last;
    uint32_t last_pid, settling; /* settling: the process whose addresses are looked up */
    AS_VEC(struct as_samples_branch) branches;
    struct as_map archs;   /* module of the graph by the recorded file: number + 1 */
    struct as_map refused; /* the same: index + 1 */
};

/* ---- events ---- */

static bool has_word(const char *text, const char *word)
{
    return strcasestr(text, word) != NULL;
}

static enum as_counted what_counts(const struct as_perf_event *event)
{
    enum { HARDWARE = 0, RAW = 4, INSTRUCTIONS = 1, INTEL_INST_RETIRED = 0xc0, INTEL_NEAR_TAKEN = 0x20c4 };
    uint64_t code = event->config & 0xffff;
    if ((event->pmu && has_word(event->pmu, "ibs_op")) || has_word(event->name, "uops"))
        return AS_COUNTED_UOPS;
    if (has_word(event->name, "taken") || (event->type == RAW && code == INTEL_NEAR_TAKEN))
        return AS_COUNTED_TAKEN;
    if ((event->type == HARDWARE && event->config == INSTRUCTIONS) || has_word(event->name, "instructions") ||
        has_word(event->name, "inst_retired") || (event->type == RAW && (code & 0xff) == INTEL_INST_RETIRED))
        return AS_COUNTED_INSTRUCTIONS;
    return AS_COUNTED_OTHER;
}

static void take_event(struct reading *reading, const struct as_perf_event *event)
{
    struct as_recording *recording = reading->recording;
    reading->taken = true;
    snprintf(recording->event, sizeof recording->event, "%s", event->name);
    recording->counted = what_counts(event);
    recording->period = event->period;
    recording->precise = event->precise;
    recording->round_period =
        event->period && (event->period % 1000 == 0 || (event->period >= 1024 && event->period % 1024 == 0));
}

/* The number of the event with most samples, of those whose names have the word; UINT32_MAX: none has samples. */
static uint32_t choose_event(const struct as_perf_reader *reader, const char *word)
{
    uint32_t best = UINT32_MAX;
    uint64_t most = 0;
    for (size_t i = 0; i < as_perf_reader_events(reader); i++) {
        const struct as_perf_event *event = as_perf_reader_event(reader, i);
        if (event->samples > most && (!word || has_word(event->name, word))) {
            most = event->samples;
            best = event->index;
        }
    }
    return best;
}

/* If there are several, reads the recording once to count the samples of each. */
static bool find_event(struct reading *reading, const char *path, struct as_error *err)
{
    static const struct as_perf_sink nothing = {0};
    struct as_perf_options bounded = {.queue_limit = QUEUE_LIMIT};
    struct as_perf_reader *reader = as_perf_reader_open(path, &bounded, err);
    struct as_error inner = AS_ERROR_INIT;
    const char *word = reading->options->event;
    bool only = reader && as_perf_reader_events(reader) == 1;
    bool ok = only || (reader && as_perf_reader_run(reader, &nothing, NULL, &inner));
    if (reader && !ok)
        as_error_set(err, "%s: %.900s", path, inner.message);
    if (only) {
        const struct as_perf_event *event = as_perf_reader_event(reader, 0);
        reading->event = !word || has_word(event->name, word) ? event->index : UINT32_MAX;
    } else if (ok)
        reading->event = choose_event(reader, word);
    as_perf_reader_close(reader);
    return ok;
}

static bool wants_event(struct reading *reading, const struct as_perf_event *event)
{
    if (event->index != reading->event)
        return false;
    if (!reading->taken)
        take_event(reading, event);
    return true;
}

/* ---- places ---- */

static void refuse(struct reading *reading, const struct as_perf_location *location)
{
    static const char *const reasons[] = {
        [AS_PERF_NO_FILE] = "its code is in no file (JIT code, the kernel)",
        [AS_PERF_MISSING] = "the file is not here; --symfs says where it is",
        [AS_PERF_OTHER] = "the file here is another one: its build-id is not the recorded one",
    };
    struct as_recording *recording = reading->recording;
    const char *why = location->match < sizeof reasons / sizeof *reasons && reasons[location->match]
                          ? reasons[location->match]
                          : "its code is for a processor that Assay cannot decode";
    uint32_t id = as_strings_intern(recording->strings, location->module);
    uint64_t *known = as_map_put(&reading->refused, id);
    if (!*known) {
        *as_vec_push(&recording->refused) =
            (struct as_recording_refused){.path = as_strings_get(recording->strings, id), .why = why};
        *known = recording->refused.len;
    }
    recording->refused.data[*known - 1].samples++;
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
        *number =
            as_cfg_arch(location.disk_path, &arch) ? as_cfg_module_of(cfg, location.disk_path, arch) + 1 : UINT64_MAX;
    if (!usable || *number == UINT64_MAX) {
        refuse(reading, &location);
        return false;
    }
    *module = (uint32_t)(*number - 1);
    *offset = location.module_offset;
    return true;
}

/* ---- records ---- */

static struct as_samples *samples_of(struct reading *reading, uint32_t pid)
{
    if (reading->last && reading->last_pid == pid)
        return reading->last;
    uint64_t *known = as_map_put(&reading->by_pid, pid);
    if (!*known)
        *known = (uint64_t)(uintptr_t)as_samples_new(
            &(struct as_samples_options){.drop_oldest = reading->options->drop_oldest});
    reading->last_pid = pid;
    return reading->last = (struct as_samples *)(uintptr_t)*known;
}

static void settle(struct reading *reading, uint32_t pid)
{
    const uint64_t *known = as_map_get(&reading->by_pid, pid);
    reading->settling = pid;
    if (known)
        as_samples_settle((struct as_samples *)(uintptr_t)*known, reading->recording->cfg, place, reading);
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
    if (!wants_event(reading, sample->event)) {
        reading->recording->others++;
        return true;
    }
    bool user = sample->mode == AS_PERF_USER || sample->mode == AS_PERF_MODE_UNKNOWN;
    reading->recording->kernel += !user;
    as_vec_clear(&reading->branches);
    for (size_t i = 0; i < sample->n_branches; i++)
        *as_vec_push(&reading->branches) = (struct as_samples_branch){sample->branches[i].from, sample->branches[i].to,
                                                                      sample->branches[i].mispredicted};
    bool counts = reading->recording->counted != AS_COUNTED_OTHER;
    struct as_samples_one one = {.ip = user ? sample->ip : 0,
                                 .weight = counts ? (double)sample->period : 1,
                                 .branches = reading->branches.data,
                                 .n_branches = reading->branches.len};
    /* Of an event that counts no branches, each run stands for one, however many a stack has. */
    if (reading->recording->counted != AS_COUNTED_TAKEN && one.n_branches > 1)
        one.run_weight = 1;
    as_samples_add(samples_of(reading, sample->pid), &one);
    return true;
}

static const struct as_perf_sink sink = {.build_id = on_build_id, .process = on_process, .sample = on_sample};

/* ---- the whole ---- */

static void gather(struct reading *reading)
{
    struct as_recording *recording = reading->recording;
    for (size_t i = 0; i < reading->by_pid.cap; i++) {
        if (!reading->by_pid.slots[i].used)
            continue;
        settle(reading, (uint32_t)reading->by_pid.slots[i].key);
        struct as_samples *samples = (struct as_samples *)(uintptr_t)reading->by_pid.slots[i].value;
        as_samples_move(recording->samples, samples);
        as_samples_free(samples);
    }
    as_estimate_see(recording->samples, recording->cfg);
    as_cfg_build(recording->cfg);
}

static bool read_all(struct reading *reading, struct as_perf_reader *reader, struct as_error *err)
{
    struct as_recording *recording = reading->recording;
    struct as_perf_spaces_options spaces = reading->options->spaces;
    spaces.recorded = as_perf_reader_info(reader);
    reading->spaces = as_perf_spaces_new(&spaces);
    if (!as_perf_reader_run(reader, &sink, reading, err))
        return false;
    gather(reading);
    const struct as_perf_summary *summary = as_perf_reader_summary(reader);
    recording->lost = summary->lost + summary->lost_samples;
    snprintf(recording->problem, sizeof recording->problem, "%s", summary->problem);
    if (as_samples_counted(recording->samples)->samples)
        return true;
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
    struct as_perf_reader *reader = find_event(&reading, path, err) ? as_perf_reader_open(path, &bounded, err) : NULL;
    bool ok = reader && read_all(&reading, reader, &inner);
    if (reader && !ok)
        as_error_set(err, "%s: %.900s", path, inner.message);
    as_perf_spaces_free(reading.spaces);
    as_perf_reader_close(reader);
    as_map_free(&reading.by_pid);
    as_map_free(&reading.archs);
    as_map_free(&reading.refused);
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
