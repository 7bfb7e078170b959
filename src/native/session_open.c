/* Opens a session's events: decides which ones, on which processors, and what to give up if the machine or its settings
 * do not allow it. */
#include "base/clock.h"
#include "base/random.h"
#include "native/probe_parts.h"
#include "native/session_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    DEFAULT_RATE = 997,
    DEFAULT_RING = 512 << 10,
    STACK_RING = 4 << 20,
    LEAST_RING = 32 << 10,
    DEFAULT_AUX = 4 << 20,
    DEFAULT_STACK = 8192,
    MAX_CLOCKS = 8,
    NEWEST_PRECISE = 3,
    IBS_STEP = 16,      /* IBS counts in multiples of 16 */
    SPE_STEP = 256,     /* SPE ignores the eight lowest bits */
    PERIOD_SAMPLES = 64 /* samples per period */
};
/* SPE has no rate. Its period gives about the wanted rate if this many operations are executed per second. */
static const double SPE_OPERATIONS = 2e9;
static const double CLOCK_WIDTH = 0.015, COUNTER_WIDTH = 0.1; /* how far periods vary, as a fraction */

void as_native_note(struct as_native_session *session, const char *format, ...)
{
    va_list args;
    char text[256];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    as_error_clean(text);
    for (int i = 0; i < AS_NATIVE_NOTES; i++) {
        if (strcmp(session->info.notes[i], text) == 0)
            return;
        if (!session->info.notes[i][0]) {
            strcpy(session->info.notes[i], text);
            return;
        }
    }
}

/* perf_event_paranoid; LONG_MIN if it does not exist. */
static long paranoid_level(const struct as_native_session *session)
{
    char text[32];
    bool read = as_probe_read(session->options.root, "/proc/sys/kernel/perf_event_paranoid", text, sizeof text);
    return read ? strtol(text, NULL, 10) : LONG_MIN;
}

bool as_native_open_error(const struct as_native_session *session, const struct as_native_event *event, int error,
                          struct as_error *err)
{
    long paranoid = paranoid_level(session);
    switch (error) {
    case EACCES:
    case EPERM:
        if (session->options.everything)
            return as_error_set(err, "sampling the whole machine needs root or CAP_PERFMON (as root: sysctl "
                                     "kernel.perf_event_paranoid=-1)");
        if (session->options.processors)
            return as_error_set(err, "sampling whole processors needs root or CAP_PERFMON (as root: sysctl "
                                     "kernel.perf_event_paranoid=0); clocks of the threads need neither");
        if (paranoid >= 3)
            return as_error_set(err,
                                "perf_event_paranoid is %ld: only root may measure (as root: sysctl "
                                "kernel.perf_event_paranoid=2)",
                                paranoid);
        if (paranoid >= 2 && session->options.mode == AS_NATIVE_BOTH)
            return as_error_set(err,
                                "perf_event_paranoid is %ld: no permission to sample kernel mode (measure user mode "
                                "alone, or as root: sysctl kernel.perf_event_paranoid=1)",
                                paranoid);
        if (session->child) /* the process is our child, so its owner is not the reason */
            return as_error_set(err,
                                "perf_event_open is forbidden here (%s): a container's seccomp filter has to allow it; "
                                "--source=model does not need it",
                                event->name);
        return as_error_set(err,
                            "no permission to measure process %d with %s (another user's, or refused by the "
                            "container)",
                            session->pid, event->name);
    case EMFILE:
    case ENFILE:
        return as_error_set(err, "%s: out of file descriptors after %zu events (raise ulimit -n)", event->name,
                            session->fds.len);
    case EBUSY:
        return as_error_set(err, "%s: the counters are in use by another program (perf, the kernel's NMI watchdog)",
                            event->name);
    case ENOSPC:
        if (event->unit != AS_NATIVE_UNIT_WATCHPOINT)
            return as_error_set(err, "no free hardware counter for %s", event->name);
        return as_error_set(err, "%s: the debug registers are in use by another program (a debugger or a profiler)",
                            event->name);
    case ESRCH:
        return as_error_set(err, "there is no process %d", session->pid);
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        return as_error_set(err, "%s cannot be sampled on this machine: %s", event->name,
                            error == EOPNOTSUPP ? "the event or one of its options is not supported"
                                                : "it has no such PMU (see assay doctor)");
    case EINVAL:
        return as_error_set(err, "%s: the kernel refuses this event with these options", event->name);
    case ENOSYS:
        return as_error_set(err, "the kernel has no perf events, or a container hides them; use --source=model");
    default:
        return as_error_set(err, "%s cannot be opened: %s", event->name, strerror(error));
    }
}

