/* What two consecutive accesses to one location are to each other: reuse in a thread, reuse in a shared cache, an
 * invalidation, or nothing. Locations are granules of any size; cores stand for the threads that run on them.
 *
 * Pure functions. The exact reference and the watchpoints' handlers both ask these, so there is one truth table. */
#ifndef AS_REUSE_REUSE_RULES_H
#define AS_REUSE_REUSE_RULES_H

#include <stdbool.h>

enum as_reuse_relation { AS_REUSE_SAME_CORE, AS_REUSE_SAME_SOCKET, AS_REUSE_OTHER_SOCKET };
enum as_reuse_outcome { AS_REUSE_NONE, AS_REUSE_REUSE, AS_REUSE_INVALIDATION };

/* Rows are the order of accesses (R→R, R→W, W→R, W→W), columns the relation of the two cores. */
extern const unsigned char as_reuse_thread_rules[4][3], as_reuse_cache_rules[4][3];

/* In a thread. A reuse is one whatever is read or written; another core's write invalidates, its read does nothing. */
static inline enum as_reuse_outcome as_reuse_in_thread(bool first_writes, bool second_writes,
                                                       enum as_reuse_relation relation)
{
    return (enum as_reuse_outcome)as_reuse_thread_rules[2 * first_writes + second_writes][relation];
}
/* In the cache that the cores of a socket share. Pairs of one core are the thread's business. */
static inline enum as_reuse_outcome as_reuse_in_cache(bool first_writes, bool second_writes,
                                                      enum as_reuse_relation relation)
{
    return (enum as_reuse_outcome)as_reuse_cache_rules[2 * first_writes + second_writes][relation];
}

/* A pair of accesses to different bytes of a line by two cores, of which the first wrote, moves the line between the
 * cores although no data is communicated. */
static inline bool as_reuse_is_false_sharing(bool first_writes, bool spatial, enum as_reuse_relation relation)
{
    return first_writes && spatial && relation != AS_REUSE_SAME_CORE;
}

#endif
