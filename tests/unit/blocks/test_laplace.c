/* Potentials of networks: what flows out of each node is what comes in. */
#include "blocks/laplace.h"

#include "base/random.h"
#include "unit.h"

#include <math.h>

enum { NODES = 60, ARCS = 200 };

/* The greatest loss at a node, as a part of what comes in at the others. */
static double loss(uint32_t nodes, const struct as_laplace_arc *arcs, size_t n, const double *in, const double *x)
{
    double worst = 0, all = 0;
    for (uint32_t node = 0; node < nodes; node++) {
        double out = 0;
        for (size_t i = 0; i < n; i++)
            out += arcs[i].from == node ? arcs[i].weight * (x[node] - x[arcs[i].to])
                   : arcs[i].to == node ? arcs[i].weight * (x[node] - x[arcs[i].from])
                                        : 0;
        worst = fmax(worst, fabs(in[node] - out));
        all = fmax(all, fabs(in[node]));
    }
    return all > 0 ? worst / all : worst;
}

/* 1 and 3 between three nodes in a row: one unit from the last to the first. */
static void test_row(void **state)
{
    const struct as_laplace_arc arcs[] = {{0, 1, 1}, {2, 1, 2}, {1, 2, 1}};
    double x[] = {-1, 0, 1};
    struct as_laplace *system = as_laplace_new(3, arcs, 3);
    as_laplace_solve(system, x);
    assert_true(x[0] == 0 && fabs(x[1] - 1) < 1e-15 && fabs(x[2] - 4.0 / 3) < 1e-15);
    as_laplace_free(system);
}

/* Two parts, one of them without node 0, and a node alone. */
static void test_parts(void **state)
{
    const struct as_laplace_arc arcs[] = {{0, 1, 2}, {2, 3, 4}, {3, 3, 9}};
    const double in[] = {-2, 2, 4, -4, 0};
    double x[] = {-2, 2, 4, -4, 0};
    struct as_laplace *system = as_laplace_new(5, arcs, 3);
    as_laplace_solve(system, x);
    assert_true(x[0] == 0 && x[1] == 1 && x[2] - x[3] == 1 && x[4] == 0);
    assert_true(loss(5, arcs, 2, in, x) == 0);
    as_laplace_free(system);
    as_laplace_free(NULL);
}

/* Networks at random, with weights that are up to a million times apart. */
static void test_random(void **state)
{
    uint64_t seed = 7;
    for (int round = 0; round < 50; round++) {
        struct as_laplace_arc arcs[ARCS];
        double in[NODES] = {0}, x[NODES];
        for (size_t i = 0; i < ARCS; i++) {
            arcs[i] =
                (struct as_laplace_arc){(uint32_t)(as_random(&seed) % NODES), (uint32_t)(as_random(&seed) % NODES),
                                        pow(10, (double)(as_random(&seed) % 7))};
            double flows = (double)(as_random(&seed) % 100);
            in[arcs[i].from] += flows;
            in[arcs[i].to] -= flows;
        }
        memcpy(x, in, sizeof x);
        struct as_laplace *system = as_laplace_new(NODES, arcs, ARCS);
        as_laplace_solve(system, x);
        assert_true(loss(NODES, arcs, ARCS, in, x) < 1e-9);
        as_laplace_free(system);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_row), cmocka_unit_test(test_parts),
                                       cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
