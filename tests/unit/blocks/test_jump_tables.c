/* Where indirect jumps lead, of counts that do not say so. */
#include "blocks/balance.h"
#include "blocks/derive.h"
#include "graph.h"

#include "unit.h"

#include <math.h>

static void end(struct as_flow *flow)
{
    struct as_cfg *cfg = flow->cfg;
    as_flow_free(flow);
    as_cfg_free(cfg);
}

static void expect_edge(const struct as_flow *flow, uint32_t from, uint32_t to, double count)
{
    if (graph_edge(flow, from, to) != count)
        fail_msg("%u > %u: %g instead of %g", from, to, graph_edge(flow, from, to), count);
}

/* What a profile of exact counts goes through (src/view/block_counts.c). */
static struct as_flow *derived(const char *graph, const double *counts, const char *branches)
{
    struct as_flow *flow = graph_flow(graph_make(graph), counts, branches);
    as_flow_guess_jumps(flow);
    as_flow_derive(flow);
    return flow;
}

/* 0 goes to the last case or to the jump, which leads to the other three; a case that never ran is not led to. */
static void test_table(void **state)
{
    const double counts[] = {400, 350, 100, 0, 250, 50};
    struct as_flow *flow = derived("2b5 2x 2r 2r 2r r", counts, "0>5:0");
    expect_edge(flow, 0, 1, 350);
    expect_edge(flow, 0, 5, 50);
    expect_edge(flow, 1, 2, 100);
    expect_edge(flow, 1, 3, -1);
    expect_edge(flow, 1, 4, 250);
    expect_edge(flow, 1, 5, -1);
    size_t n;
    const struct as_flow_edge *edges = as_flow_out(flow, 0, 1, &n);
    assert_int_equal(n, 2);
    assert_true(edges[0].estimated && edges[1].estimated && edges[0].kind == AS_EDGE_INDIRECT);
    end(flow);
}

/* A case that falls into the next one, which the jump leads to as well; and a loop in a case. */
static void test_fallen_into(void **state)
{
    struct as_flow *flow = derived("2x 2i 2r 2i 3b4 r", (double[]){300, 100, 220, 80, 800, 80}, "4>4:0");
    expect_edge(flow, 0, 1, 100);
    expect_edge(flow, 1, 2, 100);
    expect_edge(flow, 0, 2, 120);
    expect_edge(flow, 0, 3, 80);
    expect_edge(flow, 4, 4, 720);
    expect_edge(flow, 0, 4, -1);
    end(flow);
}

/* Of samples: balanced, a jump is left as often as it ran. */
static void test_samples(void **state)
{
    const double counts[] = {110, 90, 60, 0, 30, 12};
    double samples[] = {220, 180, 120, 0, 60, 24}, *by_module[] = {samples};
    struct as_flow *flow = graph_flow(graph_make("2b5 2x 2r 2r 2r 2r"), counts, "0>5:0");
    flow->samples = by_module;
    as_flow_guess_jumps(flow);
    as_flow_balance(flow, false);
    flow->samples = NULL;
    double led = graph_edge(flow, 1, 2) + graph_edge(flow, 1, 3) + graph_edge(flow, 1, 4);
    assert_true(led > 70 && led <= 1.000001 * flow->counts[0][1]);
    assert_true(fabs(graph_edge(flow, 1, 2) - flow->counts[0][2]) < 0.01);
    assert_true(graph_edge(flow, 1, 2) > 1.8 * graph_edge(flow, 1, 4));
    assert_true(graph_edge(flow, 1, 5) == -1);
    end(flow);
}

/* Without a jump there is nothing to guess: a block that nothing leads to stays so. */
static void test_none(void **state)
{
    struct as_flow *flow = derived("2r 2r", (double[]){10, 10}, "");
    assert_int_equal(flow->edges.len, 0);
    end(flow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_fallen_into),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
