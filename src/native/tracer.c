/* See tracer.h. Events that come while something else is waited for are queued. */
#include "native/tracer.h"

#include "base/clock.h"
#include "base/thread_state.h"
#include "base/vec.h"
#include "native/trap_signal.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STOP_SECONDS = 1, MOST_THREADS = 256 };

#define SIGNALS_SECONDS 0.1 /* how long what a thread blocks and handles is taken to be the same */

struct tracee {
    pid_t tid, pid, parent;    /* parent: the process that forked its process */
    bool stopped, interrupted; /* interrupted: asked to stop */
    int signal;                /* to be delivered when it is resumed */
    int clock;                 /* its schedstat; -1: not open */
    int work;                  /* counter of its task clock; 0: not opened yet; -1: refused */
    uint64_t before;           /* processor time when that counter was 0 */
    uint64_t spent;            /* at its end: processor time, nanoseconds */
    int trap;                  /* the signal of watches */
    double trap_until;         /* when that is to be chosen again */
};

struct as_tracer {
    pid_t pid;
    bool child, ended;
    int status;
    atomic_bool stop;
    AS_VEC(struct tracee) threads;
    AS_VEC(pid_t) stopped;
    AS_VEC(struct as_tracer_event) queue;
    size_t taken; /* of the queue */
    struct as_traps traps;
    sigset_t signals;
};

static long request(enum __ptrace_request what, pid_t tid, unsigned long address, unsigned long data)
{
    return ptrace(what, tid, (void *)address, (void *)data);
}

static struct tracee *find(const struct as_tracer *tracer, pid_t tid)
{
    for (size_t i = 0; i < tracer->threads.len; i++)
        if (tracer->threads.data[i].tid == tid)
            return &tracer->threads.data[i];
    return NULL;
}

static uint64_t read_schedstat(const struct tracee *thread)
{
    char text[96];
    ssize_t n = thread->clock >= 0 ? pread(thread->clock, text, sizeof text - 1, 0) : 0;
    text[n > 0 ? n : 0] = 0;
    return strtoull(text, NULL, 10);
}

static uint64_t read_work(const struct tracee *thread)
{
    uint64_t count;
    return thread->work > 0 && read(thread->work, &count, sizeof count) == sizeof count ? count : 0;
}

/* Between switches the scheduler counts more than the counter does, so a thread has the one clock or the other, not both in turn. */
static uint64_t read_clock(const struct tracee *thread)
{
    return thread->work > 0 ? thread->before + read_work(thread) : read_schedstat(thread);
}

static void close_clocks(const struct tracee *thread)
{
    if (thread->clock >= 0)
        close(thread->clock);
    if (thread->work > 0)
        close(thread->work);
}

static void put_event(struct as_tracer *tracer, enum as_tracer_kind kind, pid_t tid, uint32_t watch)
{
    /* Not at traps: a thread that stands still waits for what is read here. */
    const struct tracee *thread = kind == AS_TRACER_START || kind == AS_TRACER_GONE ? find(tracer, tid) : NULL;
    uint64_t spent = !thread ? 0 : thread->spent ? thread->spent : read_clock(thread);
    *as_vec_push(&tracer->queue) =
        (struct as_tracer_event){.kind = kind, .tid = tid, .watch = watch, .status = tracer->status, .spent = spent};
}

static void read_processes(struct tracee *thread)
{
    char path[64], line[256];
    int number;
    snprintf(path, sizeof path, "/proc/%d/status", (int)thread->tid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "Tgid: %d", &number) == 1)
            thread->pid = number;
        if (sscanf(line, "PPid: %d", &number) == 1)
            thread->parent = number;
    }
    if (file)
        fclose(file);
}

static struct tracee *add_thread(struct as_tracer *tracer, pid_t tid)
{
    char path[64];
    struct tracee *thread = find(tracer, tid);
    if (thread)
        return thread;
    thread = as_vec_push(&tracer->threads);
    *thread = (struct tracee){.tid = tid, .pid = tracer->pid};
    read_processes(thread);
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)thread->pid, (int)tid);
    thread->clock = open(path, O_RDONLY | O_CLOEXEC);
    put_event(tracer, AS_TRACER_START, tid, 0);
    return thread;
}

