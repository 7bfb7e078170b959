/* See native_counters.h. The kernel's names for them: accesses of the first-level data cache, which it maps to loads and stores
 * of the processor (on AMD one event has both, and the kernel knows none for stores). */
#include "reuse/native_counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_event(pid_t tid, uint64_t operation)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_HW_CACHE,
                                   .size = sizeof attr,
                                   .config = PERF_COUNT_HW_CACHE_L1D | operation << 8 |
                                             (uint64_t)PERF_COUNT_HW_CACHE_RESULT_ACCESS << 16,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    int fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return fd > 0 ? fd : 0;
}

bool as_native_counters_exist(struct as_error *err)
{
    int fd = open_event(0, PERF_COUNT_HW_CACHE_OP_READ);
    if (!fd)
        return as_error_set(err,
                            "this machine has no PMU that counts accesses (%s): --source=timer needs none, and "
                            "--source=model sees every access",
                            strerror(errno));
    close(fd);
    return true;
}

void as_native_counters_open(struct as_native_counters *counters, pid_t tid)
{
    counters->loads = open_event(tid, PERF_COUNT_HW_CACHE_OP_READ);
    counters->stores = open_event(tid, PERF_COUNT_HW_CACHE_OP_WRITE);
}

static uint64_t read_event(int fd)
{
    uint64_t value = 0;
    return fd && read(fd, &value, sizeof value) == sizeof value ? value : 0;
}

uint64_t as_native_counters_read(const struct as_native_counters *counters)
{
    return read_event(counters->loads) + read_event(counters->stores);
}

void as_native_counters_close(struct as_native_counters *counters)
{
    if (counters->loads)
        close(counters->loads);
    if (counters->stores)
        close(counters->stores);
    *counters = (struct as_native_counters){0};
}
