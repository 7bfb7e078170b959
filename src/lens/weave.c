/* See weave.h. Each thread has a queue of accesses and a queue of segments, which hold at which clock how many of them begin
 * and how far apart they are. */
#include "lens/weave.h"

#include "base/random.h"
#include "base/vec.h"

/* MOST_WAITING: an instruction can make millions of accesses (rep stos), and time stands still meanwhile. */
enum { FRACTION = 16, MOST_WAITING = 1 << 18, ORDER_LASTS = 32 };

struct segment {
    uint64_t clock; /* of its next access, in fractions */
    uint64_t step;
    size_t n; /* accesses that are left */
    uint32_t process, image;
};

struct thread {
    uint32_t number;
    bool ends, listed;
    uint64_t lag; /* in fractions: how long it stood still */
    AS_VEC(struct as_data_access) accesses;
    AS_VEC(struct segment) segments;
    size_t next, next_segment; /* the first that is left */
};

struct as_weave {
    const struct as_weave_ops *ops;
    void *context;
    uint64_t quantum;               /* in fractions */
    uint64_t now;                   /* all before it was given out */
    uint64_t late;                  /* accesses that were given out behind their time */
    uint64_t latest;                /* clock of any thread, in fractions */
    uint64_t seed;                  /* of the orders of threads */
    uint32_t quanta;                /* that had the present order */
    AS_VEC(struct thread *) all;    /* by number */
    AS_VEC(struct thread *) active; /* that have accesses waiting */
};

struct as_weave *as_weave_new(uint32_t quantum, const struct as_weave_ops *ops, void *context)
{
    struct as_weave *weave = as_alloc(sizeof *weave);
    weave->ops = ops;
    weave->context = context;
    weave->quantum = (uint64_t)(quantum ? quantum : AS_WEAVE_QUANTUM) << FRACTION;
    return weave;
}

static void free_thread(struct thread *thread)
{
    if (!thread)
        return;
    as_vec_free(&thread->accesses);
    as_vec_free(&thread->segments);
    free(thread);
}

void as_weave_free(struct as_weave *weave)
{
    if (!weave)
        return;
    for (size_t i = 0; i < weave->all.len; i++)
        free_thread(weave->all.data[i]);
    as_vec_free(&weave->all);
    as_vec_free(&weave->active);
    free(weave);
}

static struct thread *thread_of(struct as_weave *weave, uint32_t number)
{
    while (weave->all.len <= number)
        *as_vec_push(&weave->all) = NULL;
    struct thread **thread = &weave->all.data[number];
    if (!*thread) {
        *thread = as_alloc(sizeof **thread);
        (*thread)->number = number;
    }
    return *thread;
}

void as_weave_delay(struct as_weave *weave, uint32_t thread, uint64_t instructions)
{
    thread_of(weave, thread)->lag += instructions << FRACTION;
}

/* ---- in ---- */

/* What has been given out makes room. */
static void compact(struct thread *thread)
{
    size_t left = thread->accesses.len - thread->next, segments = thread->segments.len - thread->next_segment;
    if (thread->next < left)
        return; /* not worth moving yet */
    if (left)
        memmove(thread->accesses.data, thread->accesses.data + thread->next, left * sizeof *thread->accesses.data);
    if (segments)
        memmove(thread->segments.data, thread->segments.data + thread->next_segment,
                segments * sizeof *thread->segments.data);
    thread->accesses.len = left;
    thread->segments.len = segments;
    thread->next = thread->next_segment = 0;
}

static void add_turn(struct as_weave *weave, const struct as_access_batch *batch, size_t number)
{
    const struct as_access_turn *turn = &batch->turns[number];
    const struct as_access_time *time = &batch->times[number];
    struct thread *thread = thread_of(weave, turn->thread);
    size_t n = turn->end - turn->first;
    uint64_t length = time->end > time->clock ? time->end - time->clock : 1;
    compact(thread);
    as_vec_reserve((void **)&thread->accesses.data, &thread->accesses.cap, thread->accesses.len + n,
                   sizeof *thread->accesses.data);
    memcpy(thread->accesses.data + thread->accesses.len, batch->accesses + turn->first,
           n * sizeof *thread->accesses.data);
    thread->accesses.len += n;
    *as_vec_push(&thread->segments) = (struct segment){.clock = time->clock << FRACTION,
                                                       .step = (length << FRACTION) / n,
                                                       .n = n,
                                                       .process = turn->process,
                                                       .image = time->image};
    if (!thread->listed)
        *as_vec_push(&weave->active) = thread;
    thread->listed = true;
    weave->latest = time->end << FRACTION > weave->latest ? time->end << FRACTION : weave->latest;
}

/* ---- out ---- */

/* How many of the segment's accesses lie before `limit`. */
static inline size_t count_before(const struct segment *segment, uint64_t lag, uint64_t limit)
{
    uint64_t clock = segment->clock + lag;
    if (clock >= limit)
        return 0;
    uint64_t room = limit - clock;
    if (room > segment->step * segment->n)
        return segment->n;
    size_t n = 1;
    for (uint64_t at = segment->step; at < room && n < segment->n; at += segment->step)
        n++;
    return n;
}

static void give(struct as_weave *weave, struct thread *thread, struct segment *segment, size_t n)
{
    struct as_weave_span span = {.thread = thread->number,
                                 .process = segment->process,
                                 .image = segment->image,
                                 .n = n,
                                 .accesses = thread->accesses.data + thread->next,
                                 .clock = segment->clock >> FRACTION,
                                 .step = segment->step};
    weave->late += segment->clock + thread->lag + weave->quantum < weave->now ? n : 0;
    thread->next += n;
    segment->n -= n;
    segment->clock += segment->step * n;
    thread->next_segment += segment->n == 0;
    weave->ops->span(weave->context, &span);
}