/* ---- kinds ---- */

static void set_fields(struct as_native_session *session, struct as_native_kind *kind)
{
    const struct as_native_options *options = &session->options;
    struct perf_event_attr *attr = &kind->attr;
    attr->sample_type |= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                         PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | options->fields;
    if (kind->unit == AS_NATIVE_UNIT_IBS_OP || kind->unit == AS_NATIVE_UNIT_IBS_FETCH)
        attr->sample_type |= PERF_SAMPLE_RAW;
    if (kind->unit == AS_NATIVE_UNIT_SPE) {
        attr->sample_type &= ~(uint64_t)PERF_SAMPLE_BRANCH_STACK;
        attr->context_switch = 1; /* its records may not contain the thread */
    }
    if (attr->sample_type & PERF_SAMPLE_REGS_USER)
        attr->sample_regs_user = 0xff0fff; /* x86-64: all but ds, es, fs, gs */
    if (attr->sample_type & PERF_SAMPLE_STACK_USER)
        attr->sample_stack_user = options->stack_bytes ? options->stack_bytes & ~7u : DEFAULT_STACK;
    if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
        attr->branch_sample_type =
            options->branch_type ? options->branch_type : PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
    attr->exclude_callchain_kernel = options->mode == AS_NATIVE_USER;
}

static void set_common(struct as_native_session *session, struct as_native_kind *kind,
                       const struct as_native_event *event)
{
    struct perf_event_attr *attr = &kind->attr;
    bool first = session->kinds.len == 1;
    attr->size = sizeof *attr;
    attr->disabled = 1;
    attr->inherit = !session->options.processors;
    attr->inherit_thread = attr->inherit && session->options.no_children;
    attr->exclude_hv = 1;
    attr->exclude_kernel = session->options.mode == AS_NATIVE_USER || event->user_only;
    attr->exclude_user = event->kernel_only;
    attr->sample_id_all = 1;
    attr->watermark = 1;
    attr->read_format = PERF_FORMAT_LOST;
    attr->mmap = attr->mmap2 = attr->comm = attr->comm_exec = attr->task = first;
    attr->mmap_data = first && session->options.data_maps;
    /* A jitdump tells by it which code was where; of a counter it would cost PEBS its large buffers. */
    if (as_native_has_parts(session) || attr->type == PERF_TYPE_SOFTWARE) {
        attr->use_clockid = 1;
        attr->clockid = CLOCK_MONOTONIC; /* as_clock_seconds */
    }
}

static uint64_t spe_period(uint64_t period)
{
    uint64_t steps = period / SPE_STEP;
    if (steps >= AS_NATIVE_LEAST_RANDOM)
        steps = as_prime_near(steps);
    return (steps ? steps : 1) * SPE_STEP;
}

static uint64_t prime_period(int unit, uint64_t period)
{
    if (unit == AS_NATIVE_UNIT_IBS_OP || unit == AS_NATIVE_UNIT_IBS_FETCH)
        return period ? (as_prime_near(period / IBS_STEP) | 1) * IBS_STEP : 0;
    if (unit == AS_NATIVE_UNIT_SPE)
        return spe_period(period);
    return period < AS_NATIVE_LEAST_RANDOM ? period : as_prime_near(period);
}

/* The kernel silently raises a smaller period to this minimum. */
static uint64_t spe_least(const struct as_native_session *session, const struct as_native_event *event)
{
    char path[128], text[32];
    snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s/caps/min_interval", event->pmu);
    return as_probe_read(session->options.root, path, text, sizeof text) ? strtoull(text, NULL, 10) : 0;
}

static uint64_t counter_period(const struct as_native_session *session, const struct as_native_event *event)
{
    uint64_t period = session->options.period ? session->options.period : event->attr.sample_period;
    if (event->unit == AS_NATIVE_UNIT_SPE && !period)
        period = (uint64_t)(SPE_OPERATIONS / session->options.rate);
    if (event->unit == AS_NATIVE_UNIT_SPE && period < spe_least(session, event))
        period = spe_least(session, event);
    return event->unit == AS_NATIVE_UNIT_WATCHPOINT ? period : prime_period(event->unit, period);
}

