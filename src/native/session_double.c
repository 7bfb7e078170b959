/* Threads that have an event twice: opened when their process was attached to, and inherited from the thread that
 * started them and was opened before them (session_target.c). Both copies write samples, FORK and EXIT records, which
 * reveals the duplicate. The event that was opened later is the copy; its samples and count are dropped from then on,
 * together with those of every event that inherited it. Each processor's event is treated separately, because a thread
 * may start while only some of them are open. */
#include "native/session_internal.h"

#include <string.h>

/* Samples begin with IDENTIFIER, IP, TID. A FORK record comes from the thread that forks; the new thread need not have
 * inherited the event that wrote it. */
enum { SAMPLE_ID = 8, SAMPLE_TID = 28, EXIT_TID = 16, FORK_TID = 20 };

/* The key of a thread's event of one kind on one processor. */
static uint64_t key_of(uint32_t tid, const struct as_native_fd *event)
{
    return (uint64_t)tid << 32 | (uint64_t)(event->cpu & 0xffffff) << 8 | (event->kind & 0xff);
}

/* Records that a thread has this event. If records were lost, the number may belong to another thread; then nothing is
 * concluded. */
static void hear(struct as_native_session *session, uint32_t tid, uint64_t number)
{
    uint64_t *known = as_map_put(&session->heard, key_of(tid, &session->fds.data[number]));
    if (*known == 0 || *known - 1 == number) { /* 0: no event known yet */
        *known = number + 1;
        return;
    }
    if (session->reader->summary.lost || session->reader->summary.lost_samples)
        return;
    uint64_t earlier = *known - 1 < number ? *known - 1 : number, later = *known - 1 < number ? number : *known - 1;
    session->fds.data[later].copy = true;
    *known = earlier + 1;
}

static void forget_thread(struct as_native_session *session, uint32_t tid)
{
    for (size_t i = 0; i < session->fds.len && session->fds.data[i].opening == session->fds.data[0].opening; i++)
        as_map_remove(&session->heard, key_of(tid, &session->fds.data[i]));
}

bool as_native_is_double(struct as_native_session *session, const uint8_t *record)
{
    struct as_perf_header header = as_perf_header_of(record, false);
    bool sample = header.type == PERF_RECORD_SAMPLE, ends = header.type == PERF_RECORD_EXIT;
    uint32_t tid;
    uint64_t id;
    if (session->openings < 2 || header.size < 40 || !(sample || ends || header.type == PERF_RECORD_FORK))
        return false;
    memcpy(&tid, record + (sample ? SAMPLE_TID : ends ? EXIT_TID : FORK_TID), sizeof tid);
    memcpy(&id, sample ? record + SAMPLE_ID : record + header.size - sizeof id, sizeof id);
    const uint64_t *number = as_map_get(&session->numbers, id);
    if (!number || session->fds.data[*number].copy)
        return number != NULL;
    if (ends)
        forget_thread(session, tid);
    else
        hear(session, tid, *number);
    return session->fds.data[*number].copy;
}
