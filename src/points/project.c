/* Random projection: vectors of thousands of blocks become points in a few dimensions whose distances are, up to a
 * factor, nearly the same. Each block has a random direction that depends on its number and the seed alone. */
#include "points/simpoints.h"

#include "base/random.h"

/* Uniform from -1 to 1, the same for the same block, dimension and seed. */
static double direction(uint64_t seed, uint32_t block, uint32_t dimension)
{
    uint64_t bits = as_random_hash(as_random_hash(seed) ^ ((uint64_t)block << 8 | dimension));
    return (double)(bits >> 11) * 0x1p-52 - 1;
}

static void make_direction(const struct as_cloud *cloud, uint32_t block, uint64_t seed, double *along)
{
    for (uint32_t d = 0; d < cloud->dims; d++)
        along[d] = direction(seed, block, d);
}

/* All directions, or room for one where few of the blocks' numbers are used: a file of thirty bytes can name block 200,000,000. */
static double *make_directions(const struct as_cloud *cloud, const struct as_vectors *vectors, uint64_t seed, bool *all)
{
    *all = vectors->blocks <= vectors->entries.len;
    double *directions = as_alloc_array(*all ? (size_t)vectors->blocks + 1 : 1, cloud->stride * sizeof *directions);
    for (uint32_t block = 1; *all && block <= vectors->blocks; block++)
        make_direction(cloud, block, seed, directions + (size_t)block * cloud->stride);
    return directions;
}

static void project(double share, const double *restrict along, uint32_t stride, double *restrict at)
{
    for (const double *end = along + stride; along < end; along += AS_STRIDE_STEP, at += AS_STRIDE_STEP)
        for (size_t lane = 0; lane < AS_STRIDE_STEP; lane++)
            at[lane] += share * along[lane];
}

double *as_vectors_project(const struct as_vectors *vectors, uint32_t dims, uint64_t seed, struct as_cloud *cloud)
{
    uint32_t stride = (dims + AS_STRIDE_STEP - 1) / AS_STRIDE_STEP * AS_STRIDE_STEP;
    size_t n = vectors->list.len;
    double *at = as_alloc_array(n, (stride + 1) * sizeof *at), *weights = at + n * stride;
    double sum = (double)as_vectors_instructions(vectors);
    *cloud = (struct as_cloud){.at = at, .weights = weights, .n = n, .dims = dims, .stride = stride};
    bool all;
    double *directions = make_directions(cloud, vectors, seed, &all);
    for (size_t i = 0; i < n; i++) {
        const struct as_vector *vector = &vectors->list.data[i];
        for (size_t entry = vector->first; entry < vector->end; entry++) {
            uint32_t block = vectors->entries.data[entry].block;
            double share = (double)vectors->entries.data[entry].count / (double)vector->instructions;
            if (!all)
                make_direction(cloud, block, seed, directions);
            project(share, directions + (all ? (size_t)block * stride : 0), stride, at + i * stride);
        }
        weights[i] = (double)vector->instructions / sum;
    }
    free(directions);
    return at;
}
