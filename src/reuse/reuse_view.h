/* What is worked out for one thread, or for the cache that the threads of a socket share: the LRU stack, histograms,
 * caches of the machine with their misses by cause and by code, pairs of use and reuse, and the working set over time.
 *
 * A view is given touches in order, a chunk at a time, by one thread at a time. */
#ifndef AS_REUSE_REUSE_VIEW_H
#define AS_REUSE_REUSE_VIEW_H

#include "base/map.h"
#include "reuse/distances.h"
#include "reuse/lru_cache.h"
#include "reuse/lru_stack.h"
#include "reuse/sample_error.h"

enum as_reuse_level { AS_REUSE_L1, AS_REUSE_L2, AS_REUSE_LLC, AS_REUSE_LEVELS };
enum as_miss_cause { AS_MISS_COLD, AS_MISS_CAPACITY, AS_MISS_CONFLICT, AS_MISS_COHERENCE, AS_MISS_CAUSES };

struct as_reuse_shape {
    uint32_t shift;                                /* a granule has 1 << shift bytes */
    struct as_cache_shape levels[AS_REUSE_LEVELS]; /* in granules; L1 without lines: no caches at all */
    uint64_t interval;                             /* accesses of an interval of the working set */
    /* The instructions of the codes below n_insns, which are instructions on call paths. Other codes have no path. */
    const uint32_t *insns;
    uint32_t n_insns;
    bool sampled;  /* granules are a sample: no caches are simulated, times are not known */
    bool distinct; /* distances are granules in between, whatever invalidations do to caches: see lru_stack.h */
};

/* Touches are granules that accesses touched: one, or more where an access crosses their borders. */
struct as_reuse_counts {
    uint64_t accesses, touches, cold;
    uint64_t after_invalidation; /* touches of what another's store had invalidated */
    uint64_t reuses, temporal;   /* that the rules call reuse, and those of them from the same offset on */
    bool left_out;               /* accesses are: which reuses are temporal is not known */
    uint64_t other;              /* in a shared cache: pairs of one core, which are the thread's */
    uint64_t invalidations;      /* uses whose next event was another's store */
    uint64_t false_sharing;      /* in a shared cache: spatial pairs of two threads, the first of which wrote */
};

enum { AS_REUSE_ALIKE = 4 };

struct as_reuse_code {
    uint64_t touches;
    uint64_t misses[AS_REUSE_LEVELS][AS_MISS_CAUSES];
    uint64_t fetched, fetched_bytes; /* lines that it brought into the L1, and bytes of them that were used there */
    uint64_t again, moved; /* lines of these that had been there before, and those with no byte used that was then */
    uint64_t alike;        /* lines of these of which the same bytes were used as of one of the last few */
    uint64_t last_bytes[AS_REUSE_ALIKE];
    /* Misses of the L1: at the distance from the one before that this one has from its own (a walk), and of these, conflicts at a distance
     * of a multiple of FEW_SETS lines. */
    uint64_t steady, folded;
    uint64_t last_missed; /* the granule … */
    int64_t last_step;    /* … and how far it was from the one before */
    uint32_t path;        /* see reuse_fold.h */
};

enum { AS_REUSE_NO_CODE = UINT32_MAX };          /* of both sides of the pair that stands for all that found no place */
#define AS_REUSE_ON_ANY_PATH (UINT32_C(1) << 31) /* of a side of a pair: it is an instruction, on whatever path */

/* What nearly every reuse changes is one cache line of the host, and one more for its octave. */
struct as_reuse_pair {
    _Alignas(64) uint32_t use; /* codes */
    uint32_t reuse;
    uint64_t count, spatial;
    uint64_t beyond[AS_REUSE_LEVELS]; /* reuses from further away than the level holds */
    uint64_t spatial_beyond;          /* … the first level, and from other bytes of the line */
    uint64_t conflicts;               /* reuses from within the first level that miss it, because of its sets */
    uint64_t octaves[AS_DISTANCE_OCTAVES];
    uint64_t false_sharing;
    uint32_t use_path, reuse_path; /* see reuse_fold.h … */
    uint64_t path_count;           /* … reuses between these two */
};

/* Of a granule. */
struct as_reuse_misses {
    uint32_t misses[AS_MISS_CAUSES]; /* of the L1, by cause */
    uint32_t llc;                    /* of the last level */
    uint32_t fetched_bytes;          /* that were used while it was in the L1, in all; each miss brought it once */
    uint32_t far_octaves; /* capacity and conflict: the sum of the distances' logarithms, as_distance_octave */
    uint64_t last;        /* the bytes that were used the last time that it was in the L1 */
    uint64_t used;        /* a bit for each byte that was used at all; of longer granules for each 1/64 */
};