static void drop_thread(struct as_tracer *tracer, struct tracee *thread)
{
    put_event(tracer, AS_TRACER_GONE, thread->tid, 0);
    close_clocks(thread);
    *thread = tracer->threads.data[--tracer->threads.len];
}

/* ---- what wait says ---- */

static void go_on(struct tracee *thread)
{
    thread->stopped = false;
    request(PTRACE_CONT, thread->tid, 0, (unsigned long)thread->signal);
    thread->signal = 0;
}

/* execve leaves one thread, with the number of the process. */
static void take_exec(struct as_tracer *tracer, struct tracee *thread)
{
    pid_t pid = thread->pid;
    for (size_t i = tracer->threads.len; i-- > 0;)
        if (tracer->threads.data[i].pid == pid)
            drop_thread(tracer, &tracer->threads.data[i]);
    put_event(tracer, AS_TRACER_EXEC, pid, 0);
    go_on(add_thread(tracer, pid));
}

static void take_signal(struct as_tracer *tracer, struct tracee *thread, int signal)
{
    siginfo_t info = {0};
    uint32_t name;
    thread->stopped = true;
    if (ptrace(PTRACE_GETSIGINFO, thread->tid, NULL, &info) == 0 && as_trap_is(&tracer->traps, &info, &name)) {
        put_event(tracer, AS_TRACER_TRAP, thread->tid, name);
        return;
    }
    thread->signal = signal;
    go_on(thread);
}

static void take_stop(struct as_tracer *tracer, struct tracee *thread, int status)
{
    int signal = WSTOPSIG(status);
    switch (status >> 16) {
    case 0:
        take_signal(tracer, thread, signal);
        return;
    case PTRACE_EVENT_EXEC:
        take_exec(tracer, thread);
        return;
    case PTRACE_EVENT_STOP:
        if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) {
            request(PTRACE_LISTEN, thread->tid, 0, 0);
            return;
        }
        thread->stopped = true; /* interrupted, or new: the caller of `take` decides */
        return;
    default:
        go_on(thread);
    }
}

/* Returns the thread, if it stands still now without an event of its own. */
static struct tracee *take(struct as_tracer *tracer, pid_t tid, int status)
{
    struct tracee *thread = find(tracer, tid);
    if (WIFSTOPPED(status)) {
        thread = thread ? thread : add_thread(tracer, tid);
        size_t events = tracer->queue.len;
        take_stop(tracer, thread, status);
        thread = find(tracer, tid);
        return thread && thread->stopped && tracer->queue.len == events ? thread : NULL;
    }
    if (thread)
        drop_thread(tracer, thread);
    if (tid == tracer->pid) {
        tracer->ended = true;
        tracer->status = status;
        put_event(tracer, AS_TRACER_END, tid, 0);
    }
    return NULL;
}

/* ---- waiting ---- */

static bool wait_for_child(double deadline)
{
    double left = deadline - as_clock_seconds();
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    if (left <= 0)
        return false;
    left = left < 0.1 ? left : 0.1; /* as_tracer_stop may have come in between */
    struct timespec time = {.tv_sec = (time_t)left, .tv_nsec = (long)(fmod(left, 1) * 1e9)};
    sigtimedwait(&child, NULL, &time);
    return true;
}

/* As waitpid for any of them, without waiting. The clock of a thread that has ended can be read until then. */
static pid_t wait_for_any(struct as_tracer *tracer, int *status)
{
    siginfo_t info = {0};
    if (waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) != 0)
        return -1;
    struct tracee *thread = find(tracer, info.si_pid);
    if (thread && (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED))
        thread->spent = read_clock(thread);
    return info.si_pid ? waitpid(info.si_pid, status, __WALL | WNOHANG) : 0;
}

static bool has_event(const struct as_tracer *tracer)
{
    return tracer->taken < tracer->queue.len;
}

