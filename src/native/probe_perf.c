/* Probes perf_event_open. Every event is for the calling thread in user mode, which an unprivileged user may open under
 * the default settings of most distributions. In a virtual machine an event can open and never count, so the counters
 * must count, a watchpoint must fire and a clock must sample. */
#include "native/probe_parts.h"

#include <dirent.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SOURCES "/sys/bus/event_source/devices"

static struct perf_event_attr user_event(uint32_t type, uint64_t config)
{
    return (struct perf_event_attr){.type = type,
                                    .size = sizeof(struct perf_event_attr),
                                    .config = config,
                                    .disabled = 1,
                                    .exclude_kernel = 1,
                                    .exclude_hv = 1};
}

static int open_event(struct perf_event_attr *attr)
{
    return (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static struct as_attempt try_open(struct perf_event_attr *attr)
{
    int fd = open_event(attr);
    struct as_attempt attempt = {.works = fd >= 0, .error = fd >= 0 ? 0 : errno};
    if (fd >= 0)
        close(fd);
    return attempt;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void list_sources(const char *root, struct as_probe *probe)
{
    char path[4096];
    snprintf(path, sizeof path, "%s%s", root, SOURCES);
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (entry->d_name[0] != '.' && probe->n_sources < AS_PROBE_MAX_SOURCES)
            snprintf(probe->sources[probe->n_sources++], sizeof probe->sources[0], "%.31s", entry->d_name);
    if (directory)
        closedir(directory);
    qsort(probe->sources, probe->n_sources, sizeof probe->sources[0], by_name);
}

/* Keeps the processor busy in user mode for this long. */
static void burn(long microseconds)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (volatile int i = 0; i < 1000; i++)
            ;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < microseconds);
}

static struct as_attempt try_cycles(void)
{
    struct perf_event_attr attr = user_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
    struct as_attempt attempt = {0};
    uint64_t count = 0;
    int fd = open_event(&attr);
    if (fd < 0) {
        attempt.error = errno;
        return attempt;
    }
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    burn(1000);
    attempt.works = read(fd, &count, sizeof count) == sizeof count && count > 0;
    close(fd);
    return attempt;
}

static void probe_precise(struct as_probe *probe)
{
    probe->precise = -1;
    for (unsigned level = 0; level <= 3; level++) {
        struct perf_event_attr attr = user_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
        attr.sample_period = 100003;
        attr.sample_type = PERF_SAMPLE_IP;
        attr.precise_ip = level;
        struct as_attempt attempt = try_open(&attr);
        if (level == 0)
            probe->sampling = attempt;
        if (attempt.works)
            probe->precise = (int)level;
    }
}

static struct as_attempt try_branch_stack(void)
{
    struct perf_event_attr attr = user_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
    attr.sample_period = 100003;
    attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK;
    attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
    return try_open(&attr);
}

/* Not all units can exclude the kernel, so including it is tried second. */
static struct as_probe_unit probe_unit(const char *root, const char *name)
{
    struct as_probe_unit unit = {.sampling.error = ENODEV};
    char path[128], text[32];
    snprintf(path, sizeof path, SOURCES "/%s/type", name);
    unit.present = as_probe_read(root, path, text, sizeof text);
    if (!unit.present)
        return unit;
    for (unsigned exclude = 0; exclude <= 1 && !unit.sampling.works; exclude++) {
        struct perf_event_attr attr = user_event((uint32_t)strtoul(text, NULL, 10), 0);
        attr.sample_period = 65536;
        attr.sample_type = PERF_SAMPLE_IP;
        attr.exclude_kernel = exclude;
        attr.exclude_hv = exclude;
        unit.sampling = try_open(&attr);
    }
    return unit;
}

static struct perf_event_attr watch(volatile uint64_t *word)
{
    struct perf_event_attr attr = user_event(PERF_TYPE_BREAKPOINT, 0);
    attr.bp_type = HW_BREAKPOINT_W;
    attr.bp_addr = (uintptr_t)word;
    attr.bp_len = HW_BREAKPOINT_LEN_8;
    return attr;
}

static struct as_attempt fire_watchpoint(int fd, volatile uint64_t *word)
{
    enum { WRITES = 3 };
    struct as_attempt attempt = {0};
    uint64_t count = 0;
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    for (int i = 0; i < WRITES; i++)
        *word = (uint64_t)i;
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    attempt.works = read(fd, &count, sizeof count) == sizeof count && count == WRITES;
    return attempt;
}

static void probe_watchpoints(struct as_probe *probe)
{
    static volatile uint64_t words[AS_PROBE_MAX_WATCHPOINTS];
    int fds[AS_PROBE_MAX_WATCHPOINTS], n = 0;
    for (; n < AS_PROBE_MAX_WATCHPOINTS; n++) {
        struct perf_event_attr attr = watch(&words[n]);
        fds[n] = open_event(&attr);
        if (fds[n] < 0)
            break;
    }
    probe->watchpoints = n;
    probe->watchpoint.error = n ? 0 : errno;
    if (n)
        probe->watchpoint = fire_watchpoint(fds[0], &words[0]);
    while (n > 0)
        close(fds[--n]);
}

/* A ring of one page is enough to see that samples arrive. */
static struct as_attempt try_task_clock(void)
{
    struct perf_event_attr attr = user_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
    struct as_attempt attempt = {0};
    size_t size = 2 * (size_t)sysconf(_SC_PAGESIZE);
    attr.sample_period = 100000; /* nanoseconds: 10 kHz */
    attr.sample_type = PERF_SAMPLE_IP;
    int fd = open_event(&attr);
    struct perf_event_mmap_page *ring =
        fd < 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    attempt.error = ring == MAP_FAILED ? errno : 0;
    if (ring != MAP_FAILED) {
        ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
        for (int i = 0; i < 20 && !attempt.works; i++) { /* a busy machine may run this process only briefly */
            burn(2000);
            attempt.works = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE) > 0;
        }
        munmap(ring, size);
    }
    if (fd >= 0)
        close(fd);
    return attempt;
}

void as_probe_perf(const char *root, struct as_probe *probe)
{
    list_sources(root, probe);
    probe->cycles = try_cycles();
    probe_precise(probe);
    probe->branch_stack = try_branch_stack();
    probe->ibs_op = probe_unit(root, "ibs_op");
    probe->ibs_fetch = probe_unit(root, "ibs_fetch");
    probe->spe = probe_unit(root, "arm_spe_0");
    probe_watchpoints(probe);
    probe->task_clock = try_task_clock();
}
