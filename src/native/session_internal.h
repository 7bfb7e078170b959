/* The internals of a session: session.c (set-up and delivery), session_open.c (events and buffers), session_target.c
 * (the program), session_double.c (threads that have their events twice), session_family.c (selects the program's
 * records), session_part.c (selects the samples to measure), session_region.c (regions), session_landmark.c (their
 * landmarks), session_drain.c (the thread that empties the buffers).
 */
#ifndef AS_NATIVE_SESSION_INTERNAL_H
#define AS_NATIVE_SESSION_INTERNAL_H

#include "base/queue.h"
#include "base/vec.h"
#include "native/ring.h"
#include "native/session.h"
#include "perfdata/perf_session.h"
#include "region/region_run.h"

#include <pthread.h>
#include <stdatomic.h>

/* What is opened on every processor: an event, or one of several clocks for one event. */
struct as_native_kind {
    struct perf_event_attr attr;
    uint32_t event; /* in options.events */
    int unit;
    uint64_t period; /* the mean, if it is varied; 0: by rate */
    int group;       /* number of its ring: 0, or one of its own (AUX data needs it) */
};

struct as_native_fd {
    int fd, cpu;
    uint32_t opening; /* number of the opening; 0: launched */
    uint32_t kind;
    bool copy;      /* its threads have it twice */
    uint64_t count; /* the count at which a counter's period was last changed */
};

/* A thread that may have been starting another one when its events were opened. */
struct as_native_unsettled {
    uint32_t tid;
    uint64_t time; /* its processor time then, in nanoseconds */
};

/* An instruction at which regions start or stop. */
struct as_native_site {
    uint64_t address;
    uint32_t landmark;
};

struct as_native_ring {
    struct as_ring ring;
    int cpu, group;
};

/* The result of one pass over all buffers. */
struct as_native_chunk {
    size_t size;
    bool aux; /* AUX data of this ring and offset */
    uint32_t ring;
    uint64_t offset;
    bool ends_round;
    uint64_t began;  /* of a round: when it began; all that is older is in it or came before */
    uint64_t border; /* the time at which measuring starts or stops; 0: the chunk is data */
    uint8_t data[];
};

struct as_native_session {
    struct as_native_options options;
    struct as_native_info info;
    AS_VEC(struct as_native_event) events;
    AS_VEC(struct as_native_kind) kinds;
    AS_VEC(struct as_native_fd) fds;
    AS_VEC(struct as_native_ring) rings;
    bool too_large; /* a buffer was refused because of its size */
    int refused;    /* errno of the last event that could not be opened */

    pid_t pid;
    bool child; /* a child of this process, to be waited for */
    int wait_status;
    int go;      /* a write lets the launched program exec; -1: done */
    int refusal; /* through which it reports why exec failed */
    int pid_fd;  /* readable when it has ended; -1: the kernel does not support it */
    int wake;    /* an eventfd: stop */
    atomic_bool stopping;

    struct as_queue *queue;
    _Atomic uint64_t queued;
    uint64_t random; /* state of the jitter */
    double began;
    double jitter_until; /* when the period changes next */
    pthread_t drainer;
    bool draining;

    /* session_part.c. Used by the drainer: */
    bool measures;
    uint32_t heeded; /* the value of options.switches that was handled */
    double since;    /* when measuring last started or stopped */
    /* Used by the delivery: the times at which it started, stopped, started … */
    AS_VEC(uint64_t) borders;

    /* session_landmark.c */
    AS_VEC(struct as_native_site) sites;
    AS_VEC(int) site_fds;
    struct as_map site_ids; /* an event's id, to its landmark */

    /* session_region.c */
    struct as_region_run region_run;
    AS_VEC(uint64_t) signals; /* when they came */
    size_t heeded_signals;
    uint64_t round; /* when the last pass over the buffers began */

    struct as_perf_reader *reader; /* state of the decoder */
    struct as_map processes;       /* seen and not ended */
    struct as_map begun;           /* threads seen and not ended */
    struct as_map attached;        /* threads that were opened, including ended ones */
    uint32_t openings;             /* how many, in order */
    AS_VEC(struct as_native_unsettled) unsettled;
    struct as_map numbers; /* an event's id, to its index in fds */
    struct as_map heard;   /* the events of threads, see session_double.c */
    struct as_map family;  /* processes of the program, see session_family.c */
};

void as_native_note(struct as_native_session *session, const char *format, ...) AS_PRINTF(2, 3);

