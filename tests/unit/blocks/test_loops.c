/* Loops with their trip counts, and traces, on graphs whose answers are known. */
#include "blocks/loops.h"
#include "graph.h"

#include "unit.h"

#include <stdlib.h>

static void end(struct as_flow *flow)
{
    struct as_cfg *cfg = flow->cfg;
    as_flow_free(flow);
    as_cfg_free(cfg);
}

static const struct as_loop *loop_at(const as_loops *loops, uint32_t header)
{
    for (size_t i = 0; i < loops->len; i++)
        if (loops->data[i].header == header)
            return &loops->data[i];
    return NULL;
}

/* 0: before; 1: outer header; 2: inner loop of one block; 3: outer end, back to 1; 4: return. */
static void test_nested(void **state)
{
    struct as_cfg *cfg = graph_make("2i 3i 5b2 2b1 r");
    const double counts[] = {10, 40, 400, 40, 10};
    struct as_flow *flow = graph_flow(cfg, counts, "2>2:360 3>1:30");
    as_loops loops = as_loops_find(flow);
    assert_int_equal(loops.len, 2);
    const struct as_loop *outer = loop_at(&loops, 1), *inner = loop_at(&loops, 2);
    assert_non_null(outer);
    assert_non_null(inner);
    assert_true(outer->entries == 10 && outer->iterations == 40 && outer->n_blocks == 3);
    assert_true(inner->entries == 40 && inner->iterations == 400 && inner->n_blocks == 1);
    assert_true(outer->instructions == 3 * 40 + 5 * 400 + 2 * 40);
    assert_ptr_equal(outer, &loops.data[0]); /* most instructions first */
    as_vec_free(&loops);
    uint32_t *innermost = as_loops_innermost(flow, 0);
    const uint32_t expected[] = {AS_CFG_NONE, 1, 2, 1, AS_CFG_NONE};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(innermost[i], expected[i]);
    free(innermost);
    end(flow);
}

/* 1 calls setjmp, behind which control comes back by longjmp from the call of 3: by a return, which is no edge. */
static void test_longjmp(void **state)
{
    struct as_cfg *cfg = graph_make("i c 2i c r");
    const double counts[] = {1, 1, 100, 100, 1};
    struct as_flow *flow = graph_flow(cfg, counts, "");
    as_loops loops = as_loops_find(flow);
    assert_int_equal(loops.len, 1);
    assert_true(loops.data[0].header == 2 && loops.data[0].n_blocks == 2);
    assert_true(loops.data[0].iterations == 100 && loops.data[0].entries == 1 && !loops.data[0].estimated);
    as_vec_free(&loops);
    end(flow);
    /* Measuring began in the first call and ended in the second. */
    cfg = graph_make("i c 2i c r");
    const double part[] = {0, 0, 1, 1, 0};
    flow = graph_flow(cfg, part, "");
    loops = as_loops_find(flow);
    assert_int_equal(loops.len, 0);
    as_vec_free(&loops);
    end(flow);
}

/* Two ways back to one header are one loop. A cycle that is entered at two places is known by its block that ran most often. */
static void test_shapes(void **state)
{
    struct as_cfg *cfg = graph_make("i 2b3 b1 b1 r");
    const double two_ways[] = {1, 10, 6, 5, 1};
    struct as_flow *flow = graph_flow(cfg, two_ways, "1>3:4 2>1:5 3>1:4");
    as_loops loops = as_loops_find(flow);
    assert_int_equal(loops.len, 1);
    assert_true(loops.data[0].header == 1 && loops.data[0].n_blocks == 3 && loops.data[0].entries == 1);
    as_vec_free(&loops);
    end(flow);
    cfg = graph_make("b2 2i b1 r");
    const double irreducible[] = {4, 11, 13, 4};
    flow = graph_flow(cfg, irreducible, "0>2:2 2>1:9");
    loops = as_loops_find(flow);
    assert_int_equal(loops.len, 1);
    assert_true(loops.data[0].header == 2 && loops.data[0].n_blocks == 2);
    assert_true(loops.data[0].iterations == 13 && loops.data[0].entries == 4 &&
                loops.data[0].instructions == 2 * 11 + 13);
    as_vec_free(&loops);
    uint32_t *innermost = as_loops_innermost(flow, 0);
    assert_true(innermost[0] == AS_CFG_NONE && innermost[1] == 2 && innermost[2] == 2);
    free(innermost);
    end(flow);
}

/* Of two that ran equally often, the first. */
static void test_equal_cycle(void **state)
{
    struct as_cfg *cfg = graph_make("b2 2b3 b1 r");
    const double counts[] = {4, 12, 12, 4};
    struct as_flow *flow = graph_flow(cfg, counts, "0>2:2 1>3:2 2>1:10");
    as_loops loops = as_loops_find(flow);
    assert_int_equal(loops.len, 1);
    assert_true(loops.data[0].header == 1 && loops.data[0].n_blocks == 2 && loops.data[0].entries == 4);
    as_vec_free(&loops);
    end(flow);
}

