/* Arms, moves and disarms watchpoints. See watch.h; watch_internal.h describes the states. */
#include "watch/watch_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DEFAULT_THREADS = 1024, MAX_THREADS = 1 << 16, STACK_SIZE = 64 << 10 };

static enum as_watch_result refuse(struct as_watch *watch, int error)
{
    watch->last_error = error;
    return error == ENOSPC ? AS_WATCH_TAKEN : error == ESRCH ? AS_WATCH_GONE : AS_WATCH_REFUSED;
}

static bool valid(const struct as_watch_request *request)
{
    unsigned length = request->length;
    return (length == 1 || length == 2 || length == 4 || length == 8) && request->address % length == 0 &&
           request->access >= AS_WATCH_STORE && request->access <= AS_WATCH_BOTH;
}

/* Claims the slot for the caller if its bits are `bits`: BUSY is a lock of the slot's members, which unclaim, publish and
 * close_slot (watch_threads.c) give back with their store of `state`; handle (watch_signal.c) has them by HANDLING. A thread
 * in its own trap handler may also claim the slot it handles. */
static enum as_watch_result claim(struct as_watch_thread *thread, struct as_watch_slot *slot, uint64_t bits,
                                  const uint64_t *generation, uint64_t *claimed)
{
    uint64_t state = atomic_load(&slot->state);
    if (generation && state >> SLOT_BITS != *generation)
        return AS_WATCH_STALE;
    if ((state & SLOT_ARMED) != (bits & SLOT_ARMED) && !(state & SLOT_BUSY))
        return generation ? AS_WATCH_STALE : AS_WATCH_BUSY;
    uint64_t own = state & SLOT_HANDLING && thread->tid == (pid_t)syscall(SYS_gettid) ? SLOT_HANDLING : 0;
    if ((state & SLOT_MASK) != (bits | own))
        return AS_WATCH_BUSY;
    *claimed = (state & ~(uint64_t)SLOT_ARMED) | SLOT_BUSY;
    return atomic_compare_exchange_strong(&slot->state, &state, *claimed) ? AS_WATCH_OK : AS_WATCH_BUSY;
}

static void unclaim(struct as_watch_slot *slot, uint64_t claimed)
{
    atomic_store(&slot->state, claimed & ~(uint64_t)SLOT_BUSY);
}

static bool reopen(struct as_watch *watch, struct as_watch_thread *thread, struct as_watch_slot *slot)
{
    if (slot->fd >= 0)
        close(slot->fd);
    slot->fd = as_watch_event_open(watch, thread->tid, &slot->request);
    if (slot->fd < 0) {
        watch->last_error = -slot->fd;
        slot->fd = -1;
        return false;
    }
    slot->seen = 0;
    return true;
}

/* Undoes an arming that the kernel refused: it never trapped. Waits for a handler that came for another slot and may be
 * looking at this one, because the descriptor may be closed next. */
static uint64_t take_back(struct as_watch_thread *thread, struct as_watch_slot *slot)
{
    uint64_t state = atomic_fetch_and(&slot->state, ~(uint64_t)SLOT_ARMED);
    bool own = state & SLOT_HANDLING && thread->tid == (pid_t)syscall(SYS_gettid);
    while (!own && atomic_load(&slot->state) & SLOT_HANDLING)
        ;
    uint64_t claimed =
        (state & ~(uint64_t)(SLOT_ARMED | SLOT_SETTLING | SLOT_HANDLING)) | SLOT_BUSY | (own ? SLOT_HANDLING : 0);
    atomic_store(&slot->state, claimed);
    return claimed;
}

/* Publishes the arming, so that traps count, and then enables it in the kernel. Returns false if the kernel refuses;
 * the slot is then claimed as before. */
