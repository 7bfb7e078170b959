/* Edges that follow from exact counts of blocks alone: as often as a block ran, it was entered and left.
 *
 * Each edge lies between a least and a most number that this law allows, at the block that it leaves, at the one that it
 * reaches, and for each function as a whole. Where both are the same, the edge is known; the others stay estimates and
 * are marked so. Where control goes in ways that are not in the code (indirect jumps, the unwinder, longjmp, a run that
 * ends or begins inside a function), blocks can be entered or left from anywhere, and fewer edges are known.
 */
#ifndef AS_BLOCKS_DERIVE_H
#define AS_BLOCKS_DERIVE_H

#include "blocks/flow.h"

/* The counts of blocks are exact, those of edges a first guess (balance.h). Calls are left as they are. */
void as_flow_derive(struct as_flow *flow);

#endif
