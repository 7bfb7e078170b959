/* See native_lens.h. A thread is known by its number of the kernel's until it ends or executes another program; then it
 * comes anew, as a process of its own. */
#include "lens/native_lens.h"

#include "base/map.h"
#include "base/random.h"
#include "lens/lens_registers.h"
#include "native/lookback.h"
#include "watch/cause.h"

#include <linux/perf_event.h>
#include <stdio.h>

enum { SKIP = 16, DEPTH = 32, RSP = 4, CODES = 256 };

/* The instructions before one at which a thread was interrupted: loops are, again and again, at the same ones. */
struct known_code {
    uint32_t pid;
    uint64_t ip;
    struct as_lookback_code before;
};

struct thread {
    struct as_native_lens_thread known;
    bool live;
    uint64_t samples;
    uint64_t last, since; /* when it was sampled last; since when it runs without a break */
};

struct path {
    uint32_t process;
    size_t first, n; /* in the list of frames */
};

struct as_native_lens {
    struct as_native_lens_options options;
    const struct as_lens_client *client;
    void *client_context;
    const struct as_shared_ranges *(*shared)(void *context, uint32_t process); /* NULL: nothing is */
    void *shared_context;
    struct as_code *code;
    struct as_lens_registers registers;
    uint64_t random, time;
    AS_VEC(struct thread) threads; /* by number - 1 */
    struct as_map numbers;         /* tid: number, as long as it lives */
    struct as_map processes;       /* pid: number of its address space */
    uint32_t n_processes;
    struct as_map comms; /* tid: place in names + 1 */
    AS_VEC(char *) names;
    AS_VEC(struct path) paths; /* by number - 1 */
    AS_VEC(uint64_t) frames;
    struct as_map path_numbers; /* hash: number */
    struct known_code codes[CODES];
    struct as_native_lens_cost cost;
};

struct as_native_lens *as_native_lens_new(const struct as_native_lens_options *options)
{
    struct as_native_lens *lens = as_alloc(sizeof *lens);
    lens->options = *options;
    lens->options.registers = options->registers < AS_LENS_REGISTERS ? options->registers : AS_LENS_REGISTERS;
    lens->code = as_code_new(true);
    lens->random = as_random_hash(options->seed);
    as_cause_prepare();
    as_lens_registers_start(&lens->registers, options->budget, &lens->cost);
    return lens;
}

void as_native_lens_free(struct as_native_lens *lens)
{
    if (!lens)
        return;
    as_lens_registers_end(&lens->registers);
    as_code_free(lens->code);
    for (size_t i = 0; i < lens->names.len; i++)
        free(lens->names.data[i]);
    as_vec_free(&lens->names);
    as_vec_free(&lens->threads);
    as_vec_free(&lens->paths);
    as_vec_free(&lens->frames);
    as_map_free(&lens->numbers);
    as_map_free(&lens->processes);
    as_map_free(&lens->comms);
    as_map_free(&lens->path_numbers);
    free(lens);
}

void as_native_lens_set_client(struct as_native_lens *lens, const struct as_lens_client *client, void *context)
{
    lens->client = client;
    lens->client_context = context;
}

void as_native_lens_set_shared(struct as_native_lens *lens,
                               const struct as_shared_ranges *(*shared)(void *context, uint32_t process), void *context)
{
    lens->shared = shared;
    lens->shared_context = context;
}

/* What a thread's process shares. */
static const struct as_shared_ranges *shared_of(const struct as_native_lens *lens, const struct thread *thread)
{
    static const struct as_shared_ranges none;
    return lens->shared ? lens->shared(lens->shared_context, thread->known.process) : &none;
}

/* ---- threads and processes ---- */

uint32_t as_native_lens_address_space(struct as_native_lens *lens, uint32_t pid)
{
    uint64_t *number = as_map_put(&lens->processes, pid);
    if (!*number)
        *number = ++lens->n_processes;
    return (uint32_t)*number;
}

