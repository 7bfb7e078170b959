/* Blocks whose times are known: what Assay's own observers read instead of records, where the core model has them from
 * its memo (doc/design/memo.md). Not for observers out of tree, which get records.
 *
 * An edge has the records of a block, with cycles that count from the last dispatch before it. A batch is a list of
 * runs: along edges, or, where there is none, as records. An edge stays as it is until `forget` is called.
 */
#ifndef ASSAY_EDGE_H
#define ASSAY_EDGE_H

#include "assay/observer.h"
#include "assay/pipe.h"

#include <stdbool.h>
#include <stddef.h>

/* An instruction: as_pipe, with cycles from the last dispatch before the block. It was never tried again. */
struct as_edge_record {
    int32_t fetch, dispatch, issue, done, commit;
    uint32_t insn, events;
    uint16_t wrong_path, flags;
    uint8_t uops, wrong_delay;
};

/* The use of an entry of a queue (as_stay), `from` counted likewise. */
struct as_edge_stay {
    int32_t from;
    uint32_t cycles;
    uint8_t resource; /* enum as_resource: not the store queue and MSHRs, which depend on more than the block */
};

struct as_edge {
    uint32_t number;       /* dense, from 0; used again after all were forgotten */
    uint32_t n;            /* records, at least 1 */
    uint32_t continued;    /* … that are further iterations of a rep instruction */
    int32_t before;        /* the last commit before the block */
    int32_t committed;     /* … and in it */
    uint16_t flags_before; /* of the record before it: AS_PIPE_MISPREDICTED, AS_PIPE_FLUSHES */
    /* Records that commit together: the first of them, which may commit with what is before the block, up to first_end;
     * the last of them, from last_start on, which may commit with what is behind it. */
    uint16_t first_end, last_start;
    uint32_t n_stays; /* 0 where no observer wants occupancy */
    const struct as_edge_stay *stays;
    const struct as_edge_record *records;
};

/* Edges and records lie far apart in memory, so what many observers need of them is here as well. */
struct as_edge_run {
    const struct as_edge *edge; /* NULL: there is none, the records are in the batch */
    uint64_t base;              /* what cycles of the edge count from; without an edge the last commit */
    uint32_t path;              /* as_pipe.path of all */
    int32_t committed;          /* as_edge.committed; without an edge 0 */
    uint32_t number;            /* as_edge.number; without an edge 0 */
    uint16_t first, n;          /* records: the first one's number in the batch, and how many */
};
enum { AS_EDGE_BATCH_MOST = UINT16_MAX }; /* records of a batch with runs */

/* The run along an edge from a cycle on, without its place in the batch. */
static inline struct as_edge_run as_edge_run_of(const struct as_edge *edge, uint64_t base, uint32_t path)
{
    return (struct as_edge_run){.edge = edge,
                                .base = base,
                                .path = path,
                                .committed = edge->committed,
                                .number = edge->number,
                                .n = (uint16_t)edge->n};
}

/* The run of records first … first + n - 1, all on one path. */
static inline struct as_edge_run as_edge_run_of_records(const struct as_pipe *pipes, size_t first, size_t n)
{
    return (struct as_edge_run){
        .base = pipes[first + n - 1].commit, .path = pipes[first].path, .first = (uint16_t)first, .n = (uint16_t)n};
}

struct as_pipe_batch;

struct as_edge_batch {
    uint32_t thread;
    size_t n, n_runs;            /* records; runs */
    const struct as_pipe *pipes; /* n; those of runs along edges are undefined */
    const struct as_edge_run *runs;
    uint64_t cycles_before; /* as in as_pipe_batch */
    size_t n_stays;
    const struct as_stay *stays; /* those that no edge has */
    bool last;                   /* of its thread */
    /* The batch as others get it, for its accesses; its records of edges are undefined. */
    const struct as_pipe_batch *batch;
};

/* The records first … end - 1 of a run along an edge. */
static inline void as_edge_expand(const struct as_edge_run *run, uint32_t thread, uint32_t first, uint32_t end,
                                  struct as_pipe *pipes)
{
    uint64_t base = run->base;
    for (uint32_t i = first; i < end; i++, pipes++) {
        const struct as_edge_record *record = &run->edge->records[i];
        pipes->fetch = base + (uint64_t)(int64_t)record->fetch;
        pipes->dispatch = base + (uint64_t)(int64_t)record->dispatch;
        pipes->issue = base + (uint64_t)(int64_t)record->issue;
        pipes->done = base + (uint64_t)(int64_t)record->done;
        pipes->commit = base + (uint64_t)(int64_t)record->commit;
        pipes->insn = record->insn;
        pipes->events = record->events;
        pipes->path = run->path;
        pipes->exception = 0;
        pipes->thread = (uint16_t)thread;
        pipes->wrong_path = record->wrong_path;
        pipes->flags = record->flags;
        pipes->uops = record->uops;
        pipes->wrong_delay = record->wrong_delay;
    }
}

static inline struct as_stay as_edge_stay_of(const struct as_edge_run *run, uint32_t i)
{
    const struct as_edge_stay *stay = &run->edge->stays[i];
    return (struct as_stay){
        .from = run->base + (uint64_t)(int64_t)stay->from, .cycles = stay->cycles, .resource = stay->resource};
}

/* The commit of a run's last record. */
static inline uint64_t as_edge_run_commit(const struct as_edge_run *run)
{
    return run->base + (uint64_t)(int64_t)run->committed;
}

static inline uint64_t as_edge_batch_commit(const struct as_edge_batch *batch)
{
    return as_edge_run_commit(&batch->runs[batch->n_runs - 1]);
}

#endif
