/* See oracle.h. One pass over the records, without work per cycle: for each group of records that commit together, the
 * cycles since the preceding commit are charged at once, then the commit's own cycle to the members. A group that may
 * have been cut at the end of a batch is carried to the next batch. */
#include "observe/oracle_stream.h"

#include <inttypes.h>

struct as_oracle *as_oracle_new(const struct as_run_info *run, struct as_error *err)
{
    uint32_t most = run->commit_group > run->commit_width ? run->commit_group : run->commit_width;
    if (run->commit_width > AS_COMMIT_WIDTH_MAX || most > AS_GROUP_MAX || most == 0) {
        as_error_set(err, "the Oracle can follow 1 to %d commits a cycle, not %" PRIu32, AS_COMMIT_WIDTH_MAX,
                     run->commit_width);
        return NULL;
    }
    struct as_oracle *oracle = as_alloc(sizeof *oracle);
    oracle->most = most;
    as_oracle_set_events(oracle, AS_EVENTS_TEA, AS_EVENTS_TEA);
    for (uint32_t n = 1; n <= AS_GROUP_MAX; n++)
        oracle->shares[n] = AS_CYCLE_UNITS % n == 0 ? AS_CYCLE_UNITS / n : 0;
    return oracle;
}

void as_oracle_set_events(struct as_oracle *oracle, uint32_t kept, uint32_t shown)
{
    oracle->kept = kept;
    oracle->shown = shown;
}

void as_oracle_free(struct as_oracle *oracle)
{
    if (!oracle)
        return;
    for (size_t i = 0; i < oracle->streams.len; i++) {
        as_oracle_table_free(&oracle->streams.data[i].rows);
        as_vec_free(&oracle->streams.data[i].tallies);
        as_vec_free(&oracle->streams.data[i].tallied);
    }
    as_oracle_table_free(&oracle->paths);
    as_oracle_table_free(&oracle->merged);
    free(oracle->all_rows.data);
    free(oracle->all_paths.data);
    as_stall_free(&oracle->unexplained);
    as_vec_free(&oracle->streams);
    as_vec_free(&oracle->threads);
    free(oracle);
}

/* The vector is the instruction's own, complete, as it is at commit. For cycles after a flush it is that of the
 * instruction that flushed, which the hardware would keep in a register. */
static inline void charge(struct as_oracle *oracle, struct as_oracle_stream *stream, const struct as_pipe *pipe,
                          uint32_t vector, enum as_state state, uint64_t cycles)
{
    uint64_t units = cycles * AS_CYCLE_UNITS;
    uint32_t events = vector & oracle->kept;
    as_oracle_charge_row(&stream->rows, pipe->insn, state, events, units);
    as_oracle_charge_row(&oracle->paths, pipe->path, state, events, units);
    stream->thread.units[state] += units;
}

/* The cycles between two commits. `before` is the record of the earlier one, all 0 at a thread's start. */
struct between {
    struct as_oracle *oracle;
    struct as_oracle_stream *stream;
    const struct as_pipe *before, *pipe;
    uint64_t from, to; /* cycles not charged yet */
    uint64_t stalled;  /* those charged as stalled */
};

/* Charges up to, not including, cycle `end`. */
static void charge_until(struct between *between, uint64_t end, enum as_state state, const struct as_pipe *to_whom,
                         uint32_t vector)
{
    end = end < between->to ? end : between->to;
    if (between->from >= end)
        return;
    charge(between->oracle, between->stream, to_whom, vector, state, end - between->from);
    between->stalled += state == AS_STATE_STALLED ? end - between->from : 0;
    between->from = end;
}

/* An empty ROB is charged to the instruction that flushed it, or to the one that it waits for. */
static void charge_empty_until(struct between *between, uint64_t end)
{
    enum as_state state = as_state_behind(between->before);
    const struct as_pipe *to_whom = state == AS_STATE_DRAINED ? between->pipe : between->before;
    bool first =
        to_whom == between->pipe && end < between->pipe->dispatch; /* the front end is late for its first try */
    charge_until(between, end, state, to_whom, first ? as_first_events(to_whom) : to_whom->events);
}

/* A try that has a vector of its own has met its event, without being another execution. */
static void count_first_try(struct as_oracle *oracle, struct as_oracle_stream *stream, const struct as_pipe *pipe)
{
    uint32_t events = as_first_events(pipe) & oracle->kept;
    if (!(pipe->flags & AS_PIPE_OWN_VECTORS))
        return;
    as_oracle_count_record(&stream->rows, pipe->insn, events, true, 1);
    as_oracle_count_record(&oracle->paths, pipe->path, events, true, 1);
}

