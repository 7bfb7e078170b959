/* Blocks whose times are known give a unit the same samples and counts as their records. */
#include "pmu_bed.h"

#include "assay/edge.h"

enum { BLOCK = 5, BLOCKS = 4000, APART = 9 };

static struct taken run_edges(const struct as_pmu_request *request, const struct as_edge_run *runs,
                              const struct as_pipe_batch *records)
{
    struct taken taken = {0};
    struct as_error err = AS_ERROR_INIT;
    struct as_pmu_stream *stream = as_pmu_stream_new(&bed_run, request, bed_take, &taken, &err);
    assert_non_null(stream);
    struct as_edge_batch batch = {
        .thread = 1, .n = BLOCK * BLOCKS, .n_runs = BLOCKS, .pipes = records->pipes, .runs = runs, .batch = records};
    as_pmu_observer.edges(stream, &batch);
    as_pmu_observer.finish(stream, NULL);
    taken.counts[0] = *as_pmu_stream_counts(stream, 0);
    assert_int_equal(as_pmu_stream_cycles(stream), records->pipes[BLOCK * BLOCKS - 1].commit);
    as_pmu_observer.forget(stream);
    as_pmu_observer.free(stream);
    return taken;
}

static struct as_edge *make_edge(uint16_t last_flags)
{
    static const uint32_t ids[BLOCK] = {LOAD, LOCKED, BRANCH + 16, LOAD2,
                                        BRANCH}; /* two jumps, so that the order counts */
    static struct as_edge_record records[BLOCK];
    struct as_edge *edge = as_alloc(sizeof *edge);
    edge->n = BLOCK;
    edge->records = records;
    for (int32_t i = 0; i < BLOCK; i++)
        records[i] = (struct as_edge_record){.fetch = i / 2,
                                             .dispatch = 3 + i / 2,
                                             .issue = 4 + i,
                                             .done = 6 + i,
                                             .commit = 7 + 2 * i,
                                             .insn = ids[i],
                                             .events = i == 3 ? AS_EVENT_ST_L1 : 0,
                                             .flags = i == 2   ? AS_PIPE_TAKEN
                                                      : i == 4 ? last_flags
                                                               : 0,
                                             .uops = 1};
    edge->committed = edge->records[BLOCK - 1].commit;
    return edge;
}

static void same_samples(const struct taken *a, const struct taken *b)
{
    assert_true(a->samples.len > 10);
    assert_int_equal(a->samples.len, b->samples.len);
    for (size_t i = 0; i < a->samples.len; i++) {
        assert_int_equal(a->samples.data[i].ip, b->samples.data[i].ip);
        assert_int_equal(a->samples.data[i].cycle, b->samples.data[i].cycle);
    }
    assert_memory_equal(&a->counts[0], &b->counts[0], sizeof a->counts[0]);
}

struct edge_case {
    struct as_pmu pmu;
    const char *event;
    uint64_t period;
    bool branches;
};

static void check_edges(const struct edge_case *one, uint16_t last_flags)
{
    struct as_edge *edge = make_edge(last_flags);
    struct as_edge_run *runs = as_alloc_array(BLOCKS, sizeof *runs);
    struct as_pipe *pipes = as_alloc_array(BLOCK * BLOCKS, sizeof *pipes);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        runs[i] = as_edge_run_of(edge, APART * i, 0);
        runs[i].first = (uint16_t)(BLOCK * i);
        as_edge_expand(&runs[i], 1, 0, BLOCK, &pipes[BLOCK * i]);
    }
    struct as_pipe_batch records = {.size = sizeof records, .thread = 1, .n = BLOCK * BLOCKS, .pipes = pipes};
    struct as_pmu pmu = one->pmu;
    pmu.shadow[AS_SHADOW_LOADS] = pmu.shadow[AS_SHADOW_L1_MISS] = 10;
    pmu.random_bits = pmu.jitter_bits = 4;
    struct as_pmu_request request = ask(&pmu, one->event, one->period);
    request.branches = one->branches;
    struct taken from_records = run(&request, pipes, BLOCK * BLOCKS, NULL, NULL, 0);
    struct taken from_edges = run_edges(&request, runs, &records);
    same_samples(&from_records, &from_edges);
    assert_int_equal(from_edges.branches.len > 0, one->branches);
    assert_int_equal(from_edges.branches.len, from_records.branches.len);
    for (size_t i = 0; i < from_edges.branches.len; i++) {
        assert_int_equal(from_edges.branches.data[i].from, from_records.branches.data[i].from);
        assert_int_equal(from_edges.branches.data[i].to, from_records.branches.data[i].to);
    }
    clear(&from_records);
    clear(&from_edges);
    free(edge);
    free(runs);
    free(pipes);
}

static void edges_give_the_same(void **state)
{
    const struct edge_case cases[] = {
        {plain_pebs, "loads", 31},
        {plain_pebs, "loads", 31, .branches = true},
        {plain_pebs, "l1-miss", 7},
        {plain_pebs, "instructions:ppp", 97},
        {plain_pebs, "cycles", 97},
        {plain_ibs, "ops", 101},
        {plain_ibs, "cycles", 101},
        {plain_ibs, "fetches", 31},
        {plain_spe, "operations", 61},
        {{.name = "tip", .kind = AS_PMU_TIP, .buffer_records = 1}, "cycles", 37},
        {{.name = "tea", .kind = AS_PMU_TEA, .stage = AS_PMU_STAGE_DISPATCH, .buffer_records = 1}, "cycles", 37},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_edges(&cases[i], AS_PIPE_TAKEN);
        check_edges(&cases[i], AS_PIPE_TAKEN | AS_PIPE_MISPREDICTED);
    }
}

/* Where no sample is due, the counter is on all the time. */
static void all_is_counted(void **state)
{
    const struct edge_case cases[] = {{plain_ibs, "ops", 1 << 20},
                                      {plain_ibs, "fetches", 1 << 20},
                                      {plain_spe, "operations", 1 << 20},
                                      {plain_pebs, "loads", 1 << 20}};
    static const struct as_pipe pipes[] = {{.insn = LOAD, .fetch = 0, .dispatch = 3, .commit = 9, .uops = 2},
                                           {.insn = LOCKED, .fetch = 1, .dispatch = 4, .commit = 10, .uops = 3},
                                           {.insn = LOAD2, .fetch = 2, .dispatch = 5, .commit = 11, .uops = 4}};
    static const uint64_t counts[] = {9, 3, 9, 3};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_pmu_request request = ask(&cases[i].pmu, cases[i].event, cases[i].period);
        struct taken taken = run(&request, pipes, 3, NULL, NULL, 0);
        assert_int_equal(taken.counts[0].happened, counts[i]);
        assert_int_equal(taken.counts[0].counted, counts[i]);
        assert_int_equal(taken.samples.len, 0);
        clear(&taken);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(edges_give_the_same), cmocka_unit_test(all_is_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
