/* See close_reading.h. Where threads take turns, no other thread writes meanwhile, and the order of steps depends on the words alone.
 *
 * A thread's clock is kept from its last step. Another thread of the same core may have put it forward since, so it is
 * asked for again before the thread has its turn; only what ends this reading, an event, can put it back.
 */
#include "engine/close_reading.h"

#include "engine/reader_lanes.h"

enum { MOST_LANES = 64, MOST_ROUNDS = 1000, MOST_CYCLES = 1000 };

struct close_lane {
    struct as_stream *stream;
    struct as_wire_lane *lane;
    const uint64_t *ring;
    size_t length;                                           /* of the ring, in words */
    uint64_t position, read_before, published, limit, clock; /* limit: see handover.h */
};

struct close_round {
    struct as_reader *reader;
    struct close_lane lanes[MOST_LANES];
    uint32_t n;
    bool ends, corrupt;
};

static uint64_t clock_of(const struct close_round *round, const struct close_lane *own)
{
    return round->reader->sink->clock(round->reader->context, &own->stream->thread);
}

/* Returns false if the lanes are not all of the kind that is read here. */
static bool collect_lanes(struct close_round *round)
{
    struct as_reader *reader = round->reader;
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (uint32_t i = 0; i < used; i++) {
        struct as_wire_lane *lane = &reader->wire->lanes[i];
        if (!as_reader_has_clock(reader, i) || as_handover_blocks(reader, i))
            continue;
        if (round->n == MOST_LANES || !as_pace_reads(reader, i) || atomic_load(&lane->activity) == AS_WIRE_FULL)
            return false;
        struct close_lane *own = &round->lanes[round->n++];
        own->stream = reader->streams[i];
        own->lane = lane;
        own->ring = as_wire_ring(reader->wire, i);
        own->length = as_wire_ring_words(i);
        own->position = own->read_before = atomic_load(&lane->consumed);
        own->published = atomic_load(&lane->published);
        own->limit = as_handover_limit(reader, i);
        own->clock = as_pace_time(reader, i);
    }
    return round->n > 1;
}

static uint64_t find_behind(const struct close_round *round)
{
    uint64_t behind = UINT64_MAX;
    for (uint32_t i = 0; i < round->n; i++)
        behind = round->lanes[i].clock < behind ? round->lanes[i].clock : behind;
    return behind;
}

static bool is_event(uint64_t word)
{
    return !(word & AS_WIRE_ACCESS_MASK) && word >> AS_WIRE_EVENT_SHIFT != AS_WIRE_BLOCK;
}

/* … that does not end a block. */
static bool is_time(uint64_t word)
{
    return !(word & AS_WIRE_ACCESS_MASK) && word >> AS_WIRE_EVENT_SHIFT == AS_WIRE_TIME;
}

/* A mark of a hand-over lies here, or this thread has to wait for that of another. Returns whether it can be read on. */
static bool pass_limit(struct close_round *round, struct close_lane *own)
{
    uint32_t number = (uint32_t)(own->lane - round->reader->wire->lanes);
    as_lane_give_room(round->reader, number, own->position);
    as_handover_arrive(round->reader, number);
    own->limit = as_handover_limit(round->reader, number);
    return own->position < own->limit;
}

/* The words up to the next block's, with which the block before is complete; 0: something else than accesses comes before it. */
static size_t find_block_end(const uint64_t *words, size_t most)
{
    size_t n = 0;
    while (n < most && (words[n] & AS_WIRE_ACCESS_MASK || (is_time(words[n]) && n + 1 < most)))
        n += words[n] & AS_WIRE_ACCESS_MASK ? 1 : 2;
    return n == most ? n : is_event(words[n]) ? 0 : n + 1;
}

/* Reads up to the end of a block, as far as its words are there. Returns whether all is as it should be, so that more can follow. */
static bool read_step(struct close_round *round, struct close_lane *own)
{
    if (own->position == own->limit && !pass_limit(round, own))
        return false;
    if (own->position == own->published)
        own->published = atomic_load(&own->lane->published);
    size_t at = own->position % own->length, n = (size_t)(own->published - own->position), done = 0;
    n = n < own->length - at ? n : own->length - at;
    n = n < own->limit - own->position ? n : (size_t)(own->limit - own->position);
    n = find_block_end(own->ring + at, n);
    enum as_stream_status status = as_stream_consume(own->stream, own->ring + at, n, &done);
    own->position += done;
    own->clock = clock_of(round, own);
    round->corrupt = status == AS_STREAM_CORRUPT;
    return done && status == AS_STREAM_OK && !round->reader->regions.over;
}

static void read_up_to(struct close_round *round, struct close_lane *own, uint64_t limit)
{
    own->clock = clock_of(round, own);
    for (int steps = 0; steps < AS_CLOSE_STEPS && own->clock <= limit; steps++)
        if (!read_step(round, own)) {
            round->ends = true;
            return;
        }
}

static void give_room(struct close_round *round, bool *progress)
{
    for (uint32_t i = 0; i < round->n; i++) {
        const struct close_lane *own = &round->lanes[i];
        if (own->position == own->read_before)
            continue;
        as_lane_give_room(round->reader, (uint32_t)(own->lane - round->reader->wire->lanes), own->position);
        *progress = true;
    }
}

bool as_read_closely(struct as_reader *reader, bool *progress)
{
    struct close_round round;
    round.reader = reader;
    round.n = 0;
    round.ends = round.corrupt = false;
    if (!collect_lanes(&round))
        return true;
    uint64_t behind = find_behind(&round), end = behind + MOST_CYCLES;
    for (int rounds = 0; rounds < MOST_ROUNDS && behind < end && !round.ends; rounds++) {
        for (uint32_t i = 0; i < round.n && !round.ends; i++)
            if (round.lanes[i].clock <= behind + AS_CLOSE_SLACK)
                read_up_to(&round, &round.lanes[i], behind + AS_CLOSE_SLACK);
        behind = find_behind(&round);
    }
    give_room(&round, progress);
    return !round.corrupt;
}
