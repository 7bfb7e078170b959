/* Potentials in a network of conductors: what flows out of a node is the sum over its arcs of weight times difference of potentials.
 *
 * Nodes are taken out one by one, those with fewest neighbours first; what a node conducted between its neighbours is added to
 * the arcs between these (a star becomes a mesh). Nothing is subtracted, so no digit is lost, however far the weights are apart. Control-flow
 * graphs have few neighbours at any time, so this takes little more than looking at each arc; many jumps that each lead to many of the
 * same targets take the square of their number in memory.
 */
#ifndef AS_BLOCKS_LAPLACE_H
#define AS_BLOCKS_LAPLACE_H

#include <stddef.h>
#include <stdint.h>

struct as_laplace_arc {
    uint32_t from, to;
    double weight; /* positive */
};

struct as_laplace;
/* Nodes are 0 … nodes - 1. The caller frees. */
struct as_laplace *as_laplace_new(uint32_t nodes, const struct as_laplace_arc *arcs, size_t n);
void as_laplace_free(struct as_laplace *system);

/* `values`: by node what comes in from outside, which is 0 in all in each part of the network; gets the potentials. That of node 0 is 0,
 * and that of one node in each part which is not connected with it. */
void as_laplace_solve(const struct as_laplace *system, double *values);

#endif
