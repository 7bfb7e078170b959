/* Sampling whole processors: selects the program's records from those of all processes (as_native_options.processors).
 *
 * The program consists of its process, the processes that it forks, and their descendants, as reported by FORK records
 * in the order of time. A launched program is followed from its exec on, so that no part of Assay is in the profile. A
 * process number can be reused, so it is dropped when its process ends.
 */
#include "native/session_internal.h"

#include <linux/perf_event.h>
#include <string.h>

/* Samples begin with IDENTIFIER, IP, then the process; other records that have a process begin with it. */
enum { SAMPLE_PID = 24, RECORD_PID = 8, FORK_PARENT = 12, EXIT_TID = 16 };

static uint32_t word_at(const uint8_t *record, size_t offset)
{
    uint32_t word;
    memcpy(&word, record + offset, sizeof word);
    return word;
}

static bool is_ours(const struct as_native_session *session, uint32_t pid)
{
    return as_map_get(&session->family, pid) != NULL;
}

void as_native_family_start(struct as_native_session *session)
{
    if (!session->child)
        *as_map_put(&session->family, (uint64_t)session->pid) = 1;
}

static bool is_fork_of_others(struct as_native_session *session, const uint8_t *record)
{
    if (!is_ours(session, word_at(record, FORK_PARENT)))
        return true;
    *as_map_put(&session->family, word_at(record, RECORD_PID)) = 1;
    return false;
}

static bool is_exit_of_others(struct as_native_session *session, const uint8_t *record)
{
    uint32_t pid = word_at(record, RECORD_PID);
    if (!is_ours(session, pid))
        return true;
    if (word_at(record, EXIT_TID) == pid)
        as_map_remove(&session->family, pid);
    return false;
}

bool as_native_is_others(struct as_native_session *session, const uint8_t *record)
{
    struct as_perf_header header = as_perf_header_of(record, false);
    if (!session->options.processors || session->options.everything || header.size < SAMPLE_PID + sizeof(uint32_t))
        return false;
    switch (header.type) {
    case PERF_RECORD_SAMPLE:
        return !is_ours(session, word_at(record, SAMPLE_PID));
    case PERF_RECORD_FORK:
        return is_fork_of_others(session, record);
    case PERF_RECORD_EXIT:
        return is_exit_of_others(session, record);
    case PERF_RECORD_COMM:
        if (header.misc & PERF_RECORD_MISC_COMM_EXEC && word_at(record, RECORD_PID) == (uint32_t)session->pid)
            *as_map_put(&session->family, (uint64_t)session->pid) = 1; /* the program has begun */
        return !is_ours(session, word_at(record, RECORD_PID));
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
        /* The kernel's own mappings have no process. A program's mappings come before its name. */
        return word_at(record, RECORD_PID) != UINT32_MAX && !is_ours(session, word_at(record, RECORD_PID)) &&
               word_at(record, RECORD_PID) != (uint32_t)session->pid;
    default:
        return false;
    }
}
