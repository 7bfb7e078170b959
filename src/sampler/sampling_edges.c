/* Samplers for blocks whose times are known. Records are made only near a sample, and while one waits for its answer. A
 * batch is cut into pieces; pieces without a sample are skipped, and only the runs at their end are noted, because the
 * next answer may look back. */
#include "sampler/sampling_stream.h"

/* Records of a piece at least; fewer where they take so many cycles that each piece would have a sample otherwise. */
enum { PIECE = 192, SHORT_PIECE = AS_WINDOW_TAIL, LONG_TIME = 2048 };

static struct as_pipe *room_for(struct as_sampling *sampling, size_t n)
{
    as_vec_reserve((void **)&sampling->room.data, &sampling->room.cap, n, sizeof *sampling->room.data);
    return sampling->room.data;
}

/* Gives the window the last records of the runs that were skipped. */
static void keep_passed(struct as_sampling_stream *stream)
{
    struct as_pipe tail[AS_WINDOW_TAIL];
    uint32_t n = 0;
    for (uint32_t i = stream->n_passed; i-- > 0 && n < AS_WINDOW_TAIL;) {
        const struct as_edge_run *run = &stream->passed[i];
        uint32_t taken = run->n < AS_WINDOW_TAIL - n ? run->n : AS_WINDOW_TAIL - n;
        n += taken;
        as_edge_expand(run, stream->thread, run->n - taken, run->n, &tail[AS_WINDOW_TAIL - n]);
    }
    as_window_keep(&stream->window, &tail[AS_WINDOW_TAIL - n], n);
    stream->n_passed = 0;
}

/* Notes the runs at the end of a piece. Returns false if they have too few records to look back at. */
static bool note_passed(struct as_sampling_stream *stream, const struct as_edge_run *runs, size_t n_runs)
{
    uint32_t n = 0;
    size_t from = n_runs;
    while (from > 0 && n < AS_WINDOW_TAIL)
        n += runs[--from].n;
    if (n < AS_WINDOW_TAIL)
        return false;
    stream->n_passed = (uint32_t)(n_runs - from);
    memcpy(stream->passed, &runs[from], stream->n_passed * sizeof *runs);
    return true;
}

/* Whether any sampler needs a piece that ends with commit `last`. */
static bool is_wanted(const struct as_sampling_stream *stream, uint64_t last)
{
    return stream->forgotten < stream->taken || stream->next_cycle <= last;
}

static void observe_records(struct as_sampling *sampling, struct as_sampling_stream *stream,
                            const struct as_pipe *pipes, size_t n)
{
    if (stream->n_passed)
        keep_passed(stream);
    as_sampling_observe(sampling,
                        &(struct as_pipe_batch){
                            .size = sizeof(struct as_pipe_batch), .thread = stream->thread, .n = n, .pipes = pipes});
}

/* Handles a piece of n records, all along edges. `ends`: nothing follows. */
static void observe_edges(struct as_sampling *sampling, struct as_sampling_stream *stream,
                          const struct as_edge_run *runs, size_t n_runs, size_t n, bool ends)
{
    const struct as_edge_run *last = &runs[n_runs - 1];
    if (!ends && !is_wanted(stream, as_edge_run_commit(last)) && note_passed(stream, runs, n_runs)) {
        as_window_pass(&stream->window, n);
        return;
    }
    struct as_pipe *pipes = room_for(sampling, n), *at = pipes;
    for (size_t i = 0; i < n_runs; at += runs[i++].n)
        as_edge_expand(&runs[i], stream->thread, 0, runs[i].n, at);
    if (ends)
        pipes[n - 1].flags |= AS_PIPE_LAST;
    observe_records(sampling, stream, pipes, n);
}

static bool is_enough(const struct as_edge_run *runs, size_t first, size_t end, size_t n)
{
    return n >= PIECE || (n >= SHORT_PIECE && runs[end].base > runs[first].base + LONG_TIME);
}

void as_sampling_edges(void *self, const struct as_edge_batch *batch)
{
    struct as_sampling *sampling = self;
    const struct as_edge_run *runs = batch->runs;
    for (size_t first = 0, end; first < batch->n_runs; first = end) {
        struct as_sampling_stream *stream = as_sampling_stream_of(sampling, batch->thread);
        size_t n = 0;
        bool known = runs[first].edge;
        for (end = first;
             end < batch->n_runs && (runs[end].edge != NULL) == known && !(known && is_enough(runs, first, end, n));
             end++)
            n += runs[end].n;
        if (known)
            observe_edges(sampling, stream, &runs[first], end - first, n, end == batch->n_runs && batch->last);
        else
            observe_records(sampling, stream, &batch->pipes[runs[first].first], n);
    }
}

void as_sampling_forget(void *self)
{
    struct as_sampling *sampling = self;
    for (size_t i = 0; i < sampling->streams.len; i++)
        if (sampling->streams.data[i] && sampling->streams.data[i]->n_passed)
            keep_passed(sampling->streams.data[i]);
}
