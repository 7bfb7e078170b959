/* The landmarks of regions (functions, addresses, markers): an execution breakpoint at each place.
 *
 * The addresses of a program's code are known only after its exec. A launched program is therefore stopped there
 * (ptrace) until the breakpoints are open, and then released: nothing traces it while it runs. Each execution of a
 * landmark writes a record into the buffers of the samples, so the delivery sees both in the order of time
 * (session_region.c).
 *
 * Threads and forked processes inherit the breakpoints. Code that is mapped later, by dlopen or another exec, has none.
 */
#include "assay/insn.h"
#include "isa/marker_code.h"
#include "native/process_maps.h"
#include "native/session_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __riscv
#define NATIVE_ARCH AS_ARCH_RISCV64
#else
#define NATIVE_ARCH AS_ARCH_X86_64
#endif

enum { DEBUG_REGISTERS = 4, SCAN_BYTES = 1 << 20 };

bool as_native_has_landmarks(const struct as_native_session *session)
{
    return as_native_has_regions(session) && session->options.regions->landmarks.len;
}

/* ---- finding landmarks ---- */

static void add_site(struct as_native_session *session, uint64_t address, uint32_t landmark)
{
    *as_vec_push(&session->sites) = (struct as_native_site){.address = address, .landmark = landmark};
}

static void add_markers_at(struct as_native_session *session, uint64_t address, const uint8_t *bytes, size_t length)
{
    int number = as_marker_code_number(NATIVE_ARCH, bytes, length);
    const struct as_regions *regions = session->options.regions;
    for (uint32_t i = 0; number >= 0 && i < regions->landmarks.len; i++) {
        const struct as_landmark *landmark = &regions->landmarks.data[i];
        if (landmark->kind == AS_LANDMARK_MARKER && (landmark->marker == number || landmark->marker == AS_MARKER_ANY))
            add_site(session, address, i);
    }
}

struct scan {
    struct as_native_session *session;
    int memory; /* /proc/PID/mem */
};

/* Searches a mapping for markers, piece by piece; pieces overlap by the length of the longest marker. */
static void scan_mapping(void *context, struct as_perf_process *map)
{
    enum { LENGTH = NATIVE_ARCH == AS_ARCH_X86_64 ? 8 : 4, STEP = NATIVE_ARCH == AS_ARCH_X86_64 ? 1 : 2 };
    struct scan *scan = context;
    uint8_t *bytes = as_alloc(SCAN_BYTES);
    for (uint64_t at = 0; at + LENGTH <= map->length;) {
        size_t wanted = map->length - at < SCAN_BYTES ? (size_t)(map->length - at) : SCAN_BYTES;
        ssize_t n = pread(scan->memory, bytes, wanted, (off_t)(map->start + at));
        if (n < LENGTH)
            break;
        for (size_t i = 0; i + LENGTH <= (size_t)n; i += STEP)
            add_markers_at(scan->session, map->start + at + i, bytes + i, LENGTH);
        at += (size_t)n - LENGTH + STEP;
    }
    free(bytes);
}

static bool wants_markers(const struct as_regions *regions)
{
    for (size_t i = 0; i < regions->landmarks.len; i++)
        if (regions->landmarks.data[i].kind == AS_LANDMARK_MARKER)
            return true;
    return false;
}

static void find_markers(struct as_native_session *session)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", session->pid);
    struct scan scan = {session, open(path, O_RDONLY | O_CLOEXEC)};
    if (scan.memory < 0)
        return;
    as_process_maps(session->pid, false, scan_mapping, &scan);
    close(scan.memory);
}

static bool is_found(const struct as_native_session *session, uint32_t landmark)
{
    for (size_t i = 0; i < session->sites.len; i++)
        if (session->sites.data[i].landmark == landmark)
            return true;
    return false;
}

static bool check_sites(const struct as_native_session *session, struct as_error *err)
{
    const struct as_regions *regions = session->options.regions;
    for (uint32_t i = 0; i < regions->landmarks.len; i++) {
        if (is_found(session, i))
            continue;
        char *name = as_landmark_name(&regions->landmarks.data[i]);
        as_error_set(err,
                     "%s is not in the program: a native region starts and stops in code that is mapped when "
                     "the program starts",
                     name);
        free(name);
        return false;
    }
    if (session->sites.len > DEBUG_REGISTERS)
        return as_error_set(err,
                            "the regions start and stop at %zu places, but the processor has %d debug registers: use "
                            "fewer places, or --source=model",
                            session->sites.len, DEBUG_REGISTERS);
    return true;
}

