/* k-means with bounds against the plain algorithm, which computes every distance in every round. */
#include "points/kmeans.h"

#include "base/alloc.h"
#include "base/random.h"
#include "unit.h"

#include <math.h>
#include <stdbool.h>

static struct as_cloud make_cloud(size_t n, uint32_t dims, uint32_t clumps, double spread, uint64_t seed)
{
    uint32_t stride = (dims + 3) / 4 * 4;
    double *at = as_alloc_array(n, stride * sizeof *at), *weights = as_alloc_array(n, sizeof *weights);
    for (size_t i = 0; i < n; i++) {
        uint64_t clump = 1000 + i % clumps;
        for (uint32_t d = 0; d < dims; d++)
            at[i * stride + d] =
                (double)(as_random_hash(clump * 64 + d) >> 40) * 0x1p-24 + spread * (as_random_fraction(&seed) - 0.5);
        weights[i] = 0.5 + as_random_fraction(&seed);
    }
    return (struct as_cloud){.at = at, .weights = weights, .n = n, .dims = dims, .stride = stride};
}

static void free_cloud(struct as_cloud *cloud)
{
    free((void *)cloud->at);
    free((void *)cloud->weights);
}

static uint32_t nearest(const struct as_cloud *cloud, size_t i, const double *centres, uint32_t k)
{
    uint32_t best = 0;
    double least = INFINITY;
    for (uint32_t j = 0; j < k; j++) {
        double far = as_cloud_distance2(cloud->at + i * cloud->stride, centres + j * cloud->stride, cloud->stride);
        if (far < least) {
            least = far;
            best = j;
        }
    }
    return best;
}

static void plain_means(const struct as_cloud *cloud, const uint32_t *group, uint32_t k, double *centres)
{
    for (uint32_t j = 0; j < k; j++) {
        double weight = 0, sum[64] = {0};
        for (size_t i = 0; i < cloud->n; i++)
            if (group[i] == j) {
                weight += cloud->weights[i];
                for (uint32_t d = 0; d < cloud->stride; d++)
                    sum[d] += cloud->weights[i] * cloud->at[i * cloud->stride + d];
            }
        for (uint32_t d = 0; d < cloud->stride && weight > 0; d++)
            centres[j * cloud->stride + d] = sum[d] / weight;
    }
}

/* Lloyd's algorithm as it is in books. */
static uint64_t plain_kmeans(const struct as_cloud *cloud, uint32_t k, double *centres, uint32_t *group)
{
    uint64_t measured = cloud->n * k;
    bool changed = true;
    for (size_t i = 0; i < cloud->n; i++)
        group[i] = nearest(cloud, i, centres, k);
    while (changed) {
        changed = false;
        plain_means(cloud, group, k, centres);
        for (size_t i = 0; i < cloud->n; i++) {
            uint32_t now = nearest(cloud, i, centres, k);
            changed |= now != group[i];
            group[i] = now;
        }
        measured += cloud->n * k;
    }
    return measured;
}

static void compare(size_t n, uint32_t dims, uint32_t clumps, double spread, uint32_t k, uint64_t seed)
{
    struct as_cloud cloud = make_cloud(n, dims, clumps, spread, seed);
    double *centres = as_alloc_array(k, cloud.stride * sizeof *centres);
    uint32_t *group = as_alloc_array(n, sizeof *group);
    struct as_groups_found found;
    as_kmeans_seed(&cloud, k, seed, centres);
    as_kmeans_run(&cloud, k, centres, &found);
    uint64_t measured = plain_kmeans(&cloud, k, centres, group);
    assert_memory_equal(found.group, group, n * sizeof *group);
    for (size_t i = 0; i < (size_t)k * cloud.stride; i++)
        assert_true(fabs(found.centres[i] - centres[i]) < 1e-9);
    double inertia = 0, weight = 0;
    for (size_t i = 0; i < n; i++)
        inertia += cloud.weights[i] *
                   as_cloud_distance2(cloud.at + i * cloud.stride, centres + group[i] * cloud.stride, cloud.stride);
    for (uint32_t j = 0; j < k; j++)
        weight += found.weight[j];
    assert_true(fabs(inertia - found.inertia) <= 1e-9 * (1 + inertia));
    for (size_t i = 0; i < n; i++)
        weight -= cloud.weights[i];
    assert_true(fabs(weight) < 1e-9 * (double)n);
    if (n >= 500)
        assert_true(found.measured < measured);
    as_groups_found_free(&found);
    free(group);
    free(centres);
    free_cloud(&cloud);
}

