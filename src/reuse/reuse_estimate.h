/* What watched uses say about a run: the distribution of distances, and pairs of use and reuse. */
#ifndef AS_REUSE_REUSE_ESTIMATE_H
#define AS_REUSE_REUSE_ESTIMATE_H

#include "base/vec.h"
#include "reuse/code_sites.h"
#include "reuse/reuse_watch.h"

struct as_estimated_pair {
    uint64_t use, reuse;           /* instructions … */
    uint32_t use_path, reuse_path; /* … and the call paths that they are on; 0: unknown */
    double weight;                 /* reuses that the sampled ones stand for */
    uint64_t samples;
    double distance; /* their mean, in accesses */
};

struct as_reuse_estimate {
    struct as_watch_result result;
    struct as_survival survival;
    struct as_distances times, distances; /* scaled to all accesses */
    struct as_distances counted;          /* of `times`: those of which every access was counted */
    struct as_distances hits;             /* `distances`, and in a shared cache those of the pairs of one core */
    uint64_t accesses;
    AS_VEC(struct as_estimated_pair) pairs; /* by weight, the greatest first */
};

/* `sites`: what the instructions of outcomes stand for; NULL: for themselves. */
struct as_reuse_estimate *as_reuse_estimate_new(const struct as_reuse_watch *watch, uint64_t accesses,
                                                const struct as_code_sites *sites);
/* Whether x is behind y in the order of the pairs: for qsort. */
int as_estimated_by_weight(const void *x, const void *y);
void as_reuse_estimate_free(struct as_reuse_estimate *estimate);

/* Share of the accesses that an LRU cache of so many granules misses. */
double as_reuse_estimate_ratio(const struct as_reuse_estimate *estimate, uint64_t granules);
/* Up to how many granules that is known; 0: nothing is known of any. */
uint64_t as_reuse_estimate_sizes(const struct as_reuse_estimate *estimate);
/* as_distances_accuracy by octaves; NAN without an estimate: no reuse was watched to its end, so nothing could be right or
 * wrong. */
double as_reuse_accuracy(const struct as_distances *estimate, const struct as_distances *truth);

#endif