bool as_native_landmarks_find(struct as_native_session *session, struct as_error *err)
{
    const struct as_native_options *options = &session->options;
    for (uint32_t i = 0; i < options->regions->landmarks.len; i++) {
        const struct as_landmark *landmark = &options->regions->landmarks.data[i];
        uint64_t address = landmark->kind == AS_LANDMARK_MARKER
                               ? 0
                               : options->resolve(options->switch_context, session->pid, landmark);
        if (address)
            add_site(session, address, i);
    }
    if (wants_markers(options->regions))
        find_markers(session);
    return check_sites(session, err);
}

/* ---- breakpoints ---- */

static bool refuse(const struct as_native_site *site, int error, struct as_error *err)
{
    return as_error_set(err, "cannot set a breakpoint at 0x%lx, where a region starts or stops: %s",
                        (unsigned long)site->address,
                        error == ENOSPC ? "the debug registers are in use by another program (a debugger or a profiler)"
                                        : strerror(error));
}

static bool open_site(struct as_native_session *session, const struct as_native_site *site, pid_t tid,
                      const struct as_native_ring *ring, struct as_error *err)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
                                   .size = sizeof attr,
                                   .bp_type = HW_BREAKPOINT_X,
                                   .bp_addr = site->address,
                                   .bp_len = sizeof(long),
                                   .sample_period = 1,
                                   .sample_type =
                                       PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
                                   .inherit = 1,
                                   .inherit_thread = session->options.no_children,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1,
                                   .watermark = 1,
                                   .wakeup_watermark = (uint32_t)(session->options.ring_bytes / 4),
                                   .use_clockid = 1,
                                   .clockid = CLOCK_MONOTONIC};
    uint64_t id;
    int fd = (int)syscall(SYS_perf_event_open, &attr, tid, ring->cpu, -1, PERF_FLAG_FD_CLOEXEC);
    session->refused = fd < 0 ? errno : 0;
    if (fd < 0)
        return refuse(site, errno, err);
    *as_vec_push(&session->site_fds) = fd;
    if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->ring.fd) != 0 || ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0)
        return refuse(site, errno, err);
    *as_map_put(&session->site_ids, id) = site->landmark;
    return true;
}

bool as_native_landmarks_open(struct as_native_session *session, pid_t tid, struct as_error *err)
{
    for (size_t i = 0; i < session->sites.len; i++)
        for (size_t r = 0; r < session->rings.len; r++)
            if (session->rings.data[r].group == 0 &&
                !open_site(session, &session->sites.data[i], tid, &session->rings.data[r], err))
                return false;
    return true;
}

/* Called in the child: its exec will stop it. */
bool as_native_landmarks_await(const struct as_native_session *session)
{
    return !as_native_has_landmarks(session) || ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
}

static bool wait_for_stop(const struct as_native_session *session)
{
    int status;
    pid_t got;
    do
        got = waitpid(session->pid, &status, 0);
    while (got < 0 && errno == EINTR);
    return got == session->pid && WIFSTOPPED(status);
}

bool as_native_landmarks_launch(struct as_native_session *session, struct as_error *err)
{
    bool stopped = wait_for_stop(session);
    bool ok = stopped ? as_native_landmarks_find(session, err) && as_native_landmarks_open(session, session->pid, err)
                      : as_error_set(err, "the program ended before its first instruction");
    if (ok && ptrace(PTRACE_DETACH, session->pid, NULL, NULL) != 0)
        ok = as_error_set(err, "cannot resume the program: %s", strerror(errno));
    if (!ok && stopped) { /* it has not executed an instruction of its own */
        kill(session->pid, SIGKILL);
        waitpid(session->pid, &session->wait_status, 0);
    }
    session->child = ok;
    return ok;
}

void as_native_landmarks_close(struct as_native_session *session)
{
    for (size_t i = 0; i < session->site_fds.len; i++)
        close(session->site_fds.data[i]);
    as_vec_free(&session->site_fds);
    as_vec_free(&session->sites);
    as_map_free(&session->site_ids);
}
