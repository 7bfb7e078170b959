/* What gears (gear.h) and pace (pace.h) share: the gates at which threads wait, and how far their lanes have been read. All
 * functions run on the reader's thread. */
#ifndef AS_ENGINE_GATES_H
#define AS_ENGINE_GATES_H

#include "engine/stream.h"
#include "engine/wire.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Has the threads of some lanes look at their gates again, of those that wait there (as_wire_gate_bit). */
static inline void as_gates_ring_some(struct as_wire_header *wire, uint32_t lanes)
{
    atomic_fetch_add(&wire->gate, 1);
    syscall(SYS_futex, &wire->gate, FUTEX_WAKE_BITSET, INT32_MAX, NULL, NULL, lanes);
}

static inline void as_gates_ring(struct as_wire_header *wire)
{
    as_gates_ring_some(wire, UINT32_MAX);
}

/* Whether everything that was written has been read. */
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
