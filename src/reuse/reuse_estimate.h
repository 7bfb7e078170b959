/* What watched uses say about a run: the distribution of distances, and pairs of use and reuse. */
#ifndef AS_REUSE_REUSE_ESTIMATE_H
#define AS_REUSE_REUSE_ESTIMATE_H

#include "base/vec.h"
#include "reuse/reuse_watch.h"

struct as_estimated_pair {
    uint64_t use, reuse; /* instructions */
    double weight;       /* reuses that the sampled ones stand for */
    uint64_t samples;
    double distance; /* their mean, in accesses */
};

struct as_reuse_estimate {
    struct as_watch_result result;
    struct as_survival survival;
    struct as_distances times, distances; /* scaled to all accesses */
    uint64_t accesses;
    AS_VEC(struct as_estimated_pair) pairs; /* by weight, the greatest first */
};

struct as_reuse_estimate *as_reuse_estimate_new(const struct as_reuse_watch *watch, uint64_t accesses);
void as_reuse_estimate_free(struct as_reuse_estimate *estimate);

#endif
