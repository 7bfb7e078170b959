/* See intervals.h. Most of a batch falls into one interval. The interval used last is therefore cached, and a division
 * is needed only outside of it. Runs along an edge in it are counted, and what they add is added once, when another
 * interval comes. */
#include "observe/intervals.h"

#include "base/vec.h"

const char *as_interval_name(unsigned count)
{
    static const char *const names[AS_INTERVAL_EVENTS] = {"instructions", "uops",    "taken",
                                                          "mispredicted", "flushes", "exceptions"};
    return count < AS_INTERVAL_EVENTS ? names[count] : as_events[count - AS_INTERVAL_EVENTS].name;
}

const char *as_resource_name(enum as_resource resource)
{
    static const char *const names[AS_RESOURCE_COUNT] = {
        [AS_RESOURCE_ROB] = "rob",
        [AS_RESOURCE_QUEUE_INT] = "queue_int",
        [AS_RESOURCE_QUEUE_MEM] = "queue_mem",
        [AS_RESOURCE_QUEUE_FP] = "queue_fp",
        [AS_RESOURCE_LOAD_QUEUE] = "load_queue",
        [AS_RESOURCE_STORE_QUEUE] = "store_queue",
        [AS_RESOURCE_MSHR_L1I] = "mshr_l1i",
        [AS_RESOURCE_MSHR_L1D] = "mshr_l1d",
        [AS_RESOURCE_MSHR_L2] = "mshr_l2",
    };
    return names[resource];
}

/* Several numbers at a time, which compilers do where there is an even number of them and nothing can overlap. */
static inline void add_row(struct as_interval *restrict to, const struct as_interval *restrict from)
{
    enum { EVEN = AS_RESOURCE_COUNT / 4 * 4 };
    for (int i = 0; i < AS_INTERVAL_COUNTS; i++)
        to->counts[i] += from->counts[i];
    for (int i = 0; i < EVEN; i++)
        to->occupied[i] += from->occupied[i];
    for (int i = EVEN; i < AS_RESOURCE_COUNT; i++)
        to->occupied[i] += from->occupied[i];
}

static void add_times(struct as_interval *to, const struct as_interval_part *parts, uint32_t n, uint64_t times)
{
    for (uint32_t i = 0; i < n; i++)
        if (parts[i].which < AS_INTERVAL_COUNTS)
            to->counts[parts[i].which] += (uint32_t)times * parts[i].value;
        else
            to->occupied[parts[i].which - AS_INTERVAL_COUNTS] += times * parts[i].value;
}

/* Merges neighbouring intervals. */
static void halve(struct as_intervals *intervals)
{
    intervals->length *= 2;
    for (size_t t = 0; t < intervals->threads.len; t++) {
        struct as_interval_thread *thread = &intervals->threads.data[t];
        size_t n = (thread->rows.len + 1) / 2;
        for (size_t i = 0; i < n; i++) {
            struct as_interval row = thread->rows.data[2 * i];
            if (2 * i + 1 < thread->rows.len)
                add_row(&row, &thread->rows.data[2 * i + 1]);
            thread->rows.data[i] = row;
        }
        thread->rows.len = n;
    }
}

static struct as_interval_thread *thread_of(struct as_intervals *intervals, uint32_t number)
{
    for (uint32_t next = (uint32_t)intervals->threads.len; next <= number; next++)
        *as_vec_push(&intervals->threads) = (struct as_interval_thread){.thread = next};
    return &intervals->threads.data[number];
}

/* The cached interval: `length` cycles from `first` on. */
struct hand {
    struct as_intervals *intervals;
    struct as_interval_thread *thread;
    struct as_interval *row;
    uint64_t first, length;
};

/* Adds the runs along edges that were counted for the interval at hand. */
void as_intervals_settle(struct as_intervals *intervals)
{
    if (intervals->waiting.len == 0)
        return;
    struct as_interval *row = &intervals->threads.data[intervals->waits_thread].rows.data[intervals->waits_row];
    for (size_t i = 0; i < intervals->waiting.len; i++) {
        struct as_interval_edge *of = &intervals->edges.data[intervals->waiting.data[i]];
        add_times(row, &intervals->parts.data[of->parts], of->n_parts, of->times);
        of->times = 0;
    }
    as_vec_clear(&intervals->waiting);
}

