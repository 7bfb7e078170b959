/* What the views of a run say of caches: misses of caches of every size, of the simulated ones, and what misses most.
 *
 * `exact` has finished. */
#ifndef AS_REUSE_REUSE_RATIOS_H
#define AS_REUSE_REUSE_RATIOS_H

#include "reuse/reuse.h"

/* What the last level's numbers come from: the sockets' views, or while there is one thread, that one's. */
const struct as_reuse_view *as_reuse_last_level(const struct as_reuse *exact);
/* Whose working set over time is known: all sockets', or the only thread's; NULL: there is none. */
const struct as_reuse_view *as_reuse_working_view(const struct as_reuse *exact);
/* The smallest cache, in granules, whose misses can be told: 1, unless the granules are a sample. */
uint64_t as_reuse_least(const struct as_reuse *exact);
/* Share of the touches that an LRU cache of so many granules misses: private to threads, or shared. */
double as_reuse_miss_ratio(const struct as_reuse *exact, bool shared, uint64_t granules);
/* By how much a sample of the granules may be off there; 0: every one is counted. */
double as_reuse_miss_ratio_error(const struct as_reuse *exact, bool shared, uint64_t granules);
/* Misses of a simulated level by cause, of all threads and sockets. */
void as_reuse_level_misses(const struct as_reuse *exact, int level, uint64_t missed[AS_MISS_CAUSES]);
uint64_t as_reuse_sum(const uint64_t causes[AS_MISS_CAUSES]);

/* Pairs by reuses from beyond the L1, most first. The caller frees. */
const struct as_reuse_pair **as_reuse_sorted_pairs(const struct as_reuse_view *view);
/* Codes by misses of a level, most first; *n of them have any. The caller frees. */
uint32_t *as_reuse_sorted_codes(const struct as_reuse_view *view, int level, size_t *n);

#endif
