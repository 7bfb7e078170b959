/* See pmu_stream.h. */
#include "base/random.h"
#include "pmu/pmu_unit.h"

#include <stdlib.h>
#include <string.h>

static const struct as_pmu_unit *const units[AS_PMU_KINDS] = {[AS_PMU_PEBS] = &as_pmu_unit_pebs,
                                                              [AS_PMU_IBS] = &as_pmu_unit_ibs,
                                                              [AS_PMU_SPE] = &as_pmu_unit_spe,
                                                              [AS_PMU_TIP] = &as_pmu_unit_tip,
                                                              [AS_PMU_TEA] = &as_pmu_unit_tip};

struct as_pmu_stream *as_pmu_stream_new(const struct as_run_info *run, const struct as_pmu_request *request,
                                        as_pmu_take *take, void *context, struct as_error *err)
{
    if (!as_pmu_request_check(request, err))
        return NULL;
    struct as_pmu_stream *stream = as_alloc(sizeof *stream);
    stream->run = run;
    stream->pmu = *request->pmu;
    stream->request = *request;
    stream->request.pmu = &stream->pmu;
    stream->unit = units[stream->pmu.kind];
    stream->take = take;
    stream->context = context;
    stream->slice = (uint64_t)((double)stream->pmu.multiplex * 1e-6 * run->frequency);
    stream->slice += stream->slice == 0;
    return stream;
}

void as_pmu_stream_free(struct as_pmu_stream *stream)
{
    if (!stream)
        return;
    for (size_t i = 0; i < stream->cores.len; i++) {
        if (stream->cores.data[i])
            as_vec_free(&stream->cores.data[i]->tip.group);
        free(stream->cores.data[i]);
    }
    as_vec_free(&stream->cores);
    as_vec_free(&stream->code);
    as_vec_free(&stream->sums);
    as_vec_free(&stream->taken);
    free(stream);
}

/* ---- samples ---- */

/* The first access of the record that the event is about: of a load's the load. */
static const struct as_data_access *access_of(struct as_pmu_stream *stream, size_t index, uint8_t kind)
{
    const struct as_pipe_batch *batch = stream->batch;
    while (stream->next_access < batch->n_accesses && batch->owners[stream->next_access] < index)
        stream->next_access++;
    const struct as_data_access *first = NULL;
    for (size_t i = stream->next_access; i < batch->n_accesses && batch->owners[i] == index; i++) {
        const struct as_data_access *access = &batch->accesses[i];
        if (access->kind & kind)
            return access;
        first = !first && access->kind & (AS_ACCESS_LOAD | AS_ACCESS_STORE) ? access : first;
    }
    return first;
}

static void describe_access(struct as_pmu_core *core, uint32_t counter, const struct as_pmu_op *op,
                            struct as_pmu_sample *sample)
{
    const struct as_pmu_event *event = core->stream->request.counters[counter].event;
    bool store = event->insn_flags & AS_INSN_STORE;
    const struct as_data_access *access =
        op->kernel ? NULL : access_of(core->stream, op->index, store ? AS_ACCESS_STORE : AS_ACCESS_LOAD);
    if (!access)
        return;
    sample->address = access->address;
    sample->size = access->size;
    sample->access = access->kind;
}

void as_pmu_describe(struct as_pmu_core *core, uint32_t counter, const struct as_pmu_op *op,
                     struct as_pmu_sample *sample)
{
    const struct as_pipe *pipe = op->pipe;
    *sample = (struct as_pmu_sample){.counter = counter,
                                     .thread = core->thread,
                                     .insn = op->kernel ? AS_PMU_NO_INSN : pipe->insn,
                                     .path = pipe->path,
                                     .ip = op->code->address,
                                     .cycle = core->before + as_pmu_commit(core, op),
                                     .weight = core->stream->request.counters[counter].period,
                                     .class_ = op->code->class_,
                                     .flags = pipe->flags,
                                     .insn_flags = op->code->flags,
                                     .events = pipe->events,
                                     .latency = (uint32_t)(pipe->done - pipe->issue),
                                     .issued = (uint32_t)(pipe->issue - pipe->dispatch),
                                     .completed = (uint32_t)(pipe->commit - pipe->done),
                                     .retired = (uint32_t)(pipe->commit - pipe->dispatch),
                                     .kernel = op->kernel,
                                     .was_kernel = op->kernel};
    if (op->code->flags & (AS_INSN_LOAD | AS_INSN_STORE))
        describe_access(core, counter, op, sample);
}

void as_pmu_pass_on(struct as_pmu_core *core, const struct as_pmu_sample *sample)
{
    core->stream->counts[sample->counter].samples++;
    core->stream->take(core->stream->context, sample);
}

