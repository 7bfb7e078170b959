/* The threads of a traced program as a lens: their clocks, and their debug registers. See reuse_native.h. */
#include "base/clock.h"
#include "reuse/reuse_native_internal.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

/* How far off the usual rate one that was measured for the code at hand must be to count when the thread has run for long: the code may
 * have changed. */
#define FAR_OFF 1.5

/* ---- threads and their clocks ---- */

struct as_traced_thread *as_traced_by_tid(struct as_reuse_native *native, pid_t tid)
{
    for (size_t i = native->threads.len; i-- > 0;)
        if (native->threads.data[i].tid == tid && native->threads.data[i].live)
            return &native->threads.data[i];
    return NULL;
}

struct as_traced_thread *as_traced_by_number(struct as_reuse_native *native, uint32_t number)
{
    return number && number <= native->threads.len ? &native->threads.data[number - 1] : NULL;
}

double as_traced_trap(const struct as_reuse_native *native, const struct as_traced_thread *thread)
{
    return thread->trap > 0 && thread->trap_sample == native->samples ? thread->trap : as_rate_trap(&native->rate);
}

/* `cold`: soon behind a stop, where a rate that was measured there counts however near the usual one it is. */
static double rate_of(const struct as_reuse_native *native, const struct as_traced_thread *thread, bool cold)
{
    double usual = as_rate_usual(&native->rate), ratio = usual > 0 ? thread->local / usual : 1;
    bool is_local =
        thread->local > 0 && (double)thread->last < thread->until && (cold || ratio > FAR_OFF || ratio < 1 / FAR_OFF);
    return is_local ? thread->local : usual > 0 ? usual : 1;
}

static void advance(struct as_reuse_native *native, struct as_traced_thread *thread, uint64_t now, double of_stop)
{
    double since = now > thread->last ? (double)(now - thread->last) - of_stop : 0;
    double cold = (double)thread->cooled + AS_COLD_NANOSECONDS - (double)thread->last;
    cold = fmax(0, fmin(cold, since));
    thread->accesses += cold * rate_of(native, thread, true) +
                        fmax(0, since - cold) * as_rate_gain(&native->rate) * rate_of(native, thread, false);
    thread->last = now > thread->last ? now : thread->last;
}

/* What a stop takes of the thread's time, it takes before the thread stands still: the exception, the signal. */
static void update(struct as_reuse_native *native, struct as_traced_thread *thread, uint64_t now)
{
    advance(native, thread, now, as_traced_trap(native, thread));
    thread->stops++;
}

void as_traced_update(struct as_reuse_native *native, struct as_traced_thread *thread)
{
    update(native, thread, as_tracer_processor_time(native->tracer, thread->tid));
}

void as_traced_glance(struct as_reuse_native *native, struct as_traced_thread *thread)
{
    advance(native, thread, as_tracer_processor_time(native->tracer, thread->tid), 0);
}

struct as_traced_process *as_traced_process_of(const struct as_reuse_native *native,
                                               const struct as_traced_thread *thread)
{
    return &native->processes.data[thread->process - 1];
}

/* The newest of that number: one that executed another program has several. Returns its place, and 1; 0: none, or it has ended and
 * the kernel has given its number to another. */
static uint32_t find_process(const struct as_reuse_native *native, pid_t pid, bool ended_too)
{
    for (size_t i = native->processes.len; i-- > 0;)
        if (native->processes.data[i].pid == pid)
            return native->processes.data[i].ended && !ended_too ? 0 : (uint32_t)i + 1;
    return 0;
}

static uint32_t add_process(struct as_reuse_native *native, pid_t pid, uint32_t parent)
{
    struct as_traced_process made = {.pid = pid};
    if (parent)
        made.image = native->processes.data[parent - 1].image;
    else {
        made.image = (uint32_t)native->images.len;
        *as_vec_push(&native->images) = as_space_new(NULL);
    }
    *as_vec_push(&native->processes) = made;
    return (uint32_t)native->processes.len;
}

void as_traced_exec(struct as_reuse_native *native, pid_t pid)
{
    as_traced_paths_forget(native->paths, pid);
    add_process(native, pid, 0);
}

void as_traced_start(struct as_reuse_native *native, pid_t tid, uint64_t spent)
{
    pid_t parent, pid = as_tracer_process(native->tracer, tid, &parent);
    if (as_traced_by_tid(native, tid))
        return;
    pid = pid ? pid : tid; /* gone already */
    /* While a thread of it lives, even one that was not seen yet, its number is not given away. */
    uint32_t process = find_process(native, pid, tid != pid);
    process = process ? process : add_process(native, pid, find_process(native, parent, false));
    native->processes.data[process - 1].ended = false;
    struct as_traced_thread *thread = as_vec_push(&native->threads);
    *thread = (struct as_traced_thread){.number = (uint32_t)native->threads.len,
                                        .process = process,
                                        .tid = tid,
                                        .live = true,
                                        .from = spent,
                                        .last = spent};
    if (native->options.pmu)
        as_native_counters_open(&thread->counters, tid);
    else if (native->options.watch.mode == AS_WATCH_CACHE)
        as_tracer_clock_exactly(native->tracer, tid);
    native->info.threads++;
    as_reuse_watch_client.thread_start(native->watch, thread->number, thread->process);
}

