/* Zeroed memory for large tables that are read at random: on cache lines of its own, and on large pages where the kernel has
 * them, which spares most misses of the TLB. Pages take memory when they are first touched. */
#ifndef AS_REUSE_HUGE_H
#define AS_REUSE_HUGE_H

#include <stddef.h>

void *as_huge_alloc(size_t bytes); /* out of memory ends the process, as in base/alloc.h */
void as_huge_free(void *memory, size_t bytes);

/* The same on small pages, for tables of which only parts are touched: `memory` has `had` bytes (NULL: 0) and may move. */
void *as_sparse_grow(void *memory, size_t had, size_t bytes);
void as_sparse_free(void *memory, size_t bytes);

#endif
