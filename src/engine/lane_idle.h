/* Whether a thread does nothing that another one could see, now and until somebody lets it go on: for readers that put what
 * threads did in order. */
#ifndef AS_ENGINE_LANE_IDLE_H
#define AS_ENGINE_LANE_IDLE_H

#include "engine/engine.h"
#include "engine/wire.h"

/* `state` was loaded before this, `read` words have been looked at, `block` is the one that it executes (NULL: none), and readers have
 * waited for `stalled` seconds. */
bool as_lane_is_idle(struct as_wire_lane *lane, uint32_t state, const struct as_block *block, uint64_t read,
                     double stalled);

#endif
