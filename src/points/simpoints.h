/* Simulation points: which intervals stand for a run, and for how much of it each.
 *
 * The vectors are made to sum to 1 and projected to a few random dimensions, grouped by k-means for several k, and
 * scored by the Bayesian information criterion (BIC). The fewest groups whose score is good enough win; each is
 * represented by the interval that is nearest to its centre, and weighs as much as its instructions.
 * doc/design/points.md has the formulas and where they come from.
 */
#ifndef AS_POINTS_SIMPOINTS_H
#define AS_POINTS_SIMPOINTS_H

#include "points/kmeans.h"
#include "points/vectors.h"

/* When a score is good enough: at least `threshold` of the way from the worst to the best (SimPoint 3.2's code), or at
 * least `threshold` of the best (as papers describe it). */
enum as_bic_rule { AS_BIC_RANGE, AS_BIC_BEST };

enum { AS_POINTS_DIMS_MOST = 50, AS_POINTS_K_MOST = 1000 };
struct as_choose_options {
    uint32_t dims;  /* 1 to AS_POINTS_DIMS_MOST */
    uint32_t max_k; /* from 1 */
    uint32_t tries; /* runs of k-means for each k, from different centres; the best score counts */
    uint64_t seed;
    double threshold; /* 0 to 1 */
    enum as_bic_rule rule;
    uint32_t threads; /* that may be used; 0: as many as there are processors */
};
#define AS_CHOOSE_DEFAULT                                                                                              \
    {                                                                                                                  \
        .dims = 15, .max_k = 30, .tries = 5, .seed = 1, .threshold = 0.9                                               \
    }

/* A k that was tried, with its best run. */
struct as_tried {
    uint32_t k;
    double bic, inertia;
};

struct as_chosen_point {
    uint32_t interval; /* from 0 */
    uint32_t group;
    double weight; /* of all points together 1 */
};

struct as_choice {
    uint32_t k; /* groups that are not empty */
    double bic;
    AS_VEC(struct as_tried) tried;         /* in the order of the search */
    AS_VEC(struct as_chosen_point) points; /* by interval */
    AS_VEC(uint32_t) groups;               /* by interval: index into points */
    AS_VEC(double) distances;              /* by interval: to its group's centre, after projection */
};

/* The projected points; `*weights`, too, is the caller's to free. */
double *as_vectors_project(const struct as_vectors *vectors, uint32_t dims, uint64_t seed, struct as_cloud *cloud);
double as_bic(const struct as_cloud *cloud, const struct as_groups_found *found);

/* Chooses points of at least one interval. */
void as_choose(const struct as_vectors *vectors, const struct as_choose_options *options, struct as_choice *choice);
void as_choice_free(struct as_choice *choice);

/* The same for several choices of one run's vectors: what k-means found for a number of groups is kept, since it depends on
 * neither `max_k` nor the threshold. as_chooser_new takes dims, tries, seed and threads of the options, as_chooser_choose the
 * others. The vectors need not outlive as_chooser_new. */
struct as_chooser;
struct as_chooser *as_chooser_new(const struct as_vectors *vectors, const struct as_choose_options *options);
void as_chooser_choose(struct as_chooser *chooser, const struct as_choose_options *options, struct as_choice *choice);
void as_chooser_free(struct as_chooser *chooser);

/* SimPoint's files: "INTERVAL NUMBER" and "WEIGHT NUMBER", a line for each point. False: writing failed (errno). */
bool as_choice_write_points(const struct as_choice *choice, FILE *out) AS_MUST_CHECK;
bool as_choice_write_weights(const struct as_choice *choice, FILE *out) AS_MUST_CHECK;
/* Reads both. Only `k` and `points` are set; weights must sum to about 1. */
bool as_choice_read(struct as_choice *choice, FILE *points, const char *points_name, FILE *weights,
                    const char *weights_name, struct as_error *err) AS_MUST_CHECK;

#endif
