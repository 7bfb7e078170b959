/* Reuse distances of a program on this machine: Algorithms 2 and 3 (reuse_watch.h) on the debug registers of its threads.
 *
 * A sample stops all threads that run. What they would access next is worked out on a copy of their memory (reuse_ahead.h): one
 * of the next accesses of one of them is the use, and if it is reused or invalidated within `bound` accesses, that is the
 * outcome, counted access by access. If not, its address is watched while the program runs on. The distance then is the
 * thread's processor time between the traps of use and reuse, without what traps take, times accesses per time.
 *
 *   places   Before the program runs on, it is known which address the thread will touch for the first time after so many
 *            accesses. Watchpoints there put the thread's count of accesses right. If one instruction steps through memory evenly, and
 *            while the use is watched, such places follow at 5/4 of the accesses each time; so what is left to time is at most a
 *            fifth of the distance, with one trap in it.
 *   rate     The places also tell how long that takes: the rate of this code with this data. Where it took far longer than a trap, it
 *            counts for the next milliseconds of the thread; otherwise, and where nothing could be measured, the median of all
 *            does. Without any, one access a nanosecond is assumed, and such distances say so.
 *   trap     What a trap takes is measured the same way, between two places that are near each other.
 *   PMU      If there is one, its counters of loads and stores give the distance, and nothing is looked at in advance but
 *            the use.
 *   budget   Between two samples the program runs for so long that it stands still for a share of the time, at most. A
 *            sample weighs the processor time since the one before, times the rate where it was taken, if that is known, or
 *            accesses per instruction there: what is sampled by time is to stand for accesses.
 *
 * Processes that the program forks are followed; a sample looks at the threads of one process, which is that of a thread drawn from
 * all that run.
 *
 * Calls: new, run, ask, free. Signals reach the program as base/signals.h says. */
#ifndef AS_REUSE_REUSE_NATIVE_H
#define AS_REUSE_REUSE_NATIVE_H

#include "base/notice.h"
#include "base/run_end.h"
#include "reuse/reuse_names.h"
#include "reuse/reuse_watch.h"

struct as_reuse_native_options {
    bool pmu; /* its counters; otherwise lookahead and time */
    struct as_watch_options watch;
    uint32_t registers; /* debug registers of a thread, 2 to 4: one measures rates */
    double rate;        /* samples a second, at most */
    double budget;      /* seconds of each second that the program may stand still */
    uint64_t bound;     /* accesses that are looked at in advance */
    uint64_t pid;       /* attach to this process; 0: start the program */
    double duration;    /* seconds, with a pid; 0: until it ends */
    bool stdout_to_stderr;
    uint64_t seed;
    struct as_notices notices;
};
#define AS_REUSE_NATIVE_OPTIONS_DEFAULT                                                                                \
    {                                                                                                                  \
        .watch = AS_WATCH_OPTIONS_DEFAULT, .registers = 4, .rate = 200, .budget = 0.2, .bound = 32768, .seed = 1       \
    }

struct as_reuse_native_info {
    double seconds;
    double processor; /* seconds of the program's threads */
    double stopped;   /* seconds that the program stood still for samples */
    uint64_t threads; /* that ran */
    uint64_t looked;  /* samples whose outcome was found in advance */
    uint64_t without; /* samples that found no access: in the kernel, or in code that cannot be copied */
    uint64_t twice;   /* samples of an address that was being watched, left out */
    uint64_t traps, armings;
    uint64_t refused;     /* watchpoints, by the kernel */
    int refusal;          /* its reason: an errno */
    uint64_t rates;       /* that the number of accesses comes from */
    double rate;          /* accesses a nanosecond, their median; 0: none was measured */
    double gain;          /* how many times as fast the program is when it has run for a while; 1: not known */
    double trap;          /* nanoseconds that a trap takes of the program's time; 0: not measured */
    uint64_t accesses;    /* of all threads: processor time times the rate, or what the PMU counted */
    uint64_t least, most; /* … and between which numbers that is, in all likelihood */
    bool unsure;          /* too little was measured for `accesses` to mean anything: only `least` and `most` do */
    uint8_t how;          /* enum as_lens_how: what that comes from */
    struct as_run_end end;
};

struct as_reuse_native;
struct as_reuse_native *as_reuse_native_new(const struct as_reuse_native_options *options);
bool as_reuse_native_run(struct as_reuse_native *native, char *const argv[], struct as_error *err) AS_MUST_CHECK;
const struct as_reuse_native_info *as_reuse_native_info(const struct as_reuse_native *native);
const struct as_reuse_watch *as_reuse_native_watch(const struct as_reuse_native *native);
/* By which factor the number of accesses, and distances that were timed, may be off: 1 or more. */
double as_reuse_native_off(const struct as_reuse_native_info *info);
/* What the instructions and paths of outcomes are. */
struct as_reuse_names as_reuse_native_names(const struct as_reuse_native *native);
void as_reuse_native_free(struct as_reuse_native *native);

#endif
