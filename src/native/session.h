/* Samples a program that runs on this machine, in the same way for every event, including the kernel's clocks.
 *
 *     struct as_native_session *session = as_native_launch(&options, argv, &err);   (or as_native_attach)
 *     bool ok = session && as_native_run(session, &sink, context, &err);
 *     … as_native_info(session), as_native_wait_status(session) …
 *     as_native_close(session);
 *
 * Events are opened for each processor, with inheritance: threads and children that the program starts have theirs from
 * the first instruction on, however short they live. A launched program waits on a pipe until the events are open, and
 * they start counting at its exec, so no part of Assay is in the profile. Nothing is left in the program: it has no
 * descriptor, no signal, no tracer. If the recorder dies, the kernel removes the events and the program continues.
 *
 * A thread of the session empties the kernel's buffers (poll, when a quarter full, at least ten times a second) into a
 * queue. as_native_run takes the records from it, sorts them by time and hands them to the sink, which is the same as
 * for a recording read from a file (perfdata/perfdata.h). What the kernel lost is counted (`lost`), and so is
 * throttling.
 *
 * With `delay`, `switches` or `regions` only parts of the run are measured. The kernel samples the whole run, because
 * disabled events would not report mappings either; samples outside of these parts are dropped by their times.
 *
 * A thread that runs for less than a period is never sampled, because its clock begins with it. But it is counted
 * (`counted`), which shows how much of a program's time such threads make up. `processors` samples them, too.
 */
#ifndef AS_NATIVE_SESSION_H
#define AS_NATIVE_SESSION_H

#include "native/event.h"
#include "perfdata/perfdata.h"
#include "region/regions.h"

#include <sys/types.h>

enum as_native_mode {
    AS_NATIVE_ALLOWED, /* user and kernel mode if that is allowed, else user mode with a note */
    AS_NATIVE_USER,
    AS_NATIVE_BOTH
};

struct as_native_options {
    const struct as_native_event *events;
    size_t n_events;
    double rate; /* samples per second and thread; for counters the kernel adapts the period. 0: 997 */
    /* Instead of rate: events (clocks: nanoseconds) between samples; rounded to a prime. 0: by rate. */
    uint64_t period;
    /* How often a clock event is opened, with different prime periods that together give `rate`; 0: 1. More of them
     * cost more at every context switch. */
    unsigned clocks;
    /* A clock's period stays the same; else it changes every 64 samples to another prime within 1.5 % of it, which
     * threads that start later inherit. */
    bool no_jitter;
    bool random; /* vary a counter's period, too, within 10 %; `period` must be at least AS_NATIVE_LEAST_RANDOM */
    enum as_native_mode mode;
    /* Use clocks of the processors (cpu-clock) instead of the threads': short threads are sampled in proportion. Needs
     * permission to see other processes (root, CAP_PERFMON); their samples are left out. */
    bool processors;
    bool no_children;     /* follow threads but not forked processes (if the kernel supports the difference: 5.13) */
    uint64_t fields;      /* PERF_SAMPLE_* beyond IP, TID, TIME, CPU, PERIOD: CALLCHAIN, REGS_USER, STACK_USER,
                         BRANCH_STACK, ADDR, DATA_SRC, WEIGHT, PHYS_ADDR, RAW */
    uint32_t stack_bytes; /* for STACK_USER; 0: 8192 */
    uint64_t branch_type; /* PERF_SAMPLE_BRANCH_*; 0: any, user */
    size_t ring_bytes;    /* a processor; 0: 512 KiB (with stacks 4 MiB) */
    size_t ring_enough;   /* a buffer that had to be made smaller than ring_bytes is noted below this; 0: always */
    size_t aux_bytes;     /* a processor, for SPE; 0: 4 MiB */
    bool everything;      /* with `processors`: all processes of the machine, not only the program's */
    const char *root;     /* put before /proc and /sys; NULL: "" */
    char *const *environment; /* of a launched program; NULL: that of this process */
    bool stdout_to_stderr;    /* of a launched program */
    bool data_maps;           /* report all mappings, not only code */
    unsigned wait_ms;         /* buffers are emptied at least this often; 0: 100 */
    /* Bytes that may wait for a slow sink; 0: 64 MiB. Beyond it the kernel's buffers fill up. */
    size_t queue_bytes;
    /* The part of the run that is measured: all but the first `delay` seconds or, if `switches` is set, the time
     * between its first and second increment, its third and fourth, and so on. */
    double delay;
    const _Atomic uint32_t *switches;
    /* … or regions that start and stop at landmarks, of which at most four may be in the program's code, by the clock, and
     * when `switches` is incremented; NULL: none. `resolve` returns the address of a function or address in a process that has just started; 0: not mapped. */
    const struct as_regions *regions;
    uint64_t (*resolve)(void *context, pid_t pid, const struct as_landmark *landmark);
    /* Called when measuring starts or stops, in the thread of as_native_run. May be NULL. */
    void (*on_switch)(void *context, bool measures);
    void *switch_context;
};

