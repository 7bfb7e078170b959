/* Lists of what ran and what did not, of graphs in no file; and which way of sampling to believe. */
#include "blocks/block_rows.h"

#include "blocks/trial.h"
#include "graph.h"

#include "unit.h"

/* f0: blocks 0 to 3, of which 1 and 2 never ran; f1: blocks 4 and 5, of which the second never ran; f2: block 6. */
static const char code[] = "3i 2b0 i r | 4i r | 2i";
static const double counts[] = {2, 0, 0, 5, 1000, 0, 3};

static struct as_flow *make(void)
{
    struct as_flow *flow = graph_flow(graph_make(code), counts, "");
    assert_int_equal(as_cfg_get(flow->cfg, 0)->blocks.len, sizeof counts / sizeof *counts);
    return flow;
}

static void drop(struct as_flow *flow)
{
    struct as_cfg *cfg = flow->cfg;
    as_flow_free(flow);
    as_cfg_free(cfg);
}

static const char *name_of(const struct as_flow *flow, uint32_t function)
{
    return as_cfg_get(flow->cfg, 0)->functions.data[function].name;
}

static void check_rows(as_block_rows rows, const uint32_t *expected, size_t n)
{
    assert_int_equal(rows.len, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(rows.data[i].index, expected[i]);
    as_vec_free(&rows);
}

static void what_ran(void **state)
{
    struct as_flow *flow = make();
    struct as_block_scope all = {.flow = flow};
    check_rows(as_block_rows_blocks(all), (const uint32_t[]){4, 0, 6, 3}, 4);
    check_rows(as_block_rows_functions(all), (const uint32_t[]){1, 0, 2}, 3);
    as_block_rows rows = as_block_rows_functions(all);
    assert_true(rows.data[0].instructions == 4000 && rows.data[1].instructions == 3 * 2 + 5);
    as_vec_free(&rows);
    assert_ptr_equal(as_block_function(flow, 0, 5), &as_cfg_get(flow->cfg, 0)->functions.data[1]);
    assert_ptr_equal(as_block_function(flow, 0, 6), &as_cfg_get(flow->cfg, 0)->functions.data[2]);
    drop(flow);
}

/* All blocks of it, by address. */
static void one_function(void **state)
{
    struct as_flow *flow = make();
    struct as_block_scope first = {.flow = flow, .function = name_of(flow, 0)},
                          none = {.flow = flow, .function = "absent"};
    check_rows(as_block_rows_blocks(first), (const uint32_t[]){0, 1, 2, 3}, 4);
    check_rows(as_block_rows_functions(first), (const uint32_t[]){0}, 1);
    assert_true(as_block_scope_is_there(first));
    check_rows(as_block_rows_blocks(none), NULL, 0);
    assert_false(as_block_scope_is_there(none));
    assert_null(as_block_scope_module(none));
    assert_true(as_block_scope_has_function(first, 0, 0) && !as_block_scope_has_function(first, 0, 1));
    drop(flow);
}

static void one_module(void **state)
{
    struct as_flow *flow = make();
    const struct as_cfg_module *module = as_cfg_get(flow->cfg, 0);
    struct as_block_scope own = {.flow = flow, .module = module->path}, other = {.flow = flow, .module = "other"};
    assert_true(as_block_scope_has_module(own, 0) && as_block_scope_has_function(own, 0, 1));
    own.module = module->name;
    assert_true(as_block_scope_has_module(own, 0));
    assert_true(!as_block_scope_has_module(other, 0) && !as_block_scope_has_function(other, 0, 1));
    check_rows(as_block_rows_blocks(other), NULL, 0);
    as_block_gaps gaps = as_block_gaps_of(other);
    assert_int_equal(gaps.len, 0);
    as_vec_free(&gaps);
    drop(flow);
}

/* With counts of samples, a function that has none is not there, though it has blocks. */
static void samples(void **state)
{
    static const double none_of_the_first[] = {0, 0, 0, 0, 1000, 0, 3};
    struct as_flow *flow = graph_flow(graph_make(code), none_of_the_first, "");
    struct as_block_scope first = {.flow = flow, .function = name_of(flow, 0)};
    assert_true(as_block_scope_is_there(first));
    flow->samples = as_alloc(sizeof *flow->samples);
    assert_false(as_block_scope_is_there(first));
    free(flow->samples);
    flow->samples = NULL;
    drop(flow);
}

static void what_never_ran(void **state)
{
    struct as_flow *flow = make();
    as_block_gaps gaps = as_block_gaps_of((struct as_block_scope){.flow = flow});
    assert_int_equal(gaps.len, 2);
    assert_true(gaps.data[0].first == 1 && gaps.data[0].n == 2 && !gaps.data[0].function);
    assert_true(gaps.data[1].first == 5 && gaps.data[1].n == 1);
    as_vec_free(&gaps);
    struct as_block_cover cover = as_block_cover_of(flow, 0);
    assert_true(cover.blocks == 7 && cover.blocks_run == 4);
    assert_true(cover.functions == 3 && cover.functions_run == 3 && !cover.symbols);
    assert_int_equal(cover.bytes, 4 * (3 + 2 + 1 + 1 + 4 + 1 + 2));
    assert_int_equal(cover.bytes_run, 4 * (3 + 1 + 4 + 2));
    drop(flow);
}

/* ---- ways of sampling ---- */

static void the_best_way(void **state)
{
    static const struct as_way ways[] = {{.name = "classic"}, {.name = "precise"}, {.name = "lbr"}};
    struct as_trial trial = {.results = {{.way = &ways[0], .plain = {.block = 0.9}, .balanced = {.block = 0.7}},
                                         {.way = &ways[1], .plain = {.block = 0.3}, .balanced = {.block = 0.8}},
                                         {.way = &ways[2], .plain = {.block = 0.5}, .balanced = {.block = 0.25}}}};
    assert_null(as_trial_best(&trial));
    assert_null(as_trial_find(&trial, "classic"));
    trial.n = 2;
    assert_ptr_equal(as_trial_best(&trial), &trial.results[1]);
    trial.n = 3;
    assert_ptr_equal(as_trial_best(&trial), &trial.results[2]);
    assert_ptr_equal(as_trial_find(&trial, "precise"), &trial.results[1]);
    assert_null(as_trial_find(&trial, "pdir"));
    assert_true(as_trial_misplaced(&trial.results[1]) == 0.15 && as_trial_misplaced(&trial.results[2]) == 0.125);
    trial.results[0] = (struct as_trial_result){.plain = {.block = 3}, .balanced = {.block = 2.5}};
    assert_true(as_trial_misplaced(&trial.results[0]) == 1);
    as_trial_close(&(struct as_trial){0}); /* that was never opened */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ran), cmocka_unit_test(one_function),   cmocka_unit_test(one_module),
        cmocka_unit_test(samples),  cmocka_unit_test(what_never_ran), cmocka_unit_test(the_best_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
