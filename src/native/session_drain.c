/* The thread that empties the kernel's buffers. It does nothing else; the thread that runs the session interprets the
 * records. If the queue is full it waits, and the kernel counts what it loses. */
#include "base/clock.h"
#include "native/session_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { QUEUE_CHUNKS = 1 << 14, WAIT_MS = 100, PART_WAIT_MS = 10, DEFAULT_QUEUE = 64 << 20 };

static bool push(struct as_native_session *session, struct as_native_chunk *chunk)
{
    atomic_fetch_add(&session->queued, chunk->size);
    if (as_queue_push(session->queue, chunk))
        return true;
    free(chunk);
    return false;
}

static struct as_native_chunk *new_chunk(size_t size)
{
    struct as_native_chunk *chunk = malloc(sizeof *chunk + size);
    if (chunk)
        *chunk = (struct as_native_chunk){.size = size};
    return chunk;
}

/* The kernel stops a unit whose buffer was full (PERF_AUX_FLAG_TRUNCATED); this restarts it. For a running unit it does
 * nothing. */
static void resume_unit(struct as_native_session *session, const struct as_native_ring *ring)
{
    for (size_t i = 0; i < session->fds.len; i++) {
        const struct as_native_fd *event = &session->fds.data[i];
        if (event->cpu == ring->cpu && session->kinds.data[event->kind].group == ring->group)
            ioctl(event->fd, PERF_EVENT_IOC_ENABLE, 0);
    }
}

/* Returns false if there was none. */
static bool take_aux(struct as_native_session *session, uint32_t number)
{
    struct as_ring *ring = &session->rings.data[number].ring;
    const uint8_t *bytes;
    uint64_t offset;
    bool taken = false;
    for (size_t size; (size = as_ring_aux(ring, &bytes, &offset)) > 0; taken = true) {
        struct as_native_chunk *chunk = new_chunk(size);
        if (!chunk)
            break;
        chunk->aux = true;
        chunk->ring = number;
        chunk->offset = offset;
        memcpy(chunk->data, bytes, size);
        as_ring_aux_done(ring, size);
        if (!push(session, chunk))
            break;
    }
    return taken;
}

/* One pass over all buffers: takes their contents at its beginning, in one chunk. AUX data comes first, so that it is
 * there before the record that refers to it. */
static void take_all(struct as_native_session *session, bool goes_on)
{
    uint64_t began = (uint64_t)(as_clock_seconds() * 1e9);
    size_t total = 0, at = 0;
    size_t *sizes = as_alloc_array(session->rings.len, sizeof *sizes);
    for (uint32_t i = 0; i < session->rings.len; i++) {
        if (take_aux(session, i) && goes_on)
            resume_unit(session, &session->rings.data[i]);
        total += sizes[i] = as_ring_pending(&session->rings.data[i].ring);
    }
    struct as_native_chunk *chunk = new_chunk(total);
    for (uint32_t i = 0; chunk && i < session->rings.len; i++) {
        as_ring_take(&session->rings.data[i].ring, chunk->data + at, sizes[i]);
        at += sizes[i];
    }
    free(sizes);
    if (!chunk)
        return;
    chunk->ends_round = true;
    chunk->began = began;
    push(session, chunk);
}

static void wait_for_room(struct as_native_session *session)
{
    size_t limit = session->options.queue_bytes ? session->options.queue_bytes : DEFAULT_QUEUE;
    while (atomic_load(&session->queued) > limit && !session->stopping)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* The descriptors to poll: buffers, the program's end, and the request to stop. */
static struct pollfd *polled(const struct as_native_session *session, nfds_t *n)
{
    struct pollfd *fds = as_alloc_array(session->rings.len + 2, sizeof *fds);
    for (size_t i = 0; i < session->rings.len; i++)
        fds[i] = (struct pollfd){.fd = session->rings.data[i].ring.fd, .events = POLLIN};
    fds[session->rings.len] = (struct pollfd){.fd = session->pid_fd, .events = POLLIN};
    fds[session->rings.len + 1] = (struct pollfd){.fd = session->wake, .events = POLLIN};
    *n = session->rings.len + 2;
    return fds;
}

/* A buffer whose last event has ended is always ready; polling it again would spin. */
static void forget_ended(struct pollfd *fds, size_t rings)
{
    for (size_t i = 0; i < rings; i++)
        if (fds[i].revents & (POLLHUP | POLLERR | POLLNVAL))
            fds[i].fd = -1;
}

/* The measured parts begin and end when this thread notices it. */
static int wait_ms(const struct as_native_session *session)
{
    return session->options.wait_ms       ? (int)session->options.wait_ms
           : as_native_has_parts(session) ? PART_WAIT_MS
                                          : WAIT_MS;
}

static void push_borders(struct as_native_session *session)
{
    for (uint64_t border; as_native_part_crosses(session, &border);) {
        struct as_native_chunk *chunk = as_alloc(sizeof *chunk);
        chunk->border = border;
        push(session, chunk);
    }
}

static void *drain(void *argument)
{
    struct as_native_session *session = argument;
    nfds_t n;
    struct pollfd *fds = polled(session, &n);
    bool ended = false;
    while (!ended) {
        poll(fds, n, wait_ms(session));
        forget_ended(fds, session->rings.len);
        ended = session->stopping || as_native_target_ended(session);
        if (!ended)
            push_borders(session);
        wait_for_room(session);
        as_native_jitter(session);
        take_all(session, !ended);
    }
    as_native_part_end(session);
    as_native_disable(session);
    take_all(session, false); /* takes what was written during the preceding pass */
    as_queue_close(session->queue);
    free(fds);
    return NULL;
}

bool as_native_drain_start(struct as_native_session *session, struct as_error *err)
{
    session->queue = as_queue_new(QUEUE_CHUNKS);
    int error = pthread_create(&session->drainer, NULL, drain, session);
    if (error)
        return as_error_set(err, "cannot start a thread to read samples: %s", strerror(error));
    session->draining = true;
    return true;
}

void as_native_drain_join(struct as_native_session *session)
{
    if (session->draining)
        pthread_join(session->drainer, NULL);
    session->draining = false;
}
