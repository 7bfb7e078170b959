/* See causal_reading.h. A round first looks which threads do nothing, at a time that it has read before: all that such a
 * thread did until then has been told. */
#include "engine/causal_reading.h"

#include "base/clock.h"
#include "engine/lane_bounds.h"
#include "engine/lane_idle.h"
#include "engine/reader_lanes.h"
#include "engine/stamp.h"

enum { MOST_READS = 256, AT_ONCE = 2048 };
static const double most_patience = 5; /* seconds before nobody is waited for any more */

struct causal_lane {
    uint32_t number, state;
    struct as_stream *stream; /* NULL: it has ended */
    uint64_t idle;            /* the thread did nothing then, and all before has been told; 0: it runs */
};

struct causal_round {
    struct as_reader *reader;
    uint32_t n;
    bool moved, gives_up;
    struct causal_lane lanes[AS_WIRE_LANES];
};

/* Everything that the thread began to execute before this time has been told. */
static uint64_t front_of(const struct causal_lane *lane)
{
    uint64_t begun = lane->stream->causal.begun;
    return begun > lane->idle ? begun : lane->idle;
}

/* ---- what there is to read ---- */

/* With many threads that only the kernel can choose among, waiting for each takes too long. Nobody waits for one that is in a system
 * call. */
bool as_causal_applies(const struct as_reader *reader)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used), threads = 0;
    for (uint32_t i = 0; i < used && reader->options->causal; i++)
        threads += reader->streams[i] && atomic_load(&reader->wire->lanes[i].activity) != AS_WIRE_IN_SYSCALL;
    for (uint32_t i = 0; i < used && threads > AS_CAUSAL_THREADS; i++)
        if (reader->streams[i])
            reader->streams[i]->causal.horizon = reader->streams[i]->causal.bound = UINT64_MAX;
    return reader->options->causal && threads <= AS_CAUSAL_THREADS;
}

/* Returns false if a trace is corrupt. */
static bool collect_lanes(struct causal_round *round)
{
    struct as_reader *reader = round->reader;
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (uint32_t i = 0; i < used; i++) {
        uint32_t state = atomic_load(&reader->wire->lanes[i].state);
        if ((state != AS_WIRE_LIVE && state != AS_WIRE_ENDED) || reader->wire->lanes[i].is_code)
            continue;
        if (!reader->streams[i] && as_pace_reads(reader, i) && !as_reader_read_lane(reader, i, state, &round->moved))
            return false;
        if (reader->streams[i])
            round->lanes[round->n++] = (struct causal_lane){.number = i, .state = state, .stream = reader->streams[i]};
    }
    return true;
}

static bool begin_round(struct causal_round *round)
{
    const struct as_reader *reader = round->reader;
    uint64_t now = as_stamp_before_loads(); /* before any thread is looked at */
    double stalled = reader->stalled > 0 ? as_clock_seconds() - reader->stalled : 0;
    as_bounds_take(round->reader);
    if (!collect_lanes(round))
        return false;
    as_bounds_hold_parents(round->reader);
    for (uint32_t i = 0; i < round->n; i++) {
        struct causal_lane *own = &round->lanes[i];
        struct as_wire_lane *lane = &reader->wire->lanes[own->number];
        if (as_lane_is_idle(lane, own->state, own->stream->block, atomic_load(&lane->consumed), stalled))
            own->idle = now;
    }
    return true;
}

/* ---- which block may be reported ---- */

static void set_limits(struct causal_round *round, const struct causal_lane *own)
{
    struct as_causal *causal = &own->stream->causal;
    causal->horizon = causal->bound = UINT64_MAX;
    for (uint32_t i = 0; i < round->n; i++) {
        const struct causal_lane *other = &round->lanes[i];
        if (other == own || !other->stream)
            continue;
        uint64_t front = front_of(other), held = other->stream->causal.held;
        causal->horizon = front < causal->horizon ? front : causal->horizon;
        causal->bound = held && held < causal->bound ? held : causal->bound;
    }
}

static bool stores(const struct as_stream *stream)
{
    return stream->block && stream->block->publishes;
}

/* Whether what is held comes before what another thread holds. A return from a system call sees and stores nothing. */
static bool precedes(const struct as_stream *own, const struct as_stream *other)
{
    const struct as_causal *mine = &own->causal, *theirs = &other->causal;
    if (own->block && other->block) {
        if (theirs->held < mine->begun || theirs->begun > mine->held)
            return theirs->begun > mine->held;
        if (stores(own) != stores(other))
            return stores(own);
    }
    return mine->held < theirs->held || (mine->held == theirs->held && own->thread.number < other->thread.number);
}

/* The lane of which something that is still to come, or is held, should be told before what is held here; NULL: none. `alone`: what
 * others hold does not count. */
static struct causal_lane *find_blocker(struct causal_round *round, const struct causal_lane *own, bool alone)
{
    for (uint32_t i = 0; i < round->n; i++) {
        struct causal_lane *other = &round->lanes[i];
        if (other == own || !other->stream)
            continue;
        if (other->stream->causal.held ? !alone && !precedes(own->stream, other->stream)
                                       : front_of(other) <= own->stream->causal.held)
            return other;
    }
    return NULL;
}