static __attribute__((noinline)) void reach_for(struct hand *hand, uint64_t cycle)
{
    struct as_intervals *intervals = hand->intervals;
    as_intervals_settle(intervals);
    while (intervals->most && cycle / intervals->length >= intervals->most)
        halve(intervals);
    uint64_t index = cycle / intervals->length;
    while (hand->thread->rows.len <= index)
        *as_vec_push(&hand->thread->rows) = (struct as_interval){0};
    intervals->waits_row = index;
    hand->row = &hand->thread->rows.data[index];
    hand->first = index * intervals->length;
    hand->length = intervals->length;
}

static inline struct as_interval *row_at(struct hand *hand, uint64_t cycle)
{
    if (__builtin_expect(cycle - hand->first >= hand->length, 0))
        reach_for(hand, cycle);
    return hand->row;
}

static inline void count_record(struct as_interval *row, uint32_t flags, uint32_t uops, uint32_t met)
{
    row->counts[AS_INTERVAL_INSTRUCTIONS] += !(flags & AS_PIPE_CONTINUES);
    row->counts[AS_INTERVAL_UOPS] += uops;
    row->counts[AS_INTERVAL_TAKEN] += flags & AS_PIPE_TAKEN;
    enum { AGAIN = AS_PIPE_EXCEPTION | AS_PIPE_REFETCHED };
    if (__builtin_expect(flags & (AS_PIPE_MISPREDICTED | AS_PIPE_FLUSHES | AGAIN), 0)) {
        row->counts[AS_INTERVAL_MISPREDICTED] += (flags & AS_PIPE_MISPREDICTED) != 0;
        row->counts[AS_INTERVAL_FLUSHES] += ((flags & AS_PIPE_FLUSHES) != 0) + ((flags & AGAIN) != 0);
        row->counts[AS_INTERVAL_EXCEPTIONS] += (flags & AS_PIPE_EXCEPTION) != 0;
    }
    for (uint32_t events = met & AS_EVENTS_ALL; events; events &= events - 1)
        row->counts[AS_INTERVAL_EVENTS + __builtin_ctz(events)]++;
}

/* Of a stay that reaches into several intervals, or into another one. */
static __attribute__((noinline)) void count_parts_of_stay(struct hand *hand, const struct as_stay *stay, uint64_t at)
{
    for (uint64_t end = at + stay->cycles; at < end;) { /* cycles from 0 here */
        struct as_interval *row = row_at(hand, at);
        uint64_t left = hand->first + hand->length - at, part = end - at < left ? end - at : left;
        row->occupied[stay->resource] += part;
        at += part;
    }
}

static void count_pipes(struct hand *hand, const struct as_pipe *pipes, size_t n, uint64_t before)
{
    for (size_t i = 0; i < n; i++)
        count_record(row_at(hand, before + pipes[i].commit - 1), pipes[i].flags, pipes[i].uops,
                     pipes[i].events | as_first_events(&pipes[i]));
}

static void count_stays(struct hand *hand, const struct as_stay *stays, size_t n, uint64_t before)
{
    struct hand here = *hand; /* in registers */
    for (size_t i = 0; i < n; i++) {
        const struct as_stay *stay = &stays[i];
        uint64_t at = stay->from + before - 1 - here.first, cycles = stay->cycles;
        if (stay->from == 0 || stay->resource >= AS_RESOURCE_COUNT)
            continue;
        if (__builtin_expect(at < here.length && cycles <= here.length - at, 1)) {
            here.row->occupied[stay->resource] += cycles;
            continue;
        }
        count_parts_of_stay(hand, stay, stay->from + before - 1);
        here = *hand;
    }
}

