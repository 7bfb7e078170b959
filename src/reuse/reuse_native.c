/* See reuse_native.h. All of it happens on one thread, the tracer's: the lens is serial. */
#include "reuse/reuse_native.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/random.h"
#include "base/signals.h"
#include "base/vec.h"
#include "native/process_maps.h"
#include "native/tracer.h"
#include "reuse/native_counters.h"
#include "reuse/native_rate.h"
#include "reuse/reuse_ahead.h"
#include "watch/cause.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { MARKS = 4, SKIP = 64, RATE_NAME = UINT16_MAX, LEAST_GAP = 4096, SHORT_GAP = 512, NEAR = 64, MAPS_SAMPLES = 64 };
/* How long a rate counts for the code where it was measured, and how far off the usual one it must be to count at all: one
 * measurement is not that exact. */
#define LOCAL_NANOSECONDS 2e6
#define FAR_OFF 1.5
#define CLEAR_NANOSECONDS 2000
#define SMALLEST_FACTOR (1.0 / 16)
#define LARGEST_FACTOR 2.0
#define MOST_PATIENCE 1.0 /* seconds; a program that waits is sampled after that, too */

struct thread {
    uint32_t number;
    pid_t tid;
    bool live;
    uint64_t last; /* processor time at its last stop, nanoseconds */
    uint64_t stops;
    double accesses; /* up to then */
    double local, until;
    struct as_native_counters counters;
};

struct reg {
    bool armed;
    int fd;
    uint32_t thread, slot, absorb;
    uint64_t generation;
    struct as_lens_watch watch;
};

/* A measurement under way: the time between the first two places is that of a trap, up to the last that of accesses. */
struct gauge {
    uint32_t left; /* places that the thread has not come to; 0: there is none under way */
    int fd;
    uint32_t thread, name;
    struct as_ahead_mark marks[MARKS];
    double cold;                 /* rate up to the third place */
    uint64_t time, stops, begun; /* at the last place; begun: sample */
};

struct as_reuse_native {
    struct as_reuse_native_options options;
    struct as_tracer *tracer;
    struct as_tracer *_Atomic watched;
    struct as_lookahead *ahead;
    struct as_lookahead_thread *copies[AS_AHEAD_THREADS];
    struct as_reuse_watch *watch;
    AS_VEC(struct thread) threads; /* by number - 1 */
    AS_VEC(struct reg) regs;
    struct gauge gauge;
    struct as_native_rate rate;
    uint64_t random, generations, samples;
    uint32_t absorb; /* of the use that is being armed */
    bool used[AS_LENS_REGISTERS];
    double started, weighed; /* weighed: processor nanoseconds at the last sample */
    double cost;             /* of a sample, seconds, mean of the last ones */
    size_t running;          /* threads that ran at the last sample, at least 1 */
    struct as_space *space;
    struct as_map codes; /* address of an instruction: place in `insns` + 1 */
    AS_VEC(uint64_t) insns;
    AS_VEC(double) densities; /* accesses an instruction where samples were taken, by sample */
    AS_VEC(double) speeds;    /* … a nanosecond; 0: unknown, negative: at least */
    uint64_t counted;         /* by the PMU, in threads that have ended */
    struct as_reuse_native_info info;
};

/* Instructions get numbers: outcomes keep these. */
static uint64_t number_of(struct as_reuse_native *native, uint64_t address)
{
    uint64_t *place = as_map_put(&native->codes, address);
    if (!*place) {
        *as_vec_push(&native->insns) = address;
        *place = native->insns.len;
    }
    return *place - 1;
}

/* ---- threads and their clocks ---- */

static struct thread *by_tid(struct as_reuse_native *native, pid_t tid)
{
    for (size_t i = native->threads.len; i-- > 0;)
        if (native->threads.data[i].tid == tid && native->threads.data[i].live)
            return &native->threads.data[i];
    return NULL;
}

static struct thread *by_number(struct as_reuse_native *native, uint32_t number)
{
    return number && number <= native->threads.len ? &native->threads.data[number - 1] : NULL;
}

static double rate_of(const struct as_reuse_native *native, const struct thread *thread)
{
    double usual = as_rate_usual(&native->rate), ratio = usual > 0 ? thread->local / usual : 1;
    bool is_local =
        thread->local > 0 && (double)thread->last < thread->until && (ratio > FAR_OFF || ratio < 1 / FAR_OFF);
    return is_local ? thread->local : usual > 0 ? usual : 1;
}

