/* What an adjacent-line prefetcher could take away from threads: for each aligned pair of lines, false sharing that there is by the pair
 * and not by its lines, and what bounds the transfers that can come of it.
 *
 * Of false sharing, only what is *near* makes a line move: the thread that wrote still has the line in its own cache. Later the line comes from
 * a shared cache or from memory, whoever fetches it. ReuseTracker's R_fs has such pairs alone ("reuse distances that are short enough to be in the range of
 * false sharing communication").
 *
 * A prefetcher of neighbours fetches the other line of a pair when one misses. So there are no more transfers by prefetches than misses
 * of the two lines in the threads' own caches, which are simulated here as LRU caches with sets. And a line that moves between
 * threads anyway has less room for further moves: it moves at most once in the time that a transfer takes. How many moves that is in a
 * run, only whoever knows its time can say; so the pairs that move most come with their counts.
 *
 * One thread calls it, with accesses in the order of the stream. Threads beyond the 63rd of a run have one cache together. */
#ifndef AS_REUSE_ADJACENT_H
#define AS_REUSE_ADJACENT_H

#include "assay/observer.h"
#include "reuse/lru_cache.h"

#include <stddef.h>

struct as_adjacent_counts {
    uint64_t
        false_sharing; /* pairs of accesses by two threads, the first of which wrote, to other bytes of the pair of lines: those
                             * that are so by lines alone do not count. At least 0 for each pair of lines */
    uint64_t
        near; /* the same of pairs of accesses of which the first thread's cache still has its line: by the pair, and not by its
                    * lines. More than false_sharing where a line's own pairs are far */
    uint64_t misses;    /* of both lines, in the threads' own caches */
    uint64_t transfers; /* of both lines, between threads */
};

struct as_adjacent_pair {
    uint32_t process;
    uint64_t address;
    struct as_adjacent_counts counts;
};

struct as_adjacent_sum {
    uint64_t lines_pairs; /* that were used */
    struct as_adjacent_counts counts;
    uint64_t possible; /* the lesser of near false sharing and misses, of each pair of lines */
};

struct as_adjacent;
struct as_adjacent *as_adjacent_new(uint32_t line_shift, const struct as_cache_shape *own_cache);
void as_adjacent_free(struct as_adjacent *adjacent);
void as_adjacent_take(struct as_adjacent *adjacent, uint32_t thread, uint32_t process,
                      const struct as_data_access *accesses, size_t n);
struct as_adjacent_sum as_adjacent_sum(struct as_adjacent *adjacent);
/* The pairs with the most false sharing that misses allow, most first; returns how many there are, at most `n`. */
size_t as_adjacent_most(struct as_adjacent *adjacent, struct as_adjacent_pair *pairs, size_t n);

#endif
