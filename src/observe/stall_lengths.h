/* How long single executions of instructions held up the commit stage: an exact histogram of lengths in cycles. The
 * Oracle keeps one for the stalls that no event explains, which shows whether a set of events is sufficient. */
#ifndef AS_OBSERVE_STALL_LENGTHS_H
#define AS_OBSERVE_STALL_LENGTHS_H

#include "base/map.h"

enum {
    AS_STALL_SHORT = 512, /* lengths below have a counter each, the others stand in a map */
    AS_STALL_LONG = 6, /* from here on stalls are kept by instruction too: what an event should explain. The TEA paper
                          says of its nine that 99 % of what they leave is below 5.8 cycles */
};

struct as_stall_lengths {
    uint64_t n, cycles, longest;
    uint64_t below[AS_STALL_SHORT]; /* by length */
    struct as_map others;           /* length to number */
    struct as_map long_by_insn;     /* id to cycles in stalls of AS_STALL_LONG and more */
};

void as_stall_note_slowly(struct as_stall_lengths *stalls, uint32_t insn, uint64_t cycles, uint64_t times);
void as_stall_free(struct as_stall_lengths *stalls);

/* `times` stalls of the same length. */
static inline void as_stall_note(struct as_stall_lengths *stalls, uint32_t insn, uint64_t cycles, uint64_t times)
{
    stalls->n += times;
    stalls->cycles += cycles * times;
    if (cycles < AS_STALL_LONG) {
        stalls->below[cycles] += times;
        stalls->longest = cycles > stalls->longest ? cycles : stalls->longest;
    } else {
        as_stall_note_slowly(stalls, insn, cycles, times);
    }
}

/* The shortest length that at least this part (0 … 1) of the stalls does not exceed; 0 where there are none. */
uint64_t as_stall_quantile(const struct as_stall_lengths *stalls, double part);

#endif
