/* Writes the samples of a modelled unit as a perf recording. See record_unit.h.
 *
 * A process of the recording is an image of the run: what one execve loaded. Mappings are those at the end of the run; code
 * comes behind data (unit_memory.c), so that it holds where both were mapped.
 * Call chains are the model's exact paths, as return addresses; or what a branch record that is a stack of calls has of them.
 * What the recording cannot tell, which of several functions lay at an address of code that the program made, goes to
 * as_unit_made beside it.
 */
#include "base/path.h"
#include "record/record_unit.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum {
    FIELDS = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
             PERF_SAMPLE_CALLCHAIN,
    TYPE_IBS_OP = 9,
    TYPE_IBS_FETCH = 10,
    TYPE_SPE = 8,
    TYPE_TIP = 11,
    CHAIN_MAX = 130,
};

struct recording {
    const struct as_unit_run *run;
    const struct as_modelled *modelled;
    const struct as_engine *engine;
    struct as_perf_writer *writer;
    struct as_unit_made *made;
    uint32_t image; /* the image whose mappings were written last */
    struct as_str packets;
    struct as_map threads; /* image << 32 | thread: its name was written */
};

/* ---- events ---- */

static bool is_memory(const struct as_pmu_event *event)
{
    return event->insn_flags & (AS_INSN_LOAD | AS_INSN_STORE);
}

static struct as_perf_event event_of(const struct as_unit_run *run, size_t i, const char *name)
{
    const struct as_pmu_counter *counter = &run->request.counters[i];
    struct as_perf_event event = {.name = name, .period = counter->period, .sample_type = FIELDS};
    bool fetches = counter->event->counts == AS_COUNTS_FETCHES;
    switch (run->pmu.kind) {
    case AS_PMU_PEBS:
        event.pmu = "cpu";
        event.type = PERF_TYPE_RAW;
        event.config = counter->event->config;
        event.precise = counter->precise_dist ? 3 : 2;
        event.sample_type |=
            is_memory(counter->event) ? PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC : 0;
        break;
    case AS_PMU_IBS:
        event.pmu = fetches ? "ibs_fetch" : "ibs_op";
        event.type = fetches ? TYPE_IBS_FETCH : TYPE_IBS_OP;
        event.config = counter->event->counts == AS_COUNTS_OPS ? 1 << 19 : 0;
        event.sample_type |= PERF_SAMPLE_RAW;
        break;
    case AS_PMU_SPE:
        event.pmu = "arm_spe_0";
        event.type = TYPE_SPE;
        break;
    default:
        event.pmu = as_pmu_kind_names[run->pmu.kind];
        event.type = TYPE_TIP;
        event.sample_type |= run->pmu.kind == AS_PMU_TEA ? PERF_SAMPLE_RAW : 0;
    }
    if (run->request.branches && !run->request.call_stack) { /* a stack of calls is the chain */
        event.sample_type |= PERF_SAMPLE_BRANCH_STACK;
        event.branch_type = PERF_SAMPLE_BRANCH_ANY;
    }
    return event;
}

/* ---- processes ---- */

static void read_build_id(const char *hex, struct as_perf_build_id *id)
{
    for (id->size = 0; id->size < AS_PERF_BUILD_ID_MAX && hex[2 * id->size] && hex[2 * id->size + 1]; id->size++) {
        char digits[3] = {hex[2 * id->size], hex[2 * id->size + 1], 0};
        id->bytes[id->size] = (uint8_t)strtoul(digits, NULL, 16);
    }
}

static void write_map(void *context, uint64_t start, uint64_t end, uint64_t offset, const char *path)
{
    struct recording *recording = context;
    const struct as_image *image = as_engine_image(recording->engine, recording->image);
    bool anonymous = strcmp(path, "[anon]") == 0;
    const char *hex = anonymous ? NULL : as_space_build_id(image->space, start);
    struct as_perf_process map = {.kind = AS_PERF_MAP,
                                  .pid = recording->image,
                                  .tid = recording->image,
                                  .start = start,
                                  .length = end - start,
                                  .offset = offset,
                                  .name = anonymous ? "//anon" : path,
                                  .prot = PROT_READ | PROT_EXEC,
                                  .flags = MAP_PRIVATE};
    struct stat info;
    if (hex)
        read_build_id(hex, &map.build_id);
    else if (path[0] == '/' && stat(path, &info) == 0) {
        map.major = major(info.st_dev);
        map.minor = minor(info.st_dev);
        map.inode = info.st_ino;
    }
    as_perf_writer_process(recording->writer, &map);
}

/* Each image is a process of its own in the recording, and its threads have its program's name, or what they named themselves
 * last. */