/* The thread stands still: what it has done since its last stop. */
static void update(struct as_reuse_native *native, struct thread *thread)
{
    uint64_t now = as_tracer_processor_time(native->tracer, thread->tid);
    double since = now > thread->last ? (double)(now - thread->last) - as_rate_trap(&native->rate) : 0;
    thread->accesses += fmax(0, since) * rate_of(native, thread);
    thread->last = now > thread->last ? now : thread->last;
    thread->stops++;
}

static void start_thread(struct as_reuse_native *native, pid_t tid)
{
    if (by_tid(native, tid))
        return;
    struct thread *thread = as_vec_push(&native->threads);
    *thread = (struct thread){.number = (uint32_t)native->threads.len, .tid = tid, .live = true};
    if (native->options.pmu)
        as_native_counters_open(&thread->counters, tid);
    native->info.threads++;
    as_reuse_watch_client.thread_start(native->watch, thread->number, 1);
}

static void end_thread(struct as_reuse_native *native, pid_t tid)
{
    struct thread *thread = by_tid(native, tid);
    if (!thread)
        return;
    as_reuse_watch_client.thread_end(native->watch, thread->number);
    thread->live = false;
    native->counted += as_native_counters_read(&thread->counters);
    as_native_counters_close(&thread->counters);
    for (size_t i = 0; i < native->regs.len; i++)
        if (native->regs.data[i].armed && native->regs.data[i].thread == thread->number) {
            close(native->regs.data[i].fd);
            native->regs.data[i].armed = false;
        }
}

/* ---- the lens ---- */

static struct reg *find_reg(struct as_reuse_native *native, const struct as_lens_ref *ref)
{
    for (size_t i = 0; i < native->regs.len; i++) {
        struct reg *reg = &native->regs.data[i];
        if (reg->armed && reg->thread == ref->thread && reg->generation == ref->generation)
            return reg;
    }
    return NULL;
}

static struct reg *free_reg(struct as_reuse_native *native)
{
    for (size_t i = 0; i < native->regs.len; i++)
        if (!native->regs.data[i].armed)
            return &native->regs.data[i];
    return as_vec_push(&native->regs);
}

static enum as_lens_result refuse(struct as_reuse_native *native)
{
    if (errno == ESRCH)
        return AS_LENS_GONE;
    native->info.refused++;
    native->info.refusal = errno;
    return errno == ENOSPC || errno == EBUSY ? AS_LENS_FULL : AS_LENS_REFUSED;
}

/* A trap may be delivered after its watchpoint was taken away and the place given to another: the generation tells. */
static uint32_t name_of(uint64_t generation, size_t place)
{
    return (uint32_t)(generation << 16) | (uint32_t)place;
}

/* `data` has the slot in its last three bits: the owner of a new use absorbs the traps up to the use itself. */
static enum as_lens_result arm(void *context, uint32_t number, const struct as_lens_watch *watch,
                               struct as_lens_ref *ref)
{
    struct as_reuse_native *native = context;
    const struct thread *thread = by_number(native, number);
    if (!thread || !thread->live)
        return AS_LENS_GONE;
    struct reg *reg = free_reg(native);
    size_t place = (size_t)(reg - native->regs.data);
    struct as_tracer_watch wanted = {.address = watch->address,
                                     .length = watch->length,
                                     .reads = watch->kind & AS_ACCESS_LOAD,
                                     .name = name_of(native->generations + 1, place)};
    *reg =
        (struct reg){.thread = number, .slot = watch->data & 7, .generation = ++native->generations, .watch = *watch};
    if (place >= RATE_NAME || (reg->fd = as_tracer_watch(thread->tid, &wanted)) < 0)
        return refuse(native);
    reg->armed = true;
    native->info.armings++;
    *ref = (struct as_lens_ref){.thread = number, .slot = reg->slot, .generation = reg->generation};
    return AS_LENS_OK;
}

static enum as_lens_result disarm(void *context, const struct as_lens_ref *ref)
{
    struct reg *reg = find_reg(context, ref);
    if (!reg)
        return AS_LENS_GONE;
    close(reg->fd);
    reg->armed = false;
    return AS_LENS_OK;
}

