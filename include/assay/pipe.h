/* The executed instruction with its pipeline times and events: what the core model makes of the stream, and what
 * observers read.
 *
 * Records come in program order for each thread; fetch, dispatch and commit cycles never decrease within a thread, and
 * for each record fetch <= dispatch <= commit. Cycles count from 1 for each core (one core a guest thread).
 */
#ifndef ASSAY_PIPE_H
#define ASSAY_PIPE_H

#include <stdint.h>

enum as_pipe_flag {
    AS_PIPE_TAKEN = 1 << 0,        /* a control transfer that left the fall-through path */
    AS_PIPE_MISPREDICTED = 1 << 1, /* … and was predicted wrong: what follows was fetched after it had resolved */
    AS_PIPE_FLUSHES = 1 << 2,   /* the pipeline behind it was flushed when it committed (CSR, FP flags, system calls) */
    AS_PIPE_EXCEPTION = 1 << 3, /* it raised an exception first (page fault, system call); then see `exception` */
    AS_PIPE_CONTINUES = 1 << 4, /* a further iteration of the rep instruction before; not an instruction of its own */
    AS_PIPE_SERIALISED = 1 << 5,  /* dispatched only when everything older had committed */
    AS_PIPE_LAST = 1 << 6,        /* of its thread */
    AS_PIPE_REFETCHED = 1 << 7,   /* fetched again because of a memory-order violation of its own; see `exception` */
    AS_PIPE_OWN_VECTORS = 1 << 8, /* with these two: `events` are those of the second try alone, and the first met FL_EX
                                     (FL_MO); else they are those of both tries (back.retry_vector) */
};

/* Events that an instruction met on its way (its performance signature vector). */
enum as_event {
    AS_EVENT_DR_L1 = 1 << 0,  /* drained: its fetch missed the instruction cache */
    AS_EVENT_DR_TLB = 1 << 1, /* … the instruction TLB */
    AS_EVENT_DR_SQ = 1 << 2,  /* a store that could not dispatch because the store queue was full */
    AS_EVENT_FL_MB = 1 << 3,  /* a mispredicted branch */
    AS_EVENT_FL_EX = 1 << 4,  /* an exception or a flush at commit */
    AS_EVENT_FL_MO = 1 << 5,  /* a memory-order violation */
    AS_EVENT_ST_L1 = 1 << 6,  /* a load or store that missed the data cache */
    AS_EVENT_ST_TLB = 1 << 7, /* … the data TLB */
    AS_EVENT_ST_LLC = 1 << 8, /* … the last-level cache */
    /* beyond the nine of the paper */
    AS_EVENT_L2_HIT = 1 << 9,
    AS_EVENT_LLC_HIT = 1 << 10,
    AS_EVENT_PREFETCHED = 1 << 11, /* found on its way because of a prefetch */
    AS_EVENT_FORWARDED = 1 << 12,  /* a load served by the store queue */
    AS_EVENT_BANK = 1 << 13,       /* delayed by a bank conflict */
    AS_EVENT_DIVIDE = 1 << 14,     /* a division or square root: a unit that is not pipelined */
    AS_EVENT_COHERENCE = 1 << 15,  /* ST-CO: waited for another core's copy of its line */
    AS_EVENT_ORDER = 1 << 16,      /* waited for older stores to drain, or for a fence */
    /* of no set and without a name: what a load's request found in other cores' caches, which PMUs count */
    AS_EVENT_SNOOP_CLEAN = 1 << 24, /* with COHERENCE: the copy that it waited for was not modified */
    AS_EVENT_SNOOP_MISS = 1 << 25,  /* the core that had the line alone has dropped it */
};

struct as_pipe {
    uint64_t fetch, dispatch, issue, done, commit; /* cycles; dispatch is when it enters the ROB */
    uint32_t insn;                                 /* as_insn.id of the static instruction */
    uint32_t events;                               /* enum as_event */
    uint32_t path;                                 /* number of its call path, its thread's own; 0 unknown */
    uint32_t exception; /* EXCEPTION, REFETCHED: cycles from the exception at the head of the ROB to the dispatch of the
                           second try, which are part of the time between the previous commit and `dispatch` */
    uint16_t thread;    /* number of the guest thread */
    union {
        uint16_t first_try;  /* EXCEPTION, REFETCHED, unless MISPREDICTED: cycles from the first dispatch to the
                                exception (65535: or more), which lie before the `exception` cycles */
        uint16_t wrong_path; /* MISPREDICTED, and FLUSHES where it has no first_try: instructions behind it that were
                                dispatched and then squashed, from `wrong_delay` cycles after its dispatch on, all
                                before it was done (MISPREDICTED) or committed (FLUSHES) */
    };
    uint16_t flags; /* enum as_pipe_flag */
    uint8_t uops;
    uint8_t wrong_delay; /* cycles from its dispatch to that of the first wrong-path instruction */
};

/* The events of the first try, of an instruction that was tried twice. */
static inline uint32_t as_first_events(const struct as_pipe *pipe)
{
    if (!(pipe->flags & AS_PIPE_OWN_VECTORS))
        return pipe->events;
    return (uint32_t)((pipe->flags & AS_PIPE_EXCEPTION ? AS_EVENT_FL_EX : 0) |
                      (pipe->flags & AS_PIPE_REFETCHED ? AS_EVENT_FL_MO : 0));
}

#endif