/* The interval at hand is the one that the last batch ended with, if that was the same thread's. */
static struct hand take_hand(struct as_intervals *intervals, uint32_t number)
{
    struct as_interval_thread *thread = thread_of(intervals, number);
    struct hand hand = {.intervals = intervals, .thread = thread};
    if (intervals->waits_thread == number && intervals->waits_row < thread->rows.len) {
        hand.row = &thread->rows.data[intervals->waits_row];
        hand.first = intervals->waits_row * intervals->length;
        hand.length = intervals->length;
        return hand;
    }
    as_intervals_settle(intervals);
    intervals->waits_thread = number;
    return hand;
}

static void end_batch(struct hand *hand, uint64_t last)
{
    if (last > hand->thread->cycles)
        hand->thread->cycles = last;
}

void as_intervals_add(struct as_intervals *intervals, const struct as_pipe_batch *batch)
{
    struct hand hand = take_hand(intervals, batch->thread);
    uint64_t before = batch->cycles_before, last = before + batch->pipes[batch->n - 1].commit;
    count_pipes(&hand, batch->pipes, batch->n, before);
    count_stays(&hand, batch->stays, batch->n_stays, before);
    end_batch(&hand, last);
}

/* ---- edges ---- */

static void keep_part(struct as_intervals *intervals, struct as_interval_edge *of, uint32_t which, uint64_t value)
{
    if (value == 0)
        return;
    *as_vec_push(&intervals->parts) = (struct as_interval_part){which, (uint32_t)value};
    of->n_parts++;
}

static void keep_parts(struct as_intervals *intervals, struct as_interval_edge *of, const struct as_interval *sum)
{
    of->parts = (uint32_t)intervals->parts.len;
    for (uint32_t i = 0; i < AS_INTERVAL_COUNTS; i++)
        keep_part(intervals, of, i, sum->counts[i]);
    for (uint32_t i = 0; i < AS_RESOURCE_COUNT; i++)
        keep_part(intervals, of, AS_INTERVAL_COUNTS + i, sum->occupied[i]);
}

static void reach(int32_t range[2], int32_t first, int32_t last)
{
    range[0] = first < range[0] ? first : range[0];
    range[1] = last > range[1] ? last : range[1];
}

static __attribute__((noinline)) struct as_interval_edge *sum_up(struct as_intervals *intervals,
                                                                 const struct as_edge *edge)
{
    struct as_interval sum = {0};
    int32_t range[2] = {INT32_MAX, INT32_MIN};
    while (intervals->edges.len <= edge->number)
        *as_vec_push(&intervals->edges) = (struct as_interval_edge){0};
    struct as_interval_edge *of = &intervals->edges.data[edge->number];
    for (uint32_t i = 0; i < edge->n; i++) {
        const struct as_edge_record *record = &edge->records[i];
        count_record(&sum, record->flags, record->uops, record->events);
        reach(range, record->commit - 1, record->commit - 1);
    }
    for (uint32_t i = 0; i < edge->n_stays; i++) {
        const struct as_edge_stay *stay = &edge->stays[i];
        sum.occupied[stay->resource] += stay->cycles;
        reach(range, stay->from - 1, stay->from - 2 + (int32_t)stay->cycles);
    }
    *of = (struct as_interval_edge){.edge = edge, .first = range[0], .span = (uint32_t)(range[1] - range[0])};
    keep_parts(intervals, of, &sum);
    return of;
}

/* A run that reaches into several intervals, or to before the first cycle. */
static __attribute__((noinline)) void count_parts(struct hand *hand, const struct as_edge_run *run, uint64_t before)
{
    for (uint32_t i = 0; i < run->edge->n; i++) {
        const struct as_edge_record *record = &run->edge->records[i];
        uint64_t cycle = before + run->base + (uint64_t)(int64_t)record->commit - 1;
        count_record(row_at(hand, cycle), record->flags, record->uops, record->events);
    }
    for (uint32_t i = 0; i < run->edge->n_stays; i++) {
        struct as_stay stay = as_edge_stay_of(run, i);
        count_stays(hand, &stay, 1, before);
    }
}

static inline void count_once(struct as_intervals *intervals, struct as_interval_edge *of)
{
    if (of->times++ == 0)
        *as_vec_push(&intervals->waiting) = of->edge->number;
}

