/* See intervals.h. Most of a batch falls into one interval: the one that was used last is kept at hand, and only what lies
 * outside of it is divided. */
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

static void add_row(struct as_interval *to, const struct as_interval *from)
{
    for (int i = 0; i < AS_INTERVAL_COUNTS; i++)
        to->counts[i] += from->counts[i];
    for (int i = 0; i < AS_RESOURCE_COUNT; i++)
        to->occupied[i] += from->occupied[i];
}

/* Neighbours become one. */
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

/* The interval at hand: the cycles from `first` to before `end`. */
struct hand {
    struct as_intervals *intervals;
    struct as_interval_thread *thread;
    struct as_interval *row;
    uint64_t first, end;
};

static __attribute__((noinline)) void reach_for(struct hand *hand, uint64_t cycle)
{
    struct as_intervals *intervals = hand->intervals;
    while (intervals->most && cycle / intervals->length >= intervals->most)
        halve(intervals);
    uint64_t index = cycle / intervals->length;
    while (hand->thread->rows.len <= index)
        *as_vec_push(&hand->thread->rows) = (struct as_interval){0};
    hand->row = &hand->thread->rows.data[index];
    hand->first = index * intervals->length;
    hand->end = hand->first + intervals->length;
}

static inline struct as_interval *row_at(struct hand *hand, uint64_t cycle)
{
    if (__builtin_expect(cycle - hand->first >= hand->end - hand->first, 0))
        reach_for(hand, cycle);
    return hand->row;
}

static inline void count_pipe(struct as_interval *row, const struct as_pipe *pipe)
{
    uint32_t flags = pipe->flags;
    row->counts[AS_INTERVAL_INSTRUCTIONS] += !(flags & AS_PIPE_CONTINUES);
    row->counts[AS_INTERVAL_UOPS] += pipe->uops;
    row->counts[AS_INTERVAL_TAKEN] += flags & AS_PIPE_TAKEN;
    if (__builtin_expect(flags & (AS_PIPE_MISPREDICTED | AS_PIPE_FLUSHES | AS_PIPE_EXCEPTION), 0)) {
        row->counts[AS_INTERVAL_MISPREDICTED] += (flags & AS_PIPE_MISPREDICTED) != 0;
        row->counts[AS_INTERVAL_FLUSHES] += (flags & AS_PIPE_FLUSHES) != 0;
        row->counts[AS_INTERVAL_EXCEPTIONS] += (flags & AS_PIPE_EXCEPTION) != 0;
    }
    for (uint32_t events = pipe->events & AS_EVENTS_ALL; events; events &= events - 1)
        row->counts[AS_INTERVAL_EVENTS + __builtin_ctz(events)]++;
}

static inline void count_stay(struct hand *hand, const struct as_stay *stay, uint64_t before)
{
    uint64_t at = stay->from + before, end = at + stay->cycles;
    while (at < end) { /* cycles from 0 here */
        struct as_interval *row = row_at(hand, at);
        uint64_t until = end < hand->end ? end : hand->end;
        row->occupied[stay->resource] += until - at;
        at = until;
    }
}

void as_intervals_add(struct as_intervals *intervals, const struct as_pipe_batch *batch)
{
    struct hand hand = {.intervals = intervals, .thread = thread_of(intervals, batch->thread)};
    uint64_t before = batch->cycles_before, last = before + batch->pipes[batch->n - 1].commit;
    for (size_t i = 0; i < batch->n; i++)
        count_pipe(row_at(&hand, before + batch->pipes[i].commit - 1), &batch->pipes[i]);
    for (size_t i = 0; i < batch->n_stays; i++)
        if (batch->stays[i].from > 0 && batch->stays[i].resource < AS_RESOURCE_COUNT)
            count_stay(&hand, &batch->stays[i], before - 1);
    if (last > hand.thread->cycles)
        hand.thread->cycles = last;
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
}
