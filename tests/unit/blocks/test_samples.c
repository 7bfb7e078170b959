/* Samples added up: addresses, branches, runs, and what is wrong with branch stacks; then what each method makes of them. */
#include "blocks/estimate.h"
#include "graph.h"

#include "unit.h"

/* Addresses are those of the graph's module; from 0x9000 on nothing is known. */
static bool place(void *context, uint64_t address, struct as_cfg *cfg, uint32_t *module, uint64_t *offset)
{
    *module = 0;
    *offset = address;
    return address < 0x9000;
}

static void add(struct as_samples *samples, uint64_t ip, double weight, const struct as_samples_branch *branches,
                size_t n)
{
    as_samples_add(samples,
                   &(struct as_samples_one){.ip = ip, .weight = weight, .branches = branches, .n_branches = n});
}

static double weight_of(const as_samples_pairs *pairs, uint64_t from, uint64_t to)
{
    double sum = 0;
    for (size_t i = 0; i < pairs->len; i++)
        sum += pairs->data[i].from == from && (!to || pairs->data[i].to == to) ? pairs->data[i].weight : 0;
    return sum;
}

static void test_stacks(void **state)
{
    struct as_cfg *cfg = graph_make("4i r");
    struct as_samples *samples = as_samples_new(NULL);
    const struct as_samples_branch stack[] = {{0x1100, 0x1200, true}, {0x1010, 0x1080, false}, {0x1300, 0x1000, false}};
    add(samples, 0x1200, 60, stack, 3);
    add(samples, 0x1204, 60, stack, 3);
    add(samples, 0x9000, 30, NULL, 0);
    as_samples_settle(samples, cfg, place, NULL);
    assert_true(weight_of(as_samples_ips(samples), 0x1200, 0) == 60);
    assert_true(as_samples_unplaced(samples) == 0.2);
    /* IP+1: the first sample is the branch itself, the second one the instruction that ends at 0x1204. */
    assert_true(weight_of(as_samples_fixed_ips(samples), 0x1100, 0) == 60);
    assert_true(weight_of(as_samples_fixed_ips(samples), 0x1203, 0) == 60);
    /* Two runs of each stack share its weight, three branches do. */
    assert_true(weight_of(as_samples_runs(samples), 0x1080, 0x1100) == 60);
    assert_true(weight_of(as_samples_runs(samples), 0x1000, 0x1010) == 60);
    assert_true(weight_of(as_samples_branches(samples), 0x1100, 0x1200) == 40);
    assert_int_equal(as_samples_counted(samples)->entries, 6);
    assert_int_equal(as_samples_counted(samples)->with_branches, 2);
    as_samples_free(samples);
    as_cfg_free(cfg);
}

static void test_bogus(void **state)
{
    struct as_cfg *cfg = graph_make("4i r");
    struct as_samples *samples = as_samples_new(&(struct as_samples_options){.drop_oldest = true});
    const struct as_samples_branch twice[] = {{0x1100, 0x1200}, {0x1100, 0x1200}, {0x1010, 0x1080}, {0x1300, 0x1000}};
    const struct as_samples_branch round[] = {{0x1100, 0x1080}, {0x1100, 0x1080}, {0x1100, 0x1080}};
    const struct as_samples_branch torn[] = {{0x1100, 0x1200}, {0, 0}, {0x1010, 0x1180}, {0x1300, 0x1000}};
    add(samples, 0, 12, twice, 4);
    assert_int_equal(as_samples_counted(samples)->repeated, 1);
    add(samples, 0, 12, round, 3); /* a loop of one block is none of these */
    assert_int_equal(as_samples_counted(samples)->repeated, 1);
    add(samples, 0, 12, torn, 4);
    assert_int_equal(as_samples_counted(samples)->empty, 1);
    assert_int_equal(as_samples_counted(samples)->oldest, 3);
    const struct as_samples_branch back[] = {{0x1100, 0x1200}, {0x1010, 0x1180}, {0x1300, 0x1000}};
    add(samples, 0, 12, back, 3);
    assert_int_equal(as_samples_counted(samples)->backward, 1);
    as_samples_settle(samples, cfg, place, NULL);
    assert_true(weight_of(as_samples_runs(samples), 0x1180, 0x1100) == 0);
    as_samples_free(samples);
    as_cfg_free(cfg);
}

