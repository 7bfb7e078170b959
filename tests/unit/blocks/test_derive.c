/* Edges that follow from exact counts of blocks, and those that do not. */
#include "blocks/derive.h"
#include "graph.h"

#include "unit.h"

static void end(struct as_flow *flow)
{
    struct as_cfg *cfg = flow->cfg;
    as_flow_free(flow);
    as_cfg_free(cfg);
}

static const struct as_flow_edge *edge_of(const struct as_flow *flow, uint32_t from, uint32_t to)
{
    size_t n;
    const struct as_flow_edge *edges = as_flow_out(flow, 0, from, &n);
    for (size_t i = 0; i < n; i++)
        if (edges[i].to == to && edges[i].kind != AS_EDGE_CALL)
            return &edges[i];
    fail_msg("no edge %u > %u", from, to);
    return NULL;
}

static void expect_edge(const struct as_flow *flow, uint32_t from, uint32_t to, double count)
{
    const struct as_flow_edge *edge = edge_of(flow, from, to);
    if (edge->count != count || edge->estimated)
        fail_msg("%u > %u: %g%s instead of %g", from, to, edge->count, edge->estimated ? ", estimated," : "", count);
}

/* Guesses are wrong on purpose: what follows from the counts does not depend on them. */
static void test_known(void **state)
{
    const double diamond[] = {100, 40, 60, 100};
    struct as_flow *flow = graph_flow(graph_make("3b2 2j3 4i r"), diamond, "0>2:7 1>3:0");
    as_flow_derive(flow);
    expect_edge(flow, 0, 1, 40);
    expect_edge(flow, 0, 2, 60);
    expect_edge(flow, 1, 3, 40);
    expect_edge(flow, 2, 3, 60);
    assert_false(as_flow_has_estimates(flow));
    end(flow);
    const double nested[] = {10, 40, 400, 40, 10};
    flow = graph_flow(graph_make("2i 3i 5b2 2b1 r"), nested, "2>2:0 3>1:0");
    as_flow_derive(flow);
    expect_edge(flow, 2, 2, 360);
    expect_edge(flow, 3, 1, 30);
    expect_edge(flow, 3, 4, 10);
    assert_false(as_flow_entries_estimated(flow, 0, 0));
    end(flow);
}

/* Two blocks that lead to each other, both entered from one before: one number is free, and edges are marked. What leaves a
 * block still adds up to what it ran. */
static void test_ambiguous(void **state)
{
    const double counts[] = {10, 30, 30, 10};
    struct as_flow *flow = graph_flow(graph_make("2b2 2b3 2b1 r"), counts, "0>2:5 1>3:5 2>1:25");
    as_flow_derive(flow);
    assert_true(as_flow_has_estimates(flow));
    assert_true(edge_of(flow, 0, 1)->estimated && edge_of(flow, 2, 1)->estimated);
    for (uint32_t i = 0; i < 3; i++) {
        size_t n;
        const struct as_flow_edge *edges = as_flow_out(flow, 0, i, &n);
        double out = 0;
        for (size_t e = 0; e < n; e++)
            out += edges[e].count;
        assert_true(out == counts[i]);
    }
    end(flow);
}

/* Behind an indirect jump control is anywhere: what its targets fall into is not known. */
static void test_indirect(void **state)
{
    const double counts[] = {50, 20, 50, 50};
    struct as_flow *flow = graph_flow(graph_make("2x 3i 2i r"), counts, "0>1:10 0>2:10");
    as_flow_derive(flow);
    assert_true(as_flow_has_estimates(flow));
    for (size_t i = 0; i < flow->edges.len; i++)
        assert_true(flow->edges.data[i].count >= 0 && flow->edges.data[i].count <= 50);
    end(flow);
}

/* The block in the middle ran less often than the one that can only fall into it: control was lost there (a fault, longjmp).
 * No edge may be more than what its ends ran. */
static void test_lost(void **state)
{
    const double counts[] = {10, 7, 10, 10};
    struct as_flow *flow = graph_flow(graph_make("2i 2i 2i r"), counts, "");
    as_flow_derive(flow);
    for (size_t i = 0; i < flow->edges.len; i++) {
        const struct as_flow_edge *edge = &flow->edges.data[i];
        assert_true(edge->count <= counts[edge->from] && edge->count <= counts[edge->to]);
    }
    assert_true(as_flow_has_estimates(flow));
    end(flow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_ambiguous),
        cmocka_unit_test(test_indirect),
        cmocka_unit_test(test_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
