/* The Oracle for blocks whose times are known: no work per instruction, and little per block.
 *
 * An edge charges the same every time. So the executions of each edge are counted by thread, and charged at the end,
 * all at once; the same by call path, as long as the path stays the same. Two things do not depend on the edge alone.
 * The cycle of the last group of a block, which the following instructions may share, is counted for each of the last
 * few sequels of the edge. Time after a flush is charged each time, to the instruction before the block.
 */
#include "observe/oracle_stream.h"

/* Charges for an edge: to its instructions, or to a path. */
struct target {
    struct as_oracle *oracle;
    struct as_oracle_stream *stream;
    struct as_oracle_table *table;
    const struct as_edge *edge;
    uint64_t times;
    bool by_path;
    uint32_t path;
};

static uint32_t row_of(const struct target *target, const struct as_edge_record *record)
{
    return target->by_path ? target->path : record->insn;
}

/* States of the thread are charged with the instructions. */
static void charge(const struct target *target, const struct as_edge_record *record, enum as_state state,
                   uint64_t units)
{
    as_oracle_charge_row(target->table, row_of(target, record), state, record->events & target->oracle->kept,
                         units * target->times);
    if (!target->by_path)
        target->stream->thread.units[state] += units * target->times;
}

static enum as_state state_behind(uint16_t flags)
{
    return as_state_behind(&(struct as_pipe){.flags = flags});
}

/* The cycles between two commits in which the ROB was empty, and those in which the record was not finished. */
struct gap {
    uint64_t empty, stalled;
};

static struct gap gap_of(int32_t before, const struct as_edge_record *record)
{
    int32_t from = before + 1, filled = record->dispatch > from ? record->dispatch : from;
    if (record->commit <= from)
        return (struct gap){0};
    filled = filled < record->commit ? filled : record->commit;
    return (struct gap){.empty = (uint64_t)(filled - from), .stalled = (uint64_t)(record->commit - filled)};
}

/* `before` NULL: the instruction before the block, which is charged elsewhere for what it flushed. */
static void charge_gap(const struct target *target, const struct as_edge_record *before,
                       const struct as_edge_record *record)
{
    struct gap gap = gap_of(before ? before->commit : target->edge->before, record);
    enum as_state state = state_behind(before ? before->flags : target->edge->flags_before);
    const struct as_edge_record *whose = state == AS_STATE_DRAINED ? record : before;
    if (gap.empty && whose)
        charge(target, whose, state, gap.empty * AS_CYCLE_UNITS);
    if (!gap.stalled)
        return;
    charge(target, record, AS_STATE_STALLED, gap.stalled * AS_CYCLE_UNITS);
    if (!target->by_path && !(record->events & target->oracle->shown))
        as_stall_note(&target->oracle->unexplained, record->insn, gap.stalled, target->times);
}

static bool is_member(const struct as_edge_record *first, const struct as_edge_record *record)
{
    return record == first || !(record->flags & AS_PIPE_CONTINUES) || record[-1].insn != record->insn;
}

/* A group within the block: records first … end - 1. */
static void charge_group(const struct target *target, uint32_t first, uint32_t end)
{
    const struct as_edge_record *records = target->edge->records;
    uint32_t n = 0, at = 0;
    for (uint32_t i = first; i < end; i++)
        n += is_member(&records[first], &records[i]);
    if (n > target->oracle->most)
        target->stream->crowded = 1;
    for (uint32_t i = first; i < end; i++)
        if (is_member(&records[first], &records[i]))
            charge(target, &records[i], AS_STATE_COMPUTING, as_share(AS_CYCLE_UNITS, n, at++));
}

static uint32_t group_end(const struct as_edge *edge, uint32_t first)
{
    uint32_t end = first + 1;
    while (end < edge->n && edge->records[end].commit == edge->records[first].commit)
        end++;
    return end;
}

/* Charges everything that is the same every time. */
static void charge_edge(const struct target *target)
{
    const struct as_edge *edge = target->edge;
    for (uint32_t i = 0; i < edge->n; i++)
        as_oracle_count_record(target->table, row_of(target, &edge->records[i]),
                               edge->records[i].events & target->oracle->kept,
                               edge->records[i].flags & AS_PIPE_CONTINUES, target->times);
    for (uint32_t first = 0, end; first < edge->n; first = end) {
        end = group_end(edge, first);
        charge_gap(target, first > 0 ? &edge->records[first - 1] : NULL, &edge->records[first]);
        bool shared = first == 0 && edge->records[0].commit == edge->before;
        if (!shared && first != edge->last_start)
            charge_group(target, first, end);
    }
}

/* Adds records first … end - 1 of an edge to the group. */
static void join_records(struct as_oracle *oracle, struct as_oracle_stream *stream, struct as_oracle_group *group,
                         const struct as_edge *edge, uint32_t path, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        as_oracle_join(oracle, stream, group,
                       &(struct as_pipe){.commit = 1,
                                         .insn = edge->records[i].insn,
                                         .events = edge->records[i].events,
                                         .path = path,
                                         .flags = edge->records[i].flags});
}