static void charge_between(struct between *between)
{
    const struct as_pipe *pipe = between->pipe;
    if (pipe->flags & (AS_PIPE_EXCEPTION | AS_PIPE_REFETCHED)) {
        struct as_tries tries = as_tries_of(pipe);
        charge_empty_until(between, tries.first);
        charge_until(between, tries.fault, AS_STATE_STALLED, pipe, as_first_events(pipe));
        charge_until(between, pipe->dispatch, AS_STATE_EXCEPTION, pipe, as_first_events(pipe));
        count_first_try(between->oracle, between->stream, pipe);
    }
    charge_empty_until(between, pipe->dispatch);
    charge_until(between, pipe->commit, AS_STATE_STALLED, pipe, pipe->events);
    if (between->stalled && !(pipe->events & between->oracle->shown))
        as_stall_note(&between->oracle->unexplained, pipe->insn, between->stalled, 1);
}

void as_oracle_join(struct as_oracle *oracle, struct as_oracle_stream *stream, struct as_oracle_group *group,
                    const struct as_pipe *pipe)
{
    bool continues = pipe->flags & AS_PIPE_CONTINUES;
    uint32_t events = pipe->events & oracle->kept;
    if (continues && group->n > 0 && group->ids[group->n - 1] == pipe->insn)
        return;
    if (group->n == oracle->most) {
        stream->crowded = pipe->commit;
        return;
    }
    group->ids[group->n] = pipe->insn;
    group->events[group->n] = events;
    group->paths[group->n++] = pipe->path;
}

/* Also counts a record. */
static void join(struct as_oracle *oracle, struct as_oracle_stream *stream, struct as_oracle_group *group,
                 const struct as_pipe *pipe)
{
    bool continues = pipe->flags & AS_PIPE_CONTINUES;
    uint32_t events = pipe->events & oracle->kept;
    as_oracle_count_record(&stream->rows, pipe->insn, events, continues, 1);
    as_oracle_count_record(&oracle->paths, pipe->path, events, continues, 1);
    stream->continuing += continues;
    as_oracle_join(oracle, stream, group, pipe);
}

void as_oracle_settle(struct as_oracle *oracle, struct as_oracle_stream *stream, struct as_oracle_group *group,
                      uint64_t times)
{
    if (group->n == 0)
        return;
    for (uint32_t i = 0; i < group->n; i++) {
        uint64_t share = as_share(AS_CYCLE_UNITS, group->n, i) * times;
        as_oracle_charge_row(&stream->rows, group->ids[i], AS_STATE_COMPUTING, group->events[i], share);
        as_oracle_charge_row(&oracle->paths, group->paths[i], AS_STATE_COMPUTING, group->events[i], share);
    }
    stream->thread.units[AS_STATE_COMPUTING] += AS_CYCLE_UNITS * times;
    group->n = 0;
}

/* The same for a whole group in the usual case: one path, no rep iterations, and a size that divides a cycle. */
static inline void settle_quickly(struct as_oracle *oracle, struct as_oracle_stream *stream, const struct as_pipe *pipe,
                                  const struct as_pipe *end, uint64_t share)
{
    uint32_t path = pipe->path;
    struct as_oracle_row *path_row = &as_oracle_page_at(&oracle->paths, path)->rows[path % AS_PAGE_ROWS];
    path_row->executions += (uint64_t)(end - pipe);
    path_row->units[AS_STATE_COMPUTING] += AS_CYCLE_UNITS;
    path_row->base += AS_CYCLE_UNITS;
    stream->thread.units[AS_STATE_COMPUTING] += AS_CYCLE_UNITS;
    for (; pipe < end; pipe++) {
        struct as_oracle_row *row = &as_oracle_page_at(&stream->rows, pipe->insn)->rows[pipe->insn % AS_PAGE_ROWS];
        uint32_t events = pipe->events & oracle->kept;
        row->executions++;
        row->units[AS_STATE_COMPUTING] += share;
        if (events == 0) {
            row->base += share;
            continue;
        }
        as_oracle_part_add(&stream->rows, pipe->insn, events, share, 1);
        as_oracle_part_add(&oracle->paths, path, events, share, 1);
        path_row->base -= share;
    }
}

static inline bool out_of_order(const struct as_pipe *before, const struct as_pipe *pipe)
{
    return (pipe->commit < before->commit) | (pipe->dispatch < before->dispatch) | (pipe->fetch < before->fetch) |
           (pipe->fetch > pipe->dispatch) | (pipe->dispatch > pipe->commit);
}

