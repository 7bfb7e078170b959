/* See comm_native.h. The sink of the session notes what each process maps, for names, and gives the rest to the lens. What
 * the kernel does not tell (which mapping is the heap, what mremap moved) is read from /proc now and then. Samples of Assay's
 * own agent, where it is in the program, are left out. */
#include "comm/comm_native.h"

#include "base/clock.h"
#include "base/path.h"
#include "base/signals.h"
#include "model/shared_memory.h"
#include "native/choose.h"
#include "native/process_maps.h"
#include "native/session.h"
#include "native/thread_start.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

enum { WAIT_MS = 10, STACK_BYTES = 512, RING_BYTES = 512 << 10 };
#define MAPS_SECONDS 0.05 /* between two looks at /proc/PID/maps, where threads came */
#define SAMPLE_SECONDS 16e-6

/* Where the agent's code lies. */
struct agent_code {
    uint32_t pid;
    uint64_t start, end;
};

/* What the C library's record of a thread says of its start. */
struct start {
    bool known;
    uint64_t words[AS_THREAD_START_WORDS];
};

struct as_comm_native {
    struct as_comm_native_options options;
    struct as_native_session *session;
    struct as_native_session *_Atomic watched; /* once signals may stop it */
    struct as_native_lens *lens;
    struct as_detect *detect;
    AS_VEC(struct as_space *) spaces; /* by process number */
    AS_VEC(struct as_guest_region) regions;
    AS_VEC(struct agent_code) agents;
    struct as_guest_memory *blocks; /* of the programs' allocators, as far as the agent saw them */
    AS_VEC(struct as_comm_thread) threads;
    AS_VEC(uint32_t) places; /* by thread number */
    struct as_pair_matrix estimate;
    struct as_contacts contacts;
    struct as_shared_memory *shared;
    struct as_strings *shared_names;
    struct as_comm_native_info info;
    AS_VEC(struct start) starts; /* in the order of the lens's threads */
    size_t seen;                 /* threads at the last look at the maps */
    double looked;
};

static const struct as_shared_ranges *shared_of(void *shared, uint32_t process)
{
    return as_shared_memory_of(shared, process);
}

struct as_comm_native *as_comm_native_new(const struct as_comm_native_options *options)
{
    struct as_comm_native *native = as_alloc(sizeof *native);
    native->options = *options;
    native->lens = as_native_lens_new(&options->machine);
    struct as_lens lens = as_native_lens_open(native->lens);
    native->detect = as_detect_new(&lens, &options->detect);
    as_native_lens_set_client(native->lens, &as_detect_client, native->detect);
    native->blocks = as_guest_memory_new();
    native->shared = as_shared_memory_new();
    native->shared_names = as_strings_new();
    as_native_lens_set_shared(native->lens, shared_of, native->shared);
    return native;
}

void as_comm_native_free(struct as_comm_native *native)
{
    if (!native)
        return;
    as_native_close(native->session);
    as_detect_free(native->detect);
    as_native_lens_free(native->lens);
    for (size_t i = 0; i < native->spaces.len; i++)
        as_space_free(native->spaces.data[i]);
    as_vec_free(&native->spaces);
    as_shared_memory_free(native->shared);
    as_strings_free(native->shared_names);
    as_vec_free(&native->regions);
    as_vec_free(&native->agents);
    as_guest_memory_free(native->blocks);
    as_vec_free(&native->threads);
    as_vec_free(&native->starts);
    as_vec_free(&native->places);
    as_pair_matrix_free(&native->estimate);
    as_contacts_free(&native->contacts);
    free(native);
}

/* ---- what processes map ---- */

static struct as_space *space_of(struct as_comm_native *native, uint32_t process)
{
    while (native->spaces.len <= process)
        *as_vec_push(&native->spaces) = NULL;
    if (!native->spaces.data[process])
        native->spaces.data[process] = as_space_new(NULL);
    return native->spaces.data[process];
}

static bool is_anonymous(const char *name)
{
    return strcmp(name, "//anon") == 0 || strcmp(name, "[heap]") == 0 || strncmp(name, "[stack", 6) == 0 ||
           strncmp(name, "[anon", 5) == 0;
}

/* Code is not written: where it lies matters to names alone. */
static bool is_shared(const struct as_perf_process *map)
{
    return (map->flags & MAP_SHARED) && map->inode && map->data;
}

/* NULL: it is not shared. */
static const char *shared_name(struct as_comm_native *native, const struct as_perf_process *map)
{
    if (!is_shared(map))
        return NULL;
    char *name = as_guest_shared_name(map->name);
    const char *kept = as_strings_get(native->shared_names, as_strings_intern(native->shared_names, name));
    free(name);
    return kept;
}

