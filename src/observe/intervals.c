/* See intervals.h. Most of a batch falls into one interval: the newest that something was in, which is kept at hand. A
 * division is needed only outside of it. Runs along an edge in it are counted, and what they add is added once, when a
 * newer interval comes. What still belongs to an older one (a store that left its queue late) goes there, and the newest
 * stays at hand. */
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

static inline void add_times(struct as_interval *to, const struct as_intervals *intervals,
                             const struct as_interval_edge *of)
{
    const struct as_interval_part *part = &intervals->parts.data[of->parts], *end = part + of->n_counts;
    for (; part < end; part++)
        to->counts[part->which] += of->times * part->value;
    for (end += of->n_occupied; part < end; part++)
        to->occupied[part->which] += (uint64_t)of->times * part->value;
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

/* The interval at hand: `length` cycles from `first` on. */
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
        add_times(row, intervals, of);
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
    if (__builtin_expect(cycle < hand->first, 0))
        return &hand->thread->rows.data[cycle / hand->length];
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

static void count_pipes(struct hand *hand, const struct as_pipe *pipes, size_t n, uint64_t before)
{
    for (size_t i = 0; i < n; i++)
        count_record(row_at(hand, before + pipes[i].commit - 1), pipes[i].flags, pipes[i].uops,
                     pipes[i].events | as_first_events(&pipes[i]));
}

/* Where stays are added up: not always in the interval at hand. */
struct cursor {
    struct as_interval *row;
    uint64_t first;
};

/* A stay that is not in the interval of the cursor, or not only; leaves the cursor where it ends. */
static __attribute__((noinline)) void count_parts_of_stay(struct hand *hand, struct cursor *cursor,
                                                          const struct as_stay *stay, uint64_t at)
{
    for (uint64_t end = at + stay->cycles; at < end;) { /* cycles from 0 here */
        struct as_interval *row = row_at(hand, at);
        uint64_t behind = at % hand->length, left = hand->length - behind, part = end - at < left ? end - at : left;
        row->occupied[stay->resource] += part;
        *cursor = (struct cursor){row, at - behind};
        at += part;
    }
}

/* They come in the order in which they end, and begin long before the interval at hand, if that is a short one. */
static void count_stays(struct hand *hand, const struct as_stay *stays, size_t n, uint64_t before)
{
    struct cursor cursor = {hand->row, hand->first};
    for (size_t i = 0; i < n; i++) {
        uint64_t shift = before - 1 - cursor.first, length = hand->length;
        uint64_t *occupied = cursor.row->occupied;
        for (; i < n; i++) { /* all in registers */
            uint64_t at = stays[i].from + shift, cycles = stays[i].cycles;
            if (__builtin_expect(at >= length || at + cycles > length, 0))
                break;
            occupied[stays[i].resource] += cycles;
        }
        if (i < n && stays[i].from + before > 0) /* not from before the first cycle on */
            count_parts_of_stay(hand, &cursor, &stays[i], stays[i].from + before - 1);
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

/* Runs along edges of at most so many cycles are looked at quickly: if such a run begins that many cycles before the end of
 * the interval at hand, all of it is in it. */
enum { QUICK_SPAN = 64 };

/* Adds a part unless it is 0; returns how many there are now. */
static uint16_t keep_part(struct as_intervals *intervals, uint16_t n, uint32_t which, uint64_t value)
{
    if (value == 0)
        return n;
    *as_vec_push(&intervals->parts) = (struct as_interval_part){which, (uint32_t)value};
    return (uint16_t)(n + 1);
}

static void keep_parts(struct as_intervals *intervals, struct as_interval_edge *of, const struct as_interval *sum)
{
    of->parts = (uint32_t)intervals->parts.len;
    for (uint32_t i = 0; i < AS_INTERVAL_COUNTS; i++)
        if (!(intervals->unused >> i & 1))
            of->n_counts = keep_part(intervals, of->n_counts, i, sum->counts[i]);
    for (uint32_t i = 0; i < AS_RESOURCE_COUNT; i++)
        of->n_occupied = keep_part(intervals, of->n_occupied, i, sum->occupied[i]);
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
        *as_vec_push(&intervals->edges) = (struct as_interval_edge){.quick = INT64_MIN};
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
    of->quick = of->span <= QUICK_SPAN ? of->first : INT64_MIN;
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

static inline void count_once(struct as_intervals *intervals, struct as_interval_edge *of, uint32_t number)
{
    if (of->times++ == 0)
        *as_vec_push(&intervals->waiting) = number;
}

/* A run that is not in the interval at hand, or not quick. */
static __attribute__((noinline)) void count_edge_elsewhere(struct hand *hand, const struct as_edge_run *run,
                                                           uint64_t before)
{
    struct as_intervals *intervals = hand->intervals;
    uint32_t number = run->number;
    struct as_interval_edge *of = number < intervals->edges.len ? &intervals->edges.data[number] : NULL;
    if (!of || !of->edge)
        of = sum_up(intervals, run->edge);
    int64_t first = (int64_t)(run->base + before) + of->first;
    bool whole = first >= 0 && run->base > 0 && row_at(hand, (uint64_t)first) == hand->row &&
                 (uint64_t)first - hand->first + of->span < hand->length;
    if (whole)
        count_once(intervals, of, number);
    else
        count_parts(hand, run, before);
}

/* The first of the runs that is not a quick one in the interval at hand. All but that one test of cycles is in registers:
 * this is done for each block that the program executes. */
static const struct as_edge_run *count_quick(const struct hand *hand, const struct as_edge_run *run,
                                             const struct as_edge_run *end, uint64_t before)
{
    struct as_intervals *intervals = hand->intervals;
    struct as_interval_edge *edges = intervals->edges.data;
    uint64_t n = intervals->edges.len, shift = before - hand->first;
    uint64_t room = hand->length > QUICK_SPAN ? hand->length - QUICK_SPAN : 0;
    for (; run < end && run->edge; run++) {
        uint32_t number = run->number;
        struct as_interval_edge *of = &edges[number];
        if (__builtin_expect(number >= n || run->base + shift + (uint64_t)of->quick >= room, 0))
            break;
        count_once(intervals, of, number);
    }
    return run;
}

void as_intervals_add_edges(struct as_intervals *intervals, const struct as_edge_batch *batch)
{
    struct hand hand = take_hand(intervals, batch->thread);
    uint64_t before = batch->cycles_before;
    const struct as_edge_run *run = batch->runs, *end = batch->runs + batch->n_runs;
    bool begins = run->edge && run->base == 0; /* there, runs are no quick ones */
    for (; run < end; run++) {
        run = begins ? run : count_quick(&hand, run, end, before);
        if (run < end && run->edge)
            count_edge_elsewhere(&hand, run, before);
        else if (run < end)
            count_pipes(&hand, &batch->pipes[run->first], run->n, before);
    }
    count_stays(&hand, batch->stays, batch->n_stays, before);
    end_batch(&hand, before + as_edge_batch_commit(batch));
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