static bool publish(struct as_watch *watch, struct as_watch_thread *thread, struct as_watch_slot *slot,
                    uint64_t *claimed, bool fresh)
{
    uint64_t generation = (*claimed >> SLOT_BITS) + 1;
    atomic_store(&slot->state, generation << SLOT_BITS | (*claimed & SLOT_HANDLING) | SLOT_ARMED | SLOT_SETTLING);
    bool told = fresh ? as_watch_event_enable(slot->fd) : as_watch_event_modify(watch, slot->fd, &slot->request);
    watch->last_error = told ? watch->last_error : errno;
    if (told)
        atomic_fetch_and(&slot->state, ~(uint64_t)SLOT_SETTLING);
    *claimed = told ? generation << SLOT_BITS : take_back(thread, slot);
    return told;
}

/* Arms a claimed, disabled slot again: modifies its event, or closes it and opens another. */
static enum as_watch_result rearm(struct as_watch *watch, struct as_watch_thread *thread, struct as_watch_slot *slot,
                                  const struct as_watch_request *request, uint64_t *claimed)
{
    slot->request = *request;
    if (slot->fd >= 0 && as_watch_event_alive(slot->fd)) {
        slot->seen = as_watch_event_count(slot->fd);
        if (publish(watch, thread, slot, claimed, false))
            return AS_WATCH_OK;
        watch->reopened++;
    }
    if (reopen(watch, thread, slot) && publish(watch, thread, slot, claimed, true))
        return AS_WATCH_OK;
    unclaim(slot, *claimed);
    return refuse(watch, watch->last_error);
}

enum as_watch_result as_watch_arm(struct as_watch *watch, pid_t tid, const struct as_watch_request *request,
                                  struct as_watch_ref *ref)
{
    struct as_watch_thread *thread;
    if (!valid(request))
        return refuse(watch, EINVAL);
    enum as_watch_result result = as_watch_find_or_add(watch, tid, &thread);
    if (result != AS_WATCH_OK)
        return result;
    bool busy = false;
    for (int i = 0; i < AS_WATCH_SLOTS; i++) {
        uint64_t claimed;
        struct as_watch_slot *slot = &thread->slots[i];
        busy |= (slot->state & (SLOT_MASK & ~SLOT_ARMED)) != 0;
        if (claim(thread, slot, 0, NULL, &claimed) != AS_WATCH_OK)
            continue;
        result = rearm(watch, thread, slot, request, &claimed);
        *ref = (struct as_watch_ref){(uint32_t)(thread - watch->threads), (uint32_t)i, claimed >> SLOT_BITS};
        watch->armed += result == AS_WATCH_OK;
        return result;
    }
    return busy ? AS_WATCH_BUSY : AS_WATCH_FULL;
}

/* Claims the arming that `ref` names and stops it. */
static enum as_watch_result stop(struct as_watch *watch, const struct as_watch_ref *ref,
                                 struct as_watch_thread **thread, struct as_watch_slot **slot, uint64_t *claimed)
{
    if (ref->thread >= watch->max_threads || ref->slot >= AS_WATCH_SLOTS)
        return AS_WATCH_STALE;
    *thread = &watch->threads[ref->thread];
    *slot = &(*thread)->slots[ref->slot];
    enum as_watch_result result = claim(*thread, *slot, SLOT_ARMED, &ref->generation, claimed);
    if (result == AS_WATCH_OK)
        as_watch_event_disable((*slot)->fd);
    return result;
}

enum as_watch_result as_watch_move(struct as_watch *watch, struct as_watch_ref *ref,
                                   const struct as_watch_request *request)
{
    struct as_watch_thread *thread;
    struct as_watch_slot *slot;
    uint64_t claimed;
    if (!valid(request))
        return refuse(watch, EINVAL);
    enum as_watch_result result = stop(watch, ref, &thread, &slot, &claimed);
    if (result != AS_WATCH_OK)
        return result;
    result = rearm(watch, thread, slot, request, &claimed);
    ref->generation = claimed >> SLOT_BITS;
    watch->moved += result == AS_WATCH_OK;
    return result;
}