/* How many records of a block commit together with the preceding instruction. */
static inline uint32_t count_joined(const struct as_edge *edge)
{
    return edge->records[0].commit == edge->before ? edge->first_end : 0;
}

/* Charges the cycles of groups that consist of the edge's last records and what followed. */
static void charge_sequel(struct as_oracle *oracle, struct as_oracle_stream *stream,
                          const struct as_oracle_tally *tally, struct as_oracle_sequel *sequel)
{
    struct as_oracle_group group = {.n = 0};
    if (!sequel->times)
        return;
    join_records(oracle, stream, &group, tally->edge, tally->path, tally->edge->last_start, tally->edge->n);
    if (sequel->whole)
        join_records(oracle, stream, &group, sequel->whole, sequel->whole_path, 0, sequel->whole->n);
    join_records(oracle, stream, &group, sequel->next, sequel->next_path, 0, count_joined(sequel->next));
    as_oracle_settle(oracle, stream, &group, sequel->times);
    sequel->times = 0;
}

static void charge_sequels(struct as_oracle *oracle, struct as_oracle_stream *stream, struct as_oracle_tally *tally)
{
    for (uint32_t i = 0; i < AS_ORACLE_SEQUELS; i++)
        charge_sequel(oracle, stream, tally, &tally->sequels[i]);
}

static void charge_path(struct as_oracle *oracle, struct as_oracle_stream *stream, struct as_oracle_tally *tally)
{
    charge_sequels(oracle, stream, tally);
    if (tally->path_runs)
        charge_edge(&(struct target){.oracle = oracle,
                                     .stream = stream,
                                     .table = &oracle->paths,
                                     .edge = tally->edge,
                                     .times = tally->path_runs,
                                     .by_path = true,
                                     .path = tally->path});
    tally->path_runs = 0;
}

void as_oracle_charge_edges(struct as_oracle *oracle, struct as_oracle_stream *stream)
{
    for (size_t i = 0; i < stream->tallied.len; i++) {
        struct as_oracle_tally *tally = &stream->tallies.data[stream->tallied.data[i]];
        charge_path(oracle, stream, tally);
        if (tally->runs)
            charge_edge(&(struct target){
                .oracle = oracle, .stream = stream, .table = &stream->rows, .edge = tally->edge, .times = tally->runs});
        *tally = (struct as_oracle_tally){0};
    }
    as_vec_clear(&stream->tallied);
}

void as_oracle_forget(void *self)
{
    struct as_oracle *oracle = self;
    for (size_t i = 0; i < oracle->streams.len; i++) {
        as_oracle_carry(oracle, &oracle->streams.data[i]);
        as_oracle_charge_edges(oracle, &oracle->streams.data[i]);
    }
}

void as_oracle_carry(struct as_oracle *oracle, struct as_oracle_stream *stream)
{
    if (!stream->open)
        return;
    const struct as_oracle_tally *tally = &stream->tallies.data[stream->open - 1];
    join_records(oracle, stream, &stream->carried, tally->edge, tally->path, tally->edge->last_start, tally->edge->n);
    if (stream->whole)
        join_records(oracle, stream, &stream->carried, stream->whole, stream->whole_path, 0, stream->whole->n);
    stream->whole = NULL;
    stream->open = 0;
}

/* ---- a run ---- */

static bool is_ordered(const struct as_edge *edge)
{
    for (uint32_t i = 0; i < edge->n; i++) {
        const struct as_edge_record *record = &edge->records[i];
        if (record->fetch > record->dispatch || record->dispatch > record->commit)
            return false;
        if (i > 0 && (record->commit < record[-1].commit || record->dispatch < record[-1].dispatch ||
                      record->fetch < record[-1].fetch))
            return false;
    }
    return true;
}

static __attribute__((noinline)) struct as_oracle_tally *new_tally(struct as_oracle_stream *stream,
                                                                   const struct as_edge *edge)
{
    while (stream->tallies.len <= edge->number)
        *as_vec_push(&stream->tallies) = (struct as_oracle_tally){0};
    *as_vec_push(&stream->tallied) = edge->number;
    struct as_oracle_tally *tally = &stream->tallies.data[edge->number];
    tally->edge = edge;
    stream->disordered |= !is_ordered(edge);
    return tally;
}

static inline void count_run(struct as_oracle *oracle, struct as_oracle_stream *stream, const struct as_edge_run *run)
{
    const struct as_edge *edge = run->edge;
    bool is_new = edge->number >= stream->tallies.len || !stream->tallies.data[edge->number].edge;
    struct as_oracle_tally *tally =
        __builtin_expect(is_new, 0) ? new_tally(stream, edge) : &stream->tallies.data[edge->number];
    if (__builtin_expect(tally->path != run->path, 0)) {
        charge_path(oracle, stream, tally);
        tally->path = run->path;
    }
    tally->runs++;
    tally->path_runs++;
}

