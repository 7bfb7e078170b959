/* Counts that agree with each other: known answers on small graphs, and the law itself on noisy counts of larger ones. */
#include "blocks/accuracy.h"
#include "blocks/balance.h"
#include "graph.h"

#include "unit.h"

#include <math.h>
#include <stdio.h>

static void end(struct as_flow *flow)
{
    struct as_cfg *cfg = flow->cfg;
    as_flow_free(flow);
    as_cfg_free(cfg);
}

static void expect_near(double is, double expected, double part)
{
    if (fabs(is - expected) > part * fabs(expected) + 1e-9)
        fail_msg("%.9g instead of %.9g", is, expected);
}

static void test_consistent(void **state)
{
    const double counts[] = {10, 40, 400, 40, 10};
    struct as_flow *flow = graph_flow(graph_make("2i 3i 5b2 2b1 r"), counts, "2>2:360 3>1:30");
    assert_true(as_flow_imbalance(flow) < 1e-12);
    as_flow_balance(flow, true);
    for (int i = 0; i < 5; i++)
        expect_near(flow->counts[0][i], counts[i], 0.01);
    expect_near(graph_edge(flow, 2, 2), 360, 0.01);
    end(flow);
}

/* A diamond with 100, 40 | 50, 100: where counts spread like themselves, a way through it runs as often as the mean of
 * what its stages were counted, (100 + (40 + 50) + 100) / 3, and the two sides share that as they were counted. */
static void test_diamond(void **state)
{
    const double counts[] = {100, 40, 50, 100};
    struct as_flow *flow = graph_flow(graph_make("3b2 2j3 4i r"), counts, "0>2:0 1>3:0");
    as_flow_balance(flow, false);
    expect_near(flow->counts[0][0], 290.0 / 3, 0.005);
    expect_near(flow->counts[0][3], 290.0 / 3, 0.005);
    expect_near(flow->counts[0][1], 290.0 / 3 * 40 / 90, 0.01);
    expect_near(flow->counts[0][2], 290.0 / 3 * 50 / 90, 0.01);
    expect_near(graph_edge(flow, 0, 1) + graph_edge(flow, 0, 2), flow->counts[0][0], 1e-6);
    assert_true(as_flow_imbalance(flow) < 1e-6);
    end(flow);
}

/* A block that nobody sampled between two that ran got its executions; one behind a return did not. */
static void test_missing(void **state)
{
    const double counts[] = {100, 0, 100, 0};
    struct as_flow *flow = graph_flow(graph_make("3i 1b3 4r r"), counts, "1>3:0");
    as_flow_balance(flow, false);
    assert_true(flow->counts[0][1] > 50);
    expect_near(flow->counts[0][1], flow->counts[0][0], 1e-6);
    assert_true(flow->counts[0][3] < 40);
    end(flow);
}

/* One block was sampled, on the only way round: the branches back carry nothing, and must not take it with them. */
static void test_round(void **state)
{
    const double counts[] = {0, 0, 0, 0, 86908, 0, 0};
    double samples[] = {0, 0, 0, 0, 781, 0, 0}, *by_module[] = {samples};
    struct as_flow *flow =
        graph_flow(graph_make("2i 11b1 1b1 13b2 18b0 7b1 r"), counts, "1>1:0 2>1:0 3>2:0 4>0:0 5>1:0");
    flow->samples = by_module;
    as_flow_balance(flow, false);
    flow->samples = NULL;
    assert_true(flow->counts[0][4] > 1000);
    assert_true(as_flow_imbalance(flow) < 1e-6);
    for (int i = 0; i < 4; i++)
        assert_true(flow->counts[0][i] >= 0.99 * flow->counts[0][4]);
    end(flow);
}