void as_pmu_sample_now(struct as_pmu_core *core, uint32_t counter, const struct as_pmu_op *op)
{
    struct as_pmu_branch branches[AS_PMU_LBR_MAX];
    struct as_pmu_sample sample;
    as_pmu_describe(core, counter, op, &sample);
    sample.n_branches = as_pmu_lbr_read(core, branches);
    sample.branches = branches;
    as_pmu_pass_on(core, &sample);
}

/* ---- records ---- */

void as_pmu_learn(struct as_pmu_stream *stream, uint32_t id)
{
    const struct as_insn *insn = stream->run->insn(stream->run->context, id);
    while (stream->code.len <= id)
        *as_vec_push(&stream->code) = (struct as_pmu_code){0};
    struct as_pmu_code *code = &stream->code.data[id];
    *code = (struct as_pmu_code){.known = true};
    if (!insn)
        return;
    code->address = insn->address;
    code->flags = insn->flags;
    code->class_ = insn->class_;
    code->system = insn->class_ == AS_CLASS_SYSTEM;
    for (size_t i = 0; i < stream->request.n; i++)
        code->counters |= (uint32_t)as_pmu_event_may(stream->request.counters[i].event, insn) << i;
}

static struct as_pmu_core *core_of(struct as_pmu_stream *stream, uint32_t thread)
{
    while (stream->cores.len <= thread)
        *as_vec_push(&stream->cores) = NULL;
    struct as_pmu_core **core = &stream->cores.data[thread];
    if (!*core) {
        *core = as_alloc(sizeof **core);
        (*core)->stream = stream;
        (*core)->thread = thread;
        (*core)->seed = as_random_hash(stream->request.seed ^ as_random_hash(thread));
        stream->unit->open(*core);
    }
    return *core;
}

/* A record, and the kernel behind it if it is a system call. */
static void feed(struct as_pmu_core *core, const struct as_pmu_op *op)
{
    struct as_pmu_stream *stream = core->stream;
    if (stream->request.branches && !(op->pipe->flags & AS_PIPE_CONTINUES))
        as_pmu_lbr_note(core, op);
    stream->unit->op(core, op);
    if (__builtin_expect(op->code->system, 0))
        as_pmu_kernel_run(core, op);
}

void as_pmu_feed(struct as_pmu_core *core, const struct as_pipe *pipes, size_t n, size_t first)
{
    struct as_pmu_stream *stream = core->stream;
    bool all = stream->unit->needs_all || stream->request.branches;
    for (size_t i = 0; i < n; i++) {
        const struct as_pmu_code *code = as_pmu_code_of(stream, pipes[i].insn);
        if (all || code->counters || code->system)
            feed(core, &(struct as_pmu_op){.pipe = &pipes[i], .code = code, .index = first + i});
    }
}

struct as_pmu_core *as_pmu_begin(struct as_pmu_stream *stream, const struct as_pipe_batch *batch, uint32_t thread)
{
    struct as_pmu_core *core = core_of(stream, thread);
    stream->batch = batch;
    stream->next_access = 0;
    if (core->before != batch->cycles_before) {
        core->before = batch->cycles_before; /* another program: its cycles start again */
        core->commit = 0;
        stream->unit->open(core);
    }
    return core;
}

void as_pmu_end(struct as_pmu_core *core, uint64_t commit)
{
    core->stream->cycles += commit - core->commit;
    core->commit = commit;
}

static void take_batch(void *self, const struct as_pipe_batch *batch)
{
    struct as_pmu_core *core = as_pmu_begin(self, batch, batch->thread);
    as_pmu_feed(core, batch->pipes, batch->n, 0);
    as_pmu_end(core, batch->pipes[batch->n - 1].commit);
}

static void finish(void *self, FILE *out)
{
    struct as_pmu_stream *stream = self;
    static const struct as_pipe_batch nothing = {.size = sizeof nothing};
    stream->batch = &nothing;
    for (size_t i = 0; i < stream->cores.len && stream->unit->finish; i++)
        if (stream->cores.data[i])
            stream->unit->finish(stream->cores.data[i]);
}

static void free_stream(void *self)
{
    as_pmu_stream_free(self);
}

const struct as_observer as_pmu_observer = {.version = AS_OBSERVER_VERSION,
                                            .record_size = sizeof(struct as_pipe),
                                            .name = "pmu",
                                            .batch = take_batch,
                                            .finish = finish,
                                            .free = free_stream,
                                            .wants = AS_WANT_ACCESSES,
                                            .edges = as_pmu_edges,
                                            .forget = as_pmu_forget};

const struct as_pmu_counts *as_pmu_stream_counts(const struct as_pmu_stream *stream, size_t counter)
{
    return &stream->counts[counter];
}

uint64_t as_pmu_stream_cycles(const struct as_pmu_stream *stream)
{
    return stream->cycles;
}

uint64_t as_pmu_stream_threads(const struct as_pmu_stream *stream)
{
    uint64_t n = 0;
    for (size_t i = 0; i < stream->cores.len; i++)
        n += stream->cores.data[i] != NULL;
    return n;
}
