/* Control-flow graphs for tests: functions of code in no file, one instruction of four bytes at a time. */
#ifndef AS_TESTS_BLOCKS_GRAPH_H
#define AS_TESTS_BLOCKS_GRAPH_H

#include "blocks/flow.h"

/* A word a block, four bytes an instruction: "i" does something, "b5" branches to block 5 or falls, "j5" jumps there,
 * "x" jumps anywhere, "c" calls block 0, "r" returns. A number before the letter: so many instructions. "|" before a block: another function
 * begins. */
struct as_cfg *graph_make(const char *blocks);
enum { GRAPH_START = 0x1000 };
uint64_t graph_start(const struct as_cfg *cfg, uint32_t block);

/* Counts for all blocks, and branches "FROM>TO:COUNT"; to as many as there are blocks: out of the function. */
struct as_flow *graph_flow(struct as_cfg *cfg, const double *counts, const char *branches);
/* The count of the edge between two blocks; -1: there is none. */
double graph_edge(const struct as_flow *flow, uint32_t from, uint32_t to);

#endif
