/* Communication of a program on this machine: Algorithm 1 (detect.h) on a native lens (lens/native_lens.h), from samples of
 * the PMU or of the kernel's task clock.
 *
 * Calls: new, run, ask, free. Signals reach the program as base/signals.h says.
 */
#ifndef AS_COMM_COMM_NATIVE_H
#define AS_COMM_COMM_NATIVE_H

#include "base/notice.h"
#include "base/run_end.h"
#include "comm/comm_result.h"
#include "lens/native_lens.h"

enum as_comm_source { AS_COMM_MODEL, AS_COMM_TIMER, AS_COMM_PMU };

/* Samples after which a watchpoint expires, if nothing else is asked for: some 30 ms. They come in batches of WAIT_MS, so
 * the two of the paper would be over before the register is armed. */
enum { AS_COMM_NATIVE_WATCH_LIFE = 32 };

struct as_comm_native_options {
    enum as_comm_source source;
    struct as_native_lens_options machine;
    struct as_detect_options detect;
    double rate;              /* samples a second and thread; 0: 997 */
    uint64_t pid;             /* attach to this process; 0: start the program */
    double duration;          /* seconds, with a pid; 0: until it ends */
    char *const *environment; /* of a launched program; NULL: that of this process */
    bool no_paths, stdout_to_stderr;
    struct as_notices notices;
};

struct as_comm_native_info {
    double seconds;
    double processor; /* seconds that the program's threads ran, by their clocks; 0: unknown */
    double
        sampling;  /* of the program's time: what the samples took, 16 us each as measured on the development machine */
    uint64_t lost; /* samples that the kernel could not keep */
    uint64_t threads; /* that there were, sampled or not */
    struct as_native_lens_cost cost;
    struct as_run_end end;
};

struct as_comm_native;
struct as_comm_native *as_comm_native_new(const struct as_comm_native_options *options);
bool as_comm_native_run(struct as_comm_native *native, char *const argv[], struct as_error *err) AS_MUST_CHECK;
/* After the run: a block of the program's allocator; one that came later has the memory of earlier ones. `site`: its call and
 * frames. */
void as_comm_native_block(struct as_comm_native *native, uint32_t pid, const struct as_guest_site *site, uint64_t start,
                          uint64_t bytes);
struct as_comm_result as_comm_native_result(const struct as_comm_native *native); /* valid as long as that */
const struct as_comm_native_info *as_comm_native_info(const struct as_comm_native *native);
void as_comm_native_free(struct as_comm_native *native);

#endif
