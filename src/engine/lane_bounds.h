/* How far a lane may be read before threads that begin meanwhile are known.
 *
 * The reader finds lanes, and then reads them. Between the two a thread may make another one, a process may fork, and both may go on
 * for as long as the host does not run the reader. What the first one saw of the second would then be read before anybody knows that
 * there is a second one. So
 *
 *   - a thread that is alone is read up to what it had published when no other lane was there;
 *   - a thread that has forked is read up to the fork until the first thread of the new process is known.
 *
 * Threads that are put in order (handover.h, causal_reading.h) have bounds of their own in time, which the first rule is not for. All
 * functions run on the reader's thread. */
#ifndef AS_ENGINE_LANE_BOUNDS_H
#define AS_ENGINE_LANE_BOUNDS_H

#include <stdint.h>

struct as_reader;

/* Call this before looking for new lanes. */
void as_bounds_take(struct as_reader *reader);
/* Call this after it: some of the new lanes could not be started yet. */
void as_bounds_hold_parents(struct as_reader *reader);
/* The position up to which a lane may be read, never before what has been read; UINT64_MAX: any. */
uint64_t as_bounds_limit(const struct as_reader *reader, uint32_t lane);

#endif
