/* What the files of the traced machine share (reuse_native.h): reuse_native.c runs it, traced_lens.c has its threads and
 * registers, traced_rate.c measures rates behind stops, traced_tally.c others. For no one else. */
#ifndef AS_REUSE_REUSE_NATIVE_INTERNAL_H
#define AS_REUSE_REUSE_NATIVE_INTERNAL_H

#include "base/map.h"
#include "base/vec.h"
#include "native/tracer.h"
#include "reuse/native_counters.h"
#include "reuse/native_rate.h"
#include "reuse/reuse_ahead.h"
#include "reuse/reuse_native.h"
#include "reuse/traced_paths.h"

#include <stdatomic.h>

#define AS_COLD_NANOSECONDS 1e6 /* of its processor time a thread is slower behind a stop */
enum { AS_GAUGE_MARKS = 4, AS_GAUGE_NAME = UINT16_MAX /* in the place of a register's */ };

/* A process from its start, or from an execve, on. One that was forked has the code of its parent. */
struct as_traced_process {
    pid_t pid;
    uint32_t image;  /* place in `images` */
    bool ended;      /* all its threads have: a process of the same number is another one */
    uint64_t mapped; /* sample at which its mappings were last read, and 1; 0: never */
};

struct as_traced_insn {
    uint64_t address;
    uint32_t image;
};

struct as_traced_thread {
    uint32_t number, process; /* process: place in `processes`, and 1 */
    pid_t tid;
    bool live;
    uint64_t from;   /* processor time when it was first seen, nanoseconds */
    uint64_t last;   /* … at its last stop */
    uint64_t cooled; /* … at the last that was for a sample */
    uint64_t stops;
    double accesses; /* up to then */
    double local, until;
    double trap;          /* nanoseconds that a trap takes it now … */
    uint64_t trap_sample; /* … behind this sample */
    struct as_native_counters counters;
};

struct as_traced_reg {
    bool armed;
    int fd;
    uint32_t thread, slot, absorb;
    uint64_t generation;
    uint64_t used, stops, sample; /* at the use: processor time and stops of the thread, and the sample … */
    double accesses;              /* … and the thread's accesses */
    struct as_lens_watch watch;
};

/* A measurement under way: the time between the first two places is that of a trap, up to the last that of accesses. From one place to
 * the next, and from the use to the first, the accesses are known, so the thread's count is put right at each. While a use of the same
 * sample is watched, the last place moves on, a quarter of the way each time: what is left to time is the part behind it. */
struct as_traced_gauge {
    uint32_t left; /* places that the thread has not come to; 0: there is none under way */
    int fd;
    uint32_t thread, name;
    struct as_ahead_mark marks[AS_GAUGE_MARKS];
    double cold;                 /* rate up to the third place */
    uint64_t time, stops, begun; /* at the last place; begun: sample */
    struct as_rate_way way;      /* from the second place on, in all */
    uint64_t from;               /* index of the use */
    struct as_ahead_mark step;   /* from one possible last place to the next: bytes and accesses */
    bool coarse;                 /* the places are far apart */
    bool counts;                 /* there was a place, or the use, before: its index and the thread's accesses there */
    uint64_t index;
    double accesses;
};

/* A thread goes round in turns whose accesses are known: how long do they take when it has run for some milliseconds? Its places are counted
 * while it runs on, nothing stops: first one of them, then two. */
struct as_traced_tally {
    enum { AS_TALLY_NONE, AS_TALLY_WAITS, AS_TALLY_ONE, AS_TALLY_TWO } stage;
    int fds[2];
    uint32_t thread, tries;
    uint64_t sample;
    struct as_ahead_turn turn;
    double due;          /* seconds: when to look */
    uint64_t hits, time; /* of the first place when this stage began; nanoseconds of its thread */
    uint64_t stops;      /* of the thread then */
    double one;          /* nanoseconds of a turn while one place was counted */
};

/* A long way from use to reuse, once more, when the thread has run for some milliseconds: how much faster is it then? */
struct as_traced_again {
    enum { AS_AGAIN_NONE, AS_AGAIN_WAITS, AS_AGAIN_ARMED, AS_AGAIN_BEGUN } stage;
    int fd;
    uint32_t thread, name;
    uint64_t address, site, sample, time, stops;
    double behind, due; /* nanoseconds that it took behind a stop; seconds: when to look again */
    double accesses;    /* of the way */
};

/* The last looks that got past some distance, and those of them that found an outcome. */
struct as_traced_looks {
    uint32_t n, found;
};