/* 1 to 4 are a loop; in it 2 and 3 are a cycle that 1 enters at both; 3 ends in 4, which leads back to 1. Another cycle, of 5 and 6, is
 * apart from it. */
static void test_cycles_in_loops(void **state)
{
    struct as_cfg *cfg = graph_make("b6 b3 i b2 b1 i b5 r");
    const double counts[] = {6, 20, 55, 60, 20, 11, 14, 6};
    struct as_flow *flow = graph_flow(cfg, counts, "0>6:3 1>3:5 3>2:40 4>1:17 6>5:8");
    as_loops loops = as_loops_find(flow);
    const struct as_loop *outer = loop_at(&loops, 1), *inner = loop_at(&loops, 3), *apart = loop_at(&loops, 6);
    assert_int_equal(loops.len, 3);
    assert_true(outer && outer->n_blocks == 4 && outer->entries == 3);
    assert_true(inner && inner->n_blocks == 2 && inner->iterations == 60 && inner->entries == 20);
    assert_true(apart && apart->n_blocks == 2 && apart->iterations == 14 && apart->entries == 6);
    as_vec_free(&loops);
    uint32_t *innermost = as_loops_innermost(flow, 0);
    assert_true(innermost[1] == 1 && innermost[2] == 3 && innermost[3] == 3 && innermost[4] == 1 && innermost[5] == 6);
    free(innermost);
    end(flow);
}

/* Of samples, none of which fell on what runs once: the function begins at its begin, though most of what no edge explains is in the inner
 * loop. */
static void test_no_samples_before(void **state)
{
    struct as_cfg *cfg = graph_make("2i 3i 5b2 2b1 r");
    const double counts[] = {0, 38, 410, 38, 0};
    struct as_flow *flow = graph_flow(cfg, counts, "2>2:361 3>1:38");
    flow->samples = as_alloc_array(1, sizeof *flow->samples);
    flow->samples[0] = as_alloc_array(5, sizeof **flow->samples);
    as_loops loops = as_loops_find(flow);
    const struct as_loop *outer = loop_at(&loops, 1), *inner = loop_at(&loops, 2);
    assert_int_equal(loops.len, 2);
    assert_true(outer && outer->n_blocks == 3 && outer->iterations == 38);
    assert_true(inner && inner->n_blocks == 1 && inner->entries == 49);
    as_vec_free(&loops);
    end(flow);
}

/* Code that was entered in the middle, as by a signal handler's return. */
static void test_no_entry(void **state)
{
    struct as_cfg *cfg = graph_make("2i j0 3b2 r");
    const double counts[] = {0, 0, 8, 1};
    struct as_flow *flow = graph_flow(cfg, counts, "2>2:7");
    as_loops loops = as_loops_find(flow);
    assert_int_equal(loops.len, 1);
    assert_true(loops.data[0].header == 2 && loops.data[0].entries == 1);
    as_vec_free(&loops);
    end(flow);
}

/* Entered where most comes from elsewhere, though code before that is reached from there. */
static void test_entered_below(void **state)
{
    struct as_cfg *cfg = graph_make("2i i b1 r");
    const double counts[] = {0, 20, 23, 3};
    struct as_flow *flow = graph_flow(cfg, counts, "2>1:20");
    as_loops loops = as_loops_find(flow);
    assert_int_equal(loops.len, 1);
    assert_true(loops.data[0].header == 2 && loops.data[0].n_blocks == 2);
    assert_true(loops.data[0].iterations == 23 && loops.data[0].entries == 3);
    as_vec_free(&loops);
    end(flow);
}

/* What is called comes back twice, as what forks does: that is no way into the loop of 2 and 3. If the function's begin did not run,
 * measuring began in the call, and control came in behind it. */
static void test_comes_back_twice(void **state)
{
    for (int called = 0; called < 2; called++) {
        struct as_cfg *cfg = graph_make("r | i c b2 r");
        const double counts[] = {10, called, 10, 20, 2};
        struct as_flow *flow = graph_flow(cfg, counts, called ? "2>0:10 3>2:9" : "2>0:10 3>2:10");
        as_loops loops = as_loops_find(flow);
        assert_int_equal(loops.len, 1);
        assert_int_equal(loops.data[0].header, called ? 2 : 3);
        assert_int_equal(loops.data[0].n_blocks, 2);
        as_vec_free(&loops);
        end(flow);
    }
}