static void add_kind(struct as_native_session *session, uint32_t index, uint64_t period)
{
    const struct as_native_event *event = &session->events.data[index];
    struct as_native_kind *kind = as_vec_push(&session->kinds);
    *kind = (struct as_native_kind){.attr = event->attr, .event = index, .unit = event->unit};
    kind->group = event->unit == AS_NATIVE_UNIT_SPE ? (int)session->kinds.len : 0;
    kind->attr.sample_period = kind->period = period;
    if (!period) {
        kind->attr.freq = 1;
        kind->attr.sample_freq = (uint64_t)llround(session->options.rate);
    }
    set_common(session, kind, event);
    set_fields(session, kind);
    /* With periods, the kernel records each software event and each hit of a watchpoint as a sample of 1. */
    bool counted = kind->attr.type == PERF_TYPE_SOFTWARE || kind->attr.type == PERF_TYPE_BREAKPOINT;
    if (period && counted && event->unit != AS_NATIVE_UNIT_CLOCK)
        kind->attr.sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
}

bool as_native_make_kinds(struct as_native_session *session, struct as_error *err)
{
    struct as_native_options *options = &session->options;
    options->root = options->root ? options->root : "";
    options->rate = options->rate > 0 ? options->rate : DEFAULT_RATE;
    options->clocks = options->clocks ? options->clocks : 1;
    options->ring_bytes = options->ring_bytes                        ? options->ring_bytes
                          : options->fields & PERF_SAMPLE_STACK_USER ? STACK_RING
                                                                     : DEFAULT_RING;
    if (options->n_events == 0 || options->clocks > MAX_CLOCKS || options->rate > 1e6 || options->rate < 0.01)
        return as_error_set(err, "sampling needs an event, at most %d clocks, and 0.01 to 1000000 samples a second",
                            MAX_CLOCKS);
    for (uint32_t i = 0; i < session->events.len; i++) {
        const struct as_native_event *event = &session->events.data[i];
        uint64_t periods[MAX_CLOCKS];
        if (event->unit == AS_NATIVE_UNIT_SPE && as_native_has_parts(session))
            return as_error_set(err, "%s: SPE has its own clock, so parts of a run cannot be measured", event->name);
        if (event->unit != AS_NATIVE_UNIT_CLOCK) {
            add_kind(session, i,
                     event->unit == AS_NATIVE_UNIT_WATCHPOINT && !options->period ? 1 : counter_period(session, event));
            continue;
        }
        as_clock_periods(options->period ? 1e9 / (double)options->period : options->rate, options->clocks, periods);
        for (unsigned c = 0; c < options->clocks; c++)
            add_kind(session, i, periods[c]);
    }
    session->info.clocks = options->clocks;
    session->random = (uint64_t)getpid() << 32 ^ (uint64_t)(as_clock_seconds() * 1e9);
    if (options->period)
        options->rate = 1e9 / (double)options->period;
    return true;
}

/* ---- opening ---- */