/* Whatever was there before is gone. */
static void take_shared(struct as_comm_native *native, uint32_t process, const struct as_perf_process *map)
{
    struct as_mapping mapping = {.start = map->start,
                                 .bytes = map->length,
                                 .object = is_shared(map) ? as_mapping_object(map->major, map->minor, map->inode) : 0,
                                 .offset = map->offset,
                                 .name = map->name};
    as_shared_memory_map(native->shared, process, &mapping);
}

static void take_agent(struct as_comm_native *native, const struct as_perf_process *map)
{
    if (!map->data && strcmp(as_path_base(map->name), "assay-agent.so") == 0)
        *as_vec_push(&native->agents) =
            (struct agent_code){.pid = map->pid, .start = map->start, .end = map->start + map->length};
}

static bool is_agent(const struct as_comm_native *native, const struct as_perf_sample *sample)
{
    for (size_t i = native->agents.len; i-- > 0;) {
        const struct agent_code *code = &native->agents.data[i];
        if (code->pid == sample->pid && sample->ip >= code->start && sample->ip < code->end)
            return true;
    }
    return false;
}

static void take_map(void *context, struct as_perf_process *map)
{
    struct as_comm_native *native = context;
    uint32_t process = as_native_lens_address_space(native->lens, map->pid);
    take_shared(native, process, map);
    take_agent(native, map);
    if (!is_anonymous(map->name) && !is_shared(map)) {
        as_space_map(space_of(native, process), map->start, map->start + map->length, map->offset, map->name);
        return;
    }
    for (size_t i = 0; i < native->regions.len; i++)
        if (native->regions.data[i].process == process && native->regions.data[i].start == map->start &&
            native->regions.data[i].end == map->start + map->length)
            return;
    *as_vec_push(&native->regions) = (struct as_guest_region){.process = process,
                                                              .start = map->start,
                                                              .end = map->start + map->length,
                                                              .shared = shared_name(native, map),
                                                              .is_heap = strcmp(map->name, "[heap]") == 0,
                                                              .is_stack = strncmp(map->name, "[stack", 6) == 0};
}

static void copy_map(void *space, uint64_t start, uint64_t end, uint64_t offset, const char *path)
{
    as_space_map(space, start, end, offset, path);
}

/* A forked process has what its parent had mapped. */
static void take_fork(struct as_comm_native *native, const struct as_perf_process *fork)
{
    uint32_t parent = as_native_lens_address_space(native->lens, fork->parent_pid);
    uint32_t child = as_native_lens_address_space(native->lens, fork->pid);
    if (parent == child || fork->exec)
        return;
    struct as_space *to = space_of(native, child); /* before that of the parent: it may move the list */
    as_space_each(space_of(native, parent), copy_map, to);
    as_shared_memory_fork(native->shared, parent, child);
    for (size_t i = 0, n = native->regions.len; i < n; i++) {
        struct as_guest_region region = native->regions.data[i];
        region.process = child;
        if (native->regions.data[i].process == parent)
            *as_vec_push(&native->regions) = region;
    }
}

/* Files have come as records; of these only what has no file is new. */
static void take_region(void *context, struct as_perf_process *map)
{
    if (is_anonymous(map->name) && !is_shared(map))
        take_map(context, map);
}

/* Of threads that came since the last look: their stacks are among the regions now. */
static void look_at_starts(struct as_comm_native *native)
{
    for (size_t i = native->starts.len; i < as_native_lens_threads(native->lens); i++) {
        const struct as_native_lens_thread *thread = as_native_lens_thread(native->lens, i);
        const struct as_guest_region *stack =
            as_guest_region_at(native->regions.data, native->regions.len, thread->process, thread->stack);
        struct start *start = as_vec_push(&native->starts);
        *start = (struct start){0};
        start->known =
            stack && thread->pid != thread->tid && as_thread_start_words((pid_t)thread->pid, stack->end, start->words);
    }
}

static void look_at_maps(struct as_comm_native *native, uint32_t pid)
{
    size_t threads = as_native_lens_threads(native->lens);
    double now = as_clock_seconds();
    if (threads == native->seen || now - native->looked < MAPS_SECONDS)
        return;
    native->seen = threads;
    native->looked = now;
    as_process_maps((pid_t)pid, true, take_region, native);
    look_at_starts(native);
}

/* ---- the sink ---- */

static bool on_process(void *context, const struct as_perf_process *process, struct as_error *err)
{
    struct as_comm_native *native = context;
    struct as_perf_process map = *process;
    as_native_lens_process(native->lens, process);
    if (process->kind == AS_PERF_MAP && process->mode != AS_PERF_KERNEL)
        take_map(native, &map);
    if (process->kind == AS_PERF_FORK)
        take_fork(native, process);
    return true;
}

