/* Hardware watchpoints of the threads of this process, built on the kernel's breakpoint events: four debug registers a
 * thread on x86, which trap the thread that touches the watched bytes.
 *
 * A watch has a table of threads, each with AS_WATCH_SLOTS slots. A slot is one kernel event and so one debug register;
 * it is taken when the slot is first armed and returned when the thread leaves. Any thread may arm, move and disarm the
 * slots of any other. A trap runs `on_trap` in a signal handler on the thread that trapped, on a separate stack if the
 * thread entered itself.
 *
 * Each arming has a generation. A trap compares the event's count with the count at arming, so a trap that was in
 * flight while its slot was moved or disarmed is counted as `stray` and not delivered. Once as_watch_disarm or
 * as_watch_move has returned AS_WATCH_OK, no call for the old generation is running or will come (except the caller's
 * own, if on_trap itself disarms).
 *
 * No function waits: if a slot is being changed or its trap is being handled, the caller gets AS_WATCH_BUSY. All
 * functions but new and free may be called in signal handlers, including on_trap. The kernel does not report accesses
 * that it makes itself on behalf of the program (read(2) into the watched bytes).
 */
#ifndef AS_WATCH_WATCH_H
#define AS_WATCH_WATCH_H

#include "base/error.h"
#include "watch/cause.h"

#include <stdint.h>
#include <sys/types.h>
#include <ucontext.h>

enum { AS_WATCH_SLOTS = 4 };

/* x86 can watch stores or both, not loads alone. AS_WATCH_LOAD therefore watches both and drops a trap whose
 * instruction is known to store only (`filtered`). A trap whose cause is unknown is delivered. Needs `decode`. */
enum as_watch_access { AS_WATCH_STORE = 1, AS_WATCH_LOAD, AS_WATCH_BOTH };

enum as_watch_result {
    AS_WATCH_OK,
    AS_WATCH_BUSY,   /* being changed or handled: try again or give up */
    AS_WATCH_STALE,  /* that arming has ended: moved, disarmed, fired once, or its thread left */
    AS_WATCH_FULL,   /* all slots of the thread are armed, or there is no room for another thread */
    AS_WATCH_TAKEN,  /* another program (a debugger) uses the debug registers: ENOSPC */
    AS_WATCH_GONE,   /* the thread has ended: ESRCH */
    AS_WATCH_REFUSED /* not allowed, no descriptors left, or a bad address: as_watch_errno has the reason */
};

/* One arming of one slot. */
struct as_watch_ref {
    uint32_t thread; /* in the table */
    uint32_t slot;
    uint64_t generation;
};

struct as_watch_trap {
    struct as_watch_ref ref;
    uint64_t address; /* of the watched bytes */
    uint8_t length, access;
    bool once;
    uint64_t data;             /* as given when armed */
    uint64_t hits;             /* accesses since the preceding trap: 1, or more if the thread had the signal blocked */
    bool exact;                /* the context is that of the access; false if the signal was blocked at that time */
    uint64_t ip;               /* after the access, if exact */
    const ucontext_t *context; /* registers of the thread */
    struct as_cause cause;     /* with `decode`, if exact */
};

struct as_watch_options {
    size_t max_threads; /* 0: 1024 */
    /* 0: SIGTRAP from the kernel's sigtrap events, or SIGRTMAX - 1 if the kernel lacks them (before 5.13); any other:
     * that signal, sent through the event's descriptor */
    int signal;
    bool decode; /* find the instruction behind each trap */
    void (*on_trap)(void *context, const struct as_watch_trap *trap);
    void *context;
};

/* Counts since the watch was created. */
struct as_watch_counts {
    uint64_t armed, moved, disarmed;
    uint64_t delivered, filtered;
    uint64_t stray;    /* signals that arrived after their slot was moved or disarmed */
    uint64_t foreign;  /* signals with another cause, passed on to the handler that was installed before */
    uint64_t reopened; /* moves that had to close and reopen the event, because the kernel would not modify it */
};

/* A process can have one watch at a time, because the signal belongs to the process. Returns NULL and one line in `err`
 * if breakpoint events are not available. */
struct as_watch *as_watch_new(const struct as_watch_options *options, struct as_error *err);
/* Disarms all and restores the former signal handler. No thread may be using the watch. */
void as_watch_free(struct as_watch *watch);

/* Registers the calling thread: it gets a record and, unless it has one, a signal stack. Leaving returns its debug
 * registers and the stack. A thread that ends without leaving occupies a record until its number is reused or
 * as_watch_sweep is called. */
enum as_watch_result as_watch_thread_enter(struct as_watch *watch);
void as_watch_thread_leave(struct as_watch *watch);
/* Removes threads that have ended; returns how many. */
size_t as_watch_sweep(struct as_watch *watch);
/* Call this in a child after fork: drops all state without touching the parent's events. */
void as_watch_after_fork(struct as_watch *watch);

struct as_watch_request {
    uint64_t address; /* aligned to `length` */
    uint8_t length;   /* 1, 2, 4, 8 */
    uint8_t access;   /* enum as_watch_access */
    bool once;        /* disarmed by its first trap, before on_trap is called */
    uint64_t data;
};

/* Arms a free slot of thread `tid`, which may be any thread of this process. */
enum as_watch_result as_watch_arm(struct as_watch *watch, pid_t tid, const struct as_watch_request *request,
                                  struct as_watch_ref *ref) AS_MUST_CHECK;
/* Arms the same slot for another request; `ref` becomes the new arming. */
enum as_watch_result as_watch_move(struct as_watch *watch, struct as_watch_ref *ref,
                                   const struct as_watch_request *request) AS_MUST_CHECK;
enum as_watch_result as_watch_disarm(struct as_watch *watch, const struct as_watch_ref *ref) AS_MUST_CHECK;

size_t as_watch_free_slots(struct as_watch *watch, pid_t tid);
void as_watch_counts(const struct as_watch *watch, struct as_watch_counts *counts);
int as_watch_errno(const struct as_watch *watch); /* errno of the last AS_WATCH_REFUSED, TAKEN or GONE */
int as_watch_signal(const struct as_watch *watch);

#endif
