/* Opens and changes the kernel's breakpoint events. See watch_internal.h. */
#include "watch/watch_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel compares the whole record when an event is modified, so opening and modifying fill it the same way. */
static struct perf_event_attr attributes(const struct as_watch *watch, const struct as_watch_request *request)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_BREAKPOINT,
        .size = sizeof attr,
        .sample_period = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .bp_type = request->access == AS_WATCH_STORE ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW,
        .bp_addr = request->address,
        .bp_len = request->length,
        .wakeup_events = 1,
        .sigtrap = watch->sigtrap,
        .remove_on_exec = watch->sigtrap,
    };
    return attr;
}

/* Sends the signal to the thread that owns the event, not to the process. */
static bool direct_signal(const struct as_watch *watch, int fd, pid_t tid)
{
    struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = tid};
    return fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) == 0 && fcntl(fd, F_SETSIG, watch->signal) == 0 &&
           fcntl(fd, F_SETOWN_EX, &owner) == 0;
}

int as_watch_event_open(const struct as_watch *watch, pid_t tid, const struct as_watch_request *request)
{
    struct perf_event_attr attr = attributes(watch, request);
    attr.disabled = 1;
    int fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (!watch->sigtrap && !direct_signal(watch, fd, tid)) {
        int error = errno;
        close(fd);
        return -error;
    }
    return fd;
}

bool as_watch_event_modify(const struct as_watch *watch, int fd, const struct as_watch_request *request)
{
    struct perf_event_attr attr = attributes(watch, request);
    return ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr) == 0;
}

bool as_watch_event_enable(int fd)
{
    return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
}

void as_watch_event_disable(int fd)
{
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
}

uint64_t as_watch_event_count(int fd)
{
    uint64_t count = 0;
    return read(fd, &count, sizeof count) == sizeof count ? count : 0;
}

bool as_watch_event_alive(int fd)
{
    struct pollfd event = {.fd = fd, .events = POLLIN};
    return poll(&event, 1, 0) < 0 || !(event.revents & POLLHUP);
}