static bool on_sample(void *context, const struct as_perf_sample *sample, struct as_error *err)
{
    struct as_comm_native *native = context;
    double weight = as_native_weight(native->session, sample);
    if (is_agent(native, sample))
        return true;
    as_native_lens_sample(native->lens, sample, weight >= 1 ? (uint64_t)weight : 1,
                          native->options.source == AS_COMM_TIMER);
    look_at_maps(native, sample->pid);
    return true;
}

static const struct as_perf_sink sink = {.process = on_process, .sample = on_sample};

/* ---- the run ---- */

static void stop(void *context)
{
    struct as_native_session *session = atomic_load(&((struct as_comm_native *)context)->watched);
    if (session)
        as_native_stop(session);
}

static bool choose(const struct as_comm_native_options *options, struct as_native_choice *choice, struct as_error *err)
{
    struct as_probe probe = {.precise = -1};
#ifndef __x86_64__
    return as_error_set(err, "only the registers of x86-64 are understood: --source=model follows the program");
#endif
    as_probe_machine("", &probe);
    return as_native_choose("", &probe, options->source == AS_COMM_PMU ? AS_NATIVE_PMU : AS_NATIVE_TIMER,
                            AS_NATIVE_ACCESSES, choice, err);
}

static bool start(struct as_comm_native *native, char *const argv[], struct as_error *err)
{
    const struct as_comm_native_options *options = &native->options;
    struct as_native_choice choice;
    if (!choose(options, &choice, err))
        return false;
    as_notice(&options->notices, AS_LOG_DEBUG, "samples: %s (%s)", choice.how, choice.reason);
    struct as_native_options session = {.events = choice.events,
                                        .n_events = choice.n_events,
                                        .rate = options->rate,
                                        .mode = AS_NATIVE_USER,
                                        .fields = choice.fields | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
                                                  (options->no_paths ? 0 : PERF_SAMPLE_CALLCHAIN),
                                        .stack_bytes = STACK_BYTES,
                                        .ring_bytes = RING_BYTES,
                                        .data_maps = true,
                                        .wait_ms = WAIT_MS,
                                        .environment = options->environment,
                                        .stdout_to_stderr = options->stdout_to_stderr};
    pid_t pid = (pid_t)options->pid;
    as_signals_catch(
        &(struct as_signals){.attached = pid != 0, .stop = stop, .context = native, .patience = pid ? 1 : 2});
    native->session = pid ? as_native_attach(&session, pid, err) : as_native_launch(&session, argv, err);
    if (!native->session)
        as_signals_restore();
    return native->session != NULL;
}

/* The clock interrupts the kernel's code too, though there is no sample of it. */
static double sampling_cost(const struct as_comm_native *native)
{
    double interrupts = (double)native->info.cost.samples, by_clock = native->info.processor * native->options.rate;
    if (native->options.source == AS_COMM_TIMER && by_clock > interrupts)
        interrupts = by_clock;
    return interrupts * SAMPLE_SECONDS;
}

static void describe_end(struct as_comm_native *native)
{
    const struct as_native_info *info = as_native_info(native->session);
    int status = as_native_wait_status(native->session);
    native->info.seconds = info->seconds;
    native->info.processor = info->counted;
    native->info.lost = info->lost;
    native->info.threads = info->threads;
    native->info.cost = as_native_lens_cost(native->lens);
    native->info.sampling = sampling_cost(native);
    native->info.end.running = !native->options.pid && status == -1;
    native->info.end.interrupted = native->info.end.running && as_signals_insisted();
    if (status != -1)
        as_run_end_take(&native->info.end, status);
    for (size_t i = 0; i < AS_NATIVE_NOTES && info->notes[i][0]; i++)
        as_notice(&native->options.notices, AS_LOG_NOTE, "%s", info->notes[i]);
}

/* ---- the end ---- */

static void find_stack(const struct as_comm_native *native, struct as_comm_thread *thread, uint64_t address)
{
    const struct as_guest_region *region =
        as_guest_region_at(native->regions.data, native->regions.len, thread->process, address);
    if (region) {
        thread->stack_start = region->start;
        thread->stack_end = region->end;
    }
}

/* The function that a thread began with; NULL: unknown. */
static const char *start_name(struct as_comm_native *native, uint32_t process, const struct start *start)
{
    struct as_location location;
    for (size_t i = 0; start->known && i < AS_THREAD_START_WORDS; i++) {
        if (!start->words[i])
            continue;
        as_space_find(space_of(native, process), start->words[i], &location);
        if (location.function && location.function_start == start->words[i])
            return location.function;
    }
    return NULL;
}