/* One sample, in a short block on one of many ways: what makes the way in negative is cut, and the way in is not. */
static void test_one_sample(void **state)
{
    const double counts[] = {0, 0, 0, 0, 997, 0, 0, 0, 0, 0, 0};
    double samples[] = {0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}, *by_module[] = {samples};
    struct as_flow *flow =
        graph_flow(graph_make("11b8 3b5 5b10 5i 1i 5b7 2i 8r 5i 1j1 r"), counts, "0>8:0 1>5:0 2>10:0 5>7:0 9>1:0");
    flow->samples = by_module;
    as_flow_balance(flow, false);
    flow->samples = NULL;
    assert_true(flow->counts[0][4] > 1 && flow->counts[0][4] < 100);
    for (int i = 0; i < 6; i++)
        expect_near(flow->counts[0][i], flow->counts[0][4], 0.01);
    expect_near(graph_edge(flow, 3, 4), flow->counts[0][4], 1e-6);
    assert_true(as_flow_imbalance(flow) < 0.001); /* what is less than a thousandth of a sample is nothing */
    end(flow);
}

/* A function that is never left: nothing can flow through its second block, yet it ran. */
static void test_endless(void **state)
{
    const double counts[] = {0, 7511, 0};
    double samples[] = {0, 15, 0}, *by_module[] = {samples};
    struct as_flow *flow = graph_flow(graph_make("2b0 4i 3j2"), counts, "0>0:0 2>2:0");
    flow->samples = by_module;
    as_flow_balance(flow, false);
    flow->samples = NULL;
    expect_near(flow->counts[0][1], 7511, 1e-9);
    end(flow);
}

/* Control also leaves by a branch to another function: it is no loss, and the branch is as often as the rest leaves over. */
static void test_leaves(void **state)
{
    const double counts[] = {100, 60, 60};
    struct as_flow *flow = graph_flow(graph_make("2b3 3i r"), counts, "0>3:40");
    as_flow_balance(flow, true);
    for (int i = 0; i < 3; i++)
        expect_near(flow->counts[0][i], counts[i], 0.01);
    size_t n;
    const struct as_flow_edge *edges = as_flow_out(flow, 0, 0, &n);
    double out = 0;
    for (size_t i = 0; i < n; i++)
        out += edges[i].count;
    expect_near(out, flow->counts[0][0], 1e-6);
    assert_true(as_flow_imbalance(flow) < 1e-6);
    end(flow);
}

/* A block that samples missed at its begin: its calls become as many as it ran, its branches never more. */
static void check_calls(const char *called)
{
    const double counts[] = {10, 0.0001, 10};
    double samples[] = {10, 1, 10}, *by_module[] = {samples}, calls = 0;
    struct as_flow *flow = graph_flow(graph_make("2i 2c r"), counts, called);
    flow->samples = by_module;
    as_flow_balance(flow, true);
    flow->samples = NULL;
    size_t n;
    const struct as_flow_edge *edges = as_flow_out(flow, 0, 1, &n);
    for (size_t i = 0; i < n; i++) {
        calls += edges[i].kind == AS_EDGE_CALL ? edges[i].count : 0;
        if (edges[i].count > 1.000001 * flow->counts[0][1])
            fail_msg("%g ways of %g", edges[i].count, flow->counts[0][1]);
    }
    expect_near(calls, flow->counts[0][1], 1e-6);
    assert_true(flow->counts[0][1] > 3);
    end(flow);
}

static void test_calls(void **state)
{
    check_calls("1>0:50");
    check_calls("1>0:0.5");
    check_calls("1>0:0.5 1>2:0.25");
}

/* A call comes back: of samples, as often as its block ran control goes on behind it. Nothing that moves control ran here. */
static void test_comes_back(void **state)
{
    const double counts[] = {100, 60, 90};
    double samples[] = {100, 60, 90}, *by_module[] = {samples};
    struct as_flow *flow = graph_flow(graph_make("1i 1c r"), counts, "");
    flow->samples = by_module;
    as_flow_balance(flow, false);
    flow->samples = NULL;
    for (int i = 0; i < 3; i++)
        expect_near(flow->counts[0][i], 250.0 / 3, 0.005);
    expect_near(graph_edge(flow, 1, 2), flow->counts[0][1], 1e-6);
    end(flow);
}

