/* See reuse_native.h: traps, samples and the run. The threads and their registers are in traced_lens.c, what their accesses take
 * in traced_rate.c. All of it happens on one thread, the tracer's: the lens is serial. */
#include "reuse/reuse_native.h"

#include "base/clock.h"
#include "base/random.h"
#include "base/signals.h"
#include "native/process_maps.h"
#include "reuse/reuse_native_internal.h"
#include "watch/cause.h"

#include <math.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { SKIP = 64, MAPS_SAMPLES = 64, LEAST_LOOK = 6144 /* what a rate takes: traced_rate.c */ };
enum { ENOUGH_LOOKS = 16, MOST_LOOKS = 64, RARE = 16, SHORT_OF = 8, SHORTEST = 1024 }; /* see bound_of */
enum { ALL_TOGETHER = 2, FIRST_LOOKS = 2 };                                            /* see most_of */
enum { FEW_RATES = 5, OFTEN = 4, SELDOM = 16, DEEP_LOOKS = 16 };                       /* see further_of */
#define LEAST_OF_WANTED 0.3                                                            /* see weigh */
#define MOST_OF_WANTED 2.0
#define TALLY_SECONDS 8e-3 /* that a tally takes, and some of the waiting for it */
/* Nanoseconds of the processor: the kernel starts a program in a millisecond or two and maps its pages, which are no accesses but count
 * as its time. */
#define SHORT_RUN 20e6
#define MOST_PATIENCE 1.0 /* seconds; a program that waits is sampled after that, too */

/* Instructions get numbers: outcomes keep these. */
static uint64_t number_of(struct as_reuse_native *native, const struct as_traced_thread *thread, uint64_t address)
{
    enum { IMAGE_SHIFT = 47 }; /* of a process, addresses have no more bits */
    uint32_t image = as_traced_process_of(native, thread)->image;
    uint64_t *place = as_map_put(&native->codes, address ^ (uint64_t)image << IMAGE_SHIFT);
    if (!*place) {
        *as_vec_push(&native->insns) = (struct as_traced_insn){.address = address, .image = image};
        *place = native->insns.len;
    }
    return *place - 1;
}

/* The call path of an instruction of a thread, whose registers and memory are as when it was executed. */
static uint32_t path_of(struct as_reuse_native *native, const struct as_traced_thread *thread,
                        struct as_traced_stop place)
{
    const struct as_traced_process *process = as_traced_process_of(native, thread);
    place.pid = process->pid;
    place.image = process->image;
    return as_traced_paths_find(native->paths, &place);
}

/* ---- traps ---- */

static size_t read_memory(void *context, uint64_t address, void *bytes, size_t size)
{
    const pid_t *pid = context;
    struct iovec to = {bytes, size}, from = {(void *)(uintptr_t)address, size};
    ssize_t n = process_vm_readv(*pid, &to, 1, &from, 1, 0);
    return n > 0 ? (size_t)n : 0;
}

static struct as_lens_access find_access(struct as_reuse_native *native, const struct as_traced_thread *thread,
                                         const struct as_lens_watch *watch)
{
    struct as_lookahead_thread *copy = native->copies[0];
    struct as_lens_access access = {
        .thread = thread->number, .address = watch->address, .kind = watch->kind, .time = 1};
    struct as_cause cause = {0};
    pid_t pid = as_traced_process_of(native, thread)->pid;
    if (!as_tracer_registers(native->tracer, thread->tid, copy))
        return access;
    struct as_cause_query query = {.arch = AS_ARCH_X86_64,
                                   .state = copy->state,
                                   .address = watch->address,
                                   .length = watch->length,
                                   .read = read_memory,
                                   .context = &pid};
    as_cause_find(&query, &cause);
    uint64_t ip = cause.ip ? cause.ip : copy->state.ip;
    access.insn = number_of(native, thread, ip);
    access.path =
        path_of(native, thread,
                (struct as_traced_stop){.insn = ip, .state = &copy->state, .read = read_memory, .context = &pid});
    access.size = cause.size;
    if (cause.access && watch->kind & AS_ACCESS_LOAD)
        access.kind = cause.access;
    return access;
}

