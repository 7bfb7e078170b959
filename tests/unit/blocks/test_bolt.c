/* Straight runs from counts of blocks and edges: together they give the counts again. */
#include "blocks/bolt.h"
#include "graph.h"

#include "unit.h"

static uint64_t covers(const as_bolt_runs *runs, uint64_t address)
{
    uint64_t n = 0;
    for (size_t i = 0; i < runs->len; i++)
        n += runs->data[i].start <= address && address <= runs->data[i].end ? runs->data[i].count : 0;
    return n;
}

static void expect(const char *graph, const double *counts, const char *branches)
{
    struct as_cfg *cfg = graph_make(graph);
    struct as_flow *flow = graph_flow(cfg, counts, branches);
    as_bolt_runs runs = as_bolt_runs_of(flow, 0);
    const struct as_cfg_module *m = as_cfg_get(cfg, 0);
    for (uint32_t i = 0; i < m->blocks.len; i++) {
        assert_int_equal(covers(&runs, m->blocks.data[i].start), (uint64_t)counts[i]);
        uint64_t ends = 0;
        for (size_t r = 0; r < runs.len; r++)
            ends += runs.data[r].end == m->blocks.data[i].last ? runs.data[r].count : 0;
        double fall =
            i + 1 < m->blocks.len && m->blocks.data[i].last_class != AS_CLASS_CALL ? graph_edge(flow, i, i + 1) : 0;
        assert_int_equal(ends, (uint64_t)(counts[i] - (fall > 0 ? fall : 0)));
    }
    as_vec_free(&runs);
    as_flow_free(flow);
    as_cfg_free(cfg);
}

static void test_runs(void **state)
{
    const double diamond[] = {100, 30, 70, 100}, loop[] = {10, 40, 400, 40, 10}, call[] = {10, 6, 5, 9};
    expect("3b2 2j3 4i r", diamond, "0>2:70 1>3:30");
    expect("2i 3i 5b2 2b1 r", loop, "2>2:360 3>1:30");
    expect("2b3 2c i r", call, "0>3:4 1>0:6");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
