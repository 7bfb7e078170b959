/* The table of threads: open addressing by thread number, read without locks. Only one thread at a time adds or removes
 * entries. A caller that may not wait (a signal handler that could have interrupted that very thread) gets
 * AS_WATCH_BUSY. */
#include "watch/watch_internal.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct as_watch_thread *record(struct as_watch *watch, pid_t tid, size_t step)
{
    return &watch->threads[((size_t)tid + step) % watch->max_threads];
}

struct as_watch_thread *as_watch_find(struct as_watch *watch, pid_t tid)
{
    for (size_t step = 0; step < watch->max_threads; step++) {
        struct as_watch_thread *thread = record(watch, tid, step);
        pid_t owner = atomic_load_explicit(&thread->tid, memory_order_acquire); /* from add and take_down */
        if (owner == tid)
            return thread;
        if (owner == THREAD_FREE)
            return NULL;
    }
    return NULL;
}

/* Under `changing`, a lock that as_watch_find_or_add and lock_table take. */
static enum as_watch_result add(struct as_watch *watch, pid_t tid, struct as_watch_thread **found)
{
    if ((*found = as_watch_find(watch, tid)))
        return AS_WATCH_OK;
    if (syscall(SYS_tgkill, getpid(), tid, 0) != 0) { /* refuses threads of other processes */
        watch->last_error = errno;
        return AS_WATCH_GONE;
    }
    for (size_t step = 0; step < watch->max_threads; step++) {
        struct as_watch_thread *thread = record(watch, tid, step);
        if (thread->tid > 0)
            continue;
        atomic_store_explicit(&thread->tid, tid, memory_order_release);
        *found = thread;
        return AS_WATCH_OK;
    }
    return AS_WATCH_FULL;
}

enum as_watch_result as_watch_find_or_add(struct as_watch *watch, pid_t tid, struct as_watch_thread **thread)
{
    if ((*thread = as_watch_find(watch, tid)))
        return AS_WATCH_OK;
    if (atomic_flag_test_and_set_explicit(&watch->changing, memory_order_acquire))
        return AS_WATCH_BUSY;
    enum as_watch_result result = add(watch, tid, thread);
    atomic_flag_clear_explicit(&watch->changing, memory_order_release);
    return result;
}

/* Waits for the thread that changes the slot; that thread never waits itself. */
static void close_slot(struct as_watch_slot *slot)
{
    uint64_t state = atomic_load(&slot->state);
    for (;;) {
        uint64_t claimed = (state | SLOT_BUSY) & ~(uint64_t)(SLOT_ARMED | SLOT_SETTLING);
        if (state & (SLOT_BUSY | SLOT_SETTLING))
            state = atomic_load(&slot->state);
        else if (atomic_compare_exchange_weak(&slot->state, &state, claimed))
            break;
    }
    if (slot->fd >= 0)
        close(slot->fd);
    slot->fd = -1;
    atomic_store(&slot->state, ((state >> SLOT_BITS) + 1) << SLOT_BITS);
}

static void take_down(struct as_watch *watch, struct as_watch_thread *thread)
{
    for (int i = 0; i < AS_WATCH_SLOTS; i++)
        close_slot(&thread->slots[i]);
    size_t at = (size_t)(thread - watch->threads);
    bool last = watch->threads[(at + 1) % watch->max_threads].tid == THREAD_FREE;
    atomic_store_explicit(&thread->tid, last ? THREAD_FREE : THREAD_LEFT, memory_order_release);
}

static void lock_table(struct as_watch *watch)
{
    while (atomic_flag_test_and_set_explicit(&watch->changing, memory_order_acquire))
        usleep(0);
}

/* A record with this thread's number may be left from a thread that has ended; its events show that. */
static void drop_dead_events(struct as_watch_thread *thread)
{
    for (int i = 0; i < AS_WATCH_SLOTS; i++)
        if (thread->slots[i].fd >= 0 && !as_watch_event_alive(thread->slots[i].fd))
            close_slot(&thread->slots[i]);
}

static void *give_stack(size_t size)
{
    stack_t now, ours = {.ss_size = size};
    if (sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE))
        return NULL;
    ours.ss_sp = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ours.ss_sp == MAP_FAILED)
        return NULL;
    if (sigaltstack(&ours, NULL) == 0)
        return ours.ss_sp;
    munmap(ours.ss_sp, size);
    return NULL;
}

enum as_watch_result as_watch_thread_enter(struct as_watch *watch)
{
    struct as_watch_thread *thread;
    lock_table(watch);
    enum as_watch_result result = add(watch, (pid_t)syscall(SYS_gettid), &thread);
    if (result == AS_WATCH_OK)
        drop_dead_events(thread);
    atomic_flag_clear_explicit(&watch->changing, memory_order_release);
    void *stack = result == AS_WATCH_OK ? give_stack(watch->stack_size) : NULL;
    if (stack)
        thread->stack = stack;
    return result;
}

static void take_stack(struct as_watch *watch, void *stack)
{
    stack_t now, off = {.ss_flags = SS_DISABLE};
    if (stack && sigaltstack(NULL, &now) == 0 && now.ss_sp == stack)
        sigaltstack(&off, NULL);
    if (stack)
        munmap(stack, watch->stack_size);
}

void as_watch_thread_leave(struct as_watch *watch)
{
    struct as_watch_thread *thread = as_watch_find(watch, (pid_t)syscall(SYS_gettid));
    if (!thread)
        return;
    lock_table(watch);
    void *stack = thread->stack;
    thread->stack = NULL;
    take_down(watch, thread);
    atomic_flag_clear_explicit(&watch->changing, memory_order_release);
    take_stack(watch, stack);
}

/* Also frees the signal stack of a thread that has ended. */
static size_t remove_if(struct as_watch *watch, bool all)
{
    size_t removed = 0;
    lock_table(watch);
    for (size_t i = 0; i < watch->max_threads; i++) {
        struct as_watch_thread *thread = &watch->threads[i];
        if (thread->tid <= 0 || (!all && (syscall(SYS_tgkill, getpid(), thread->tid, 0) == 0 || errno != ESRCH)))
            continue;
        bool own = thread->tid == (pid_t)syscall(SYS_gettid);
        bool gone = !own && syscall(SYS_tgkill, getpid(), thread->tid, 0) != 0;
        if (own || gone)
            take_stack(watch, thread->stack); /* a living thread may be using its stack, which therefore stays */
        thread->stack = NULL;
        take_down(watch, thread);
        removed++;
    }
    atomic_flag_clear_explicit(&watch->changing, memory_order_release);
    return removed;
}

size_t as_watch_sweep(struct as_watch *watch)
{
    return remove_if(watch, false);
}

void as_watch_free(struct as_watch *watch)
{
    if (!watch)
        return;
    remove_if(watch, true);
    as_watch_signal_remove(watch);
    munmap(watch, sizeof *watch + watch->max_threads * sizeof watch->threads[0]);
}

/* The descriptors are copies of the parent's; closing them here does nothing to the parent's events. */
void as_watch_after_fork(struct as_watch *watch)
{
    atomic_flag_clear(&watch->changing);
    for (size_t i = 0; i < watch->max_threads; i++) {
        struct as_watch_thread *thread = &watch->threads[i];
        for (int s = 0; s < AS_WATCH_SLOTS; s++) {
            if (thread->slots[s].fd >= 0)
                close(thread->slots[s].fd);
            thread->slots[s].fd = -1;
            thread->slots[s].state = ((thread->slots[s].state >> SLOT_BITS) + 1) << SLOT_BITS;
        }
        thread->tid = THREAD_FREE;
        thread->stack = NULL;
    }
}