/* A run that is not in the interval at hand. */
static __attribute__((noinline)) void count_edge_elsewhere(struct hand *hand, struct as_interval_edge *of,
                                                           const struct as_edge_run *run, uint64_t before)
{
    int64_t first = (int64_t)(run->base + before) + of->first;
    bool whole = first >= 0 && run->base > 0 && row_at(hand, (uint64_t)first) &&
                 (uint64_t)first - hand->first + of->span < hand->length;
    if (whole)
        count_once(hand->intervals, of);
    else
        count_parts(hand, run, before);
}

static inline void count_edge(struct hand *hand, const struct as_edge_run *run, uint64_t before)
{
    struct as_intervals *intervals = hand->intervals;
    uint32_t number = run->edge->number;
    struct as_interval_edge *of = number < intervals->edges.len ? &intervals->edges.data[number] : NULL;
    if (__builtin_expect(!of || !of->edge, 0))
        of = sum_up(intervals, run->edge);
    uint64_t first = run->base + before + (uint64_t)(int64_t)of->first - hand->first;
    if (__builtin_expect(first < hand->length && first + of->span < hand->length && run->base > 0, 1))
        count_once(intervals, of);
    else
        count_edge_elsewhere(hand, of, run, before);
}

void as_intervals_add_edges(struct as_intervals *intervals, const struct as_edge_batch *batch)
{
    struct hand hand = take_hand(intervals, batch->thread);
    uint64_t before = batch->cycles_before;
    for (size_t i = 0; i < batch->n_runs; i++) {
        const struct as_edge_run *run = &batch->runs[i];
        if (run->edge)
            count_edge(&hand, run, before);
        else
            count_pipes(&hand, &batch->pipes[run->first], run->n, before);
    }
    count_stays(&hand, batch->stays, batch->n_stays, before);
    end_batch(&hand, before + as_edge_run_commit(batch, &batch->runs[batch->n_runs - 1]));
}

void as_intervals_forget(struct as_intervals *intervals)
{
    as_intervals_settle(intervals);
    as_vec_clear(&intervals->edges);
    as_vec_clear(&intervals->parts);
}

size_t as_intervals_count_rows(const struct as_intervals *intervals, const struct as_interval_thread *thread)
{
    uint64_t n = (thread->cycles + intervals->length - 1) / intervals->length;
    return n < thread->rows.len ? (size_t)n : thread->rows.len;
}

uint64_t as_intervals_cycles(const struct as_intervals *intervals, const struct as_interval_thread *thread, size_t row)
{
    uint64_t rest = thread->cycles - row * intervals->length;
    return rest < intervals->length ? rest : intervals->length;
}

void as_intervals_merge(struct as_intervals *to, struct as_intervals *from)
{
    as_intervals_settle(to);
    as_intervals_settle(from);
    while (to->length < from->length)
        halve(to);
    while (from->length < to->length)
        halve(from);
    for (size_t t = 0; t < from->threads.len; t++) {
        const struct as_interval_thread *other = &from->threads.data[t];
        struct as_interval_thread *thread = thread_of(to, other->thread);
        while (thread->rows.len < other->rows.len)
            *as_vec_push(&thread->rows) = (struct as_interval){0};
        for (size_t i = 0; i < other->rows.len; i++)
            add_row(&thread->rows.data[i], &other->rows.data[i]);
        if (other->cycles > thread->cycles)
            thread->cycles = other->cycles;
    }
}

void as_intervals_free(struct as_intervals *intervals)
{
    for (size_t i = 0; i < intervals->threads.len; i++)
        as_vec_free(&intervals->threads.data[i].rows);
    as_vec_free(&intervals->threads);
    as_vec_free(&intervals->edges);
    as_vec_free(&intervals->parts);
    as_vec_free(&intervals->waiting);
}

void as_intervals_observe(void *state, const struct as_pipe_batch *batch)
{
    as_intervals_add(state, batch);
}

void as_intervals_observe_edges(void *state, const struct as_edge_batch *batch)
{
    as_intervals_add_edges(state, batch);
}

void as_intervals_observe_forget(void *state)
{
    as_intervals_forget(state);
}

void as_intervals_observe_merge(void *state, void *other)
{
    as_intervals_merge(state, other);
}
