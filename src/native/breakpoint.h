/* A hardware breakpoint on a thread of another process, for one hit: an event of the kernel's breakpoint PMU with a buffer
 * of a page. The kernel disables it after its hit (PERF_EVENT_IOC_REFRESH), so a loop does not trap again, however late
 * the hit is collected; nothing of Assay is in the program. A hit has the registers of the thread and a little of its
 * stack. Data breakpoints trap after the access, those of instructions before it. */
#ifndef AS_NATIVE_BREAKPOINT_H
#define AS_NATIVE_BREAKPOINT_H

#include "native/ring.h"
#include "perfdata/perfdata.h"

enum { AS_BREAKPOINT_PAGE = 4096 };

struct as_breakpoint_order {
    uint32_t tid;
    uint32_t type;    /* HW_BREAKPOINT_X, _W, _RW */
    uint64_t address; /* a multiple of `length`, unless it is an instruction's */
    uint32_t length;  /* 1, 2, 4, 8; of an instruction sizeof(long) */
    unsigned nth;     /* which time; 0: the first. Each time is a trap */
    bool chain;       /* with the call chain of the thread */
};
/* False: errno tells. The ring's fd is the event's. */
bool as_breakpoint_open(struct as_ring *ring, const struct as_breakpoint_order *order) AS_MUST_CHECK;
/* How long the thread ran with it, until it was hit; 0: unknown. */
double as_breakpoint_seconds(const struct as_ring *ring);
void as_breakpoint_close(struct as_ring *ring);
const char *as_breakpoint_refusal(int error); /* why the kernel refused, for people */

struct as_breakpoint_hit {
    struct as_perf_sample
        sample;          /* ip, pid, tid, time (CLOCK_MONOTONIC), cpu, user registers, stack; chain if wanted */
    uint64_t hits;       /* traps until the kernel had taken it away */
    uint64_t values[64]; /* of the registers; the rest points into: */
    uint8_t record[AS_BREAKPOINT_PAGE];
};
/* False: it has not been hit yet. */
bool as_breakpoint_take(struct as_ring *ring, bool chain, struct as_breakpoint_hit *hit);

#endif
