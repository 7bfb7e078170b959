/* Ways of control through small graphs, with the world outside: "w>0" enters block 0, "2>w" leaves behind block 2. */
#include "unit.h"

#include "blocks/arcs.h"
#include "graph.h"

#include <stdio.h>

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Sorted, so that the order in which they are found does not matter. Of a flow, edges have a number, doors have none. */
static const char *show(const as_arcs *arcs)
{
    static char text[64 * 32];
    char words[64][32] = {0};
    assert_true(arcs->len <= 64);
    for (size_t i = 0; i < arcs->len; i++) {
        const struct as_arc *arc = &arcs->data[i];
        assert_int_equal(arc->edge == AS_ARC_NO_EDGE, arc->from == AS_ARC_WORLD || arc->to == AS_ARC_WORLD);
        if (arc->from == AS_ARC_WORLD)
            snprintf(words[i], sizeof *words, "w>%u", arc->to);
        else if (arc->to == AS_ARC_WORLD)
            snprintf(words[i], sizeof *words, "%u>w", arc->from);
        else
            snprintf(words[i], sizeof *words, "%u>%u", arc->from, arc->to);
    }
    qsort(words, arcs->len, sizeof *words, by_text);
    *text = '\0';
    for (size_t i = 0; i < arcs->len; i++)
        sprintf(text + strlen(text), "%s%s", i ? " " : "", words[i]);
    return text;
}

static void end(struct as_flow *flow, as_arcs *arcs)
{
    struct as_cfg *cfg = flow->cfg;
    as_vec_free(arcs);
    as_flow_free(flow);
    as_cfg_free(cfg);
}

static void check(struct as_flow *flow, const uint8_t *anywhere, const uint8_t *open, const char *want)
{
    as_arcs arcs = as_arcs_find(flow, 0, anywhere, open);
    assert_string_equal(show(&arcs), want);
    as_vec_free(&arcs);
}

/* A branch around a block, a call, and a return: calls may not come back, and the first block is entered by whoever calls. */
static void test_ways(void **state)
{
    const double counts[] = {10, 4, 10, 10};
    const uint8_t yes[] = {1}, back[] = {AS_ARCS_BACK}, open[] = {AS_ARCS_OPEN};
    struct as_flow *flow = graph_flow(graph_make("b2 i c r"), counts, "0>2:6 2>0:10");
    check(flow, NULL, NULL, "0>1 0>2 1>2 2>3 2>w 3>w w>0");
    check(flow, yes, NULL, "0>1 0>2 1>2 2>3 2>w 3>w w>0 w>1 w>2 w>3");
    check(flow, NULL, back, "0>1 0>2 1>2 2>3 2>w 3>w w>0 w>3");
    check(flow, NULL, open, "0>1 0>2 0>w 1>2 1>w 2>3 2>w 3>w w>0 w>1 w>2 w>3");
    end(flow, &(as_arcs){0});
}

/* An indirect jump goes anywhere; what nothing leads to is entered from outside. */
static void test_jumps(void **state)
{
    const double counts[] = {5, 2, 3};
    struct as_flow *flow = graph_flow(graph_make("x r r"), counts, "0>2:3");
    check(flow, NULL, NULL, "0>2 0>w 1>w 2>w w>0 w>1");
    end(flow, &(as_arcs){0});
}

/* Of samples: calls come back, known targets are where jumps go, and a block that nothing leads to is entered only if it was sampled. */
static void test_sampled(void **state)
{
    const double counts[] = {5, 5, 2, 0};
    struct as_flow *flow = graph_flow(graph_make("c x r r"), counts, "0>0:5 1>2:2");
    uint32_t *wholes = as_arcs_wholes(flow, 0);
    assert_int_equal(wholes[0], AS_CFG_NONE);
    as_arcs arcs = as_arcs_find_sampled(flow, 0, wholes, false);
    assert_string_equal(show(&arcs), "0>1 1>2 2>w 3>w w>0");
    as_vec_free(&arcs);
    flow->counts[0][3] = 1;
    arcs = as_arcs_find_sampled(flow, 0, wholes, false);
    assert_string_equal(show(&arcs), "0>1 1>2 2>w 3>w w>0 w>3");
    free(wholes);
    end(flow, &arcs);
}

/* Functions that jump into each other's midst belong together, and so do parts with their wholes, in whatever order they are found. */
static void test_parts(void **state)
{
    const double counts[] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct as_flow *flow = graph_flow(graph_make("i r | i r | i j1 | i r"), counts, "5>1:1");
    as_arcs arcs = as_arcs_find(flow, 0, NULL, NULL);
    assert_int_equal(as_cfg_get(flow->cfg, 0)->functions.len, 4);
    uint32_t *parts = as_arcs_parts(flow, 0, NULL, &arcs);
    assert_memory_equal(parts, ((const uint32_t[]){0, 1, 0, 3}), 4 * sizeof *parts);
    free(parts);
    parts = as_arcs_parts(flow, 0, (const uint32_t[]){AS_CFG_NONE, AS_CFG_NONE, 3, 1}, &arcs);
    assert_memory_equal(parts, ((const uint32_t[]){0, 0, 0, 0}), 4 * sizeof *parts);
    free(parts);
    size_t crossing = 0;
    for (size_t i = 0; i < flow->edges.len; i++)
        crossing += as_arcs_cross(flow, &flow->edges.data[i]);
    assert_int_equal(crossing, 1);
    end(flow, &arcs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ways), cmocka_unit_test(test_jumps),
                                       cmocka_unit_test(test_sampled), cmocka_unit_test(test_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
