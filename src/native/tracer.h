/* The threads of a process and of those that it forks, under ptrace: stops those that run, all at once and for a moment; watches
 * addresses on them with hardware breakpoints whose hit stops the thread; reads registers and processor time of stopped threads.
 *
 * Signals reach them as without a tracer. Threads that wait in the kernel are left alone. The end is that of the first process:
 * others that still run then go on untraced. If the tracer dies, the kernel takes breakpoints and tracing away, and all of them
 * go on: the signal that a hit sends does nothing to them (trap_signal.h).
 *
 *     as_tracer_launch or _attach; as_tracer_next until it says AS_TRACER_END; as_tracer_close
 *
 * All calls come from the thread that launched or attached. */
#ifndef AS_NATIVE_TRACER_H
#define AS_NATIVE_TRACER_H

#include "base/error.h"
#include "native/lookahead.h"

enum as_tracer_kind {
    AS_TRACER_TIME,  /* the deadline has passed */
    AS_TRACER_START, /* a thread is there from now on */
    AS_TRACER_GONE,  /* … and no more */
    AS_TRACER_EXEC,  /* its process executes another program and has no watches now. Threads that ended come as gone */
    AS_TRACER_TRAP,  /* a watch was hit; the thread stands still until as_tracer_resume */
    AS_TRACER_END    /* the process has ended, or as_tracer_stop was called */
};

struct as_tracer_event {
    enum as_tracer_kind kind;
    pid_t tid;
    uint32_t watch; /* TRAP: as the caller called it */
    int status;     /* END: as from waitpid; -1: it still runs */
    uint64_t spent; /* START, GONE: processor time of the thread up to then, nanoseconds; 0: unknown */
};

struct as_tracer_watch {
    uint64_t address;
    uint32_t length; /* 1, 2, 4, 8 */
    bool reads;      /* stores alone otherwise */
    uint32_t name;
};

struct as_tracer;
struct as_tracer *as_tracer_launch(char *const argv[], bool stdout_to_stderr, struct as_error *err) AS_MUST_CHECK;
struct as_tracer *as_tracer_attach(pid_t pid, struct as_error *err) AS_MUST_CHECK;
pid_t as_tracer_pid(const struct as_tracer *tracer); /* of the first process */
pid_t as_tracer_process(const struct as_tracer *tracer, pid_t tid,
                        pid_t *parent); /* of a thread, and who forked it; 0: unknown */
/* Waits for the next event, until `deadline` (as_clock_seconds). */
struct as_tracer_event as_tracer_next(struct as_tracer *tracer, double deadline);
void as_tracer_stop(struct as_tracer *tracer); /* from a signal handler, too: as_tracer_next returns END */

/* Stops all threads that run or want to; returns how many. Traps that came meanwhile are events with their threads stopped. */
size_t as_tracer_stop_all(struct as_tracer *tracer);
void as_tracer_resume_all(struct as_tracer *tracer);
void as_tracer_resume(struct as_tracer *tracer, pid_t tid);
/* The n-th thread that as_tracer_stop_all stopped. */
pid_t as_tracer_stopped(const struct as_tracer *tracer, size_t n);

/* Of a stopped thread. */
bool as_tracer_registers(struct as_tracer *tracer, pid_t tid, struct as_lookahead_thread *thread);
uint64_t as_tracer_processor_time(struct as_tracer *tracer, pid_t tid); /* nanoseconds; 0: unknown */
/* From now on its processor time is exact while it runs, too: without this it is then what it was at the scheduler's last tick, up to
 * 10 ms ago. It costs a counter, which is refused where the kernel refuses watches, too. */
void as_tracer_clock_exactly(struct as_tracer *tracer, pid_t tid);

/* A descriptor that must be closed to end it; -1: refused, errno says why. */
int as_tracer_watch(struct as_tracer *tracer, pid_t tid, const struct as_tracer_watch *watch);

/* Counts accesses to 8 bytes and stops nothing: a descriptor as above. */
int as_tracer_count(pid_t tid, uint64_t address);
struct as_tracer_counted {
    uint64_t hits, nanoseconds; /* nanoseconds that the thread ran meanwhile */
};
bool as_tracer_counted(int fd, struct as_tracer_counted *counted);

/* The process goes on without a tracer, unless it has ended. */
void as_tracer_close(struct as_tracer *tracer);

#endif
