/* Blocks whose times are known give a unit the same samples and counts as their records. */
#include "pmu_bed.h"

#include "assay/edge.h"
#include "base/random.h"

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

/* ---- blocks of several kinds, some of them as records ---- */

enum { KINDS_OF_BLOCKS = 3, MIXED_BLOCKS = 6000, MIXED_APART = 12, MIXED_MOST = 4 * MIXED_BLOCKS };

/* A long block with a branch in the middle, a short one that is mispredicted and has operations on the wrong path, and one without a
 * branch, whose last record goes on with the instruction before it. */
static const struct as_edge_record mixed_records[KINDS_OF_BLOCKS][4] = {
    {{.fetch = 0, .dispatch = 1, .issue = 2, .done = 3, .commit = 4, .insn = LOAD, .uops = 2},
     {.fetch = 0,
      .dispatch = 1,
      .issue = 2,
      .done = 6,
      .commit = 7,
      .insn = CALL + 16,
      .flags = AS_PIPE_TAKEN,
      .uops = 1},
     {.fetch = 1, .dispatch = 2, .issue = 3, .done = 6, .commit = 8, .insn = LOAD2 + 16, .uops = 1},
     {.fetch = 1,
      .dispatch = 3,
      .issue = 4,
      .done = 7,
      .commit = 9,
      .insn = RET + 16,
      .flags = AS_PIPE_TAKEN,
      .uops = 1}},
    {{.fetch = 0, .dispatch = 1, .issue = 2, .done = 4, .commit = 5, .insn = NOP + 32, .uops = 3},
     {.fetch = 1,
      .dispatch = 2,
      .issue = 3,
      .done = 11,
      .commit = 12,
      .insn = BRANCH + 32,
      .wrong_path = 9,
      .wrong_delay = 2,
      .flags = AS_PIPE_TAKEN | AS_PIPE_MISPREDICTED,
      .uops = 1}},
    {{.fetch = 0, .dispatch = 2, .issue = 3, .done = 4, .commit = 6, .insn = STORE + 48, .uops = 1},
     {.fetch = 0, .dispatch = 2, .issue = 3, .done = 5, .commit = 7, .insn = LOCKED + 48, .uops = 4},
     {.fetch = 0,
      .dispatch = 2,
      .issue = 3,
      .done = 5,
      .commit = 8,
      .insn = LOCKED + 48,
      .flags = AS_PIPE_CONTINUES,
      .uops = 4}},
};
static const uint32_t mixed_n[KINDS_OF_BLOCKS] = {4, 2, 3};

struct mixed {
    struct as_edge edges[KINDS_OF_BLOCKS];
    struct as_edge_run runs[MIXED_BLOCKS];
    struct as_pipe pipes[MIXED_MOST], of_edges[MIXED_MOST]; /* all records; those of runs without an edge alone */
    size_t n;
};

static struct mixed *make_mixed(void)
{
    struct mixed *mixed = as_alloc(sizeof *mixed);
    for (uint32_t kind = 0; kind < KINDS_OF_BLOCKS; kind++)
        mixed->edges[kind] = (struct as_edge){.number = kind,
                                              .n = mixed_n[kind],
                                              .committed = mixed_records[kind][mixed_n[kind] - 1].commit,
                                              .records = mixed_records[kind]};
    for (uint32_t i = 0; i < MIXED_BLOCKS; i++) {
        uint32_t random = (uint32_t)(as_random_hash(i) >> 20), kind = random % KINDS_OF_BLOCKS;
        struct as_edge_run *one = &mixed->runs[i];
        *one = as_edge_run_of(&mixed->edges[kind], MIXED_APART * i, 0);
        one->first = (uint16_t)mixed->n;
        as_edge_expand(one, 1, 0, one->n, &mixed->pipes[mixed->n]);
        if (random / KINDS_OF_BLOCKS % 8 == 0) { /* as records */
            memcpy(&mixed->of_edges[mixed->n], &mixed->pipes[mixed->n], one->n * sizeof *mixed->pipes);
            *one = as_edge_run_of_records(mixed->pipes, mixed->n, one->n);
        }
        mixed->n += one->n;
    }
    return mixed;
}

static struct taken run_mixed(const struct as_pmu_request *request, const struct mixed *mixed)
{
    struct taken taken = {0};
    struct as_error err = AS_ERROR_INIT;
    struct as_pmu_stream *stream = as_pmu_stream_new(&bed_run, request, bed_take, &taken, &err);
    assert_non_null(stream);
    struct as_pipe_batch records = {.size = sizeof records, .thread = 1, .n = mixed->n, .pipes = mixed->of_edges};
    struct as_edge_batch batch = {.thread = 1,
                                  .n = mixed->n,
                                  .n_runs = MIXED_BLOCKS,
                                  .pipes = mixed->of_edges,
                                  .runs = mixed->runs,
                                  .batch = &records};
    as_pmu_observer.edges(stream, &batch);
    as_pmu_observer.finish(stream, NULL);
    for (size_t i = 0; i < request->n; i++)
        taken.counts[i] = *as_pmu_stream_counts(stream, i);
    as_pmu_observer.free(stream);
    return taken;
}