static uint64_t look_up(const struct as_map *map, uint64_t key)
{
    const uint64_t *value = as_map_get(map, key);
    return value ? *value : 0;
}

static struct thread *find_thread(const struct as_native_lens *lens, uint32_t number)
{
    return number && number <= lens->threads.len ? &lens->threads.data[number - 1] : NULL;
}

static void start_thread(struct as_native_lens *lens, const struct as_perf_sample *sample, uint32_t tid)
{
    struct thread *thread = as_vec_push(&lens->threads);
    *as_map_put(&lens->numbers, tid) = lens->threads.len;
    *thread = (struct thread){.live = true,
                              .known = {.number = (uint32_t)lens->threads.len,
                                        .process = as_native_lens_address_space(lens, sample->pid),
                                        .core = sample->cpu,
                                        .pid = sample->pid,
                                        .tid = tid}};
    uint64_t name = look_up(&lens->comms, tid);
    if (name)
        snprintf(thread->known.comm, sizeof thread->known.comm, "%s", lens->names.data[name - 1]);
    if (lens->client && lens->client->thread_start)
        lens->client->thread_start(lens->client_context, thread->known.number, thread->known.process);
}

static bool has_process(const struct as_native_lens *lens, uint32_t process)
{
    for (size_t i = 0; i < lens->threads.len; i++)
        if (lens->threads.data[i].known.process == process)
            return true;
    return false;
}

/* A process's first thread comes before those that it started, although one of these may be sampled earlier. */
static struct thread *thread_of(struct as_native_lens *lens, const struct as_perf_sample *sample)
{
    uint64_t number = look_up(&lens->numbers, sample->tid);
    if (number)
        return find_thread(lens, (uint32_t)number);
    if (sample->tid != sample->pid && !has_process(lens, as_native_lens_address_space(lens, sample->pid)))
        start_thread(lens, sample, sample->pid);
    start_thread(lens, sample, sample->tid);
    return &lens->threads.data[lens->threads.len - 1];
}

/* Its registers go with it. */
static void end_thread(struct as_native_lens *lens, uint32_t tid)
{
    struct thread *thread = find_thread(lens, (uint32_t)look_up(&lens->numbers, tid));
    if (!thread)
        return;
    thread->live = false;
    *as_map_put(&lens->numbers, tid) = 0;
    if (lens->client && lens->client->thread_end)
        lens->client->thread_end(lens->client_context, thread->known.number);
    for (size_t i = 0; i < lens->registers.list.len; i++) {
        struct as_lens_register *reg = &lens->registers.list.data[i];
        if (reg->armed && reg->thread == thread->known.number)
            as_lens_registers_disarm(&lens->registers, reg);
    }
}

/* execve: all threads are gone, and so is the address space. */
static void end_process(struct as_native_lens *lens, uint32_t pid)
{
    for (size_t i = 0; i < lens->threads.len; i++)
        if (lens->threads.data[i].live && lens->threads.data[i].known.pid == pid)
            end_thread(lens, lens->threads.data[i].known.tid);
    *as_map_put(&lens->processes, pid) = ++lens->n_processes;
}

static void take_name(struct as_native_lens *lens, const struct as_perf_process *process)
{
    struct thread *thread = find_thread(lens, (uint32_t)look_up(&lens->numbers, process->tid));
    if (thread)
        snprintf(thread->known.comm, sizeof thread->known.comm, "%s", process->name);
    *as_vec_push(&lens->names) = as_strdup(process->name);
    *as_map_put(&lens->comms, process->tid) = lens->names.len;
}

void as_native_lens_process(struct as_native_lens *lens, const struct as_perf_process *process)
{
    struct as_error err = AS_ERROR_INIT;
    (void)as_code_process(lens->code, process, &err); /* never fails */
    if (process->kind == AS_PERF_EXIT)
        end_thread(lens, process->tid);
    if (process->kind == AS_PERF_COMM && process->exec)
        end_process(lens, process->pid);
    if (process->kind == AS_PERF_COMM)
        take_name(lens, process);
    uint64_t parent = process->kind == AS_PERF_FORK ? look_up(&lens->comms, process->parent_tid) : 0;
    if (parent) /* a new thread has its parent's name until it gets one */
        *as_map_put(&lens->comms, process->tid) = parent;
}