static enum as_lens_result move(void *context, struct as_lens_ref *ref, const struct as_lens_watch *watch)
{
    enum as_lens_result result = disarm(context, ref);
    return result == AS_LENS_OK ? arm(context, ref->thread, watch, ref) : result;
}

static bool counts(void *context, uint32_t number, struct as_lens_counts *made)
{
    struct as_reuse_native *native = context;
    struct thread *thread = by_number(native, number);
    if (!thread)
        return false;
    *made = (struct as_lens_counts){.accesses = (uint64_t)llround(thread->accesses),
                                    .how = native->rate.measured ? AS_LENS_TIMED : AS_LENS_ASSUMED};
    if (native->options.pmu) {
        made->accesses = as_native_counters_read(&thread->counters);
        made->how = AS_LENS_COUNTED;
    }
    return true;
}

static uint64_t now(void *context)
{
    return (uint64_t)(as_clock_seconds() * 1e9);
}

static uint32_t registers(void *context)
{
    const struct as_reuse_native *native = context;
    return native->options.registers - (native->options.pmu ? 0 : 1);
}

static const struct as_lens_ops native_ops = {.name = "traced",
                                              .serial = true,
                                              .arm = arm,
                                              .move = move,
                                              .disarm = disarm,
                                              .counts = counts,
                                              .time = now,
                                              .registers = registers};

/* ---- rates ---- */

static void end_gauge(struct as_reuse_native *native)
{
    if (native->gauge.left)
        close(native->gauge.fd);
    native->gauge.left = 0;
}

static const struct as_ahead_mark *next_mark(const struct gauge *gauge)
{
    return &gauge->marks[MARKS - gauge->left];
}

static void set_gauge(struct as_reuse_native *native)
{
    struct gauge *gauge = &native->gauge;
    gauge->name = name_of(++native->generations, RATE_NAME);
    struct as_tracer_watch wanted = {
        .address = next_mark(gauge)->address, .length = 8, .reads = true, .name = gauge->name};
    gauge->fd = as_tracer_watch(by_number(native, gauge->thread)->tid, &wanted);
    if (gauge->fd < 0)
        gauge->left = 0;
}

/* Two watchpoints of a thread at one address make one signal: the kernel does not queue the second. */
static bool is_watched(const struct as_reuse_native *native, uint64_t address)
{
    for (size_t i = 0; i < native->regs.len; i++)
        if (native->regs.data[i].armed && native->regs.data[i].watch.address / 8 == address / 8)
            return true;
    for (uint32_t i = MARKS - native->gauge.left; i < MARKS; i++)
        if (native->gauge.marks[i].address == (address & ~UINT64_C(7)))
            return true;
    return false;
}

/* From the use on, it is known which places the thread will be the first time at. */
static void begin_gauge(struct as_reuse_native *native, const struct thread *thread,
                        const struct as_ahead_result *result)
{
    const struct as_ahead_mark marks[MARKS] = {result->first, result->next, result->last, result->beyond};
    if (!marks[1].address || marks[1].index - marks[0].index > NEAR || marks[2].index - marks[1].index < SHORT_GAP)
        return;
    for (int i = 0; i < MARKS; i++)
        if (is_watched(native, marks[i].address))
            return;
    native->gauge = (struct gauge){.left = MARKS, .thread = thread->number, .begun = native->samples};
    memcpy(native->gauge.marks, marks, sizeof marks);
    set_gauge(native);
}

/* Where a sample was taken: what is not much longer than the trap's own time is not known, only fast; negative, how fast at
 * least. */
static void note_speed(struct as_reuse_native *native, double accesses, double nanoseconds)
{
    while (native->speeds.len <= native->gauge.begun)
        *as_vec_push(&native->speeds) = 0;
    if (native->rate.trapped)
        native->speeds.data[native->gauge.begun] =
            nanoseconds > CLEAR_NANOSECONDS ? accesses / nanoseconds : -accesses / CLEAR_NANOSECONDS;
}

