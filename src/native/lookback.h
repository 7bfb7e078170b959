/* The accesses that a thread made right before it was interrupted, from the saved registers and the code.
 *
 * A timer's interrupt waits for the instruction that takes the time, so the saved instruction pointer is behind it. Where the
 * way ahead (reconstruct.h) soon ends at an unknown branch, an atomic or a store that takes all of a loop's time is never
 * reached from there. Behind the interrupted instruction the way is certain as long as the code is straight: instructions are
 * taken back to the nearest one that a jump leads to, over branches that were not taken, and not over calls, jumps, returns,
 * system calls and repeated string instructions. An access has an address if its registers still hold, or were changed by
 * constants only (add, sub, inc, dec, lea, push, pop).
 *
 * x86 code cannot be read backwards. Decoding begins at each of the 64 bytes before; such sequences fall into step within a few
 * instructions, so the start at which most of them arrive is taken, if it has more than three quarters of them. Jumps and calls that lead into the
 * code are looked for within 4 KiB on both sides, and code behind a nop of several bytes is taken to be entered from anywhere;
 * jumps from further away and through tables are not seen.
 */
#ifndef AS_NATIVE_LOOKBACK_H
#define AS_NATIVE_LOOKBACK_H

#include "native/reconstruct.h"

enum { AS_LOOKBACK_ACCESSES = 8, AS_LOOKBACK_INSNS = 16 };

struct as_lookback_access {
    uint64_t ip, address;
    uint16_t size;
    uint8_t access; /* AS_ACCESS_LOAD, AS_ACCESS_STORE or both */
};

struct as_lookback {
    unsigned n;
    struct as_lookback_access accesses[AS_LOOKBACK_ACCESSES]; /* the latest first */
};

/* The lengths of the instructions before an address, the nearest first. They depend on the code alone and can be kept. */
struct as_lookback_code {
    uint8_t n;
    uint8_t lengths[AS_LOOKBACK_INSNS];
};
void as_lookback_find(uint64_t ip, as_reconstruct_read *read, void *context, struct as_lookback_code *code);
/* Reads the code again, so that code which has changed is not taken for what it was. */
void as_lookback_from(const struct as_machine_state *state, const struct as_lookback_code *code,
                      as_reconstruct_read *read, void *context, struct as_lookback *result);

#endif