/* Charges the empty ROB to the instruction before the block, which flushed it. */
static void charge_behind(struct as_oracle *oracle, struct as_oracle_stream *stream, const struct as_edge *edge)
{
    uint64_t units = gap_of(edge->before, &edge->records[0]).empty * AS_CYCLE_UNITS;
    enum as_state state = state_behind(edge->flags_before);
    uint32_t events = stream->last.events & oracle->kept;
    if (!units)
        return;
    as_oracle_charge_row(&stream->rows, stream->last.insn, state, events, units);
    as_oracle_charge_row(&oracle->paths, stream->last.path, state, events, units);
    stream->thread.units[state] += units;
}

/* Notes the last record, as far as the following code needs it. */
static inline void note_last(struct as_oracle_stream *stream, const struct as_edge_run *run)
{
    const struct as_edge_record *last = &run->edge->records[run->edge->n - 1];
    stream->last.fetch = run->base + (uint64_t)(int64_t)last->fetch;
    stream->last.dispatch = run->base + (uint64_t)(int64_t)last->dispatch;
    stream->last.commit = run->base + (uint64_t)(int64_t)last->commit;
    stream->last.insn = last->insn;
    stream->last.events = last->events;
    stream->last.path = run->path;
    stream->last.flags = last->flags;
}

static inline bool is_sequel(const struct as_oracle_sequel *sequel, const struct as_oracle_stream *stream,
                             const struct as_edge_run *run)
{
    return sequel->next == run->edge && sequel->next_path == run->path && sequel->whole == stream->whole &&
           (!stream->whole || sequel->whole_path == stream->whole_path);
}

/* The run ends the last group of the open edge. */
static inline void count_sequel(struct as_oracle *oracle, struct as_oracle_stream *stream,
                                const struct as_edge_run *run)
{
    struct as_oracle_tally *tally = &stream->tallies.data[stream->open - 1];
    struct as_oracle_sequel *sequel = tally->sequels;
    while (sequel < &tally->sequels[AS_ORACLE_SEQUELS] && !is_sequel(sequel, stream, run))
        sequel++;
    if (__builtin_expect(sequel == &tally->sequels[AS_ORACLE_SEQUELS], 0)) {
        sequel = &tally->sequels[tally->oldest++ % AS_ORACLE_SEQUELS];
        charge_sequel(oracle, stream, tally, sequel);
        *sequel = (struct as_oracle_sequel){
            .whole = stream->whole, .next = run->edge, .whole_path = stream->whole_path, .next_path = run->path};
    }
    sequel->times++;
    stream->whole = NULL;
}

/* The whole run belongs to the open group, and does not end it. */
static void join_group(struct as_oracle *oracle, struct as_oracle_stream *stream, const struct as_edge_run *run)
{
    if (stream->open && !stream->whole) {
        stream->whole = run->edge;
        stream->whole_path = run->path;
        return;
    }
    as_oracle_carry(oracle, stream);
    join_records(oracle, stream, &stream->carried, run->edge, run->path, 0, run->edge->n);
}

static inline void add_run(struct as_oracle *oracle, struct as_oracle_stream *stream, const struct as_edge_run *run)
{
    const struct as_edge *edge = run->edge;
    const struct as_edge_record *first = &edge->records[0];
    uint32_t joined = count_joined(edge);
    stream->disordered |= (run->base + (uint64_t)(int64_t)edge->before != stream->last.commit) |
                          (run->base + (uint64_t)(int64_t)first->fetch < stream->last.fetch) |
                          (run->base + (uint64_t)(int64_t)first->dispatch < stream->last.dispatch);
    if (__builtin_expect(joined == edge->n, 0)) {
        join_group(oracle, stream, run);
    } else if (__builtin_expect(stream->open != 0, 1)) {
        count_sequel(oracle, stream, run);
    } else {
        join_records(oracle, stream, &stream->carried, edge, run->path, 0, joined);
        as_oracle_settle(oracle, stream, &stream->carried, 1);
    }
    if (edge->flags_before)
        charge_behind(oracle, stream, edge);
    count_run(oracle, stream, run);
    if (joined != edge->n)
        stream->open = edge->number + 1;
    note_last(stream, run);
    stream->thread.records += edge->n;
    stream->continuing += edge->continued;
}

void as_oracle_edges(void *self, const struct as_edge_batch *batch)
{
    struct as_oracle *oracle = self;
    struct as_oracle_stream *stream = as_oracle_stream_of(oracle, batch->thread);
    for (size_t i = 0; i < batch->n_runs;) {
        const struct as_edge_run *run = &batch->runs[i++];
        if (run->edge) {
            add_run(oracle, stream, run);
            continue;
        }
        size_t n = run->n; /* with all that follow it */
        for (; i < batch->n_runs && !batch->runs[i].edge; i++)
            n += batch->runs[i].n;
        as_oracle_carry(oracle, stream);
        as_oracle_add_records(oracle, stream, &batch->pipes[run->first], n);
    }
    if (batch->last)
        as_oracle_end_stream(oracle, stream);
}
