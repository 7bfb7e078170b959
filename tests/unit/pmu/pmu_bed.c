/* See pmu_bed.h. */
#include "pmu_bed.h"

static const struct as_insn *insn_of(void *context, uint32_t id)
{
    static struct as_insn insns[64];
    static const struct {
        uint8_t class_;
        uint32_t flags;
    } kinds[KINDS] = {[NOP] = {AS_CLASS_NOP, 0},
                      [LOAD] = {AS_CLASS_LOAD, AS_INSN_LOAD},
                      [STORE] = {AS_CLASS_STORE, AS_INSN_STORE},
                      [BRANCH] = {AS_CLASS_BRANCH, AS_INSN_CONDITIONAL},
                      [CALL] = {AS_CLASS_CALL, AS_INSN_STORE},
                      [RET] = {AS_CLASS_RETURN, AS_INSN_LOAD},
                      [LOCKED] = {AS_CLASS_ATOMIC, AS_INSN_LOAD | AS_INSN_STORE | AS_INSN_ATOMIC},
                      [SYSCALL] = {AS_CLASS_SYSTEM, 0},
                      [LOAD2] = {AS_CLASS_LOAD, AS_INSN_LOAD}};
    uint32_t kind = id % 16 < KINDS ? id % 16 : NOP;
    insns[id % 64] = (struct as_insn){
        .id = id, .address = 16 * (uint64_t)id, .class_ = kinds[kind].class_, .flags = kinds[kind].flags};
    return &insns[id % 64];
}

const struct as_run_info bed_run = {.size = sizeof bed_run,
                                    .frequency = 1e9,
                                    .commit_width = 4,
                                    .dispatch_width = 4,
                                    .commit_group = 4,
                                    .rob = 64,
                                    .insn = insn_of};

void bed_take(void *context, const struct as_pmu_sample *sample)
{
    struct taken *taken = context;
    *as_vec_push(&taken->samples) = *sample;
    as_vec_clear(&taken->branches);
    for (uint32_t i = 0; i < sample->n_branches; i++)
        *as_vec_push(&taken->branches) = sample->branches[i];
}

struct taken run(const struct as_pmu_request *request, const struct as_pipe *pipes, size_t n,
                 const struct as_data_access *accesses, const uint32_t *owners, size_t n_accesses)
{
    struct taken taken = {0};
    struct as_error err = AS_ERROR_INIT;
    struct as_pmu_stream *stream = as_pmu_stream_new(&bed_run, request, bed_take, &taken, &err);
    if (!stream)
        fail_msg("%s", err.message);
    struct as_pipe_batch batch = {.size = sizeof batch,
                                  .thread = 1,
                                  .n = n,
                                  .pipes = pipes,
                                  .n_accesses = n_accesses,
                                  .accesses = accesses,
                                  .owners = owners};
    as_pmu_observer.batch(stream, &batch);
    as_pmu_observer.finish(stream, NULL);
    assert_int_equal(as_pmu_stream_cycles(stream), pipes[n - 1].commit);
    for (size_t i = 0; i < request->n; i++)
        taken.counts[i] = *as_pmu_stream_counts(stream, i);
    as_pmu_observer.free(stream);
    return taken;
}

void clear(struct taken *taken)
{
    as_vec_free(&taken->samples);
    as_vec_free(&taken->branches);
}

struct as_pmu_request ask(const struct as_pmu *pmu, const char *event, uint64_t period)
{
    struct as_pmu_request request = {.pmu = pmu};
    struct as_error err = AS_ERROR_INIT;
    if (!as_pmu_request_add(&request, event, period, &err))
        fail_msg("%s", err.message);
    return request;
}

const struct as_pmu plain_pebs = {.name = "pebs",
                                  .kind = AS_PMU_PEBS,
                                  .counters = 4,
                                  .multiplex = 1000,
                                  .pdir = true,
                                  .latency = true,
                                  .lbr = 4,
                                  .lbr_cycles = true,
                                  .lbr_mispredicts = true,
                                  .lbr_call_stack = true,
                                  .buffer_records = 1};
const struct as_pmu plain_ibs = {.name = "ibs", .kind = AS_PMU_IBS, .counts_ops = true, .buffer_records = 1};
const struct as_pmu plain_spe = {.name = "spe", .kind = AS_PMU_SPE, .least_interval = 1, .buffer_records = 1};
