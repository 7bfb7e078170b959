/* The program: starts one that waits for its events, attaches to a running one, and notices its end. */
#include "base/thread_state.h"
#include "native/probe_parts.h"
#include "native/process_maps.h"
#include "native/session_internal.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Runs in the child between fork and exec: only async-signal-safe calls. If the recorder is gone before it gave the
 * go-ahead, the child exits. */
static void wait_and_exec(const struct as_native_session *session, int go, int refusal, char *const argv[])
{
    const struct as_native_options *options = &session->options;
    char byte;
    ssize_t n;
    do
        n = read(go, &byte, 1);
    while (n < 0 && errno == EINTR);
    if (n != 1)
        _exit(AS_EXIT_FAILURE);
    close(go);
    if (options->stdout_to_stderr)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    if (as_native_landmarks_await(session))
        execvpe(argv[0], argv, options->environment ? options->environment : environ);
    int error = errno;
    if (write(refusal, &error, sizeof error) != sizeof error)
        _exit(AS_EXIT_FAILURE);
    _exit(AS_EXIT_CANNOT_RUN);
}

static void open_pid_fd(struct as_native_session *session)
{
    session->pid_fd = (int)syscall(SYS_pidfd_open, session->pid, 0);
    if (session->pid_fd >= 0)
        fcntl(session->pid_fd, F_SETFD, FD_CLOEXEC);
}

bool as_native_fork(struct as_native_session *session, char *const argv[], struct as_error *err)
{
    int go[2], refusal[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) !=
        0) /* a socket pair, because it raises no SIGPIPE if the other end is closed */
        return as_error_set(err, "cannot start %s: %s", argv[0], strerror(errno));
    if (pipe2(refusal, O_CLOEXEC) != 0) {
        close(go[0]);
        close(go[1]);
        return as_error_set(err, "cannot start %s: %s", argv[0], strerror(errno));
    }
    session->pid = fork();
    if (session->pid == 0) {
        close(go[1]);
        close(refusal[0]);
        wait_and_exec(session, go[0], refusal[1], argv);
    }
    close(go[0]);
    close(refusal[1]);
    session->go = go[1];
    session->refusal = refusal[0];
    if (session->pid < 0)
        return as_error_set(err, "cannot start %s: %s", argv[0], strerror(errno));
    session->child = true;
    open_pid_fd(session);
    return true;
}

/* The pipe closes when exec succeeds. */
bool as_native_let_go(struct as_native_session *session, const char *name, struct as_error *err)
{
    int error = 0;
    ssize_t n;
    if (send(session->go, "", 1, MSG_NOSIGNAL) != 1)
        return as_error_set(err, "%s ended before its first instruction", name);
    close(session->go);
    session->go = -1;
    do
        n = read(session->refusal, &error, sizeof error);
    while (n < 0 && errno == EINTR);
    if (n != sizeof error)
        return true;
    waitpid(session->pid, &session->wait_status, 0);
    session->child = false;
    return as_error_set_status(err, error == ENOENT ? AS_EXIT_NOT_FOUND : AS_EXIT_CANNOT_RUN, "cannot run %s: %s", name,
                               strerror(error));
}