enum as_watch_result as_watch_disarm(struct as_watch *watch, const struct as_watch_ref *ref)
{
    struct as_watch_thread *thread;
    struct as_watch_slot *slot;
    uint64_t claimed;
    enum as_watch_result result = stop(watch, ref, &thread, &slot, &claimed);
    if (result != AS_WATCH_OK)
        return result;
    unclaim(slot, claimed);
    watch->disarmed++;
    return AS_WATCH_OK;
}

size_t as_watch_free_slots(struct as_watch *watch, pid_t tid)
{
    struct as_watch_thread *thread = as_watch_find(watch, tid);
    size_t n = 0;
    for (int i = 0; thread && i < AS_WATCH_SLOTS; i++)
        n += (thread->slots[i].state & SLOT_MASK) == 0;
    return thread ? n : AS_WATCH_SLOTS;
}

/* Whether breakpoint events are available at all, and whether the kernel can send SIGTRAP for them. */
static bool probe(struct as_watch *watch, struct as_error *err)
{
    static uint64_t word;
    struct as_watch_request request = {.address = (uintptr_t)&word, .length = 8, .access = AS_WATCH_STORE};
    watch->sigtrap = watch->options.signal == 0;
    watch->signal = watch->sigtrap ? SIGTRAP : watch->options.signal;
    int fd = as_watch_event_open(watch, 0, &request);
    if (fd == -EINVAL && watch->sigtrap) {
        watch->sigtrap = false;
        watch->signal = SIGRTMAX - 1;
        fd = as_watch_event_open(watch, (pid_t)syscall(SYS_gettid), &request);
    }
    if (fd >= 0) {
        close(fd);
        return true;
    }
    if (fd == -ENOSPC)
        return as_error_set(
            err, "the debug registers are in use by another program (a debugger or a profiler): end it first");
    if (fd == -EACCES || fd == -EPERM)
        return as_error_set(err, "no permission for watchpoints: run 'sysctl kernel.perf_event_paranoid=2' as root");
    if (fd == -EMFILE || fd == -ENFILE)
        return as_error_set(err, "no file descriptor left for a watchpoint: raise ulimit -n");
    return as_error_set(err, "this machine does not offer watchpoints: %s", strerror(-fd));
}

struct as_watch *as_watch_new(const struct as_watch_options *options, struct as_error *err)
{
    size_t threads = options->max_threads ? options->max_threads : DEFAULT_THREADS;
    if (threads > MAX_THREADS) {
        as_error_set(err, "watchpoints for %zu threads were asked for; the most is %d", threads, MAX_THREADS);
        return NULL;
    }
    size_t size = sizeof(struct as_watch) + threads * sizeof(struct as_watch_thread);
    struct as_watch *watch = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (watch == MAP_FAILED) {
        as_error_set(err, "cannot allocate memory for watchpoints: %s", strerror(errno));
        return NULL;
    }
    watch->options = *options;
    watch->max_threads = threads;
    long least = sysconf(_SC_MINSIGSTKSZ);
    watch->stack_size = STACK_SIZE + (least > 0 ? (size_t)least : 0);
    for (size_t i = 0; i < threads; i++)
        for (int s = 0; s < AS_WATCH_SLOTS; s++)
            watch->threads[i].slots[s].fd = -1;
    as_cause_prepare();
    if (probe(watch, err) && as_watch_signal_install(watch, err))
        return watch;
    munmap(watch, size);
    return NULL;
}

void as_watch_counts(const struct as_watch *watch, struct as_watch_counts *counts)
{
    *counts = (struct as_watch_counts){.armed = watch->armed,
                                       .moved = watch->moved,
                                       .disarmed = watch->disarmed,
                                       .delivered = watch->delivered,
                                       .filtered = watch->filtered,
                                       .stray = watch->stray,
                                       .foreign = watch->foreign,
                                       .reopened = watch->reopened};
}

int as_watch_errno(const struct as_watch *watch)
{
    return watch->last_error;
}

int as_watch_signal(const struct as_watch *watch)
{
    return watch->signal;
}
