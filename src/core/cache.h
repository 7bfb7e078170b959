/* A cache as times: write-back, write-allocate, true LRU, with MSHRs, banks, a next-line and an adjacent-line prefetcher.
 *
 * A request reaches the cache at a cycle. A hit is answered `latency` cycles later. A miss takes a free MSHR `latency`
 * cycles later (waits for one), asks the level below, and the line is there when that has answered. A request for a
 * line on its way waits for its arrival and needs no MSHR of its own. Contents change in program order, at once.
 *
 * The prefetcher fetches the next line of the page behind a miss and behind the first use of a line that it had
 * fetched, at the time of the request, where an MSHR is free. The adjacent-line prefetcher fetches the other line of the
 * pair that a missed line makes with its neighbour, also one that another core owns: that core must ask again before it
 * writes, as on processors that have one. A victim that is dirty goes to the level below when the
 * line that takes its place arrives; it is put there where it is absent, and costs no time there. Levels are neither
 * inclusive nor exclusive: what leaves one says nothing about the others.
 */
#ifndef AS_CORE_CACHE_H
#define AS_CORE_CACHE_H

#include "core/dram.h"
#include "core/stay_log.h"
#include "core/tags.h"

/* Where a line came from. */
enum as_source { AS_SOURCE_L1, AS_SOURCE_L2, AS_SOURCE_LLC, AS_SOURCE_DRAM, AS_SOURCE_CORE };

/* Prefetches start no further prefetches and leave "first use" to others; so do the accesses of a page walk. */
enum as_request { AS_REQUEST_DEMAND, AS_REQUEST_PREFETCH, AS_REQUEST_WALK };

struct as_fill {
    uint64_t done;
    uint8_t source; /* enum as_source */
    bool prefetched;
};

/* What a private cache asks of what all cores share, once there are several (coherence.c). */
struct as_port {
    struct as_fill (*request)(struct as_port *port, uint64_t cycle, uint64_t line, enum as_request kind);
    bool (*is_taken)(struct as_port *port, uint64_t line); /* another core owns it: no prefetch */
    void (*enter)(struct as_port *port, uint64_t line);    /* the core has it from now on, without time */
};

/* What was written to a line of a private data cache since the core got it, and by what. */
struct as_written {
    uint64_t bytes; /* 0: nothing */
    uint64_t cycle; /* of the last store */
    uint32_t thread, insn;
};

struct as_cache {
    struct as_tags tags;
    uint32_t latency; /* until a miss is known */
    uint32_t hit;     /* of a hit: the same, except where the pipeline has counted it already (L1I) */
    uint8_t level;    /* enum as_source of its hits */
    bool next_line, adjacent;
    bool perfect;               /* demands that miss are hits while this is set: see as_memory_set_ideal */
    uint64_t page_mask;         /* lines of a page - 1 */
    struct as_cache *next;      /* the level below, or … */
    struct as_dram *dram;       /* … memory */
    struct as_port *port;       /* not NULL: in place of `next` */
    struct as_port *guard;      /* not NULL: asked before prefetches */
    struct as_written *written; /* by slot of the tags; NULL where that is not kept */
    uint32_t found;             /* slot of the last request's line that was present */
    struct as_slots mshrs;
    struct as_stay_log *stays; /* NULL: nobody asks for occupancy */
    enum as_resource resource; /* what its MSHRs are called there */
    /* A merge found its line on its way. Neither it nor a prefetch is a miss; every miss and every prefetch is one
     * access of the level below. */
    uint64_t accesses, misses, merges, prefetches, writebacks;
    struct as_banks banks;
};

void as_cache_init(struct as_cache *cache, enum as_source level, const struct as_cache_machine *sizes,
                   const struct as_machine *machine);
void as_cache_free(struct as_cache *cache);
/* Keeps from now on what is written. */
void as_cache_keep_written(struct as_cache *cache);

/* The whole access, for the levels below L1. */
struct as_fill as_cache_request(struct as_cache *cache, uint64_t cycle, uint64_t line, enum as_request kind);

/* The parts, for L1, whose callers look for the line themselves. `cycle` is the request's; as_cache_hit is for lines
 * that are present, arrived or not. `*accepted`: when an MSHR had taken the miss. */
struct as_fill as_cache_hit(struct as_cache *cache, uint32_t slot, uint64_t cycle, uint64_t line, enum as_request kind);
struct as_fill as_cache_miss(struct as_cache *cache, uint64_t cycle, uint64_t line, enum as_request kind,
                             uint64_t *accepted);
/* A miss as if a prefetch had brought the line in time: it is there, and the prefetcher goes on behind it. */
struct as_fill as_cache_miss_ideally(struct as_cache *cache, uint64_t cycle, uint64_t line);
/* Fetches a line that is absent, as soon as an MSHR is free: a program's own prefetch waits for one as a load does, and
 * only the prefetcher's are dropped. */
void as_cache_prefetch(struct as_cache *cache, uint64_t cycle, uint64_t line);

/* A demand, or a prefetch, that takes no time: contents change as if it had come long ago. Counts nothing. */
void as_cache_warm(struct as_cache *cache, uint64_t line, enum as_request kind);

/* The line is there from `arrival` on, as if it had been written back from above. */
void as_cache_put(struct as_cache *cache, uint64_t line, uint64_t arrival, bool dirty);

/* The line leaves; returns whether it was there and dirty. */
bool as_cache_drop(struct as_cache *cache, uint64_t line);

#endif
