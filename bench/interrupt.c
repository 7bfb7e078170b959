/* What an interrupt of a sampling clock costs, and what of it is the sampler's: `interrupt [SECONDS]`.
 *
 * A loop reads the time stamp counter; where it jumps, somebody else had the processor. At 4 kHz nearly all jumps of
 * some microseconds are the clock's, so their median is what one interrupt takes from the program, whatever else the
 * machine does: what is longer than LONGEST was another process's turn. Printed for a plain timer of the system and
 * for a task clock with more and more wanted of it; and beside it what it costs to leave the virtual machine, once.
 */
#include <cpuid.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

enum { PERIOD = 250007, SHORTEST = 700, LONGEST = 120000, MOST = 1 << 20, RING = 1 << 20 }; /* nanoseconds, bytes */

#define FIELDS                                                                                                         \
    (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |                  \
     PERF_SAMPLE_PERIOD)

struct variant {
    const char *name;
    bool timer, event, buffer, user;
    uint64_t fields;
};

static const struct variant variants[] = {
    {.name = "nothing: the kernel's own ticks"},
    {.name = "a timer of the system with an empty signal handler", .timer = true},
    {.name = "task clock, nobody listens", .event = true, .fields = PERF_SAMPLE_IP},
    {.name = "task clock, buffer, address alone", .event = true, .buffer = true, .fields = PERF_SAMPLE_IP},
    {.name = "task clock, what a sample of ours has", .event = true, .buffer = true, .fields = FIELDS},
    {.name = "… in user mode alone", .event = true, .buffer = true, .user = true, .fields = FIELDS},
    {.name = "… with call chains", .event = true, .buffer = true, .fields = FIELDS | PERF_SAMPLE_CALLCHAIN},
    {.name = "… with registers and 8 KiB of stack",
     .event = true,
     .buffer = true,
     .fields = FIELDS | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER},
};

static double clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static double ticks_per_ns(void)
{
    double begin = clock_ns(CLOCK_MONOTONIC);
    uint64_t first = __rdtsc();
    while (clock_ns(CLOCK_MONOTONIC) - begin < 5e7)
        ;
    return (double)(__rdtsc() - first) / (clock_ns(CLOCK_MONOTONIC) - begin);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, by_value);
    return n ? values[n / 2] : 0;
}

/* cpuid always leaves a virtual machine and does nothing else there. */
static double leaving_ns(double scale)
{
    enum { TRIES = 2001 };
    static double values[TRIES];
    for (int i = 0; i < TRIES; i++) {
        unsigned a, b, c, d;
        uint64_t begin = __rdtsc();
        __cpuid(0, a, b, c, d);
        values[i] = (double)(__rdtsc() - begin) / scale;
    }
    return median(values, TRIES);
}

static void on_timer(int signal)
{
    (void)signal;
}

static bool start_timer(timer_t *timer)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
    struct itimerspec period = {.it_interval.tv_nsec = PERIOD, .it_value.tv_nsec = PERIOD};
    struct sigaction action = {.sa_handler = on_timer};
    return sigaction(SIGRTMIN, &action, NULL) == 0 && timer_create(CLOCK_MONOTONIC, &event, timer) == 0 &&
           timer_settime(*timer, 0, &period, NULL) == 0;
}

/* The buffer is overwritten as it fills up: nothing empties it. */
static int start_event(const struct variant *variant, void **at)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .size = sizeof attr,
                                   .sample_period = PERIOD,
                                   .sample_type = variant->fields,
                                   .exclude_hv = 1,
                                   .exclude_kernel = variant->user,
                                   .write_backward = variant->buffer};
    if (variant->fields & PERF_SAMPLE_STACK_USER) {
        attr.sample_stack_user = 8192;
        attr.sample_regs_user = 0xff0fff;
    }
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    *at = MAP_FAILED;
    if (fd >= 0 && variant->buffer)
        *at = mmap(NULL, RING + (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
    return fd;
}

/* Jumps of the counter during `seconds` of this thread's processor time. */
static size_t watch(double seconds, double scale, double *jumps)
{
    size_t n = 0;
    double end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + 1e9 * seconds;
    do {
        uint64_t before = __rdtsc();
        for (int i = 0; i < 200000 && n < MOST; i++) {
            uint64_t now = __rdtsc();
            double jump = (double)(now - before) / scale;
            before = now;
            if (jump > SHORTEST && jump < LONGEST)
                jumps[n++] = jump;
        }
    } while (n < MOST && clock_ns(CLOCK_THREAD_CPUTIME_ID) < end);
    return n;
}

static bool measure(const struct variant *variant, double seconds, double scale, double *jumps)
{
    timer_t timer;
    void *at = MAP_FAILED;
    int fd = variant->event ? start_event(variant, &at) : -1;
    bool ready = variant->timer ? start_timer(&timer) : !variant->event || fd >= 0;
    if (!ready) {
        fprintf(stderr, "interrupt: %s: %s\n", variant->name, strerror(errno));
        return false;
    }
    size_t n = watch(seconds, scale, jumps);
    double middle = median(jumps, n);
    printf("%-52s %7.0f %10.2f %10.2f\n", variant->name, (double)n / seconds, middle / 1000,
           n ? jumps[n / 10] / 1000 : 0);
    fflush(stdout);
    if (variant->timer)
        timer_delete(timer);
    if (at != MAP_FAILED)
        munmap(at, RING + (size_t)sysconf(_SC_PAGESIZE));
    if (fd >= 0)
        close(fd);
    return true;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1, scale = ticks_per_ns(), *jumps = calloc(MOST, sizeof *jumps);
    bool ok = jumps != NULL && seconds > 0;
    printf("leaving the virtual machine once (cpuid): %.2f us\n", leaving_ns(scale) / 1000);
    printf("%-52s %7s %10s %10s\n", "", "a second", "median us", "least 10 %");
    for (size_t i = 0; ok && i < sizeof variants / sizeof variants[0]; i++)
        ok = measure(&variants[i], seconds, scale, jumps);
    free(jumps);
    return !ok;
}
