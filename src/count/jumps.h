/* Where indirect jumps and calls went, and how often: what the counts of blocks leave open, since the target of every
 * other branch is in its bytes. Returns are left out: they go back to where the call was. And the branches behind which
 * measuring ended: what they led to was not counted.
 *
 * A sink beside as_counter_sink; blocks that end otherwise stay tallied, so it costs little.
 */
#ifndef AS_COUNT_JUMPS_H
#define AS_COUNT_JUMPS_H

#include "engine/engine.h"

struct as_jump_counter;
struct as_jump_counter *as_jump_counter_new(void);
void as_jump_counter_free(struct as_jump_counter *counter);
extern const struct as_sink as_jump_counter_sink; /* its context is the counter */

/* From the end of a block, by its index in the engine, to an address of its image. */
struct as_jump_count {
    uint32_t block;
    uint64_t target, count;
};
/* In order of first appearance. The array is the counter's. */
const struct as_jump_count *as_jump_counter_list(const struct as_jump_counter *counter, size_t *n);
/* The last execution of a thread before measuring ended: from the end of a block to what was not counted any more. Indirect
 * jumps and calls of these are not in the list above. */
const struct as_jump_count *as_jump_counter_cuts(const struct as_jump_counter *counter, size_t *n);

#endif
