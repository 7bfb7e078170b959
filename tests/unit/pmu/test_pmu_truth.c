/* Every event counted at its instruction, from records and from blocks whose times are known alike. */
#include "unit.h"

#include "assay/edge.h"
#include "base/alloc.h"
#include "pmu/pmu_truth.h"

enum { NOP, LOAD, STORE, BRANCH, KINDS };

static const struct as_insn *insn_of(void *context, uint32_t id)
{
    static const struct as_insn insns[KINDS] = {[NOP] = {.class_ = AS_CLASS_NOP},
                                                [LOAD] = {.class_ = AS_CLASS_LOAD, .flags = AS_INSN_LOAD},
                                                [STORE] = {.class_ = AS_CLASS_STORE, .flags = AS_INSN_STORE},
                                                [BRANCH] = {.class_ = AS_CLASS_BRANCH}};
    return id < KINDS ? &insns[id] : NULL;
}

static const struct as_run_info run_info = {.size = sizeof run_info, .insn = insn_of};
static const struct as_pmu pebs = {.name = "pebs", .kind = AS_PMU_PEBS, .counters = 4};
static const struct as_pmu spe = {.name = "spe", .kind = AS_PMU_SPE};
static const struct as_pmu ibs = {.name = "ibs", .kind = AS_PMU_IBS};

static struct as_pmu_truth *open_truth(const struct as_pmu *pmu, const char *const *events, size_t n)
{
    struct as_pmu_request request = {.pmu = pmu};
    struct as_error err = AS_ERROR_INIT;
    for (size_t i = 0; i < n; i++)
        if (!as_pmu_request_add(&request, events[i], 10007, &err))
            fail_msg("%s", err.message);
    return as_pmu_truth_new(&run_info, &request);
}

static uint64_t at(const struct as_pmu_truth *truth, size_t counter, uint32_t insn)
{
    size_t n;
    const uint64_t *counts = as_pmu_truth_of(truth, counter, &n);
    return counts && insn < n ? counts[insn] : 0;
}

static void feed(struct as_pmu_truth *truth, const struct as_pipe *pipes, size_t n)
{
    as_pmu_truth_observer.batch(truth,
                                &(struct as_pipe_batch){.size = sizeof(struct as_pipe_batch), .n = n, .pipes = pipes});
}

static void events_by_instruction(void **state)
{
    static const char *const events[] = {"instructions", "l1-miss", "taken", "load-latency=20"};
    static const struct as_pipe pipes[] = {
        {.insn = LOAD, .uops = 1, .done = 4},
        {.insn = LOAD, .uops = 1, .done = 40, .events = AS_EVENT_ST_L1},
        {.insn = LOAD, .uops = 1, .flags = AS_PIPE_CONTINUES, .events = AS_EVENT_ST_L1}, /* an iteration of a rep */
        {.insn = BRANCH, .uops = 1, .flags = AS_PIPE_TAKEN},
        {.insn = BRANCH, .uops = 1},
        {.insn = NOP, .uops = 1},
    };
    struct as_pmu_truth *truth = open_truth(&pebs, events, 4);
    feed(truth, pipes, sizeof pipes / sizeof *pipes);
    as_pmu_truth_observer.finish(truth, NULL);
    assert_true(at(truth, 0, LOAD) == 2 && at(truth, 0, BRANCH) == 2 && at(truth, 0, NOP) == 1);
    assert_true(at(truth, 1, LOAD) == 1 && at(truth, 1, NOP) == 0);
    assert_true(at(truth, 2, BRANCH) == 1 && at(truth, 2, LOAD) == 0);
    assert_true(at(truth, 3, LOAD) == 1);
    as_pmu_truth_observer.free(truth);
}

static void only_branches(void **state)
{
    static const char *const events[] = {"operations:b"};
    static const struct as_pipe pipes[] = {
        {.insn = NOP, .uops = 1}, {.insn = LOAD, .uops = 1}, {.insn = BRANCH, .uops = 1}, {.insn = BRANCH, .uops = 2}};
    struct as_pmu_truth *truth = open_truth(&spe, events, 1);
    feed(truth, pipes, 4);
    assert_true(at(truth, 0, NOP) == 0 && at(truth, 0, LOAD) == 0 && at(truth, 0, BRANCH) == 3);
    as_pmu_truth_observer.free(truth);
}

static void operations_and_filters(void **state)
{
    static const char *const only_loads[] = {"operations:l"}, *const ops[] = {"ops"}, *const cycles[] = {"cycles"};
    static const struct as_pipe pipes[] = {
        {.insn = LOAD, .uops = 1}, {.insn = STORE, .uops = 2}, {.insn = STORE, .uops = 3}};
    struct as_pmu_truth *loads = open_truth(&spe, only_loads, 1), *all = open_truth(&ibs, ops, 1);
    struct as_pmu_truth *none = open_truth(&ibs, cycles, 1);
    size_t n;
    feed(loads, pipes, 3);
    feed(all, pipes, 3);
    feed(none, pipes, 3);
    assert_true(at(loads, 0, LOAD) == 1 && at(loads, 0, STORE) == 0);
    assert_true(at(all, 0, LOAD) == 1 && at(all, 0, STORE) == 5);
    assert_null(as_pmu_truth_of(none, 0, &n));
    as_pmu_truth_observer.free(loads);
    as_pmu_truth_observer.free(all);
    as_pmu_truth_observer.free(none);
}

/* A block is counted when it is forgotten, and its number then belongs to another. */
static void blocks_are_forgotten(void **state)
{
    static const char *const events[] = {"instructions"};
    struct as_pmu_truth *truth = open_truth(&pebs, events, 1);
    struct as_edge_record records[] = {{.insn = LOAD, .uops = 1}, {.insn = BRANCH, .uops = 1}};
    const struct as_edge edge = {.n = 2, .records = records};
    struct as_edge_run runs[3];
    const struct as_pipe alone[] = {{.insn = STORE, .uops = 1}};
    runs[0] = runs[1] = as_edge_run_of(&edge, 0, 0);
    runs[2] = (struct as_edge_run){.first = 0, .n = 1};
    struct as_edge_batch batch = {.thread = 1, .n = 5, .n_runs = 3, .pipes = alone, .runs = runs};
    as_pmu_truth_observer.edges(truth, &batch);
    as_pmu_truth_observer.forget(truth);
    records[0].insn = NOP;
    batch.n_runs = 1;
    as_pmu_truth_observer.edges(truth, &batch);
    as_pmu_truth_observer.finish(truth, NULL);
    assert_true(at(truth, 0, LOAD) == 2 && at(truth, 0, NOP) == 1 && at(truth, 0, BRANCH) == 3 &&
                at(truth, 0, STORE) == 1);
    as_pmu_truth_observer.free(truth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(events_by_instruction), cmocka_unit_test(only_branches),
                                       cmocka_unit_test(operations_and_filters),
                                       cmocka_unit_test(blocks_are_forgotten)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