static int open_event(struct perf_event_attr *attr, pid_t tid, int cpu)
{
    int fd = (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    return fd >= 0 ? fd : -errno;
}

/* The first time, if something is refused, less is tried: a precise level from 3 down to the requested one, then
 * without kernel mode. What works is kept in the kind. */
static int open_level(struct as_native_session *session, struct as_native_kind *kind, pid_t tid, int cpu)
{
    const struct as_native_event *event = &session->events.data[kind->event];
    unsigned least = event->attr.precise_ip;
    bool counter = kind->unit == AS_NATIVE_UNIT_COUNTER && kind->attr.type != PERF_TYPE_SOFTWARE;
    int error = 0;
    for (unsigned excluded = kind->attr.exclude_kernel; excluded <= 1; excluded++) {
        kind->attr.exclude_kernel = excluded;
        kind->attr.exclude_callchain_kernel |= excluded;
        for (unsigned level = counter ? NEWEST_PRECISE : least;; level--) {
            kind->attr.precise_ip = level & 3;
            int fd = open_event(&kind->attr, tid, cpu);
            if (fd >= 0)
                return fd;
            error = fd;
            if (level <= least || error == -EACCES || error == -EPERM || error == -EMFILE)
                break;
        }
        bool denied = error == -EACCES || error == -EPERM;
        if (!denied || session->options.mode != AS_NATIVE_ALLOWED || event->kernel_only)
            break;
    }
    return error;
}

/* The count of lost samples came with Linux 6.0; it is optional. */
static int open_first(struct as_native_session *session, struct as_native_kind *kind, pid_t tid, int cpu)
{
    int fd = open_level(session, kind, tid, cpu);
    if (fd != -EINVAL || !kind->attr.read_format)
        return fd;
    kind->attr.read_format = 0;
    return open_level(session, kind, tid, cpu);
}

static void note_given_up(struct as_native_session *session, const struct as_native_kind *kind)
{
    const struct as_native_event *event = &session->events.data[kind->event];
    if (kind->attr.exclude_kernel && session->options.mode == AS_NATIVE_ALLOWED && !event->user_only)
        as_native_note(session, "samples in user mode only: perf_event_paranoid is %ld", paranoid_level(session));
    if (kind == session->kinds.data) {
        session->info.precise = kind->attr.precise_ip;
        session->info.kernel = !kind->attr.exclude_kernel;
    }
}

static struct as_native_ring *ring_of(struct as_native_session *session, int cpu, int group)
{
    for (size_t i = 0; i < session->rings.len; i++)
        if (session->rings.data[i].cpu == cpu && session->rings.data[i].group == group)
            return &session->rings.data[i];
    return NULL;
}

/* All buffers have the same size, so that the last processor gets as much as the first: if one does not fit into the
 * allowed locked memory, as_native_open starts again with smaller ones. */
static bool make_ring(struct as_native_session *session, int fd, int cpu, const struct as_native_kind *kind,
                      struct as_error *err)
{
    struct as_native_ring *ring = as_vec_push(&session->rings);
    size_t aux = session->options.aux_bytes ? session->options.aux_bytes : DEFAULT_AUX,
           size = session->options.ring_bytes;
    *ring = (struct as_native_ring){.cpu = cpu, .group = kind->group};
    bool mapped = as_ring_map(&ring->ring, fd, size, size);
    session->too_large = !mapped && (errno == EPERM || errno == ENOMEM);
    if (mapped && kind->unit == AS_NATIVE_UNIT_SPE)
        mapped = as_ring_map_aux(&ring->ring, aux, LEAST_RING);
    if (!mapped)
        return as_error_set(err,
                            "cannot allocate a buffer for samples: %s (sysctl kernel.perf_event_mlock_kb, ulimit -l)",
                            errno == EPERM ? "the limit of locked memory is reached" : strerror(errno));
    session->info.ring_bytes = ring->ring.size;
    return true;
}

static bool add_fd(struct as_native_session *session, struct as_native_fd opened, struct as_error *err)
{
    const struct as_native_kind *kind = &session->kinds.data[opened.kind];
    int fd = opened.fd, cpu = opened.cpu;
    *as_vec_push(&session->fds) = opened;
    struct as_native_ring *ring = ring_of(session, cpu, kind->group);
    if (!ring)
        return make_ring(session, fd, cpu, kind, err);
    if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->ring.fd) != 0)
        return as_error_set(err, "cannot redirect events into one buffer: %s", strerror(errno));
    return true;
}

/* The limit of descriptors is raised for the recorder alone: the program was forked with the old one. */
static bool raise_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max)
        return false;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

static int open_one(struct as_native_session *session, uint32_t number, pid_t tid, int cpu)
{
    struct as_native_kind *kind = &session->kinds.data[number];
    bool first = true;
    for (size_t i = 0; first && i < session->fds.len; i++)
        first = session->fds.data[i].kind != number;
    int fd = first ? open_first(session, kind, tid, cpu) : open_event(&kind->attr, tid, cpu);
    if (fd == -EMFILE && raise_limit())
        fd = open_event(&kind->attr, tid, cpu);
    if (fd >= 0 && first)
        note_given_up(session, kind);
    return fd;
}

static bool open_kind(struct as_native_session *session, uint32_t number, pid_t tid, struct as_error *err)
{
    const struct as_native_kind *kind = &session->kinds.data[number];
    const struct as_native_event *event = &session->events.data[kind->event];
    int opened = 0, error = ENODEV, processors = (int)sysconf(_SC_NPROCESSORS_CONF);
    for (int cpu = 0; cpu < processors; cpu++) {
        if (!as_native_event_pmu_covers(session->options.root, event->pmu, cpu))
            continue;
        int fd = open_one(session, number, tid, cpu);
        if (fd == -ENODEV && kind->attr.type == PERF_TYPE_SOFTWARE)
            continue; /* that processor is offline */
        session->refused = fd < 0 ? -fd : 0;
        if (fd < 0)
            return as_native_open_error(session, event, -fd, err);
        if (!add_fd(session, (struct as_native_fd){.fd = fd, .cpu = cpu, .opening = session->openings, .kind = number},
                    err))
            return false;
        opened++;
    }
    return opened > 0 || as_native_open_error(session, event, error, err);
}

