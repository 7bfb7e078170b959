/* The clocks of the threads of an access stream: executed instructions, and those of others while the thread waited.
 *
 * A thread that looks at a word until another one has written it (spin_look.h) executes as many looks as the host lets it execute before
 * the other thread has come that far. What it has looked in excess is no time: its clock is put back, and the instructions are kept as a
 * debt, because the engine lets no thread execute far more than the others.
 */
#ifndef AS_MODEL_ACCESS_CLOCKS_H
#define AS_MODEL_ACCESS_CLOCKS_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct as_access_clock {
    uint32_t number; /* of the thread */
    bool runs;
    uint64_t executed; /* instructions */
    uint64_t offset;   /* `executed` plus this is the clock */
    uint64_t debt;     /* what the clock was put back by, and has not come forward again */
};

struct as_access_clocks {
    AS_VEC(struct as_access_clock *) all;
    uint64_t stopped; /* the latest clock at which a thread stopped, to wait or for good */
};

static inline uint64_t as_clock_now(const struct as_access_clock *clock)
{
    return clock->executed + clock->offset;
}

/* Puts the clock forward to a time, if it is before that. */
void as_clock_put(struct as_access_clock *clock, uint64_t time);
/* Puts the clock back to a time, if it is behind that. */
void as_clock_put_back(struct as_access_clock *clock, uint64_t time);

/* NULL: no such thread. */
const struct as_access_clock *as_clocks_find(const struct as_access_clocks *clocks, uint32_t number);
void as_clocks_remove(struct as_access_clocks *clocks, const struct as_access_clock *clock);
/* A thread begins to run, or runs again: not before the slowest running thread. If none runs, that is when the last one stopped. */
void as_clocks_go_on(const struct as_access_clocks *clocks, struct as_access_clock *clock);
void as_clocks_stop(struct as_access_clocks *clocks, struct as_access_clock *clock);
/* The clock of the slowest other thread that runs; UINT64_MAX: there is none. */
uint64_t as_clocks_of_others(const struct as_access_clocks *clocks, const struct as_access_clock *own);
/* The time that has passed for all threads that run, by what they have executed. */
uint64_t as_clocks_passed(const struct as_access_clocks *clocks);

#endif