/* A jump whose targets are known goes to them: what it ran is theirs. */
static void test_jump(void **state)
{
    const double counts[] = {90, 30, 30, 90};
    double samples[] = {90, 30, 30, 90}, *by_module[] = {samples};
    struct as_flow *flow = graph_flow(graph_make("1x 1j3 1i r"), counts, "0>1:1 0>2:1 1>3:0");
    flow->samples = by_module;
    as_flow_balance(flow, false);
    flow->samples = NULL;
    expect_near(graph_edge(flow, 0, 1) + graph_edge(flow, 0, 2), flow->counts[0][0], 1e-6);
    expect_near(flow->counts[0][0], 80, 0.005);
    end(flow);
}

/* What nothing leads to has executions only if it was sampled, and if it was not, what it leads to keeps its own. */
static void test_nothing_leads_there(void **state)
{
    const double none[] = {50, 0, 90}, some[] = {50, 40, 90};
    double samples[] = {50, 0, 90}, sampled[] = {50, 40, 90}, *by_module[] = {samples};
    /* The second one lies behind a jump. */
    struct as_flow *flow = graph_flow(graph_make("1j2 1i r"), none, "0>2:0");
    flow->samples = by_module;
    as_flow_balance(flow, false);
    flow->samples = NULL;
    expect_near(flow->counts[0][1], 0, 0);
    expect_near(flow->counts[0][2], 70, 0.02);
    end(flow);
    flow = graph_flow(graph_make("1j2 1i r"), some, "0>2:0");
    by_module[0] = sampled;
    flow->samples = by_module;
    as_flow_balance(flow, false);
    flow->samples = NULL;
    expect_near(flow->counts[0][1], 40, 0.02);
    expect_near(flow->counts[0][2], 90, 0.02);
    end(flow);
    flow = graph_flow(graph_make("1r 1i r"), none, ""); /* the way to the last one is not known */
    by_module[0] = samples;
    flow->samples = by_module;
    as_flow_balance(flow, false);
    flow->samples = NULL;
    expect_near(flow->counts[0][1], 0, 0);
    expect_near(flow->counts[0][2], 90, 0.02);
    end(flow);
}

/* A function jumps to a part of it that was moved away: what goes there runs there, and nothing else does. */
static struct as_flow *cold_flow(double *samples, const char *branches, const char *name)
{
    /* 0 branches to 2, which returns. */
    struct as_cfg *cfg = graph_make("2b2 2r | 2r");
    struct as_cfg_module *module = as_cfg_get(cfg, 0);
    assert_int_equal(module->functions.len, 2);
    module->functions.data[0].linkage = "f";
    module->functions.data[1].linkage = name;
    struct as_flow *flow = graph_flow(cfg, samples, branches);
    double *by_module[] = {samples};
    flow->samples = by_module;
    as_flow_balance(flow, false);
    flow->samples = NULL;
    return flow;
}

static void test_cold(void **state)
{
    double samples[] = {90, 60, 20}, none[] = {90, 60, 0};
    struct as_flow *flow = cold_flow(samples, "0>2:0", "f.cold");
    expect_near(flow->counts[0][0], 85, 0.01);
    expect_near(flow->counts[0][2], 85 * 20 / 80.0, 0.01);
    expect_near(graph_edge(flow, 0, 2), flow->counts[0][2], 1e-6);
    expect_near(graph_edge(flow, 0, 1), flow->counts[0][1], 1e-6);
    end(flow);
    flow = cold_flow(none, "0>2:0", "f.cold.1"); /* not sampled: it may have run, less often */
    expect_near(graph_edge(flow, 0, 2), flow->counts[0][2], 1e-6);
    expect_near(flow->counts[0][0], 75, 0.2);
    end(flow);
    flow = cold_flow(samples, "0>2:0", "fcold"); /* another function: others call it */
    expect_near(flow->counts[0][2], 20, 0.01);
    end(flow);
    flow = cold_flow(samples, "", "f.cold"); /* nothing is known to lead to it */
    expect_near(flow->counts[0][2], 20, 0.01);
    end(flow);
}