/* Numbers of instructions in the order in which they first ran: a run may lead to a lower one, a branch that is taken twice
 * in a row to a higher one. */
static void test_unordered(void **state)
{
    struct as_cfg *cfg = graph_make("4i r");
    struct as_samples *samples = as_samples_new(&(struct as_samples_options){.unordered = true});
    const struct as_samples_branch stack[] = {{0x1100, 0x1200}, {0x1100, 0x1200}, {0x1010, 0x1180}, {0x1300, 0x1000}};
    add(samples, 0, 12, stack, 4);
    assert_int_equal(as_samples_counted(samples)->repeated, 0);
    assert_int_equal(as_samples_counted(samples)->backward, 0);
    as_samples_settle(samples, cfg, place, NULL);
    assert_true(weight_of(as_samples_runs(samples), 0x1200, 0x1100) == 4);
    assert_true(weight_of(as_samples_runs(samples), 0x1180, 0x1100) == 4);
    assert_true(weight_of(as_samples_runs(samples), 0x1000, 0x1010) == 4);
    as_samples_free(samples);
    as_cfg_free(cfg);
}

static void test_sticky(void **state)
{
    struct as_samples *samples = as_samples_new(NULL);
    struct as_cfg *cfg = graph_make("4i r");
    for (int i = 0; i < 1000; i++) {
        struct as_samples_branch stack[8];
        for (int k = 0; k < 8; k++)
            stack[k] = (struct as_samples_branch){0x1100 + 16 * (uint64_t)((i + k) % 10), 0x1100};
        if (i % 4 == 0)
            stack[7] = (struct as_samples_branch){0x2000, 0x2100};
        add(samples, 0, 1, stack, 8);
    }
    as_samples_settle(samples, cfg, place, NULL);
    struct as_samples_sticky sticky[4];
    assert_int_equal(as_samples_sticky(samples, sticky, 4), 1);
    assert_int_equal(sticky[0].from, 0x2000);
    assert_true(sticky[0].share > 0.24 && sticky[0].share < 0.26);
    assert_true(sticky[0].expected == 250 / 8000.0);

    /* Another reader's samples: all of its counts, and nothing more. */
    struct as_samples *all = as_samples_new(NULL);
    struct as_samples_sticky moved[4];
    as_samples_move(all, samples);
    assert_int_equal(as_samples_sticky(all, moved, 4), 1);
    assert_true(moved[0].share == sticky[0].share && moved[0].expected == sticky[0].expected);
    assert_int_equal(as_samples_sticky(samples, moved, 4), 0);
    as_samples_free(all);
    as_samples_free(samples);
    as_cfg_free(cfg);
}

/* 0: four instructions, then either way; 1: a jump; 2: work; 3: return. */
static struct as_flow *estimate(const struct as_samples_branch *stack, size_t n, uint64_t ip, enum as_method method,
                                struct as_estimate_trouble *trouble)
{
    struct as_cfg *cfg = graph_make("4b2 2j3 5i r");
    struct as_samples *samples = as_samples_new(NULL);
    add(samples, ip, 20, stack, n);
    as_samples_settle(samples, cfg, place, NULL);
    struct as_flow *flow = as_estimate(samples, cfg, method, trouble);
    as_samples_free(samples);
    return flow;
}

static void end(struct as_flow *flow)
{
    struct as_cfg *cfg = flow->cfg;
    as_flow_free(flow);
    as_cfg_free(cfg);
}