/* session.c: makes the decoder of recordings, which is fed from memory. Call this once the events are open. */
bool as_native_make_reader(struct as_native_session *session, struct as_error *err) AS_MUST_CHECK;

/* session_open.c */
bool as_native_make_kinds(struct as_native_session *session, struct as_error *err) AS_MUST_CHECK;
/* Opens all events for one thread and its descendants; enabled at exec or at once. */
bool as_native_open(struct as_native_session *session, pid_t tid, bool at_exec, struct as_error *err) AS_MUST_CHECK;
/* Changes the periods of clocks, and of counters if asked to, to another prime. */
void as_native_jitter(struct as_native_session *session);
void as_native_disable(struct as_native_session *session); /* stops counting a program that continues */
void as_native_close_events(struct as_native_session *session);
/* Sets an error of one line that explains why perf_event_open failed. Returns false. */
bool as_native_open_error(const struct as_native_session *session, const struct as_native_event *event, int error,
                          struct as_error *err);

/* session_target.c */
bool as_native_fork(struct as_native_session *session, char *const argv[], struct as_error *err) AS_MUST_CHECK;
bool as_native_let_go(struct as_native_session *session, const char *name, struct as_error *err) AS_MUST_CHECK;
bool as_native_attach_threads(struct as_native_session *session, struct as_error *err) AS_MUST_CHECK;
void as_native_tell_maps(struct as_native_session *session); /* sends the mappings of a running process to the sink */
void as_native_tell_all(struct as_native_session *session);  /* … and those of all processes */
bool as_native_target_ended(struct as_native_session *session);

/* session_double.c */
/* Whether it belongs to a duplicate event; call in the order of time. */
bool as_native_is_double(struct as_native_session *session, const uint8_t *record);

/* session_family.c */
void as_native_family_start(struct as_native_session *session);
bool as_native_is_others(struct as_native_session *session,
                         /* Whether it belongs to another program; call in the order of time. */
                         const uint8_t *record);

/* session_part.c */
bool as_native_has_parts(const struct as_native_session *session); /* only parts of the run are measured */
void as_native_part_start(struct as_native_session *session);      /* call before the program starts */
/* For the drainer: whether measuring starts or stops now. `border` gets the time. */
bool as_native_part_crosses(struct as_native_session *session, uint64_t *border);
void as_native_part_end(struct as_native_session *session);
/* For the delivery: takes a border; tells whether a record is in a measured part. */
void as_native_part_take(struct as_native_session *session, uint64_t border);
bool as_native_is_outside(const struct as_native_session *session, const uint8_t *record, uint64_t time);

/* session_landmark.c */
bool as_native_has_landmarks(const struct as_native_session *session);
bool as_native_landmarks_await(const struct as_native_session *session); /* call in the child, before its exec */
/* Call this after the exec of a launched program: finds the landmarks, opens breakpoints, lets the program run. On
 * false, the program has been ended. */
bool as_native_landmarks_launch(struct as_native_session *session, struct as_error *err) AS_MUST_CHECK;
/* The same in two steps, for a running process and each of its threads. */
bool as_native_landmarks_find(struct as_native_session *session, struct as_error *err) AS_MUST_CHECK;
bool as_native_landmarks_open(struct as_native_session *session, pid_t tid, struct as_error *err) AS_MUST_CHECK;
void as_native_landmarks_close(struct as_native_session *session);

/* session_region.c, for the delivery: */
bool as_native_has_regions(const struct as_native_session *session);
void as_native_regions_begin(struct as_native_session *session); /* call before the first record */
void as_native_regions_close(struct as_native_session *session);
void as_native_region_signal(struct as_native_session *session, uint64_t time);
/* Returns the time of a landmark's record; false: the record is another. */
bool as_native_landmark_time(const struct as_native_session *session, const uint8_t *record, uint64_t *time);
/* Call this with each record, in order. Returns whether the record is a landmark's. */
bool as_native_region_pass(struct as_native_session *session, const uint8_t *record, uint64_t time);
/* Call this behind the records of a pass over the buffers: where a program sleeps, signals and the clock come without one. */
void as_native_region_round(struct as_native_session *session, uint64_t began);
double as_native_regions_measured(struct as_native_session *session); /* seconds, after the run */

/* session_drain.c */
bool as_native_drain_start(struct as_native_session *session, struct as_error *err) AS_MUST_CHECK;
void as_native_drain_join(struct as_native_session *session);

#endif