bool as_native_target_ended(struct as_native_session *session)
{
    siginfo_t info = {0};
    if (session->child)
        return waitid(P_PID, (id_t)session->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0;
    if (session->pid <= 0) /* the whole machine */
        return false;
    struct pollfd ended = {.fd = session->pid_fd, .events = POLLIN};
    if (session->pid_fd >= 0)
        return poll(&ended, 1, 0) > 0;
    return kill(session->pid, 0) != 0 && errno == ESRCH;
}

/* ---- attaching ----
 *
 * Threads may start and end meanwhile. A thread started by one whose events are open inherits them, unless it was being
 * started while they were opened. Which of the two applies cannot be known, because its FORK record comes in both
 * cases. So events are opened for every listed thread that is not known. If the samples later show that it had
 * inherited events as well, those that were opened for it are left out (as_native_is_double). Attaching is complete
 * when three consecutive listings contain only threads with a FORK record.
 *
 * A thread that is being started is not listed yet. If its starter has been interrupted in clone(), that can last longer
 * than three listings, so the last listing comes after every thread without a FORK record has settled: it sleeps, has
 * ended, or has run for longer than the rest of a clone() takes.
 */

/* Processor time that a thread has had, in nanoseconds; UINT64_MAX: it has ended, or the kernel does not say. */
static uint64_t time_of(const struct as_native_session *session, uint32_t tid)
{
    char path[64], text[64] = "";
    snprintf(path, sizeof path, "/proc/%d/task/%u/schedstat", session->pid, tid);
    return as_probe_read("", path, text, sizeof text) ? strtoull(text, NULL, 10) : UINT64_MAX;
}

/* Whether a thread runs, or waits in the kernel for something other than an event: it may be in clone(). */
static bool is_busy(const struct as_native_session *session, uint32_t tid)
{
    char state = as_thread_state(session->pid, (pid_t)tid);
    return state == 'R' || state == 'D';
}

static void settle(struct as_native_session *session)
{
    enum { REST_OF_CLONE = 500000 };
    size_t left = 0;
    for (size_t i = 0; i < session->unsettled.len; i++) {
        const struct as_native_unsettled *thread = &session->unsettled.data[i];
        uint64_t time = time_of(session, thread->tid);
        if (time != UINT64_MAX && time < thread->time + REST_OF_CLONE && is_busy(session, thread->tid))
            session->unsettled.data[left++] = *thread;
    }
    session->unsettled.len = left;
}

/* Whether there is a FORK record of this thread. The records are left in the buffers for the drainer. */
static bool is_announced(const struct as_native_session *session, uint32_t tid)
{
    for (size_t i = 0; i < session->rings.len; i++) {
        const struct as_ring *ring = &session->rings.data[i].ring;
        uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
        for (uint64_t at = ring->page->data_tail; at < head;) {
            uint32_t words[8]; /* type, misc and size, pid, ppid, tid */
            for (size_t w = 0; w < 8; w++)
                memcpy(&words[w], ring->data + ((at + 4 * w) & (ring->size - 1)), sizeof words[w]);
            uint16_t size = (uint16_t)(words[1] >> 16);
            if (words[0] == PERF_RECORD_FORK && words[4] == tid)
                return true;
            if (size < sizeof(struct perf_event_header))
                break;
            at += size;
        }
    }
    return false;
}

/* A thread that has ended meanwhile is skipped; one that may have inherited its events can do without. Returns false on
 * failure. */
static bool attach_thread(struct as_native_session *session, uint32_t tid, bool announced, struct as_error *err)
{
    *as_map_put(&session->attached, tid) = 1;
    session->openings++;
    if (as_native_open(session, (pid_t)tid, false, err) && as_native_landmarks_open(session, (pid_t)tid, err)) {
        session->info.threads += !announced;
        if (!announced)
            *as_vec_push(&session->unsettled) = (struct as_native_unsettled){.tid = tid, .time = time_of(session, tid)};
        return true;
    }
    return announced || session->refused == ESRCH;
}

/* Opens the events of threads that are not known yet; returns how many of them had no FORK record, -1 on failure. A
 * listing ends early if a thread ends during it, so threads that it lacks count, too. */
static int attach_new(struct as_native_session *session, struct as_error *err)
{
    char path[64];
    int found = 0, listed = 0;
    struct stat before = {0};
    snprintf(path, sizeof path, "/proc/%d/task", session->pid);
    DIR *directory = opendir(path);
    if (!directory) {
        as_native_open_error(session, session->events.data, errno == EACCES ? EPERM : ESRCH, err);
        return -1;
    }
    fstat(dirfd(directory), &before); /* the link count is the number of threads plus 2 */
    for (struct dirent *entry; found >= 0 && (entry = readdir(directory));) {
        uint32_t tid = isdigit((unsigned char)entry->d_name[0]) ? (uint32_t)strtoul(entry->d_name, NULL, 10) : 0;
        listed++; /* includes . and .. */
        if (!tid || as_map_get(&session->attached, tid))
            continue;
        bool announced = is_announced(session, tid);
        found = attach_thread(session, tid, announced, err) ? found + !announced : -1;
    }
    closedir(directory);
    return found == 0 && listed < (int)before.st_nlink ? 1 : found;
}

/* With clocks of the processors, only the process number is needed, not its threads. */
static bool attach_processors(struct as_native_session *session, struct as_error *err)
{
    char path[64];
    struct stat threads;
    snprintf(path, sizeof path, "/proc/%d/task", session->pid);
    if (stat(path, &threads) != 0)
        return as_native_open_error(session, session->events.data, ESRCH, err);
    session->info.threads = threads.st_nlink > 2 ? threads.st_nlink - 2 : 1;
    return as_native_open(session, -1, false, err);
}

bool as_native_attach_threads(struct as_native_session *session, struct as_error *err)
{
    enum { ROUNDS = 400, CALM = 3, PAUSE = 1000000 };
    int found = 0, calm = 0;
    bool settled = false;
    open_pid_fd(session);
    if (as_native_has_landmarks(session) && !as_native_landmarks_find(session, err))
        return false;
    if (session->options.processors)
        return attach_processors(session, err);
    for (int round = 0; round < ROUNDS && (calm < CALM || !settled) && found >= 0; round++) {
        if (calm >= CALM)
            nanosleep(&(struct timespec){.tv_nsec = PAUSE}, NULL);
        settle(session);
        settled = session->unsettled.len == 0;
        found = attach_new(session, err);
        calm = found == 0 ? calm + 1 : 0;
    }
    bool any = found >= 0 && session->fds.len > 0;
    if (found >= 0 && !any)
        as_native_open_error(session, session->events.data, ESRCH, err);
    if (any && calm < CALM)
        as_native_note(session, "the process starts threads faster than they can be attached to: some may be missing");
    return any;
}

/* ---- what is there already ---- */

/* A process that is being described to the sink. */
struct described {
    struct as_native_session *session;
    pid_t pid;
};

static void tell(const struct described *of, struct as_perf_process *process)
{
    process->pid = (uint32_t)of->pid;
    process->tid = process->tid ? process->tid : process->pid;
    process->mode = AS_PERF_USER;
    AS_PERF_CALL(of->session->reader, process, process);
}

static void tell_map(void *context, struct as_perf_process *map)
{
    tell(context, map);
}

static void tell_name(const struct described *of, uint32_t tid)
{
    char path[64], name[64];
    snprintf(path, sizeof path, "/proc/%d/task/%u/comm", of->pid, tid);
    FILE *file = fopen(path, "re");
    if (file && fgets(name, sizeof name, file)) {
        name[strcspn(name, "\n")] = '\0';
        tell(of, &(struct as_perf_process){.kind = AS_PERF_COMM, .tid = tid, .name = name});
    }
    if (file)
        fclose(file);
}

/* Calls `use` for each entry of a directory of /proc that is a number. */
static void each_number(const char *path, void (*use)(const struct described *, uint32_t), const struct described *of)
{
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (isdigit((unsigned char)entry->d_name[0]))
            use(of, (uint32_t)strtoul(entry->d_name, NULL, 10));
    if (directory)
        closedir(directory);
}

/* Reports the existing mappings of a process and the names of its threads; the kernel reports only later changes. */
static void describe(const struct described *from, uint32_t pid)
{
    char path[64];
    struct described of = {from->session, (pid_t)pid};
    snprintf(path, sizeof path, "/proc/%u/task", pid);
    each_number(path, tell_name, &of);
    as_process_maps((pid_t)pid, from->session->options.data_maps, tell_map, &of);
}

void as_native_tell_maps(struct as_native_session *session)
{
    describe(&(struct described){session, 0}, (uint32_t)session->pid);
}

void as_native_tell_all(struct as_native_session *session)
{
    each_number("/proc", describe, &(struct described){session, 0});
}