size_t as_native_lens_threads(const struct as_native_lens *lens)
{
    return lens->threads.len;
}

const struct as_native_lens_thread *as_native_lens_thread(const struct as_native_lens *lens, size_t place)
{
    return &lens->threads.data[place].known;
}

/* ---- call paths ---- */

static bool is_path(const struct as_native_lens *lens, uint64_t number, uint32_t process, const uint64_t *frames,
                    size_t n)
{
    const struct path *path = &lens->paths.data[number - 1];
    return path->process == process && path->n == n &&
           memcmp(&lens->frames.data[path->first], frames, n * sizeof *frames) == 0;
}

static uint32_t number_path(struct as_native_lens *lens, uint32_t process, const uint64_t *frames, size_t n)
{
    for (uint64_t key = as_random_hash(as_hash_bytes(frames, n * sizeof *frames) ^ process);; key++) {
        uint64_t *number = as_map_put(&lens->path_numbers, key);
        if (*number && !is_path(lens, *number, process, frames, n))
            continue;
        if (!*number) {
            *as_vec_push(&lens->paths) = (struct path){.process = process, .first = lens->frames.len, .n = n};
            for (size_t i = 0; i < n; i++)
                *as_vec_push(&lens->frames) = frames[i];
            *number = lens->paths.len;
        }
        return (uint32_t)*number;
    }
}

/* The kernel's chain: the first frame is the instruction itself, the others are return addresses, which may be behind the
 * end of their function. */
static uint32_t path_of(struct as_native_lens *lens, uint32_t process, const struct as_perf_sample *sample)
{
    uint64_t frames[DEPTH], ip;
    enum as_perf_mode mode = sample->mode;
    size_t n = 0;
    for (size_t at = 0; n < DEPTH && as_perf_chain_next(sample, &at, &ip, &mode);)
        if (mode == AS_PERF_USER && ip) {
            frames[n] = n ? ip - 1 : ip;
            n++;
        }
    return n ? number_path(lens, process, frames, n) : 0;
}

/* The interrupt came at another instruction than the one that accessed memory: its path begins with the latter. Otherwise equal accesses
 * would be of as many paths as the interrupts have places. */
static void set_insn(struct as_native_lens *lens, struct as_lens_access *access, uint64_t insn)
{
    access->insn = insn;
    if (!access->path)
        return;
    struct path path = lens->paths.data[access->path - 1];
    uint64_t frames[DEPTH];
    memcpy(frames, &lens->frames.data[path.first], path.n * sizeof *frames);
    frames[0] = insn;
    access->path = number_path(lens, path.process, frames, path.n);
}

size_t as_native_lens_path(const struct as_native_lens *lens, uint32_t path, const uint64_t **frames, uint32_t *process)
{
    if (!path || path > lens->paths.len)
        return 0;
    const struct path *found = &lens->paths.data[path - 1];
    *frames = &lens->frames.data[found->first];
    *process = found->process;
    return found->n;
}

/* ---- what the client asks ---- */

static bool is_right(const struct as_lens_watch *watch)
{
    bool length = watch->length && watch->length <= 8 && (watch->length & (watch->length - 1)) == 0;
    return length && watch->address % watch->length == 0 && watch->kind & AS_ACCESS_STORE;
}