static void take_trap(struct as_reuse_native *native, struct as_traced_thread *thread, struct as_traced_reg *reg)
{
    if (reg->absorb) {
        if (--reg->absorb == 0) {
            native->used[reg->slot] = true;
            reg->used = thread->last;
            reg->stops = thread->stops;
            reg->sample = native->samples;
            reg->accesses = thread->accesses;
            as_gauge_use(native, thread);
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
    if (reg->used)
        as_again_plan(native, thread, reg, trap.access.insn);
    as_reuse_watch_client.trap(native->watch, &trap);
    as_gauge_reuse(native, reg);
}

static void on_trap(struct as_reuse_native *native, const struct as_tracer_event *event)
{
    struct as_traced_thread *thread = as_traced_by_tid(native, event->tid);
    size_t place = event->watch & UINT16_MAX;
    struct as_traced_reg *reg = place < native->regs.len ? &native->regs.data[place] : NULL;
    native->info.traps++;
    if (!thread)
        return;
    as_traced_update(native, thread);
    if (native->gauge.left && event->watch == native->gauge.name)
        as_gauge_trap(native, thread);
    else if (native->again.stage >= AS_AGAIN_ARMED && event->watch == native->again.name)
        as_again_trap(native, thread);
    else if (reg && reg->armed && reg->thread == thread->number &&
             event->watch == as_traced_name(reg->generation, place))
        take_trap(native, thread, reg);
}

/* ---- samples ---- */

struct mapped {
    struct as_reuse_native *native;
    struct as_space *space;
};

static void take_map(void *context, struct as_perf_process *map)
{
    const struct mapped *mapped = context;
    as_space_map(mapped->space, map->start, map->start + map->length, map->offset, map->name);
    as_traced_paths_map(mapped->native->paths, map);
}

static void read_maps(struct as_reuse_native *native, struct as_traced_process *process)
{
    struct mapped mapped = {.native = native, .space = native->images.data[process->image]};
    if (process->mapped && native->samples < process->mapped + MAPS_SAMPLES)
        return;
    process->mapped = native->samples + 1;
    as_process_maps(process->pid, false, take_map, &mapped);
}

static void handle(struct as_reuse_native *native, const struct as_tracer_event *event)
{
    if (event->kind == AS_TRACER_START)
        as_traced_start(native, event->tid, event->spent);
    if (event->kind == AS_TRACER_GONE)
        as_traced_end(native, event->tid, event->spent);
    if (event->kind == AS_TRACER_EXEC) {
        as_gauge_end(native);
        as_tally_end(native);
        as_again_end(native);
        as_traced_exec(native, event->tid);
    }
    if (event->kind == AS_TRACER_TRAP)
        on_trap(native, event);
}

/* Processor time since they were first seen of the threads that stand still or have ended, and of others as last known. */
static double processor_time(const struct as_reuse_native *native)
{
    double sum = 0;
    for (size_t i = 0; i < native->threads.len; i++)
        sum += (double)(native->threads.data[i].last - native->threads.data[i].from);
    return sum;
}

/* The owner first, then others of its process. Returns how many there are. */
static size_t copy_threads(struct as_reuse_native *native, size_t n, struct as_traced_thread *owners[AS_AHEAD_THREADS])
{
    size_t first = (size_t)as_random_below(&native->random, n), got = 0;
    for (size_t i = 0; i < n && got < AS_AHEAD_THREADS; i++) {
        struct as_traced_thread *thread = as_traced_by_tid(native, as_tracer_stopped(native->tracer, (first + i) % n));
        if (!thread || (got && thread->process != owners[0]->process))
            continue;
        as_traced_update(native, thread);
        if (!native->copies[got])
            native->copies[got] = aligned_alloc(64, sizeof **native->copies);
        if (native->copies[got] && as_tracer_registers(native->tracer, thread->tid, native->copies[got]))
            owners[got++] = thread;
    }
    return got;
}

static struct as_lens_access use_of(struct as_reuse_native *native, const struct as_ahead_result *result,
                                    const struct as_traced_thread *owner)
{
    return (struct as_lens_access){.thread = owner->number,
                                   .address = result->use_address,
                                   .size = result->use_size,
                                   .kind = result->use_kind,
                                   .insn = number_of(native, owner, result->use_insn),
                                   .path = native->use_path,
                                   .time = native->samples};
}

static void add_outcome(struct as_reuse_native *native, const struct as_ahead_result *result,
                        struct as_traced_thread *const owners[], double weight)
{
    native->info.looked++;
    as_reuse_watch_add(native->watch, &(struct as_watch_outcome){
                                          .use = {.distance = result->distance,
                                                  .weight = weight,
                                                  .kept = 1,
                                                  .end = (uint8_t)as_use_end_of(result->outcome),
                                                  .how = AS_LENS_COUNTED},
                                          .address = result->use_address,
                                          .use_insn = number_of(native, owners[0], result->use_insn),
                                          .end_insn = number_of(native, owners[0], result->end_insn),
                                          .use_path = native->use_path,
                                          .end_path = native->end_path,
                                          .use_thread = owners[0]->number,
                                          .end_thread = owners[result->end_thread]->number,
                                          .time = native->samples,
                                          .use_write = result->use_kind & AS_ACCESS_STORE,
                                          .end_write = result->end_kind & AS_ACCESS_STORE,
                                      });
}

/* The registers of the new use, if it got any, are those with the newest generations: what they trap on first is the use. */
static void watch_use(struct as_reuse_native *native, const struct as_ahead_result *result,
                      const struct as_traced_thread *owner, double weight)
{
    struct as_lens_sample sample = {.access = use_of(native, result, owner),
                                    .counter = AS_ACCESS_LOAD | AS_ACCESS_STORE,
                                    .period = (uint64_t)fmax(1, weight)};
    uint64_t before = native->generations;
    as_reuse_watch_client.sample(native->watch, &sample);
    for (size_t i = 0; i < native->regs.len; i++) {
        struct as_traced_reg *reg = &native->regs.data[i];
        if (!reg->armed || reg->generation <= before)
            continue;
        native->used[reg->slot] = false;
        reg->absorb = reg->thread == owner->number ? result->touches : 0;
    }
}

/* What a look takes at most: threads step in turn, so with many of them the owner gets less far. The first ones are short, until it is known
 * what they take. */
static uint64_t most_of(const struct as_reuse_native *native, size_t threads)
{
    uint64_t bound = native->options.bound, most = threads > ALL_TOGETHER ? bound * ALL_TOGETHER / threads : bound;
    if (native->samples <= FIRST_LOOKS)
        most = most >> 2 * (FIRST_LOOKS + 1 - native->samples);
    return most > SHORTEST || bound < SHORTEST ? most : SHORTEST;
}

/* How far to look. Where hardly any look past a quarter of the bound finds an outcome, the rest of it costs much and tells
 * nothing: all but one of eight end there, and the use is watched. Where hardly any finds one before that either, they end almost at
 * once. It depends on earlier samples alone, so it prefers no distance. */
static bool is_rare(const struct as_traced_looks *looks)
{
    return looks->n >= ENOUGH_LOOKS && looks->found * RARE < looks->n;
}

static uint64_t bound_of(struct as_reuse_native *native, size_t threads)
{
    uint64_t bound = native->options.bound, most = most_of(native, threads);
    if (native->options.pmu)
        return 0;
    if (most < bound)
        return most;
    if (!is_rare(&native->past_quarter) || !as_random_below(&native->random, SHORT_OF))
        return bound;
    return is_rare(&native->past_shortest) && bound / 4 > SHORTEST ? SHORTEST : bound / 4;
}

static void learn(struct as_traced_looks *looks, bool found)
{
    looks->n++;
    looks->found += found;
    if (looks->n == MOST_LOOKS) {
        looks->n /= 2;
        looks->found /= 2;
    }
}

static void learn_bound(struct as_reuse_native *native, uint64_t bound, const struct as_ahead_result *result)
{
    uint64_t quarter = native->options.bound / 4;
    bool found = result->decided;
    if (result->has_use && bound >= quarter && !(found && result->distance < SHORTEST))
        learn(&native->past_shortest, found && result->distance < quarter);
    if (result->has_use && bound > quarter && !(found && result->distance < quarter))
        learn(&native->past_quarter, found);
}

/* Whether to look further for the sake of the rate. That takes as long as several samples, so rarely once there are some such rates. */
static uint64_t further_of(struct as_reuse_native *native)
{
    uint64_t one_in = native->rate.warmed < FEW_RATES ? OFTEN : SELDOM;
    return native->options.pmu || native->samples <= FIRST_LOOKS || as_random_below(&native->random, one_in)
               ? 0
               : 2 * native->options.bound;
}

/* … or for the sake of a turn, where the use does not come again in time: that takes longer still. */
static uint64_t turn_of(struct as_reuse_native *native)
{
    bool wanted = native->rate.gained < FEW_RATES && native->deep < DEEP_LOOKS;
    if (native->options.pmu || native->samples <= FIRST_LOOKS ||
        as_random_below(&native->random, wanted ? OFTEN : SELDOM * OFTEN))
        return 0;
    native->deep++;
    return 4 * native->options.bound;
}

/* With a small bound (--ahead), the rate still needs places that are far enough apart. */
static uint64_t least_of(struct as_reuse_native *native)
{
    return native->options.pmu || native->options.bound >= LEAST_LOOK ? turn_of(native) : LEAST_LOOK;
}

static size_t read_copy(void *context, uint64_t address, void *bytes, size_t size)
{
    return as_lookahead_read(context, address, bytes, size) ? size : 0;
}

static void take_moment(void *context, bool is_use, size_t thread, uint64_t insn, const struct as_machine_state *before)
{
    struct as_reuse_native *native = context;
    *(is_use ? &native->use_path : &native->end_path) =
        path_of(native, native->looked_at[thread],
                (struct as_traced_stop){.insn = insn, .state = before, .read = read_copy, .context = native->ahead});
}

/* A sample stands for the processor time that lies between samples here: the time that was wanted, not the one that it came to by chance,
 * unless they have nothing to do with each other, because the program waited. */
static double weigh(struct as_reuse_native *native)
{
    double time = processor_time(native), since = time - native->weighed;
    double wanted = native->pause * 1e9 * (double)native->running;
    native->weighed = time;
    return fmax(1, since > LEAST_OF_WANTED * wanted && since < MOST_OF_WANTED * wanted ? wanted : since);
}

static void look(struct as_reuse_native *native, size_t n)
{
    struct as_traced_thread *owners[AS_AHEAD_THREADS];
    struct as_ahead_result result;
    size_t got = copy_threads(native, n, owners);
    if (!got)
        return;
    double weight = weigh(native);
    struct as_ahead_order order = {.threads = native->copies,
                                   .n = got,
                                   .in_cache = native->options.watch.mode == AS_WATCH_CACHE,
                                   .length = native->options.watch.length,
                                   .skip = as_random_below(&native->random, SKIP),
                                   .bound = bound_of(native, got),
                                   .further = further_of(native),
                                   .least = least_of(native),
                                   .moment = take_moment,
                                   .context = native};
    native->looked_at = owners;
    read_maps(native, as_traced_process_of(native, owners[0]));
    as_lookahead_begin(native->ahead, as_traced_process_of(native, owners[0])->pid);
    as_ahead_look(native->ahead, &order, &result);
    as_lookahead_end(native->ahead);
    learn_bound(native, order.bound, &result);
    while (native->densities.len <= native->samples)
        *as_vec_push(&native->densities) = 0;
    native->densities.data[native->samples] = result.density;
    if (!result.has_use)
        native->info.without++;
    else if (result.decided)
        add_outcome(native, &result, owners, weight);
    else if (as_traced_is_watched(native, owners[0]->process, result.use_address))
        native->info.twice++;
    else
        watch_use(native, &result, owners[0], weight);
    if (native->gauge.left && native->gauge.begun + 1 < native->samples)
        as_gauge_end(native); /* it does not come there */
    if (result.has_use && !native->gauge.left && !native->options.pmu)
        as_gauge_begin(native, owners[0], &result);
    result.turn.insn = result.has_use ? number_of(native, owners[0], result.use_insn) : 0;
    as_tally_plan(native, owners[0], &result.turn);
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
    native->samples++;
    native->running = n < native->processors ? n ? n : 1 : native->processors;
    as_tally_end(native);
    as_again_end(native);
    if (n)
        look(native, n);
    for (size_t i = 0; i < n; i++) {
        struct as_traced_thread *thread = as_traced_by_tid(native, as_tracer_stopped(native->tracer, i));
        if (thread)
            thread->cooled = thread->last;
    }
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

static void learn_cost(double *mean, uint64_t samples, double cost)
{
    *mean += samples ? (cost - *mean) / (double)(samples < 8 ? samples : 8) : cost;
}

/* By the mean of what the last samples took, so that pauses are alike: samples then are, too. Half to one and a half of it,
 * so that it is in step with nothing. */
static double pause_of(struct as_reuse_native *native, double cost)
{
    learn_cost(&native->cost, native->samples, cost);
    native->pause = fmax(1 / native->options.rate, native->cost * (1 / native->options.budget - 1));
    return native->pause * (0.5 + (double)(as_random_below(&native->random, 1 << 20)) / (1 << 20));
}

/* How long until the program has run for so many seconds since its last sample, if it runs all the time: where others use the
 * processors, too, samples would otherwise stand for very different times of the program. */
static double left_of(struct as_reuse_native *native, double wanted)
{
    double sum = 0;
    for (size_t i = 0; i < native->threads.len; i++) {
        const struct as_traced_thread *thread = &native->threads.data[i];
        uint64_t now = thread->live ? as_tracer_processor_time(native->tracer, thread->tid) : 0;
        sum += (double)((now > thread->last ? now : thread->last) - thread->from);
    }
    return wanted - (sum - native->weighed) * 1e-9 / (double)native->running;
}

/* When the next sample may begin: with what it will take, the program has not stood still for more than its share of all the time so
 * far, however many threads had to stop and whatever that took. */
static double earliest(struct as_reuse_native *native, double halted)
{
    learn_cost(&native->halt, native->samples, halted);
    native->info.stopped += halted;
    return native->started + (native->info.stopped + native->halt) / native->options.budget - native->halt;
}

/* What comes first: the next sample, or a step of a measurement behind the last. */
struct wait {
    double until;
    void (*step)(struct as_reuse_native *native);
};

static struct wait next_wait(const struct as_reuse_native *native, double next)
{
    struct wait wait = {.until = next};
    if (native->tally.stage != AS_TALLY_NONE && native->tally.due < wait.until)
        wait = (struct wait){.until = native->tally.due, .step = as_tally_step};
    if (native->again.stage == AS_AGAIN_WAITS && native->again.due < wait.until)
        wait = (struct wait){.until = native->again.due, .step = as_again_arm};
    return wait;
}

static int follow(struct as_reuse_native *native)
{
    int status = -1;
    double wanted = pause_of(native, 0), next = as_clock_seconds() + wanted, due = next;
    for (;;) {
        struct wait wait = next_wait(native, next);
        struct as_tracer_event event = as_tracer_next(native->tracer, wait.until);
        if (event.kind == AS_TRACER_END)
            return event.status;
        if (event.kind != AS_TRACER_TIME) {
            handle(native, &event);
            if (event.kind == AS_TRACER_TRAP)
                as_tracer_resume(native->tracer, event.tid);
            continue;
        }
        if (wait.step) {
            wait.step(native);
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
        double end = as_clock_seconds();
        wanted = pause_of(native, processor_seconds() - spent);
        if (native->tally.stage != AS_TALLY_NONE)
            wanted = native->pause = fmax(wanted, TALLY_SECONDS);
        due = next = fmax(end + wanted, earliest(native, end - begun));
    }
}

static void describe_end(struct as_reuse_native *native, int status)
{
    struct as_reuse_native_info *info = &native->info;
    double rate = as_rate_usual(&native->rate);
    info->seconds = as_clock_seconds() - native->started;
    info->processor = processor_time(native) * 1e-9;
    info->rates = as_rate_count(&native->rate);
    info->rate = rate;
    info->trap = as_rate_trap(&native->rate);
    info->gain = as_rate_gain(&native->rate);
    double all = info->processor * 1e9, cold = fmin(all, (double)native->samples * AS_COLD_NANOSECONDS);
    info->accesses = (uint64_t)((cold + (all - cold) * info->gain) * (rate > 0 ? rate : 1));
    struct as_rate_range range = as_rate_range(&native->rate);
    if (all < SHORT_RUN)
        range.low = fmin(range.low, AS_RATE_SLOWEST);
    info->least = (uint64_t)fmin((double)info->accesses, all * range.low);
    info->most = (uint64_t)fmax((double)info->accesses, all * range.high);
    info->how = native->options.pmu ? AS_LENS_COUNTED : rate > 0 ? AS_LENS_TIMED : AS_LENS_ASSUMED;
    if (native->options.pmu)
        info->accesses = native->counted;
    for (size_t i = 0; native->options.pmu && i < native->threads.len; i++)
        info->accesses += as_native_counters_read(&native->threads.data[i].counters);
    if (native->options.pmu)
        info->least = info->most = info->accesses;
    info->unsure = info->how != AS_LENS_COUNTED && (all < SHORT_RUN || !as_rate_is_known(&native->rate));
    info->end.running = !native->options.pid && status == -1;
    info->end.interrupted = info->end.running && as_signals_insisted();
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
    as_signals_catch(&(struct as_signals){
        .attached = pid != 0, .waits_for_all = true, .stop = stop, .context = native, .patience = pid ? 1 : 2});
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
    as_gauge_end(native);
    as_tally_end(native);
    as_again_end(native);
    as_reuse_watch_finish(native->watch);
    as_gauge_weigh(native);
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
    native->processors = (size_t)fmax(1, (double)sysconf(_SC_NPROCESSORS_ONLN));
    native->ahead = as_lookahead_new();
    native->paths = as_traced_paths_new();
    native->copies[0] = aligned_alloc(64, sizeof **native->copies);
    as_cause_prepare();
    struct as_lens lens = {.ops = &as_traced_lens_ops, .context = native};
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
    as_vec_free(&native->ways);
    as_vec_free(&native->densities);
    as_map_free(&native->codes);
    for (size_t i = 0; i < native->images.len; i++)
        as_space_free(native->images.data[i]);
    as_vec_free(&native->images);
    as_vec_free(&native->processes);
    as_traced_paths_free(native->paths);
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

double as_reuse_native_off(const struct as_reuse_native_info *info)
{
    double accesses = fmax(1, (double)info->accesses);
    return fmax((double)info->most / accesses, accesses / fmax(1, (double)info->least));
}

/* ---- names ---- */

static struct as_reuse_location locate(const void *context, uint32_t code)
{
    const struct as_reuse_native *native = context;
    struct as_location location;
    if (code >= native->insns.len || !native->insns.data[code].address)
        return (struct as_reuse_location){0};
    struct as_space *space = native->images.data[native->insns.data[code].image];
    as_space_find(space, native->insns.data[code].address, &location);
    return as_reuse_location_in(space, native->insns.data[code].address, &location);
}

static const char *function_of(struct as_space *space, uint64_t address)
{
    struct as_location location;
    as_space_find(space, address, &location);
    return location.function ? location.function : as_space_name(space, address);
}

static size_t frames(const void *context, uint32_t path, const char **names, size_t n)
{
    const struct as_reuse_native *native = context;
    size_t count;
    uint32_t image = 0;
    const uint64_t *addresses = as_traced_paths_get(native->paths, path, &count, &image);
    for (size_t i = 0; i < count && i < n; i++) /* behind a call: the call is before it */
        names[i] = function_of(native->images.data[image], addresses[i] - (i ? 1 : 0));
    return count;
}

struct as_reuse_names as_reuse_native_names(const struct as_reuse_native *native)
{
    return (struct as_reuse_names){.locate = locate, .frames = frames, .context = native};
}