static void check_mixed(const struct as_pmu_request *request, const struct mixed *mixed)
{
    struct taken from_records = run(request, mixed->pipes, mixed->n, NULL, NULL, 0),
                 from_runs = run_mixed(request, mixed);
    same_samples(&from_records, &from_runs);
    for (size_t i = 0; i < request->n; i++)
        assert_memory_equal(&from_records.counts[i], &from_runs.counts[i], sizeof from_runs.counts[i]);
    assert_int_equal(from_runs.branches.len, from_records.branches.len);
    for (size_t i = 0; i < from_runs.branches.len; i++) {
        assert_int_equal(from_runs.branches.data[i].from, from_records.branches.data[i].from);
        assert_int_equal(from_runs.branches.data[i].to, from_records.branches.data[i].to);
        assert_int_equal(from_runs.branches.data[i].cycles, from_records.branches.data[i].cycles);
        assert_int_equal(from_runs.branches.data[i].mispredicted, from_records.branches.data[i].mispredicted);
    }
    clear(&from_records);
    clear(&from_runs);
}

static void mixed_blocks_give_the_same(void **state)
{
    struct as_pmu slow_ibs = plain_ibs, any_ibs = plain_ibs, target_spe = plain_spe, lbr_ibs = plain_ibs;
    slow_ibs.interrupt = 300;
    slow_ibs.jitter = 50;
    any_ibs.slot = AS_PMU_SLOT_ANY;
    any_ibs.off_by_one = true;
    any_ibs.random_bits = 3;
    target_spe.target_window = 2;
    target_spe.jitter_bits = 3;
    lbr_ibs.lbr = 3;
    lbr_ibs.lbr_cycles = lbr_ibs.lbr_mispredicts = true;
    const struct edge_case cases[] = {{plain_pebs, "loads", 53},
                                      {plain_pebs, "loads", 53, .branches = true},
                                      {plain_pebs, "instructions", 211, .branches = true},
                                      {plain_pebs, "calls", 11},
                                      {plain_pebs, "cycles", 401},
                                      {plain_ibs, "ops", 301},
                                      {plain_ibs, "cycles", 501},
                                      {slow_ibs, "ops", 301},
                                      {slow_ibs, "cycles", 501},
                                      {slow_ibs, "fetches", 41},
                                      {any_ibs, "ops", 301},
                                      {any_ibs, "cycles", 501},
                                      {lbr_ibs, "ops", 301, .branches = true},
                                      {plain_spe, "operations", 61},
                                      {plain_spe, "operations", 907},
                                      {target_spe, "operations", 203},
                                      {{.name = "tip", .kind = AS_PMU_TIP, .buffer_records = 1}, "cycles", 37}};
    struct mixed *mixed = make_mixed();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct as_pmu_request request = ask(&cases[i].pmu, cases[i].event, cases[i].period);
        request.branches = cases[i].branches;
        check_mixed(&request, mixed);
    }
    free(mixed);
}

/* After `forget` a number stands for another block. */
static void numbers_are_used_again(void **state)
{
    static const struct as_edge_record records[2][2] = {
        {{.commit = 1, .insn = LOAD, .uops = 1}, {.commit = 2, .insn = NOP, .uops = 1}},
        {{.commit = 1, .insn = STORE, .uops = 1}, {.commit = 2, .insn = BRANCH, .flags = AS_PIPE_TAKEN, .uops = 1}}};
    static const char *const events[] = {"loads", "stores", "taken"};
    struct taken taken = {0};
    struct as_error err = AS_ERROR_INIT;
    struct as_pmu pmu = plain_pebs;
    struct as_pmu_request request = {.pmu = &pmu};
    for (size_t i = 0; i < 3; i++)
        assert_true(as_pmu_request_add(&request, events[i], 1000, &err));
    struct as_pmu_stream *stream = as_pmu_stream_new(&bed_run, &request, bed_take, &taken, &err);
    assert_non_null(stream);
    for (uint64_t i = 0; i < 4; i++) {
        struct as_edge edge = {.n = 2, .committed = 2, .records = records[i / 2]};
        struct as_edge_run one = as_edge_run_of(&edge, 10 * i, 0);
        struct as_pipe_batch nothing = {.size = sizeof nothing, .thread = 1, .n = 2};
        struct as_edge_batch batch = {.thread = 1, .n = 2, .n_runs = 1, .runs = &one, .batch = &nothing};
        as_pmu_observer.edges(stream, &batch);
        if (i == 1)
            as_pmu_observer.forget(stream);
    }
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(as_pmu_stream_counts(stream, i)->happened, 2);
    as_pmu_observer.free(stream);
    clear(&taken);
}

