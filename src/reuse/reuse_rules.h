/* What two consecutive accesses to one location are to each other: reuse in a thread, reuse in a shared cache, an
 * invalidation, or nothing. Locations are granules of any size; cores stand for the threads that run on them.
 *
 * Pure functions. The exact reference and the watchpoints' handlers both ask these, so there is one truth table. */
#ifndef AS_REUSE_REUSE_RULES_H
#define AS_REUSE_REUSE_RULES_H

#include <stdbool.h>

enum as_reuse_relation { AS_REUSE_SAME_CORE, AS_REUSE_SAME_SOCKET, AS_REUSE_OTHER_SOCKET };
enum as_reuse_outcome { AS_REUSE_NONE, AS_REUSE_REUSE, AS_REUSE_INVALIDATION };

/* In a thread. A reuse is one whatever is read or written; another core's write invalidates, its read does nothing. */
enum as_reuse_outcome as_reuse_in_thread(bool first_writes, bool second_writes, enum as_reuse_relation relation);
/* In the cache that the cores of a socket share. Pairs of one core are the thread's business. */
enum as_reuse_outcome as_reuse_in_cache(bool first_writes, bool second_writes, enum as_reuse_relation relation);

/* A pair of accesses to different bytes of a line by two cores, of which the first wrote, moves the line between the
 * cores although no data is communicated. */
bool as_reuse_is_false_sharing(bool first_writes, bool spatial, enum as_reuse_relation relation);

#endif
