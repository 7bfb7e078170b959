/* Heads of loops, as far as a run shows them: where a thread jumps back to.
 *
 * Regions of programs with several threads begin and end there (as_region.heads), as in LoopPoint (Sabu, Patil, Heirman and Carlson,
 * HPCA 2022): a border then lies between two rounds of somebody's work. Loops in which threads wait for each other are none:
 * how often they go round is chance.
 */
#ifndef AS_ENGINE_LOOP_HEADS_H
#define AS_ENGINE_LOOP_HEADS_H

#include "engine/engine.h"

/* Whether a thread that goes from the end of a block, by a jump, to `next` is at the head of a loop. */
bool as_is_loop_head(const struct as_image *image, const struct as_block *block, uint64_t next);

#endif