/* A group of records within a batch, and what was found while searching for its end. */
struct span {
    const struct as_pipe *pipe, *end;
    uint32_t odd; /* 0: one path, and no rep iterations */
    bool disordered;
};

static inline struct span span_from(const struct as_pipe *pipe, const struct as_pipe *end)
{
    struct span span = {.pipe = pipe, .end = pipe + 1, .odd = pipe->flags & AS_PIPE_CONTINUES};
    for (; span.end < end && span.end->commit == pipe->commit; span.end++) {
        span.odd |= (span.end->path ^ pipe->path) | (span.end->flags & AS_PIPE_CONTINUES);
        span.disordered |= out_of_order(span.end - 1, span.end);
    }
    return span;
}

/* Charges one group that the batch does not cut. */
static inline void charge_group(struct as_oracle *oracle, struct as_oracle_stream *stream, const struct span *span)
{
    size_t n = (size_t)(span->end - span->pipe);
    if (span->odd == 0 && n <= oracle->most && oracle->shares[n]) {
        settle_quickly(oracle, stream, span->pipe, span->end, oracle->shares[n]);
        return;
    }
    struct as_oracle_group group = {.n = 0};
    for (const struct as_pipe *pipe = span->pipe; pipe < span->end; pipe++)
        join(oracle, stream, &group, pipe);
    as_oracle_settle(oracle, stream, &group, 1);
}

struct as_oracle_stream *as_oracle_stream_of(struct as_oracle *oracle, uint32_t number)
{
    while (oracle->streams.len <= number) {
        struct as_oracle_stream *stream = as_vec_push(&oracle->streams);
        *stream = (struct as_oracle_stream){.thread.number = (uint32_t)(oracle->streams.len - 1),
                                            .rows.noting = oracle->noting};
    }
    return &oracle->streams.data[number];
}

/* Adds a thread's rows to the shared ones. */
static void merge_rows(struct as_oracle *oracle, uint32_t number)
{
    if (number >= oracle->streams.len)
        return;
    struct as_oracle_stream *stream = &oracle->streams.data[number];
    as_oracle_table_merge(&oracle->merged, &stream->rows);
    as_oracle_table_free(&stream->rows);
    stream->rows.noting = oracle->noting;
    stream->thread.merged = true;
}

/* Another thread with the same number may follow, which starts at cycle 1 again. */
void as_oracle_end_stream(struct as_oracle *oracle, struct as_oracle_stream *stream)
{
    as_oracle_carry(oracle, stream);
    as_oracle_settle(oracle, stream, &stream->carried, 1);
    as_oracle_charge_edges(oracle, stream);
    stream->thread.instructions = stream->thread.records - stream->continuing;
    stream->thread.cycles += stream->last.commit;
    uint64_t cycles = stream->last.commit;
    stream->last = (struct as_pipe){0};
    if (!oracle->finished)
        merge_rows(oracle, as_thread_limit_end(&oracle->limit, stream->thread.number, cycles));
}

/* Handles the records that belong to the carried group. Returns the first one that does not. */
static const struct as_pipe *charge_carried(struct as_oracle *oracle, struct as_oracle_stream *stream,
                                            const struct as_pipe *pipe, const struct as_pipe *end)
{
    if (stream->carried.n == 0)
        return pipe;
    for (; pipe < end && pipe->commit == stream->last.commit; pipe++) {
        join(oracle, stream, &stream->carried, pipe);
        stream->disordered |= out_of_order(&stream->last, pipe);
        stream->last = *pipe;
    }
    if (pipe < end)
        as_oracle_settle(oracle, stream, &stream->carried, 1);
    return pipe;
}

void as_oracle_add_records(struct as_oracle *oracle, struct as_oracle_stream *stream, const struct as_pipe *pipes,
                           size_t n)
{
    const struct as_pipe *end = pipes + n, *pipe = charge_carried(oracle, stream, pipes, end);
    const struct as_pipe *before = &stream->last;
    while (pipe < end) {
        struct span span = span_from(pipe, end);
        stream->disordered |= span.disordered | out_of_order(before, pipe);
        if (pipe->commit > before->commit + 1)
            charge_between(&(struct between){oracle, stream, before, pipe, before->commit + 1, pipe->commit, 0});
        if (span.end == end)
            break;
        charge_group(oracle, stream, &span);
        before = span.end - 1;
        pipe = span.end;
    }
    for (; pipe < end; pipe++)
        join(oracle, stream, &stream->carried, pipe);
    stream->last = end[-1];
    stream->thread.records += n;
}