struct as_reuse_native {
    struct as_reuse_native_options options;
    struct as_tracer *tracer;
    struct as_tracer *_Atomic watched;
    struct as_lookahead *ahead;
    struct as_lookahead_thread *copies[AS_AHEAD_THREADS];
    struct as_reuse_watch *watch;
    AS_VEC(struct as_traced_thread) threads; /* by number - 1 */
    AS_VEC(struct as_traced_reg) regs;
    struct as_traced_gauge gauge;
    struct as_traced_tally tally;
    struct as_traced_again again;
    struct as_native_rate rate;
    uint64_t random, generations, samples;
    uint64_t deep;   /* looks that went on for the sake of a turn */
    uint32_t absorb; /* of the use that is being armed */
    bool used[AS_LENS_REGISTERS];
    double started, weighed; /* weighed: processor nanoseconds at the last sample */
    double cost;             /* of a sample, seconds, mean of the last ones */
    double halt;             /* the same by the clock: threads may have to wait until they stop */
    double pause;            /* of the program's threads between samples by that, seconds, on average */
    size_t running;          /* threads that ran at the last sample, and had a processor: at least 1 */
    size_t processors;
    AS_VEC(struct as_traced_process) processes;
    AS_VEC(struct as_space *) images; /* names of their code */
    struct as_traced_paths *paths;
    struct as_map codes; /* address and image of an instruction: place in `insns` + 1 */
    AS_VEC(struct as_traced_insn) insns;
    struct as_traced_thread *const *looked_at;          /* during a look: the threads of its order, */
    uint32_t use_path, end_path;                        /* … and the paths of use and outcome */
    struct as_traced_looks past_quarter, past_shortest; /* parts of the bound, see bound_of */
    AS_VEC(double) densities;        /* accesses an instruction where samples were taken, by sample */
    AS_VEC(struct as_rate_way) ways; /* that are known behind samples */
    uint64_t counted;                /* by the PMU, in threads that have ended */
    struct as_reuse_native_info info;
};

/* ---- traced_lens.c ---- */

extern const struct as_lens_ops as_traced_lens_ops; /* its context is the as_reuse_native */
struct as_traced_thread *as_traced_by_tid(struct as_reuse_native *native, pid_t tid);
struct as_traced_thread *as_traced_by_number(struct as_reuse_native *native, uint32_t number);
/* The thread stands still: takes in what it has done since its last stop. _glance: it may run, and is not stopped. */
void as_traced_update(struct as_reuse_native *native, struct as_traced_thread *thread);
void as_traced_glance(struct as_reuse_native *native, struct as_traced_thread *thread);
/* `spent`: its processor time then, nanoseconds; 0: unknown. */
void as_traced_start(struct as_reuse_native *native, pid_t tid, uint64_t spent);
void as_traced_end(struct as_reuse_native *native, pid_t tid, uint64_t spent);
void as_traced_exec(struct as_reuse_native *native, pid_t pid); /* the process executes another program */
struct as_traced_process *as_traced_process_of(const struct as_reuse_native *native,
                                               const struct as_traced_thread *thread);
/* What the traps of a register are told by. A trap may be delivered after its watchpoint was taken away and the place given to
 * another: the generation tells. */
uint32_t as_traced_name(uint64_t generation, size_t place);
/* What a trap takes the thread, in nanoseconds: as measured behind the last sample, or as usual. */
double as_traced_trap(const struct as_reuse_native *native, const struct as_traced_thread *thread);
/* Two watchpoints of a thread at one address make one signal: the kernel does not queue the second. */
bool as_traced_is_watched(const struct as_reuse_native *native, uint32_t process, uint64_t address);

/* ---- traced_rate.c ---- */

/* From the use on, it is known which places the thread will be the first time at. */
void as_gauge_begin(struct as_reuse_native *native, const struct as_traced_thread *thread,
                    const struct as_ahead_result *result);
void as_gauge_use(struct as_reuse_native *native, const struct as_traced_thread *thread); /* it is at the use */
void as_gauge_reuse(struct as_reuse_native *native, const struct as_traced_reg *reg);     /* the reuse is there */
void as_gauge_trap(struct as_reuse_native *native, struct as_traced_thread *thread);
void as_gauge_end(struct as_reuse_native *native);

/* ---- traced_tally.c ---- */

/* Behind a look that found a turn. */
void as_tally_plan(struct as_reuse_native *native, const struct as_traced_thread *thread,
                   const struct as_ahead_turn *turn);
void as_tally_step(struct as_reuse_native *native); /* when it is due */
void as_tally_end(struct as_reuse_native *native);
/* A use of a thread was reused by itself, by the code `site`, as `reg` has trapped. */
void as_again_plan(struct as_reuse_native *native, const struct as_traced_thread *thread,
                   const struct as_traced_reg *reg, uint64_t site);
void as_again_arm(struct as_reuse_native *native); /* when it is due */
void as_again_trap(struct as_reuse_native *native, const struct as_traced_thread *thread);
void as_again_end(struct as_reuse_native *native);

/* ---- what samples weigh: traced_rate.c ---- */

/* After the run. Samples are taken by time, and are to stand for accesses: slow code makes fewer of them. Where the speed is not
 * known, instructions stand for time. */
void as_gauge_weigh(struct as_reuse_native *native);

#endif
