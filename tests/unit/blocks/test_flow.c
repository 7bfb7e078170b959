/* Counts on graphs: what falls is what the branches leave over. */
#include "graph.h"

#include "unit.h"

static void end(struct as_flow *flow)
{
    struct as_cfg *cfg = flow->cfg;
    as_flow_free(flow);
    as_cfg_free(cfg);
}

/* 0: test, to 2 or 1; 1: jump to 3; 2: work; 3: return. */
static void test_falls(void **state)
{
    struct as_cfg *cfg = graph_make("3b2 2j3 4i r");
    const double counts[] = {100, 30, 70, 100};
    assert_int_equal(as_cfg_get(cfg, 0)->blocks.len, 4);
    struct as_flow *flow = graph_flow(cfg, counts, "0>2:70 1>3:30");
    assert_true(graph_edge(flow, 0, 1) == 30);
    assert_true(graph_edge(flow, 0, 2) == 70);
    assert_true(graph_edge(flow, 1, 3) == 30);
    assert_true(graph_edge(flow, 1, 2) == -1); /* a jump never falls */
    assert_true(graph_edge(flow, 2, 3) == 70);
    assert_true(as_flow_total(flow) == 3 * 100 + 2 * 30 + 4 * 70 + 100);
    assert_true(as_flow_entries(flow, 0, 0) == 100);
    end(flow);
}

/* What a call does not bring back: the function called ended the program once. The loop is entered by its call. */
static void test_calls(void **state)
{
    struct as_cfg *cfg = graph_make("2b3 2c i r");
    const double counts[] = {10, 6, 5, 9};
    struct as_flow *flow = graph_flow(cfg, counts, "0>3:4 1>0:6");
    assert_true(graph_edge(flow, 1, 2) == 5);
    assert_true(graph_edge(flow, 2, 3) == 5);
    assert_true(as_flow_entries(flow, 0, 0) == 10); /* calls are entries */
    end(flow);
}

/* Edges of the same ends are one; a branch into the middle of a block reaches none. */
static void test_edges(void **state)
{
    struct as_cfg *cfg = graph_make("2x 3i r");
    const double counts[] = {10, 9, 9};
    struct as_flow *flow = as_flow_new(cfg);
    memcpy(flow->counts[0], counts, sizeof counts);
    struct as_flow_branch branch = {.from = graph_start(cfg, 0) + 4,
                                    .to = graph_start(cfg, 1),
                                    .kind = AS_EDGE_INDIRECT,
                                    .count = 4,
                                    .mispredicted = 1};
    as_flow_add(flow, &branch);
    branch.count = 5;
    as_flow_add(flow, &branch);
    branch.to += 4;
    branch.count = 1;
    as_flow_add(flow, &branch);
    branch.from = 0x10;
    as_flow_add(flow, &branch); /* from nowhere: left out */
    as_flow_finish(flow);
    size_t n;
    const struct as_flow_edge *edges = as_flow_out(flow, 0, 0, &n);
    assert_int_equal(n, 2);
    assert_true(edges[0].count == 9 && edges[0].mispredicted == 2 && edges[0].to == 1);
    assert_true(edges[1].count == 1 && edges[1].to == AS_CFG_NONE);
    end(flow);
}

/* Space between code that nobody saw run leads nowhere, and nothing falls into it; where it ran, it is code like any other. */
/* A function that control never enters at its begin is entered where others jump into its midst. */
static void test_midway(void **state)
{
    const double counts[] = {0, 25, 25, 5, 7, 5}; /* a loop, which is no entry */
    struct as_flow *flow = graph_flow(graph_make("i i b1 r | i j1"), counts, "2>1:20 5>1:5");
    assert_true(as_flow_entries(flow, 0, 0) == 5);
    assert_true(as_flow_entries(flow, 0, 1) == 7);
    end(flow);
}

/* What a person calls a function, and what compilers make of its name. */
static void test_called(void **state)
{
    static const char *const parts[] = {"f",        "f.cold", "f.part.0", "f.isra.0", "f.constprop.0", "f.lto_priv.1",
                                        "f.llvm.2", "f(int)"};
    static const char *const others[] = {"ff", "g", "f.x", "f.par", "g.cold", "f2.cold", ""};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_true(as_cfg_is_called(parts[i], "f"));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(as_cfg_is_called(others[i], "f"));
}

