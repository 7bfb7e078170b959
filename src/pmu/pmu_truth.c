/* See pmu_truth.h. Blocks whose times are known (assay/edge.h) are only counted; what is in them is added up when they
 * are forgotten, or at the end. */
#include "pmu/pmu_truth.h"

#include "assay/edge.h"
#include "base/vec.h"

#include <stdlib.h>

struct met {
    const struct as_edge *edge;
    uint64_t times;
};

struct as_pmu_truth {
    const struct as_run_info *run;
    struct as_pmu_request request;
    AS_VEC(uint32_t) may; /* by instruction: bit i: counter i may count it; bit 31: it is known */
    AS_VEC(uint64_t) counts[AS_PMU_COUNTERS_MAX];
    AS_VEC(struct met) edges; /* by number */
};

enum { KNOWN = 1u << 31 };

struct as_pmu_truth *as_pmu_truth_new(const struct as_run_info *run, const struct as_pmu_request *request)
{
    struct as_pmu_truth *truth = as_alloc(sizeof *truth);
    truth->run = run;
    truth->request = *request;
    truth->request.pmu = NULL; /* it may be gone when the run ends */
    return truth;
}

static void free_truth(void *self)
{
    struct as_pmu_truth *truth = self;
    for (size_t i = 0; i < AS_PMU_COUNTERS_MAX; i++)
        as_vec_free(&truth->counts[i]);
    as_vec_free(&truth->may);
    as_vec_free(&truth->edges);
    free(truth);
}

/* ---- one instruction ---- */

static bool has_truth(const struct as_pmu_counter *counter)
{
    return counter->user && (counter->event->counts == AS_COUNTS_EVENTS || counter->event->counts == AS_COUNTS_OPS);
}

static bool passes(uint32_t filter, const struct as_insn *insn)
{
    return !filter || insn->flags & filter & (AS_INSN_LOAD | AS_INSN_STORE) ||
           (filter & AS_PMU_BRANCHES && AS_INSN_CONTROL_CLASSES >> insn->class_ & 1);
}

static uint32_t may_count(struct as_pmu_truth *truth, uint32_t id)
{
    while (truth->may.len <= id)
        *as_vec_push(&truth->may) = 0;
    if (!truth->may.data[id]) {
        const struct as_insn *insn = truth->run->insn(truth->run->context, id);
        truth->may.data[id] = KNOWN;
        for (size_t i = 0; i < truth->request.n && insn; i++) {
            const struct as_pmu_counter *counter = &truth->request.counters[i];
            bool may = has_truth(counter) && as_pmu_event_may(counter->event, insn) && passes(counter->filter, insn);
            truth->may.data[id] |= (uint32_t)may << i;
        }
    }
    return truth->may.data[id];
}

static void count_event(struct as_pmu_truth *truth, unsigned i, const struct as_pipe *pipe, uint64_t times)
{
    const struct as_pmu_counter *counter = &truth->request.counters[i];
    bool ops = counter->event->counts == AS_COUNTS_OPS;
    if (ops && pipe->commit - pipe->dispatch < counter->threshold)
        return;
    if (!ops && (pipe->flags & AS_PIPE_CONTINUES || !as_pmu_event_is(counter->event, counter->threshold, pipe)))
        return;
    while (truth->counts[i].len <= pipe->insn)
        *as_vec_push(&truth->counts[i]) = 0;
    truth->counts[i].data[pipe->insn] += ops ? times * pipe->uops : times;
}

static inline void count(struct as_pmu_truth *truth, const struct as_pipe *pipe, uint64_t times)
{
    bool known = pipe->insn < truth->may.len && truth->may.data[pipe->insn];
    uint32_t may = (known ? truth->may.data[pipe->insn] : may_count(truth, pipe->insn)) & ~KNOWN;
    for (; may; may &= may - 1)
        count_event(truth, (unsigned)__builtin_ctz(may), pipe, times);
}

/* ---- batches ---- */

static void take_batch(void *self, const struct as_pipe_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++)
        count(self, &batch->pipes[i], 1);
}

static void take_edges(void *self, const struct as_edge_batch *batch)
{
    struct as_pmu_truth *truth = self;
    for (size_t i = 0; i < batch->n_runs; i++) {
        const struct as_edge_run *run = &batch->runs[i];
        for (uint32_t k = 0; !run->edge && k < run->n; k++)
            count(truth, &batch->pipes[run->first + k], 1);
        if (!run->edge)
            continue;
        while (truth->edges.len <= run->number)
            *as_vec_push(&truth->edges) = (struct met){0};
        struct met *met = &truth->edges.data[run->number];
        met->edge = run->edge;
        met->times++;
    }
}

static void add_up(void *self)
{
    struct as_pmu_truth *truth = self;
    for (size_t i = 0; i < truth->edges.len; i++) {
        const struct met *met = &truth->edges.data[i];
        struct as_edge_run run = {.edge = met->edge};
        for (uint32_t k = 0; met->edge && k < met->edge->n; k++) {
            struct as_pipe pipe;
            as_edge_expand(&run, 0, k, k + 1, &pipe);
            count(truth, &pipe, met->times);
        }
    }
    as_vec_clear(&truth->edges);
}

static void finish(void *self, FILE *out)
{
    add_up(self);
}

const struct as_observer as_pmu_truth_observer = {.version = AS_OBSERVER_VERSION,
                                                  .record_size = sizeof(struct as_pipe),
                                                  .name = "pmu-truth",
                                                  .batch = take_batch,
                                                  .finish = finish,
                                                  .free = free_truth,
                                                  .edges = take_edges,
                                                  .forget = add_up};

const uint64_t *as_pmu_truth_of(const struct as_pmu_truth *truth, size_t counter, size_t *n)
{
    *n = truth->counts[counter].len;
    return *n && has_truth(&truth->request.counters[counter]) ? truth->counts[counter].data : NULL;
}
