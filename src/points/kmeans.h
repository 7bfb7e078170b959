/* k-means: groups points so that the sum of squared distances to the groups' centres is small.
 *
 * Pure functions over values, deterministic for a seed. Bounds on distances (Hamerly, "Making k-means even faster",
 * SDM 2010) spare most of the distances that the plain algorithm computes; the result is the plain algorithm's.
 */
#ifndef AS_POINTS_KMEANS_H
#define AS_POINTS_KMEANS_H

#include <stddef.h>
#include <stdint.h>

/* n points of `dims` coordinates; rows are `stride` doubles apart, those behind the last coordinate 0. */
enum { AS_STRIDE_STEP = 4 };
struct as_cloud {
    const double *at;
    const double *weights; /* by point */
    size_t n;
    uint32_t dims, stride;
};

struct as_groups_found {
    uint32_t k;
    uint32_t *group;   /* by point */
    double *centres;   /* k rows of `stride` */
    double *weight;    /* by group: the sum of its points'; 0: it is empty */
    double inertia;    /* sum of weight times squared distance, over all points */
    uint32_t rounds;   /* until nothing changed */
    uint64_t measured; /* distances between a point and a centre that were computed */
};
void as_groups_found_free(struct as_groups_found *found);

double as_cloud_distance2(const double *a, const double *b, uint32_t stride);

/* Centres to begin with, k rows: points that are chosen at random, each with a chance that grows with the squared
 * distance to those that were chosen before (k-means++). */
void as_kmeans_seed(const struct as_cloud *cloud, uint32_t k, uint64_t seed, double *centres);
/* Runs from `centres`, to convergence. k is at most the number of points. */
void as_kmeans_run(const struct as_cloud *cloud, uint32_t k, const double *centres, struct as_groups_found *found);

#endif