static void name_thread(struct recording *recording, uint32_t image, uint32_t thread, const char *command)
{
    const struct as_image *program = as_engine_image(recording->engine, image);
    const char *own = as_model_thread_name(recording->modelled->model, thread, image);
    const char *name = own ? own : as_path_base(program && program->program ? program->program : command);
    uint64_t *known = as_map_put(&recording->threads, (uint64_t)image << 32 | thread);
    if (*known)
        return;
    *known = 1;
    as_perf_writer_process(recording->writer,
                           &(struct as_perf_process){.kind = AS_PERF_COMM, .pid = image, .tid = thread, .name = name});
}

static void write_processes(struct recording *recording)
{
    const struct as_image *image;
    as_unit_write_memory(recording->run, recording->modelled, recording->writer);
    for (uint32_t number = 1; (image = as_engine_image(recording->engine, number)); number++) {
        recording->image = number;
        as_space_each(image->space, write_map, recording);
    }
}

/* ---- samples ---- */

static uint32_t image_of(const struct recording *recording, const struct as_pmu_sample *sample)
{
    return as_unit_image(recording->modelled, sample);
}

static uint64_t time_of(const struct recording *recording, const struct as_pmu_sample *sample)
{
    return (uint64_t)((double)sample->cycle * 1e9 / recording->modelled->machine.frequency);
}

/* Appends the address behind a call to the chain. A reader looks it up by the last byte of the call, or as it is where the kernel was
 * called. */
static size_t add_return(const struct recording *recording, const struct as_pmu_sample *sample,
                         const struct as_insn *call, uint64_t *chain, size_t n)
{
    uint64_t address = call->address + call->length, time = time_of(recording, sample);
    as_unit_made_add(recording->made, call->id, address - 1, time);
    if (sample->kernel)
        as_unit_made_add(recording->made, call->id, address, time);
    chain[n] = address;
    return n + 1;
}

/* The call that a node of a path was made by; NULL: unknown. */
static const struct as_insn *call_of(const struct recording *recording, uint32_t image, const struct as_call_node *node)
{
    if (node->site)
        return as_engine_insn(recording->engine, node->site - 1);
    return node->call_site ? as_engine_insn_at(recording->engine, image, node->call_site) : NULL;
}

/* Appends the return addresses of a path to the chain. */
static size_t add_callers(const struct recording *recording, const struct as_pmu_sample *sample, uint64_t *chain,
                          size_t n)
{
    const struct as_call_tracker *calls = as_model_calls(recording->modelled->model);
    size_t n_paths;
    const struct as_path_key *keys = as_model_paths(recording->modelled->model, &n_paths);
    if (!sample->path || sample->path > n_paths)
        return n;
    const struct as_path_key *key = &keys[sample->path - 1];
    const struct as_call_tree *tree = as_call_tracker_tree(calls, key->tree);
    uint32_t image = as_call_tracker_image(calls, key->tree)->number;
    for (uint32_t at = key->node; at && n < CHAIN_MAX;) {
        const struct as_call_node *node = as_call_tree_node(tree, at);
        const struct as_insn *call = call_of(recording, image, node);
        if (!call)
            break;
        n = add_return(recording, sample, call, chain, n);
        at = node->parent;
    }
    return n;
}

/* The call of a sample's path that is at an address: the program may have made other code there since. */
static const struct as_insn *call_at(const struct recording *recording, const struct as_pmu_sample *sample,
                                     uint64_t address)
{
    const struct as_call_tracker *calls = as_model_calls(recording->modelled->model);
    size_t n_paths;
    const struct as_path_key *keys = as_model_paths(recording->modelled->model, &n_paths);
    uint32_t image = image_of(recording, sample);
    const struct as_path_key *key = sample->path && sample->path <= n_paths ? &keys[sample->path - 1] : NULL;
    for (uint32_t at = key ? key->node : 0; at;) {
        const struct as_call_node *node = as_call_tree_node(as_call_tracker_tree(calls, key->tree), at);
        if (node->call_site == address)
            return call_of(recording, image, node);
        at = node->parent;
    }
    return as_engine_insn_at(recording->engine, image, address);
}

/* The same of the calls that the branch record has: the newest ones. */
static size_t add_recorded(const struct recording *recording, const struct as_unit_sample *kept, uint64_t *chain,
                           size_t n)
{
    const struct as_pmu_branch *calls = recording->run->branches.data + kept->first_branch;
    for (uint32_t i = 0; i < kept->sample.n_branches && n < CHAIN_MAX; i++) {
        const struct as_insn *call = call_at(recording, &kept->sample, calls[i].from);
        if (!call)
            break;
        n = add_return(recording, &kept->sample, call, chain, n);
    }
    return n;
}