static enum as_lens_result arm(void *context, uint32_t number, const struct as_lens_watch *watch,
                               struct as_lens_ref *ref)
{
    struct as_native_lens *lens = context;
    const struct thread *thread = find_thread(lens, number);
    if (!thread || !thread->live)
        return AS_LENS_GONE;
    struct as_lens_watch own = *watch;
    if (!is_right(watch) || !lens->options.registers ||
        (as_shared_is(watch->address) && !as_shared_virtual(shared_of(lens, thread), watch->address, &own.address)))
        return AS_LENS_REFUSED;
    uint32_t used = as_lens_registers_used(&lens->registers, number);
    uint32_t slot = (uint32_t)__builtin_ctz(~used);
    if (slot >= lens->options.registers)
        return AS_LENS_FULL;
    *ref = (struct as_lens_ref){.thread = number, .slot = slot};
    return as_lens_registers_arm(&lens->registers, thread->known.tid, ref, &own, &ref->generation);
}

static enum as_lens_result disarm(void *context, const struct as_lens_ref *ref)
{
    struct as_native_lens *lens = context;
    struct as_lens_register *reg = as_lens_registers_find(&lens->registers, ref);
    if (!reg)
        return AS_LENS_GONE;
    as_lens_registers_disarm(&lens->registers, reg);
    return AS_LENS_OK;
}

static enum as_lens_result move(void *context, struct as_lens_ref *ref, const struct as_lens_watch *watch)
{
    enum as_lens_result result = is_right(watch) ? disarm(context, ref) : AS_LENS_REFUSED;
    return result == AS_LENS_OK ? arm(context, ref->thread, watch, ref) : result;
}

static bool counts(void *context, uint32_t number, struct as_lens_counts *made)
{
    return false;
}

static uint64_t now(void *context)
{
    return ((const struct as_native_lens *)context)->time;
}

static uint32_t registers(void *context)
{
    return ((const struct as_native_lens *)context)->options.registers;
}

static const struct as_lens_ops native_ops = {.name = "native",
                                              .arm = arm,
                                              .move = move,
                                              .disarm = disarm,
                                              .counts = counts,
                                              .time = now,
                                              .registers = registers};

struct as_lens as_native_lens_open(struct as_native_lens *lens)
{
    return (struct as_lens){.ops = &native_ops, .context = lens};
}

/* ---- traps ---- */

static struct as_lens_access describe(struct as_native_lens *lens, const struct thread *thread,
                                      const struct as_perf_sample *sample)
{
    if (sample->time != AS_PERF_NO_TIME && sample->time > lens->time)
        lens->time = sample->time;
    return (struct as_lens_access){.thread = thread->known.number,
                                   .core = sample->cpu,
                                   .insn = sample->ip,
                                   .path = path_of(lens, thread->known.process, sample),
                                   .time = lens->time ? lens->time : 1};
}

struct code_of {
    struct as_code *code;
    uint32_t pid;
};

static size_t read_code(void *context, uint64_t address, void *bytes, size_t size)
{
    const struct code_of *code = context;
    size_t got = as_code_read(code->code, code->pid, address, bytes, size);
    return got ? got : as_code_memory(code->code, code->pid, address, bytes, size);
}

/* Where the instruction cannot be told, the access is taken to be of the watched bytes, of either kind. */
static void find_cause(struct as_native_lens *lens, const struct as_perf_sample *sample,
                       const struct as_lens_watch *watch, struct as_lens_access *access)
{
    struct code_of code = {.code = lens->code, .pid = sample->pid};
    struct as_cause_query query = {.arch = AS_ARCH_X86_64,
                                   .address = watch->address,
                                   .length = watch->length,
                                   .read = read_code,
                                   .context = &code};
    struct as_cause cause = {0};
    if (as_sample_registers(sample, &query.state))
        as_cause_find(&query, &cause);
    bool found = cause.how != AS_CAUSE_NONE && cause.ip;
    lens->cost.causes += found;
    set_insn(lens, access, found ? cause.ip : sample->ip);
    access->kind = found ? cause.access : 0;
    access->address = found && cause.address ? cause.address : watch->address;
    access->size = found && cause.address ? cause.size : watch->length;
}