/* Pairs of a view. A program that recurses has as many pairs of paths as anybody has memory for: where there are AS_REUSE_PATH_PAIRS,
 * further ones are those of the instructions on any path; where there are AS_REUSE_PAIRS, further ones count as one. */
enum { AS_REUSE_PATH_PAIRS = 1 << 17, AS_REUSE_PAIRS = 3 * AS_REUSE_PATH_PAIRS };

struct as_reuse_view {
    const struct as_reuse_shape *shape;
    bool shared;
    struct as_lru_stack stack;
    uint64_t now;   /* accesses so far */
    uint32_t scale; /* each granule stands for 1 << scale */
    struct as_reuse_counts counts;
    struct as_distances distances, times; /* of reuses as the rules have them */
    struct as_distances all;       /* of every touch that is neither cold nor invalidated: the miss-ratio curve */
    struct as_sample_parts *parts; /* of a sample of the granules; NULL: all are counted */
    struct as_lru_cache caches[AS_REUSE_LEVELS]; /* those that this view simulates */
    uint64_t looked_up[AS_REUSE_LEVELS], missed[AS_REUSE_LEVELS][AS_MISS_CAUSES], beyond[AS_REUSE_LEVELS];
    uint64_t fetched, fetched_bytes;
    AS_VEC(struct as_reuse_code)
    codes; /* by code; a process has only a part of them, so it is a sparse table (huge.h) */
    AS_VEC(struct as_reuse_pair) pairs; /* on lines of the host */
    struct as_map pair_index;           /* use << 32 | reuse: place + 1 */
    uint32_t *recent;  /* where a pair was found last, by hash: at least four times as many as pairs, up to a limit */
    uint32_t n_recent; /* a power of two */
    struct as_granules misses;    /* struct as_reuse_misses by granule */
    AS_VEC(uint32_t) working_set; /* granules touched in each interval that is over */
    uint64_t interval_start;
    uint32_t interval_granules;
};

/* `first` and `last` are the levels that it simulates; none where first > last. */
void as_reuse_view_init(struct as_reuse_view *view, const struct as_reuse_shape *shape, bool shared,
                        enum as_reuse_level first, enum as_reuse_level last);
void as_reuse_view_free(struct as_reuse_view *view);
void as_reuse_view_run(struct as_reuse_view *view, uint32_t thread, struct as_touch *touches, size_t n);
/* Another's store: the granule is gone, if it was there. */
void as_reuse_view_invalidate(struct as_reuse_view *view, uint64_t key);
void as_reuse_view_end(struct as_reuse_view *view); /* after the last touch, before the results are read */
/* `to` is a new view of a shared cache: it takes over what `from` knows of the last level, as if it had seen all that
 * `from` has. Pairs, codes and misses stay. */
void as_reuse_view_branch(struct as_reuse_view *to, struct as_reuse_view *from);
/* Granules that are sampled no longer are forgotten: those whose as_reuse_hash is greater than `threshold`. */
void as_reuse_view_thin(struct as_reuse_view *view, uint64_t threshold, uint32_t scale);
/* The hash that decides which granules are sampled; processes alike. */
static inline uint64_t as_reuse_hash(uint64_t key)
{
    return (key & ((UINT64_C(1) << 48) - 1)) * AS_RANDOM_STEP;
}
struct as_reuse_code *as_reuse_code_of(struct as_reuse_view *view, uint32_t code);
void as_reuse_codes_free(struct as_reuse_view *view);
void as_reuse_codes_move(struct as_reuse_view *into, struct as_reuse_view *from); /* in place of those that are there */
void as_reuse_code_add(struct as_reuse_code *sum, const struct as_reuse_code *code);
struct as_reuse_pair *as_reuse_pair_of(struct as_reuse_view *view, uint32_t use, uint32_t reuse);
void as_reuse_pairs_free(struct as_reuse_view *view);
void as_reuse_pairs_move(struct as_reuse_view *into, struct as_reuse_view *from); /* in place of those that are there */
void as_reuse_pair_add(struct as_reuse_pair *sum, const struct as_reuse_pair *pair);
/* Adds counts, histograms, codes, pairs and misses. Stacks, caches and intervals stay; what takes the most memory, codes, pairs and
 * misses of granules, is taken away: `from` has none afterwards. */
void as_reuse_view_merge(struct as_reuse_view *into, struct as_reuse_view *from);
uint64_t as_reuse_view_bytes(const struct as_reuse_view *view);

#endif
