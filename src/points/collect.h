/* Vectors of a run in the engine: a sink that closes an interval wherever a piece of the region ends.
 *
 * The engine must run blocks_only, with the region that as_collect_region makes: one that covers the whole program,
 * piece after piece. Instructions are counted over all threads; with `by_thread` a block that two threads execute is
 * two blocks, so that intervals in which different threads do the work are not alike.
 *
 * Intervals can also end at the head of a loop: each at the first of its executions after so many instructions. How threads
 * are interleaved then moves no border: the execution that ends an interval has the same number in every run (LoopPoint, HPCA
 * 2022).
 */
#ifndef AS_POINTS_COLLECT_H
#define AS_POINTS_COLLECT_H

#include "engine/engine.h"
#include "points/vectors.h"

struct as_collect;
struct as_collect *as_collect_new(bool by_thread);
void as_collect_free(struct as_collect *collect); /* NULL is fine */
extern const struct as_sink as_collect_sink;      /* its context is the collect */
/* The same beside a model, in a region that only warms: threads are then interleaved as they are in runs that measure. */
extern const struct as_sink as_collect_warm_sink;

/* Makes the list that cuts a program into intervals. */
void as_collect_region(struct as_regions *regions, uint64_t interval);

/* The same with intervals that end at a place, as a region names it (a function, an address, a marker). */
bool as_collect_by_loop(struct as_collect *collect, struct as_regions *regions, const char *place, uint64_t least,
                        struct as_error *err) AS_MUST_CHECK;
/* The number of the place's execution, from 1, with which an interval starts; 0: the program's start. */
uint64_t as_collect_pass(const struct as_collect *collect, size_t interval);

/* After the run: closes the last interval. The vectors stay the collect's. */
const struct as_vectors *as_collect_finish(struct as_collect *collect);

/* After that: how many instructions an interval executed in each line of code, which as_code_line names. Blocks can be cut in
 * other places in another run; lines are the same. */
void as_collect_lines(const struct as_collect *collect, const struct as_vectors *vectors, uint32_t interval,
                      struct as_map *lines);

/* What a block of the vectors is, by its number - 1. */
struct as_collect_block {
    const struct as_block *block;
    uint32_t thread; /* 0: of all threads */
};
const struct as_collect_block *as_collect_blocks(const struct as_collect *collect, size_t *n);

#endif
