/* The inside of a session: session.c (set-up and delivery), session_open.c (events and buffers), session_target.c (the
 * program), session_double.c (threads that have their events twice), session_family.c (which records are the
 * program's), session_part.c (which samples are to be measured), session_landmark.c (by what the program executes),
 * session_drain.c (the thread that empties the buffers).
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

/* What is opened on every processor: an event, or one of the clocks that stand for one. */
struct as_native_kind {
    struct perf_event_attr attr;
    uint32_t event; /* in options.events */
    int unit;
    uint64_t period; /* in the middle of what it is varied by; 0: by rate */
    int group;       /* rings: 0, or the kind's own (AUX data needs one) */
};

struct as_native_fd {
    int fd, cpu;
    uint32_t opening; /* 0: launched */
    uint32_t kind;
    bool copy;      /* its threads have it twice */
    uint64_t count; /* when a counter's period was changed last */
};

/* A place in the program at which regions start or stop. */
struct as_native_site {
    uint64_t address;
    uint32_t landmark;
};

struct as_native_ring {
    struct as_ring ring;
    int cpu, group;
};

/* What one pass over all buffers gave. */
struct as_native_chunk {
    size_t size;
    bool aux; /* a piece of AUX data, of this ring and offset */
    uint32_t ring;
    uint64_t offset;
    bool ends_round;
    uint64_t border; /* the measuring starts or stops at this time; 0: it is data */
    uint8_t data[];
};

struct as_native_session {
    struct as_native_options options;
    struct as_native_info info;
    AS_VEC(struct as_native_event) events;
    AS_VEC(struct as_native_kind) kinds;
    AS_VEC(struct as_native_fd) fds;
    AS_VEC(struct as_native_ring) rings;
    bool too_large; /* a buffer could not be had for its size */
    int refused;    /* errno of the last event that could not be opened */

    pid_t pid;
    bool child; /* ours to wait for */
    int wait_status;
    int go;      /* a write lets the launched program exec; -1: done */
    int refusal; /* where it tells why exec failed */
    int pid_fd;  /* readable when it has ended; -1: the kernel has none */
    int wake;    /* an eventfd: stop */
    atomic_bool stopping;

    struct as_queue *queue;
    _Atomic uint64_t queued;
    uint64_t random; /* the jitter's */
    double began;
    double jitter_until; /* when the period changes next */
    pthread_t drainer;
    bool draining;

    /* session_part.c. The drainer's: */
    bool measures;
    uint32_t heeded; /* of options.switches */
    double since;    /* when the measuring started or stopped last */
    /* The delivery's: when it started, stopped, started … */
    AS_VEC(uint64_t) borders;

    /* session_landmark.c */
    AS_VEC(struct as_native_site) sites;
    AS_VEC(int) site_fds;
    struct as_map site_ids; /* an event's id: its landmark */
    struct as_region_run region_run;

    struct as_perf_reader *reader; /* the decoder's state */
    struct as_map processes;       /* that have been seen and not ended */
    struct as_map begun;           /* threads that have been seen and not ended */
    struct as_map attached;        /* threads that were opened, also those that had ended */
    uint32_t openings;             /* how many, in order */
    struct as_map numbers;         /* an event's id: its place in fds */
    struct as_map heard;           /* what threads have, see session_double.c */
    struct as_map family;          /* processes that are the program's, see session_family.c */
};

void as_native_note(struct as_native_session *session, const char *format, ...) AS_PRINTF(2, 3);

/* session.c: the decoder of recordings, which is fed from memory. After the events are open. */
bool as_native_make_reader(struct as_native_session *session, struct as_error *err) AS_MUST_CHECK;

/* session_open.c */
bool as_native_make_kinds(struct as_native_session *session, struct as_error *err) AS_MUST_CHECK;
/* Opens everything for one thread and its descendants; enabled at exec or at once. */
bool as_native_open(struct as_native_session *session, pid_t tid, bool at_exec, struct as_error *err) AS_MUST_CHECK;
void as_native_jitter(struct as_native_session *session);  /* gives clocks, and counters if asked to, another prime */
void as_native_disable(struct as_native_session *session); /* a program that goes on is no longer counted */
void as_native_close_events(struct as_native_session *session);
/* Says in one line why perf_event_open failed. Always false. */
bool as_native_open_error(const struct as_native_session *session, const struct as_native_event *event, int error,
                          struct as_error *err);

/* session_target.c */
bool as_native_fork(struct as_native_session *session, char *const argv[], struct as_error *err) AS_MUST_CHECK;
bool as_native_let_go(struct as_native_session *session, const char *name, struct as_error *err) AS_MUST_CHECK;
bool as_native_attach_threads(struct as_native_session *session, struct as_error *err) AS_MUST_CHECK;
void as_native_tell_maps(struct as_native_session *session); /* of a running process, to the sink */
bool as_native_target_ended(struct as_native_session *session);

/* session_double.c */
bool as_native_is_double(struct as_native_session *session, const uint8_t *record); /* of a copy; in order of time */

/* session_family.c */
void as_native_family_start(struct as_native_session *session);
bool as_native_is_others(struct as_native_session *session,
                         const uint8_t *record); /* of a processor; in order of time */

/* session_part.c */
bool as_native_has_parts(const struct as_native_session *session); /* not all of the run is measured */
void as_native_part_start(struct as_native_session *session);      /* the program is about to start */
/* The drainer: whether the measuring starts or stops now. Its time is in `border`. */
bool as_native_part_crosses(struct as_native_session *session, uint64_t *border);
void as_native_part_end(struct as_native_session *session);
/* The delivery: takes a border; asks whether a record is one of those that count. */
void as_native_part_take(struct as_native_session *session, uint64_t border);
bool as_native_is_outside(const struct as_native_session *session, const uint8_t *record, uint64_t time);

/* session_landmark.c */
bool as_native_has_landmarks(const struct as_native_session *session);
bool as_native_landmarks_await(const struct as_native_session *session); /* in the child, before its exec */
/* After the exec of a launched program: finds the landmarks, opens breakpoints, lets it run. False: it is ended. */
bool as_native_landmarks_launch(struct as_native_session *session, struct as_error *err) AS_MUST_CHECK;
/* The same in two steps, for a process that runs and each of its threads. */
bool as_native_landmarks_find(struct as_native_session *session, struct as_error *err) AS_MUST_CHECK;
bool as_native_landmarks_open(struct as_native_session *session, pid_t tid, struct as_error *err) AS_MUST_CHECK;
void as_native_landmarks_close(struct as_native_session *session);
/* The delivery: before the first record; the time of a record that is a landmark's; takes such a record, in order. */
void as_native_landmarks_begin(struct as_native_session *session);
bool as_native_landmark_time(const struct as_native_session *session, const uint8_t *record, uint64_t *time);
bool as_native_landmark_pass(struct as_native_session *session, const uint8_t *record, uint64_t time);
double as_native_landmarks_measured(const struct as_native_session *session); /* seconds, after the run */

/* session_drain.c */
bool as_native_drain_start(struct as_native_session *session, struct as_error *err) AS_MUST_CHECK;
void as_native_drain_join(struct as_native_session *session);

#endif