static void trap_gauge(struct as_reuse_native *native, struct thread *thread)
{
    struct gauge *gauge = &native->gauge;
    double time = (double)(thread->last - gauge->time), stops = (double)(thread->stops - gauge->stops);
    double accesses = gauge->left < MARKS ? (double)(next_mark(gauge)->index - next_mark(gauge)[-1].index) : 0;
    close(gauge->fd);
    if (gauge->left == 3 && stops == 1)
        as_rate_add_trap(&native->rate, time);
    if (gauge->left == 2)
        note_speed(native, accesses, time - stops * as_rate_trap(&native->rate));
    if (gauge->left == 2 && accesses >= LEAST_GAP)
        thread->local = gauge->cold = as_rate_add(&native->rate, accesses, time, stops);
    if (gauge->left == 1)
        thread->local = as_rate_add_warm(&native->rate, gauge->cold, accesses, time, stops);
    thread->until = (double)thread->last + LOCAL_NANOSECONDS;
    gauge->time = thread->last;
    gauge->stops = thread->stops;
    gauge->left -= gauge->left == 2 && !gauge->marks[MARKS - 1].address ? 2 : 1;
    if (gauge->left)
        set_gauge(native);
}

/* ---- traps ---- */

static size_t read_memory(void *context, uint64_t address, void *bytes, size_t size)
{
    const struct as_reuse_native *native = context;
    struct iovec to = {bytes, size}, from = {(void *)(uintptr_t)address, size};
    ssize_t n = process_vm_readv(as_tracer_pid(native->tracer), &to, 1, &from, 1, 0);
    return n > 0 ? (size_t)n : 0;
}

static struct as_lens_access find_access(struct as_reuse_native *native, const struct thread *thread,
                                         const struct as_lens_watch *watch)
{
    struct as_lookahead_thread *copy = native->copies[0];
    struct as_lens_access access = {
        .thread = thread->number, .address = watch->address, .kind = watch->kind, .time = 1};
    struct as_cause cause = {0};
    if (!as_tracer_registers(native->tracer, thread->tid, copy))
        return access;
    struct as_cause_query query = {.arch = AS_ARCH_X86_64,
                                   .state = copy->state,
                                   .address = watch->address,
                                   .length = watch->length,
                                   .read = read_memory,
                                   .context = native};
    as_cause_find(&query, &cause);
    access.insn = number_of(native, cause.ip ? cause.ip : copy->state.ip);
    access.size = cause.size;
    if (cause.access && watch->kind & AS_ACCESS_LOAD)
        access.kind = cause.access;
    return access;
}

static void take_trap(struct as_reuse_native *native, struct thread *thread, struct reg *reg)
{
    if (reg->absorb) {
        if (--reg->absorb == 0) {
            native->used[reg->slot] = true;
            as_reuse_watch_used(native->watch, reg->watch.data);
        }
        return;
    }
    if (!native->used[reg->slot]) /* another thread, before the use */
        return;
    struct as_lens_trap trap = {
        .access = find_access(native, thread, &reg->watch),
        .ref = {.thread = reg->thread, .slot = reg->slot, .generation = reg->generation},
        .watch = reg->watch,
    };
    as_reuse_watch_client.trap(native->watch, &trap);
}

static void on_trap(struct as_reuse_native *native, const struct as_tracer_event *event)
{
    struct thread *thread = by_tid(native, event->tid);
    size_t place = event->watch & UINT16_MAX;
    struct reg *reg = place < native->regs.len ? &native->regs.data[place] : NULL;
    native->info.traps++;
    if (!thread)
        return;
    update(native, thread);
    if (native->gauge.left && event->watch == native->gauge.name)
        trap_gauge(native, thread);
    else if (reg && reg->armed && reg->thread == thread->number && event->watch == name_of(reg->generation, place))
        take_trap(native, thread, reg);
}

/* ---- samples ---- */

static void take_map(void *context, struct as_perf_process *map)
{
    as_space_map(((struct as_reuse_native *)context)->space, map->start, map->start + map->length, map->offset,
                 map->name);
}

static void handle(struct as_reuse_native *native, const struct as_tracer_event *event)
{
    if (event->kind == AS_TRACER_START)
        start_thread(native, event->tid);
    if (event->kind == AS_TRACER_GONE)
        end_thread(native, event->tid);
    if (event->kind == AS_TRACER_EXEC)
        end_gauge(native);
    if (event->kind == AS_TRACER_TRAP)
        on_trap(native, event);
}

/* Processor time of the threads that stand still, and of others as last known. */
static double processor_time(const struct as_reuse_native *native)
{
    double sum = 0;
    for (size_t i = 0; i < native->threads.len; i++)
        sum += (double)native->threads.data[i].last;
    return sum;
}