struct as_tracer_event as_tracer_next(struct as_tracer *tracer, double deadline)
{
    int status;
    while (!has_event(tracer) && !tracer->ended && !atomic_load(&tracer->stop)) {
        pid_t tid = wait_for_any(tracer, &status);
        if (tid > 0) {
            struct tracee *thread = take(tracer, tid, status);
            if (thread)
                go_on(thread);
        } else if (tid < 0 && errno == ECHILD) {
            tracer->ended = true; /* somebody else waited for it */
            tracer->status = -1;
        } else if (!wait_for_child(deadline)) {
            return (struct as_tracer_event){.kind = AS_TRACER_TIME};
        }
    }
    if (!has_event(tracer))
        return (struct as_tracer_event){.kind = AS_TRACER_END, .status = tracer->ended ? tracer->status : -1};
    struct as_tracer_event event = tracer->queue.data[tracer->taken++];
    if (tracer->taken == tracer->queue.len)
        tracer->taken = tracer->queue.len = 0;
    return event;
}

void as_tracer_stop(struct as_tracer *tracer)
{
    atomic_store(&tracer->stop, true);
}

/* ---- stopping and going on ---- */

/* Running, or waiting for a processor. */
static bool is_running(const struct tracee *thread)
{
    return as_thread_state(thread->pid, thread->tid) == 'R';
}

static bool interrupt(struct tracee *thread)
{
    return thread->interrupted = request(PTRACE_INTERRUPT, thread->tid, 0, 0) == 0;
}

static void wait_until_stopped(struct as_tracer *tracer, pid_t tid)
{
    double deadline = as_clock_seconds() + STOP_SECONDS;
    int status;
    for (struct tracee *thread; (thread = find(tracer, tid)) && thread->interrupted && !thread->stopped;) {
        pid_t got = wait_for_any(tracer, &status);
        struct tracee *other = got > 0 ? take(tracer, got, status) : NULL;
        if (other && !other->interrupted)
            go_on(other);
        if (got <= 0 && !wait_for_child(deadline))
            return;
    }
}

/* All are asked before the first is waited for: a thread stops when it gets a processor, and does not have to wait for others there that
 * nobody has asked yet. */
static void stop_running(struct as_tracer *tracer)
{
    pid_t tids[MOST_THREADS];
    size_t n = 0;
    for (size_t i = 0; i < tracer->threads.len && n < MOST_THREADS; i++) {
        struct tracee *thread = &tracer->threads.data[i];
        if (!thread->stopped && is_running(thread) && interrupt(thread))
            tids[n++] = thread->tid;
    }
    for (size_t i = 0; i < n; i++)
        wait_until_stopped(tracer, tids[i]);
    for (size_t i = 0; i < tracer->threads.len; i++)
        tracer->threads.data[i].interrupted = false;
}

size_t as_tracer_stop_all(struct as_tracer *tracer)
{
    stop_running(tracer);
    tracer->stopped.len = 0;
    for (size_t i = 0; i < tracer->threads.len; i++)
        if (tracer->threads.data[i].stopped)
            *as_vec_push(&tracer->stopped) = tracer->threads.data[i].tid;
    return tracer->stopped.len;
}

pid_t as_tracer_stopped(const struct as_tracer *tracer, size_t n)
{
    return tracer->stopped.data[n];
}

void as_tracer_resume(struct as_tracer *tracer, pid_t tid)
{
    struct tracee *thread = find(tracer, tid);
    if (thread && thread->stopped)
        go_on(thread);
}

void as_tracer_resume_all(struct as_tracer *tracer)
{
    for (size_t i = 0; i < tracer->threads.len; i++)
        if (tracer->threads.data[i].stopped)
            go_on(&tracer->threads.data[i]);
    tracer->stopped.len = 0;
}

/* ---- what a stopped thread has ---- */

#ifdef __x86_64__
bool as_tracer_registers(struct as_tracer *tracer, pid_t tid, struct as_lookahead_thread *thread)
{
    struct user_regs_struct r;
    struct iovec area = {thread->xstate, sizeof thread->xstate};
    if (ptrace(PTRACE_GETREGS, tid, NULL, &r) != 0 || ptrace(PTRACE_GETREGSET, tid, (void *)NT_X86_XSTATE, &area) != 0)
        return false;
    const uint64_t values[16] = {r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi,
                                 r.r8,  r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15};
    thread->state = (struct as_machine_state){.ip = r.rip,
                                              .flags = r.eflags,
                                              .segment = {0, r.fs_base, r.gs_base},
                                              .knows_flags = true,
                                              .knows_segments = true,
                                              .known = 0xffff};
    memcpy(thread->state.value, values, sizeof values);
    thread->end = AS_LOOKAHEAD_GOES_ON;
    return true;
}
#else
bool as_tracer_registers(struct as_tracer *tracer, pid_t tid, struct as_lookahead_thread *thread)
{
    return false;
}
#endif