static void test_padding(void **state)
{
    static const double counts[2][4] = {{10, 0, 10, 10}, {10, 4, 14, 14}};
    for (int ran = 0; ran < 2; ran++) {
        struct as_cfg *cfg = graph_make("2j2 3i i r");
        as_cfg_get(cfg, 0)->blocks.data[1].flags |= AS_CFG_PADDING;
        struct as_flow *flow = graph_flow(cfg, counts[ran], "0>2:10");
        assert_true(graph_edge(flow, 1, 2) == (ran ? 4 : -1));
        assert_true(graph_edge(flow, 2, 3) == counts[ran][2]);
        end(flow);
    }
    struct as_cfg *cfg = graph_make("2i 3i r");
    as_cfg_get(cfg, 0)->blocks.data[1].flags |= AS_CFG_PADDING;
    struct as_flow *flow = graph_flow(cfg, counts[1], "");
    assert_true(graph_edge(flow, 0, 1) == -1);
    end(flow);
}

static void test_find(void **state)
{
    struct as_cfg *cfg = graph_make("2i 3r");
    uint64_t start = graph_start(cfg, 0);
    assert_int_equal(as_cfg_get(cfg, 0)->blocks.len, 2);
    assert_int_equal(as_cfg_find(cfg, 0, start + 7), 0);
    assert_int_equal(as_cfg_find(cfg, 0, start + 8), 1);
    assert_int_equal(as_cfg_find(cfg, 0, start + 20), AS_CFG_NONE);
    assert_int_equal(as_cfg_find(cfg, 0, start - 1), AS_CFG_NONE);
    assert_int_equal(as_cfg_find_start(cfg, 0, start + 8), 1);
    assert_int_equal(as_cfg_find_start(cfg, 0, start + 4), AS_CFG_NONE);
    assert_true(as_cfg_is_insn(cfg, 0, start + 12));
    assert_false(as_cfg_is_insn(cfg, 0, start + 13));
    assert_false(as_cfg_is_insn(cfg, 0, start + 20));
    assert_int_equal(as_cfg_find_function(cfg, 0, start), 0);
    assert_int_equal(as_cfg_find_function(cfg, 0, start + 19), 0);
    assert_int_equal(as_cfg_find_function(cfg, 0, start + 20), AS_CFG_NONE);
    assert_int_equal(as_cfg_find_function(cfg, 0, start - 1), AS_CFG_NONE);
    as_cfg_free(cfg);
}

/* Which block begins where another ends: others may begin within it, where code was executed in two ways. */
static void test_find_behind(void **state)
{
    struct as_cfg *cfg = graph_make("2i 3j0 i i | r");
    struct as_cfg_module *module = as_cfg_get(cfg, 0);
    assert_int_equal(module->blocks.len, 5);
    assert_int_equal(as_cfg_find_behind(module, 0), 1);
    assert_int_equal(as_cfg_find_behind(module, 3), AS_CFG_NONE); /* another function is further on */
    assert_int_equal(as_cfg_find_behind(module, 4), AS_CFG_NONE);
    module->blocks.data[0].end = module->blocks.data[2].start;
    assert_int_equal(as_cfg_find_behind(module, 0), 2);
    module->blocks.data[0].end++;
    assert_int_equal(as_cfg_find_behind(module, 0), AS_CFG_NONE);
    as_cfg_free(cfg);
    char blocks[2 * 33 + 1] = "";
    for (uint32_t last = 0; last < 33; last++) { /* lists of some lengths have no room behind the last */
        strcat(blocks, "i ");
        cfg = graph_make(blocks);
        assert_int_equal(as_cfg_find_behind(as_cfg_get(cfg, 0), last), AS_CFG_NONE);
        as_cfg_free(cfg);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_falls),   cmocka_unit_test(test_calls),  cmocka_unit_test(test_edges),
        cmocka_unit_test(test_padding), cmocka_unit_test(test_find),   cmocka_unit_test(test_find_behind),
        cmocka_unit_test(test_midway),  cmocka_unit_test(test_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
