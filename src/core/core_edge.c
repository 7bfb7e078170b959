/* See core_edge.h. */
#include "core/core_edge.h"

struct as_edge_before as_edge_note_before(const struct as_core *core)
{
    return (struct as_edge_before){.n_uops = core->n_uops,
                                   .n_continued = core->n_continued,
                                   .kernel_cycles = core->kernel_cycles,
                                   .last_commit = core->last_commit,
                                   .stays = core->stays ? core->stays->stays.len : 0,
                                   .last_flags = core->last_flags,
                                   .counters = core->counters};
}

static void count_into(struct as_known *edge, const struct as_core *core, const struct as_edge_before *before)
{
    const struct as_counters *now = &core->counters, *then = &before->counters;
    edge->uops = (uint32_t)(core->n_uops - before->n_uops);
    edge->branches = (uint32_t)(now->branches - then->branches);
    struct as_known_counts counts = {
        .mispredictions = (uint32_t)(now->branch_mispredictions - then->branch_mispredictions),
        .btb_misses = (uint32_t)(now->btb_misses - then->btb_misses),
        .flushes = (uint32_t)(now->flushes - then->flushes),
        .wrong_path = (uint32_t)(now->wrong_path_instructions - then->wrong_path_instructions),
        .forwards = (uint32_t)(now->store_forwards - then->store_forwards),
        .kernel_cycles = core->kernel_cycles - before->kernel_cycles,
    };
    bool none = !(counts.mispredictions | counts.btb_misses | counts.flushes | counts.wrong_path | counts.forwards |
                  counts.kernel_cycles);
    if (none)
        return;
    struct as_known_counts *kept = as_memo_take_cold(core->walk.memo, sizeof *kept);
    *kept = counts;
    edge->counts = kept;
}

struct as_edge_record as_edge_record_of(const struct as_pipe *pipe, uint64_t base)
{
    return (struct as_edge_record){
        .fetch = (int32_t)(pipe->fetch - base),
        .dispatch = (int32_t)(pipe->dispatch - base),
        .issue = (int32_t)(pipe->issue - base),
        .done = (int32_t)(pipe->done - base),
        .commit = (int32_t)(pipe->commit - base),
        .insn = pipe->insn,
        .events = pipe->events,
        .wrong_path = pipe->wrong_path,
        .flags = pipe->flags,
        .uops = pipe->uops,
        .wrong_delay = pipe->wrong_delay,
    };
}

/* Which records commit together with the first, and with the last. */
static void find_groups(struct as_edge *edge)
{
    uint32_t first = 1, last = edge->n - 1;
    while (first < edge->n && edge->records[first].commit == edge->records[0].commit)
        first++;
    while (last > 0 && edge->records[last - 1].commit == edge->committed)
        last--;
    edge->first_end = (uint16_t)first;
    edge->last_start = (uint16_t)last;
}

/* ---- stays, where an observer wants occupancy ---- */

/* Stays that state and answers decide. MSHRs are the memory's, and a store leaves its queue when it drains. */
static bool is_pipelines(const struct as_stay *stay)
{
    return stay->resource <= AS_RESOURCE_LOAD_QUEUE;
}

static uint32_t count_stays(const struct as_core *core, size_t from)
{
    uint32_t n = 0;
    for (size_t i = from; core->stays && i < core->stays->stays.len; i++)
        n += is_pipelines(&core->stays->stays.data[i]);
    return n;
}

/* Stays of the block that the pipeline has just run move from the log, where they are from `from` on, to its edge. */
static void move_stays(struct as_core *core, size_t from, struct as_edge_stay *to, uint64_t base)
{
    size_t kept = from;
    for (size_t i = from; core->stays && i < core->stays->stays.len; i++) {
        const struct as_stay stay = core->stays->stays.data[i];
        if (is_pipelines(&stay))
            *to++ = (struct as_edge_stay){
                .from = (int32_t)(stay.from - base), .cycles = stay.cycles, .resource = stay.resource};
        else
            core->stays->stays.data[kept++] = stay;
    }
    if (core->stays)
        core->stays->stays.len = kept;
}

struct as_known *as_edge_make(struct as_core *core, struct as_node *node, const struct as_pipe *pipes, uint64_t base,
                              const struct as_edge_before *before)
{
    struct as_memo *memo = core->walk.memo;
    uint32_t n = node->body->n, n_stays = count_stays(core, before->stays);
    struct as_edge_record *records = as_memo_take_cold(memo, n * sizeof *records);
    struct as_edge_stay *stays = n_stays ? as_memo_take_cold(memo, n_stays * sizeof *stays) : NULL;
    struct as_known *known = as_memo_take(memo, sizeof *known);
    *known = (struct as_known){.node = node, .dispatched = (int32_t)(core->last_dispatch - base)};
    count_into(known, core, before);
    struct as_edge *edge = &known->edge;
    edge->number = (uint32_t)memo->counters.edges++;
    edge->n = n;
    edge->continued = (uint32_t)(core->n_continued - before->n_continued);
    edge->before = (int32_t)(before->last_commit - base);
    edge->flags_before = before->last_flags;
    edge->committed = (int32_t)(core->last_commit - base);
    for (uint32_t i = 0; i < n; i++)
        records[i] = as_edge_record_of(&pipes[i], base);
    edge->records = records;
    known->flags = records[n - 1].flags & AS_STATE_FLAGS;
    find_groups(edge);
    edge->n_stays = n_stays;
    edge->stays = stays;
    move_stays(core, before->stays, stays, base);
    memo->counters.made_edges++;
    as_memo_pay(memo, AS_PRICE_EDGE);
    return known;
}
