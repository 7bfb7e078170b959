/* See handover_marks.h. */
#include "engine/handover_marks.h"

#include "engine/lane_bounds.h"
#include "engine/word_clocks.h"

enum { MOST_PASSED = 256, MOST_MARKS = 2048 /* that sinks remember */ };

/* Keeps the list short; marks that were passed are asked for only by threads that are about to be read. */
static void forget_marks(struct as_handover_lane *own)
{
    if (own->passed < MOST_PASSED)
        return;
    size_t gone = MOST_PASSED / 2;
    memmove(own->marks.data, own->marks.data + gone, (own->marks.len - gone) * sizeof *own->marks.data);
    own->marks.len -= gone;
    own->passed -= gone;
}

/* The place in the list of the first mark at or behind a position. */
static size_t find_mark(const struct as_handover_lane *own, uint64_t position)
{
    size_t at = own->marks.len;
    while (at > 0 && own->marks.data[at - 1].position >= position)
        at--;
    return at;
}

static bool has_mark(const struct as_handover_lane *own, uint64_t position)
{
    size_t at = find_mark(own, position);
    return at < own->marks.len && own->marks.data[at].position == position;
}

uint32_t as_handover_add_mark(struct as_handovers *all, struct as_handover_lane *own, uint64_t position)
{
    forget_marks(own);
    size_t at = find_mark(own, position);
    if (at < own->marks.len && own->marks.data[at].position == position)
        return own->marks.data[at].number;
    as_vec_push(&own->marks);
    memmove(own->marks.data + at + 1, own->marks.data + at, (own->marks.len - 1 - at) * sizeof *own->marks.data);
    own->marks.data[at] = (struct as_mark){.position = position, .number = ++all->marks};
    return all->marks;
}

/* The lane of the thread that wrote is gone: all of it has been read. */
static void add_wait_for_ended(struct as_handovers *all, struct as_handover_lane *own, uint64_t position,
                               uint32_t thread)
{
    const uint64_t *mark = as_map_get(&all->exits.marks, thread);
    if (!mark || all->marks - (uint32_t)*mark >= MOST_MARKS)
        return;
    all->met++;
    *as_vec_push(&own->waits) = (struct as_wait){.position = position, .mark = (uint32_t)*mark};
}

/* Whether the lane comes behind these words of another one anyway, because it waited for them, or for later ones, before. Data that a thread was
 * given by another one is thousands of words, each of which it may look at. */
static bool is_behind(struct as_handover_lane *own, uint32_t lane, const struct as_word_writer *writer)
{
    uint32_t at = writer->thread % AS_HANDOVER_BEHIND;
    if (own->behind_of[at].lane == lane && own->behind_of[at].thread == writer->thread &&
        own->behind_of[at].position >= writer->clock)
        return true;
    own->behind_of[at].lane = lane;
    own->behind_of[at].thread = writer->thread;
    own->behind_of[at].position = writer->clock;
    return false;
}

/* If the other thread has been read that far and there is no mark, nobody knew that the store would be waited for. It was no later than
 * this thread is now, or hardly. */
void as_handover_add_wait(struct as_reader *reader, uint32_t used, struct as_handover_lane *own, uint64_t position,
                          const struct as_word_writer *writer, uint64_t word, bool atomic)
{
    struct as_handovers *all = &reader->handovers;
    for (uint32_t i = 0; i < used; i++) {
        struct as_handover_lane *other = &all->lanes.data[i];
        if (other->thread != writer->thread || other == own)
            continue;
        if (as_handover_read_of(reader, i) >= writer->clock && !has_mark(other, writer->clock))
            return;
        if (is_behind(own, i, writer))
            return;
        all->met++;
        uint32_t mark = as_handover_add_mark(all, other, writer->clock);
        as_handover_set_stop(other);
        *as_vec_push(&own->waits) = (struct as_wait){.position = position,
                                                     .behind = writer->clock,
                                                     .lane = i,
                                                     .thread = other->thread,
                                                     .mark = mark,
                                                     .word = word,
                                                     .atomic = atomic};
        return;
    }
    add_wait_for_ended(all, own, position, writer->thread);
}

/* ---- while lanes are read ---- */

/* Returns whether the other thread is where it has to be. */
static bool may_go_on(struct as_reader *reader, uint32_t lane, const struct as_wait *wait)
{
    const struct as_handover_lane *other = &reader->handovers.lanes.data[wait->lane];
    struct as_thread *thread = &reader->streams[lane]->thread;
    if (other->thread != wait->thread || !reader->streams[wait->lane]) {
        reader->sink->await(reader->context, thread, wait->mark, wait->word, wait->atomic);
        return true;
    }
    size_t at = find_mark(other, wait->behind);
    bool marked = at < other->marks.len && other->marks.data[at].position == wait->behind;
    if (as_handover_read_of(reader, wait->lane) < wait->behind || (marked && at >= other->passed))
        return false;
    if (marked)
        reader->sink->await(reader->context, thread, other->marks.data[at].number, wait->word, wait->atomic);
    return true;
}

void as_handover_arrive(struct as_reader *reader, uint32_t lane)
{
    if (lane >= reader->handovers.lanes.len || !reader->streams[lane])
        return;
    struct as_handover_lane *own = &reader->handovers.lanes.data[lane];
    uint64_t position = as_handover_read_of(reader, lane);
    if (!own->thread)
        return;
    for (; own->passed < own->marks.len && own->marks.data[own->passed].position <= position; own->passed++)
        reader->sink->show(reader->context, &reader->streams[lane]->thread, own->marks.data[own->passed].number);
    while (own->waited < own->waits.len && own->waits.data[own->waited].position <= position &&
           may_go_on(reader, lane, &own->waits.data[own->waited]))
        own->waited++;
    if (own->waited == own->waits.len) {
        as_vec_clear(&own->waits);
        own->waited = 0;
    }
    as_handover_set_stop(own);
}

uint64_t as_handover_limit(const struct as_reader *reader, uint32_t lane)
{
    const struct as_handovers *all = &reader->handovers;
    bool ordered = all->on && lane < all->lanes.len && all->lanes.data[lane].thread;
    uint64_t stop = ordered ? all->lanes.data[lane].stop : UINT64_MAX, bound = as_bounds_limit(reader, lane);
    return stop < bound ? stop : bound;
}

bool as_handover_blocks(const struct as_reader *reader, uint32_t lane)
{
    const struct as_handovers *all = &reader->handovers;
    if (!all->on || lane >= all->lanes.len || !all->lanes.data[lane].thread)
        return false;
    const struct as_handover_lane *own = &all->lanes.data[lane];
    return own->waited < own->waits.len && own->waits.data[own->waited].position <= as_handover_read_of(reader, lane);
}
