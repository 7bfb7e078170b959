/* What a cycle, or a sample, is charged to.
 *
 * Time is kept as integers in units of 1/720720 cycle, the least common multiple of 1 to 16, so that equal shares of a
 * cycle among up to 16 instructions are exact. Shares among more are exact in sum: the oldest ones get the remainder.
 *
 * The commit stage is in one of four states in each cycle: computing, stalled, drained, flushed. Flushed is kept apart
 * by its cause, because the cycle stacks want that.
 */
#ifndef AS_OBSERVE_ATTRIBUTION_H
#define AS_OBSERVE_ATTRIBUTION_H

#include "assay/pipe.h"

#include <stdbool.h>
#include <stdint.h>

#define AS_CYCLE_UNITS UINT64_C(720720)

enum {
    AS_COMMIT_WIDTH_MAX = 12,
    AS_GROUP_MAX = 32, /* instructions that commit in one cycle: the width, and more where pairs fuse */
};

enum as_state {
    AS_STATE_COMPUTING,  /* instructions commit */
    AS_STATE_STALLED,    /* the oldest one is not done */
    AS_STATE_DRAINED,    /* the ROB is empty: the front end is late */
    AS_STATE_MISPREDICT, /* … because of a mispredicted branch */
    AS_STATE_FLUSH,      /* … because of an instruction that flushed when it committed */
    AS_STATE_EXCEPTION, /* … because of an exception or a memory-order violation, charged to the one that is retried */
    AS_STATE_COUNT,
    AS_STATE_UNKNOWN = AS_STATE_COUNT /* of a sampler that does not record it */
};
const char *as_state_name(enum as_state state); /* "computing" … as in JSON */

/* One cycle's charge: equal shares to n instructions, oldest first, each with the events that it met. */
struct as_attribution {
    enum as_state state;
    uint32_t n;
    uint32_t ids[AS_GROUP_MAX];
    uint32_t paths[AS_GROUP_MAX];  /* the call path of each (as_pipe.path) */
    uint32_t events[AS_GROUP_MAX]; /* the whole vector, as it is at commit; the code that charges it masks it */
};

/* The share of number i among n. The shares of 0 … n-1 add up to total. */
static inline uint64_t as_share(uint64_t total, uint32_t n, uint32_t i)
{
    return total / n + (i < total % n);
}

/* When an instruction that had to be tried again first entered the ROB, and when it left that time: the ROB holds it
 * in [first, fault) and from its dispatch on, and is empty because of it in [fault, dispatch). All three are the
 * dispatch cycle where there was one try only. */
struct as_tries {
    uint64_t first, fault;
};

static inline struct as_tries as_tries_of(const struct as_pipe *pipe)
{
    struct as_tries tries = {pipe->dispatch, pipe->dispatch};
    if (!(pipe->flags & (AS_PIPE_EXCEPTION | AS_PIPE_REFETCHED)))
        return tries;
    uint64_t stood = pipe->flags & AS_PIPE_MISPREDICTED ? UINT16_MAX : pipe->first_try;
    tries.fault -= pipe->exception < tries.fault ? pipe->exception : tries.fault;
    tries.first = tries.fault - (stood < tries.fault ? stood : tries.fault);
    return tries;
}

/* What the ROB is empty for after `pipe` has committed, if it is. */
static inline enum as_state as_state_behind(const struct as_pipe *pipe)
{
    if (pipe->flags & AS_PIPE_MISPREDICTED)
        return AS_STATE_MISPREDICT;
    return pipe->flags & AS_PIPE_FLUSHES ? AS_STATE_FLUSH : AS_STATE_DRAINED;
}

#endif