static bool open_all(struct as_native_session *session, pid_t tid, bool at_exec, struct as_error *err)
{
    for (uint32_t i = 0; i < session->kinds.len; i++) {
        session->kinds.data[i].attr.enable_on_exec = at_exec;
        session->kinds.data[i].attr.wakeup_watermark = (uint32_t)(session->options.ring_bytes / 4);
        if (!open_kind(session, i, tid, err))
            return false;
    }
    return true;
}

bool as_native_open(struct as_native_session *session, pid_t tid, bool at_exec, struct as_error *err)
{
    if (session->options.processors) { /* events of all processes, starting now */
        tid = -1;
        at_exec = false;
    }
    size_t before = session->fds.len, wanted = session->options.ring_bytes;
    bool opened = open_all(session, tid, at_exec, err);
    while (!opened && session->too_large && before == 0 && session->options.ring_bytes > LEAST_RING) {
        as_native_close_events(session);
        session->options.ring_bytes /= 2;
        opened = open_all(session, tid, at_exec, err);
    }
    size_t enough = session->options.ring_enough ? session->options.ring_enough : wanted;
    if (opened && session->options.ring_bytes < wanted && session->options.ring_bytes < enough)
        as_native_note(session, "buffers of %zu KiB instead of %zu: perf_event_mlock_kb and ulimit -l allow no more",
                       session->options.ring_bytes >> 10, wanted >> 10);
    for (size_t i = before; opened && !at_exec && i < session->fds.len; i++)
        ioctl(session->fds.data[i].fd, PERF_EVENT_IOC_ENABLE, 0);
    session->info.rings = session->rings.len;
    session->info.events_open = session->fds.len;
    return opened;
}

/* Whether a counter has had enough samples with its current period, judged by its count, including threads that
 * inherited it.
 */
static bool counted_enough(struct as_native_fd *event, uint64_t period)
{
    uint64_t values[2] = {0, 0}; /* the count, and the lost samples */
    if (read(event->fd, values, sizeof values) < (ssize_t)sizeof values[0] ||
        values[0] - event->count < PERIOD_SAMPLES * period)
        return false;
    event->count = values[0];
    return true;
}

static void change_period(struct as_native_session *session, int fd, const struct as_native_kind *kind, double width)
{
    enum { STEPS = 31 };
    double away = ((double)as_random_below(&session->random, STEPS) / (STEPS / 2) - 1) * width;
    uint64_t period = prime_period(kind->unit, (uint64_t)((double)kind->period * (1 + away)));
    ioctl(fd, PERF_EVENT_IOC_PERIOD, &period);
}

/* When the period is changed, the kernel forgets its progress in the current one, half a period on average; 64 samples
 * make that error small. A counter's samples carry their periods as weights, so its periods may vary more. */
void as_native_jitter(struct as_native_session *session)
{
    const struct as_native_options *options = &session->options;
    double now = as_clock_seconds();
    bool clocks = !options->no_jitter && now >= session->jitter_until;
    if (clocks)
        session->jitter_until = now + PERIOD_SAMPLES / options->rate;
    for (size_t i = 0; i < session->fds.len; i++) {
        struct as_native_fd *event = &session->fds.data[i];
        const struct as_native_kind *kind = &session->kinds.data[event->kind];
        if (kind->unit == AS_NATIVE_UNIT_CLOCK) {
            if (clocks)
                change_period(session, event->fd, kind, CLOCK_WIDTH);
        } else if (options->random && kind->period >= AS_NATIVE_LEAST_RANDOM && counted_enough(event, kind->period)) {
            change_period(session, event->fd, kind, COUNTER_WIDTH);
        }
    }
}

void as_native_disable(struct as_native_session *session)
{
    for (size_t i = 0; i < session->fds.len; i++)
        ioctl(session->fds.data[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

void as_native_close_events(struct as_native_session *session)
{
    for (size_t i = 0; i < session->rings.len; i++)
        as_ring_unmap(&session->rings.data[i].ring);
    for (size_t i = 0; i < session->fds.len; i++)
        close(session->fds.data[i].fd);
    as_vec_free(&session->rings);
    as_vec_free(&session->fds);
}