/* Of several counters, the first four of which are added up by block; a fifth leaves the records. */
static void several_counters_give_the_same(void **state)
{
    static const char *const events[] = {"loads", "branches", "stores", "instructions", "calls"};
    struct mixed *mixed = make_mixed();
    struct as_pmu pmu = plain_pebs;
    struct as_error err = AS_ERROR_INIT;
    struct as_pmu_request request = {.pmu = &pmu};
    pmu.counters = 8;
    pmu.shadow[AS_SHADOW_LOADS] = 10;
    for (size_t i = 0; i < 5; i++) {
        assert_true(as_pmu_request_add(&request, events[i], 201 + 100 * i, &err));
        check_mixed(&request, mixed);
    }
    free(mixed);
}

/* A program that the thread executes next has its own cycles; what was counted before it is kept. Threads have their own units. */
static void programs_and_threads(void **state)
{
    struct taken taken = {0};
    struct as_error err = AS_ERROR_INIT;
    struct as_pmu_request request = ask(&plain_pebs, "loads", 2);
    struct as_pmu_stream *stream = as_pmu_stream_new(&bed_run, &request, bed_take, &taken, &err);
    static const struct as_pipe pipes[] = {{.insn = LOAD, .commit = 10, .uops = 1},
                                           {.insn = LOAD, .commit = 15, .uops = 1},
                                           {.insn = LOAD, .commit = 30, .uops = 1}};
    struct as_pipe_batch batch = {.size = sizeof batch, .thread = 2, .n = 3, .pipes = pipes};
    assert_non_null(stream);
    assert_int_equal(as_pmu_stream_threads(stream), 0);
    as_pmu_observer.batch(stream, &batch);
    assert_int_equal(as_pmu_stream_threads(stream), 1);
    batch.cycles_before = 1000;
    as_pmu_observer.batch(stream, &batch);
    assert_int_equal(as_pmu_stream_threads(stream), 1);
    assert_int_equal(as_pmu_stream_cycles(stream), 60);
    batch.thread = 5;
    batch.cycles_before = 0;
    as_pmu_observer.batch(stream, &batch);
    assert_int_equal(as_pmu_stream_threads(stream), 2);
    assert_int_equal(as_pmu_stream_cycles(stream), 90);
    as_pmu_observer.finish(stream, NULL);
    assert_int_equal(taken.samples.len, 3);
    static const uint64_t cycles[] = {30, 1015, 30};
    static const uint32_t threads[] = {2, 2, 5};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(taken.samples.data[i].cycle, cycles[i]);
        assert_int_equal(taken.samples.data[i].thread, threads[i]);
    }
    as_pmu_observer.free(stream);
    clear(&taken);
}

/* How many samples begin alike, of two runs of the same records. */
static size_t alike(const struct taken *a, const struct taken *b)
{
    size_t n = 0;
    while (n < a->samples.len && n < b->samples.len && a->samples.data[n].cycle == b->samples.data[n].cycle)
        n++;
    return n;
}

/* The seed decides what is drawn, and nothing else does; each thread draws numbers of its own. */
static void seeds(void **state)
{
    struct mixed *mixed = make_mixed();
    struct as_pmu pmu = plain_ibs;
    pmu.random_bits = 8;
    struct as_pmu_request request = ask(&pmu, "ops", 1000);
    request.seed = 1;
    struct taken one = run(&request, mixed->pipes, mixed->n, NULL, NULL, 0),
                 again = run(&request, mixed->pipes, mixed->n, NULL, NULL, 0);
    request.seed = 2;
    struct taken two = run(&request, mixed->pipes, mixed->n, NULL, NULL, 0);
    assert_true(one.samples.len > 10);
    assert_int_equal(alike(&one, &again), one.samples.len);
    assert_in_range(alike(&one, &two), 0, 5);
    struct taken other = {0};
    struct as_error err = AS_ERROR_INIT;
    struct as_pmu_stream *stream = as_pmu_stream_new(&bed_run, &request, bed_take, &other, &err);
    struct as_pipe_batch batch = {.size = sizeof batch, .thread = 2, .n = mixed->n, .pipes = mixed->pipes};
    assert_non_null(stream);
    as_pmu_observer.batch(stream, &batch);
    as_pmu_observer.finish(stream, NULL);
    as_pmu_observer.free(stream);
    assert_in_range(alike(&two, &other), 0, 5);
    clear(&one);
    clear(&again);
    clear(&two);
    clear(&other);
    free(mixed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(edges_give_the_same),
                                       cmocka_unit_test(all_is_counted),
                                       cmocka_unit_test(mixed_blocks_give_the_same),
                                       cmocka_unit_test(several_counters_give_the_same),
                                       cmocka_unit_test(numbers_are_used_again),
                                       cmocka_unit_test(programs_and_threads),
                                       cmocka_unit_test(seeds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