uint64_t as_tracer_processor_time(struct as_tracer *tracer, pid_t tid)
{
    const struct tracee *thread = find(tracer, tid);
    return thread ? read_clock(thread) : 0;
}

void as_tracer_clock_exactly(struct as_tracer *tracer, pid_t tid)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_TASK_CLOCK, .exclude_hv = 1};
    struct tracee *thread = find(tracer, tid);
    if (!thread || thread->work)
        return;
    int fd = (int)syscall(SYS_perf_event_open, &attr, thread->tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    thread->before = read_schedstat(thread);
    thread->work = fd > 0 ? fd : -1;
}

static int signal_of_watches(struct as_tracer *tracer, pid_t tid)
{
    struct tracee *thread = find(tracer, tid);
    double now = as_clock_seconds();
    if (!thread)
        return SIGURG;
    if (now >= thread->trap_until) {
        thread->trap = as_trap_signal_for(thread->pid, tid);
        thread->trap_until = now + SIGNALS_SECONDS;
    }
    return thread->trap;
}

int as_tracer_watch(struct as_tracer *tracer, pid_t tid, const struct as_tracer_watch *watch)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
                                   .size = sizeof attr,
                                   .bp_type = watch->reads ? HW_BREAKPOINT_RW : HW_BREAKPOINT_W,
                                   .bp_addr = watch->address,
                                   .bp_len = watch->length,
                                   .sample_period = 1,
                                   .disabled = 1,
                                   .remove_on_exec = 1,
                                   .wakeup_events = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    int fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? fd : as_trap_send(&tracer->traps, fd, tid, signal_of_watches(tracer, tid), watch->name);
}

int as_tracer_count(pid_t tid, uint64_t address)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
                                   .size = sizeof attr,
                                   .bp_type = HW_BREAKPOINT_RW,
                                   .bp_addr = address,
                                   .bp_len = 8,
                                   .read_format = PERF_FORMAT_TOTAL_TIME_RUNNING,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

bool as_tracer_counted(int fd, struct as_tracer_counted *counted)
{
    uint64_t values[2];
    if (read(fd, values, sizeof values) != sizeof values)
        return false;
    *counted = (struct as_tracer_counted){.hits = values[0], .nanoseconds = values[1]};
    return true;
}

/* ---- beginning and end ---- */

enum { OPTIONS = PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK };

static struct as_tracer *new_tracer(pid_t pid, bool child)
{
    struct as_tracer *tracer = as_alloc(sizeof *tracer);
    sigset_t block;
    tracer->pid = pid;
    tracer->child = child;
    tracer->status = -1;
    sigemptyset(&block);
    sigaddset(&block, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &block, &tracer->signals);
    return tracer;
}

static void start_child(char *const argv[], bool stdout_to_stderr, int go, int refusal)
{
    char byte;
    if (read(go, &byte, 1) != 1)
        _exit(AS_EXIT_FAILURE);
    if (stdout_to_stderr)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    execvp(argv[0], argv);
    int error = errno;
    if (write(refusal, &error, sizeof error) != sizeof error)
        _exit(AS_EXIT_FAILURE);
    _exit(AS_EXIT_CANNOT_RUN);
}