enum { AS_NATIVE_NOTES = 8, AS_NATIVE_LEAST_RANDOM = 100 };

struct as_native_info {
    int precise;     /* of the first event, as it was opened */
    bool kernel;     /* kernel mode is sampled, too */
    unsigned clocks; /* each clock's sample stands for its period divided by this */
    size_t rings, ring_bytes;
    size_t events_open; /* number of descriptors */
    uint64_t samples, lost, throttled, bytes;
    double seconds;  /* from the start of the program, or from attaching, to its end or as_native_stop */
    double measured; /* … of these, the seconds in which samples were kept */
    uint32_t parts;  /* measured parts: 1 without a delay, switches or regions */
    /* Seconds that the first event's clock has counted: what the samples should add up to. 0: no clock, or only a part
     * of the run was measured. */
    double counted;
    uint64_t threads;                 /* of all processes, with or without samples */
    uint64_t processes_left;          /* processes that still ran when the session ended (daemons) */
    char notes[AS_NATIVE_NOTES][256]; /* what had to be given up, one line each; "" */
};

struct as_native_session;

/* Finds the program in PATH. If it cannot be run, `err` has the exit status (126, 127). */
struct as_native_session *as_native_launch(const struct as_native_options *options, char *const argv[],
                                           struct as_error *err) AS_MUST_CHECK;
/* Samples all threads of a running process. */
struct as_native_session *as_native_attach(const struct as_native_options *options, pid_t pid,
                                           struct as_error *err) AS_MUST_CHECK;

/* Samples the whole machine, without a program of its own, until as_native_stop; needs options.everything. */
struct as_native_session *as_native_watch(const struct as_native_options *options, struct as_error *err) AS_MUST_CHECK;

/* Runs until the program has ended, as_native_stop is called, or the sink returns false. Call this once. */
bool as_native_run(struct as_native_session *session, const struct as_perf_sink *sink, void *context,
                   struct as_error *err) AS_MUST_CHECK;
void as_native_stop(struct as_native_session *session); /* from any thread or signal handler */

const struct as_native_info *as_native_info(const struct as_native_session *session);
/* The decoder that the session feeds, for its events and summary, as seen by the sink. */
const struct as_perf_reader *as_native_reader(const struct as_native_session *session);
/* When the program, or the attaching to it, began, in nanoseconds of the samples' clock; 0: they have another clock. */
uint64_t as_native_start(const struct as_native_session *session);
pid_t as_native_pid(const struct as_native_session *session);
/* The status as from waitpid, after as_native_run; -1 if the program still runs or is not a child. */
int as_native_wait_status(const struct as_native_session *session);
/* Returns which of options.events a sample belongs to. */
size_t as_native_sample_event(const struct as_native_session *session, const struct as_perf_sample *sample);
/* What a sample stands for: nanoseconds for clocks, events otherwise. */
double as_native_weight(const struct as_native_session *session, const struct as_perf_sample *sample);

/* A launched program that has not ended continues. */
void as_native_close(struct as_native_session *session);

#endif