static void take_trap(struct as_native_lens *lens, const struct as_lens_register *reg,
                      const struct as_perf_sample *sample)
{
    const struct thread *thread = find_thread(lens, reg->thread);
    struct as_lens_trap trap = {
        .access = describe(lens, thread, sample),
        .ref = {.thread = reg->thread, .slot = reg->slot, .generation = reg->generation},
        .watch = reg->watch,
    };
    find_cause(lens, sample, &trap.watch, &trap.access);
    trap.access.address = as_shared_physical(shared_of(lens, thread), trap.access.address);
    if (thread->live && lens->client && lens->client->trap)
        lens->client->trap(lens->client_context, &trap);
}

void as_native_lens_poll(struct as_native_lens *lens)
{
    struct as_breakpoint_hit hit;
    struct as_lens_register *reg;
    for (size_t at = 0; (reg = as_lens_registers_next(&lens->registers, &at, &hit));) {
        struct as_lens_ref ref = {.thread = reg->thread, .slot = reg->slot, .generation = reg->generation};
        take_trap(lens, reg, &hit.sample);
        reg = as_lens_registers_find(&lens->registers, &ref); /* it traps no more, whatever the client did */
        if (reg)
            as_lens_registers_disarm(&lens->registers, reg);
    }
}

/* ---- samples ---- */

static void give(struct as_native_lens *lens, struct as_lens_sample *given, uint64_t address, uint32_t size,
                 uint8_t kind)
{
    const struct thread *thread = find_thread(lens, given->access.thread);
    given->access.address = as_shared_physical(shared_of(lens, thread), address);
    given->access.size = size;
    given->access.kind = kind & (AS_ACCESS_LOAD | AS_ACCESS_STORE);
    if (lens->client && lens->client->sample)
        lens->client->sample(lens->client_context, given);
}

static const struct as_lookback_code *code_before(struct as_native_lens *lens, struct code_of *code, uint64_t ip)
{
    struct known_code *known = &lens->codes[as_random_hash(ip ^ code->pid) % CODES];
    if (known->ip != ip || known->pid != code->pid) {
        *known = (struct known_code){.pid = code->pid, .ip = ip};
        as_lookback_find(ip, read_code, code, &known->before);
    }
    return &known->before;
}

/* What the thread accessed right before: an interrupt comes behind the access that took the time. */
static void look_back(struct as_native_lens *lens, const struct as_perf_sample *sample, struct as_lookback *before)
{
    struct code_of code = {.code = lens->code, .pid = sample->pid};
    struct as_machine_state state;
    before->n = 0;
    if (as_sample_registers(sample, &state))
        as_lookback_from(&state, code_before(lens, &code, state.ip), read_code, &code, before);
}

static void take_before(const struct as_lookback_access *access, struct as_reconstruction *found)
{
    *found = (struct as_reconstruction){.how = AS_RECONSTRUCT_NEXT, .ip = access->ip, .n = 1};
    found->accesses[0].address = access->address;
    found->accesses[0].size = access->size;
    found->accesses[0].access = access->access;
}

static bool take_ahead(struct as_native_lens *lens, const struct as_perf_sample *sample, unsigned skip,
                       struct as_reconstruction *found)
{
    as_reconstruct(lens->code, sample, skip, found);
    return found->how != AS_RECONSTRUCT_NONE;
}

/* One of the accesses around the interrupt, so that those behind which interrupts like to come are not favoured. To look back
 * takes longest, so it is done for the part of the samples that may need it; where the way ahead is not known, one of what lies
 * up to there and of what lies behind. */
static bool find_access(struct as_native_lens *lens, const struct as_perf_sample *sample,
                        struct as_reconstruction *found)
{
    struct as_lookback before = {0};
    unsigned which = (unsigned)as_random_below(&lens->random, AS_LOOKBACK_ACCESSES + SKIP);
    if (which < AS_LOOKBACK_ACCESSES)
        look_back(lens, sample, &before);
    if (which < before.n) {
        take_before(&before.accesses[which], found);
        return true;
    }
    if (take_ahead(lens, sample, (unsigned)as_random_below(&lens->random, SKIP), found))
        return true;
    if (which >= AS_LOOKBACK_ACCESSES)
        look_back(lens, sample, &before);
    unsigned n = before.n + found->skipped;
    which = n ? (unsigned)as_random_below(&lens->random, n) : 0;
    if (which < before.n)
        take_before(&before.accesses[which], found);
    return n && (which < before.n || take_ahead(lens, sample, which - before.n, found));
}