static void test_same_as_plain(void **state)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        compare(500, 15, 8, 0.3, 8, seed);
        compare(300, 2, 5, 1.5, 7, seed);
        compare(40, 1, 3, 0.5, 5, seed);
        compare(1000, 50, 20, 0.2, 30, seed);
    }
}

static void test_as_many_groups_as_points(void **state)
{
    compare(9, 3, 9, 0, 9, 1);
    compare(1, 3, 1, 0, 1, 1);
}

static void test_equal_points(void **state)
{
    compare(30, 4, 1, 0, 5, 3);
}

static void test_known_groups(void **state)
{
    struct as_cloud cloud = make_cloud(600, 10, 6, 0.01, 5);
    double centres[6 * 12];
    struct as_groups_found found;
    as_kmeans_seed(&cloud, 6, 1, centres);
    as_kmeans_run(&cloud, 6, centres, &found);
    for (size_t i = 6; i < cloud.n; i++)
        assert_int_equal(found.group[i], found.group[i % 6]);
    for (uint32_t a = 0; a < 6; a++)
        for (uint32_t b = 0; b < a; b++)
            assert_int_not_equal(found.group[a], found.group[b]);
    as_groups_found_free(&found);
    free_cloud(&cloud);
}

/* Four points on a line: the first centre is drawn by weight, the second by weight and squared distance to the first. Shares of
 * 5,000 draws spread by 0.007 at most: five times that. */
static void test_seeds_by_weight(void **state)
{
    enum { POINTS = 4, DRAWS = 5000, STRIDE = 4 };
    static const double line[POINTS] = {0, 1, 3, 6}, weights[POINTS] = {1, 2, 3, 4};
    double at[POINTS * STRIDE] = {0}, first[POINTS] = {0}, both[POINTS][POINTS] = {{0}}, centres[2 * STRIDE];
    for (size_t i = 0; i < POINTS; i++)
        at[i * STRIDE] = line[i];
    const struct as_cloud cloud = {.at = at, .weights = weights, .n = POINTS, .dims = 1, .stride = STRIDE};
    uint64_t seeds = 1;
    for (int draw = 0; draw < DRAWS; draw++) {
        size_t chosen[2] = {0, 0};
        as_kmeans_seed(&cloud, 2, as_random(&seeds), centres);
        for (size_t c = 0; c < 2; c++)
            while (centres[c * STRIDE] != line[chosen[c]])
                chosen[c]++;
        first[chosen[0]] += 1.0 / DRAWS;
        both[chosen[0]][chosen[1]] += 1.0 / DRAWS;
    }
    for (size_t i = 0; i < POINTS; i++) {
        double sum = 0;
        assert_float_equal(first[i], weights[i] / 10, 0.035);
        for (size_t k = 0; k < POINTS; k++)
            sum += weights[k] * (line[k] - line[i]) * (line[k] - line[i]);
        for (size_t k = 0; k < POINTS; k++) {
            double far = weights[k] * (line[k] - line[i]) * (line[k] - line[i]);
            assert_float_equal(both[i][k], weights[i] / 10 * far / sum, 0.035);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_plain),   cmocka_unit_test(test_as_many_groups_as_points),
        cmocka_unit_test(test_equal_points),    cmocka_unit_test(test_known_groups),
        cmocka_unit_test(test_seeds_by_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