/* Block 1 calls, and every tenth call throws: control goes on at the landing pad 5, which leads to the end of the loop. */
static void test_landing_pad(void **state)
{
    struct as_cfg *cfg = graph_make("2i 3c 2i 2b1 r 2j3");
    const double counts[] = {1, 100, 90, 100, 1, 10};
    struct as_flow *flow = graph_flow(cfg, counts, "1>0:1 3>1:99 5>3:10");
    struct as_cfg_module *module = as_cfg_get(cfg, 0);
    as_loops loops = as_loops_find(flow);
    assert_int_equal(loops.len, 1); /* nothing says how control comes to the pad, so it enters there */
    assert_true(loops.data[0].n_blocks == 3 && loops.data[0].entries == 11);
    as_vec_free(&loops);
    *as_vec_push(&module->pads) =
        (struct as_landing_pad){graph_start(cfg, 1), graph_start(cfg, 2), graph_start(cfg, 5)};
    loops = as_loops_find(flow);
    assert_int_equal(loops.len, 1);
    assert_true(loops.data[0].header == 1 && loops.data[0].iterations == 100 && loops.data[0].entries == 1);
    assert_int_equal(loops.data[0].n_blocks, 4);
    as_vec_free(&loops);
    end(flow);
}

/* In a static program the unwinder's jump to the pad is seen: it brings control from the call all the same, and the loop is that of
 * one function. */
static void test_unwinder(void **state)
{
    struct as_cfg *cfg = graph_make("x | 2i 3c 2i 2b2 r 2j4");
    const double counts[] = {10, 1, 100, 90, 100, 1, 10};
    struct as_flow *flow = graph_flow(cfg, counts, "0>6:10 4>2:99 6>4:10");
    struct as_cfg_module *module = as_cfg_get(cfg, 0);
    *as_vec_push(&module->pads) =
        (struct as_landing_pad){graph_start(cfg, 2), graph_start(cfg, 3), graph_start(cfg, 6)};
    as_loops loops = as_loops_find(flow);
    assert_int_equal(loops.len, 1);
    assert_true(loops.data[0].header == 2 && loops.data[0].iterations == 100 && loops.data[0].entries == 1);
    assert_int_equal(loops.data[0].n_blocks, 4);
    as_vec_free(&loops);
    end(flow);
}

/* 0 falls to 1 mostly; 1 branches to 3 mostly; 2 is the rare way; 3 goes round. */
static void test_trace(void **state)
{
    struct as_cfg *cfg = graph_make("2b2 2b3 7i 2b0 r");
    const double counts[] = {100, 90, 15, 100, 1};
    struct as_flow *flow = graph_flow(cfg, counts, "0>2:10 1>3:85 3>0:99");
    struct as_traces traces;
    as_traces_find(flow, &traces);
    const struct as_trace *hot = &traces.list.data[0];
    assert_int_equal(hot->n, 3);
    assert_true(hot->loops);
    assert_true(hot->count == 85);
    assert_true(hot->instructions == 2 * 100 + 2 * 90 + 2 * 100);
    const uint32_t expected[] = {0, 1, 3};
    uint32_t at = 0;
    while (traces.blocks.data[hot->first + at] != 0)
        at++;
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(traces.blocks.data[hot->first + (at + i) % 3], expected[i]);
    size_t blocks = 0;
    for (size_t i = 0; i < traces.list.len; i++)
        blocks += traces.list.data[i].n;
    assert_int_equal(blocks, 5); /* each block is in one */
    as_traces_free(&traces);
    end(flow);
}

/* A block that goes round by itself is a path, one that does not is none. */
static void test_trace_of_one(void **state)
{
    struct as_cfg *cfg = graph_make("2i 4b1 r");
    const double counts[] = {3, 60, 3};
    struct as_flow *flow = graph_flow(cfg, counts, "1>1:57");
    struct as_traces traces;
    as_traces_find(flow, &traces);
    const struct as_trace *hot = &traces.list.data[0];
    assert_true(hot->n == 1 && hot->loops && as_trace_is_path(hot));
    assert_true(hot->count == 57);
    for (size_t i = 1; i < traces.list.len; i++)
        assert_false(as_trace_is_path(&traces.list.data[i]));
    as_traces_free(&traces);
    end(flow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nested),           cmocka_unit_test(test_longjmp),
        cmocka_unit_test(test_shapes),           cmocka_unit_test(test_equal_cycle),
        cmocka_unit_test(test_cycles_in_loops),  cmocka_unit_test(test_no_samples_before),
        cmocka_unit_test(test_no_entry),         cmocka_unit_test(test_entered_below),
        cmocka_unit_test(test_comes_back_twice), cmocka_unit_test(test_landing_pad),
        cmocka_unit_test(test_unwinder),         cmocka_unit_test(test_trace),
        cmocka_unit_test(test_trace_of_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
