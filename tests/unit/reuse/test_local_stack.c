/* Distances in accesses to distances in granules: one part as Shen et al. have it, phases each by their own, intervals over two of them. */
#include "shen.h"
#include "unit.h"

#include "reuse/local_stack.h"

#include <math.h>

static void add(struct as_watch_outcome *outcomes, size_t first, size_t n, uint64_t distance, enum as_use_end end)
{
    for (size_t i = first; i < first + n; i++)
        outcomes[i] = (struct as_watch_outcome){.time = 10 * i, .use = {.distance = distance, .weight = 1, .end = end}};
}

/* Too few uses to be cut: the same as from the histogram of all. */
static void one_part(void **state)
{
    static struct as_watch_outcome outcomes[90];
    static struct as_distances times, distances;
    add(outcomes, 0, 30, 0, AS_USE_REUSED);
    add(outcomes, 30, 30, 40, AS_USE_REUSED);
    add(outcomes, 60, 20, 20, AS_USE_OWN);
    add(outcomes, 80, 10, 5000, AS_USE_NEVER);
    for (size_t i = 0; i < 80; i++)
        as_distances_add(&times, outcomes[i].use.distance, 1);
    as_distances_from_times(&times, &times, 90, &distances);
    struct as_local_stack *stack = as_local_stack_new(outcomes, 90, 90000);
    uint64_t far = (uint64_t)llround(as_local_stack_granules(stack, 30));
    assert_int_equal(as_local_stack_granules(stack, 0), 0);
    assert_int_equal(distances.bins[far], 30); /* 20 * 2/3 + 20 * 4/9 = 22 */
    assert_int_equal(far, 22);
    as_local_stack_free(stack);
}

/* A loop over 100 granules, then one over 10,000, a thousand accesses for each sample. Seen as one run, the second would have half
 * as many granules. One use of the first loop is reused behind the second: it has the granules of both. */
static void phases(void **state)
{
    enum { N = 480 };
    static struct as_watch_outcome outcomes[2 * N + 1];
    add(outcomes, 0, N, 100, AS_USE_REUSED);
    add(outcomes, N, N, 10000, AS_USE_REUSED);
    outcomes[2 * N] = (struct as_watch_outcome){.time = 10 * (N - 20) + 1,
                                                .use = {.distance = 500000, .weight = 1e-9, .end = AS_USE_REUSED}};
    struct as_local_stack *stack = as_local_stack_new(outcomes, 2 * N + 1, 2 * N * 1000);
    assert_true(fabs(as_local_stack_granules(stack, N / 2) - 100) < 1);
    assert_true(fabs(as_local_stack_granules(stack, N + N / 2) - 10000) < 100);
    double both = as_local_stack_granules(stack, 2 * N);
    assert_true(both > 9900 && both < 10300);
    as_local_stack_free(stack);
}

/* What another thread invalidates is not a granule of its own at each touch: half of the uses go that way, and the others come again. */
static void invalidated(void **state)
{
    static struct as_watch_outcome outcomes[80];
    add(outcomes, 0, 40, 64, AS_USE_INVALIDATED);
    add(outcomes, 40, 40, 1000, AS_USE_REUSED);
    outcomes[79].use.distance = 4000;
    struct as_local_stack *stack = as_local_stack_new(outcomes, 80, 80000);
    assert_true(as_local_stack_granules(stack, 79) < 1000 + 3000 / 40 + 50);
    assert_true(as_local_stack_granules(stack, 40) > 980);
    as_local_stack_free(stack);
}

static void nothing(void **state)
{
    struct as_local_stack *stack = as_local_stack_new(NULL, 0, 0);
    as_local_stack_free(stack);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_part), cmocka_unit_test(phases),
                                       cmocka_unit_test(invalidated), cmocka_unit_test(nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