static bool is_waiting(const struct thread *thread)
{
    return thread->next_segment < thread->segments.len;
}

/* Everything of a thread before `limit`. Returns the clock of what comes next; UINT64_MAX: nothing. */
static uint64_t give_before(struct as_weave *weave, struct thread *thread, uint64_t limit)
{
    while (is_waiting(thread)) {
        struct segment *segment = &thread->segments.data[thread->next_segment];
        size_t n = count_before(segment, thread->lag, limit);
        if (n == 0 && thread->accesses.len - thread->next <= MOST_WAITING)
            return segment->clock + thread->lag;
        give(weave, thread, segment, n ? n : segment->n);
    }
    return UINT64_MAX;
}

static void end_thread(struct as_weave *weave, struct thread *thread)
{
    uint32_t number = thread->number;
    weave->all.data[number] = NULL;
    free_thread(thread);
    if (weave->ops->thread_end)
        weave->ops->thread_end(weave->context, number);
}

/* Threads that have nothing left leave the list. */
static void drop_idle(struct as_weave *weave)
{
    size_t kept = 0;
    for (size_t i = 0; i < weave->active.len; i++) {
        struct thread *thread = weave->active.data[i];
        thread->listed = is_waiting(thread);
        if (thread->listed)
            weave->active.data[kept++] = thread;
        else if (thread->ends)
            end_thread(weave, thread);
    }
    weave->active.len = kept;
}

/* Threads in another order. */
static void shuffle(struct as_weave *weave)
{
    for (size_t i = weave->active.len; i > 1; i--) {
        size_t other = as_random_below(&weave->seed, i);
        struct thread *thread = weave->active.data[i - 1];
        weave->active.data[i - 1] = weave->active.data[other];
        weave->active.data[other] = thread;
    }
    weave->quanta = 0;
}

/* One quantum of every thread. Many have the same order: a new one for each would let a thread's last accesses of one quantum and
 * its first of the next follow each other, and halve what two threads hand over. But one order for all would let threads that
 * work alike hand a line only to the next one, as no machine keeps them in step. Returns when the next access comes. */
static uint64_t give_quantum(struct as_weave *weave, uint64_t limit)
{
    uint64_t next = UINT64_MAX;
    if (weave->active.len > 2 && ++weave->quanta >= ORDER_LASTS)
        shuffle(weave);
    for (size_t i = 0; i < weave->active.len; i++) {
        uint64_t own = give_before(weave, weave->active.data[i], limit);
        next = own < next ? own : next;
    }
    return next;
}

static uint64_t find_earliest(const struct as_weave *weave)
{
    uint64_t earliest = UINT64_MAX;
    for (size_t i = 0; i < weave->active.len; i++) {
        const struct thread *thread = weave->active.data[i];
        uint64_t clock =
            is_waiting(thread) ? thread->segments.data[thread->next_segment].clock + thread->lag : UINT64_MAX;
        earliest = clock < earliest ? clock : earliest;
    }
    return earliest;
}

/* What came late, in quanta, too: several threads can be late, and one may have waited for the other. */
static void give_late(struct as_weave *weave)
{
    uint64_t at = find_earliest(weave);
    while (at < weave->now)
        at = give_quantum(weave, at + weave->quantum < weave->now ? at + weave->quantum : weave->now);
}

/* What came late goes first. A thread alone needs no quanta. */
static void give_until(struct as_weave *weave, uint64_t horizon)
{
    give_late(weave);
    while (weave->now < horizon) {
        uint64_t limit = weave->active.len > 1 ? weave->now + weave->quantum : horizon;
        limit = limit < horizon ? limit : horizon;
        uint64_t next = give_quantum(weave, limit);
        weave->now = next > limit ? next : limit;
        if (next == UINT64_MAX)
            break;
    }
    weave->now = weave->now < horizon ? weave->now : horizon;
    drop_idle(weave);
}

static void note_ends(struct as_weave *weave, const struct as_access_batch *batch)
{
    for (size_t i = 0; i < batch->n_ended; i++) {
        struct thread *thread = thread_of(weave, batch->ended[i]);
        thread->ends = true;
        if (!thread->listed)
            end_thread(weave, thread);
    }
}

void as_weave_batch(struct as_weave *weave, const struct as_access_batch *batch)
{
    for (size_t i = 0; i < batch->n_turns; i++)
        add_turn(weave, batch, i);
    note_ends(weave, batch);
    uint64_t window = (uint64_t)AS_WEAVE_WINDOW << FRACTION;
    give_until(weave, weave->latest > window ? weave->latest - window : 0);
    for (size_t i = 0; i < weave->active.len; i++) /* of those that have too many waiting, wherever the horizon is */
        give_before(weave, weave->active.data[i], weave->now);
}

void as_weave_finish(struct as_weave *weave)
{
    while (weave->active.len > 1) {
        uint64_t next = give_quantum(weave, weave->now + weave->quantum);
        weave->now = next > weave->now + weave->quantum ? next : weave->now + weave->quantum;
        drop_idle(weave);
    }
    give_quantum(weave, UINT64_MAX);
    drop_idle(weave);
}

uint64_t as_weave_late(const struct as_weave *weave)
{
    return weave->late;
}

bool as_weave_next_part(const struct as_weave_span *span, uint8_t border, size_t *at, struct as_weave_span *part)
{
    size_t first = *at, end = first;
    while (end < span->n && span->accesses[end].kind != border)
        end++;
    *part = *span;
    part->accesses += first;
    part->n = end - first;
    part->clock += first * span->step >> 16;
    *at = end;
    return first < span->n;
}
