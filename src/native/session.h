/* Sampling a program that runs on this machine: the same for every event, the kernel's clocks included.
 *
 *     struct as_native_session *session = as_native_launch(&options, argv, &err);   (or as_native_attach)
 *     bool ok = session && as_native_run(session, &sink, context, &err);
 *     … as_native_info(session), as_native_wait_status(session) …
 *     as_native_close(session);
 *
 * Events are opened for each processor, with inheritance: threads and children that the program starts have theirs from
 * their first instruction on, however short they live. A launched program waits on a pipe until the events are there
 * and they start counting at its exec, so nothing of Assay is in the profile. Nothing is left in the program: it has no
 * descriptor, no signal, no tracer. When the recorder dies the kernel takes the events away and the program goes on.
 *
 * A thread of the session's own empties the kernel's buffers (poll, a quarter full, at least ten times a second) into a
 * queue; as_native_run takes from it, puts the records into the order of time and hands them to the sink, which is that
 * of a recording read from a file (perfdata/perfdata.h): live and recorded samples are one. What the kernel could not
 * keep is counted (`lost`), so is throttling.
 *
 * With `delay`, `switches` or `regions` only parts of the run are measured. The kernel samples all of it, because events that are
 * switched off do not say what is mapped either; the samples outside of these parts are dropped by their times.
 *
 * A thread that runs for less than a period is never sampled: its clock begins with it. It is counted all the same
 * (`counted`), so that one can tell how much of a program's time such threads make up. `processors` samples them too.
 */
#ifndef AS_NATIVE_SESSION_H
#define AS_NATIVE_SESSION_H

#include "native/event.h"
#include "perfdata/perfdata.h"
#include "region/regions.h"

#include <sys/types.h>

enum as_native_mode {
    AS_NATIVE_ALLOWED, /* user and kernel mode where that is allowed, else user mode, and a note says so */
    AS_NATIVE_USER,
    AS_NATIVE_BOTH
};

struct as_native_options {
    const struct as_native_event *events;
    size_t n_events;
    double rate;     /* samples a second and thread; counters: the kernel adapts the period to it. 0: 997 */
    uint64_t period; /* instead of rate: events (clocks: nanoseconds) between samples; made prime. 0: by rate */
    unsigned clocks; /* a clock event is opened that often with different prime periods, `rate` together; 0: 1. More
                        cost more at every context switch */
    bool no_jitter;  /* a clock's period stays as it is; else another prime within 1.5 % of it is set every 64 samples,
                        which threads that start then have as theirs */
    bool random; /* a counter's period too, with `period` of AS_NATIVE_LEAST_RANDOM at the least: within 10 % of it */
    enum as_native_mode mode;
    bool processors;  /* clocks of the processors (cpu-clock) instead of the threads': threads however short are sampled
                         in proportion. For who may see other processes too (root, CAP_PERFMON); theirs are left out */
    bool no_children; /* threads yes, forked processes no (where the kernel knows the difference: 5.13) */
    uint64_t fields;  /* PERF_SAMPLE_* beyond IP, TID, TIME, CPU, PERIOD: CALLCHAIN, REGS_USER, STACK_USER,
                         BRANCH_STACK, ADDR, DATA_SRC, WEIGHT, PHYS_ADDR, RAW */
    uint32_t stack_bytes;     /* for STACK_USER; 0: 8192 */
    uint64_t branch_type;     /* PERF_SAMPLE_BRANCH_*; 0: any, user */
    size_t ring_bytes;        /* a processor; 0: 512 KiB (with stacks 4 MiB) */
    size_t aux_bytes;         /* a processor, for SPE; 0: 4 MiB */
    const char *root;         /* put before /proc and /sys; NULL: "" */
    char *const *environment; /* of a launched program; NULL: our own */
    bool stdout_to_stderr;    /* a launched program's */
    bool data_maps;           /* tell of all that is mapped, not of code alone */
    unsigned wait_ms;         /* buffers are emptied at least that often; 0: 100 */
    size_t queue_bytes;       /* that may wait for a slow sink; 0: 64 MiB. Beyond it the kernel's buffers fill up */
    /* Which part of the run is measured: all but the first `delay` seconds or, where there is `switches`, what lies
     * between its first growth by one and the second, the third and the fourth, and so on. */
    double delay;
    const _Atomic uint32_t *switches;
    /* … or regions that start and stop at landmarks, of which the program's code has at most four; NULL: none. `resolve`
     * returns the address of a function or address in a process that has just started; 0: it is not there. */
    const struct as_regions *regions;
    uint64_t (*resolve)(void *context, pid_t pid, const struct as_landmark *landmark);
    /* Measuring has started or stopped; in the thread of as_native_run. NULL: nobody wants to know. */
    void (*on_switch)(void *context, bool measures);
    void *switch_context;
};

enum { AS_NATIVE_NOTES = 8, AS_NATIVE_LEAST_RANDOM = 100 };

struct as_native_info {
    int precise;     /* of the first event, as it was opened */
    bool kernel;     /* samples in kernel mode too */
    unsigned clocks; /* each clock's sample stands for its period divided by this */
    size_t rings, ring_bytes;
    size_t events_open; /* descriptors */
    uint64_t samples, lost, throttled, bytes;
    double seconds;  /* from the start of the program, or from attaching, to its end or as_native_stop */
    double measured; /* … of these, in which samples were kept */
    uint32_t parts;  /* that were measured: 1 without a delay, switches or regions */
    double counted;  /* that the first event's clock has counted: what the samples should add up to. 0: no clock, or not
                        all of the run was measured */
    uint64_t threads;                 /* that there were, of all processes, samples or none */
    uint64_t processes_left;          /* that still ran when the session ended (daemons) */
    char notes[AS_NATIVE_NOTES][256]; /* what had to be given up, one line each; "" */
};

struct as_native_session;

/* The program is found by PATH; its status for a command that cannot be run is in err (126, 127). */
struct as_native_session *as_native_launch(const struct as_native_options *options, char *const argv[],
                                           struct as_error *err) AS_MUST_CHECK;
/* All threads of a running process. */
struct as_native_session *as_native_attach(const struct as_native_options *options, pid_t pid,
                                           struct as_error *err) AS_MUST_CHECK;

/* Until the program has ended, as_native_stop, or the sink says no (false). Once. */
bool as_native_run(struct as_native_session *session, const struct as_perf_sink *sink, void *context,
                   struct as_error *err) AS_MUST_CHECK;
void as_native_stop(struct as_native_session *session); /* from any thread or signal handler */

const struct as_native_info *as_native_info(const struct as_native_session *session);
/* The decoder that the session feeds, for its events and summary: those that the sink saw. */
const struct as_perf_reader *as_native_reader(const struct as_native_session *session);
pid_t as_native_pid(const struct as_native_session *session);
/* As waitpid gives it, after as_native_run; -1 where the program still runs or is not our child. */
int as_native_wait_status(const struct as_native_session *session);
/* Which of options.events a sample belongs to. */
size_t as_native_sample_event(const struct as_native_session *session, const struct as_perf_sample *sample);
/* What a sample stands for: nanoseconds for clocks, events otherwise. */
double as_native_weight(const struct as_native_session *session, const struct as_perf_sample *sample);

/* A launched program that has not ended goes on. */
void as_native_close(struct as_native_session *session);

#endif
