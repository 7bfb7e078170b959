/* See reuse_estimate.h. */
#include "reuse/reuse_estimate.h"

#include "base/map.h"
#include "base/random.h"
#include "reuse/local_stack.h"

#include <math.h>

int as_estimated_by_weight(const void *a, const void *b)
{
    const struct as_estimated_pair *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return x->use != y->use ? (x->use > y->use) - (x->use < y->use) : (x->reuse > y->reuse) - (x->reuse < y->reuse);
}

/* Instructions and paths have numbers of 32 bits. */
static void count_pair(struct as_reuse_estimate *estimate, struct as_map *places,
                       const struct as_watch_outcome *outcome)
{
    uint64_t paths = (uint64_t)outcome->use_path << 32 | outcome->end_path;
    uint64_t *place =
        as_map_put(places, as_random_hash(outcome->use_insn << 32 | outcome->end_insn) ^ as_random_hash(~paths));
    if (!*place) {
        *as_vec_push(&estimate->pairs) = (struct as_estimated_pair){.use = outcome->use_insn,
                                                                    .reuse = outcome->end_insn,
                                                                    .use_path = outcome->use_path,
                                                                    .reuse_path = outcome->end_path};
        *place = estimate->pairs.len;
    }
    struct as_estimated_pair *pair = &estimate->pairs.data[*place - 1];
    double weight = outcome->use.weight / (outcome->use.kept > 0 ? outcome->use.kept : 1);
    pair->distance += weight * (double)outcome->use.distance;
    pair->weight += weight;
    pair->samples++;
}

static void name_pairs(struct as_reuse_estimate *estimate, const struct as_code_sites *sites)
{
    for (size_t i = 0; i < estimate->pairs.len; i++) {
        struct as_estimated_pair *pair = &estimate->pairs.data[i];
        if (pair->use >= sites->list.len || pair->reuse >= sites->list.len)
            continue;
        struct as_code_site use = sites->list.data[pair->use], reuse = sites->list.data[pair->reuse];
        pair->use = use.insn;
        pair->use_path = use.path;
        pair->reuse = reuse.insn;
        pair->reuse_path = reuse.path;
    }
}

/* Threads that the uses are of: time passes for all of them at once. */
static uint64_t threads_of(const struct as_watch_outcome *outcomes, size_t n)
{
    struct as_map seen = {0};
    for (size_t i = 0; i < n; i++)
        *as_map_put(&seen, outcomes[i].use_thread) = 1;
    uint64_t threads = seen.len ? seen.len : 1;
    as_map_free(&seen);
    return threads;
}

static void add_shares(struct as_distances *distances, const struct as_local_stack *stack, const double *shares,
                       size_t n, double accesses)
{
    for (size_t i = 0; i < n; i++)
        if (shares[i] > 0)
            as_distances_add(distances, (uint64_t)llround(as_local_stack_granules(stack, i)),
                             (uint64_t)llround(shares[i] * accesses));
}

/* Granules in between are those of all threads, so pairs of one core count among them. `uses` is scratch. */
static void convert(struct as_reuse_estimate *estimate, const struct as_watch_outcome *outcomes,
                    struct as_watched_use *uses, size_t n, bool shared)
{
    double *shares = as_alloc_array(n + 1, sizeof *shares), accesses = (double)estimate->accesses;
    struct as_local_stack *stack =
        as_local_stack_new(outcomes, n, estimate->accesses / (shared ? 1 : threads_of(outcomes, n)));
    for (size_t i = 0; i < n; i++)
        uses[i] = outcomes[i].use;
    as_survival_shares(uses, n, shares);
    add_shares(&estimate->distances, stack, shares, n, accesses);
    for (size_t i = 0; i < n; i++)
        if (uses[i].end == AS_USE_OWN)
            uses[i].end = AS_USE_REUSED;
    as_survival_shares(uses, n, shares);
    add_shares(&estimate->hits, stack, shares, n, accesses);
    as_local_stack_free(stack);
    free(shares);
}

struct as_reuse_estimate *as_reuse_estimate_new(const struct as_reuse_watch *watch, uint64_t accesses,
                                                const struct as_code_sites *sites)
{
    struct as_reuse_estimate *estimate = as_alloc(sizeof *estimate);
    struct as_map places = {0};
    size_t n;
    const struct as_watch_outcome *outcomes = as_reuse_watch_outcomes(watch, &n);
    struct as_watched_use *uses = as_alloc_array(n + 1, sizeof *uses);
    for (size_t i = 0; i < n; i++) {
        uses[i] = outcomes[i].use;
        if (outcomes[i].use.end == AS_USE_REUSED)
            count_pair(estimate, &places, &outcomes[i]);
    }
    estimate->result = as_reuse_watch_result(watch);
    estimate->accesses = accesses;
    estimate->survival = as_survival_estimate(uses, n, accesses, &estimate->times);
    for (size_t i = 0; i < n; i++) /* the same, without the others */
        if (uses[i].end == AS_USE_REUSED && uses[i].how != AS_LENS_COUNTED)
            uses[i].end = AS_USE_INVALIDATED;
    as_survival_estimate(uses, n, accesses, &estimate->counted);
    convert(estimate, outcomes, uses, n, as_reuse_watch_is_shared(watch));
    for (size_t i = 0; i < estimate->pairs.len; i++)
        estimate->pairs.data[i].distance /= estimate->pairs.data[i].weight;
    if (estimate->pairs.len)
        qsort(estimate->pairs.data, estimate->pairs.len, sizeof *estimate->pairs.data, as_estimated_by_weight);
    if (sites)
        name_pairs(estimate, sites);
    as_map_free(&places);
    free(uses);
    return estimate;
}

void as_reuse_estimate_free(struct as_reuse_estimate *estimate)
{
    if (estimate)
        as_vec_free(&estimate->pairs);
    free(estimate);
}

double as_reuse_estimate_ratio(const struct as_reuse_estimate *estimate, uint64_t granules)
{
    double always = 1 - estimate->survival.reused - estimate->survival.own;
    if (!estimate->accesses)
        return 0;
    double ratio = always + as_distances_beyond(&estimate->hits, granules) / (double)estimate->accesses;
    return fmin(fmax(ratio, 0), 1); /* weights are rounded */
}

uint64_t as_reuse_estimate_sizes(const struct as_reuse_estimate *estimate)
{
    return estimate->survival.effective > 0 ? UINT64_C(1) << 32 : 0;
}

double as_reuse_accuracy(const struct as_distances *estimate, const struct as_distances *truth)
{
    uint64_t left[AS_DISTANCE_OCTAVES], right[AS_DISTANCE_OCTAVES];
    as_distances_octaves(estimate, left);
    as_distances_octaves(truth, right);
    return estimate->total == 0 ? NAN : as_distances_accuracy(left, right, AS_DISTANCE_OCTAVES);
}
