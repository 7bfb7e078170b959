/* Blocks whose times are known (assay/edge.h): most of them only add to counters. What a block counts is added up when it
 * first comes; its records are made only where a sample may be chosen or taken in it. The samples are the same as those
 * from records. */
#include "pmu/pmu_unit.h"

#include <string.h>

enum { PIECE = 256 };

static void add_up(const struct as_pmu_core *core, const struct as_edge_run *run, struct as_pmu_sums *sums)
{
    struct as_pmu_stream *stream = core->stream;
    uint64_t start, end;
    const struct as_pmu_request *request = &stream->request;
    sums->first_taken = (uint32_t)stream->taken.len;
    for (uint32_t i = 0; i < run->n; i++) {
        struct as_pipe pipe;
        as_edge_expand(run, 0, i, i + 1, &pipe);
        const struct as_pmu_code *code = as_pmu_code_of(stream, pipe.insn);
        sums->uops = (uint16_t)(sums->uops + pipe.uops);
        if (!(pipe.flags & AS_PIPE_CONTINUES)) {
            sums->address = sums->begins ? sums->address : code->address;
            sums->begins = true;
        }
        if (pipe.flags & AS_PIPE_TAKEN && !(pipe.flags & AS_PIPE_CONTINUES)) {
            *as_vec_push(&stream->taken) = i;
            sums->n_taken++;
        }
        sums->flags = pipe.flags;
        if (as_pmu_wrong_path(core, &(struct as_pmu_op){.pipe = &pipe}, &start, &end))
            sums->wrong += pipe.wrong_path;
        sums->apart |= code->system;
        for (size_t j = 0; j < request->n && !(pipe.flags & AS_PIPE_CONTINUES); j++)
            if (code->counters >> j & 1 && request->counters[j].user &&
                as_pmu_event_is(request->counters[j].event, request->counters[j].threshold, &pipe))
                sums->counts[j]++;
    }
}

static const struct as_pmu_sums *sums_of(const struct as_pmu_core *core, const struct as_edge_run *run)
{
    struct as_pmu_stream *stream = core->stream;
    uint32_t number = run->number;
    while (stream->sums.len <= number)
        *as_vec_push(&stream->sums) = (struct as_pmu_sums){0};
    struct as_pmu_sums *sums = &stream->sums.data[number];
    if (!sums->known) {
        sums->apart = run->n > UINT16_MAX / 64; /* more operations than can be counted here */
        sums->known = true;
        if (!sums->apart)
            add_up(core, run, sums);
    }
    return sums;
}

/* The branch records of a block that was skipped. */
static void note_branches(struct as_pmu_core *core, const struct as_edge_run *run, const struct as_pmu_sums *sums)
{
    struct as_pmu_stream *stream = core->stream;
    if (sums->begins)
        as_pmu_lbr_arrive(core, sums->address);
    for (uint32_t i = 0; i < sums->n_taken; i++) {
        uint32_t at = stream->taken.data[sums->first_taken + i];
        struct as_pipe pipe;
        as_edge_expand(run, core->thread, at, at + 1, &pipe);
        as_pmu_lbr_note(core, &(struct as_pmu_op){.pipe = &pipe, .code = as_pmu_code_of(stream, pipe.insn)});
        if (at + 1 < run->n)
            as_pmu_lbr_arrive(core, as_pmu_code_of(stream, run->edge->records[at + 1].insn)->address);
    }
}

static struct as_pmu_span span_of(const struct as_pmu_core *core, const struct as_edge_run *run)
{
    const struct as_edge_record *records = run->edge->records;
    uint64_t base = run->base + core->shift;
    return (struct as_pmu_span){.dispatch = base + (uint64_t)(int64_t)records[0].dispatch,
                                .last_dispatch = base + (uint64_t)(int64_t)records[run->n - 1].dispatch,
                                .commit = base + (uint64_t)(int64_t)records[run->n - 1].commit,
                                .run = run};
}

static bool try_skip(struct as_pmu_core *core, const struct as_edge_run *run)
{
    struct as_pmu_stream *stream = core->stream;
    if (!stream->unit->skip || stream->request.n > AS_PMU_SUMS)
        return false;
    const struct as_pmu_sums *sums = sums_of(core, run);
    struct as_pmu_span span = span_of(core, run);
    if (sums->apart || !stream->unit->skip(core, sums, &span))
        return false;
    if (stream->request.branches)
        note_branches(core, run, sums);
    return true;
}

static void feed_edge(struct as_pmu_core *core, const struct as_edge_run *run)
{
    struct as_pipe pipes[PIECE];
    for (uint32_t first = 0; first < run->n; first += PIECE) {
        uint32_t end = run->n - first < PIECE ? run->n : first + PIECE;
        as_edge_expand(run, core->thread, first, end, pipes);
        as_pmu_feed(core, pipes, end - first, run->first + first);
    }
}

void as_pmu_edges(void *self, const struct as_edge_batch *batch)
{
    struct as_pmu_core *core = as_pmu_begin(self, batch->batch, batch->thread);
    for (size_t i = 0; i < batch->n_runs; i++) {
        const struct as_edge_run *run = &batch->runs[i];
        if (!run->edge)
            as_pmu_feed(core, batch->pipes + run->first, run->n, run->first);
        else if (!try_skip(core, run))
            feed_edge(core, run);
    }
    as_pmu_end(core, as_edge_batch_commit(batch));
}

void as_pmu_forget(void *self)
{
    struct as_pmu_stream *stream = self;
    as_vec_clear(&stream->sums);
    as_vec_clear(&stream->taken);
}