/* The owner first. Returns how many there are. */
static size_t copy_threads(struct as_reuse_native *native, size_t n, struct thread *owners[AS_AHEAD_THREADS])
{
    size_t first = (size_t)as_random_below(&native->random, n), got = 0;
    for (size_t i = 0; i < n && got < AS_AHEAD_THREADS; i++) {
        struct thread *thread = by_tid(native, as_tracer_stopped(native->tracer, (first + i) % n));
        if (!thread)
            continue;
        update(native, thread);
        if (!native->copies[got])
            native->copies[got] = aligned_alloc(64, sizeof **native->copies);
        if (native->copies[got] && as_tracer_registers(native->tracer, thread->tid, native->copies[got]))
            owners[got++] = thread;
    }
    return got;
}

static struct as_lens_access use_of(struct as_reuse_native *native, const struct as_ahead_result *result,
                                    const struct thread *owner)
{
    return (struct as_lens_access){.thread = owner->number,
                                   .address = result->use_address,
                                   .size = result->use_size,
                                   .kind = result->use_kind,
                                   .insn = number_of(native, result->use_insn),
                                   .time = native->samples};
}

static void add_outcome(struct as_reuse_native *native, const struct as_ahead_result *result,
                        struct thread *const owners[], double weight)
{
    native->info.looked++;
    as_reuse_watch_add(native->watch,
                       &(struct as_watch_outcome){
                           .use = {.distance = result->distance,
                                   .weight = weight,
                                   .kept = 1,
                                   .end = result->outcome == AS_REUSE_REUSE ? AS_USE_REUSED : AS_USE_INVALIDATED,
                                   .how = AS_LENS_COUNTED},
                           .address = result->use_address,
                           .use_insn = number_of(native, result->use_insn),
                           .end_insn = number_of(native, result->end_insn),
                           .use_thread = owners[0]->number,
                           .end_thread = owners[result->end_thread]->number,
                           .time = native->samples,
                           .use_write = result->use_kind & AS_ACCESS_STORE,
                           .end_write = result->end_kind & AS_ACCESS_STORE,
                       });
}

/* The registers of the new use, if it got any, are those with the newest generations: what they trap on first is the use. */
static void watch_use(struct as_reuse_native *native, const struct as_ahead_result *result, const struct thread *owner,
                      double weight)
{
    struct as_lens_sample sample = {.access = use_of(native, result, owner),
                                    .counter = AS_ACCESS_LOAD | AS_ACCESS_STORE,
                                    .period = (uint64_t)fmax(1, weight)};
    uint64_t before = native->generations;
    as_reuse_watch_client.sample(native->watch, &sample);
    for (size_t i = 0; i < native->regs.len; i++) {
        struct reg *reg = &native->regs.data[i];
        if (!reg->armed || reg->generation <= before)
            continue;
        native->used[reg->slot] = native->options.watch.mode == AS_WATCH_CACHE; /* the owner is not watched then */
        reg->absorb = reg->thread == owner->number ? result->touches : 0;
    }
}

static void look(struct as_reuse_native *native, size_t n)
{
    struct thread *owners[AS_AHEAD_THREADS];
    struct as_ahead_result result;
    size_t got = copy_threads(native, n, owners);
    if (!got)
        return;
    double time = processor_time(native);
    double weight = fmax(1, time - native->weighed);
    native->weighed = time;
    struct as_ahead_order order = {.threads = native->copies,
                                   .n = got,
                                   .in_cache = native->options.watch.mode == AS_WATCH_CACHE,
                                   .length = native->options.watch.length,
                                   .skip = as_random_below(&native->random, SKIP),
                                   .bound = native->options.pmu ? 0 : native->options.bound};
    as_lookahead_begin(native->ahead, as_tracer_pid(native->tracer));
    as_ahead_look(native->ahead, &order, &result);
    as_lookahead_end(native->ahead);
    while (native->densities.len <= native->samples)
        *as_vec_push(&native->densities) = 0;
    native->densities.data[native->samples] = result.density;
    if (!result.has_use)
        native->info.without++;
    else if (result.outcome != AS_REUSE_NONE)
        add_outcome(native, &result, owners, weight);
    else if (is_watched(native, result.use_address))
        native->info.twice++;
    else
        watch_use(native, &result, owners[0], weight);
    if (native->gauge.left && native->gauge.begun + 1 < native->samples)
        end_gauge(native); /* it does not come there */
    if (result.has_use && !native->gauge.left && !native->options.pmu)
        begin_gauge(native, owners[0], &result);
}

