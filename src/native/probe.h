/* Probes what this machine offers for measuring, by trying: it opens events, lets a debug register fire, traces another
 * process. It reports facts only; the caller interprets them and gives advice.
 *
 * as_probe_machine undoes everything it tried before it returns. It takes some tens of milliseconds.
 */
#ifndef AS_NATIVE_PROBE_H
#define AS_NATIVE_PROBE_H

#include <stdbool.h>
#include <stddef.h>

/* One attempt: it worked, or the errno of what failed. */
struct as_attempt {
    bool works;
    int error; /* 0: nothing failed, but the result was not what it had to be */
};

/* A number in a file below /proc/sys; `known` false: no such file. */
struct as_setting {
    bool known;
    long value;
};

/* A sampling unit with a driver of its own in /sys/bus/event_source/devices. */
struct as_unit {
    bool present;
    struct as_attempt sampling;
};

enum { AS_PROBE_MAX_SOURCES = 64, AS_PROBE_MAX_WATCHPOINTS = 16 };

struct as_probe {
    /* The processor: as /proc/cpuinfo and uname tell. Empty where they do not. */
    char architecture[32], vendor[64], model[128];
    bool virtual_machine;   /* the processor or the kernel says so; false proves nothing */
    char hypervisor[64];    /* its name, if it tells */
    int processors;         /* online */
    int processors_allowed; /* this process may use */

    /* perf events. All attempts are for user-mode events of the own thread. */
    char sources[AS_PROBE_MAX_SOURCES][32]; /* names in /sys/bus/event_source/devices, sorted */
    size_t n_sources;
    struct as_attempt cycles;       /* the hardware counts cycles */
    int precise;                    /* the highest precise_ip that cycle sampling takes; -1: no cycle sampling */
    struct as_attempt sampling;     /* that with precise_ip 0 */
    struct as_attempt branch_stack; /* samples with a branch stack */
    struct as_unit ibs_op, ibs_fetch, spe;
    int watchpoints; /* hardware breakpoints that one thread can have at a time */
    struct as_attempt watchpoint;
    struct as_attempt task_clock; /* samples on the task clock arrive */

    struct as_setting paranoid, kptr_restrict, mlock_kb, max_sample_rate, ptrace_scope;
    struct as_attempt ptrace; /* attaching to a child */
    struct as_attempt memory; /* anonymous shared memory of AS_PROBE_MEMORY bytes */
};
enum { AS_PROBE_MEMORY = 64 << 20 };

/* `root` is put before /proc and /sys: "" for this machine, a directory for a test. */
void as_probe_machine(const char *root, struct as_probe *probe);

#endif