static void add_thread(struct as_comm_native *native, const struct as_native_lens_thread *known,
                       const struct start *start)
{
    struct as_comm_thread thread = {.number = known->number,
                                    .process = known->process,
                                    .core = known->core,
                                    .pid = (int32_t)known->pid,
                                    .tid = (int32_t)known->tid,
                                    .paths = {known->path},
                                    .start = start ? start_name(native, known->process, start) : NULL};
    memcpy(thread.comm, known->comm, sizeof thread.comm);
    find_stack(native, &thread, known->stack);
    while (native->places.len <= known->number)
        *as_vec_push(&native->places) = UINT32_MAX;
    native->places.data[known->number] = (uint32_t)native->threads.len;
    *as_vec_push(&native->threads) = thread;
}

static bool home_of(void *shared, uint32_t *process, uint64_t *address)
{
    return as_shared_memory_home(shared, process, address);
}

static void finish(struct as_comm_native *native)
{
    as_native_lens_poll(native->lens);
    as_detect_finish(native->detect);
    for (size_t i = 0; i < as_native_lens_threads(native->lens) && i < AS_PAIR_THREADS; i++)
        add_thread(native, as_native_lens_thread(native->lens, i),
                   i < native->starts.len ? &native->starts.data[i] : NULL);
    as_pair_matrix_grow(&native->estimate, native->threads.len);
    as_detect_matrix(native->detect, native->places.data, native->places.len, &native->estimate);
    as_detect_contacts(native->detect, native->places.data, native->places.len, &native->contacts);
    as_contacts_home(&native->contacts, home_of, native->shared);
}

bool as_comm_native_run(struct as_comm_native *native, char *const argv[], struct as_error *err)
{
    if (!start(native, argv, err))
        return false;
    atomic_store(&native->watched, native->session);
    as_signals_pass_to(as_native_pid(native->session));
    if (native->options.duration > 0)
        as_signals_alarm(native->options.duration);
    bool ok = as_native_run(native->session, &sink, native, err);
    as_signals_shield();
    if (ok) {
        finish(native);
        describe_end(native);
    }
    return ok;
}

/* ---- answers ---- */

void as_comm_native_block(struct as_comm_native *native, uint32_t pid, const struct as_guest_site *site, uint64_t start,
                          uint64_t bytes)
{
    struct as_guest_site own = *site;
    own.process = as_native_lens_address_space(native->lens, pid);
    as_guest_memory_add(native->blocks, &own, start, bytes);
}

const struct as_comm_native_info *as_comm_native_info(const struct as_comm_native *native)
{
    return &native->info;
}

static struct as_space *name_space(void *context, uint32_t process, uint64_t insn)
{
    const struct as_comm_native *native = context;
    return process < native->spaces.len ? native->spaces.data[process] : NULL;
}

static uint64_t address_of(void *context, uint64_t insn)
{
    return insn;
}

/* In a program without frame pointers the kernel follows arbitrary values: what lies outside all code called nobody. */
static size_t callers_in_code(struct as_space *space, const uint64_t *frames, size_t n)
{
    struct as_location location;
    size_t count = n ? 1 : 0;
    for (; count < n; count++) {
        as_space_find(space, frames[count], &location);
        if (strcmp(location.module, "[unknown]") == 0)
            break;
    }
    return count;
}

static size_t frames_of(void *context, uint32_t path, uint64_t *functions, size_t n, struct as_space **space)
{
    const struct as_comm_native *native = context;
    const uint64_t *frames;
    uint32_t process;
    size_t count = as_native_lens_path(native->lens, path, &frames, &process);
    *space = count ? name_space(context, process, 0) : NULL;
    if (!*space)
        return 0;
    count = callers_in_code(*space, frames, count);
    for (size_t i = 0; i < count && i < n; i++)
        functions[i] = frames[i];
    return count;
}

struct as_comm_result as_comm_native_result(const struct as_comm_native *native)
{
    return (struct as_comm_result){
        .source = native->options.source == AS_COMM_PMU ? "pmu" : "timer",
        .is_time = native->options.source == AS_COMM_TIMER,
        .threads = native->threads.data,
        .n_threads = native->threads.len,
        .estimate = &native->estimate,
        .contacts = &native->contacts,
        .blocks = native->blocks,
        .regions = native->regions.data,
        .n_regions = native->regions.len,
        .detect = as_detect_counts(native->detect),
        .names = {
            .space = name_space, .address = address_of, .frames = frames_of, .cut = true, .context = (void *)native}};
}
