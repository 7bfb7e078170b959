/* Footprint: how much memory each thread touched, and how much of it other threads touched too.
 *
 * Counted are distinct lines of 64 bytes and distinct pages of 4096 that loads, stores and atomics reached, exactly and
 * for the whole run. Memory is shared within a process only: equal addresses of different processes are different lines.
 * A prefetch or a cache-line flush touches nothing.
 */
#ifndef AS_OBSERVE_FOOTPRINT_H
#define AS_OBSERVE_FOOTPRINT_H

#include "assay/observer.h"

enum { AS_FOOTPRINT_LINE = 64, AS_FOOTPRINT_PAGE = 4096 };

struct as_footprint_counts {
    uint64_t accesses;
    uint64_t lines, read, written; /* lines; `read` and `written` overlap */
    uint64_t pages;
    uint64_t shared;         /* lines that another thread of the process touched too */
    uint64_t shared_written; /* … and one of them wrote */
};

struct as_footprint_thread {
    uint32_t thread, process;
    struct as_footprint_counts counts;
};

struct as_footprint;
struct as_footprint *as_footprint_new(void);
extern const struct as_observer as_footprint_observer; /* its self is the as_footprint; its finish adds up */
/* After finish. All threads together, each line once for its process. */
struct as_footprint_counts as_footprint_total(const struct as_footprint *footprint);
/* By thread number, those that accessed anything. */
const struct as_footprint_thread *as_footprint_threads(const struct as_footprint *footprint, size_t *n);

#endif