/* Returns false at the end. Traps that came while threads were being stopped come first. */
static bool take_sample(struct as_reuse_native *native, int *status)
{
    size_t n = as_tracer_stop_all(native->tracer);
    struct as_tracer_event event;
    while ((event = as_tracer_next(native->tracer, 0)).kind != AS_TRACER_TIME) {
        if (event.kind == AS_TRACER_END) {
            *status = event.status;
            as_tracer_resume_all(native->tracer);
            return false;
        }
        handle(native, &event);
    }
    if (native->samples++ % MAPS_SAMPLES == 0)
        as_process_maps(as_tracer_pid(native->tracer), false, take_map, native);
    native->running = n ? n : 1;
    if (n)
        look(native, n);
    as_tracer_resume_all(native->tracer);
    return true;
}

/* ---- the run ---- */

static void stop(void *context)
{
    struct as_tracer *tracer = atomic_load(&((struct as_reuse_native *)context)->watched);
    if (tracer)
        as_tracer_stop(tracer);
}

/* Of this thread: what a sample takes where nothing else wants the processors. */
static double processor_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* By the mean of what the last samples took, so that pauses are alike: samples then are, too. Half to one and a half of it,
 * so that it is in step with nothing. */
static double pause_of(struct as_reuse_native *native, double cost)
{
    native->cost +=
        native->samples ? (cost - native->cost) / (double)(native->samples < 8 ? native->samples : 8) : cost;
    double mean = fmax(1 / native->options.rate, native->cost * (1 / native->options.budget - 1));
    return mean * (0.5 + (double)(as_random_below(&native->random, 1 << 20)) / (1 << 20));
}

/* How long until the program has run for so many seconds since its last sample, if it runs all the time: where others use the
 * processors, too, samples would otherwise stand for very different times of the program. */
static double left_of(struct as_reuse_native *native, double wanted)
{
    double sum = 0;
    for (size_t i = 0; i < native->threads.len; i++) {
        const struct thread *thread = &native->threads.data[i];
        uint64_t now = thread->live ? as_tracer_processor_time(native->tracer, thread->tid) : 0;
        sum += (double)(now > thread->last ? now : thread->last);
    }
    return wanted - (sum - native->weighed) * 1e-9 / (double)native->running;
}

static int follow(struct as_reuse_native *native)
{
    int status = -1;
    double wanted = pause_of(native, 0), next = as_clock_seconds() + wanted, due = next;
    for (;;) {
        struct as_tracer_event event = as_tracer_next(native->tracer, next);
        if (event.kind == AS_TRACER_END)
            return event.status;
        if (event.kind != AS_TRACER_TIME) {
            handle(native, &event);
            if (event.kind == AS_TRACER_TRAP)
                as_tracer_resume(native->tracer, event.tid);
            continue;
        }
        double begun = as_clock_seconds(), left = left_of(native, wanted);
        if (left > 0.2 * wanted && begun < due + MOST_PATIENCE) {
            next = begun + left;
            continue;
        }
        double spent = processor_seconds();
        if (!take_sample(native, &status))
            return status;
        native->info.stopped += as_clock_seconds() - begun;
        wanted = pause_of(native, processor_seconds() - spent);
        due = next = as_clock_seconds() + wanted;
    }
}

/* Samples are taken by time, and are to stand for accesses: slow code makes fewer of them. Where the speed is not known,
 * instructions stand for time. */
static void weigh(struct as_reuse_native *native)
{
    double usual = as_rate_usual(&native->rate), most = 0, dense = 0, n = 0;
    for (size_t i = 0; i < native->speeds.len; i++)
        most = fmax(most, fabs(native->speeds.data[i]));
    usual = usual > 0 ? usual : most;
    for (size_t i = 0; i < native->densities.len; i++) {
        dense += native->densities.data[i];
        n += native->densities.data[i] > 0;
    }
    for (size_t i = 0; i < native->densities.len; i++) {
        double speed = i < native->speeds.len ? native->speeds.data[i] : 0, density = native->densities.data[i];
        double factor = speed > 0 && usual > 0 ? speed / usual : density > 0 ? density * n / dense : 1;
        native->densities.data[i] = fmin(LARGEST_FACTOR, fmax(SMALLEST_FACTOR, factor));
    }
    as_reuse_watch_weigh(native->watch, native->densities.data, native->densities.len);
}

