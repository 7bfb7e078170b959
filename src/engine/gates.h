/* What gears (gear.h) and pace (pace.h) share: the gates at which threads wait, and how far their lanes have been read. All
 * functions run on the reader's thread. */
#ifndef AS_ENGINE_GATES_H
#define AS_ENGINE_GATES_H

#include "engine/stream.h"
#include "engine/wire.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Has the thread of a lane look at its gate again, if it waits there. It says that it does, and that it sleeps, before it looks; here that is
 * asked behind what it will see: the other side is wait_at_gate (plugin/lane.c). Returns whether it waits. */
static inline bool as_gates_ring_lane(struct as_wire_header *wire, uint32_t number)
{
    struct as_wire_lane *lane = &wire->lanes[number];
    if (atomic_load(&lane->activity) != AS_WIRE_GATED)
        return false;
    atomic_fetch_add(&lane->ring, 1);
    if (atomic_load(&lane->sleeps))
        syscall(SYS_futex, &lane->ring, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    return true;
}

static inline void as_gates_ring(struct as_wire_header *wire)
{
    uint32_t used = atomic_load(&wire->lanes_used);
    for (uint32_t i = 0; i < used; i++)
        as_gates_ring_lane(wire, i);
}

/* Whether a thread that lives goes on by itself, so that others keep to its time. One in a system call in which it may wait does not; one
 * in a call that comes back at once does, however long the host takes for it. */
static inline bool as_gates_takes_part(const struct as_wire_lane *lane)
{
    return atomic_load(&lane->activity) != AS_WIRE_IN_SYSCALL || atomic_load(&lane->quick);
}

/* Whether everything that was written has been read. `published` acquires the words from as_lane_publish; `consumed` is the reader's own. */
static inline bool as_gates_drained(const struct as_wire_lane *lane)
{
    return atomic_load(&lane->consumed) == atomic_load(&lane->published);
}

/* Instructions of a thread whose blocks have been read. */
static inline uint64_t as_gates_read(const struct as_stream *stream)
{
    return stream->executed + (stream->block ? stream->block->n : 0);
}

#endif
