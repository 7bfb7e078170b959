/* The parts of a watch: threads, slots and their states. See watch.h. */
#ifndef AS_WATCH_WATCH_INTERNAL_H
#define AS_WATCH_WATCH_INTERNAL_H

#include "watch/watch.h"

#include <signal.h>
#include <stdatomic.h>

/* A slot's state word holds the generation above four bits. BUSY: a thread is changing the slot. HANDLING: its thread
 * is in the signal handler with it. Only the thread that set one of these two bits may read or write the slot's fields.
 * SETTLING: the slot is armed and the kernel call that enables it is under way; traps already count, but the slot must
 * not be changed yet, or the late "enable" would hit the next arming. */
enum { SLOT_ARMED = 1, SLOT_BUSY = 2, SLOT_HANDLING = 4, SLOT_SETTLING = 8, SLOT_BITS = 4, SLOT_MASK = 15 };

struct as_watch_slot {
    _Atomic uint64_t state;
    int fd; /* -1: not opened yet. Closed by the thread that set BUSY, so a handler never reads another event */
    struct as_watch_request request;
    uint64_t seen; /* the part of the event's count that was delivered or belongs to earlier armings */
};

struct as_watch_thread {
    _Atomic pid_t tid; /* FREE, LEFT or the thread that owns the record */
    void *stack;       /* its signal stack, if the watch allocated it */
    struct as_watch_slot slots[AS_WATCH_SLOTS];
};

enum { AS_WATCH_LENGTHS = 1024 };
enum { THREAD_FREE = 0, THREAD_LEFT = -1 }; /* a look-up ends at FREE and continues at LEFT */

struct as_watch {
    struct as_watch_options options;
    int signal;
    bool sigtrap; /* the kernel sends SIGTRAP itself */
    bool installed;
    struct sigaction former;
    size_t stack_size;
    _Atomic uint64_t armed, moved, disarmed, delivered, filtered, stray, foreign, reopened;
    _Atomic int last_error;
    atomic_flag changing; /* set while a thread is added or removed */
    size_t max_threads;
    _Atomic uint64_t
        lengths[AS_WATCH_LENGTHS]; /* by instruction pointer: 16 * pointer + length of the instruction before it */
    struct as_watch_thread threads[];
};

/* The table of threads: watch_threads.c. Returns NULL if the thread is not in it. */
struct as_watch_thread *as_watch_find(struct as_watch *watch, pid_t tid);
enum as_watch_result as_watch_find_or_add(struct as_watch *watch, pid_t tid, struct as_watch_thread **thread);

/* The kernel's events: watch_event.c. Returns the descriptor or -errno; open leaves the event disabled. */
int as_watch_event_open(const struct as_watch *watch, pid_t tid, const struct as_watch_request *request);
bool as_watch_event_modify(const struct as_watch *watch, int fd,
                           const struct as_watch_request *request); /* enables the event too */
bool as_watch_event_enable(int fd);
void as_watch_event_disable(int fd);
uint64_t as_watch_event_count(int fd);
bool as_watch_event_alive(int fd); /* false: its thread has ended */

/* The signal: watch_signal.c. */
bool as_watch_signal_install(struct as_watch *watch, struct as_error *err);
void as_watch_signal_remove(struct as_watch *watch);

#endif
