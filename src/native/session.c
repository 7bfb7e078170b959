/* A session from creation to end, and the delivery of its records. See session.h. */
#include "base/clock.h"
#include "native/probe_parts.h"
#include "native/session_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct as_native_session *session_new(const struct as_native_options *options, struct as_error *err)
{
    struct as_native_session *session = as_alloc(sizeof *session);
    session->options = *options;
    session->pid = session->go = session->refusal = session->pid_fd = session->wake = -1;
    session->wait_status = -1;
    for (size_t i = 0; i < options->n_events; i++)
        *as_vec_push(&session->events) = options->events[i];
    session->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (session->wake >= 0 && as_native_make_kinds(session, err))
        return session;
    if (session->wake < 0)
        as_error_set(err, "cannot sample: %s", strerror(errno));
    as_native_close(session);
    return NULL;
}

/* Describes the processor as recordings do: errata, codes and the ticks in trace data depend on it. */
static void describe_processor(struct as_native_session *session)
{
    char text[128];
    struct as_perf_info *info = &session->reader->info;
    if (as_probe_cpu_id(session->options.root, text, sizeof text))
        info->cpu_id = as_perf_keep(session->reader, text, sizeof text);
    for (size_t i = 0; i < session->rings.len; i++) {
        const struct as_ring *ring = &session->rings.data[i].ring;
        if (!ring->aux)
            continue;
        info->aux_type = AS_PERF_AUX_ARM_SPE;
        info->ticks = (struct as_perf_ticks){.known = ring->page->cap_user_time_zero,
                                             .shift = ring->page->time_shift,
                                             .multiplier = ring->page->time_mult,
                                             .zero = ring->page->time_zero};
        if (ring->page->cap_user_time_short) {
            info->ticks.cycles = ring->page->time_cycles;
            info->ticks.mask = ring->page->time_mask;
        }
    }
}

bool as_native_make_reader(struct as_native_session *session, struct as_error *err)
{
    struct as_perf_reader *reader = session->reader = as_alloc(sizeof *reader);
    reader->input.fd = -1;
    reader->strings = as_strings_new();
    reader->scratch = as_alloc(sizeof *reader->scratch);
    reader->summary.first_time = reader->summary.last_time = AS_PERF_NO_TIME;
    for (size_t i = 0; i < session->kinds.len; i++) {
        size_t used;
        const struct as_native_kind *kind = &session->kinds.data[i];
        if (!as_perf_attr_add(reader, (const uint8_t *)&kind->attr, sizeof kind->attr, &used))
            return as_error_set(err, "cannot decode the samples of %s", session->events.data[kind->event].name);
        reader->events.data[i]->name = as_perf_keep(reader, session->events.data[kind->event].name, 128);
        reader->events.data[i]->pmu = as_perf_keep(reader, session->events.data[kind->event].pmu, 32);
    }
    describe_processor(session);
    for (size_t i = 0; i < session->fds.len; i++) {
        uint64_t id;
        if (ioctl(session->fds.data[i].fd, PERF_EVENT_IOC_ID, &id) != 0)
            continue;
        *as_map_put(&reader->ids, id) = session->fds.data[i].kind;
        *as_map_put(&session->numbers, id) = i;
    }
    return true;
}

struct as_native_session *as_native_launch(const struct as_native_options *options, char *const argv[],
                                           struct as_error *err)
{
    struct as_native_session *session = session_new(options, err);
    bool ready = session && as_native_fork(session, argv, err) && as_native_open(session, session->pid, true, err) &&
                 as_native_make_reader(session, err);
    if (ready) {
        session->began = as_clock_seconds(); /* the program may end before the session learns that it has begun */
        as_native_part_start(session);
    }
    ready = ready && as_native_let_go(session, argv[0], err);
    if (ready && (!as_native_has_landmarks(session) || as_native_landmarks_launch(session, err))) {
        session->info.threads = 1;
        return session;
    }
    as_native_close(session);
    return NULL;
}

struct as_native_session *as_native_attach(const struct as_native_options *options, pid_t pid, struct as_error *err)
{
    struct as_native_session *session = session_new(options, err);
    if (!session)
        return NULL;
    session->pid = pid;
    session->began = as_clock_seconds();
    as_native_part_start(session);
    if (as_native_attach_threads(session, err) && as_native_make_reader(session, err))
        return session;
    as_native_close(session);
    return NULL;
}

struct as_native_session *as_native_watch(const struct as_native_options *options, struct as_error *err)
{
    struct as_native_session *session = session_new(options, err);
    if (!session)
        return NULL;
    session->pid = 0;
    session->began = as_clock_seconds();
    as_native_part_start(session);
    if (as_native_open(session, -1, false, err) && as_native_make_reader(session, err))
        return session;
    as_native_close(session);
    return NULL;
}

/* ---- delivery ---- */

