/* What assay blocks prints, as text, JSON and CSV, against golden files: small graphs in no file, with exact counts, and
 * with counts of samples. */
#include "unit.h"

#include "../blocks/graph.h"
#include "base/alloc.h"
#include "blocks/blocks_fit.h"
#include "cmd/blocks_show.h"
#include "unit_golden.h"

/* A loop of two blocks around a call; a block that never ran; another function that is called, one that jumps into the midst of the
 * first, and an indirect jump out of all of it. */
static const char code[] = "3i 2b4 c j1 i r | 4i r | 2i b3 x";
static const double counts[] = {2, 1001, 1000, 999, 2, 2, 1000, 1000, 5, 5, 3};
static const char branches[] = "1>4:1 2>6:1000 3>1:999 9>3:2 10>11:3";

static void show_all(const struct as_blocks_shown *shown, const char *what, FILE *out)
{
    unit_golden_section(out, "%s: text", what);
    as_blocks_show_text(shown, out);
    unit_golden_section(out, "%s: JSON", what);
    assert_true(as_blocks_show_json(shown, out));
    unit_golden_section(out, "%s: CSV", what);
    as_blocks_show_csv(shown, out);
}

static struct as_blocks_shown make_shown(const struct as_flow *flow)
{
    return (struct as_blocks_shown){.flow = flow,
                                    .what = "./prog",
                                    .how = "exact counts",
                                    .method = "exact",
                                    .blocks = 5,
                                    .functions = 2,
                                    .loops = 10,
                                    .traces = 10,
                                    .never = true,
                                    .seconds = 0.002};
}

static void test_exact(void **state)
{
    struct as_flow *flow = graph_flow(graph_make(code), counts, branches);
    struct as_cfg *cfg = flow->cfg;
    FILE *out = unit_golden_begin();
    flow->counts[0][4] = 0; /* it never ran, nor did the return behind it */
    flow->counts[0][5] = 0;
    struct as_blocks_shown shown = make_shown(flow);
    show_all(&shown, "exact", out);
    shown.part = "the first 1,000 instructions", shown.seconds = -1, shown.recorded = true, shown.never = false;
    shown.function = as_cfg_get(cfg, 0)->functions.data[1].name;
    show_all(&shown, "one function", out);
    assert_true(as_block_scope_is_there(as_blocks_scope(&shown)));
    shown.function = "absent";
    assert_false(as_block_scope_is_there(as_blocks_scope(&shown)));
    assert_null(as_block_scope_module(as_blocks_scope(&shown)));
    shown.function = NULL;
    shown.module = "another";
    show_all(&shown, "another module", out);
    shown.module = NULL;
    shown.unit = "cycles";
    show_all(&shown, "another unit", out);
    unit_golden_check(out, "blocks_exact.txt");
    as_flow_free(flow);
    as_cfg_free(cfg);
}

/* Each block rests on so many samples. */
static void sample(struct as_flow *flow, double each)
{
    size_t n = as_cfg_get(flow->cfg, 0)->blocks.len;
    flow->samples = as_alloc(sizeof *flow->samples);
    flow->samples[0] = as_alloc_array(n, sizeof **flow->samples);
    for (size_t i = 0; i < n; i++)
        flow->samples[0][i] = flow->counts[0][i] / each;
    flow->fits = as_alloc(sizeof *flow->fits);
    flow->fits[0] = (struct as_flow_fit){.checked = 100, .wrong = 20};
}

static void test_samples(void **state)
{
    const struct as_estimate_trouble trouble = {
        .used = 900, .unknown = 40, .between = 30, .no_branch = 15, .elsewhere = 10, .impossible = 5};
    struct as_flow *flow = graph_flow(graph_make(code), counts, branches);
    struct as_cfg *cfg = flow->cfg;
    FILE *out = unit_golden_begin();
    sample(flow, 8);
    flow->counts[0][8] = 0.25;
    flow->counts[0][7] = 0;
    struct as_blocks_fit fit = {.flow = flow, .method = AS_METHOD_LBR, .disordered = 0.125};
    struct as_blocks_shown shown = make_shown(flow);
    shown.method = "lbr", shown.how = "from branch stacks", shown.trouble = &trouble, shown.fit = &fit;
    shown.unplaced = 0.031, shown.advice = "Believe some of it.", shown.recorded = true;
    show_all(&shown, "samples", out);
    shown.function = as_cfg_get(cfg, 0)->functions.data[0].name, shown.balanced = true, shown.advice = "";
    show_all(&shown, "samples of one function", out);
    unit_golden_check(out, "blocks_samples.txt");
    as_flow_free(flow);
    as_cfg_free(cfg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_exact), cmocka_unit_test(test_samples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