static void test_part_names(void **state)
{
    assert_true(as_cfg_is_part("f.cold", "f") && as_cfg_is_part("f.cold.3", "f") && as_cfg_is_part("f.part.0", "f"));
    assert_true(as_cfg_is_part("f.part.0.cold", "f.part.0"));
    assert_false(as_cfg_is_part("f.colder", "f") || as_cfg_is_part("fg.cold", "f") || as_cfg_is_part("f", "f.cold") ||
                 as_cfg_is_part("f", "f") || as_cfg_is_part("f.partial", "f") || as_cfg_is_part("f.constprop.0", "f"));
}

static uint64_t seed = 42;
static double draw(void)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (double)(seed >> 11) / 9007199254740992.0;
}

/* Noise on true counts: afterwards nothing is negative, the law holds, and the error is smaller than before. Over 40
 * trials with the spread of 400 samples a block; the mean gain is far above its spread. */
static void test_noise(void **state)
{
    const double truth_counts[] = {400, 1600, 1200, 400, 1600, 6400, 1600, 400};
    const char *code = "2i 3b3 4j4 5i 3i 5b5 2b1 r", *branches = "1>3:400 2>4:1200 5>5:4800 6>1:1200";
    double before = 0, after = 0, held = 0, width = 0, plain_width = 0;
    for (int trial = 0; trial < 40; trial++) {
        struct as_flow *truth = graph_flow(graph_make(code), truth_counts, branches);
        double noisy[8];
        for (int i = 0; i < 8; i++) {
            double normal = -6;
            for (int k = 0; k < 12; k++)
                normal += draw();
            noisy[i] = fmax(0, truth_counts[i] + normal * sqrt(truth_counts[i]) * 2);
        }
        struct as_flow *flow = graph_flow(truth->cfg, noisy, "1>3:0 2>4:0 5>5:0 6>1:0");
        double samples[8], *by_module[] = {samples};
        for (int i = 0; i < 8; i++)
            samples[i] = noisy[i] / 4; /* each adds 4, whose spread is twice the root */
        flow->samples = by_module;
        before += as_accuracy_of(flow, truth).block;
        for (int i = 0; i < 8; i++)
            plain_width += as_accuracy_interval(flow, 0, (uint32_t)i) / 320;
        as_flow_balance(flow, false);
        for (uint32_t i = 0; i < 8; i++) {
            double off = fabs(flow->counts[0][i] - truth_counts[i]), part = as_accuracy_interval(flow, 0, i);
            held += off <= part * flow->counts[0][i] ? 1 / 320.0 : 0;
            width += part / 320;
        }
        flow->samples = NULL;
        after += as_accuracy_of(flow, truth).block;
        assert_true(as_flow_imbalance(flow) < 1e-6);
        for (int i = 0; i < 8; i++)
            assert_true(flow->counts[0][i] >= 0);
        as_flow_free(flow);
        end(truth);
    }
    if (after > 0.85 * before)
        fail_msg("error %.4f before, %.4f after", before / 40, after / 40);
    /* Intervals of 95 % are narrower than before, and as true: 320 of them, though blocks of a trial err together. */
    if (width > 0.95 * plain_width || held < 0.85)
        fail_msg("width %.4f in place of %.4f, %.3f of them hold", width, plain_width, held);
}

/* Few samples on graphs of any shape, where most blocks have none: whatever has to be cut, counts stay within what was counted. */
static void random_graph(char *code, size_t size, uint32_t n)
{
    size_t used = 0;
    for (uint32_t i = 0; i < n; i++) {
        double kind = draw();
        uint32_t insns = 1 + (uint32_t)(draw() * 9), target = (uint32_t)(draw() * n);
        char letter = kind < 0.5    ? 'b'
                      : kind < 0.65 ? 'j'
                      : kind < 0.75 ? 'c'
                      : kind < 0.8  ? 'r'
                      : kind < 0.85 ? 'x'
                                    : 'i';
        used += (size_t)snprintf(code + used, size - used, letter == 'b' || letter == 'j' ? "%u%c%u " : "%u%c ", insns,
                                 letter, target);
    }
    snprintf(code + used, size - used, "r");
}

