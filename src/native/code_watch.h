/* Waits for a thread of another process to reach an instruction, and takes its registers there: the kernel's hardware
 * breakpoints (PERF_TYPE_BREAKPOINT), each for one hit.
 *
 *     struct as_code_watch *watch = as_code_watch_new(NULL);
 *     as_code_watch_arm(watch, &order);
 *     as_code_watch_poll(watch, take, context);      … now and then, and once at the end
 *
 * Nothing is added to the watched program except the thread's debug register while one is armed. The kernel disables a
 * breakpoint after its hit, so a loop does not trap again, however late the hit is collected. A trap costs the thread
 * about 26 us in the virtual machine used for development. At most two breakpoints are armed for a thread, and no more
 * than `rate` a second, which bounds the cost. A breakpoint that is not reached for a while expires.
 */
#ifndef AS_NATIVE_CODE_WATCH_H
#define AS_NATIVE_CODE_WATCH_H

#include "perfdata/perfdata.h"

struct as_code_watch_options {
    double rate;    /* per second and thread; 0: 100 */
    double seconds; /* seconds until one expires; 0: 0.1 */
    unsigned most;  /* armed at a time, over all threads; 0: 16 */
};

struct as_code_watch_counts {
    uint64_t armed, hit, expired;
    uint64_t extra;   /* further traps of one that was hit, before the kernel removed it */
    uint64_t refused; /* by the kernel */
    char note[160];   /* why the first one was refused; "": none was */
};

struct as_code_watch;
struct as_code_watch *as_code_watch_new(const struct as_code_watch_options *options); /* NULL: defaults */
/* Disarms those that are armed. */
void as_code_watch_free(struct as_code_watch *watch);

struct as_code_watch_order {
    uint32_t tid;
    uint64_t ip, tag;
    unsigned nth; /* which execution to trap at; 0: the first. Each execution before it traps, too */
    bool urgent;  /* may use up some of the future rate */
};
/* Returns false if the thread has two already, the rate is used up, or the kernel refuses. */
bool as_code_watch_arm(struct as_code_watch *watch, const struct as_code_watch_order *order);

/* Calls `take` for each that was reached, with a sample that has ip, pid, tid, user registers and some of the stack;
 * and with NULL for those that expired. `take` may arm again. */
typedef void as_code_watch_take(void *context, uint64_t tag, const struct as_perf_sample *sample);
void as_code_watch_poll(struct as_code_watch *watch, as_code_watch_take *take, void *context);

const struct as_code_watch_counts *as_code_watch_counts(const struct as_code_watch *watch);

#endif