static size_t make_chain(const struct recording *recording, const struct as_unit_sample *kept,
                         uint64_t chain[CHAIN_MAX])
{
    const struct as_pmu_sample *sample = &kept->sample;
    size_t n = 0;
    chain[n++] = sample->kernel ? (uint64_t)PERF_CONTEXT_KERNEL : (uint64_t)PERF_CONTEXT_USER;
    chain[n++] = sample->ip;
    if (sample->kernel)
        chain[n++] = (uint64_t)PERF_CONTEXT_USER;
    return recording->run->request.call_stack ? add_recorded(recording, kept, chain, n)
                                              : add_callers(recording, sample, chain, n);
}

static size_t make_raw(const struct recording *recording, const struct as_pmu_sample *sample, uint8_t *raw)
{
    enum as_pmu_counted counts = recording->run->request.counters[sample->counter].event->counts;
    if (recording->run->pmu.kind == AS_PMU_TEA)
        return as_unit_tea(sample, raw);
    if (recording->run->pmu.kind != AS_PMU_IBS)
        return 0;
    return counts == AS_COUNTS_FETCHES ? as_unit_ibs_fetch(sample, recording->run->pmu.fetch_random_bits > 0, raw)
                                       : as_unit_ibs_op(sample, counts == AS_COUNTS_OPS, raw);
}

static void write_sample(struct recording *recording, const struct as_unit_sample *kept)
{
    const struct as_pmu_sample *sample = &kept->sample;
    const struct as_pmu_branch *from = recording->run->branches.data + kept->first_branch;
    struct as_perf_branch branches[AS_PMU_LBR_MAX];
    uint64_t chain[CHAIN_MAX];
    uint8_t raw[AS_UNIT_RAW_MAX];
    for (uint32_t i = 0; i < sample->n_branches; i++)
        branches[i] = (struct as_perf_branch){.from = from[i].from,
                                              .to = from[i].to,
                                              .cycles = (uint16_t)from[i].cycles,
                                              .mispredicted = from[i].mispredicted,
                                              .predicted = !from[i].mispredicted};
    struct as_perf_sample record = {.mode = sample->kernel ? AS_PERF_KERNEL : AS_PERF_USER,
                                    .exact_ip = true,
                                    .ip = sample->ip,
                                    .pid = image_of(recording, sample),
                                    .tid = sample->thread,
                                    .time = time_of(recording, sample),
                                    .addr = sample->address,
                                    .period = sample->weight,
                                    .chain = chain,
                                    .n_chain = make_chain(recording, kept, chain),
                                    .raw = raw,
                                    .raw_size = make_raw(recording, sample, raw),
                                    .branches = branches,
                                    .n_branches = recording->run->request.call_stack ? 0 : sample->n_branches,
                                    .weight = sample->latency,
                                    .data_src = as_unit_data_source(sample)};
    as_perf_writer_sample(recording->writer, sample->counter, &record);
}

static void write_samples(struct recording *recording, const char *command)
{
    const struct as_unit_run *run = recording->run;
    for (size_t i = 0; i < run->samples.len; i++) {
        const struct as_pmu_sample *sample = &run->samples.data[i].sample;
        name_thread(recording, image_of(recording, sample), sample->thread, command);
        if (sample->insn != AS_PMU_NO_INSN)
            as_unit_made_add(recording->made, sample->insn, sample->ip, time_of(recording, sample));
        if (run->pmu.kind == AS_PMU_SPE)
            as_unit_spe(sample, &recording->packets);
        else
            write_sample(recording, &run->samples.data[i]);
    }
    if (recording->packets.len)
        as_perf_writer_spe(recording->writer, recording->packets.data, recording->packets.len);
}

bool as_unit_write(const struct as_unit_run *run, const struct as_modelled *modelled, const char *command,
                   struct as_unit_made *made, FILE *out, struct as_error *err)
{
    struct recording recording = {.run = run,
                                  .modelled = modelled,
                                  .engine = as_model_engine(modelled->model),
                                  .writer = as_perf_writer_new(out),
                                  .made = made};
    made->engine = recording.engine;
    char names[AS_PMU_COUNTERS_MAX][96];
    for (size_t i = 0; i < run->request.n; i++) {
        struct as_perf_event event = event_of(run, i, as_pmu_counter_name(&run->request, i, names[i], sizeof names[i]));
        as_perf_writer_event(recording.writer, &event);
    }
    const struct as_image *image = as_engine_image(recording.engine, 1);
    as_perf_writer_begin(recording.writer, &(struct as_perf_info){.arch = image ? as_arch_name(image->arch) : NULL,
                                                                  .cpu = run->pmu.description,
                                                                  .cpu_id = run->pmu.cpu_id[0] ? run->pmu.cpu_id : NULL,
                                                                  .command = command});
    write_processes(&recording);
    write_samples(&recording, command);
    as_str_free(&recording.packets);
    as_map_free(&recording.threads);
    return as_perf_writer_end(recording.writer) || as_error_set(err, "the recording could not be written");
}
