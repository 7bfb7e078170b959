/* Probes what this machine offers for measuring, by trying: it opens events, lets a debug register fire, traces another
 * process. It reports facts only; the caller interprets them and gives advice.
 *
 * as_probe_machine undoes everything it tried before it returns. It takes some tens of milliseconds.
 */
#ifndef AS_NATIVE_PROBE_H
#define AS_NATIVE_PROBE_H

#include <stdbool.h>
#include <stddef.h>

/* One attempt: it worked, or errno of the failure. */
struct as_attempt {
    bool works;
    int error; /* 0: no call failed, but the result was wrong */
};

/* A number in a file below /proc/sys; `known` false: there is no such file. */
struct as_setting {
    bool known;
    long value;
};

/* A sampling unit with a driver of its own in /sys/bus/event_source/devices. */
struct as_probe_unit {
    bool present;
    struct as_attempt sampling;
};

enum { AS_PROBE_MAX_SOURCES = 64, AS_PROBE_MAX_WATCHPOINTS = 16 };

struct as_probe {
    /* The processor, according to /proc/cpuinfo and uname. Empty if unknown. */
    char architecture[32], vendor[64], model[128];
    bool virtual_machine;   /* according to the processor or the kernel; false proves nothing */
    char hypervisor[64];    /* its name, if it is known */
    int processors;         /* online */
    int processors_allowed; /* that this process may use */

    /* perf events. All attempts use user-mode events of the calling thread. */
    char sources[AS_PROBE_MAX_SOURCES][32]; /* names in /sys/bus/event_source/devices, sorted */
    size_t n_sources;
    struct as_attempt cycles; /* the hardware counts cycles */
    /* The highest precise_ip at which cycles can be sampled; -1: cycles cannot be sampled. */
    int precise;
    struct as_attempt sampling;     /* sampling cycles with precise_ip 0 */
    struct as_attempt branch_stack; /* samples with a branch stack */
    struct as_probe_unit ibs_op, ibs_fetch, spe;
    int watchpoints; /* number of hardware breakpoints that one thread can have */
    struct as_attempt watchpoint;
    struct as_attempt task_clock; /* samples of the task clock arrive */

    struct as_setting paranoid, kptr_restrict, mlock_kb, max_sample_rate, ptrace_scope;
    struct as_attempt ptrace; /* attaching to a child */
    struct as_attempt memory; /* anonymous shared memory of AS_PROBE_MEMORY bytes */
};
enum { AS_PROBE_MEMORY = 64 << 20 };

/* `root` is put before /proc and /sys: "" for this machine, a directory for a test. */
void as_probe_machine(const char *root, struct as_probe *probe);

#endif
