/* See lane_bounds.h. */
#include "engine/lane_bounds.h"

#include "engine/reader_lanes.h"

enum { PARENT = 3, ORIGIN = 4 }; /* words of AS_WIRE_THREAD_START */

static uint32_t count_threads(const struct as_reader *reader, uint32_t used)
{
    uint32_t threads = 0;
    for (uint32_t i = 0; i < used; i++)
        threads += reader->streams[i] != NULL;
    return threads;
}

void as_bounds_take(struct as_reader *reader)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    bool ordered = reader->options->handovers || reader->options->causal;
    bool alone = ordered && count_threads(reader, used) == 1;
    for (uint32_t i = 0; i < used; i++)
        reader->bounds[i] = alone && reader->streams[i] ? atomic_load(&reader->wire->lanes[i].published) : UINT64_MAX;
}

/* The lane has begun to be written, and is not read yet. Its first words tell of which thread the process was forked. */
static bool waits_to_start(const struct as_reader *reader, uint32_t lane)
{
    const struct as_wire_lane *wire = &reader->wire->lanes[lane];
    uint32_t state = atomic_load(&wire->state);
    return !reader->streams[lane] && !wire->is_code && (state == AS_WIRE_LIVE || state == AS_WIRE_ENDED) &&
           atomic_load(&wire->consumed) == 0 &&
           atomic_load(&wire->published) > as_wire_event_words[AS_WIRE_THREAD_START];
}

/* A fork is known by what its parent had published when the child began. Where the parent had not waited for that, it may be the end of a
 * chunk in the middle of a record, which nobody can read up to: then a little more is allowed each time that nothing could be read. */
static uint64_t end_of_fork(const struct as_reader *reader, uint32_t parent, uint64_t fork)
{
    enum { MORE = 64 }; /* words */
    bool reached = atomic_load(&reader->wire->lanes[parent].consumed) >= fork;
    return reached ? fork : fork + (uint64_t)MORE * reader->useless_rounds;
}

/* Where threads take turns, who is read is decided by that. A lane may meanwhile be that of another thread. */
void as_bounds_hold_parents(struct as_reader *reader)
{
    uint32_t used = atomic_load(&reader->wire->lanes_used);
    for (uint32_t i = 0; i < used && !reader->pace.in_turn; i++) {
        if (!waits_to_start(reader, i))
            continue;
        const uint64_t *words = as_wire_ring(reader->wire, i);
        uint32_t parent = as_wire_origin_lane(words[ORIGIN]);
        uint64_t end = end_of_fork(reader, parent, as_wire_origin_position(words[ORIGIN]));
        if (as_reader_parent(reader, (uint32_t)words[PARENT], words[ORIGIN]) && end < reader->bounds[parent])
            reader->bounds[parent] = end;
    }
}

uint64_t as_bounds_limit(const struct as_reader *reader, uint32_t lane)
{
    uint64_t read = atomic_load(&reader->wire->lanes[lane].consumed);
    return !reader->streams[lane] ? UINT64_MAX : reader->bounds[lane] > read ? reader->bounds[lane] : read;
}