static void observe(void *self, const struct as_pipe_batch *batch)
{
    struct as_oracle_stream *stream = as_oracle_stream_of(self, batch->thread);
    as_oracle_add_records(self, stream, batch->pipes, batch->n);
    if (stream->last.flags & AS_PIPE_LAST)
        as_oracle_end_stream(self, stream);
}

static void finish(void *self, FILE *out)
{
    struct as_oracle *oracle = self;
    if (oracle->finished)
        return;
    oracle->finished = true;
    for (size_t i = 0; i < oracle->streams.len; i++) {
        struct as_oracle_stream *stream = &oracle->streams.data[i];
        as_oracle_end_stream(oracle, stream);
        if (stream->thread.records > 0)
            *as_vec_push(&oracle->threads) = stream->thread;
        as_oracle_table_add(&stream->rows, &oracle->all_rows);
    }
    as_oracle_table_add(&oracle->merged, &oracle->all_rows);
    as_oracle_table_add(&oracle->paths, &oracle->all_paths);
}

static void *create(const struct as_run_info *run, const char *argument)
{
    return as_oracle_new(run, NULL);
}

static void release(void *self)
{
    as_oracle_free(self);
}

const struct as_observer as_oracle_observer = {
    .version = AS_OBSERVER_VERSION,
    .record_size = sizeof(struct as_pipe),
    .name = "oracle",
    .create = create,
    .batch = observe,
    .finish = finish,
    .free = release,
    .edges = as_oracle_edges,
    .forget = as_oracle_forget,
};

/* ---- results ---- */

static uint64_t sum(const uint64_t units[AS_STATE_COUNT])
{
    uint64_t total = 0;
    for (int i = 0; i < AS_STATE_COUNT; i++)
        total += units[i];
    return total;
}

uint64_t as_oracle_row_units(const struct as_oracle_row *row)
{
    return sum(row->units);
}

const struct as_oracle_row *as_oracle_rows(const struct as_oracle *oracle, size_t *n)
{
    *n = oracle->all_rows.len;
    return oracle->all_rows.data;
}

const struct as_oracle_row *as_oracle_paths(const struct as_oracle *oracle, size_t *n)
{
    *n = oracle->all_paths.len;
    return oracle->all_paths.data;
}

const struct as_oracle_thread *as_oracle_threads(const struct as_oracle *oracle, size_t *n)
{
    *n = oracle->threads.len;
    return oracle->threads.data;
}

struct as_oracle_thread as_oracle_total(const struct as_oracle *oracle)
{
    struct as_oracle_thread total = {0};
    for (size_t i = 0; i < oracle->threads.len; i++) {
        const struct as_oracle_thread *thread = &oracle->threads.data[i];
        total.cycles += thread->cycles;
        total.records += thread->records;
        total.instructions += thread->instructions;
        for (int state = 0; state < AS_STATE_COUNT; state++)
            total.units[state] += thread->units[state];
    }
    return total;
}

void as_oracle_profile(const struct as_oracle *oracle, struct as_profile *profile)
{
    *profile = (struct as_profile){0};
    for (size_t id = oracle->all_rows.len; id-- > 0;) {
        const struct as_oracle_row *row = &oracle->all_rows.data[id];
        as_profile_add(profile, (uint32_t)id, sum(row->units));
        for (int state = 0; state < AS_STATE_COUNT; state++)
            profile->states[state] += row->units[state];
    }
}

static const struct as_oracle_table *table_of(const struct as_oracle *oracle, uint32_t thread)
{
    static const struct as_oracle_table none;
    if (thread == AS_NO_THREAD)
        return &oracle->merged;
    return thread < oracle->streams.len ? &oracle->streams.data[thread].rows : &none;
}

const struct as_oracle_row *as_oracle_thread_row(const struct as_oracle *oracle, uint32_t thread, uint32_t id)
{
    const struct as_oracle_row *row = as_oracle_row_find(table_of(oracle, thread), id);
    return row && (row->executions || sum(row->units)) ? row : NULL;
}

struct as_pics as_oracle_pics(const struct as_oracle *oracle)
{
    struct as_pics all = as_oracle_table_pics(&oracle->merged);
    for (size_t i = 0; i < oracle->streams.len; i++) {
        struct as_pics one = as_oracle_table_pics(&oracle->streams.data[i].rows);
        for (size_t k = 0; k < one.len; k++)
            as_pics_push(&all, &one.data[k]);
        as_pics_free(&one);
    }
    as_pics_sort(&all);
    return all;
}

