/* What this machine lets a test do, asked of the kernel itself and not of the code under test: where the answer is yes,
 * a failure to set up is a failure. */
#ifndef AS_TESTS_PERF_HERE_H
#define AS_TESTS_PERF_HERE_H

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline const char *unit_perf_refusal(struct perf_event_attr *attr)
{
    attr->size = sizeof *attr;
    attr->exclude_kernel = attr->exclude_hv = 1;
    int fd = (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return strerror(errno);
    close(fd);
    return NULL;
}

/* Why no thread can have a hardware watchpoint; NULL: it can. */
static inline const char *unit_no_watchpoints(void)
{
    static uint64_t word;
    struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT,
                                   .bp_type = HW_BREAKPOINT_W,
                                   .bp_addr = (uintptr_t)&word,
                                   .bp_len = HW_BREAKPOINT_LEN_8,
                                   .sample_period = 1};
    return unit_perf_refusal(&attr);
}

/* Why the task clock cannot be sampled; NULL: it can. */
static inline const char *unit_no_task_clock(void)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK, .sample_period = 1000000};
    return unit_perf_refusal(&attr);
}

/* Seconds that a host has had processors of this virtual machine for others, since it was started: clocks of events go on then, and
 * what the kernel says that a process has used does not. */
static inline double unit_stolen_seconds(void)
{
    unsigned long long stolen = 0;
    FILE *file = fopen("/proc/stat", "r");
    if (!file || fscanf(file, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &stolen) != 1)
        stolen = 0;
    if (file)
        fclose(file);
    return (double)stolen / (double)sysconf(_SC_CLK_TCK);
}

#endif
