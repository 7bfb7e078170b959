/* See kmeans.h. For each point there is an upper bound on the distance to its centre and a lower bound on the distance
 * to every other one. Centres that move loosen both by how far they move; only where the bounds cross, or where the
 * centre's nearest neighbour is near, distances are computed. */
#include "points/kmeans.h"

#include "base/alloc.h"
#include "base/random.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

double as_cloud_distance2(const double *a, const double *b, uint32_t stride)
{
    double parts[AS_STRIDE_STEP] = {0};
    for (const double *end = a + stride; a < end; a += AS_STRIDE_STEP, b += AS_STRIDE_STEP)
        for (size_t lane = 0; lane < AS_STRIDE_STEP; lane++) {
            double apart = a[lane] - b[lane];
            parts[lane] += apart * apart;
        }
    return (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

static const double *point(const struct as_cloud *cloud, size_t i)
{
    return cloud->at + i * cloud->stride;
}

/* ---- where to begin ---- */

/* A point, with a chance in proportion to its share of `sum`. */
static size_t draw(const double *chances, size_t n, double sum, uint64_t *random)
{
    double left = as_random_fraction(random) * sum;
    size_t last = 0;
    for (size_t i = 0; i < n; i++) {
        if (chances[i] <= 0)
            continue;
        last = i;
        left -= chances[i];
        if (left < 0)
            break;
    }
    return last;
}

void as_kmeans_seed(const struct as_cloud *cloud, uint32_t k, uint64_t seed, double *centres)
{
    size_t row = cloud->stride * sizeof *centres;
    double *chances = as_alloc_array(cloud->n, sizeof *chances), sum = 0;
    uint64_t random = seed;
    for (size_t i = 0; i < cloud->n; i++)
        sum += chances[i] = cloud->weights[i];
    for (uint32_t j = 0; j < k; j++) {
        /* Where all points lie on centres already, any will do. */
        size_t chosen = sum > 0 ? draw(chances, cloud->n, sum, &random) : as_random_below(&random, cloud->n);
        double *centre = centres + (size_t)j * cloud->stride;
        memcpy(centre, point(cloud, chosen), row);
        sum = 0;
        for (size_t i = 0; i < cloud->n; i++) {
            double far = cloud->weights[i] * as_cloud_distance2(point(cloud, i), centre, cloud->stride);
            chances[i] = j == 0 || far < chances[i] ? far : chances[i];
            sum += chances[i];
        }
    }
    free(chances);
}

/* ---- rounds ---- */

struct rounds {
    const struct as_cloud *cloud;
    struct as_groups_found *found;
    double *upper, *lower; /* by point */
    double *half;          /* by centre: half the distance to the nearest other one */
    double *moved;         /* by centre: in the last round */
    double *next;          /* centres of the next round */
};

static double *centre(const struct rounds *rounds, uint32_t j)
{
    return rounds->found->centres + (size_t)j * rounds->cloud->stride;
}

static double distance(struct rounds *rounds, size_t i, uint32_t j)
{
    rounds->found->measured++;
    return sqrt(as_cloud_distance2(point(rounds->cloud, i), centre(rounds, j), rounds->cloud->stride));
}

static void measure_halves(struct rounds *rounds)
{
    uint32_t k = rounds->found->k;
    for (uint32_t a = 0; a < k; a++) {
        double nearest = INFINITY;
        for (uint32_t b = 0; b < k; b++) {
            double far =
                a == b ? INFINITY : as_cloud_distance2(centre(rounds, a), centre(rounds, b), rounds->cloud->stride);
            nearest = far < nearest ? far : nearest;
        }
        rounds->half[a] = sqrt(nearest) / 2;
    }
}

/* Looks at all centres. Of two that are equally near the first counts. Returns whether the point's group changes. */
static bool assign(struct rounds *rounds, size_t i)
{
    uint32_t best = 0, before = rounds->found->group[i];
    double nearest = INFINITY, second = INFINITY;
    for (uint32_t j = 0; j < rounds->found->k; j++) {
        double far = as_cloud_distance2(point(rounds->cloud, i), centre(rounds, j), rounds->cloud->stride);
        if (far < nearest) {
            second = nearest;
            nearest = far;
            best = j;
        } else if (far < second) {
            second = far;
        }
    }
    rounds->found->measured += rounds->found->k;
    rounds->upper[i] = sqrt(nearest);
    rounds->lower[i] = sqrt(second);
    rounds->found->group[i] = best;
    return best != before;
}

static bool reconsider(struct rounds *rounds, size_t i)
{
    uint32_t group = rounds->found->group[i];
    double bound = rounds->lower[i] > rounds->half[group] ? rounds->lower[i] : rounds->half[group];
    if (rounds->upper[i] < bound)
        return false;
    rounds->upper[i] = distance(rounds, i, group);
    return rounds->upper[i] >= bound && assign(rounds, i);
}

/* Each centre goes to the mean of its points; an empty group's stays where it is. */
static void move_centres(struct rounds *rounds)
{
    const struct as_cloud *cloud = rounds->cloud;
    struct as_groups_found *found = rounds->found;
    memset(rounds->next, 0, (size_t)found->k * cloud->stride * sizeof *rounds->next);
    memset(found->weight, 0, found->k * sizeof *found->weight);
    for (size_t i = 0; i < cloud->n; i++) {
        double *sum = rounds->next + (size_t)found->group[i] * cloud->stride;
        found->weight[found->group[i]] += cloud->weights[i];
        for (uint32_t d = 0; d < cloud->stride; d++)
            sum[d] += cloud->weights[i] * point(cloud, i)[d];
    }
    for (uint32_t j = 0; j < found->k; j++) {
        double *mean = rounds->next + (size_t)j * cloud->stride;
        for (uint32_t d = 0; d < cloud->stride; d++)
            mean[d] = found->weight[j] > 0 ? mean[d] / found->weight[j] : centre(rounds, j)[d];
        rounds->moved[j] = sqrt(as_cloud_distance2(mean, centre(rounds, j), cloud->stride));
        memcpy(centre(rounds, j), mean, cloud->stride * sizeof *mean);
    }
}

static void loosen(struct rounds *rounds)
{
    double most = 0, second = 0;
    uint32_t farthest = 0;
    for (uint32_t j = 0; j < rounds->found->k; j++) {
        if (rounds->moved[j] > most) {
            second = most;
            most = rounds->moved[j];
            farthest = j;
        } else if (rounds->moved[j] > second) {
            second = rounds->moved[j];
        }
    }
    for (size_t i = 0; i < rounds->cloud->n; i++) {
        uint32_t group = rounds->found->group[i];
        rounds->upper[i] += rounds->moved[group];
        rounds->lower[i] -= group == farthest ? second : most;
    }
}

static void run_rounds(struct rounds *rounds)
{
    enum { MOST = 100000 }; /* it converges long before; this is for rounding errors that could go in a circle */
    bool changed = true;
    for (size_t i = 0; i < rounds->cloud->n; i++)
        assign(rounds, i);
    for (rounds->found->rounds = 1; changed && rounds->found->rounds < MOST; rounds->found->rounds++) {
        changed = false;
        move_centres(rounds);
        loosen(rounds);
        measure_halves(rounds);
        for (size_t i = 0; i < rounds->cloud->n; i++)
            changed |= reconsider(rounds, i);
    }
}

void as_kmeans_run(const struct as_cloud *cloud, uint32_t k, const double *centres, struct as_groups_found *found)
{
    size_t row = cloud->stride * sizeof *centres;
    *found = (struct as_groups_found){.k = k,
                                      .group = as_alloc_array(cloud->n, sizeof *found->group),
                                      .centres = as_alloc_array(k, row),
                                      .weight = as_alloc_array(k, sizeof *found->weight)};
    struct rounds rounds = {.cloud = cloud,
                            .found = found,
                            .upper = as_alloc_array(cloud->n, sizeof(double)),
                            .lower = as_alloc_array(cloud->n, sizeof(double)),
                            .half = as_alloc_array(k, sizeof(double)),
                            .moved = as_alloc_array(k, sizeof(double)),
                            .next = as_alloc_array(k, row)};
    memcpy(found->centres, centres, k * row);
    run_rounds(&rounds);
    for (size_t i = 0; i < cloud->n; i++)
        found->inertia +=
            cloud->weights[i] * as_cloud_distance2(point(cloud, i), centre(&rounds, found->group[i]), cloud->stride);
    free(rounds.upper);
    free(rounds.lower);
    free(rounds.half);
    free(rounds.moved);
    free(rounds.next);
}

void as_groups_found_free(struct as_groups_found *found)
{
    free(found->group);
    free(found->centres);
    free(found->weight);
    *found = (struct as_groups_found){0};
}