/* The pipe closes when exec succeeds. */
static bool let_go(struct as_tracer *tracer, int go, int refusal, const char *name, struct as_error *err)
{
    int error = 0;
    bool told = request(PTRACE_SEIZE, tracer->pid, 0, OPTIONS) == 0;
    if (!told)
        error = errno;
    add_thread(tracer, tracer->pid);
    tracer->queue.len = 0; /* it starts with its exec */
    if (told && write(go, "", 1) != 1)
        return as_error_set(err, "cannot start %s: %s", name, strerror(errno));
    fcntl(refusal, F_SETFL, O_NONBLOCK);
    while (told && !has_event(tracer) && !tracer->ended) { /* it stops at its exec, or ends */
        int status;
        pid_t tid = waitpid(tracer->pid, &status, __WALL);
        struct tracee *thread = tid > 0 ? take(tracer, tid, status) : NULL;
        if (thread)
            go_on(thread);
        if (tid < 0 && errno != EINTR)
            break;
    }
    if (!told || read(refusal, &error, sizeof error) == (ssize_t)sizeof error)
        return as_error_set_status(err, error == ENOENT ? AS_EXIT_NOT_FOUND : AS_EXIT_CANNOT_RUN, "cannot run %s: %s",
                                   name, strerror(error));
    return true;
}

struct as_tracer *as_tracer_launch(char *const argv[], bool stdout_to_stderr, struct as_error *err)
{
    int go[2], refusal[2];
    if (pipe2(go, O_CLOEXEC) != 0 || pipe2(refusal, O_CLOEXEC) != 0) {
        as_error_set(err, "cannot start %s: %s", argv[0], strerror(errno));
        return NULL;
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(go[1]);
        close(refusal[0]);
        start_child(argv, stdout_to_stderr, go[0], refusal[1]);
    }
    close(go[0]);
    close(refusal[1]);
    struct as_tracer *tracer = new_tracer(pid, true);
    bool ok = pid > 0 && let_go(tracer, go[1], refusal[0], argv[0], err);
    if (pid < 0)
        as_error_set(err, "cannot start %s: %s", argv[0], strerror(errno));
    close(go[1]);
    close(refusal[0]);
    if (ok)
        return tracer;
    as_tracer_close(tracer);
    return NULL;
}

/* Threads may come while we look: again until there are no new ones. */
static bool seize_all(struct as_tracer *tracer)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)tracer->pid);
    for (bool found = true; found;) {
        DIR *folder = opendir(path);
        found = false;
        if (!folder) { /* the process is no more: that there is no such file says little */
            errno = ESRCH;
            return tracer->threads.len > 0;
        }
        for (struct dirent *entry; (entry = readdir(folder));) {
            pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
            if (tid <= 0 || find(tracer, tid) || request(PTRACE_SEIZE, tid, 0, OPTIONS) != 0)
                continue;
            add_thread(tracer, tid);
            found = true;
        }
        closedir(folder);
    }
    return tracer->threads.len > 0;
}

struct as_tracer *as_tracer_attach(pid_t pid, struct as_error *err)
{
    struct as_tracer *tracer = new_tracer(pid, false);
    if (seize_all(tracer))
        return tracer;
    as_error_set(err, "cannot trace process %d: %s", (int)pid, strerror(errno));
    as_tracer_close(tracer);
    return NULL;
}

pid_t as_tracer_pid(const struct as_tracer *tracer)
{
    return tracer->pid;
}

pid_t as_tracer_process(const struct as_tracer *tracer, pid_t tid, pid_t *parent)
{
    const struct tracee *thread = find(tracer, tid);
    *parent = thread ? thread->parent : 0;
    return thread ? thread->pid : 0;
}

static void detach(struct as_tracer *tracer, pid_t tid)
{
    struct tracee *thread = find(tracer, tid);
    if (thread && !thread->stopped && interrupt(thread))
        wait_until_stopped(tracer, tid);
    thread = find(tracer, tid);
    if (thread && thread->stopped)
        request(PTRACE_DETACH, tid, 0, (unsigned long)thread->signal);
}

void as_tracer_close(struct as_tracer *tracer)
{
    if (!tracer)
        return;
    for (size_t i = 0; i < tracer->threads.len; i++)
        detach(tracer, tracer->threads.data[i].tid);
    for (size_t i = 0; i < tracer->threads.len; i++)
        close_clocks(&tracer->threads.data[i]);
    pthread_sigmask(SIG_SETMASK, &tracer->signals, NULL);
    as_vec_free(&tracer->threads);
    as_vec_free(&tracer->stopped);
    as_vec_free(&tracer->queue);
    as_traps_free(&tracer->traps);
    free(tracer);
}