static void end_process(struct as_reuse_native *native, uint32_t process)
{
    for (size_t i = 0; i < native->threads.len; i++)
        if (native->threads.data[i].live && native->threads.data[i].process == process)
            return;
    native->processes.data[process - 1].ended = true;
    as_traced_paths_forget(native->paths, native->processes.data[process - 1].pid);
}

void as_traced_end(struct as_reuse_native *native, pid_t tid, uint64_t spent)
{
    struct as_traced_thread *thread = as_traced_by_tid(native, tid);
    if (!thread)
        return;
    update(native, thread, spent);
    as_reuse_watch_client.thread_end(native->watch, thread->number);
    thread->live = false;
    native->counted += as_native_counters_read(&thread->counters);
    as_native_counters_close(&thread->counters);
    for (size_t i = 0; i < native->regs.len; i++)
        if (native->regs.data[i].armed && native->regs.data[i].thread == thread->number) {
            close(native->regs.data[i].fd);
            native->regs.data[i].armed = false;
        }
    end_process(native, thread->process);
}

/* ---- the lens ---- */

static struct as_traced_reg *find_reg(struct as_reuse_native *native, const struct as_lens_ref *ref)
{
    for (size_t i = 0; i < native->regs.len; i++) {
        struct as_traced_reg *reg = &native->regs.data[i];
        if (reg->armed && reg->thread == ref->thread && reg->generation == ref->generation)
            return reg;
    }
    return NULL;
}

static struct as_traced_reg *free_reg(struct as_reuse_native *native)
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

uint32_t as_traced_name(uint64_t generation, size_t place)
{
    return (uint32_t)(generation << 16) | (uint32_t)place;
}

/* `data` has the slot in its last three bits: the owner of a new use absorbs the traps up to the use itself. */
static enum as_lens_result arm(void *context, uint32_t number, const struct as_lens_watch *watch,
                               struct as_lens_ref *ref)
{
    struct as_reuse_native *native = context;
    const struct as_traced_thread *thread = as_traced_by_number(native, number);
    if (!thread || !thread->live)
        return AS_LENS_GONE;
    struct as_traced_reg *reg = free_reg(native);
    size_t place = (size_t)(reg - native->regs.data);
    struct as_tracer_watch wanted = {.address = watch->address,
                                     .length = watch->length,
                                     .reads = watch->kind & AS_ACCESS_LOAD,
                                     .name = as_traced_name(native->generations + 1, place)};
    *reg = (struct as_traced_reg){
        .thread = number, .slot = watch->data & 7, .generation = ++native->generations, .watch = *watch};
    if (place >= AS_GAUGE_NAME || (reg->fd = as_tracer_watch(native->tracer, thread->tid, &wanted)) < 0)
        return refuse(native);
    reg->armed = true;
    native->info.armings++;
    *ref = (struct as_lens_ref){.thread = number, .slot = reg->slot, .generation = reg->generation};
    return AS_LENS_OK;
}

static enum as_lens_result disarm(void *context, const struct as_lens_ref *ref)
{
    struct as_traced_reg *reg = find_reg(context, ref);
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
    struct as_traced_thread *thread = as_traced_by_number(native, number);
    if (!thread)
        return false;
    /* Between threads every clock counts, also of one that has not stopped since long before the use. */
    if (thread->live && native->options.watch.mode == AS_WATCH_CACHE)
        as_traced_glance(native, thread);
    *made = (struct as_lens_counts){.accesses = (uint64_t)llround(thread->accesses),

                                    .how = as_rate_usual(&native->rate) > 0 ? AS_LENS_TIMED : AS_LENS_ASSUMED};
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

const struct as_lens_ops as_traced_lens_ops = {.name = "traced",
                                               .arm = arm,
                                               .move = move,
                                               .disarm = disarm,
                                               .counts = counts,
                                               .time = now,
                                               .registers = registers};

bool as_traced_is_watched(const struct as_reuse_native *native, uint32_t process, uint64_t address)
{
    for (size_t i = 0; i < native->regs.len; i++) {
        const struct as_traced_reg *reg = &native->regs.data[i];
        if (reg->armed && reg->watch.address / 8 == address / 8 &&
            native->threads.data[reg->thread - 1].process == process)
            return true;
    }
    for (uint32_t i = AS_GAUGE_MARKS - native->gauge.left; i < AS_GAUGE_MARKS; i++)
        if (native->gauge.marks[i].address == (address & ~UINT64_C(7)))
            return true;
    return false;
}
