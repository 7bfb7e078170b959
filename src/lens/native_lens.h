/* The machine that Assay runs on behind a lens: samples of a session (native/session.h) and the debug registers of the
 * program's threads, from outside. Nothing of Assay is in the program, so that it works for static programs and for
 * processes that were running before.
 *
 *   samples      of the PMU, with the address that the processor recorded; of a clock, with one that is worked out from the
 *                registers (native/reconstruct.h), of a random one of the next accesses. A sample stands for its period:
 *                events of the PMU, nanoseconds of a clock.
 *   registers    of any thread, by breakpoint events of the kernel's (native/breakpoint.h), each for one trap. The access
 *                behind a trap is found from the code and the registers (watch/cause.h).
 *   budget       what arming, watching and traps take from the program is kept below a share of the time. Arming is
 *                refused (AS_LENS_BUSY) when that is used up.
 * What it does not know: counts of accesses (as_lens_counts is always false), accesses of the kernel.
 *
 * Samples come to the lens some milliseconds late, all of them and in the order of time, so look-ups are as on time; what is
 * armed then is armed that much later. All calls of the client come from as_native_lens_sample and _poll, on one thread.
 */
#ifndef AS_LENS_NATIVE_LENS_H
#define AS_LENS_NATIVE_LENS_H

#include "base/shared_lines.h"
#include "lens/lens.h"
#include "perfdata/perfdata.h"

struct as_native_lens_options {
    uint32_t registers; /* of a thread, at most; 0: none */
    double budget;      /* seconds of each second that watchpoints may take from the program */
    uint64_t seed;
};
#define AS_NATIVE_LENS_OPTIONS_DEFAULT                                                                                 \
    {                                                                                                                  \
        .registers = 4, .budget = 0.02, .seed = 1                                                                      \
    }

struct as_native_lens_cost {
    uint64_t samples;            /* that came */
    uint64_t without;            /* … of which no address is known */
    uint64_t armings, traps;     /* traps: those of a register that the kernel had not taken away yet, too */
    uint64_t causes;             /* traps whose instruction was found */
    uint64_t refused, postponed; /* by the kernel; by the budget */
    double watching;             /* seconds of the program's time that watchpoints took, as measured on the development
                                    machine: a trap 16 us, arming and taking back 15 us, and a tenth of the time that
                                    threads ran with them */
    char note[160];              /* why the first one was refused; "": none */
};

struct as_native_lens_thread {
    uint32_t number, process, core;
    uint32_t pid, tid;
    uint64_t stack; /* an address on its stack; 0: unknown */
    uint32_t path;  /* that it was in at its last sample but few */
    char comm[16];  /* "": unknown */
};

struct as_native_lens;
struct as_native_lens *as_native_lens_new(const struct as_native_lens_options *options);
struct as_lens as_native_lens_open(struct as_native_lens *lens); /* valid as long as that */
void as_native_lens_set_client(struct as_native_lens *lens, const struct as_lens_client *client, void *context);
void as_native_lens_process(struct as_native_lens *lens, const struct as_perf_process *process);
/* `period`: what the sample stands for; is_clock: nanoseconds that the thread ran. */
void as_native_lens_sample(struct as_native_lens *lens, const struct as_perf_sample *sample, uint64_t period,
                           bool is_clock);
void as_native_lens_poll(struct as_native_lens *lens); /* traps that came meanwhile */
void as_native_lens_free(struct as_native_lens *lens);

/* Threads that were sampled, in the order of their numbers, which begin with 1. */
size_t as_native_lens_threads(const struct as_native_lens *lens);
const struct as_native_lens_thread *as_native_lens_thread(const struct as_native_lens *lens, size_t place);
/* What processes share, by the number of an address space: samples and traps there have physical addresses (base/shared_lines.h),
 * and so have the watches that the client asks for. Without it, addresses are as they are. */
void as_native_lens_set_shared(struct as_native_lens *lens,
                               const struct as_shared_ranges *(*shared)(void *context, uint32_t process),
                               void *context);
/* The number of a process's address space; another one from its next execve on. */
uint32_t as_native_lens_address_space(struct as_native_lens *lens, uint32_t pid);
/* The frames of a path, the innermost first; returns how many. */
size_t as_native_lens_path(const struct as_native_lens *lens, uint32_t path, const uint64_t **frames,
                           uint32_t *process);
struct as_native_lens_cost as_native_lens_cost(const struct as_native_lens *lens);

#endif