static void test_any_graph(void **state)
{
    enum { MOST = 60 };
    for (int trial = 0; trial < 300; trial++) {
        uint32_t n = 2 + (uint32_t)(draw() * (MOST - 2));
        double counts[MOST + 1], samples[MOST + 1], *by_module[] = {samples}, before = 0, after = 0;
        char code[MOST * 8];
        random_graph(code, sizeof code, n);
        for (uint32_t i = 0; i <= n; i++) {
            samples[i] = draw() < 0.7 ? 0 : floor(pow(10, 4 * draw()));
            counts[i] = samples[i] * 2003 / (1 + floor(9 * draw()));
            before += counts[i];
        }
        struct as_flow *flow = graph_flow(graph_make(code), counts, "");
        flow->samples = by_module;
        as_flow_balance(flow, trial % 2);
        for (uint32_t i = 0; i < as_cfg_get(flow->cfg, 0)->blocks.len; i++)
            after += flow->counts[0][i];
        flow->samples = NULL;
        if (!(after <= 100 * before && (after > 0 || before == 0)))
            fail_msg("trial %d: %g became %g in %s", trial, before, after, code);
        end(flow);
    }
}

static void test_accuracy(void **state)
{
    const double counts[] = {100, 30, 70, 100}, guess[] = {110, 30, 60, 100};
    struct as_cfg *cfg = graph_make("3b2 2j3 4i r");
    struct as_flow *truth = graph_flow(cfg, counts, "0>2:70 1>3:30"), *flow = graph_flow(cfg, guess, "");
    struct as_accuracy accuracy = as_accuracy_of(flow, truth);
    expect_near(accuracy.block, (3 * 10 + 4 * 10) / 740.0, 1e-12);
    expect_near(accuracy.function, 10 / 740.0, 1e-12);
    assert_true(accuracy.top == 1 && accuracy.top_found == 1 && accuracy.top_ordered == 1);
    as_flow_free(flow);
    end(truth);
}

/* 20 and 30 instructions; of the first block two executions too many. The interval of 4 samples is wide, that of 400 is not. */
static void test_intervals(void **state)
{
    const double counts[] = {10, 10}, guess[] = {12, 10};
    double few[] = {4, 100}, many[] = {400, 100}, none[] = {4, 0}, *by_module[] = {few};
    struct as_cfg *cfg = graph_make("2b0 3r");
    struct as_flow *truth = graph_flow(cfg, counts, ""), *flow = graph_flow(cfg, guess, "");
    expect_near(as_accuracy_interval(flow, 0, 0), 0, 0);
    expect_near(as_accuracy_of(flow, truth).covered, 0.6, 1e-12); /* exact, it says */
    flow->samples = by_module;
    expect_near(as_accuracy_interval(flow, 0, 0), 1.959964 / 2, 1e-6);
    expect_near(as_accuracy_interval(flow, 0, 1), 1.959964 / 10, 1e-6);
    expect_near(as_accuracy_of(flow, truth).covered, 1, 1e-12);
    expect_near(as_accuracy_of(flow, truth).block, 4 / 50.0, 1e-12);
    by_module[0] = many;
    expect_near(as_accuracy_of(flow, truth).covered, 0.6, 1e-12);
    flow->together = 4; /* 400 runs of 100 stacks */
    expect_near(as_accuracy_interval(flow, 0, 0), 1.959964 / 10, 1e-6);
    flow->together = 0;
    by_module[0] = none;
    assert_true(isinf(as_accuracy_interval(flow, 0, 1)));
    flow->samples = NULL;
    as_flow_free(flow);
    end(truth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_consistent), cmocka_unit_test(test_diamond),
        cmocka_unit_test(test_missing),    cmocka_unit_test(test_leaves),
        cmocka_unit_test(test_calls),      cmocka_unit_test(test_round),
        cmocka_unit_test(test_endless),    cmocka_unit_test(test_noise),
        cmocka_unit_test(test_any_graph),  cmocka_unit_test(test_comes_back),
        cmocka_unit_test(test_jump),       cmocka_unit_test(test_nothing_leads_there),
        cmocka_unit_test(test_accuracy),   cmocka_unit_test(test_intervals),
        cmocka_unit_test(test_cold),       cmocka_unit_test(test_part_names),
        cmocka_unit_test(test_one_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