/* Counts threads that have begun, and keeps the processes that have not ended. */
static void follow_threads(struct as_native_session *session, const uint8_t *record)
{
    struct as_perf_header header = as_perf_header_of(record, false);
    uint32_t words[4]; /* pid, parent's, tid, parent's */
    if ((header.type != PERF_RECORD_FORK && header.type != PERF_RECORD_EXIT) || header.size < 8 + sizeof words)
        return;
    memcpy(words, record + 8, sizeof words);
    bool begins = header.type == PERF_RECORD_FORK, process = words[0] == words[2];
    if (begins && !as_map_get(&session->begun, words[2])) {
        *as_map_put(&session->begun, words[2]) = 1;
        session->info.threads++;
    }
    if (begins && process)
        *as_map_put(&session->processes, words[0]) = 1;
    if (!begins)
        as_map_remove(&session->begun, words[2]);
    if (!begins && process)
        as_map_remove(&session->processes, words[0]);
}

static void deliver_until(struct as_native_session *session, uint64_t until)
{
    uint64_t time;
    struct as_perf_reader *reader = session->reader;
    for (uint8_t *record; !reader->stopped && (record = as_perf_order_pop(&reader->order, until, &time));) {
        if (!as_native_region_pass(session, record, time) && !as_native_is_others(session, record) &&
            !as_native_is_double(session, record) && !as_native_is_outside(session, record, time)) {
            follow_threads(session, record);
            as_perf_record_deliver(reader, record);
        }
        free(record);
    }
}

/* Records without a time come first, because nothing has to be waited for. */
static void queue_records(struct as_native_session *session, const struct as_native_chunk *chunk)
{
    struct as_perf_reader *reader = session->reader;
    for (size_t at = 0; at + AS_PERF_HEADER_SIZE <= chunk->size;) {
        struct as_perf_header header = as_perf_header_of(chunk->data + at, false);
        if (header.size < AS_PERF_HEADER_SIZE || header.size > chunk->size - at)
            break;
        uint64_t time;
        if (!as_native_landmark_time(session, chunk->data + at, &time))
            time = as_perf_record_time(reader, &header, chunk->data + at);
        as_perf_order_push(&reader->order, time == AS_PERF_NO_TIME ? 0 : time, chunk->data + at, header.size);
        at += header.size;
    }
}

static void deliver_aux(struct as_native_session *session, const struct as_native_chunk *chunk)
{
    struct as_perf_aux aux = {.index = chunk->ring,
                              .tid = UINT32_MAX,
                              .cpu = (uint32_t)session->rings.data[chunk->ring].cpu,
                              .offset = chunk->offset,
                              .data = chunk->data,
                              .size = chunk->size};
    AS_PERF_CALL(session->reader, aux, &aux);
}

static void deliver_chunk(struct as_native_session *session, const struct as_native_chunk *chunk)
{
    session->info.bytes += chunk->size;
    if (chunk->border) {
        (as_native_has_regions(session) ? as_native_region_signal : as_native_part_take)(session, chunk->border);
        return;
    }
    if (chunk->aux) {
        deliver_aux(session, chunk);
        return;
    }
    queue_records(session, chunk);
    if (chunk->ends_round) {
        deliver_until(session, as_perf_order_round(&session->reader->order));
        as_native_region_round(session, chunk->began);
    }
}

/* Returns the samples that the kernel counted as lost for the events themselves. A LOST record is only written when
 * there is room again, so one is missing if the program ended before that. On the other hand, these counts exclude
 * inherited events. */
static uint64_t counted_lost(struct as_native_session *session)
{
    uint64_t sum = 0, time = 0;
    for (size_t i = 0; i < session->fds.len; i++) {
        uint64_t values[2] = {0, 0}; /* the count, and the lost samples */
        const struct as_native_kind *kind = &session->kinds.data[session->fds.data[i].kind];
        if (session->fds.data[i].copy)
            continue;
        if (read(session->fds.data[i].fd, values, sizeof values) < (ssize_t)sizeof values[0])
            continue;
        sum += values[1];
        time += kind == session->kinds.data && !session->options.processors && kind->unit == AS_NATIVE_UNIT_CLOCK
                    ? values[0]
                    : 0;
    }
    /* The clock counts the whole run. */
    session->info.counted = as_native_has_parts(session) ? 0 : (double)time * 1e-9;
    return sum;
}

/* Adds a note if the first event's clock has counted more than its samples stand for: the rest ran in pieces shorter
 * than a period. In user mode alone this cannot be determined, because the clock counts kernel time too. */
static void note_unsampled(struct as_native_session *session)
{
    uint64_t sampled = 0;
    for (size_t i = 0; i < session->kinds.len; i++)
        sampled += session->kinds.data[i].event == 0 ? session->reader->events.data[i]->total_period : 0;
    double seconds = 1e-9 * (double)sampled / session->options.clocks, counted = session->info.counted;
    double few = 5e-9 * (double)session->kinds.data[0].period / session->options.clocks;
    if (session->info.kernel && session->info.lost == 0 && counted - seconds > 0.2 * counted &&
        counted - seconds >= few)
        as_native_note(session,
                       "%.0f %% of the time (%.2f s) was in threads too short to be sampled at this rate (as root, "
                       "--processors samples them)",
                       100 * (counted - seconds) / counted, counted - seconds);
}