/* ---- reading ---- */

static bool read_lane(struct causal_round *round, struct causal_lane *own, bool *moved)
{
    struct as_reader *reader = round->reader;
    if (!as_reader_read_lane(reader, own->number, own->state, moved))
        return false;
    own->stream = reader->streams[own->number];
    return true;
}

/* Where threads take turns, a full ring has to be emptied while the others may not be read. */
static bool must_be_read(const struct causal_round *round, const struct causal_lane *own)
{
    return round->reader->pace.in_turn &&
           atomic_load(&round->reader->wire->lanes[own->number].activity) == AS_WIRE_FULL;
}

/* Whether there is something to do for a lane; one that has ended has to be closed, too. */
static bool has_work(const struct causal_round *round, const struct causal_lane *own)
{
    const struct as_wire_lane *lane = &round->reader->wire->lanes[own->number];
    return own->stream && as_pace_reads(round->reader, own->number) &&
           (own->state == AS_WIRE_ENDED || atomic_load(&lane->published) != atomic_load(&lane->consumed));
}

static uint64_t turn_of(const struct causal_lane *own)
{
    const struct as_causal *causal = &own->stream->causal;
    return causal->held ? causal->held : causal->begun;
}

/* What is held can only be told once nothing may come before or at its end: a block that begins just then is looked at first. */
static bool is_earlier(const struct causal_lane *own, const struct causal_lane *other)
{
    uint64_t mine = turn_of(own), theirs = turn_of(other);
    return mine < theirs || (mine == theirs && !own->stream->causal.held && other->stream->causal.held);
}

/* The lane whose next block is the earliest; NULL: there is nothing to read. */
static struct causal_lane *find_next(struct causal_round *round)
{
    struct causal_lane *next = NULL;
    for (uint32_t i = 0; i < round->n; i++)
        if (has_work(round, &round->lanes[i]) && (!next || is_earlier(&round->lanes[i], next)))
            next = &round->lanes[i];
    return next;
}

static bool is_held(const struct causal_lane *own)
{
    return own->stream->causal.held && own->stream->causal.held >= own->stream->causal.horizon;
}

static bool let_pass(struct causal_round *round, struct causal_lane *own, bool *moved)
{
    own->stream->causal.pass = is_held(own);
    return read_lane(round, own, moved);
}

/* Reads a lane that nothing is in the way of. `stuck`: it could not go on, because what comes next decides, or began behind what another
 * lane holds. */
static bool read_free(struct causal_round *round, struct causal_lane *own, bool *moved, bool *stuck)
{
    bool passes = is_held(own);
    if (!let_pass(round, own, moved))
        return false;
    *stuck = !*moved && !passes && own->stream && (as_causal_holds(&own->stream->causal) || round->gives_up);
    return true;
}

/* Reads the earliest lane, or one that has to come before it. A lane that turns out to decide has what comes before it looked for in
 * its turn: until then it is not known which of two blocks is the earlier one. */
static bool read_next(struct causal_round *round, struct causal_lane *first, bool *moved)
{
    enum { MOST_BLOCKERS = 8 };
    struct causal_lane *own = first;
    for (int i = 0; i < MOST_BLOCKERS; i++) {
        bool stuck = false;
        set_limits(round, own);
        struct causal_lane *blocker = is_held(own) ? find_blocker(round, own, false) : NULL;
        if (!blocker && !read_free(round, own, moved, &stuck))
            return false;
        if (!blocker && !stuck)
            return true;
        if (blocker && !has_work(round, blocker) && !round->gives_up)
            return true; /* a thread runs, and has to be waited for */
        if (!blocker && !is_held(own))
            break; /* it comes behind a lane that was to come behind it */
        own = blocker ? blocker : own;
    }
    /* Blocks of several threads, executed at the same time, each of which should come behind another one: the one that ended first
     * goes first. */
    set_limits(round, first);
    return (!round->gives_up && find_blocker(round, first, true)) || let_pass(round, first, moved);
}

static bool read_earliest(struct causal_round *round, bool *moved)
{
    struct causal_lane *first = find_next(round);
    if (!first)
        return true;
    if (!must_be_read(round, first))
        return read_next(round, first, moved);
    first->stream->causal.horizon = first->stream->causal.bound = UINT64_MAX;
    return read_lane(round, first, moved);
}

static bool read_round(struct causal_round *round)
{
    bool moved = true;
    for (uint32_t reads = 0; moved && reads < MOST_READS && !round->reader->regions.over; reads++) {
        moved = false;
        if (!read_earliest(round, &moved))
            return false;
        round->moved |= moved;
    }
    return true;
}

bool as_read_causally(struct as_reader *reader, bool *progress)
{
    struct causal_round round;
    round.reader = reader;
    round.n = 0;
    round.moved = false;
    round.gives_up = reader->stalled > 0 && as_clock_seconds() > reader->stalled + most_patience;
    reader->at_once = AT_ONCE;
    if (!begin_round(&round) || !read_round(&round))
        return false;
    if (round.moved)
        reader->stalled = 0;
    else if (reader->stalled == 0)
        reader->stalled = as_clock_seconds();
    *progress |= round.moved;
    return true;
}