static void describe_end(struct as_reuse_native *native, int status)
{
    struct as_reuse_native_info *info = &native->info;
    double rate = as_rate_usual(&native->rate);
    info->seconds = as_clock_seconds() - native->started;
    info->processor = processor_time(native) * 1e-9;
    info->rates = native->rate.measured;
    info->rate = rate;
    info->trap = as_rate_trap(&native->rate);
    info->accesses = (uint64_t)(info->processor * 1e9 * (rate > 0 ? rate : 1));
    info->how = native->options.pmu ? AS_LENS_COUNTED : rate > 0 ? AS_LENS_TIMED : AS_LENS_ASSUMED;
    if (native->options.pmu)
        info->accesses = native->counted;
    for (size_t i = 0; native->options.pmu && i < native->threads.len; i++)
        info->accesses += as_native_counters_read(&native->threads.data[i].counters);
    info->end.running = !native->options.pid && status == -1;
    info->end.interrupted = info->end.running && as_signals_interrupts() >= 2;
    if (status != -1)
        as_run_end_take(&info->end, status);
}

bool as_reuse_native_run(struct as_reuse_native *native, char *const argv[], struct as_error *err)
{
    pid_t pid = (pid_t)native->options.pid;
    if (!native->ahead)
        return as_error_set(err, "only programs of x86-64 can be looked ahead of: --source=model follows the program");
    if (native->options.pmu && !as_native_counters_exist(err))
        return false;
    as_signals_catch(
        &(struct as_signals){.attached = pid != 0, .stop = stop, .context = native, .patience = pid ? 1 : 2});
    native->tracer = pid ? as_tracer_attach(pid, err) : as_tracer_launch(argv, native->options.stdout_to_stderr, err);
    if (!native->tracer) {
        as_signals_restore();
        return false;
    }
    atomic_store(&native->watched, native->tracer);
    as_signals_pass_to(as_tracer_pid(native->tracer));
    if (native->options.duration > 0)
        as_signals_alarm(native->options.duration);
    native->started = as_clock_seconds();
    int status = follow(native);
    as_signals_shield();
    end_gauge(native);
    as_reuse_watch_finish(native->watch);
    weigh(native);
    describe_end(native, status);
    return true;
}

/* ---- beginning and end ---- */

struct as_reuse_native *as_reuse_native_new(const struct as_reuse_native_options *options)
{
    struct as_reuse_native *native = as_alloc(sizeof *native);
    native->options = *options;
    native->random = as_random_hash(options->seed);
    native->running = 1;
    native->ahead = as_lookahead_new();
    native->space = as_space_new(NULL);
    native->copies[0] = aligned_alloc(64, sizeof **native->copies);
    as_cause_prepare();
    struct as_lens lens = {.ops = &native_ops, .context = native};
    native->watch = as_reuse_watch_new(&options->watch, &lens);
    return native;
}

void as_reuse_native_free(struct as_reuse_native *native)
{
    if (!native)
        return;
    as_reuse_watch_free(native->watch);
    for (size_t i = 0; i < native->regs.len; i++)
        if (native->regs.data[i].armed)
            close(native->regs.data[i].fd);
    as_tracer_close(native->tracer);
    as_lookahead_free(native->ahead);
    for (size_t i = 0; i < AS_AHEAD_THREADS; i++)
        free(native->copies[i]);
    for (size_t i = 0; i < native->threads.len; i++)
        as_native_counters_close(&native->threads.data[i].counters);
    as_vec_free(&native->threads);
    as_vec_free(&native->regs);
    as_vec_free(&native->insns);
    as_vec_free(&native->speeds);
    as_vec_free(&native->densities);
    as_map_free(&native->codes);
    as_space_free(native->space);
    free(native);
}

const struct as_reuse_native_info *as_reuse_native_info(const struct as_reuse_native *native)
{
    return &native->info;
}

const struct as_reuse_watch *as_reuse_native_watch(const struct as_reuse_native *native)
{
    return native->watch;
}

uint64_t as_reuse_native_insn(const struct as_reuse_native *native, uint64_t number)
{
    return number < native->insns.len ? native->insns.data[number] : 0;
}

struct as_space *as_reuse_native_space(const struct as_reuse_native *native)
{
    return native->space;
}