static void finish_info(struct as_native_session *session)
{
    struct as_perf_summary *summary = &session->reader->summary;
    session->info.samples = summary->samples;
    uint64_t recorded = summary->lost + summary->lost_samples, counted = counted_lost(session);
    if (counted > recorded) { /* the reader reports the same number */
        summary->lost_samples += counted - recorded;
        session->reader->events.data[0]->lost += counted - recorded;
    }
    session->info.lost = summary->lost + summary->lost_samples;
    session->info.throttled = summary->throttled;
    if (summary->throttled)
        as_native_note(
            session,
            "the kernel stopped the sampling %lu times (kernel.perf_event_max_sample_rate): code that ran until it "
            "resumed has no samples",
            (unsigned long)summary->throttled);
    as_map_remove(&session->processes, (uint64_t)session->pid);
    session->info.processes_left = session->options.everything ? 0 : session->processes.len;
    note_unsampled(session);
    if (as_native_has_regions(session))
        session->info.measured = as_native_regions_measured(session);
    if (session->info.processes_left)
        as_native_note(session, "%zu process%s that it started still run%s and will not be measured further",
                       session->processes.len, session->processes.len == 1 ? "" : "es",
                       session->processes.len == 1 ? "s" : "");
}

bool as_native_run(struct as_native_session *session, const struct as_perf_sink *sink, void *context,
                   struct as_error *err)
{
    struct as_perf_reader *reader = session->reader;
    reader->sink = sink;
    reader->context = context;
    reader->err = err;
    as_native_family_start(session);
    if (as_native_has_regions(session))
        as_native_regions_begin(session);
    as_perf_attr_announce(reader);
    if (session->options.everything)
        as_native_tell_all(session);
    else if (!session->child)
        as_native_tell_maps(session);
    if (!as_native_drain_start(session, err))
        return false;
    for (struct as_native_chunk *chunk; (chunk = as_queue_pop(session->queue));) {
        if (reader->stopped)
            as_native_stop(session);
        else
            deliver_chunk(session, chunk);
        atomic_fetch_sub(&session->queued, chunk->size);
        free(chunk);
    }
    deliver_until(session, UINT64_MAX);
    as_native_drain_join(session);
    if (session->child && as_native_target_ended(session) &&
        waitpid(session->pid, &session->wait_status, 0) == session->pid)
        session->child = false;
    finish_info(session);
    return !reader->stopped;
}

void as_native_stop(struct as_native_session *session)
{
    uint64_t one = 1;
    int error = errno;
    session->stopping = true;
    ssize_t n = write(session->wake, &one, sizeof one);
    (void)n; /* full: a wake-up is pending already */
    errno = error;
}

/* ---- queries ---- */

const struct as_native_info *as_native_info(const struct as_native_session *session)
{
    return &session->info;
}

const struct as_perf_reader *as_native_reader(const struct as_native_session *session)
{
    return session->reader;
}

uint64_t as_native_start(const struct as_native_session *session)
{
    const struct perf_event_attr *attr = &session->kinds.data[0].attr;
    return attr->use_clockid && attr->clockid == CLOCK_MONOTONIC ? (uint64_t)(session->began * 1e9) : 0;
}

pid_t as_native_pid(const struct as_native_session *session)
{
    return session->pid;
}

int as_native_wait_status(const struct as_native_session *session)
{
    return session->wait_status;
}

size_t as_native_sample_event(const struct as_native_session *session, const struct as_perf_sample *sample)
{
    return session->kinds.data[sample->event->index].event;
}

double as_native_weight(const struct as_native_session *session, const struct as_perf_sample *sample)
{
    const struct as_native_kind *kind = &session->kinds.data[sample->event->index];
    return (double)sample->period / (kind->unit == AS_NATIVE_UNIT_CLOCK ? session->options.clocks : 1);
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

void as_native_close(struct as_native_session *session)
{
    if (!session)
        return;
    if (session->draining)
        as_native_stop(session);
    as_native_drain_join(session);
    as_native_landmarks_close(session);
    as_native_regions_close(session);
    as_native_close_events(session);
    close_fd(session->go); /* a program that never got the go-ahead ends by itself */
    if (session->child && session->go >= 0)
        waitpid(session->pid, &session->wait_status, 0);
    close_fd(session->refusal);
    close_fd(session->pid_fd);
    close_fd(session->wake);
    as_queue_free(session->queue);
    as_perf_reader_close(session->reader);
    as_map_free(&session->processes);
    as_map_free(&session->begun);
    as_map_free(&session->attached);
    as_map_free(&session->numbers);
    as_map_free(&session->heard);
    as_map_free(&session->family);
    as_vec_free(&session->events);
    as_vec_free(&session->kinds);
    as_vec_free(&session->borders);
    as_vec_free(&session->unsettled);
    free(session);
}
