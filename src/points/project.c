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

static double *make_directions(const struct as_cloud *cloud, uint32_t blocks, uint64_t seed)
{
    double *directions = as_alloc_array((size_t)blocks + 1, cloud->stride * sizeof *directions);
    for (uint32_t block = 1; block <= blocks; block++)
        for (uint32_t d = 0; d < cloud->dims; d++)
            directions[(size_t)block * cloud->stride + d] = direction(seed, block, d);
    return directions;
}

static void project(const struct as_vectors *vectors, const struct as_vector *vector, const double *directions,
                    uint32_t stride, double *restrict at)
{
    for (size_t i = vector->first; i < vector->end; i++) {
        double share = (double)vectors->entries.data[i].count / (double)vector->instructions;
        const double *restrict along = directions + (size_t)vectors->entries.data[i].block * stride;
        for (uint32_t d = 0; d < stride; d += AS_STRIDE_STEP)
            for (uint32_t lane = 0; lane < AS_STRIDE_STEP; lane++)
                at[d + lane] += share * along[d + lane];
    }
}

double *as_vectors_project(const struct as_vectors *vectors, uint32_t dims, uint64_t seed, struct as_cloud *cloud)
{
    uint32_t stride = (dims + AS_STRIDE_STEP - 1) / AS_STRIDE_STEP * AS_STRIDE_STEP;
    size_t n = vectors->list.len;
    double *at = as_alloc_array(n, (stride + 1) * sizeof *at), *weights = at + n * stride;
    double sum = (double)as_vectors_instructions(vectors);
    *cloud = (struct as_cloud){.at = at, .weights = weights, .n = n, .dims = dims, .stride = stride};
    double *directions = make_directions(cloud, vectors->blocks, seed);
    for (size_t i = 0; i < n; i++) {
        project(vectors, &vectors->list.data[i], directions, stride, at + i * stride);
        weights[i] = (double)vectors->list.data[i].instructions / sum;
    }
    free(directions);
    return at;
}