/* The processor reports the address. The rest follows from the instruction. */
static bool take_recorded(struct as_native_lens *lens, const struct as_perf_sample *sample,
                          struct as_lens_sample *given)
{
    union perf_mem_data_src source = {.val = sample->has & PERF_SAMPLE_DATA_SRC ? sample->data_src : 0};
    uint8_t told = (source.mem_op & PERF_MEM_OP_LOAD ? AS_ACCESS_LOAD : 0) |
                   (source.mem_op & PERF_MEM_OP_STORE ? AS_ACCESS_STORE : 0);
    uint8_t kind = told;
    struct as_reconstruction found;
    uint32_t size = 0;
    if (!(sample->has & PERF_SAMPLE_ADDR) || !sample->addr)
        return false;
    as_reconstruct(lens->code, sample, 0, &found);
    for (unsigned i = 0; found.how == AS_RECONSTRUCT_EXACT && i < found.n; i++) {
        if (sample->addr - found.accesses[i].address >= found.accesses[i].size)
            continue;
        size = found.accesses[i].size;
        kind = found.accesses[i].access;
    }
    given->counter = told ? told : kind; /* an atomic that the counter of loads sampled is that of stores' too */
    if (kind)
        give(lens, given, sample->addr, size, kind);
    return kind;
}

static bool take_reconstructed(struct as_native_lens *lens, const struct as_perf_sample *sample,
                               struct as_lens_sample *given)
{
    struct as_reconstruction found;
    if (!find_access(lens, sample, &found))
        return false;
    set_insn(lens, &given->access, found.ip);
    given->counter = AS_ACCESS_LOAD | AS_ACCESS_STORE;
    for (unsigned i = 0; i < found.n; i++)
        give(lens, given, found.accesses[i].address, found.accesses[i].size, found.accesses[i].access);
    return true;
}

/* By a clock of the thread's own a sample comes every period as long as the thread runs. One that is late by half of that says
 * that the thread has waited meanwhile, for a processor or for something else. */
static void know_run(struct thread *thread, struct as_lens_sample *given)
{
    uint64_t time = given->access.time, limit = given->period + given->period / 2;
    if (!thread->last || time - thread->last > limit)
        thread->since = time;
    thread->last = time;
    given->access.since = thread->since;
    given->access.until = time + limit;
}

/* The path of a sample whose number is a power of two: most likely where the thread stays. */
static void know_thread(struct thread *thread, const struct as_perf_sample *sample, uint32_t path)
{
    struct as_machine_state state;
    thread->samples++;
    thread->known.core = sample->cpu;
    if ((thread->samples & (thread->samples - 1)) == 0)
        thread->known.path = path;
    if (!thread->known.stack && as_sample_registers(sample, &state))
        thread->known.stack = state.value[RSP];
}

void as_native_lens_sample(struct as_native_lens *lens, const struct as_perf_sample *sample, uint64_t period,
                           bool is_clock)
{
    as_native_lens_poll(lens);
    struct thread *thread = thread_of(lens, sample);
    struct as_lens_sample given = {.access = describe(lens, thread, sample), .period = period};
    know_thread(thread, sample, given.access.path);
    if (is_clock)
        know_run(thread, &given);
    lens->cost.samples++;
    if (!take_recorded(lens, sample, &given) && !take_reconstructed(lens, sample, &given))
        lens->cost.without++;
}

struct as_native_lens_cost as_native_lens_cost(const struct as_native_lens *lens)
{
    return lens->cost;
}