static void test_methods(void **state)
{
    const uint64_t s = GRAPH_START; /* blocks at 0, 16, 24, 44 */
    struct as_estimate_trouble trouble;
    struct as_flow *flow = estimate(NULL, 0, s + 4, AS_METHOD_IP, &trouble);
    assert_true(flow->counts[0][0] == 5 && flow->samples[0][0] == 1 && trouble.used == 20);
    end(flow);
    flow = estimate(NULL, 0, s + 4, AS_METHOD_LBR, &trouble); /* no stack at all */
    assert_true(flow->counts[0][0] == 0 && flow->together == 0 && trouble.used == 0);
    end(flow);
    /* Returned to 0, fell through 0, took the jump of 1 to 3, returned from 3. */
    const struct as_samples_branch stack[] = {{s + 44, 0x8000}, {s + 20, s + 44}, {0x8100, s}};
    flow = estimate(stack, 3, 0x8000, AS_METHOD_LBR, &trouble);
    assert_true(flow->counts[0][0] == 10 && flow->counts[0][1] == 10 && flow->counts[0][2] == 0 &&
                flow->counts[0][3] == 10);
    assert_true(graph_edge(flow, 0, 1) == 10 && graph_edge(flow, 0, 2) == 0);
    assert_true(flow->together == 2); /* two runs between three branches */
    end(flow);
    assert_true(trouble.used == 20 && trouble.impossible == 0 && trouble.unknown > 0);
}

/* Branches alone: taken from 1 to 3 four times, and once from 0 to 2; into 0 five times, from 3. */
static void test_flow(void **state)
{
    const uint64_t s = GRAPH_START;
    const struct as_samples_branch branches[] = {{s + 44, s}, {s + 20, s + 44}, {s + 12, s + 24}};
    const uint64_t times[] = {5, 4, 1};
    struct as_cfg *cfg = graph_make("4b2 2j3 5i r");
    struct as_samples *samples = as_samples_new(NULL);
    struct as_estimate_trouble trouble;
    for (size_t i = 0; i < 3; i++)
        as_samples_add(samples, &(struct as_samples_one){
                                    .branches = &branches[i], .n_branches = 1, .run_weight = 10, .times = times[i]});
    assert_int_equal(as_samples_counted(samples)->samples, 10);
    assert_int_equal(as_samples_counted(samples)->entries, 10);
    as_samples_settle(samples, cfg, place, NULL);
    struct as_flow *flow = as_estimate(samples, cfg, AS_METHOD_FLOW, &trouble);
    as_samples_free(samples);
    assert_true(flow->counts[0][0] == 50 && flow->counts[0][1] == 40 && flow->counts[0][2] == 10);
    assert_true(flow->counts[0][3] == 50); /* four by the jump, one that falls */
    assert_true(flow->samples[0][0] == 5 && trouble.used == 100);
    assert_true(graph_edge(flow, 0, 1) == 40 && graph_edge(flow, 0, 2) == 10 && graph_edge(flow, 2, 3) == 10);
    end(flow);
}

static void test_trouble(void **state)
{
    const uint64_t s = GRAPH_START;
    struct as_estimate_trouble trouble;
    const struct as_samples_branch past[] = {{s + 44, 0x8000}, {0x8100, s + 16}}; /* past the jump of 1 */
    end(estimate(past, 2, 0, AS_METHOD_LBR, &trouble));
    assert_true(trouble.impossible == 20 && trouble.used == 0);
    const struct as_samples_branch inside[] = {{s + 12, s + 24}, {0x8100, s + 2}};
    end(estimate(inside, 2, 0, AS_METHOD_LBR, &trouble));
    assert_true(trouble.between == 20);
    const struct as_samples_branch wrong[] = {{s + 12, s + 44}, {0x8100, s}}; /* the branch goes to 24 */
    end(estimate(wrong, 2, 0, AS_METHOD_LBR, &trouble));
    assert_true(trouble.elsewhere == 10);
    const struct as_samples_branch none[] = {{s + 28, s + 44}, {0x8100, s + 24}}; /* there is no branch */
    end(estimate(none, 2, 0, AS_METHOD_LBR, &trouble));
    assert_true(trouble.no_branch == 10 && trouble.impossible == 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stacks),    cmocka_unit_test(test_bogus),   cmocka_unit_test(test_sticky),
        cmocka_unit_test(test_unordered), cmocka_unit_test(test_methods), cmocka_unit_test(test_flow),
        cmocka_unit_test(test_trouble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