struct as_pics as_oracle_thread_pics(const struct as_oracle *oracle, uint32_t thread)
{
    return as_oracle_table_pics(table_of(oracle, thread));
}

const struct as_oracle_row *as_oracle_path_row(const struct as_oracle *oracle, uint32_t path)
{
    return as_oracle_row_find(&oracle->paths, path);
}

struct as_pics as_oracle_path_pics(const struct as_oracle *oracle)
{
    return as_oracle_table_pics(&oracle->paths);
}

void as_oracle_note_parts(struct as_oracle *oracle)
{
    oracle->noting = oracle->merged.noting = oracle->paths.noting = true;
    for (size_t i = 0; i < oracle->streams.len; i++)
        oracle->streams.data[i].rows.noting = true;
}

/* Moves the keys that were noted to parts without units. */
static void take_noted(struct as_oracle_table *table, struct as_pics *parts)
{
    for (size_t i = 0; i < table->noted.len; i++)
        as_pics_push(parts, &(struct as_pics_entry){.id = (uint32_t)(table->noted.data[i] >> 32),
                                                    .events = (uint32_t)table->noted.data[i]});
    as_vec_clear(&table->noted);
}

struct as_pics as_oracle_noted_parts(struct as_oracle *oracle, bool paths)
{
    struct as_pics parts = {0};
    take_noted(paths ? &oracle->paths : &oracle->merged, &parts);
    for (size_t i = 0; i < oracle->streams.len && !paths; i++)
        take_noted(&oracle->streams.data[i].rows, &parts);
    as_pics_sort(&parts);
    for (size_t i = 0; i < parts.len; i++) {
        uint64_t key = as_pics_key(&parts.data[i]);
        parts.data[i].units = as_oracle_part_units(paths ? &oracle->paths : &oracle->merged, key);
        for (size_t thread = 0; thread < oracle->streams.len && !paths; thread++)
            parts.data[i].units += as_oracle_part_units(&oracle->streams.data[thread].rows, key);
    }
    return parts;
}

uint32_t as_oracle_events(const struct as_oracle *oracle)
{
    return oracle->kept;
}

const struct as_stall_lengths *as_oracle_unexplained(const struct as_oracle *oracle)
{
    return &oracle->unexplained;
}

static bool check_streams(const struct as_oracle *oracle, struct as_error *err)
{
    for (size_t i = 0; i < oracle->streams.len; i++) {
        const struct as_oracle_stream *stream = &oracle->streams.data[i];
        const struct as_oracle_thread *thread = &stream->thread;
        if (stream->disordered)
            return as_error_set(err, "Oracle: records of thread %zu are out of order", i);
        if (stream->crowded)
            return as_error_set(err,
                                "Oracle: more than %" PRIu32 " instructions of thread %zu commit in cycle %" PRIu64,
                                oracle->most, i, stream->crowded);
        if (!as_oracle_table_check(&stream->rows, "instruction", err))
            return false;
        if (sum(thread->units) != thread->cycles * AS_CYCLE_UNITS)
            return as_error_set(err, "Oracle: thread %zu ran %" PRIu64 " cycles, but %.6f were charged", i,
                                thread->cycles, (double)sum(thread->units) / (double)AS_CYCLE_UNITS);
    }
    return true;
}

/* Rows and threads are summed independently: each state must agree. */
static bool check_rows(const struct as_oracle_rows *rows, const char *what, const struct as_oracle_thread *total,
                       struct as_error *err)
{
    struct as_oracle_row sums = {0};
    for (size_t i = 0; i < rows->len; i++) {
        sums.executions += rows->data[i].executions;
        for (int state = 0; state < AS_STATE_COUNT; state++)
            sums.units[state] += rows->data[i].units[state];
    }
    if (sums.executions != total->instructions)
        return as_error_set(err, "Oracle: %" PRIu64 " instructions were executed, but %" PRIu64 " were counted by %s",
                            total->instructions, sums.executions, what);
    if (memcmp(sums.units, total->units, sizeof sums.units) != 0)
        return as_error_set(err, "Oracle: the cycles by %s do not add up to those of the run", what);
    return true;
}

bool as_oracle_check(const struct as_oracle *oracle, struct as_error *err)
{
    struct as_oracle_thread total = as_oracle_total(oracle);
    return check_streams(oracle, err) && as_oracle_table_check(&oracle->merged, "instruction", err) &&
           as_oracle_table_check(&oracle->paths, "call path", err) &&
           check_rows(&oracle->all_rows, "instruction", &total, err) &&
           check_rows(&oracle->all_paths, "call path", &total, err);
}
